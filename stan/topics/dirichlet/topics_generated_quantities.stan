  array[K] vector[V] phi = exp(log_phi);
