"""Corrected updates of mean-field variational inference: none of them lowers the bound.

Equations are those of Kim and Oh; where they are printed wrong, the card of the model says how.
"""

from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize, root_scalar
from scipy.special import digamma, expit, gammaln, logit, logsumexp

from .bound import InverseGamma, MeanField, Points, Problem

type Update = Callable[[MeanField, Problem], MeanField]

CHUNK = 20_000
"""Cells of the matrix of counts that are looked at together."""

MOST_STEPS = 100
"""Of Newton's method."""

LEAST_STICK = 1e-9
"""Sticks keep away from 0 and 1 by so much."""

LOG_POINTS = (-50.0, 50.0)
"""Where the logarithm of a hyperparameter is looked for."""


def update_tokens(q: MeanField, problem: Problem) -> MeanField:
    """Topics of tokens (Equation 26)."""
    log_pi, log_words = q.log_pi(), np.ascontiguousarray(q.log_words().T)
    doc_topic, word_topic = np.zeros(q.shape.shape), np.zeros((problem.n_words, q.words.shape[0]))
    entropy = 0.0
    for start in range(0, problem.count.size, CHUNK):
        part = slice(start, start + CHUNK)
        document, word, count = problem.document[part], problem.word[part], problem.count[part]
        weights = log_pi[document] + log_words[word]
        norm = np.asarray(logsumexp(weights, axis=1, keepdims=True))
        expected = count[:, None] * np.exp(weights - norm)
        entropy += float(np.sum(count * norm[:, 0]) - np.sum(expected * weights))
        np.add.at(doc_topic, document, expected)
        np.add.at(word_topic, word, expected)
    return q._replace(doc_topic=doc_topic, topic_word=word_topic.T.copy(), entropy=entropy)


def update_documents(q: MeanField, problem: Problem) -> MeanField:
    """Pi and u together (Equations 27 and 28).

    Alone, the two would draw near to each other by a factor n / (n + alpha) only. Their fixed point is the
    root of sum_k a_k / (E[1 / s_k] xi + n) = 1, which Newton's method nears from below.
    """
    shape = q.alpha * q.root() + q.doc_topic
    inverse = q.scales.inverse(problem.rows)[problem.row_of]
    n = problem.lengths[:, None]
    filled = problem.lengths > 0
    xi = np.sum(shape / inverse, axis=1)  # of a document without tokens
    xi[filled] = 0.0
    for _ in range(MOST_STEPS):
        below = inverse * xi[:, None] + n
        value = np.sum(shape / below, axis=1) - 1.0
        step = np.where(filled, value / np.sum(shape * inverse / below**2, axis=1), 0.0)
        xi += np.maximum(step, 0.0)
        if np.all(step <= 1e-15 * xi):
            break
    return q._replace(shape=shape, rate=inverse + n / xi[:, None], xi=xi)


def update_words(q: MeanField, problem: Problem) -> MeanField:
    """Words of topics (Equation 31)."""
    return q._replace(words=q.eta + q.topic_word)


def update_scales(q: MeanField, problem: Problem) -> MeanField:
    """Scales of topics under labels: Equation 29 label by label, or Equations 33 to 36 with safe steps."""
    mass = _by_row(q.shape / q.rate, problem)
    if isinstance(q.scales, InverseGamma):
        return q._replace(scales=_inverse_gamma(q, problem, mass))
    return q._replace(scales=_points(q, problem, mass))


def _by_row(values: np.ndarray, problem: Problem) -> np.ndarray:
    """Sum over the documents of each row of labels, float (R, T)."""
    out = np.zeros((problem.rows.shape[0], values.shape[1]))
    np.add.at(out, problem.row_of, values)
    return out


def _inverse_gamma(q: MeanField, problem: Problem, mass: np.ndarray) -> InverseGamma:
    of_label = problem.rows.T.tocsr()
    a, b = problem.law
    shape = a + np.outer(of_label @ _documents_of_rows(problem), q.alpha * q.root())
    rate = q.scales.rate.copy()
    log_inverse = problem.rows @ np.log(q.scales.shape / rate)
    for j, (start, end) in enumerate(zip(of_label.indptr[:-1], of_label.indptr[1:], strict=True)):
        rows, before = of_label.indices[start:end], np.log(q.scales.shape[j] / rate[j])
        rate[j] = b + np.sum(mass[rows] * np.exp(log_inverse[rows] - before), axis=0)
        log_inverse[rows] += np.log(shape[j] / rate[j]) - before
    return InverseGamma(shape, rate)


def _points(q: MeanField, problem: Problem, mass: np.ndarray) -> Points:
    """Newton's method for each topic, its steps halved until they climb: the bound is concave here."""
    rows, variance = problem.rows, problem.law[0]
    linear = np.asarray(rows.T @ _documents_of_rows(problem))[:, None] * (q.alpha * q.root())
    at = np.array(q.scales.at)
    for k in range(at.shape[1]):

        def value(x: np.ndarray, k: int = k) -> float:
            return float(-linear[:, k] @ x - mass[:, k] @ np.exp(-(rows @ x)) - 0.5 * x @ x / variance)

        for _ in range(MOST_STEPS):
            weight = mass[:, k] * np.exp(-(rows @ at[:, k]))
            slope = -linear[:, k] + rows.T @ weight - at[:, k] / variance
            if np.abs(slope).max(initial=0.0) < 1e-11 * (1.0 + np.abs(linear[:, k]).max(initial=0.0)):
                break
            curvature = (rows.T @ rows.multiply(weight[:, None])).toarray() + np.eye(len(slope)) / variance
            step, now = np.linalg.solve(curvature, slope), value(at[:, k])
            while value(at[:, k] + step) < now and np.abs(step).max() > 1e-15:
                step *= 0.5
            at[:, k] += step
    return Points(at)


def stick_slopes(q: MeanField, problem: Problem) -> np.ndarray:
    """Gradient of the bound in the sticks V (T - 1,): Equation 30, and 38, corrected."""
    return _slopes_of_root(_linear(q, problem), q, problem) + 1.0 / q.sticks - q.gamma / (1.0 - q.sticks)


def _slopes_of_root(linear: np.ndarray, q: MeanField, problem: Problem) -> np.ndarray:
    """Gradient in the sticks of what the root alone adds, their own density apart."""
    return slopes_given(linear - problem.lengths.size * digamma(q.alpha * q.root()), q)


def _linear(q: MeanField, problem: Problem) -> np.ndarray:
    """Sum over documents of the means of log pi - log s (T,): the bound is linear in alpha root by these."""
    log_scale = q.scales.log_scale(problem.rows)
    return np.sum(q.log_pi(), axis=0) - _documents_of_rows(problem) @ log_scale


def _documents_of_rows(problem: Problem) -> np.ndarray:
    """Count the documents of each row of labels, int (R,)."""
    return np.bincount(problem.row_of, minlength=problem.rows.shape[0])


def slopes_given(g: np.ndarray, q: MeanField) -> np.ndarray:
    """Gradient in the sticks, given that in alpha times the root, float (T,)."""
    pull = q.alpha * q.root() * g
    later = np.cumsum(pull[::-1])[::-1][1:]
    return pull[:-1] / q.sticks - later / (1.0 - q.sticks)


def update_sticks(q: MeanField, problem: Problem) -> MeanField:
    """Sticks of the root, by L-BFGS from where they are, as functions of their logits."""
    if not q.sticks.size:
        return q
    linear = _linear(q, problem)

    def cost(x: np.ndarray) -> tuple[float, np.ndarray]:
        at = q._replace(sticks=expit(x))
        prior = q.alpha * at.root()
        value = prior @ linear - problem.lengths.size * np.sum(gammaln(prior))
        value += np.sum(np.log(at.sticks) + q.gamma * np.log1p(-at.sticks))
        slopes = _slopes_of_root(linear, at, problem) * at.sticks * (1.0 - at.sticks)
        return -value, -(slopes + 1.0 - (1.0 + q.gamma) * at.sticks)

    ends = logit([LEAST_STICK, 1.0 - LEAST_STICK])
    start = np.clip(logit(q.sticks), *ends)
    found = minimize(
        cost, start, jac=True, method="L-BFGS-B", bounds=[tuple(ends)] * start.size, options={"maxiter": 50}
    )
    return q._replace(sticks=expit(found.x)) if found.fun < cost(logit(q.sticks))[0] else q


def update_hyperparameters(q: MeanField, problem: Problem) -> MeanField:
    """Gamma, alpha and eta, those that are not fixed, each to where the bound is highest along it."""
    if (law := problem.priors["gamma"]) is not None:
        q = q._replace(gamma=(law[0] + q.sticks.size) / (law[1] - np.sum(np.log1p(-q.sticks))))
    if (law := problem.priors["alpha"]) is not None:
        root = q.root()
        linear = root @ _linear(q, problem)
        q = q._replace(
            alpha=_highest(lambda x: linear - problem.lengths.size * root @ digamma(x * root), law)
        )
    if (law := problem.priors["eta"]) is not None:
        linear, size = np.sum(q.log_words()), q.words.size
        q = q._replace(
            eta=_highest(lambda x: linear + size * (digamma(problem.n_words * x) - digamma(x)), law)
        )
    return q


def _highest(slope: Callable[[float], float], law: tuple[float, float]) -> float:
    """Where a function with this slope, plus the log prior, is highest; both are concave."""

    def along_logarithm(t: float) -> float:
        return law[0] + np.exp(t) * (slope(np.exp(t)) - law[1])

    return float(np.exp(root_scalar(along_logarithm, bracket=LOG_POINTS, xtol=1e-14).root))


CORRECTED: dict[str, Update] = {
    "tokens": update_tokens,
    "documents": update_documents,
    "words": update_words,
    "scales": update_scales,
    "sticks": update_sticks,
    "hyperparameters": update_hyperparameters,
}
"""In their order."""
