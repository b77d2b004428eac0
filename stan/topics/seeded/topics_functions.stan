#include topics/dirichlet/topics_functions.stan
/**
 * Log shapes of K topics of V words: eta, and seed_tokens more for the seeds of each.
 */
array[] vector seeded_log_shapes(real eta, int K, int V, array[] int seed_topic, array[] int seed_word,
                                 int seed_tokens) {
  array[K] vector[V] shape = rep_array(rep_vector(eta, V), K);
  for (i in 1 : size(seed_word)) {
    shape[seed_topic[i], seed_word[i]] += seed_tokens;
  }
  return log(shape);
}
