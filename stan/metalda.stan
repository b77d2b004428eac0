// MetaLDA (Zhao, Du, Buntine and Liu 2017), the topics of the tokens summed out.
//
//   alpha_dk = prod_l weight_lk^features_dl,  theta_d ~ Dirichlet(alpha_d),  topics as their side says
functions {
#include functions/dirichlet.stan
#include functions/word_counts.stan
#include topics_functions.stan
/**
 * Log shapes of documents: sums of the log weights of their features.
 */
array[] vector log_shapes(matrix features, array[] vector log_weight) {
  array[rows(features)] vector[num_elements(log_weight[1])] out;
  for (d in 1 : rows(features)) {
    out[d] = rep_vector(0, num_elements(log_weight[1]));
    for (l in 1 : cols(features)) {
      out[d] += features[d, l] * log_weight[l];
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
  int<lower=1> L; // features
  array[D, V] int<lower=0> counts; // how often each word occurs in each document
  matrix[D, L] features; // whether a document has a feature
  real<lower=0> weight_shape; // of the gamma law of the weights of features
  real<lower=0> weight_rate;
#include topics_data.stan
}
transformed data {
#include topics_transformed_data.stan
}
parameters {
#include topics_hyperparameters.stan
  array[L] vector[K] weight_x; // logs of the weights times their rate
  array[D] vector[K] theta_log_h;
  array[D] vector<lower=0>[K] theta_x;
#include topics_parameters.stan
}
transformed parameters {
  array[L] vector[K] log_weight;
#include topics_transformed_parameters.stan
  for (l in 1 : L) {
    log_weight[l] = weight_x[l] - log(weight_rate);
  }
}
model {
  array[D] vector[K] theta_log_shape = log_shapes(features, log_weight);
  array[D] vector[K] log_theta = log_dirichlet_weights(theta_log_h, theta_x, theta_log_shape);
  for (l in 1 : L) {
    weight_x[l] ~ log_gamma_variate(rep_vector(weight_shape, K));
  }
  for (d in 1 : D) {
    theta_log_h[d] ~ log_gamma_variate(exp(theta_log_shape[d]) + 1);
    theta_x[d] ~ exponential(1);
  }
#include topics_model.stan
}
generated quantities {
  array[D] vector[K] theta = exp(log_dirichlet_weights(theta_log_h, theta_x, log_shapes(features, log_weight)));
#include topics_generated_quantities.stan
}
