  array[K] vector[V] phi = exp(log_dirichlet_weights(
    phi_log_h, phi_x, seeded_log_shapes(eta, K, V, seed_topic, seed_word, seed_tokens)));
