// Poisson factor analysis as a gamma-negative binomial process (Zhou and Carin 2015), with K topics or truncated at
// K, the topics of the tokens and the probabilities of the lengths summed out.
//
//   mass ~ Gamma(gamma, c),  root ~ Dirichlet(gamma / K) or GEM(gamma) truncated,  theta_d ~ Dirichlet(mass root),
//   lengths negative binomial of the mass,  topics as their side says
functions {
#include functions/dirichlet.stan
#include functions/poisson.stan
#include functions/sticks.stan
#include functions/word_counts.stan
#include topics_functions.stan
}
data {
  int<lower=0> D; // documents
  int<lower=1> V; // words of the vocabulary
  int<lower=1> K; // topics
  array[D, V] int<lower=0> counts; // how often each word occurs in each document
  int<lower=0, upper=1> is_limited; // whether there are K topics, or K is where sticks are truncated
  real<lower=0> length_shape; // of the probabilities of the lengths; 0 for lengths that are given
  // Each hyperparameter is given by its value, or, if random, by the two parameters of its prior: shape and rate
  // of a Gamma unless another is named.
  int<lower=0, upper=1> gamma_is_random; // mass of the gamma process
  vector<lower=0>[1 + gamma_is_random] gamma_given;
  int<lower=0, upper=1> c_is_random; // its rate
  vector<lower=0>[1 + c_is_random] c_given;
#include topics_data.stan
}
transformed data {
  array[D] int doc_lengths;
  for (d in 1 : D) {
    doc_lengths[d] = sum(counts[d]);
  }
#include topics_transformed_data.stan
}
parameters {
  array[gamma_is_random] real<lower=0> gamma_random;
  array[c_is_random] real<lower=0> c_random;
#include topics_hyperparameters.stan
  vector[is_limited ? 0 : K] sticks;
  vector[is_limited ? K : 0] root_log_h;
  vector<lower=0>[is_limited ? K : 0] root_x;
  real mass_log_h;
  real<lower=0> mass_x;
  array[D] vector[K] theta_log_h;
  array[D] vector<lower=0>[K] theta_x;
#include topics_parameters.stan
}
transformed parameters {
  real gamma = gamma_is_random ? gamma_random[1] : gamma_given[1];
  real c = c_is_random ? c_random[1] : c_given[1];
#include topics_transformed_parameters.stan
}
model {
  real log_mass = log_mass_of(mass_log_h, mass_x, gamma, c);
  vector[K] log_root = is_limited ? log_dirichlet_weights(root_log_h, root_x, root_log_shapes(gamma, K))
                                  : log_softmax(sticks);
  vector[K] theta_log_shape = floored(log_mass + log_root);
  array[D] vector[K] log_theta = log_dirichlet_weights(theta_log_h, theta_x, theta_log_shape);
  gamma_random ~ gamma(gamma_given[1], gamma_given[1 + gamma_is_random]);
  c_random ~ gamma(c_given[1], c_given[1 + c_is_random]);
  if (is_limited) {
    root_log_h ~ log_gamma_variate(exp(root_log_shapes(gamma, K)) + 1);
    root_x ~ exponential(1);
  } else {
    sticks ~ stick_weights(gamma);
  }
  [mass_log_h]' ~ log_gamma_variate(exp(floored([log(gamma)]')) + 1);
  mass_x ~ exponential(1);
  doc_lengths ~ lengths(rep_vector(exp(log_mass), D), length_shape);
  for (d in 1 : D) {
    theta_log_h[d] ~ log_gamma_variate(exp(theta_log_shape) + 1);
    theta_x[d] ~ exponential(1);
  }
#include topics_model.stan
}
generated quantities {
  real mass = exp(log_mass_of(mass_log_h, mass_x, gamma, c));
  vector[K] root;
  array[D] vector[K] theta;
  {
    vector[K] log_root = is_limited ? log_dirichlet_weights(root_log_h, root_x, root_log_shapes(gamma, K))
                                    : log_softmax(sticks);
    vector[K] log_shape = floored(log_mass_of(mass_log_h, mass_x, gamma, c) + log_root);
    root = exp(log_root);
    theta = exp(log_dirichlet_weights(theta_log_h, theta_x, log_shape));
  }
#include topics_generated_quantities.stan
}
