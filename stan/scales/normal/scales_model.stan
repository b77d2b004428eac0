  w_variance_random ~ gamma(w_variance_given[1], w_variance_given[1 + w_variance_is_random]);
  for (j in 1 : J) {
    scale_x[j] ~ std_normal();
  }
