  int<lower=0, upper=1> w_shape_is_random; // shape of the inverse gamma w, of which log scales are logs
  vector<lower=0>[1 + w_shape_is_random] w_shape_given;
  int<lower=0, upper=1> w_rate_is_random; // rate of 1 / w
  vector<lower=0>[1 + w_rate_is_random] w_rate_given;
