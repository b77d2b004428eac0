  array[eta_is_random] real<lower=0> eta_random;
  array[b_is_random] vector<lower=0>[K] b_random;
  array[a_is_random] real<lower=0, upper=1> a_random;
