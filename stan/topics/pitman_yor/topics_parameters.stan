  array[B, K] vector[V] phi0_log_h;
  array[B, K] vector<lower=0>[V] phi0_x;
  array[G, K, 2] vector[V] phi_stable;
