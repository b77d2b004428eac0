// Indian buffet of a document, from which its sentences take dishes (Williamson, Wang, Heller and Blei 2010), with
// the L largest sticks of each; dishes and topics of the tokens and which dishes are on in a sentence summed out.
//
//   b_sl ~ Bernoulli(inclusion_dl),  theta_s ~ Dirichlet(b_s strength_d),  n_s ~ NB(sum_l b_sl strength_dl, 1/2),
//   dishes_dl ~ Dirichlet_K(kappa),  phi_k ~ Dirichlet_V(eta)
functions {
#include functions/dirichlet.stan
#include functions/buffet.stan
/**
 * Log probability of each set of dishes of a sentence, with its words and length.
 */
vector log_sets_of_sentence(array[,] int masks, vector log_sticks, vector strength, array[] int words,
                            vector log_g, array[] vector log_words) {
  int M = size(masks);
  vector[M] log_p;
  for (m in 1 : M) {
    vector[num_elements(log_sticks)] on = to_vector(masks[m]);
    log_p[m] = dot_product(on, log_sticks) + dot_product(1 - on, log1m_exp(log_sticks))
               + lengths_of_task(masks[m], dot_product(on, strength), {sum(words)}, 2);
    if (sum(words) > 0 && sum(masks[m]) > 0) {
      log_p[m] += masked_words(words, log_g, log_words, masks[m]);
    }
  }
  return log_p;
}

/**
 * Log probability of each word at each dish, the topic summed out.
 */
array[] vector log_words_of(array[] vector log_dishes, array[] vector log_phi) {
  int V = num_elements(log_phi[1]);
  array[size(log_dishes)] vector[V] out;
  for (v in 1 : V) {
    vector[size(log_phi)] log_phi_v = to_vector(log_phi[, v]);
    for (l in 1 : size(log_dishes)) {
      out[l, v] = log_sum_exp(log_dishes[l] + log_phi_v);
    }
  }
  return out;
}

/**
 * Log probability of each set of dishes of every sentence; those of a document come in a row.
 */
array[] vector log_sets(array[,] int masks, array[] int document, array[] vector log_sticks,
                        array[] vector strength, array[,] int counts, array[] vector log_g,
                        array[] vector log_dishes, array[] vector log_phi) {
  int L = num_elements(strength[1]);
  array[size(document)] vector[size(masks)] out;
  array[L] vector[num_elements(log_phi[1])] log_words;
  for (s in 1 : size(document)) {
    int d = document[s];
    if (s == 1 || d != document[s - 1]) {
      log_words = log_words_of(log_dishes[(d - 1) * L + 1 : d * L], log_phi);
    }
    out[s] = log_sets_of_sentence(masks, log_sticks[d], strength[d], counts[s], log_g[s], log_words);
  }
  return out;
}
}
data {
  int<lower=1> D; // documents
  int<lower=1> S; // sentences
  int<lower=1> V; // words of the vocabulary
  int<lower=1, upper=10> L; // dishes of a document; the cost doubles with each
  int<lower=1> K; // topics
  array[S, V] int<lower=0> counts; // how often each word occurs in each sentence
  array[S] int<lower=1, upper=D> document; // of each sentence
  // Each hyperparameter is given by its value, or, if random, by the shape and rate of its Gamma prior.
  int<lower=0, upper=1> alpha_is_random; // mass of the Indian buffet process
  vector<lower=0>[1 + alpha_is_random] alpha_given;
  int<lower=0, upper=1> gamma_is_random; // shape of the strengths
  vector<lower=0>[1 + gamma_is_random] gamma_given;
  int<lower=0, upper=1> kappa_is_random; // Dirichlet parameter of a dish, a topic
  vector<lower=0>[1 + kappa_is_random] kappa_given;
  int<lower=0, upper=1> eta_is_random; // Dirichlet parameter of a topic, a word
  vector<lower=0>[1 + eta_is_random] eta_given;
}
transformed data {
  int M = size(all_masks(L));
  array[M, L] int masks = all_masks(L);
}
parameters {
  array[gamma_is_random] real<lower=0> gamma_random;
  array[alpha_is_random] real<lower=0> alpha_random;
  array[kappa_is_random] real<lower=0> kappa_random;
  array[eta_is_random] real<lower=0> eta_random;
  array[D] vector<upper=0>[L] log_sticks;
  array[D] vector[L] strength_log_h;
  array[D] vector<lower=0>[L] strength_x;
  array[S] vector[L] g_log_h;
  array[S] vector<lower=0>[L] g_x;
  array[D * L] vector[K] dishes_log_h;
  array[D * L] vector<lower=0>[K] dishes_x;
  array[K] vector[V] phi_log_h;
  array[K] vector<lower=0>[V] phi_x;
}
transformed parameters {
  real gamma = gamma_is_random ? gamma_random[1] : gamma_given[1];
  real alpha = alpha_is_random ? alpha_random[1] : alpha_given[1];
  real kappa = kappa_is_random ? kappa_random[1] : kappa_given[1];
  real eta = eta_is_random ? eta_random[1] : eta_given[1];
  array[D] vector[L] strength;
  array[S] vector[L] log_g;
  {
    array[D] vector[L] log_strength;
    for (d in 1 : D) {
      log_strength[d] = log_gamma_of(strength_log_h[d], strength_x[d], floored(rep_vector(log(gamma), L)));
      strength[d] = exp(log_strength[d]);
    }
    for (s in 1 : S) {
      log_g[s] = log_gamma_of(g_log_h[s], g_x[s], floored(log_strength[document[s]]));
    }
  }
}
model {
  vector[L] strength_log_shape = floored(rep_vector(log(gamma), L));
  vector[K] dishes_log_shape = floored(rep_vector(log(kappa), K));
  vector[V] phi_log_shape = floored(rep_vector(log(eta), V));
  array[D] vector[L] g_log_shape;
  array[S] vector[M] log_p = log_sets(masks, document, log_sticks, strength, counts, log_g,
                                      log_dirichlet_weights(dishes_log_h, dishes_x, dishes_log_shape),
                                      log_dirichlet_weights(phi_log_h, phi_x, phi_log_shape));
  gamma_random ~ gamma(gamma_given[1], gamma_given[1 + gamma_is_random]);
  alpha_random ~ gamma(alpha_given[1], alpha_given[1 + alpha_is_random]);
  kappa_random ~ gamma(kappa_given[1], kappa_given[1 + kappa_is_random]);
  eta_random ~ gamma(eta_given[1], eta_given[1 + eta_is_random]);
  for (d in 1 : D) {
    g_log_shape[d] = floored(log_gamma_of(strength_log_h[d], strength_x[d], strength_log_shape));
    log_sticks[d] ~ buffet_sticks(alpha, 0);
    strength_log_h[d] ~ log_gamma_variate(exp(strength_log_shape) + 1);
    strength_x[d] ~ exponential(1);
  }
  for (s in 1 : S) {
    g_log_h[s] ~ log_gamma_variate(exp(g_log_shape[document[s]]) + 1);
    g_x[s] ~ exponential(1);
    target += log_sum_exp(log_p[s]);
  }
  for (i in 1 : D * L) {
    dishes_log_h[i] ~ log_gamma_variate(exp(dishes_log_shape) + 1);
    dishes_x[i] ~ exponential(1);
  }
  for (k in 1 : K) {
    phi_log_h[k] ~ log_gamma_variate(exp(phi_log_shape) + 1);
    phi_x[k] ~ exponential(1);
  }
}
generated quantities {
  array[D * L] vector[K] dishes;
  array[K] vector[V] phi;
  array[S] vector[M] mask;
  {
    array[D * L] vector[K] log_dishes
      = log_dirichlet_weights(dishes_log_h, dishes_x, floored(rep_vector(log(kappa), K)));
    array[K] vector[V] log_phi = log_dirichlet_weights(phi_log_h, phi_x, floored(rep_vector(log(eta), V)));
    array[S] vector[M] log_p
      = log_sets(masks, document, log_sticks, strength, counts, log_g, log_dishes, log_phi);
    dishes = exp(log_dishes);
    phi = exp(log_phi);
    for (s in 1 : S) {
      mask[s] = softmax(log_p[s]);
    }
  }
}
