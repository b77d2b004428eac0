/**
 * Log density of x = log(pi), for the sticks pi of an Indian buffet process in exchangeable order.
 *
 * The K largest points of a Poisson process of intensity alpha / pi on (0, 1) have density
 * alpha^K / K! * (least pi)^alpha * prod_k 1 / pi_k: no other point is above the least of them. The weak limit
 * has K independent Beta(alpha / K, 1).
 */
real buffet_sticks_lpdf(vector x, real alpha, int weak_limit) {
  int K = num_elements(x);
  if (weak_limit) {
    return K * log(alpha / K) + alpha / K * sum(x);
  }
  return K * log(alpha) - lgamma(K + 1) + alpha * min(x);
}

/**
 * All 2^K sets of topics as zeros and ones; the first is empty.
 */
array[,] int all_masks(int K) {
  int M = 1;
  for (k in 1 : K) {
    M *= 2;
  }
  array[M, K] int masks;
  for (m in 1 : M) {
    int rest = m - 1;
    for (k in 1 : K) {
      masks[m, k] = rest % 2;
      rest = rest %/% 2;
    }
  }
  return masks;
}

/**
 * Log probability of the documents' lengths given the mass of their task's topics that are on.
 *
 * An empty mask has no mass and makes no tokens. The mass of another may be rounded to zero, and is none.
 *
 * lengths: 0 given, 1 the tokens of the task are negative binomial, 2 those of each document are.
 */
real lengths_of_task(array[] int mask, real mass, array[] int doc_lengths, int lengths) {
  if (sum(doc_lengths) > 0 && sum(mask) == 0) {
    return negative_infinity();
  }
  real positive = fmax(mass, 1e-300);
  if (lengths == 1) {
    return lgamma(positive + sum(doc_lengths)) - lgamma(positive) - mass * log2();
  }
  real total = 0;
  if (lengths == 2) {
    for (n in doc_lengths) {
      total += lgamma(positive + n) - lgamma(positive) - mass * log2();
    }
  }
  return total;
}

/**
 * Log probability of one document's words, its topic proportions being exp(log_g) over the topics that are on.
 */
real masked_words(array[] int words, vector log_g, array[] vector log_phi, array[] int mask) {
  array[sum(mask)] int on;
  int n_on = 0;
  for (k in 1 : num_elements(log_g)) {
    if (mask[k]) {
      n_on += 1;
      on[n_on] = k;
    }
  }
  vector[n_on] log_theta = log_softmax(log_g[on]);
  real total = 0;
  for (v in 1 : size(words)) {
    if (words[v] > 0) {
      total += words[v] * log_sum_exp(log_theta + to_vector(log_phi[on, v]));
    }
  }
  return total;
}
