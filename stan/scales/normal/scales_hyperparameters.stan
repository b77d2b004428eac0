  array[w_variance_is_random] real<lower=0> w_variance_random;
