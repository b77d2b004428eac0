  real eta = eta_is_random ? eta_random[1] : eta_given[1];
  vector[V] phi_log_shape = rep_vector(log(eta), V);
  array[K] vector[V] log_phi;
  for (k in 1 : K) {
    log_phi[k] = log_dirichlet_weights(phi_log_h[k], phi_x[k], phi_log_shape);
  }
