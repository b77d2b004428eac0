  real gamma = gamma_is_random ? gamma_random[1] : gamma_given[1];
  real alpha = alpha_is_random ? alpha_random[1] : alpha_given[1];
