  array[D] vector[K] theta
    = exp(log_dirichlet_weights(theta_log_h, theta_x, rep_vector(log(alpha), K)));
