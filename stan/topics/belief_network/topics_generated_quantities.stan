  array[K] vector[V] phi = exp(log_dirichlet_weights(phi_log_h, phi_x, phi_log_shape));
