  int<lower=0, upper=1> eta_is_random; // Dirichlet parameter of a topic, a word
  vector<lower=0>[1 + eta_is_random] eta_given;
