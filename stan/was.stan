// Weight-agnostic hierarchical stick-breaking process (Das and Bhattacharyya), sticks integrated out, dishes of
// the tokens enumerated as data, topics of the tokens summed out.
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
  array[5] int<lower=0> widths; // columns of the law for zeta, for what is on offer, and for a, b and a + b
  array[D + 1] int<lower=1> first_row; // of each document
  matrix[R, sum(widths)] law; // what the logarithms of the law are multiplied by
  vector[R] log_constant; // what is added
  matrix[R, L * V] words; // how often each word occurs at each dish
  // Each hyperparameter is given by its value, or, if random, by the shape and rate of its Gamma prior.
  int<lower=0, upper=1> a_is_random; // sticks are Beta(a, b)
  vector<lower=0>[1 + a_is_random] a_given;
  int<lower=0, upper=1> b_is_random;
  vector<lower=0>[1 + b_is_random] b_given;
  int<lower=0, upper=1> zeta_is_random; // weight of a new dish
  vector<lower=0>[1 + zeta_is_random] zeta_given;
  int<lower=0, upper=1> kappa_is_random; // Dirichlet parameter of a dish, a topic
  vector<lower=0>[1 + kappa_is_random] kappa_given;
  int<lower=0, upper=1> eta_is_random; // Dirichlet parameter of a topic, a word
  vector<lower=0>[1 + eta_is_random] eta_given;
}
parameters {
  array[a_is_random] real<lower=0> a_random;
  array[b_is_random] real<lower=0> b_random;
  array[zeta_is_random] real<lower=0> zeta_random;
  array[kappa_is_random] real<lower=0> kappa_random;
  array[eta_is_random] real<lower=0> eta_random;
  array[D * L] vector[K] dishes_log_h;
  array[D * L] vector<lower=0>[K] dishes_x;
  array[K] vector[V] phi_log_h;
  array[K] vector<lower=0>[V] phi_x;
}
transformed parameters {
  real a = a_is_random ? a_random[1] : a_given[1];
  real b = b_is_random ? b_random[1] : b_given[1];
  real zeta = zeta_is_random ? zeta_random[1] : zeta_given[1];
  real kappa = kappa_is_random ? kappa_random[1] : kappa_given[1];
  real eta = eta_is_random ? eta_random[1] : eta_given[1];
}
model {
  vector[K] dishes_log_shape = floored(rep_vector(log(kappa), K));
  vector[V] phi_log_shape = floored(rep_vector(log(eta), V));
  a_random ~ gamma(a_given[1], a_given[1 + a_is_random]);
  b_random ~ gamma(b_given[1], b_given[1 + b_is_random]);
  zeta_random ~ gamma(zeta_given[1], zeta_given[1 + zeta_is_random]);
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
  target += log_documents(first_row, log_constant + law * log_factors([zeta, zeta, a, b, a + b]', widths), words,
                          log_dirichlet_weights(dishes_log_h, dishes_x, dishes_log_shape),
                          log_dirichlet_weights(phi_log_h, phi_x, phi_log_shape));
}
generated quantities {
  array[D * L] vector[K] dishes;
  array[K] vector[V] phi;
  dishes = exp(log_dirichlet_weights(dishes_log_h, dishes_x, floored(rep_vector(log(kappa), K))));
  phi = exp(log_dirichlet_weights(phi_log_h, phi_x, floored(rep_vector(log(eta), V))));
}
