// Author-topic model (Rosen-Zvi et al. 2004), the authors and topics of the tokens summed out.
//
//   of_author_a ~ Dirichlet_K(alpha),  theta_d = share_d * of_author,  topics as their side says
functions {
#include functions/dirichlet.stan
#include functions/word_counts.stan
#include topics_functions.stan
/**
 * Log proportions of documents: means over their authors, whose shares in a document sum to one.
 */
array[] vector log_means(matrix log_share, array[] vector log_of_author) {
  int K = num_elements(log_of_author[1]);
  array[rows(log_share)] vector[K] out;
  for (d in 1 : rows(log_share)) {
    for (k in 1 : K) {
      out[d, k] = log_sum_exp(to_vector(log_of_author[, k]) + log_share[d]');
    }
  }
  return out;
}
}
data {
  int<lower=0> D; // documents
  int<lower=1> V; // words of the vocabulary
  int<lower=1> K; // topics
  int<lower=1> A; // authors
  matrix<lower=0>[D, A] share; // of each author in a document
  array[D, V] int<lower=0> counts; // how often each word occurs in each document
  // Each hyperparameter is given by its value, or, if random, by the two parameters of its prior: shape and rate
  // of a Gamma unless another is named.
  int<lower=0, upper=1> alpha_is_random; // Dirichlet parameter of an author, a topic
  vector<lower=0>[1 + alpha_is_random] alpha_given;
#include topics_data.stan
}
transformed data {
  matrix[D, A] log_share = log(share);
#include topics_transformed_data.stan
}
parameters {
  array[alpha_is_random] real<lower=0> alpha_random;
#include topics_hyperparameters.stan
  array[A] vector[K] of_author_log_h;
  array[A] vector<lower=0>[K] of_author_x;
#include topics_parameters.stan
}
transformed parameters {
  real alpha = alpha_is_random ? alpha_random[1] : alpha_given[1];
#include topics_transformed_parameters.stan
}
model {
  vector[K] author_log_shape = rep_vector(log(alpha), K);
  array[D] vector[K] log_theta
    = log_means(log_share, log_dirichlet_weights(of_author_log_h, of_author_x, author_log_shape));
  if (alpha_is_random) {
    alpha_random[1] ~ gamma(alpha_given[1], alpha_given[2]);
  }
  for (a in 1 : A) {
    of_author_log_h[a] ~ log_gamma_variate(exp(author_log_shape) + 1);
    of_author_x[a] ~ exponential(1);
  }
#include topics_model.stan
}
generated quantities {
  array[A] vector[K] of_author
    = exp(log_dirichlet_weights(of_author_log_h, of_author_x, rep_vector(log(alpha), K)));
  array[D] vector[K] theta;
  {
    array[A] vector[K] log_of_author
      = log_dirichlet_weights(of_author_log_h, of_author_x, rep_vector(log(alpha), K));
    theta = exp(log_means(log_share, log_of_author));
  }
#include topics_generated_quantities.stan
}
