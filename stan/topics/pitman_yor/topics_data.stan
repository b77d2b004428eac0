  int<lower=1> G; // groups
  array[D] int<lower=1, upper=G> group; // group of each document
  int<lower=1, upper=G> B; // bases, which groups may share
  array[G] int<lower=1, upper=B> base; // base of each group
  // P_g: word w of group g comes from words column[i], with probabilities weight[i], of its base;
  // i = row_ptr[r] to row_ptr[r + 1] - 1, r = (g - 1) V + w.
  int<lower=0> n_associations;
  array[G * V + 1] int<lower=1, upper=n_associations + 1> row_ptr;
  array[n_associations] int<lower=1, upper=V> column;
  vector<lower=0>[n_associations] weight;
  int<lower=0, upper=1> eta_is_random; // Dirichlet parameter of a base's topic, a word
  vector<lower=0>[1 + eta_is_random] eta_given;
  int<lower=0, upper=1> b_is_random; // concentration of a topic's groups
  vector<lower=-1>[1 + b_is_random] b_given;
  int<lower=0, upper=1> a_is_random; // discount; its prior is Beta
  vector<lower=0>[1 + a_is_random] a_given;
