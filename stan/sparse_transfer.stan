// Sparse transfer topic model (Faisal, Gillberg, Leen and Peltonen 2013) with the K largest sticks of its
// Indian buffet process, the topics of the tokens and the masks of the tasks summed out.
//
//   m_ck ~ Bernoulli(epsilon pi_k),  weight_ck ~ Gamma(shape_k, 1),  theta_d ~ Dirichlet(m_c weight_c)
functions {
#include functions/dirichlet.stan
#include functions/buffet.stan
/**
 * Log probability of each mask of a task, with the words and lengths of its documents.
 */
vector log_masks_of_task(array[,] int masks, vector log_sticks, real epsilon, vector log_weight,
                         array[,] int counts, array[] vector log_g, array[] vector log_phi, int lengths) {
  int M = size(masks);
  int D = size(counts);
  array[D] int doc_lengths;
  vector[M] log_p;
  for (d in 1 : D) {
    doc_lengths[d] = sum(counts[d]);
  }
  for (m in 1 : M) {
    vector[num_elements(log_sticks)] on = to_vector(masks[m]);
    log_p[m] = dot_product(on, log(epsilon) + log_sticks)
               + dot_product(1 - on, log1m(epsilon * exp(log_sticks)))
               + lengths_of_task(masks[m], dot_product(on, exp(log_weight)), doc_lengths, lengths);
    for (d in 1 : D) {
      if (doc_lengths[d] > 0 && sum(masks[m]) > 0) {
        log_p[m] += masked_words(counts[d], log_g[d], log_phi, masks[m]);
      }
    }
  }
  return log_p;
}

/**
 * Indices of the documents of a task.
 */
array[] int documents_of(array[] int task, int c) {
  array[size(task)] int here;
  int n_here = 0;
  for (d in 1 : size(task)) {
    if (task[d] == c) {
      n_here += 1;
      here[n_here] = d;
    }
  }
  return here[1 : n_here];
}
}
data {
  int<lower=0> D; // documents
  int<lower=1> V; // words of the vocabulary
  int<lower=1> C; // tasks
  int<lower=1, upper=10> K; // topics; the cost doubles with each
  array[D, V] int<lower=0> counts; // how often each word occurs in each document
  array[D] int<lower=1, upper=C> task; // task of each document
  int<lower=0, upper=2> lengths; // what is modelled: 0 none, 1 tokens of a task, 2 tokens of a document
  int<lower=0, upper=1> weak_limit; // sticks Beta(alpha / K, 1) instead
  real<lower=0, upper=1> epsilon; // probability that a task keeps a topic
  real<lower=0> a1; // shape and scale of the prior of `shape`
  real<lower=0> a2;
  // Each hyperparameter is given by its value, or, if random, by the shape and rate of its Gamma prior.
  int<lower=0, upper=1> alpha_is_random; // mass of the Indian buffet process
  vector<lower=0>[1 + alpha_is_random] alpha_given;
  int<lower=0, upper=1> eta_is_random; // Dirichlet parameter of a topic, a word
  vector<lower=0>[1 + eta_is_random] eta_given;
}
transformed data {
  int M = size(all_masks(K));
  array[M, K] int masks = all_masks(K);
}
parameters {
  array[alpha_is_random] real<lower=0> alpha_random;
  array[eta_is_random] real<lower=0> eta_random;
  vector<upper=0>[K] log_sticks;
  vector<lower=0>[K] shape;
  array[C] vector[K] weight_log_h;
  array[C] vector<lower=0>[K] weight_x;
  array[D] vector[K] g_log_h;
  array[D] vector<lower=0>[K] g_x;
  array[K] vector[V] phi_log_h;
  array[K] vector<lower=0>[V] phi_x;
}
transformed parameters {
  real alpha = alpha_is_random ? alpha_random[1] : alpha_given[1];
  real eta = eta_is_random ? eta_random[1] : eta_given[1];
  array[C] vector[K] log_weight;
  array[D] vector[K] log_g;
  for (c in 1 : C) {
    log_weight[c] = log_gamma_of(weight_log_h[c], weight_x[c], floored(log(shape)));
  }
  for (d in 1 : D) {
    log_g[d] = log_gamma_of(g_log_h[d], g_x[d], floored(log_weight[task[d]]));
  }
}
model {
  vector[K] weight_log_shape = floored(log(shape));
  vector[V] phi_log_shape = rep_vector(log(eta), V);
  array[K] vector[V] log_phi = log_dirichlet_weights(phi_log_h, phi_x, phi_log_shape);
  alpha_random ~ gamma(alpha_given[1], alpha_given[1 + alpha_is_random]);
  eta_random ~ gamma(eta_given[1], eta_given[1 + eta_is_random]);
  log_sticks ~ buffet_sticks(alpha, weak_limit);
  shape ~ gamma(a1, 1 / a2);
  for (c in 1 : C) {
    weight_log_h[c] ~ log_gamma_variate(exp(weight_log_shape) + 1);
    weight_x[c] ~ exponential(1);
  }
  for (d in 1 : D) {
    g_log_h[d] ~ log_gamma_variate(exp(floored(log_weight[task[d]])) + 1);
    g_x[d] ~ exponential(1);
  }
  for (k in 1 : K) {
    phi_log_h[k] ~ log_gamma_variate(exp(phi_log_shape) + 1);
    phi_x[k] ~ exponential(1);
  }
  for (c in 1 : C) {
    array[size(documents_of(task, c))] int here = documents_of(task, c);
    target += log_sum_exp(log_masks_of_task(masks, log_sticks, epsilon, log_weight[c], counts[here],
                                            log_g[here], log_phi, lengths));
  }
}
generated quantities {
  array[K] vector[V] phi;
  array[C] vector[M] mask;
  {
    array[K] vector[V] log_phi = log_dirichlet_weights(phi_log_h, phi_x, rep_vector(log(eta), V));
    phi = exp(log_phi);
    for (c in 1 : C) {
      array[size(documents_of(task, c))] int here = documents_of(task, c);
      mask[c] = softmax(log_masks_of_task(masks, log_sticks, epsilon, log_weight[c], counts[here],
                                          log_g[here], log_phi, lengths));
    }
  }
}
