  eta_random ~ gamma(eta_given[1], eta_given[1 + eta_is_random]);
  if (b_is_random) {
    b_random[1] ~ gamma(b_given[1], b_given[2]);
  }
  a_random ~ beta(a_given[1], a_given[1 + a_is_random]);
  for (j in 1 : B) {
    for (k in 1 : K) {
      phi0_log_h[j, k] ~ log_gamma_variate(exp(phi0_log_shape) + 1);
      phi0_x[j, k] ~ exponential(1);
    }
  }
  for (g in 1 : G) {
    for (k in 1 : K) {
      phi_stable[g, k] ~ tilted_stable(phi_log_total[g, k], a, b[k]);
    }
  }
  for (d in 1 : D) {
    counts[d : d] ~ word_counts(log_theta[d : d], log_phi[group[d]]);
  }
