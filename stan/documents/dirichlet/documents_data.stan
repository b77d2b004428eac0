  int<lower=0, upper=1> alpha_is_random; // Dirichlet parameter of a document, a topic
  vector<lower=0>[1 + alpha_is_random] alpha_given;
