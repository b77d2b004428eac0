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
