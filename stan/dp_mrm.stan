// Dirichlet processes with mixed random measures (Kim et al. 2012), T sticks a label, the topics of the tokens
// summed out. Topic t of label j has number (j - 1) T + t.
//
//   root_j ~ GEM(gamma) truncated,  share_r ~ Dirichlet(tau) over the labels of r,
//   theta_d ~ Dirichlet(alpha share_j root_jt),  topics as their side says
functions {
#include functions/dirichlet.stan
#include functions/word_counts.stan
#include topics_functions.stan
/**
 * Log sticks, of which cut are the parts that are broken off.
 */
array[] vector log_sticks_of(array[] vector cut, int T) {
  array[size(cut)] vector[T] out;
  for (j in 1 : size(cut)) {
    out[j] = log(append_row(cut[j], 1)) + append_row(0, cumulative_sum(log1m(cut[j])));
  }
  return out;
}

/**
 * Log shapes of the shares: floored for labels that a row lacks.
 */
array[] vector log_shapes_of_shares(real tau, array[,] int has) {
  array[size(has)] vector[size(has[1])] out;
  for (r in 1 : size(has)) {
    for (j in 1 : size(has[1])) {
      out[r, j] = has[r, j] ? log(tau) : negative_infinity();
    }
    out[r] = floored(out[r]);
  }
  return out;
}

/**
 * Log shapes of the documents: alpha times shares times sticks.
 */
array[] vector log_shapes_of(real alpha, array[] vector log_share, array[] vector log_root, array[] int row) {
  int J = size(log_root);
  int T = num_elements(log_root[1]);
  array[size(row)] vector[J * T] out;
  for (d in 1 : size(row)) {
    for (j in 1 : J) {
      out[d, (j - 1) * T + 1 : j * T] = log(alpha) + log_share[row[d], j] + log_root[j];
    }
    out[d] = floored(out[d]);
  }
  return out;
}
}
data {
  int<lower=0> D; // documents
  int<lower=1> V; // words of the vocabulary
  int<lower=1> K; // topics, of all labels
  int<lower=1> R; // rows of labels
  int<lower=1> J; // labels
  array[R, J] int<lower=0, upper=1> has; // whether a row has a label
  array[D] int<lower=1, upper=R> row; // of each document
  array[D, V] int<lower=0> counts; // how often each word occurs in each document
  // Each hyperparameter is given by its value, or, if random, by the two parameters of its prior: shape and rate
  // of a Gamma unless another is named.
  int<lower=0, upper=1> gamma_is_random; // concentration of the labels
  vector<lower=0>[1 + gamma_is_random] gamma_given;
  int<lower=0, upper=1> alpha_is_random; // concentration of the documents
  vector<lower=0>[1 + alpha_is_random] alpha_given;
  int<lower=0, upper=1> tau_is_random; // Dirichlet parameter of the labels of a document
  vector<lower=0>[1 + tau_is_random] tau_given;
#include topics_data.stan
}
transformed data {
  int T = K %/% J;
#include topics_transformed_data.stan
}
parameters {
  array[gamma_is_random] real<lower=0> gamma_random;
  array[alpha_is_random] real<lower=0> alpha_random;
  array[tau_is_random] real<lower=0> tau_random;
#include topics_hyperparameters.stan
  array[J] vector<lower=0, upper=1>[T - 1] cut;
  array[R] vector[J] share_log_h;
  array[R] vector<lower=0>[J] share_x;
  array[D] vector[K] theta_log_h;
  array[D] vector<lower=0>[K] theta_x;
#include topics_parameters.stan
}
transformed parameters {
  real gamma = gamma_is_random ? gamma_random[1] : gamma_given[1];
  real alpha = alpha_is_random ? alpha_random[1] : alpha_given[1];
  real tau = tau_is_random ? tau_random[1] : tau_given[1];
#include topics_transformed_parameters.stan
}
model {
  array[R] vector[J] share_log_shape = log_shapes_of_shares(tau, has);
  array[R] vector[J] log_share = log_dirichlet_weights(share_log_h, share_x, share_log_shape);
  array[D] vector[K] theta_log_shape = log_shapes_of(alpha, log_share, log_sticks_of(cut, T), row);
  array[D] vector[K] log_theta = log_dirichlet_weights(theta_log_h, theta_x, theta_log_shape);
  gamma_random ~ gamma(gamma_given[1], gamma_given[1 + gamma_is_random]);
  alpha_random ~ gamma(alpha_given[1], alpha_given[1 + alpha_is_random]);
  tau_random ~ gamma(tau_given[1], tau_given[1 + tau_is_random]);
  for (j in 1 : J) {
    cut[j] ~ beta(1, gamma);
  }
  for (r in 1 : R) {
    share_log_h[r] ~ log_gamma_variate(exp(share_log_shape[r]) + 1);
    share_x[r] ~ exponential(1);
  }
  for (d in 1 : D) {
    theta_log_h[d] ~ log_gamma_variate(exp(theta_log_shape[d]) + 1);
    theta_x[d] ~ exponential(1);
  }
#include topics_model.stan
}
generated quantities {
  array[J] vector[T] root = exp(log_sticks_of(cut, T));
  array[R] vector[J] share
    = exp(log_dirichlet_weights(share_log_h, share_x, log_shapes_of_shares(tau, has)));
  array[D] vector[K] theta;
  {
    array[R] vector[J] log_share
      = log_dirichlet_weights(share_log_h, share_x, log_shapes_of_shares(tau, has));
    theta
      = exp(
          log_dirichlet_weights(
            theta_log_h, theta_x, log_shapes_of(alpha, log_share, log_sticks_of(cut, T), row)
          )
        );
  }
#include topics_generated_quantities.stan
}
