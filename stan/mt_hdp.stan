// Multi-task hierarchical Dirichlet process topic model (Faisal, Gillberg, Leen and Peltonen 2013, Section
// 2.3), truncated at K topics, the topics of the tokens summed out.
//
//   root ~ GEM(gamma) truncated,  tasks_c ~ Dirichlet(alpha0 root),  theta_d ~ Dirichlet(alpha_c tasks_c), c = task[d],
//   topics as their side says
functions {
#include functions/dirichlet.stan
#include functions/sticks.stan
#include functions/word_counts.stan
#include topics_functions.stan
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
  int<lower=2> K; // topics that the sticks are truncated at
  int<lower=1> C; // tasks
  array[D] int<lower=1, upper=C> task; // task of each document
  array[D, V] int<lower=0> counts; // how often each word occurs in each document
  // Each hyperparameter is given by its value, or, if random, by the two parameters of its prior: shape and rate
  // of a Gamma unless another is named.
  int<lower=0, upper=1> gamma_is_random; // concentration of the root
  vector<lower=0>[1 + gamma_is_random] gamma_given;
  int<lower=0, upper=1> alpha0_is_random; // concentration of the tasks
  vector<lower=0>[1 + alpha0_is_random] alpha0_given;
  int<lower=0, upper=1> alpha_is_random; // concentration of a task's documents
  vector<lower=0>[1 + alpha_is_random] alpha_given;
#include topics_data.stan
}
transformed data {
#include topics_transformed_data.stan
}
parameters {
  array[gamma_is_random] real<lower=0> gamma_random;
  array[alpha0_is_random] real<lower=0> alpha0_random;
  array[alpha_is_random] vector<lower=0>[C] alpha_random;
#include topics_hyperparameters.stan
  vector[K] sticks;
  array[C] vector[K] tasks_log_h;
  array[C] vector<lower=0>[K] tasks_x;
  array[D] vector[K] theta_log_h;
  array[D] vector<lower=0>[K] theta_x;
#include topics_parameters.stan
}
transformed parameters {
  real gamma = gamma_is_random ? gamma_random[1] : gamma_given[1];
  real alpha0 = alpha0_is_random ? alpha0_random[1] : alpha0_given[1];
  vector[C] alpha = alpha_is_random ? alpha_random[1] : rep_vector(alpha_given[1], C);
#include topics_transformed_parameters.stan
}
model {
  vector[K] tasks_log_shape = floored(log(alpha0) + log_softmax(sticks));
  array[C] vector[K] log_tasks = log_dirichlet_weights(tasks_log_h, tasks_x, tasks_log_shape);
  array[D] vector[K] theta_log_shape = document_log_shapes(alpha, log_tasks, task);
  array[D] vector[K] log_theta = log_dirichlet_weights(theta_log_h, theta_x, theta_log_shape);
  gamma_random ~ gamma(gamma_given[1], gamma_given[1 + gamma_is_random]);
  alpha0_random ~ gamma(alpha0_given[1], alpha0_given[1 + alpha0_is_random]);
  if (alpha_is_random) {
    alpha_random[1] ~ gamma(alpha_given[1], alpha_given[2]);
  }
  sticks ~ stick_weights(gamma);
  for (c in 1 : C) {
    tasks_log_h[c] ~ log_gamma_variate(exp(tasks_log_shape) + 1);
    tasks_x[c] ~ exponential(1);
  }
  for (d in 1 : D) {
    theta_log_h[d] ~ log_gamma_variate(exp(theta_log_shape[d]) + 1);
    theta_x[d] ~ exponential(1);
  }
#include topics_model.stan
}
generated quantities {
  vector[K] root = softmax(sticks);
  array[C] vector[K] tasks;
  array[D] vector[K] theta;
  {
    vector[K] log_shape = floored(log(alpha0) + log_softmax(sticks));
    array[C] vector[K] log_tasks = log_dirichlet_weights(tasks_log_h, tasks_x, log_shape);
    tasks = exp(log_tasks);
    theta = exp(log_dirichlet_weights(theta_log_h, theta_x, document_log_shapes(alpha, log_tasks, task)));
  }
#include topics_generated_quantities.stan
}
