  int<lower=0, upper=1> w_variance_is_random; // variance of the log scales
  vector<lower=0>[1 + w_variance_is_random] w_variance_given;
