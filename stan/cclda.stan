// Cross-collection latent Dirichlet allocation (Paul 2009), topics of tokens and origins of words summed out.
//
//   theta_d ~ Dirichlet_K(alpha_g),  phi_k ~ Dirichlet_V(eta),  sigma_gk ~ Dirichlet_V(delta),
//   psi_gk ~ Beta(gamma1, gamma0),  word ~ (1 - psi_gk) phi_k + psi_gk sigma_gk,  g = group[d]
functions {
#include functions/dirichlet.stan
#include functions/word_counts.stan
}
data {
  int<lower=0> D; // documents
  int<lower=1> V; // words of the vocabulary
  int<lower=1> K; // topics
  int<lower=1> G; // collections
  array[D] int<lower=1, upper=G> group; // collection of each document
  array[D, V] int<lower=0> counts; // how often each word occurs in each document
  // Each hyperparameter is given by its value, or, if random, by the shape and rate of its Gamma prior.
  int<lower=0, upper=1> alpha_is_random; // Dirichlet parameter of a collection's documents, a topic
  vector<lower=0>[1 + alpha_is_random] alpha_given;
  int<lower=0, upper=1> eta_is_random; // Dirichlet parameter of a topic's shared words
  vector<lower=0>[1 + eta_is_random] eta_given;
  int<lower=0, upper=1> delta_is_random; // Dirichlet parameter of a collection's own words of a topic
  vector<lower=0>[1 + delta_is_random] delta_given;
  int<lower=0, upper=1> gamma0_is_random; // Beta parameter of shared words
  vector<lower=0>[1 + gamma0_is_random] gamma0_given;
  int<lower=0, upper=1> gamma1_is_random; // Beta parameter of a collection's own words
  vector<lower=0>[1 + gamma1_is_random] gamma1_given;
}
parameters {
  array[alpha_is_random] vector<lower=0>[G] alpha_random;
  array[eta_is_random] real<lower=0> eta_random;
  array[delta_is_random] real<lower=0> delta_random;
  array[gamma0_is_random] real<lower=0> gamma0_random;
  array[gamma1_is_random] real<lower=0> gamma1_random;
  array[D] vector[K] theta_log_h;
  array[D] vector<lower=0>[K] theta_x;
  array[K] vector[V] phi_log_h;
  array[K] vector<lower=0>[V] phi_x;
  array[G, K] vector[V] sigma_log_h;
  array[G, K] vector<lower=0>[V] sigma_x;
  array[G, K] vector[2] origin_log_h;
  array[G, K] vector<lower=0>[2] origin_x;
}
transformed parameters {
  vector[G] alpha = alpha_is_random ? alpha_random[1] : rep_vector(alpha_given[1], G);
  real eta = eta_is_random ? eta_random[1] : eta_given[1];
  real delta = delta_is_random ? delta_random[1] : delta_given[1];
  real gamma0 = gamma0_is_random ? gamma0_random[1] : gamma0_given[1];
  real gamma1 = gamma1_is_random ? gamma1_random[1] : gamma1_given[1];
}
model {
  array[D] vector[K] theta_log_shape = symmetric_log_shapes(alpha[group], K);
  vector[V] phi_log_shape = rep_vector(log(eta), V);
  vector[V] sigma_log_shape = rep_vector(log(delta), V);
  vector[2] origin_log_shape = [log(gamma0), log(gamma1)]';
  array[D] vector[K] log_theta = log_dirichlet_weights(theta_log_h, theta_x, theta_log_shape);
  array[G, K] vector[V] log_words;
  if (alpha_is_random) {
    alpha_random[1] ~ gamma(alpha_given[1], alpha_given[2]);
  }
  eta_random ~ gamma(eta_given[1], eta_given[1 + eta_is_random]);
  delta_random ~ gamma(delta_given[1], delta_given[1 + delta_is_random]);
  gamma0_random ~ gamma(gamma0_given[1], gamma0_given[1 + gamma0_is_random]);
  gamma1_random ~ gamma(gamma1_given[1], gamma1_given[1 + gamma1_is_random]);
  for (d in 1 : D) {
    theta_log_h[d] ~ log_gamma_variate(exp(theta_log_shape[d]) + 1);
    theta_x[d] ~ exponential(1);
  }
  for (k in 1 : K) {
    phi_log_h[k] ~ log_gamma_variate(exp(phi_log_shape) + 1);
    phi_x[k] ~ exponential(1);
    for (g in 1 : G) {
      sigma_log_h[g, k] ~ log_gamma_variate(exp(sigma_log_shape) + 1);
      sigma_x[g, k] ~ exponential(1);
      origin_log_h[g, k] ~ log_gamma_variate(exp(origin_log_shape) + 1);
      origin_x[g, k] ~ exponential(1);
    }
  }
  for (k in 1 : K) {
    vector[V] log_phi = log_dirichlet_weights(phi_log_h[k], phi_x[k], phi_log_shape);
    for (g in 1 : G) {
      vector[V] log_sigma = log_dirichlet_weights(sigma_log_h[g, k], sigma_x[g, k], sigma_log_shape);
      vector[2] log_origin = log_dirichlet_weights(origin_log_h[g, k], origin_x[g, k], origin_log_shape);
      log_words[g, k] = log_sum_exp(log_origin[1] + log_phi, log_origin[2] + log_sigma);
    }
  }
  for (d in 1 : D) {
    counts[d : d] ~ word_counts(log_theta[d : d], log_words[group[d]]);
  }
}
generated quantities {
  array[D] vector[K] theta
    = exp(log_dirichlet_weights(theta_log_h, theta_x, symmetric_log_shapes(alpha[group], K)));
  array[K] vector[V] phi = exp(log_dirichlet_weights(phi_log_h, phi_x, rep_vector(log(eta), V)));
  array[G, K] vector[V] sigma;
  array[G, K] real psi;
  for (g in 1 : G) {
    array[K] vector[2] log_origin
      = log_dirichlet_weights(origin_log_h[g], origin_x[g], [log(gamma0), log(gamma1)]');
    sigma[g] = exp(log_dirichlet_weights(sigma_log_h[g], sigma_x[g], rep_vector(log(delta), V)));
    psi[g] = exp(log_origin[ : , 2]);
  }
}
