// Gamma belief network over topics (Zhou, Cong and Chen 2016) of S layers of K topics, the topics of the tokens and
// the probabilities of the lengths summed out.
//
//   r = mass root,  mass ~ Gamma(gamma, c),  root ~ Dirichlet(gamma / K),  theta_d^(S) ~ Gamma(r, rate_d^(S)),
//   theta_d^(s) ~ Gamma(link^(s + 1) theta_d^(s + 1), rate_d^(s)),  s = S - 1, ..., 2,
//   theta_d ~ Dirichlet(link^(2) theta_d^(2)),  lengths negative binomial of the sum of theta_d^(2),
//   topics as their side says
//
// Layers 2 to S stand one after the other in arrays: K links each, D rates and D theta each.
functions {
#include functions/dirichlet.stan
#include functions/poisson.stan
#include functions/word_counts.stan
#include topics_functions.stan
/**
 * Log shapes of a layer given the log theta of the layer above and the K links of its topics, from `first` on.
 */
vector log_mixed(vector log_theta, array[] vector log_link, int first) {
  int K = num_elements(log_theta);
  vector[K] out;
  for (i in 1 : K) {
    vector[K] terms;
    for (k in 1 : K) {
      terms[k] = log_theta[k] + log_link[first + k - 1][i];
    }
    out[i] = log_sum_exp(terms);
  }
  return out;
}

/**
 * Log of the weights of the highest layer.
 */
vector log_r_of(vector root_log_h, vector root_x, real mass_log_h, real mass_x, real gamma, real c) {
  int K = num_elements(root_x);
  return log_mass_of(mass_log_h, mass_x, gamma, c)
         + log_dirichlet_weights(root_log_h, root_x, root_log_shapes(gamma, K));
}

/**
 * Log shapes of the theta of layers 2 to S, and in the first D entries of proportions of topics; then log theta
 * itself. Entry D (s - 1) + d is that of document d in layer s.
 */
array[] vector log_layers(vector log_r, array[] vector log_link, vector log_rate, array[] vector log_h,
                          array[] vector x) {
  int K = num_elements(log_r);
  int n = size(x); // (S - 1) D
  int D = n %/% (size(log_link) %/% K);
  array[2 * n + D] vector[K] out;
  for (j in 1 : n) {
    int i = n + 1 - j; // from the highest layer down
    if (i > n - D) {
      out[D + i] = floored(log_r);
    }
    out[n + D + i] = log_gamma_of(log_h[i], x[i], out[D + i]) - log_rate[i];
    out[i] = floored(log_mixed(out[n + D + i], log_link, ((i - 1) %/% D) * K + 1));
  }
  return out;
}
}
data {
  int<lower=0> D; // documents
  int<lower=1> V; // words of the vocabulary
  int<lower=1> K; // topics of each layer
  int<lower=2> S; // layers
  array[D, V] int<lower=0> counts; // how often each word occurs in each document
  real<lower=0> length_shape; // of the probabilities of the lengths; 0 for lengths that are given
  real<lower=0> link_eta; // Dirichlet parameter of the links
  real<lower=0> rate_shape; // of the gamma law of the rates
  real<lower=0> rate_rate;
  // Each hyperparameter is given by its value, or, if random, by the two parameters of its prior: shape and rate
  // of a Gamma unless another is named.
  int<lower=0, upper=1> gamma_is_random; // mass of the weights of the highest layer
  vector<lower=0>[1 + gamma_is_random] gamma_given;
  int<lower=0, upper=1> c_is_random; // their rate
  vector<lower=0>[1 + c_is_random] c_given;
#include topics_data.stan
}
transformed data {
  int n_above = (S - 1) * D;
  array[D] int doc_lengths;
  for (d in 1 : D) {
    doc_lengths[d] = sum(counts[d]);
  }
#include topics_transformed_data.stan
}
parameters {
  array[gamma_is_random] real<lower=0> gamma_random;
  array[c_is_random] real<lower=0> c_random;
#include topics_hyperparameters.stan
  vector[K] root_log_h;
  vector<lower=0>[K] root_x;
  real mass_log_h;
  real<lower=0> mass_x;
  array[(S - 1) * K] vector[K] link_log_h;
  array[(S - 1) * K] vector<lower=0>[K] link_x;
  vector[n_above] log_rate;
  array[n_above] vector[K] rates_log_h;
  array[n_above] vector<lower=0>[K] rates_x;
  array[D] vector[K] theta_log_h;
  array[D] vector<lower=0>[K] theta_x;
#include topics_parameters.stan
}
transformed parameters {
  real gamma = gamma_is_random ? gamma_random[1] : gamma_given[1];
  real c = c_is_random ? c_random[1] : c_given[1];
#include topics_transformed_parameters.stan
}
model {
  array[2 * n_above + D] vector[K] layers = log_layers(log_r_of(root_log_h, root_x, mass_log_h, mass_x, gamma, c),
                                              log_dirichlet_weights(link_log_h, link_x,
                                                                    rep_vector(log(link_eta), K)),
                                              log_rate - log(rate_rate), rates_log_h, rates_x);
  array[D] vector[K] log_theta = log_dirichlet_weights(theta_log_h, theta_x, layers[1 : D]);
  gamma_random ~ gamma(gamma_given[1], gamma_given[1 + gamma_is_random]);
  c_random ~ gamma(c_given[1], c_given[1 + c_is_random]);
  root_log_h ~ log_gamma_variate(exp(root_log_shapes(gamma, K)) + 1);
  root_x ~ exponential(1);
  [mass_log_h]' ~ log_gamma_variate(exp(floored([log(gamma)]')) + 1);
  mass_x ~ exponential(1);
  for (k in 1 : (S - 1) * K) {
    link_log_h[k] ~ log_gamma_variate(rep_vector(link_eta + 1, K));
    link_x[k] ~ exponential(1);
  }
  log_rate ~ log_gamma_variate(rep_vector(rate_shape, n_above));
  vector[D] masses;
  for (d in 1 : D) {
    masses[d] = exp(log_sum_exp(layers[n_above + D + d]));
  }
  doc_lengths ~ lengths(masses, length_shape);
  for (i in 1 : n_above) {
    rates_log_h[i] ~ log_gamma_variate(exp(layers[D + i]) + 1);
    rates_x[i] ~ exponential(1);
  }
  for (d in 1 : D) {
    theta_log_h[d] ~ log_gamma_variate(exp(layers[d]) + 1);
    theta_x[d] ~ exponential(1);
  }
#include topics_model.stan
}
generated quantities {
  real mass = exp(log_mass_of(mass_log_h, mass_x, gamma, c));
  vector[K] root = exp(log_dirichlet_weights(root_log_h, root_x, root_log_shapes(gamma, K)));
  array[(S - 1) * K] vector[K] link = exp(log_dirichlet_weights(link_log_h, link_x, rep_vector(log(link_eta), K)));
  vector[n_above] rate = exp(log_rate - log(rate_rate));
  array[n_above] vector[K] rates;
  array[D] vector[K] theta;
  {
    array[2 * n_above + D] vector[K] layers = log_layers(log_r_of(root_log_h, root_x, mass_log_h, mass_x, gamma, c),
                                                log_dirichlet_weights(link_log_h, link_x,
                                                                      rep_vector(log(link_eta), K)),
                                                log_rate - log(rate_rate), rates_log_h, rates_x);
    rates = exp(layers[n_above + D + 1 : 2 * n_above + D]);
    theta = exp(log_dirichlet_weights(theta_log_h, theta_x, layers[1 : D]));
  }
#include topics_generated_quantities.stan
}
