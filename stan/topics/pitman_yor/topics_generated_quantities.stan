  array[B, K] vector[V] phi0;
  array[G, K] vector[V] phi;
  matrix[G, K] phi_log_total;
  {
    array[B, K] vector[V] log_phi0;
    for (j in 1 : B) {
      log_phi0[j] = log_dirichlet_weights(phi0_log_h[j], phi0_x[j], rep_vector(log(eta), V));
      phi0[j] = exp(log_phi0[j]);
    }
    for (g in 1 : G) {
      array[V + 1] int first = row_ptr[(g - 1) * V + 1 : g * V + 1];
      for (k in 1 : K) {
        vector[V] log_base = log_transformed(log_phi0[base[g], k], first, column, log_association);
        vector[V] log_s = log_stable(phi_stable[g, k], log_base, a);
        phi_log_total[g, k] = log_sum_exp(log_s);
        phi[g, k] = exp(log_s - phi_log_total[g, k]);
      }
    }
  }
