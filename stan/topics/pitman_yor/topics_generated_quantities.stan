  array[B, K] vector[V] phi0 = exp(log_phi0);
  array[G, K] vector[V] phi = exp(log_phi);
