/**
 * Log probabilities of passing to a table of a sentence, of J each, and sitting down there; then of passing all
 * tables before it.
 */
vector log_seats(array[] vector log_sticks, int J) {
  int n = size(log_sticks);
  vector[2 * n] out;
  for (i in 1 : n) {
    real passed = (i - 1) % J == 0 ? 0 : out[n + i - 1] + log_sticks[i - 1, 2];
    out[i] = passed + log_sticks[i, 1];
    out[n + i] = passed;
  }
  return out;
}

/**
 * Log probabilities of the dish of a table: 0 for an old table; of one on offer, of 0 to L; and of a new one.
 */
vector log_offers(real zeta, int L) {
  vector[L + 1] on_offer = -log_from(zeta, L + 1);
  return append_row(0, append_row(on_offer, on_offer + log(zeta)));
}

/**
 * Log probability of the words of all documents, by the forward algorithm.
 */
real log_forward(array[] int last, array[] int first_state, array[] int first_edge, array[] int source,
                 vector log_edges) {
  vector[size(first_edge) - 1] log_p;
  real total = 0;
  for (t in 1 : size(log_p)) {
    int start = first_edge[t];
    int end = first_edge[t + 1] - 1;
    log_p[t] = log_sum_exp(source[start] == 0 ? log_edges[start : end]
                                              : log_edges[start : end] + log_p[source[start : end]]);
  }
  for (n in last) {
    total += log_sum_exp(log_p[first_state[n] : first_state[n + 1] - 1]);
  }
  return total;
}
