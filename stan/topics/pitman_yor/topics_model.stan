  vector[V] phi0_log_shape = rep_vector(log(eta), V);
  array[B, K] vector[V] log_phi0;
  array[G, K] vector[V] log_phi;
  eta_random ~ gamma(eta_given[1], eta_given[1 + eta_is_random]);
  if (b_is_random) {
    b_random[1] ~ gamma(b_given[1], b_given[2]);
  }
  a_random ~ beta(a_given[1], a_given[1 + a_is_random]);
  for (j in 1 : B) {
    log_phi0[j] = log_dirichlet_weights(phi0_log_h[j], phi0_x[j], phi0_log_shape);
    for (k in 1 : K) {
      phi0_log_h[j, k] ~ log_gamma_variate(exp(phi0_log_shape) + 1);
      phi0_x[j, k] ~ exponential(1);
    }
  }
  for (g in 1 : G) {
    array[V + 1] int first = row_ptr[(g - 1) * V + 1 : g * V + 1];
    for (k in 1 : K) {
      vector[V] log_base = log_transformed(log_phi0[base[g], k], first, column, log_association);
      vector[V] log_s = log_stable(phi_stable[g, k], log_base, a);
      real log_total = log_sum_exp(log_s);
      phi_stable[g, k] ~ tilted_stable(log_total, a, b[k]);
      log_phi[g, k] = log_s - log_total;
    }
  }
  for (d in 1 : D) {
    counts[d : d] ~ word_counts(log_theta[d : d], log_phi[group[d]]);
  }
