// Truncated stick-breaking for each sentence over the dishes of its document (Das et al. 2013), dishes and topics
// of the tokens summed out.
//
//   theta_s ~ sticks(a, b) truncated,  dishes_dl ~ Dirichlet_K(kappa),  phi_k ~ Dirichlet_V(eta)
functions {
#include functions/dirichlet.stan
#include functions/word_counts.stan
#include functions/segments.stan
}
data {
  int<lower=1> D; // documents
  int<lower=1> S; // sentences
  int<lower=1> V; // words of the vocabulary
  int<lower=2> T; // dishes of a document
  int<lower=1> K; // topics
  array[S, V] int<lower=0> counts; // how often each word occurs in each sentence
  array[S] int<lower=1, upper=D> document; // of each sentence
  // Each hyperparameter is given by its value, or, if random, by the shape and rate of its Gamma prior.
  int<lower=0, upper=1> a_is_random; // sticks are Beta(a, b)
  vector<lower=0>[1 + a_is_random] a_given;
  int<lower=0, upper=1> b_is_random;
  vector<lower=0>[1 + b_is_random] b_given;
  int<lower=0, upper=1> kappa_is_random; // Dirichlet parameter of a dish, a topic
  vector<lower=0>[1 + kappa_is_random] kappa_given;
  int<lower=0, upper=1> eta_is_random; // Dirichlet parameter of a topic, a word
  vector<lower=0>[1 + eta_is_random] eta_given;
}
parameters {
  array[a_is_random] real<lower=0> a_random;
  array[b_is_random] real<lower=0> b_random;
  array[kappa_is_random] real<lower=0> kappa_random;
  array[eta_is_random] real<lower=0> eta_random;
  array[S * (T - 1)] vector[2] sticks_log_h;
  array[S * (T - 1)] vector<lower=0>[2] sticks_x;
  array[D * T] vector[K] dishes_log_h;
  array[D * T] vector<lower=0>[K] dishes_x;
  array[K] vector[V] phi_log_h;
  array[K] vector<lower=0>[V] phi_x;
}
transformed parameters {
  real a = a_is_random ? a_random[1] : a_given[1];
  real b = b_is_random ? b_random[1] : b_given[1];
  real kappa = kappa_is_random ? kappa_random[1] : kappa_given[1];
  real eta = eta_is_random ? eta_random[1] : eta_given[1];
}
model {
  vector[2] sticks_log_shape = floored(log([a, b]'));
  vector[K] dishes_log_shape = floored(rep_vector(log(kappa), K));
  vector[V] phi_log_shape = floored(rep_vector(log(eta), V));
  array[S] vector[T] log_theta = log_stick_weights(log_dirichlet_weights(sticks_log_h, sticks_x, sticks_log_shape), S);
  array[D * T] vector[K] log_dishes = log_dirichlet_weights(dishes_log_h, dishes_x, dishes_log_shape);
  array[K] vector[V] log_phi = log_dirichlet_weights(phi_log_h, phi_x, phi_log_shape);
  a_random ~ gamma(a_given[1], a_given[1 + a_is_random]);
  b_random ~ gamma(b_given[1], b_given[1 + b_is_random]);
  kappa_random ~ gamma(kappa_given[1], kappa_given[1 + kappa_is_random]);
  eta_random ~ gamma(eta_given[1], eta_given[1 + eta_is_random]);
  for (i in 1 : S * (T - 1)) {
    sticks_log_h[i] ~ log_gamma_variate(exp(sticks_log_shape) + 1);
    sticks_x[i] ~ exponential(1);
  }
  for (i in 1 : D * T) {
    dishes_log_h[i] ~ log_gamma_variate(exp(dishes_log_shape) + 1);
    dishes_x[i] ~ exponential(1);
  }
  for (k in 1 : K) {
    phi_log_h[k] ~ log_gamma_variate(exp(phi_log_shape) + 1);
    phi_x[k] ~ exponential(1);
  }
  for (s in 1 : S) {
    int d = document[s];
    array[T] vector[V] log_words;
    for (t in 1 : T) {
      log_words[t] = log_words_of_dishes(log_dishes[(d - 1) * T + t : (d - 1) * T + t], log_phi);
    }
    counts[s : s] ~ word_counts(log_theta[s : s], log_words);
  }
}
generated quantities {
  array[S] vector[T] theta;
  array[D * T] vector[K] dishes;
  array[K] vector[V] phi;
  theta = exp(log_stick_weights(log_dirichlet_weights(sticks_log_h, sticks_x, floored(log([a, b]'))), S));
  dishes = exp(log_dirichlet_weights(dishes_log_h, dishes_x, floored(rep_vector(log(kappa), K))));
  phi = exp(log_dirichlet_weights(phi_log_h, phi_x, floored(rep_vector(log(eta), V))));
}
