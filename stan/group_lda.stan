// Latent Dirichlet allocation of each collection by itself, the topics of the tokens summed out.
//
//   theta_d ~ Dirichlet_K(alpha_g),  phi_gk ~ Dirichlet_V(eta),  g = group[d]
functions {
#include functions/dirichlet.stan
#include functions/word_counts.stan
}
data {
  int<lower=0> D; // documents
  int<lower=1> V; // words of the vocabulary
  int<lower=1> K; // topics of each collection
  int<lower=1> G; // collections
  array[D] int<lower=1, upper=G> group; // collection of each document
  array[D, V] int<lower=0> counts; // how often each word occurs in each document
  // Each hyperparameter is given by its value, or, if random, by the shape and rate of its Gamma prior.
  int<lower=0, upper=1> alpha_is_random; // Dirichlet parameter of a collection's documents, a topic
  vector<lower=0>[1 + alpha_is_random] alpha_given;
  int<lower=0, upper=1> eta_is_random; // Dirichlet parameter of a topic, a word
  vector<lower=0>[1 + eta_is_random] eta_given;
}
parameters {
  array[alpha_is_random] vector<lower=0>[G] alpha_random;
  array[eta_is_random] real<lower=0> eta_random;
  array[D] vector[K] theta_log_h;
  array[D] vector<lower=0>[K] theta_x;
  array[G, K] vector[V] phi_log_h;
  array[G, K] vector<lower=0>[V] phi_x;
}
transformed parameters {
  vector[G] alpha = alpha_is_random ? alpha_random[1] : rep_vector(alpha_given[1], G);
  real eta = eta_is_random ? eta_random[1] : eta_given[1];
}
model {
  array[D] vector[K] theta_log_shape = symmetric_log_shapes(alpha[group], K);
  vector[V] phi_log_shape = rep_vector(log(eta), V);
  array[D] vector[K] log_theta = log_dirichlet_weights(theta_log_h, theta_x, theta_log_shape);
  if (alpha_is_random) {
    alpha_random[1] ~ gamma(alpha_given[1], alpha_given[2]);
  }
  eta_random ~ gamma(eta_given[1], eta_given[1 + eta_is_random]);
  for (d in 1 : D) {
    theta_log_h[d] ~ log_gamma_variate(exp(theta_log_shape[d]) + 1);
    theta_x[d] ~ exponential(1);
  }
  for (g in 1 : G) {
    for (k in 1 : K) {
      phi_log_h[g, k] ~ log_gamma_variate(exp(phi_log_shape) + 1);
      phi_x[g, k] ~ exponential(1);
    }
  }
  array[G, K] vector[V] log_phi;
  for (g in 1 : G) {
    log_phi[g] = log_dirichlet_weights(phi_log_h[g], phi_x[g], phi_log_shape);
  }
  for (d in 1 : D) {
    counts[d : d] ~ word_counts(log_theta[d : d], log_phi[group[d]]);
  }
}
generated quantities {
  array[D] vector[K] theta
    = exp(log_dirichlet_weights(theta_log_h, theta_x, symmetric_log_shapes(alpha[group], K)));
  array[G, K] vector[V] phi;
  for (g in 1 : G) {
    phi[g] = exp(log_dirichlet_weights(phi_log_h[g], phi_x[g], rep_vector(log(eta), V)));
  }
}
