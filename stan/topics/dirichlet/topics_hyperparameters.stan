  array[eta_is_random] real<lower=0> eta_random;
