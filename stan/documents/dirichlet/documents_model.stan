  alpha_random ~ gamma(alpha_given[1], alpha_given[1 + alpha_is_random]);
