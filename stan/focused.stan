// Focused topic model (Williamson, Wang, Heller and Blei 2010) with the K largest sticks of its Indian buffet
// process, the topics of the tokens and the sets of topics that are on in the documents summed out.
//
//   b_dk ~ Bernoulli(inclusion_k),  theta_d ~ Dirichlet(b_d strength),  n_d ~ NB(sum_k b_dk strength_k, 1/2)
functions {
#include functions/dirichlet.stan
#include functions/buffet.stan
/**
 * Log probability of each set of topics of a document, with its words and length.
 */
vector log_sets_of_document(array[,] int masks, vector log_sticks, vector strength, array[] int words,
                            vector log_g, array[] vector log_phi) {
  int M = size(masks);
  int n = sum(words);
  vector[M] log_p;
  for (m in 1 : M) {
    vector[num_elements(log_sticks)] on = to_vector(masks[m]);
    log_p[m] = dot_product(on, log_sticks) + dot_product(1 - on, log1m_exp(log_sticks))
               + lengths_of_task(masks[m], dot_product(on, strength), {n}, 2);
    if (n > 0 && sum(masks[m]) > 0) {
      log_p[m] += masked_words(words, log_g, log_phi, masks[m]);
    }
  }
  return log_p;
}
}
data {
  int<lower=0> D; // documents
  int<lower=1> V; // words of the vocabulary
  int<lower=1, upper=10> K; // topics; the cost doubles with each
  array[D, V] int<lower=0> counts; // how often each word occurs in each document
  // Each hyperparameter is given by its value, or, if random, by the shape and rate of its Gamma prior.
  int<lower=0, upper=1> alpha_is_random; // mass of the Indian buffet process
  vector<lower=0>[1 + alpha_is_random] alpha_given;
  int<lower=0, upper=1> gamma_is_random; // shape of the strengths
  vector<lower=0>[1 + gamma_is_random] gamma_given;
  int<lower=0, upper=1> eta_is_random; // Dirichlet parameter of a topic, a word
  vector<lower=0>[1 + eta_is_random] eta_given;
}
transformed data {
  int M = size(all_masks(K));
  array[M, K] int masks = all_masks(K);
}
parameters {
  array[gamma_is_random] real<lower=0> gamma_random;
  array[alpha_is_random] real<lower=0> alpha_random;
  array[eta_is_random] real<lower=0> eta_random;
  vector<upper=0>[K] log_sticks;
  vector[K] strength_log_h;
  vector<lower=0>[K] strength_x;
  array[D] vector[K] g_log_h;
  array[D] vector<lower=0>[K] g_x;
  array[K] vector[V] phi_log_h;
  array[K] vector<lower=0>[V] phi_x;
}
transformed parameters {
  real gamma = gamma_is_random ? gamma_random[1] : gamma_given[1];
  real alpha = alpha_is_random ? alpha_random[1] : alpha_given[1];
  real eta = eta_is_random ? eta_random[1] : eta_given[1];
  vector[K] strength;
  array[D] vector[K] log_g;
  {
    vector[K] log_strength = log_gamma_of(strength_log_h, strength_x, rep_vector(log(gamma), K));
    strength = exp(log_strength);
    for (d in 1 : D) {
      log_g[d] = log_gamma_of(g_log_h[d], g_x[d], floored(log_strength));
    }
  }
}
model {
  vector[K] strength_log_shape = rep_vector(log(gamma), K);
  vector[K] g_log_shape = floored(log_gamma_of(strength_log_h, strength_x, strength_log_shape));
  vector[V] phi_log_shape = rep_vector(log(eta), V);
  array[K] vector[V] log_phi = log_dirichlet_weights(phi_log_h, phi_x, phi_log_shape);
  gamma_random ~ gamma(gamma_given[1], gamma_given[1 + gamma_is_random]);
  alpha_random ~ gamma(alpha_given[1], alpha_given[1 + alpha_is_random]);
  eta_random ~ gamma(eta_given[1], eta_given[1 + eta_is_random]);
  log_sticks ~ buffet_sticks(alpha, 0);
  strength_log_h ~ log_gamma_variate(exp(strength_log_shape) + 1);
  strength_x ~ exponential(1);
  for (d in 1 : D) {
    g_log_h[d] ~ log_gamma_variate(exp(g_log_shape) + 1);
    g_x[d] ~ exponential(1);
  }
  for (k in 1 : K) {
    phi_log_h[k] ~ log_gamma_variate(exp(phi_log_shape) + 1);
    phi_x[k] ~ exponential(1);
  }
  for (d in 1 : D) {
    target += log_sum_exp(log_sets_of_document(masks, log_sticks, strength, counts[d], log_g[d], log_phi));
  }
}
generated quantities {
  vector[K] inclusion = exp(log_sticks);
  array[K] vector[V] phi;
  array[D] vector[M] mask;
  {
    array[K] vector[V] log_phi = log_dirichlet_weights(phi_log_h, phi_x, rep_vector(log(eta), V));
    phi = exp(log_phi);
    for (d in 1 : D) {
      mask[d] = softmax(log_sets_of_document(masks, log_sticks, strength, counts[d], log_g[d], log_phi));
    }
  }
}
