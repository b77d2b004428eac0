  vector[K] theta_log_shape = rep_vector(log(alpha), K);
