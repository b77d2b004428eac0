/**
 * Log probability of the words, the topic of each token summed out (multinomial coefficients left out).
 */
real word_counts_lpmf(array[,] int counts, array[] vector log_theta, array[] vector log_phi) {
  int D = size(counts);
  int V = size(counts[1]);
  int K = size(log_phi);
  real total = 0;
  for (v in 1 : V) {
    vector[K] log_phi_v = to_vector(log_phi[, v]);
    for (d in 1 : D) {
      if (counts[d, v] > 0) {
        total += counts[d, v] * log_sum_exp(log_theta[d] + log_phi_v);
      }
    }
  }
  return total;
}
