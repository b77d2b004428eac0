  vector[n_associations] log_weight = log(weight);
