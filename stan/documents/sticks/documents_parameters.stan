  array[gamma_is_random] real<lower=0> gamma_random;
  array[alpha_is_random] real<lower=0> alpha_random;
  vector[K] sticks;
