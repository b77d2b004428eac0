// Differential topic model of the transformed Pitman-Yor process (Chen, Buntine, Ding, Xie and Du), the topics of
// the tokens summed out. No sticks: over V words the process is a finite number of variables.
//
//   phi0_bk ~ Dirichlet_V(gamma),  phi_gk ~ PYP(a, b_k, P_g phi0_bk), b = base[g],  theta_d ~ Dirichlet_K(alpha_g), g = group[d]
functions {
#include functions/dirichlet.stan
#include functions/pitman_yor.stan
#include functions/word_counts.stan
}
data {
  int<lower=0> D; // documents
  int<lower=1> V; // words of the vocabulary
  int<lower=1> K; // topics
  int<lower=1> G; // groups
  array[D] int<lower=1, upper=G> group; // group of each document
  array[D, V] int<lower=0> counts; // how often each word occurs in each document
  int<lower=1, upper=G> B; // bases, which groups may share
  array[G] int<lower=1, upper=B> base; // base of each group
  // P_g: word w of group g comes from words column[i], with probabilities weight[i], of its base;
  // i = row_ptr[r] to row_ptr[r + 1] - 1, r = (g - 1) V + w.
  int<lower=0> n_associations;
  array[G * V + 1] int<lower=1, upper=n_associations + 1> row_ptr;
  array[n_associations] int<lower=1, upper=V> column;
  vector<lower=0>[n_associations] weight;
  // Each hyperparameter is given by its value, or, if random, by the shape and rate of its Gamma prior.
  int<lower=0, upper=1> gamma_is_random; // Dirichlet parameter of a shared topic, a word
  vector<lower=0>[1 + gamma_is_random] gamma_given;
  int<lower=0, upper=1> alpha_is_random; // Dirichlet parameter of a group's documents, a topic
  vector<lower=0>[1 + alpha_is_random] alpha_given;
  int<lower=0, upper=1> b_is_random; // concentration of a topic's groups
  vector<lower=-1>[1 + b_is_random] b_given;
  int<lower=0, upper=1> a_is_random; // discount; its prior is Beta
  vector<lower=0>[1 + a_is_random] a_given;
}
transformed data {
  vector[n_associations] log_weight = log(weight);
}
parameters {
  array[gamma_is_random] real<lower=0> gamma_random;
  array[alpha_is_random] vector<lower=0>[G] alpha_random;
  array[b_is_random] vector<lower=0>[K] b_random;
  array[a_is_random] real<lower=0, upper=1> a_random;
  array[D] vector[K] theta_log_h;
  array[D] vector<lower=0>[K] theta_x;
  array[B, K] vector[V] phi0_log_h;
  array[B, K] vector<lower=0>[V] phi0_x;
  array[G, K, 2] vector[V] phi_stable;
}
transformed parameters {
  real gamma = gamma_is_random ? gamma_random[1] : gamma_given[1];
  vector[G] alpha = alpha_is_random ? alpha_random[1] : rep_vector(alpha_given[1], G);
  vector[K] b = b_is_random ? b_random[1] : rep_vector(b_given[1], K);
  real a = a_is_random ? a_random[1] : a_given[1];
}
model {
  array[D] vector[K] theta_log_shape = symmetric_log_shapes(alpha[group], K);
  vector[V] phi0_log_shape = rep_vector(log(gamma), V);
  array[D] vector[K] log_theta = log_dirichlet_weights(theta_log_h, theta_x, theta_log_shape);
  array[B, K] vector[V] log_phi0;
  array[G, K] vector[V] log_phi;
  gamma_random ~ gamma(gamma_given[1], gamma_given[1 + gamma_is_random]);
  if (alpha_is_random) {
    alpha_random[1] ~ gamma(alpha_given[1], alpha_given[2]);
  }
  if (b_is_random) {
    b_random[1] ~ gamma(b_given[1], b_given[2]);
  }
  a_random ~ beta(a_given[1], a_given[1 + a_is_random]);
  for (d in 1 : D) {
    theta_log_h[d] ~ log_gamma_variate(exp(theta_log_shape[d]) + 1);
    theta_x[d] ~ exponential(1);
  }
  for (j in 1 : B) {
    log_phi0[j] = log_dirichlet_weights(phi0_log_h[j], phi0_x[j], phi0_log_shape);
    for (k in 1 : K) {
      phi0_log_h[j, k] ~ log_gamma_variate(exp(phi0_log_shape) + 1);
      phi0_x[j, k] ~ exponential(1);
    }
  }
  for (g in 1 : G) {
    array[V + 1] int first = row_ptr[(g - 1) * V + 1 : g * V + 1];
    for (k in 1 : K) {
      vector[V] log_base = log_transformed(log_phi0[base[g], k], first, column, log_weight);
      vector[V] log_s = log_stable(phi_stable[g, k], log_base, a);
      real log_total = log_sum_exp(log_s);
      phi_stable[g, k] ~ tilted_stable(log_total, a, b[k]);
      log_phi[g, k] = log_s - log_total;
    }
  }
  for (d in 1 : D) {
    counts[d : d] ~ word_counts(log_theta[d : d], log_phi[group[d]]);
  }
}
generated quantities {
  array[D] vector[K] theta
    = exp(log_dirichlet_weights(theta_log_h, theta_x, symmetric_log_shapes(alpha[group], K)));
  array[B, K] vector[V] phi0;
  array[G, K] vector[V] phi;
  matrix[G, K] phi_log_total;
  {
    array[B, K] vector[V] log_phi0;
    for (j in 1 : B) {
      log_phi0[j] = log_dirichlet_weights(phi0_log_h[j], phi0_x[j], rep_vector(log(gamma), V));
      phi0[j] = exp(log_phi0[j]);
    }
    for (g in 1 : G) {
      array[V + 1] int first = row_ptr[(g - 1) * V + 1 : g * V + 1];
      for (k in 1 : K) {
        vector[V] log_base = log_transformed(log_phi0[base[g], k], first, column, log_weight);
        vector[V] log_s = log_stable(phi_stable[g, k], log_base, a);
        phi_log_total[g, k] = log_sum_exp(log_s);
        phi[g, k] = exp(log_s - phi_log_total[g, k]);
      }
    }
  }
}
