// Labeled LDA (Ramage et al. 2009, 2011), the topics of the tokens summed out.
//
//   theta_d ~ Dirichlet(alpha of the topics that d may have),  topics as their side says
functions {
#include functions/dirichlet.stan
#include functions/word_counts.stan
#include topics_functions.stan
/**
 * Log shapes of the documents: floored for topics that a document may not have, which is never.
 */
array[] vector log_shapes_of(vector alpha, array[] int label, array[,] int may_have) {
  array[size(may_have)] vector[size(label)] out;
  for (d in 1 : size(may_have)) {
    for (k in 1 : size(label)) {
      out[d, k] = may_have[d, k] ? log(alpha[label[k]]) : negative_infinity();
    }
    out[d] = floored(out[d]);
  }
  return out;
}
}
data {
  int<lower=0> D; // documents
  int<lower=1> V; // words of the vocabulary
  int<lower=1> K; // topics
  int<lower=1> A; // alphas: one a label, and one for topics that all documents have
  array[K] int<lower=1, upper=A> label; // alpha that a topic belongs to
  array[D, K] int<lower=0, upper=1> may_have; // whether a document may have a topic
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
  array[alpha_is_random] vector<lower=0>[A] alpha_random;
#include topics_hyperparameters.stan
  array[D] vector[K] theta_log_h;
  array[D] vector<lower=0>[K] theta_x;
#include topics_parameters.stan
}
transformed parameters {
  vector[A] alpha = alpha_is_random ? alpha_random[1] : rep_vector(alpha_given[1], A);
#include topics_transformed_parameters.stan
}
model {
  array[D] vector[K] theta_log_shape = log_shapes_of(alpha, label, may_have);
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
    = exp(log_dirichlet_weights(theta_log_h, theta_x, log_shapes_of(alpha, label, may_have)));
#include topics_generated_quantities.stan
}
