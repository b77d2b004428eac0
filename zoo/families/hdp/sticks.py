"""Hierarchical Dirichlet processes in plain NumPy: the generator, densities and sums over tables."""

from collections.abc import Iterator
from itertools import product

import numpy as np
from scipy.special import gammaln

from ...toolbox.draws import log_gamma
from ...toolbox.enumeration import log_stirling


class GrowingSticks:
    """Sticks of a root and of tasks below it, broken when they are first needed.

    ``root ~ GEM(gamma)``; each task ~ DP(alpha0, root), or equal to the root where `alpha0` is None.
    """

    def __init__(self, rng: np.random.Generator, gamma: float, alpha0: float | None, n_tasks: int):
        self.rng, self.gamma, self.alpha0 = rng, gamma, alpha0
        self.root: list[float] = []
        self.root_rest = 1.0
        self.tasks: list[list[float]] = [[] for _ in range(n_tasks)]
        self.task_rest = [1.0] * n_tasks

    def _break(self) -> None:
        share = self.rng.beta(1.0, self.gamma)
        self.root.append(self.root_rest * share)
        self.root_rest *= 1.0 - share
        for c in range(len(self.tasks)):
            part = share
            if self.alpha0 is not None:
                part = _beta(self.alpha0 * self.root[-1], self.alpha0 * self.root_rest, self.rng)
            self.tasks[c].append(self.task_rest[c] * part)
            self.task_rest[c] *= 1.0 - part

    def draw(self, task: int) -> int:
        """Index of a stick, drawn from `task`."""
        u = self.rng.random()
        k = 0
        while True:
            if k == len(self.root):
                self._break()
            u -= self.tasks[task][k]
            if u < 0.0 or self.root_rest < 1e-300:
                return k
            k += 1


def _beta(a: float, b: float, rng: np.random.Generator) -> float:
    """Beta(a, b), safe for tiny shapes."""
    log_x, log_y = (log_gamma(shape, None, rng) for shape in (a, b))
    return float(np.exp(log_x - np.logaddexp(log_x, log_y)))


def seat_tokens(
    sticks: GrowingSticks,
    alpha: np.ndarray,
    doc_lengths: np.ndarray,
    group: np.ndarray,
    rng: np.random.Generator,
) -> np.ndarray:
    """Topic of each token: ``theta_d ~ DP(alpha[g], task g)`` integrated out, one token after the other."""
    z: list[int] = []
    for length, g in zip(doc_lengths, group, strict=True):
        seated: list[int] = []
        for n in range(length):
            if rng.random() * (n + alpha[g]) < n:
                seated.append(seated[rng.integers(n)])
            else:
                seated.append(sticks.draw(g))
        z += seated
    return np.array(z, np.int64)


def log_gem(root: np.ndarray, gamma: float) -> float:
    """Log density of the sticks of K topics in use, given as (stick 1, …, stick K, rest).

    ``gamma^K · rest^(gamma - 1) · prod_k 1 / stick_k``: the density of K atoms of a Dirichlet process, in
    any order, at which tokens were seen; with ``prod_k stick_k^(tables of k)`` it integrates to the
    Chinese restaurant probability ``gamma^K Γ(gamma) prod_k Γ(m_k) / Γ(gamma + m)``.
    """
    log_sticks, log_rest = _log(root[:-1]), _log(root[-1])
    return float(log_sticks.size * np.log(gamma) + (gamma - 1.0) * log_rest - np.sum(log_sticks))


def _log(weights: np.ndarray) -> np.ndarray:
    """Logarithm, in which a weight that underflowed to zero stands for the least positive number."""
    return np.log(np.maximum(weights, np.finfo(float).tiny))


def log_dirichlet(values: np.ndarray, shapes: np.ndarray) -> float:
    """Log density of Dirichlet(`shapes`) at `values`; shapes, too, may have underflowed to zero."""
    shapes = np.maximum(shapes, np.finfo(float).tiny)
    return float(gammaln(shapes.sum()) - np.sum(gammaln(shapes)) + np.sum((shapes - 1.0) * _log(values)))


def log_tables(
    counts: np.ndarray, group: np.ndarray, alpha: np.ndarray, alpha0: float | None, gamma: float
) -> float:
    """Log probability of topics with document counts n_dk, sticks integrated out, by summing over tables.

    Parameters
    ----------
    counts : int (D, K)
        Every topic has a token.
    group : int (D,)
    alpha : float (G,)
    alpha0 : float or None
        None at two levels.
    gamma : float

    Notes
    -----
    Sums over the tables of every document and, at three levels, of every task:
    ``prod_d Γ(a)/Γ(a+n_d) prod_k |s(n_dk, m_dk)| a^m_dk``, the same again one level up, and the Chinese
    restaurant probability of the root. The documents' sum is taken first, for each (group, topic), as a
    convolution; the rest is enumerated. For micro corpora.
    """
    n_groups, n_topics = alpha.size, counts.shape[1]
    stirling = log_stirling(int(counts.sum()))
    out = 0.0
    tables: list[dict[int, float]] = []  # for each (group, topic): number of tables -> log weight
    for g in range(n_groups):
        of_group = counts[group == g]
        lengths = of_group.sum(axis=1)
        out += float(np.sum(gammaln(alpha[g]) - gammaln(alpha[g] + lengths)))
        for k in range(n_topics):
            weights = np.array([0.0])
            for n in of_group[:, k]:
                m = np.arange(n + 1)
                weights = _log_convolve(weights, stirling[n, : n + 1] + m * np.log(alpha[g]))
            tables.append({m: w for m, w in enumerate(weights) if np.isfinite(w)})
    terms = []
    for choice in product(*[t.items() for t in tables]):
        m = np.array([c[0] for c in choice]).reshape(n_groups, n_topics)
        weight = sum(c[1] for c in choice)
        for dishes, log_upper in _upper_tables(m, alpha0, stirling):
            terms.append(weight + log_upper + log_root(dishes, gamma))
    return out + float(np.logaddexp.reduce(terms))


def _upper_tables(
    m: np.ndarray, alpha0: float | None, stirling: np.ndarray
) -> Iterator[tuple[np.ndarray, float]]:
    """Dishes served at the root, and the log weight of the tasks' tables that ask for them."""
    if alpha0 is None:
        yield m.sum(axis=0), 0.0
        return
    base = float(np.sum(gammaln(alpha0) - gammaln(alpha0 + m.sum(axis=1))))
    ranges = [range(1 if n else 0, n + 1) for n in m.ravel()]
    for s in product(*ranges):
        weight = base + sum(stirling[n, t] + t * np.log(alpha0) for n, t in zip(m.ravel(), s, strict=True))
        yield np.array(s).reshape(m.shape).sum(axis=0), float(weight)


def log_root(dishes: np.ndarray, gamma: float) -> float:
    """Log Chinese restaurant probability of a root that served each topic `dishes` times."""
    return float(
        dishes.size * np.log(gamma) + np.sum(gammaln(dishes)) + gammaln(gamma) - gammaln(gamma + dishes.sum())
    )


def _log_convolve(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    out = np.full(a.size + b.size - 1, -np.inf)
    for i, x in enumerate(a):
        out[i : i + b.size] = np.logaddexp(out[i : i + b.size], x + b)
    return out
