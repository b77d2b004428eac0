  vector[K] theta_log_shape = floored(log(alpha) + log_softmax(sticks));
