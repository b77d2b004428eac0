  array[K] vector[V] phi = exp(log_dirichlet_weights(
    phi_log_h, phi_x, first_log_shapes(eta, K, V, log_links, log_upper_topics)));
