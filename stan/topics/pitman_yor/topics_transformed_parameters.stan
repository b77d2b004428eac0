  real eta = eta_is_random ? eta_random[1] : eta_given[1];
  vector[K] b = b_is_random ? b_random[1] : rep_vector(b_given[1], K);
  real a = a_is_random ? a_random[1] : a_given[1];
  vector[V] phi0_log_shape = rep_vector(log(eta), V);
  array[B, K] vector[V] log_phi0;
  array[G, K] vector[V] log_phi;
  matrix[G, K] phi_log_total;
  for (j in 1 : B) {
    for (k in 1 : K) {
      log_phi0[j, k] = log_dirichlet_weights(phi0_log_h[j, k], phi0_x[j, k], phi0_log_shape);
    }
  }
  for (g in 1 : G) {
    array[V + 1] int first = row_ptr[(g - 1) * V + 1 : g * V + 1];
    for (k in 1 : K) {
      vector[V] log_base = log_transformed(log_phi0[base[g], k], first, column, log_weight);
      vector[V] log_s = log_stable(phi_stable[g, k], log_base, a);
      phi_log_total[g, k] = log_sum_exp(log_s);
      log_phi[g, k] = log_s - phi_log_total[g, k];
    }
  }
