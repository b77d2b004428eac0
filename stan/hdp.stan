// Hierarchical Dirichlet process topic model (Teh, Jordan, Beal and Blei 2006), truncated at T topics, the
// topics of the tokens summed out.
//
//   root ~ GEM(gamma) truncated,  theta_d ~ Dirichlet(alpha root),  phi_k ~ Dirichlet_V(eta)
functions {
#include functions/dirichlet.stan
#include functions/sticks.stan
#include functions/word_counts.stan
}
data {
  int<lower=0> D; // documents
  int<lower=1> V; // words of the vocabulary
  int<lower=2> T; // topics that the sticks are truncated at
  array[D, V] int<lower=0> counts; // how often each word occurs in each document
  // Each hyperparameter is given by its value, or, if random, by the shape and rate of its Gamma prior.
  int<lower=0, upper=1> gamma_is_random; // concentration of the root
  vector<lower=0>[1 + gamma_is_random] gamma_given;
  int<lower=0, upper=1> alpha_is_random; // concentration of the documents
  vector<lower=0>[1 + alpha_is_random] alpha_given;
  int<lower=0, upper=1> eta_is_random; // Dirichlet parameter of a topic, a word
  vector<lower=0>[1 + eta_is_random] eta_given;
}
parameters {
  array[gamma_is_random] real<lower=0> gamma_random;
  array[alpha_is_random] real<lower=0> alpha_random;
  array[eta_is_random] real<lower=0> eta_random;
  vector[T] sticks;
  array[D] vector[T] theta_log_h;
  array[D] vector<lower=0>[T] theta_x;
  array[T] vector[V] phi_log_h;
  array[T] vector<lower=0>[V] phi_x;
}
transformed parameters {
  real gamma = gamma_is_random ? gamma_random[1] : gamma_given[1];
  real alpha = alpha_is_random ? alpha_random[1] : alpha_given[1];
  real eta = eta_is_random ? eta_random[1] : eta_given[1];
}
model {
  vector[T] theta_log_shape = floored(log(alpha) + log_softmax(sticks));
  vector[V] phi_log_shape = rep_vector(log(eta), V);
  gamma_random ~ gamma(gamma_given[1], gamma_given[1 + gamma_is_random]);
  alpha_random ~ gamma(alpha_given[1], alpha_given[1 + alpha_is_random]);
  eta_random ~ gamma(eta_given[1], eta_given[1 + eta_is_random]);
  sticks ~ stick_weights(gamma);
  for (d in 1 : D) {
    theta_log_h[d] ~ log_gamma_variate(exp(theta_log_shape) + 1);
    theta_x[d] ~ exponential(1);
  }
  for (k in 1 : T) {
    phi_log_h[k] ~ log_gamma_variate(exp(phi_log_shape) + 1);
    phi_x[k] ~ exponential(1);
  }
  counts ~ word_counts(log_dirichlet_weights(theta_log_h, theta_x, theta_log_shape),
                       log_dirichlet_weights(phi_log_h, phi_x, phi_log_shape));
}
generated quantities {
  vector[T] root = softmax(sticks);
  array[D] vector[T] theta;
  array[T] vector[V] phi = exp(log_dirichlet_weights(phi_log_h, phi_x, rep_vector(log(eta), V)));
  {
    vector[T] log_shape = floored(log(alpha) + log_softmax(sticks));
    theta = exp(log_dirichlet_weights(theta_log_h, theta_x, log_shape));
  }
}
