/**
 * Log probability of the lengths of documents, each negative binomial of its mass and of a probability of its own,
 * Beta(shape, shape); up to a constant. At a shape of zero lengths are given.
 */
real lengths_lpmf(array[] int doc_lengths, vector mass, real shape) {
  real total = 0;
  if (shape > 0) {
    for (d in 1 : size(doc_lengths)) {
      int n = doc_lengths[d];
      real m = fmax(mass[d], exp(-300)); // as the shapes are floored
      total += lbeta(shape + n, shape + m) + lgamma(m + n) - lgamma(m);
    }
  }
  return total;
}

/**
 * Log of the mass of all topics, Gamma(gamma, rate c), of the two variables that make a gamma variate.
 */
real log_mass_of(real log_h, real x, real gamma, real c) {
  return log_gamma_of([log_h]', [x]', floored([log(gamma)]'))[1] - log(c);
}

/**
 * Log shapes of the shares of K topics in that mass.
 */
vector root_log_shapes(real gamma, int K) {
  return floored(rep_vector(log(gamma) - log(K), K));
}
