// Dirichlet-multinomial regression (Mimno and McCallum 2008), the topics of the tokens summed out.
//
//   theta_d ~ Dirichlet(exp(features_d * log_factor)),  topics as their side says
functions {
#include functions/dirichlet.stan
#include functions/word_counts.stan
#include topics_functions.stan
/**
 * Coefficients: standard normal ones over the root of their precision, that of the first being another.
 */
array[] vector scaled(array[] vector standard, real first_precision, real precision) {
  array[size(standard)] vector[num_elements(standard[1])] out;
  for (j in 1 : size(standard)) {
    out[j] = standard[j] / sqrt(j == 1 ? first_precision : precision);
  }
  return out;
}

/**
 * Log shapes of the documents: linear in their features.
 */
array[] vector log_shapes_of(matrix features, array[] vector log_factor) {
  array[rows(features)] vector[num_elements(log_factor[1])] out;
  for (d in 1 : rows(features)) {
    out[d] = features[d, 1] * log_factor[1];
    for (j in 2 : cols(features)) {
      out[d] += features[d, j] * log_factor[j];
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
  int<lower=1> J; // features, the first of which is 1 in every document
  matrix[D, J] features;
  array[D, V] int<lower=0> counts; // how often each word occurs in each document
  // Each hyperparameter is given by its value, or, if random, by the two parameters of its prior: shape and rate
  // of a Gamma unless another is named.
  int<lower=0, upper=1> intercept_precision_is_random; // of the coefficients of the first feature
  vector<lower=0>[1 + intercept_precision_is_random] intercept_precision_given;
  int<lower=0, upper=1> precision_is_random; // of all other coefficients
  vector<lower=0>[1 + precision_is_random] precision_given;
#include topics_data.stan
}
transformed data {
#include topics_transformed_data.stan
}
parameters {
  array[intercept_precision_is_random] real<lower=0> intercept_precision_random;
  array[precision_is_random] real<lower=0> precision_random;
  array[J] vector[K] standard_coefficients;
#include topics_hyperparameters.stan
  array[D] vector[K] theta_log_h;
  array[D] vector<lower=0>[K] theta_x;
#include topics_parameters.stan
}
transformed parameters {
  real intercept_precision
    = intercept_precision_is_random ? intercept_precision_random[1] : intercept_precision_given[1];
  real precision = precision_is_random ? precision_random[1] : precision_given[1];
  array[J] vector[K] log_factor = scaled(standard_coefficients, intercept_precision, precision);
#include topics_transformed_parameters.stan
}
model {
  array[D] vector[K] theta_log_shape = log_shapes_of(features, log_factor);
  array[D] vector[K] log_theta = log_dirichlet_weights(theta_log_h, theta_x, theta_log_shape);
  if (intercept_precision_is_random) {
    intercept_precision_random[1] ~ gamma(intercept_precision_given[1], intercept_precision_given[2]);
  }
  if (precision_is_random) {
    precision_random[1] ~ gamma(precision_given[1], precision_given[2]);
  }
  for (j in 1 : J) {
    standard_coefficients[j] ~ std_normal();
  }
  for (d in 1 : D) {
    theta_log_h[d] ~ log_gamma_variate(exp(theta_log_shape[d]) + 1);
    theta_x[d] ~ exponential(1);
  }
#include topics_model.stan
}
generated quantities {
  array[D] vector[K] theta
    = exp(log_dirichlet_weights(theta_log_h, theta_x, log_shapes_of(features, log_factor)));
#include topics_generated_quantities.stan
}
