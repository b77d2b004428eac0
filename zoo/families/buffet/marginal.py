"""The sparse transfer topic model with all but the topics of the tokens integrated out, for micro corpora.

Where the weight h of every task is an exponential of its mass, everything but a sum over masks is a product
over topics, and each factor has a closed form: phi and gamma are gamma variables. Any other h is a mixture of
exponentials (`lengths.Mixture`), over whose terms the products are summed.
"""

from collections.abc import Sequence
from functools import reduce
from itertools import product

import numpy as np
from scipy.special import gammaln, logsumexp

from ...toolbox.enumeration import log_stirling
from .ibp import first_rows, log_reach
from .lengths import Mixture, Weight

type Pattern = tuple[tuple[int, ...], ...]
"""Tokens of a topic in each document that holds some, sorted, by task."""


class TopicMarginal:
    """Marginal weights of the topics' counts.

    Parameters
    ----------
    weights : sequence of Weight
        One a task.
    a1, a2 : float
        Shape and scale of gamma_k.
    log_masks : float (C + 1,)
        Log weight of a mask by the number of tasks that are on.
    """

    def __init__(self, weights: Sequence[Weight], a1: float, a2: float, log_masks: np.ndarray):
        self.a1, self.a2, self.log_masks = a1, a2, log_masks
        mixtures = [Mixture.of(weight) for weight in weights]
        self.n_tasks = len(mixtures)
        self.log_scale = [self._along(c, m.log_scale) for c, m in enumerate(mixtures)]
        self.log_weight = sum(self._along(c, m.log_weight) for c, m in enumerate(mixtures))
        self.sign = reduce(np.multiply, [self._along(c, m.sign) for c, m in enumerate(mixtures)])
        self._known: dict[Pattern, np.ndarray] = {}

    @classmethod
    def unbounded(cls, weights: Sequence[Weight], a1: float, a2: float, epsilon: float) -> "TopicMarginal":
        """Marginal of the Indian buffet process; intensities are over alpha."""
        return cls(weights, a1, a2, log_reach(len(weights), epsilon))

    def _along(self, task: int, values: np.ndarray) -> np.ndarray:
        return values.reshape([-1 if c == task else 1 for c in range(self.n_tasks)])

    def log_topic(self, pattern: Pattern) -> np.ndarray:
        """Log weight of a topic with these counts, words aside; an array over the terms of the mixtures."""
        if pattern not in self._known:
            used = [c for c, counts in enumerate(pattern) if counts]
            polynomial = reduce(_multiply, [self._tokens(c, pattern[c]) for c in used], {0: np.zeros(())})
            free = [c for c in range(self.n_tasks) if c not in used]
            terms = []
            for on in product((False, True), repeat=len(free)):
                tasks = used + [c for c, is_on in zip(free, on, strict=True) if is_on]
                if tasks or np.isfinite(self.log_masks[0]):
                    terms.append(self.log_masks[len(tasks)] + self._over_gamma(polynomial, tasks))
            self._known[pattern] = _logsumexp(terms)
        return self._known[pattern]

    def _tokens(self, task: int, counts: tuple[int, ...]) -> dict[int, np.ndarray]:
        """``E[prod_d (phi)_{n_d} e^(-rate phi)] (1 + rate)^gamma`` as a polynomial in gamma, by power."""
        stirling = log_stirling(sum(counts))
        one = {0: np.zeros(())}
        in_phi = reduce(_multiply, [{t: stirling[n, t] for t in range(1, n + 1)} for n in counts], one)
        out: dict[int, np.ndarray] = {}
        for t, log_coefficient in in_phi.items():
            at = log_coefficient - t * self.log_scale[task]
            for j in range(1, t + 1):  # E[phi^t …] has (gamma)_t = sum_j |s(t, j)| gamma^j
                out[j] = np.logaddexp(out.get(j, -np.inf), at + stirling[t, j])
        return out

    def _over_gamma(self, polynomial: dict[int, np.ndarray], tasks: Sequence[int]) -> np.ndarray:
        """Log mean of ``polynomial · prod_c (1 + rate_c)^-gamma`` over gamma ~ Ga(a1, scale a2)."""
        slope = np.log1p(self.a2 * sum((self.log_scale[c] for c in tasks), np.zeros(())))
        return _logsumexp(
            [
                c + j * np.log(self.a2) + gammaln(self.a1 + j) - gammaln(self.a1) - (self.a1 + j) * slope
                for j, c in polynomial.items()
            ]
        )

    def log_without_words(self, epsilon: float) -> np.ndarray:
        """Log probability, over alpha, that every topic without words was passed over by the data."""
        mass = float(first_rows(self.n_tasks, epsilon).sum())
        return np.exp(self.log_topic(((),) * self.n_tasks)) - mass

    def total(self, log_terms: np.ndarray) -> float:
        """Log of the sum over the terms of the mixtures."""
        terms = np.broadcast_to(log_terms + self.log_weight, self.sign.shape)
        high = float(terms.max())
        return high + float(np.log(np.sum(self.sign * np.exp(terms - high))))


def _multiply(a: dict[int, np.ndarray], b: dict[int, np.ndarray]) -> dict[int, np.ndarray]:
    out: dict[int, np.ndarray] = {}
    for (i, x), (j, y) in product(a.items(), b.items()):
        out[i + j] = np.logaddexp(out.get(i + j, -np.inf), x + y)
    return out


def _logsumexp(terms: Sequence[np.ndarray]) -> np.ndarray:
    return np.asarray(logsumexp(np.stack(np.broadcast_arrays(*terms)), axis=0))


def pattern_of(counts: np.ndarray, group: np.ndarray, n_groups: int) -> Pattern:
    """Pattern of a topic with `counts` (D,) tokens in the documents."""
    return tuple(tuple(sorted(int(n) for n in counts[(group == c) & (counts > 0)])) for c in range(n_groups))
