  int<lower=0, upper=1> gamma_is_random; // concentration of the root
  vector<lower=0>[1 + gamma_is_random] gamma_given;
  int<lower=0, upper=1> alpha_is_random; // concentration of the documents
  vector<lower=0>[1 + alpha_is_random] alpha_given;
