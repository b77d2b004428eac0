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
  int<lower=0> n_rows; // ways in which the words of documents can have topics
  array[D + 1] int<lower=1> first_row; // of each document
  matrix[n_rows, K] row_counts; // how often each topic occurs
  matrix[n_rows, K * V] row_words; // how often each topic has each word
  vector[n_rows] row_log_ways; // log of how many values of the tokens' topics
  matrix[n_rows, K] row_shares; // of the topics in the document
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
  vector[K * V] log_words;
  matrix[n_rows, P] psi = rep_matrix(intercept', n_rows) + row_shares * coefficient';
  for (k in 1 : K) {
    log_words[(k - 1) * V + 1 : k * V] = log_topics[k];
  }
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
    int first = first_row[d];
    int last = first_row[d + 1] - 1;
    vector[last - first + 1] log_p = row_log_ways[first : last] + row_counts[first : last] * log_theta[d]
                                     + row_words[first : last] * log_words;
    for (r in 1 : R) {
      if (known[d, r]) {
        int p = first_predictor[r];
        int q = first_predictor[r + 1] - 1;
        for (i in first : last) {
          if (number[r] > 0) {
            log_p[i - first + 1] += normal_lpdf(y[d, r] | psi[i, p], inv_sqrt(noise_precision[number[r]]));
          } else if (cost[r] > 0) {
            for (j in p : q) {
              // of two categories the second alone has a predictor
              int own = p == q ? 2 : j - p + 1;
              real side = category[d, r] == own ? 1 : -1;
              log_p[i - first + 1] += -2 * cost[r] * fmax(0, margin[r] - side * psi[i, j]);
            }
          } else {
            log_p[i - first + 1] += categorical_logit_lpmf(category[d, r] | append_row(0, psi[i, p : q]'));
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
