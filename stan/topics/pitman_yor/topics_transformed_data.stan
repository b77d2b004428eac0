  vector[n_associations] log_association = log(weight);
