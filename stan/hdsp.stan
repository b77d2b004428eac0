// Hierarchical Dirichlet scaling process with labels or with numbers, truncated at K topics, the topics of the
// tokens summed out.
//
//   root ~ GEM(gamma) truncated,  pi_dk ~ Gamma(alpha root_k, rate exp(-(labels * log_scale)_dk)),
//   theta_d = pi_d / sum(pi_d),  topics and the law of log_scale as their sides say
functions {
#include functions/dirichlet.stan
#include functions/sticks.stan
#include functions/word_counts.stan
#include topics_functions.stan
/**
 * Log proportions of documents: normalised gamma variates, each times its scale.
 */
array[] vector log_scaled_weights(array[] vector log_h, array[] vector x, vector log_shape, matrix labels,
                                  array[] vector log_scale) {
  array[size(x)] vector[num_elements(log_shape)] out;
  for (d in 1 : size(x)) {
    vector[num_elements(log_shape)] log_pi = log_gamma_of(log_h[d], x[d], log_shape);
    for (j in 1 : size(log_scale)) {
      log_pi += labels[d, j] * log_scale[j];
    }
    out[d] = log_softmax(log_pi);
  }
  return out;
}
}
data {
  int<lower=0> D; // documents
  int<lower=1> V; // words of the vocabulary
  int<lower=1> K; // topics that the sticks are truncated at
  int<lower=0> J; // labels
  array[D, V] int<lower=0> counts; // how often each word occurs in each document
  matrix[D, J] labels; // value of each label in each document
  // Each hyperparameter is given by its value, or, if random, by the two parameters of its prior: shape and rate
  // of a Gamma unless another is named.
  int<lower=0, upper=1> gamma_is_random; // concentration of the root
  vector<lower=0>[1 + gamma_is_random] gamma_given;
  int<lower=0, upper=1> alpha_is_random; // concentration of the documents
  vector<lower=0>[1 + alpha_is_random] alpha_given;
#include scales_data.stan
#include topics_data.stan
}
transformed data {
#include topics_transformed_data.stan
}
parameters {
  array[gamma_is_random] real<lower=0> gamma_random;
  array[alpha_is_random] real<lower=0> alpha_random;
#include scales_hyperparameters.stan
#include topics_hyperparameters.stan
  vector[K] sticks;
  array[J] vector[K] scale_x;
  array[D] vector[K] theta_log_h;
  array[D] vector<lower=0>[K] theta_x;
#include topics_parameters.stan
}
transformed parameters {
  real gamma = gamma_is_random ? gamma_random[1] : gamma_given[1];
  real alpha = alpha_is_random ? alpha_random[1] : alpha_given[1];
#include scales_transformed_parameters.stan
#include topics_transformed_parameters.stan
}
model {
  vector[K] theta_log_shape = floored(log(alpha) + log_softmax(sticks));
  array[D] vector[K] log_theta = log_scaled_weights(theta_log_h, theta_x, theta_log_shape, labels, log_scale);
  gamma_random ~ gamma(gamma_given[1], gamma_given[1 + gamma_is_random]);
  alpha_random ~ gamma(alpha_given[1], alpha_given[1 + alpha_is_random]);
  sticks ~ stick_weights(gamma);
#include scales_model.stan
  for (d in 1 : D) {
    theta_log_h[d] ~ log_gamma_variate(exp(theta_log_shape) + 1);
    theta_x[d] ~ exponential(1);
  }
#include topics_model.stan
}
generated quantities {
  vector[K] root = softmax(sticks);
  array[D] vector[K] theta;
  {
    vector[K] log_shape = floored(log(alpha) + log_softmax(sticks));
    theta = exp(log_scaled_weights(theta_log_h, theta_x, log_shape, labels, log_scale));
  }
#include topics_generated_quantities.stan
}
