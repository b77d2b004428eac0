  array[alpha_is_random] real<lower=0> alpha_random;
