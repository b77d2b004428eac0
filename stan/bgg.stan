// Poisson factor analysis with a probability a topic (Zhao, Du, Buntine and Zhou 2018, supplement, Equation 15), the
// topics of the tokens summed out.
//
//   r_k ~ Gamma(gamma / K, c),  p_k ~ Beta(p_shapes),  theta_dk ~ Gamma(r_k, (1 - p_k) / p_k),
//   counts_dv ~ Poisson(sum_k theta_dk phi_kv),  topics as their side says
functions {
#include functions/dirichlet.stan
#include functions/word_counts.stan
#include topics_functions.stan
}
data {
  int<lower=0> D; // documents
  int<lower=1> V; // words of the vocabulary
  int<lower=1> K; // topics
  array[D, V] int<lower=0> counts; // how often each word occurs in each document
  vector<lower=0>[2] p_shapes; // of the beta law of p
  // Each hyperparameter is given by its value, or, if random, by the two parameters of its prior: shape and rate
  // of a Gamma unless another is named.
  int<lower=0, upper=1> gamma_is_random; // mass of the weights
  vector<lower=0>[1 + gamma_is_random] gamma_given;
  int<lower=0, upper=1> c_is_random; // their rate
  vector<lower=0>[1 + c_is_random] c_given;
#include topics_data.stan
}
transformed data {
  vector[K] p_log_shape = floored(rep_vector(log(p_shapes[1]), K));
  vector[K] q_log_shape = floored(rep_vector(log(p_shapes[2]), K));
#include topics_transformed_data.stan
}
parameters {
  array[gamma_is_random] real<lower=0> gamma_random;
  array[c_is_random] real<lower=0> c_random;
#include topics_hyperparameters.stan
  vector[K] r_log_h;
  vector<lower=0>[K] r_x;
  // p is a ratio of two gamma variables.
  vector[K] p_log_h;
  vector<lower=0>[K] p_x;
  vector[K] q_log_h;
  vector<lower=0>[K] q_x;
  array[D] vector[K] theta_log_h;
  array[D] vector<lower=0>[K] theta_x;
#include topics_parameters.stan
}
transformed parameters {
  real gamma = gamma_is_random ? gamma_random[1] : gamma_given[1];
  real c = c_is_random ? c_random[1] : c_given[1];
  vector[K] log_odds = log_gamma_of(p_log_h, p_x, p_log_shape) - log_gamma_of(q_log_h, q_x, q_log_shape);
#include topics_transformed_parameters.stan
}
model {
  vector[K] r_log_shape = floored(rep_vector(log(gamma) - log(K), K));
  vector[K] theta_log_shape = floored(log_gamma_of(r_log_h, r_x, r_log_shape) - log(c));
  array[D] vector[K] log_theta;
  gamma_random ~ gamma(gamma_given[1], gamma_given[1 + gamma_is_random]);
  c_random ~ gamma(c_given[1], c_given[1 + c_is_random]);
  r_log_h ~ log_gamma_variate(exp(r_log_shape) + 1);
  r_x ~ exponential(1);
  p_log_h ~ log_gamma_variate(exp(p_log_shape) + 1);
  p_x ~ exponential(1);
  q_log_h ~ log_gamma_variate(exp(q_log_shape) + 1);
  q_x ~ exponential(1);
  for (d in 1 : D) {
    theta_log_h[d] ~ log_gamma_variate(exp(theta_log_shape) + 1);
    theta_x[d] ~ exponential(1);
    log_theta[d] = log_gamma_of(theta_log_h[d], theta_x[d], theta_log_shape) + log_odds;
    target += -sum(exp(log_theta[d]));
  }
#include topics_model.stan
}
generated quantities {
  vector[K] r;
  array[D] vector[K] theta;
  {
    vector[K] log_r = log_gamma_of(r_log_h, r_x, floored(rep_vector(log(gamma) - log(K), K))) - log(c);
    r = exp(log_r);
    for (d in 1 : D) {
      theta[d] = exp(log_gamma_of(theta_log_h[d], theta_x[d], floored(log_r)) + log_odds);
    }
  }
#include topics_generated_quantities.stan
}
