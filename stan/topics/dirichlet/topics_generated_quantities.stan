  array[K] vector[V] phi = exp(log_dirichlet_weights(phi_log_h, phi_x, rep_vector(log(eta), V)));
