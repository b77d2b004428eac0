  array[K] vector[V] phi_log_shape = seeded_log_shapes(eta, K, V, seed_topic, seed_word, seed_tokens);
  eta_random ~ gamma(eta_given[1], eta_given[1 + eta_is_random]);
  for (k in 1 : K) {
    phi_log_h[k] ~ log_gamma_variate(exp(phi_log_shape[k]) + 1);
    phi_x[k] ~ exponential(1);
  }
  counts ~ word_counts(log_theta, log_dirichlet_weights(phi_log_h, phi_x, phi_log_shape));
