/**
 * Log of positive a-stable variables S_v, E exp(-s S_v) = exp(-H_v s^a), v = 1..V.
 *
 * S = H^(1/a) (A(U) / E)^((1-a)/a), A(u)^(1-a) = sin(a u)^a sin((1-a) u)^(1-a) / sin(u) (Kanter 1975), where
 * x = value[1] is the logit of U / pi, and exp(-y) = E, y = value[2]. A word with H_v = 0 cannot occur: S_v = 0.
 */
vector log_stable(array[] vector value, vector log_base, real a) {
  int V = num_elements(log_base);
  vector[V] out;
  for (v in 1 : V) {
    if (log_base[v] == negative_infinity()) {
      out[v] = negative_infinity();
    } else {
      real x = value[1, v];
      real u = pi() * inv_logit(x);
      real sin_u = sin(pi() * inv_logit(-abs(x))); // pi - u would be rounded
      real log_zolotarev = a * log(sin(a * u)) + (1 - a) * log(sin((1 - a) * u)) - log(sin_u);
      out[v] = (log_base[v] + log_zolotarev + (1 - a) * value[2, v]) / a;
    }
  }
  return out;
}

/**
 * Log density of the variables of log_stable, tilted by T^-b, where T = sum_v S_v: S / T is then a draw from the
 * process PYP(a, b, H) (Pitman and Yor 1997).
 *
 * log_total: log T, a function of value.
 */
real tilted_stable_lpdf(array[] vector value, real log_total, real a, real b) {
  return logistic_lpdf(value[1] | 0, 1) + gumbel_lpdf(value[2] | 0, 1) - b * log_total + lgamma(1 + b)
         - lgamma(1 + b / a);
}

/**
 * Log of P phi0, P[w, v] = weight[i] where column[i] = v, for i = first[w] to first[w + 1] - 1.
 */
vector log_transformed(vector log_phi0, array[] int first, array[] int column, vector log_weight) {
  int V = num_elements(log_phi0);
  vector[V] out;
  for (w in 1 : V) {
    int start = first[w];
    int end = first[w + 1] - 1;
    out[w] = end < start ? negative_infinity()
             : log_sum_exp(log_weight[start : end] + log_phi0[column[start : end]]);
  }
  return out;
}
