// Shared Dirichlet process of a document mixed with one of each sentence (Müller, Quintana and Rosner 2004), weights
// integrated out, dishes of the tokens enumerated as data, topics of the tokens summed out.
//
//   dishes_dl ~ Dirichlet_K(kappa),  phi_k ~ Dirichlet_V(eta)
functions {
#include functions/dirichlet.stan
#include functions/segments.stan
}
data {
  int<lower=1> D; // documents
  int<lower=1> V; // words of the vocabulary
  int<lower=1> K; // topics
  int<lower=1> L; // most dishes of a document
  int<lower=0> R; // rows: dishes of the tokens of a document
  array[4] int<lower=0> widths; // columns of the law for epsilon, for 1 - epsilon, and for alpha, twice
  array[D + 1] int<lower=1> first_row; // of each document
  matrix[R, sum(widths)] law; // what the logarithms of the law are multiplied by
  vector[R] log_constant; // what is added
  matrix[R, L * V] words; // how often each word occurs at each dish
  // Each hyperparameter is given by its value, or, if random, by the shape and rate of its Gamma prior.
  int<lower=0, upper=1> alpha_is_random; // concentration of shared dishes, and of a sentence's own
  vector<lower=0>[1 + alpha_is_random] alpha_given;
  int<lower=0, upper=1> epsilon_is_random; // share of the shared dishes; its prior is Beta
  vector<lower=0>[1 + epsilon_is_random] epsilon_given;
  int<lower=0, upper=1> kappa_is_random; // Dirichlet parameter of a dish, a topic
  vector<lower=0>[1 + kappa_is_random] kappa_given;
  int<lower=0, upper=1> eta_is_random; // Dirichlet parameter of a topic, a word
  vector<lower=0>[1 + eta_is_random] eta_given;
}
parameters {
  array[alpha_is_random] real<lower=0> alpha_random;
  array[epsilon_is_random] real<lower=0, upper=1> epsilon_random;
  array[kappa_is_random] real<lower=0> kappa_random;
  array[eta_is_random] real<lower=0> eta_random;
  array[D * L] vector[K] dishes_log_h;
  array[D * L] vector<lower=0>[K] dishes_x;
  array[K] vector[V] phi_log_h;
  array[K] vector<lower=0>[V] phi_x;
}
transformed parameters {
  real alpha = alpha_is_random ? alpha_random[1] : alpha_given[1];
  real epsilon = epsilon_is_random ? epsilon_random[1] : epsilon_given[1];
  real kappa = kappa_is_random ? kappa_random[1] : kappa_given[1];
  real eta = eta_is_random ? eta_random[1] : eta_given[1];
}
model {
  vector[K] dishes_log_shape = floored(rep_vector(log(kappa), K));
  vector[V] phi_log_shape = floored(rep_vector(log(eta), V));
  alpha_random ~ gamma(alpha_given[1], alpha_given[1 + alpha_is_random]);
  epsilon_random ~ beta(epsilon_given[1], epsilon_given[1 + epsilon_is_random]);
  kappa_random ~ gamma(kappa_given[1], kappa_given[1 + kappa_is_random]);
  eta_random ~ gamma(eta_given[1], eta_given[1 + eta_is_random]);
  for (i in 1 : D * L) {
    dishes_log_h[i] ~ log_gamma_variate(exp(dishes_log_shape) + 1);
    dishes_x[i] ~ exponential(1);
  }
  for (k in 1 : K) {
    phi_log_h[k] ~ log_gamma_variate(exp(phi_log_shape) + 1);
    phi_x[k] ~ exponential(1);
  }
  target += log_documents(first_row, log_constant + law * log_factors([epsilon, 1 - epsilon, alpha, alpha]', widths), words,
                          log_dirichlet_weights(dishes_log_h, dishes_x, dishes_log_shape),
                          log_dirichlet_weights(phi_log_h, phi_x, phi_log_shape));
}
generated quantities {
  array[D * L] vector[K] dishes;
  array[K] vector[V] phi;
  dishes = exp(log_dirichlet_weights(dishes_log_h, dishes_x, floored(rep_vector(log(kappa), K))));
  phi = exp(log_dirichlet_weights(phi_log_h, phi_x, floored(rep_vector(log(eta), V))));
}
