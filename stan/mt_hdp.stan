// Multi-task hierarchical Dirichlet process topic model (Faisal, Gillberg, Leen and Peltonen 2013, Section
// 2.3), truncated at T topics, the topics of the tokens summed out.
//
//   root ~ GEM(gamma) truncated,  tasks_c ~ Dirichlet(alpha0 root),  theta_d ~ Dirichlet(alpha_c tasks_c), c = task[d],
//   phi_k ~ Dirichlet_V(eta)
functions {
#include functions/dirichlet.stan
#include functions/sticks.stan
#include functions/word_counts.stan
/**
 * Log shapes of the documents' topics: the concentration of their task times its topics.
 */
array[] vector document_log_shapes(vector alpha, array[] vector log_tasks, array[] int task) {
  array[size(task)] vector[num_elements(log_tasks[1])] out;
  for (d in 1 : size(task)) {
    out[d] = floored(log(alpha[task[d]]) + log_tasks[task[d]]);
  }
  return out;
}
}
data {
  int<lower=0> D; // documents
  int<lower=1> V; // words of the vocabulary
  int<lower=2> T; // topics that the sticks are truncated at
  int<lower=1> C; // tasks
  array[D] int<lower=1, upper=C> task; // task of each document
  array[D, V] int<lower=0> counts; // how often each word occurs in each document
  // Each hyperparameter is given by its value, or, if random, by the shape and rate of its Gamma prior.
  int<lower=0, upper=1> gamma_is_random; // concentration of the root
  vector<lower=0>[1 + gamma_is_random] gamma_given;
  int<lower=0, upper=1> alpha0_is_random; // concentration of the tasks
  vector<lower=0>[1 + alpha0_is_random] alpha0_given;
  int<lower=0, upper=1> alpha_is_random; // concentration of a task's documents
  vector<lower=0>[1 + alpha_is_random] alpha_given;
  int<lower=0, upper=1> eta_is_random; // Dirichlet parameter of a topic, a word
  vector<lower=0>[1 + eta_is_random] eta_given;
}
parameters {
  array[gamma_is_random] real<lower=0> gamma_random;
  array[alpha0_is_random] real<lower=0> alpha0_random;
  array[alpha_is_random] vector<lower=0>[C] alpha_random;
  array[eta_is_random] real<lower=0> eta_random;
  vector[T] sticks;
  array[C] vector[T] tasks_log_h;
  array[C] vector<lower=0>[T] tasks_x;
  array[D] vector[T] theta_log_h;
  array[D] vector<lower=0>[T] theta_x;
  array[T] vector[V] phi_log_h;
  array[T] vector<lower=0>[V] phi_x;
}
transformed parameters {
  real gamma = gamma_is_random ? gamma_random[1] : gamma_given[1];
  real alpha0 = alpha0_is_random ? alpha0_random[1] : alpha0_given[1];
  vector[C] alpha = alpha_is_random ? alpha_random[1] : rep_vector(alpha_given[1], C);
  real eta = eta_is_random ? eta_random[1] : eta_given[1];
}
model {
  vector[T] tasks_log_shape = floored(log(alpha0) + log_softmax(sticks));
  array[C] vector[T] log_tasks = log_dirichlet_weights(tasks_log_h, tasks_x, tasks_log_shape);
  array[D] vector[T] theta_log_shape = document_log_shapes(alpha, log_tasks, task);
  vector[V] phi_log_shape = rep_vector(log(eta), V);
  gamma_random ~ gamma(gamma_given[1], gamma_given[1 + gamma_is_random]);
  alpha0_random ~ gamma(alpha0_given[1], alpha0_given[1 + alpha0_is_random]);
  if (alpha_is_random) {
    alpha_random[1] ~ gamma(alpha_given[1], alpha_given[2]);
  }
  eta_random ~ gamma(eta_given[1], eta_given[1 + eta_is_random]);
  sticks ~ stick_weights(gamma);
  for (c in 1 : C) {
    tasks_log_h[c] ~ log_gamma_variate(exp(tasks_log_shape) + 1);
    tasks_x[c] ~ exponential(1);
  }
  for (d in 1 : D) {
    theta_log_h[d] ~ log_gamma_variate(exp(theta_log_shape[d]) + 1);
    theta_x[d] ~ exponential(1);
  }
  for (k in 1 : T) {
    phi_log_h[k] ~ log_gamma_variate(exp(phi_log_shape) + 1);
    phi_x[k] ~ exponential(1);
  }
  counts ~ word_counts(log_dirichlet_weights(theta_log_h, theta_x, theta_log_shape),
                       log_dirichlet_weights(phi_log_h, phi_x, phi_log_shape));
}
generated quantities {
  vector[T] root = softmax(sticks);
  array[C] vector[T] tasks;
  array[D] vector[T] theta;
  array[T] vector[V] phi = exp(log_dirichlet_weights(phi_log_h, phi_x, rep_vector(log(eta), V)));
  {
    vector[T] log_shape = floored(log(alpha0) + log_softmax(sticks));
    array[C] vector[T] log_tasks = log_dirichlet_weights(tasks_log_h, tasks_x, log_shape);
    tasks = exp(log_tasks);
    theta = exp(log_dirichlet_weights(theta_log_h, theta_x, document_log_shapes(alpha, log_tasks, task)));
  }
}
