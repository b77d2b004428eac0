  w_shape_random ~ gamma(w_shape_given[1], w_shape_given[1 + w_shape_is_random]);
  w_rate_random ~ gamma(w_rate_given[1], w_rate_given[1 + w_rate_is_random]);
  for (j in 1 : J) {
    scale_x[j] ~ log_gamma_variate(rep_vector(w_shape, K));
  }
