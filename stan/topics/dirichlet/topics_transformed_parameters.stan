  real eta = eta_is_random ? eta_random[1] : eta_given[1];
