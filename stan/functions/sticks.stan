/**
 * Log density of unnormalised log weights y of a truncated stick-breaking process in exchangeable order.
 *
 * softmax(y) are the weights w of v_k ~ Beta(1, concentration), k < T, v_T = 1, in an order drawn uniformly
 * from all T!. Summed over the orders their density is
 *
 *   concentration^(T - 1) / T! * prod_k 1 / w_k * E[(w of the last)^concentration],
 *
 * the last being that of T exponential clocks with rates w to ring. With the time t of that ring as a
 * variable beside w, and u = t w = exp(y), the expectation becomes a sum of T terms. So all labels of the
 * topics have the same posterior, and a chain that never exchanges two topics still sees all there is.
 */
real stick_weights_lpdf(vector y, real concentration) {
  int T = num_elements(y);
  vector[T] u = exp(y);
  vector[T] log_rung = log1m_exp(-u); // log probability that a clock has rung
  return (T - 1) * log(concentration) - lgamma(T + 1) - concentration * log_sum_exp(y) + sum(log_rung)
         + log_sum_exp((concentration + 1) * y - u - log_rung);
}
