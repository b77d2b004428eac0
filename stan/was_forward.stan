// Weight-agnostic hierarchical stick-breaking process (Das and Bhattacharyya), dishes of the tokens summed out by
// the forward algorithm, whose states and edges are data, and topics of the tokens, too.
//
//   sticks_sj ~ Beta(a, b),  dishes_dl ~ Dirichlet_K(kappa),  phi_k ~ Dirichlet_V(eta)
functions {
#include functions/dirichlet.stan
#include functions/segments.stan
#include functions/lattice.stan
}
data {
  int<lower=1> D; // documents
  int<lower=1> V; // words of the vocabulary
  int<lower=1> K; // topics
  int<lower=1> L; // most dishes of a document
  int<lower=1> J; // most tables of a sentence
  int<lower=0> S; // sentences
  int<lower=0> N; // tokens, in the order in which they take their seats
  int<lower=0> M; // documents that have tokens
  int<lower=0> T; // states after each token: the dishes of all sentences of its document
  int<lower=0> E; // edges, by the state that they lead to
  array[M] int<lower=1> last; // tokens of documents
  array[N + 1] int<lower=1> first_state; // after each token
  array[T + 1] int<lower=1> first_edge; // to each state
  array[E] int<lower=0> source; // state before; 0 for the first token of a document
  array[E] int<lower=1> seat; // table of the token, see log_seats
  array[E] int<lower=1> offer; // dish of the table, see log_offers
  array[E] int<lower=1> word; // document, dish and word
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
  array[S * J] vector[2] sticks_log_h;
  array[S * J] vector<lower=0>[2] sticks_x;
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
  vector[2] sticks_log_shape = floored(log([a, b]'));
  vector[K] dishes_log_shape = floored(rep_vector(log(kappa), K));
  vector[V] phi_log_shape = floored(rep_vector(log(eta), V));
  a_random ~ gamma(a_given[1], a_given[1 + a_is_random]);
  b_random ~ gamma(b_given[1], b_given[1 + b_is_random]);
  zeta_random ~ gamma(zeta_given[1], zeta_given[1 + zeta_is_random]);
  kappa_random ~ gamma(kappa_given[1], kappa_given[1 + kappa_is_random]);
  eta_random ~ gamma(eta_given[1], eta_given[1 + eta_is_random]);
  for (i in 1 : S * J) {
    sticks_log_h[i] ~ log_gamma_variate(exp(sticks_log_shape) + 1);
    sticks_x[i] ~ exponential(1);
  }
  for (i in 1 : D * L) {
    dishes_log_h[i] ~ log_gamma_variate(exp(dishes_log_shape) + 1);
    dishes_x[i] ~ exponential(1);
  }
  for (k in 1 : K) {
    phi_log_h[k] ~ log_gamma_variate(exp(phi_log_shape) + 1);
    phi_x[k] ~ exponential(1);
  }
  {
    array[D * L] vector[K] log_dishes = log_dirichlet_weights(dishes_log_h, dishes_x, dishes_log_shape);
    array[K] vector[V] log_phi = log_dirichlet_weights(phi_log_h, phi_x, phi_log_shape);
    array[S * J] vector[2] log_sticks = log_dirichlet_weights(sticks_log_h, sticks_x, sticks_log_shape);
    vector[D * L * V] log_words = log_words_of_dishes(log_dishes, log_phi);
    target += log_forward(last, first_state, first_edge, source,
                          log_seats(log_sticks, J)[seat] + log_offers(zeta, L)[offer] + log_words[word]);
  }
}
generated quantities {
  array[S * J] vector[2] sticks;
  array[D * L] vector[K] dishes;
  array[K] vector[V] phi;
  sticks = exp(log_dirichlet_weights(sticks_log_h, sticks_x, floored(log([a, b]'))));
  dishes = exp(log_dirichlet_weights(dishes_log_h, dishes_x, floored(rep_vector(log(kappa), K))));
  phi = exp(log_dirichlet_weights(phi_log_h, phi_x, floored(rep_vector(log(eta), V))));
}
