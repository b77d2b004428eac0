// Supervised topic models (McAuliffe and Blei 2008), the topics of a document's tokens summed out together.
//
//   psi_d = b_0 + sum_k share_dk b_k,  topics are Dirichlet,  documents as their side says
//   a number is normal about psi; the log odds of a category against the first are its psi
//
// or, in MedLDA (Zhu, Chen, Perkins and Zhang 2014), categories have the factor exp(-2 cost sum max(0, margin - s psi)) in
// the place of a likelihood, where s is 1 for the predictor of the category, and -1 for all others
functions {
#include functions/dirichlet.stan
#include functions/word_counts.stan
#include documents_functions.stan
  // Log probability of the words of a document and of each way to count their tokens by topic. Counts without a
  // token of a topic that has none have the place after the last.
  vector log_counts(array[] int words, vector log_theta, array[] vector log_topics, array[] int first_count,
                    array[,] int count_before) {
    int K = size(log_topics);
    int n = size(words);
    int S = first_count[n + 2] - first_count[n + 1];
    vector[S] out;
    if (n == 0) {
      out[1] = 0;
    } else {
      vector[first_count[n + 1] - first_count[n] + 1] before
        = append_row(log_counts(words[1 : n - 1], log_theta, log_topics, first_count, count_before),
                     negative_infinity());
      vector[K] of_last = log_theta + to_vector(log_topics[ : , words[n]]);
      for (s in 1 : S) {
        out[s] = log_sum_exp(of_last + before[count_before[first_count[n + 1] + s - 1]]);
      }
    }
    return out;
  }
#include topics_functions.stan
}
data {
  int<lower=0> D; // documents
  int<lower=1> V; // words of the vocabulary
  int<lower=1> K; // topics
  array[D, V] int<lower=0> counts; // how often each word occurs in each document
  int<lower=0> R; // responses
  array[R + 1] int<lower=1> first_predictor; // of each response
  array[R] int<lower=0> number; // place of the response among the numbers, or 0 for categories
  vector<lower=0>[R] cost; // of responses with a hinge, and 0 for all others
  vector<lower=0>[R] margin;
  array[D, R] int<lower=0, upper=1> known; // whether a document has a response
  matrix[D, R] y; // numbers
  array[D, R] int<lower=1> category;
  int<lower=0> n_tokens;
  array[D + 1] int<lower=1> first_token; // of each document
  array[n_tokens] int<lower=1, upper=V> word;
  int<lower=0> most_tokens; // of the longest document
  int<lower=1> n_counts; // ways in which up to so many tokens can be counted by topic
  array[most_tokens + 2] int<lower=1> first_count; // of no token, of one, and so on
  matrix[n_counts, K] topic_count;
  array[n_counts, K] int<lower=1> count_before; // without a token of each topic, among those of one token less
  // Each hyperparameter is given by its value, or, if random, by the two parameters of its prior: shape and rate
  // of a Gamma unless another is named.
#include documents_data.stan
  int<lower=0, upper=1> intercept_precision_is_random; // of the intercepts of a response
  vector<lower=0>[1 + intercept_precision_is_random] intercept_precision_given;
  int<lower=0, upper=1> precision_is_random; // of its coefficients
  vector<lower=0>[1 + precision_is_random] precision_given;
  int<lower=0, upper=1> noise_precision_is_random; // of the errors of a number
  vector<lower=0>[1 + noise_precision_is_random] noise_precision_given;
#include topics_data.stan
}
transformed data {
  int P = first_predictor[R + 1] - 1;
  int n_numbers = R > 0 ? max(append_array(number, {0})) : 0;
#include topics_transformed_data.stan
}
parameters {
#include documents_parameters.stan
  array[intercept_precision_is_random] vector<lower=0>[R] intercept_precision_random;
  array[precision_is_random] vector<lower=0>[R] precision_random;
  array[noise_precision_is_random] vector<lower=0>[n_numbers] noise_precision_random;
  array[P] vector[K + 1] standard_coefficients;
#include topics_hyperparameters.stan
  array[D] vector[K] theta_log_h;
  array[D] vector<lower=0>[K] theta_x;
#include topics_parameters.stan
}
transformed parameters {
#include documents_transformed_parameters.stan
  vector[R] intercept_precision
    = intercept_precision_is_random ? intercept_precision_random[1] : rep_vector(intercept_precision_given[1], R);
  vector[R] precision = precision_is_random ? precision_random[1] : rep_vector(precision_given[1], R);
  vector[n_numbers] noise_precision
    = noise_precision_is_random ? noise_precision_random[1] : rep_vector(noise_precision_given[1], n_numbers);
  vector[P] intercept;
  matrix[P, K] coefficient;
  for (r in 1 : R) {
    for (p in first_predictor[r] : first_predictor[r + 1] - 1) {
      intercept[p] = standard_coefficients[p, 1] * inv_sqrt(intercept_precision[r]);
      coefficient[p] = standard_coefficients[p, 2 : K + 1]' * inv_sqrt(precision[r]);
    }
  }
#include topics_transformed_parameters.stan
}
model {
#include documents_shape.stan
  array[D] vector[K] log_theta = log_dirichlet_weights(theta_log_h, theta_x, theta_log_shape);
  array[K] vector[V] log_topics = log_dirichlet_weights(phi_log_h, phi_x, rep_vector(log(eta), V));
#include documents_model.stan
  if (intercept_precision_is_random) {
    intercept_precision_random[1] ~ gamma(intercept_precision_given[1], intercept_precision_given[2]);
  }
  if (precision_is_random) {
    precision_random[1] ~ gamma(precision_given[1], precision_given[2]);
  }
  if (noise_precision_is_random) {
    noise_precision_random[1] ~ gamma(noise_precision_given[1], noise_precision_given[2]);
  }
  for (p in 1 : P) {
    standard_coefficients[p] ~ std_normal();
  }
  for (d in 1 : D) {
    theta_log_h[d] ~ log_gamma_variate(exp(theta_log_shape) + 1);
    theta_x[d] ~ exponential(1);
  }
#include topics_model.stan
  // What responses add to the words, which the topics have seen.
  target += -word_counts_lpmf(counts | log_theta, log_topics);
  for (d in 1 : D) {
    int n = first_token[d + 1] - first_token[d];
    int S = first_count[n + 2] - first_count[n + 1];
    matrix[S, P] psi = rep_matrix(intercept', S)
                       + topic_count[first_count[n + 1] : first_count[n + 2] - 1] / max(1, n) * coefficient';
    vector[S] log_p = log_counts(word[first_token[d] : first_token[d + 1] - 1], log_theta[d], log_topics,
                                 first_count, count_before);
    for (r in 1 : R) {
      if (known[d, r]) {
        int p = first_predictor[r];
        int q = first_predictor[r + 1] - 1;
        for (i in 1 : S) {
          if (number[r] > 0) {
            log_p[i] += normal_lpdf(y[d, r] | psi[i, p], inv_sqrt(noise_precision[number[r]]));
          } else if (cost[r] > 0) {
            for (j in p : q) {
              // of two categories the second alone has a predictor
              int own = p == q ? 2 : j - p + 1;
              real side = category[d, r] == own ? 1 : -1;
              log_p[i] += -2 * cost[r] * fmax(0, margin[r] - side * psi[i, j]);
            }
          } else {
            log_p[i] += categorical_logit_lpmf(category[d, r] | append_row(0, psi[i, p : q]'));
          }
        }
      }
    }
    target += log_sum_exp(log_p);
  }
}
generated quantities {
#include documents_generated_quantities.stan
#include topics_generated_quantities.stan
}
