#include topics/dirichlet/topics_data.stan
  int<lower=0> n_seeds;
  array[n_seeds] int<lower=1, upper=K> seed_topic;
  array[n_seeds] int<lower=1, upper=V> seed_word;
  int<lower=1> seed_tokens; // what a seed adds to eta for its word in its topic
