/**
 * Mean of the exponential variates of the layers above the first is 1 / unit_of_x(), and what counts is x unit_of_x():
 * so NUTS, which starts where x is near one, starts where links and weights are not far below their means.
 */
real unit_of_x() {
  return 0.002;
}

/**
 * Log Dirichlet parameters of topics, mixtures of those above: of topic j the sum of links[k, j] topics[k].
 */
array[] vector log_mixtures(array[] vector log_links, array[] vector log_topics) {
  int J = num_elements(log_links[1]);
  int W = size(log_links);
  int V = num_elements(log_topics[1]);
  array[J] vector[V] out;
  for (j in 1 : J) {
    for (w in 1 : V) {
      vector[W] terms;
      for (k in 1 : W) {
        terms[k] = log_links[k, j] + log_topics[k, w];
      }
      out[j, w] = log_sum_exp(terms);
    }
    out[j] = floored(out[j]);
  }
  return out;
}

/**
 * Log Dirichlet parameters of the topics of the first layer; of a symmetric Dirichlet where it is the only one.
 */
array[] vector first_log_shapes(real eta, int K, int V, array[] vector log_links,
                                array[,] vector log_upper_topics) {
  if (size(log_upper_topics) == 0) {
    return rep_array(rep_vector(log(eta), V), K);
  }
  return log_mixtures(log_links, log_upper_topics[1]);
}

/**
 * Log topics of an upper layer. Weights of tiny shapes are far below one before they are normalised; taken
 * relative to the largest, they keep their digits.
 */
array[] vector log_topics_of(array[] vector log_h, array[] vector x, array[] vector log_shape) {
  array[size(x)] vector[num_elements(x[1])] out;
  for (k in 1 : size(x)) {
    vector[num_elements(x[1])] log_g = log_gamma_of(log_h[k], unit_of_x() * x[k], log_shape[k]);
    out[k] = log_softmax(log_g - max(log_g));
  }
  return out;
}

/**
 * Log links, as many vectors as there are topics above, each with the popularity of one for its shape.
 */
array[] vector log_links_of(array[] vector log_h, array[] vector x, vector log_popularity, real link_rate) {
  int W = size(log_h);
  array[W] vector[num_elements(log_h[1])] out;
  for (k in 1 : W) {
    vector[num_elements(log_h[1])] log_shape = rep_vector(log_popularity[k], num_elements(log_h[1]));
    out[k] = log_gamma_of(log_h[k], unit_of_x() * x[k], floored(log_shape)) - log(link_rate);
  }
  return out;
}

/**
 * Log popularity of the W topics of a layer.
 */
vector log_popularity_of(vector log_h, vector x, real mass, real rate) {
  int W = num_elements(log_h);
  return log_gamma_of(log_h, unit_of_x() * x, floored(rep_vector(log(mass) - log(W), W))) - log(rate);
}
