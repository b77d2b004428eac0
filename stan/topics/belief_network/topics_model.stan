  array[K] vector[V] phi_log_shape = first_log_shapes(eta, K, V, log_links, log_upper_topics);
  eta_random ~ gamma(eta_given[1], eta_given[1 + eta_is_random]);
  if (layer_mass_is_random) {
    layer_mass_random[1] ~ gamma(layer_mass_given[1], layer_mass_given[2]);
  }
  if (layer_rate_is_random) {
    layer_rate_random[1] ~ gamma(layer_rate_given[1], layer_rate_given[2]);
  }
  if (link_rate_is_random) {
    link_rate_random[1] ~ gamma(link_rate_given[1], link_rate_given[2]);
  }
  for (t in 1 : n_upper) {
    popularity_log_h[t] ~ log_gamma_variate(rep_vector(exp(fmax(log(layer_mass[t]) - log(W), -300)) + 1, W));
    popularity_x[t] ~ exponential(unit_of_x());
  }
  for (k in 1 : size(top_x)) {
    top_log_h[k] ~ log_gamma_variate(rep_vector(eta + 1, V));
    top_x[k] ~ exponential(unit_of_x());
    links_log_h[k] ~ log_gamma_variate(rep_vector(exp(fmax(log_popularity[1, k], -300)) + 1, K));
    links_x[k] ~ exponential(unit_of_x());
  }
  if (n_upper > 1) {
    array[W] vector[V] middle_log_shape = log_mixtures(log_upper_links[1], log_upper_topics[2]);
    for (k in 1 : W) {
      links_between_log_h[k] ~ log_gamma_variate(rep_vector(exp(fmax(log_popularity[2, k], -300)) + 1, W));
      links_between_x[k] ~ exponential(unit_of_x());
      middle_log_h[k] ~ log_gamma_variate(exp(middle_log_shape[k]) + 1);
      middle_x[k] ~ exponential(unit_of_x());
    }
  }
  for (k in 1 : K) {
    phi_log_h[k] ~ log_gamma_variate(exp(phi_log_shape[k]) + 1);
    phi_x[k] ~ exponential(1);
  }
  counts ~ word_counts(log_theta, log_dirichlet_weights(phi_log_h, phi_x, phi_log_shape));
