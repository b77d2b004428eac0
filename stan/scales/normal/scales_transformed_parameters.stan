  real w_variance = w_variance_is_random ? w_variance_random[1] : w_variance_given[1];
  array[J] vector[K] log_scale;
  for (j in 1 : J) {
    log_scale[j] = sqrt(w_variance) * scale_x[j];
  }
