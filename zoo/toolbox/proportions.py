"""Topic proportions of the documents that a model was fitted to, given one posterior draw.

A model knows more of them than of a new document: their labels, their layers, their dishes.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import override

import numpy as np
from scipy.special import softmax

from ..corpus import Corpus
from ..predictive import FrozenTopics, Proportions
from .draws import draw_categorical, draw_dirichlet, log_gamma

STEP = 0.35
"""Between nodes of integrals over gamma rates: the error of a sum is near exp(-pi^2 / step), 6e-13."""

FAR = 40.0
"""From which on a logistic function is one, or from minus which on an integrand is nothing."""


@dataclass(frozen=True)
class DirichletProportions(Proportions):
    """Of documents whose proportions are Dirichlet a priori.

    Attributes
    ----------
    z : int (N,)
    corpus : Corpus
    prior : float (R, K)
    rows : int (D,)
        Row of `prior` for each document.
    inclusion : float (R, K), optional
        Where a document has some topics only; see `FrozenTopics`.
    """

    z: np.ndarray
    corpus: Corpus
    prior: np.ndarray
    rows: np.ndarray
    inclusion: np.ndarray | None = None

    @override
    def mean(self, here: slice) -> np.ndarray:
        weights = self._frozen.weights(self._counts(here), self.rows[here])
        total = weights.sum(axis=1, keepdims=True)
        return np.divide(weights, total, out=np.zeros(weights.shape), where=total > 0.0)

    @override
    def draw(self, here: slice, n: int, rng: np.random.Generator) -> np.ndarray:
        counts = self._counts(here)
        return np.array([draw_proportions(self._frozen, counts, self.rows[here], rng) for _ in range(n)])

    @property
    def _frozen(self) -> FrozenTopics:
        return FrozenTopics(np.zeros((0, 0)), self.prior, self.inclusion)

    def _counts(self, here: slice) -> np.ndarray:
        return _counts_in(self.z, self.prior.shape[1], self.corpus, here)


@dataclass(frozen=True)
class MixedProportions(Proportions):
    """Of documents that mix components, as authors or dishes are, with Dirichlet proportions each.

    Attributes
    ----------
    components : (d) -> (float (L,), float (L, K))
        Weights of the components of a document, which sum to 1, and the parameters of each.
    """

    components: Callable[[int], tuple[np.ndarray, np.ndarray]]

    @override
    def mean(self, here: slice) -> np.ndarray:
        found = [self.components(d) for d in range(here.start, here.stop)]
        return np.array([weights @ (own / own.sum(axis=1, keepdims=True)) for weights, own in found])

    @override
    def draw(self, here: slice, n: int, rng: np.random.Generator) -> np.ndarray:
        found = [self.components(d) for d in range(here.start, here.stop)]
        drawn = [
            weights @ draw_dirichlet(np.broadcast_to(own, (n, *own.shape)), rng) for weights, own in found
        ]
        return np.stack(drawn, axis=1)


@dataclass(frozen=True)
class NormalisedRates(Proportions):
    """Of documents with rates of topics, ``Gamma(shape_k + count_k)`` times a scale, divided by their sum.

    Attributes
    ----------
    z : int (N,)
    corpus : Corpus
    shape : float (K,)
    log_scale : (here) -> float (D, K) or (1, K)
        Of some documents; not of all at once, as there may be many.
    """

    z: np.ndarray
    corpus: Corpus
    shape: np.ndarray
    log_scale: Callable[[slice], np.ndarray]

    @override
    def mean(self, here: slice) -> np.ndarray:
        """See `Proportions.mean`; by the integrals of `mean_of_rates`."""
        shapes, log_scale = self._shapes(here), self.log_scale(here)
        rows, of_document = np.unique(log_scale, axis=0, return_inverse=True)
        of_document = np.broadcast_to(of_document.reshape(-1), len(shapes))
        out = np.empty_like(shapes)
        for r, row in enumerate(rows):
            out[of_document == r] = mean_of_rates(shapes[of_document == r], row)
        return out

    @override
    def draw(self, here: slice, n: int, rng: np.random.Generator) -> np.ndarray:
        shapes = self._shapes(here)
        return softmax(log_gamma(shapes, (n, *shapes.shape), rng) + self.log_scale(here), axis=2)

    def _shapes(self, here: slice) -> np.ndarray:
        counts = _counts_in(self.z, self.shape.size, self.corpus, here)
        return np.maximum(counts + self.shape, np.finfo(float).tiny)


def mean_of_rates(shapes: np.ndarray, log_scale: np.ndarray) -> np.ndarray:
    """See `mean_proportions`, over a range of nodes that is wide enough for any shapes."""
    t = np.arange(-FAR - log_scale.max(), FAR - log_scale.min() + STEP, STEP)
    return mean_proportions(shapes, log_scale, t, -np.expm1(-STEP * shapes.sum(axis=1)))


def mean_proportions(
    shapes: np.ndarray,
    log_scale: np.ndarray,
    t: np.ndarray,
    tail: np.ndarray | float,
    n_drawn: np.ndarray | None = None,
) -> np.ndarray:
    """Mean of rates that are divided by their sum, ``Gamma(a_k)`` times scales s_k each, float (D, K).

    It is proportional to ``a_k ∫ σ(t + log s_k) g(t) dt``, where ``g(t) = Π_j (1 + s_j exp(t))^-a_j``, or
    that times ``exp(n t)`` where the rates are known to have been divided for n tokens, which a counts.

    Parameters
    ----------
    shapes : float (D, K)
        a.
    log_scale : float (K,)
    t : float (Q,)
        Nodes at equal steps, from where the integrand is nothing to where all σ are one.
    tail : float (D,) or float
        What the integrand at the last node is divided by, for all that would follow.
    n_drawn : int (D,), optional
    """
    at = t + log_scale[:, None]
    softplus = np.logaddexp(0.0, at)
    log_g = -shapes @ softplus
    if n_drawn is not None:
        log_g += np.outer(n_drawn, t)
    log_g[:, -1] -= np.log(tail)
    g = np.exp(log_g - log_g.max(axis=1, keepdims=True))
    weights = shapes * (g @ np.exp(at - softplus).T)
    return weights / weights.sum(axis=1, keepdims=True)


def _counts_in(z: np.ndarray, n_topics: int, corpus: Corpus, here: slice) -> np.ndarray:
    """Tokens of each topic in some documents, float (D, K)."""
    tokens = slice(corpus.doc_ptr[here.start], corpus.doc_ptr[here.stop])
    n_documents = here.stop - here.start
    cells = (corpus.doc_of[tokens] - here.start) * n_topics + z[tokens]
    return np.bincount(cells, minlength=n_documents * n_topics).reshape(-1, n_topics).astype(float)


def draw_proportions(
    frozen: FrozenTopics, counts: np.ndarray, row: np.ndarray | int, rng: np.random.Generator
) -> np.ndarray:
    """Draw topic proportions of documents given their counts (…, K); see `FrozenTopics.weights`.

    Where topics may be off, a document without tokens may have none; it then has the topic that a first token
    would have. Where there are none to have, the proportions are zero.
    """
    prior = np.broadcast_to(frozen.prior[row], counts.shape)
    if frozen.inclusion is not None:
        opens = np.broadcast_to(frozen.prior_if_absent[row], counts.shape)
        on = np.divide(opens, prior, out=np.zeros(counts.shape), where=prior > 0)
        is_on = (counts > 0) | (rng.random(counts.shape) < on)
        nowhere = ~is_on.any(axis=-1)
        if nowhere.any():
            first = draw_categorical(opens[nowhere], rng)
            is_on[nowhere] = first[:, None] == np.arange(counts.shape[-1])
        prior = prior * is_on
    shapes = counts + prior
    out, some = np.zeros(shapes.shape), shapes.any(axis=-1)
    out[some] = draw_dirichlet(shapes[some], rng)
    return out
