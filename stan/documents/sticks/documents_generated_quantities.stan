  vector[K] root = softmax(sticks);
  array[D] vector[K] theta;
  {
    vector[K] log_shape = floored(log(alpha) + log_softmax(sticks));
    theta = exp(log_dirichlet_weights(theta_log_h, theta_x, log_shape));
  }
