  real eta = eta_is_random ? eta_random[1] : eta_given[1];
  vector[K] b = b_is_random ? b_random[1] : rep_vector(b_given[1], K);
  real a = a_is_random ? a_random[1] : a_given[1];
