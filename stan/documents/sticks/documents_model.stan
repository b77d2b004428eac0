  gamma_random ~ gamma(gamma_given[1], gamma_given[1 + gamma_is_random]);
  alpha_random ~ gamma(alpha_given[1], alpha_given[1 + alpha_is_random]);
  sticks ~ stick_weights(gamma);
