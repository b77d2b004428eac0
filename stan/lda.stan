// Latent Dirichlet allocation (Blei, Ng and Jordan 2003), the topics of the tokens summed out.
//
//   theta_d ~ Dirichlet_K(alpha),  topics as their side says
functions {
#include functions/dirichlet.stan
#include functions/word_counts.stan
#include topics_functions.stan
/**
 * Log shape of the documents: one alpha for all K topics, or one each.
 */
vector log_shape_of(vector alpha, int K) {
  return num_elements(alpha) == 1 ? rep_vector(log(alpha[1]), K) : log(alpha);
}
}
data {
  int<lower=0> D; // documents
  int<lower=1> V; // words of the vocabulary
  int<lower=1> K; // topics
  int<lower=1, upper=K> n_alphas; // 1, for all topics, or K, one each
  array[D, V] int<lower=0> counts; // how often each word occurs in each document
  // Each hyperparameter is given by its value, or, if random, by the two parameters of its prior: shape and rate
  // of a Gamma unless another is named.
  int<lower=0, upper=1> alpha_is_random; // Dirichlet parameter of a document, a topic
  vector<lower=0>[1 + alpha_is_random] alpha_given;
#include topics_data.stan
}
transformed data {
#include topics_transformed_data.stan
}
parameters {
  array[alpha_is_random] vector<lower=0>[n_alphas] alpha_random;
#include topics_hyperparameters.stan
  array[D] vector[K] theta_log_h;
  array[D] vector<lower=0>[K] theta_x;
#include topics_parameters.stan
}
transformed parameters {
  vector[n_alphas] alpha = alpha_is_random ? alpha_random[1] : rep_vector(alpha_given[1], n_alphas);
#include topics_transformed_parameters.stan
}
model {
  vector[K] theta_log_shape = log_shape_of(alpha, K);
  array[D] vector[K] log_theta = log_dirichlet_weights(theta_log_h, theta_x, theta_log_shape);
  if (alpha_is_random) {
    alpha_random[1] ~ gamma(alpha_given[1], alpha_given[2]);
  }
  for (d in 1 : D) {
    theta_log_h[d] ~ log_gamma_variate(exp(theta_log_shape) + 1);
    theta_x[d] ~ exponential(1);
  }
#include topics_model.stan
}
generated quantities {
  array[D] vector[K] theta = exp(log_dirichlet_weights(theta_log_h, theta_x, log_shape_of(alpha, K)));
#include topics_generated_quantities.stan
}
