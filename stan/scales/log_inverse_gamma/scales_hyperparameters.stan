  array[w_shape_is_random] real<lower=0> w_shape_random;
  array[w_rate_is_random] real<lower=0> w_rate_random;
