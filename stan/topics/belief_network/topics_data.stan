  int<lower=0, upper=2> n_upper; // layers above the first
  int<lower=1> W; // topics of each
  int<lower=0, upper=1> eta_is_random; // Dirichlet parameter of the topics of the last layer, a word
  vector<lower=0>[1 + eta_is_random] eta_given;
  int<lower=0, upper=1> layer_mass_is_random; // sum of the expected popularity of a layer's topics
  vector<lower=0>[1 + layer_mass_is_random] layer_mass_given;
  int<lower=0, upper=1> layer_rate_is_random; // rate of the popularity of a layer's topics
  vector<lower=0>[1 + layer_rate_is_random] layer_rate_given;
  int<lower=0, upper=1> link_rate_is_random; // rate of the links to a layer
  vector<lower=0>[1 + link_rate_is_random] link_rate_given;
