  real alpha = alpha_is_random ? alpha_random[1] : alpha_given[1];
