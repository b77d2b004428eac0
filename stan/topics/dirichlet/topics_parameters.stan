  array[K] vector[V] phi_log_h;
  array[K] vector<lower=0>[V] phi_x;
