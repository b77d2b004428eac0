  real w_shape = w_shape_is_random ? w_shape_random[1] : w_shape_given[1];
  real w_rate = w_rate_is_random ? w_rate_random[1] : w_rate_given[1];
  array[J] vector[K] log_scale;
  for (j in 1 : J) {
    log_scale[j] = log(w_rate) - scale_x[j];
  }
