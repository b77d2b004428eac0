"""The law of mean-field variational inference, and the bound that it raises, in plain NumPy or in JAX.

All latent variables are independent: topics of tokens, pi gamma, u gamma, words of topics Dirichlet, the w of
`hdsp` inverse gamma. Sticks, the log scales of `whdsp` and hyperparameters are points. So the bound is one on
the log density of the words and these points together, and not on the evidence of the model.

Points have their density where nothing bounds them: sticks as functions of their logits and, as everywhere in
the package, hyperparameters of their logarithms. There each density is bounded, and the bound with it. In V
itself, as the paper has it, that of a stick is without limit towards 1 where gamma is below 1: there a stick
would end, whatever the words are.

References
----------
.. [1] D. Kim and A. Oh. Hierarchical Dirichlet scaling process. Section 4; Equations 24 to 27, 44 to 46.
   Equation 27, a Taylor bound, is exactly what u adds: its law is Gamma(n_d, xi_d).
"""

from typing import Any, NamedTuple

import numpy as np
from scipy import special

type Point = tuple[float, float] | None
"""Shape and rate of the prior of a hyperparameter; None where it is fixed."""


class Maths(NamedTuple):
    """Where arrays are computed: NumPy and `scipy.special`, or their twins in JAX."""

    xp: Any
    special: Any


NUMPY = Maths(np, special)


class Problem(NamedTuple):
    """What is given.

    Attributes
    ----------
    document, word, count : int (C,)
        Cells of the matrix of counts that are not zero, sorted by document.
    lengths : float (D,)
    n_words : int
    rows : float (R, J)
        Distinct rows of labels, dense or sparse.
    row_of : int (D,)
    law : tuple of float
        Of the scales: shape and rate of w, or the variance of a log scale and 0.
    priors : dict of str to (float, float) or None
        Of ``gamma``, ``alpha`` and ``eta``.
    """

    document: Any
    word: Any
    count: Any
    lengths: Any
    n_words: int
    rows: Any
    row_of: Any
    law: tuple[float, float]
    priors: dict[str, Point]


class InverseGamma(NamedTuple):
    """Law of the w of `hdsp`.

    Attributes
    ----------
    shape, rate : float (J, T)
    """

    shape: Any
    rate: Any

    def log_scale(self, rows: Any, maths: Maths = NUMPY) -> Any:
        """Mean of log s, float (R, T)."""
        return rows @ (maths.xp.log(self.rate) - maths.special.digamma(self.shape))

    def inverse(self, rows: Any, maths: Maths = NUMPY) -> Any:
        """Mean of 1 / s, float (R, T); labels are 0 or 1."""
        return maths.xp.exp(rows @ maths.xp.log(self.shape / self.rate))

    def gain(self, law: tuple[float, float], maths: Maths = NUMPY) -> Any:
        """Return what w adds to the bound: its prior, and its entropy."""
        xp, (a, b) = maths.xp, law
        mean_log = xp.log(self.rate) - maths.special.digamma(self.shape)
        prior = a * np.log(b) - special.gammaln(a) - (a + 1.0) * mean_log - b * self.shape / self.rate
        gammaln, digamma = maths.special.gammaln(self.shape), maths.special.digamma(self.shape)
        entropy = self.shape + xp.log(self.rate) + gammaln - (1.0 + self.shape) * digamma
        return xp.sum(prior + entropy)

    def draw(self, rng: np.random.Generator) -> np.ndarray:
        """Draw log scales (J, T)."""
        return np.log(self.rate) - np.log(rng.gamma(self.shape))


class Points(NamedTuple):
    """Log scales of `whdsp`; the paper's w is minus these.

    Attributes
    ----------
    at : float (J, T)
    """

    at: Any

    def log_scale(self, rows: Any, maths: Maths = NUMPY) -> Any:
        """Log s, float (R, T)."""
        return rows @ self.at

    def inverse(self, rows: Any, maths: Maths = NUMPY) -> Any:
        """1 / s, float (R, T)."""
        return maths.xp.exp(-(rows @ self.at))

    def gain(self, law: tuple[float, float], maths: Maths = NUMPY) -> Any:
        """Log density of the points."""
        return maths.xp.sum(-0.5 * self.at**2 / law[0] - 0.5 * np.log(2.0 * np.pi * law[0]))

    def draw(self, rng: np.random.Generator) -> np.ndarray:
        """Return the points: there is nothing to draw."""
        return np.array(self.at)


class MeanField(NamedTuple):
    """A law without correlations.

    Attributes
    ----------
    doc_topic : float (D, T)
        Expected counts of topics in documents.
    topic_word : float (T, V)
        Expected counts of words in topics.
    entropy : float
        Of the topics of all tokens.
    shape, rate : float (D, T)
        Of pi.
    xi : float (D,)
        Rate of u.
    words : float (T, V)
        Dirichlet parameters of topics.
    scales : InverseGamma or Points
    sticks : float (T - 1,)
        V.
    gamma, alpha, eta : float
    """

    doc_topic: Any
    topic_word: Any
    entropy: Any
    shape: Any
    rate: Any
    xi: Any
    words: Any
    scales: Any
    sticks: Any
    gamma: Any
    alpha: Any
    eta: Any

    def root(self, maths: Maths = NUMPY) -> Any:
        """Weights of the topics at the root (T,)."""
        xp = maths.xp
        ends = xp.ones(1)
        return xp.concatenate([self.sticks, ends]) * xp.concatenate([ends, xp.cumprod(1.0 - self.sticks)])

    def log_pi(self, maths: Maths = NUMPY) -> Any:
        """Mean of log pi (D, T)."""
        return maths.special.digamma(self.shape) - maths.xp.log(self.rate)

    def log_words(self, maths: Maths = NUMPY) -> Any:
        """Mean of the logarithms of word probabilities (T, V)."""
        total = maths.xp.sum(self.words, axis=1, keepdims=True)
        return maths.special.digamma(self.words) - maths.special.digamma(total)


def bound(q: MeanField, problem: Problem, maths: Maths = NUMPY) -> Any:
    """Lower bound on the log density of words and points (Equations 45 and 46, corrected)."""
    xp, gammaln, row_of = maths.xp, maths.special.gammaln, problem.row_of
    log_pi, log_words = q.log_pi(maths), q.log_words(maths)
    mass = xp.sum(q.shape / q.rate, axis=1)
    prior = q.alpha * q.root(maths)
    out = q.entropy + xp.sum(q.topic_word * log_words)
    out -= xp.sum(problem.lengths * (xp.log(q.xi) + (mass - q.xi) / q.xi))
    out -= xp.sum(prior * xp.sum(q.scales.log_scale(problem.rows, maths)[row_of], axis=0))
    out -= xp.sum(q.scales.inverse(problem.rows, maths)[row_of] * q.shape / q.rate)
    # What is multiplied by the mean of log pi comes together: alone, the parts are beyond all precision
    # where a topic has next to no weight.
    out += xp.sum((q.doc_topic + prior - q.shape) * log_pi)
    out += xp.sum(gammaln(q.shape) - gammaln(prior) + q.shape - q.shape * xp.log(q.rate))
    out += xp.sum(xp.log(q.gamma) + xp.log(q.sticks) + q.gamma * xp.log1p(-q.sticks))
    out += q.scales.gain(problem.law, maths)
    out += xp.sum((q.eta - q.words) * log_words) + xp.sum(gammaln(q.words))
    out -= xp.sum(gammaln(xp.sum(q.words, axis=1)))
    out += q.words.shape[0] * (gammaln(problem.n_words * q.eta) - problem.n_words * gammaln(q.eta))
    for name, point in (("gamma", q.gamma), ("alpha", q.alpha), ("eta", q.eta)):
        if (law := problem.priors[name]) is not None:
            out += law[0] * xp.log(point * law[1]) - law[1] * point - special.gammaln(law[0])
    return out
