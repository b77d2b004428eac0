// Topics of groups (Rosen-Zvi et al. 2004, one author a document), the topics of the tokens summed out.
//
//   theta_g ~ Dirichlet_K(alpha),  phi_k ~ Dirichlet_V(eta)
functions {
#include functions/dirichlet.stan
#include functions/word_counts.stan
}
data {
  int<lower=1> G; // groups
  int<lower=1> V; // words of the vocabulary
  int<lower=1> K; // topics
  array[G, V] int<lower=0> counts; // how often each word occurs in each group
  // Each hyperparameter is given by its value, or, if random, by the shape and rate of its Gamma prior.
  int<lower=0, upper=1> alpha_is_random; // Dirichlet parameter of a group, a topic
  vector<lower=0>[1 + alpha_is_random] alpha_given;
  int<lower=0, upper=1> eta_is_random; // Dirichlet parameter of a topic, a word
  vector<lower=0>[1 + eta_is_random] eta_given;
}
parameters {
  array[alpha_is_random] real<lower=0> alpha_random;
  array[eta_is_random] real<lower=0> eta_random;
  array[G] vector[K] theta_log_h;
  array[G] vector<lower=0>[K] theta_x;
  array[K] vector[V] phi_log_h;
  array[K] vector<lower=0>[V] phi_x;
}
transformed parameters {
  real alpha = alpha_is_random ? alpha_random[1] : alpha_given[1];
  real eta = eta_is_random ? eta_random[1] : eta_given[1];
}
model {
  vector[K] theta_log_shape = rep_vector(log(alpha), K);
  vector[V] phi_log_shape = rep_vector(log(eta), V);
  alpha_random ~ gamma(alpha_given[1], alpha_given[1 + alpha_is_random]);
  eta_random ~ gamma(eta_given[1], eta_given[1 + eta_is_random]);
  for (g in 1 : G) {
    theta_log_h[g] ~ log_gamma_variate(exp(theta_log_shape) + 1);
    theta_x[g] ~ exponential(1);
  }
  for (k in 1 : K) {
    phi_log_h[k] ~ log_gamma_variate(exp(phi_log_shape) + 1);
    phi_x[k] ~ exponential(1);
  }
  counts ~ word_counts(log_dirichlet_weights(theta_log_h, theta_x, theta_log_shape),
                       log_dirichlet_weights(phi_log_h, phi_x, phi_log_shape));
}
generated quantities {
  array[G] vector[K] theta = exp(log_dirichlet_weights(theta_log_h, theta_x, rep_vector(log(alpha), K)));
  array[K] vector[V] phi = exp(log_dirichlet_weights(phi_log_h, phi_x, rep_vector(log(eta), V)));
}
