/**
 * Log density of y = log(h), where h ~ Gamma(shape, 1).
 */
real log_gamma_variate_lpdf(vector y, vector shape) {
  return dot_product(shape, y) - sum(exp(y)) - sum(lgamma(shape));
}

/**
 * Floor of the log shapes of a Dirichlet.
 *
 * Below it a shape might underflow; at it a weight is no positive double, with probability 1 - 1e-127.
 */
vector floored(vector log_shape) {
  return fmax(log_shape, -300);
}

/**
 * Log of gamma variates, which for a shape a far below one are products h e^(-x / a) of h ~ Gamma(a + 1, 1)
 * and x ~ Exponential(1). log(h) and x are of order one whatever a is.
 */
vector log_gamma_of(vector log_h, vector x, vector log_shape) {
  return log_h - x .* exp(-log_shape);
}

/**
 * Log of Dirichlet weights: normalised gamma variates.
 */
vector log_dirichlet_weights(vector log_h, vector x, vector log_shape) {
  return log_softmax(log_gamma_of(log_h, x, log_shape));
}

/**
 * Log of several draws of Dirichlet weights, of one shape.
 */
array[] vector log_dirichlet_weights(array[] vector log_h, array[] vector x, vector log_shape) {
  array[size(x)] vector[num_elements(log_shape)] out;
  for (i in 1 : size(x)) {
    out[i] = log_dirichlet_weights(log_h[i], x[i], log_shape);
  }
  return out;
}

/**
 * Log of several draws of Dirichlet weights, each of its own shape.
 */
array[] vector log_dirichlet_weights(array[] vector log_h, array[] vector x, array[] vector log_shape) {
  array[size(x)] vector[size(x) > 0 ? num_elements(x[1]) : 0] out;
  for (i in 1 : size(x)) {
    out[i] = log_dirichlet_weights(log_h[i], x[i], log_shape[i]);
  }
  return out;
}

/**
 * Log shapes of symmetric Dirichlets over K, one for each element of shape.
 */
array[] vector symmetric_log_shapes(vector shape, int K) {
  array[num_elements(shape)] vector[K] out;
  for (i in 1 : num_elements(shape)) {
    out[i] = rep_vector(log(shape[i]), K);
  }
  return out;
}
