// Latent Dirichlet allocation of several collections that share their topics, the topics of the tokens summed out.
//
//   theta_d ~ Dirichlet_K(alpha_c), c = collection[d],  topics as their side says
functions {
#include functions/dirichlet.stan
#include functions/word_counts.stan
#include topics_functions.stan
}
data {
  int<lower=0> D; // documents
  int<lower=1> V; // words of the vocabulary
  int<lower=1> K; // topics
  int<lower=1> C; // collections
  array[D] int<lower=1, upper=C> collection; // collection of each document
  array[D, V] int<lower=0> counts; // how often each word occurs in each document
  // Each hyperparameter is given by its value, or, if random, by the two parameters of its prior: shape and rate
  // of a Gamma unless another is named.
  int<lower=0, upper=1> alpha_is_random; // Dirichlet parameter of a collection's documents, a topic
  vector<lower=0>[1 + alpha_is_random] alpha_given;
#include topics_data.stan
}
transformed data {
#include topics_transformed_data.stan
}
parameters {
  array[alpha_is_random] vector<lower=0>[C] alpha_random;
#include topics_hyperparameters.stan
  array[D] vector[K] theta_log_h;
  array[D] vector<lower=0>[K] theta_x;
#include topics_parameters.stan
}
transformed parameters {
  vector[C] alpha = alpha_is_random ? alpha_random[1] : rep_vector(alpha_given[1], C);
#include topics_transformed_parameters.stan
}
model {
  array[D] vector[K] theta_log_shape = symmetric_log_shapes(alpha[collection], K);
  array[D] vector[K] log_theta = log_dirichlet_weights(theta_log_h, theta_x, theta_log_shape);
  if (alpha_is_random) {
    alpha_random[1] ~ gamma(alpha_given[1], alpha_given[2]);
  }
  for (d in 1 : D) {
    theta_log_h[d] ~ log_gamma_variate(exp(theta_log_shape[d]) + 1);
    theta_x[d] ~ exponential(1);
  }
#include topics_model.stan
}
generated quantities {
  array[D] vector[K] theta
    = exp(log_dirichlet_weights(theta_log_h, theta_x, symmetric_log_shapes(alpha[collection], K)));
#include topics_generated_quantities.stan
}
