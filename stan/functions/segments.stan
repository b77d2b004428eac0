/**
 * Log of start, start + 1, ..., of n numbers.
 */
vector log_from(real start, int n) {
  vector[n] out;
  for (i in 1 : n) {
    out[i] = log(start + i - 1);
  }
  return out;
}

/**
 * What the columns of the law multiply: logs of x, x + 1, ..., for each of some numbers x, so many as a width says.
 */
vector log_factors(vector starts, array[] int widths) {
  vector[sum(widths)] out;
  int done = 0;
  for (j in 1 : size(widths)) {
    out[done + 1 : done + widths[j]] = log_from(starts[j], widths[j]);
    done += widths[j];
  }
  return out;
}

/**
 * Log probability of each word (fast) at each dish (slow) of a document, the topic summed out.
 */
vector log_words_of_dishes(array[] vector log_dishes, array[] vector log_phi) {
  int V = num_elements(log_phi[1]);
  int L = size(log_dishes);
  vector[L * V] out;
  for (v in 1 : V) {
    vector[size(log_phi)] log_phi_v = to_vector(log_phi[, v]);
    for (l in 1 : L) {
      out[(l - 1) * V + v] = log_sum_exp(log_dishes[l] + log_phi_v);
    }
  }
  return out;
}

/**
 * Log probability of the words of all documents: of each, the sum over all dishes that its tokens can have.
 */
real log_documents(array[] int first_row, vector log_law, matrix words, array[] vector log_dishes,
                   array[] vector log_phi) {
  int D = size(first_row) - 1;
  int L = size(log_dishes) %/% D;
  real total = 0;
  for (d in 1 : D) {
    int start = first_row[d];
    int end = first_row[d + 1] - 1;
    vector[cols(words)] log_words = log_words_of_dishes(log_dishes[(d - 1) * L + 1 : d * L], log_phi);
    total += log_sum_exp(log_law[start : end] + words[start : end] * log_words);
  }
  return total;
}

/**
 * Log weights of S sentences: log v and log(1 - v) of the sticks of the first, then those of the next.
 */
array[] vector log_stick_weights(array[] vector log_sticks, int S) {
  int n = size(log_sticks) %/% S;
  array[S] vector[n + 1] out;
  for (s in 1 : S) {
    real left = 0;
    for (t in 1 : n) {
      out[s, t] = left + log_sticks[(s - 1) * n + t, 1];
      left += log_sticks[(s - 1) * n + t, 2];
    }
    out[s, n + 1] = left;
  }
  return out;
}
