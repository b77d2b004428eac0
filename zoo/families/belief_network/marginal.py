"""Words of a micro corpus with all of a Dirichlet belief network integrated out: what the oracle enumerates.

Given the layers above, topics of the first layer are Dirichlet with parameters psi. The mean over psi is
taken at scrambled Sobol points through the quantile functions of all gamma variables, from the last layer
down. At each point the probabilities of all words sum to one, and so do their means. All topics of tokens are
weighed at the same points, so that ratios have smaller errors than the probabilities themselves.
"""

import zlib
from collections.abc import Mapping
from functools import lru_cache

import numpy as np
from scipy.special import gammaincinv, gammaln, softmax
from scipy.stats import qmc

from .network import LEAST, LOWEST

POINTS = 2**14


class Points:
    """Dirichlet parameters of the topics of the first layer at points of all that is above.

    Parameters
    ----------
    hyper : tuple of float
        eta, and for each upper layer mass, rate and rate of links.
    width, n_words : int
    n_topics : int
        As many topics as can have tokens.
    """

    def __init__(self, hyper: tuple[float, ...], width: int, n_words: int, n_topics: int):
        eta, layers = hyper[0], np.reshape(hyper[1:], (-1, 3))
        n_upper = len(layers)
        # The links of the first layer are last, so that more topics leave the points of the others alone.
        dimension = n_upper * width * (n_words + 1) + (n_upper - 1) * width**2 + width * n_topics
        seed = zlib.crc32(np.array(hyper).tobytes())
        self._u = qmc.Sobol(dimension, rng=np.random.default_rng(seed)).random(POINTS)
        self._used = 0
        psi = np.full((POINTS, width, n_words), eta)
        for t in reversed(range(n_upper)):
            mass, rate, link_rate = layers[t]
            topics = softmax(self._log_gammas(psi), axis=2)
            popularity = np.exp(self._log_gammas(np.full((POINTS, width), mass / width))) / rate
            below = n_topics if t == 0 else width
            shape = np.broadcast_to(popularity[:, None, :], (POINTS, below, width))
            links = self._log_gammas(shape) - np.log(link_rate)
            high = links.max(axis=2, keepdims=True)
            links = np.where(high > LOWEST, links, links - high + LOWEST)
            psi = np.einsum("sjk,skw->sjw", np.exp(links), topics)
        self.psi = np.maximum(psi, LEAST)
        self._known: dict[tuple[int, ...], np.ndarray] = {}

    def _log_gammas(self, shape: np.ndarray) -> np.ndarray:
        """Log gamma variates of the given shapes (POINTS, …), each by uniforms of its own."""
        n, shape = int(np.prod(shape.shape[1:])), np.maximum(shape, LEAST)
        u = self._u[:, self._used : self._used + n].reshape(shape.shape)
        self._used += n
        quantile = gammaincinv(shape, u)
        # Near zero the distribution function is x^a / Γ(a + 1), however small x is.
        small = (np.log(np.maximum(u, LEAST)) + gammaln(shape + 1.0)) / shape
        return np.where(quantile < 1e-30, small, np.log(np.maximum(quantile, LEAST)))

    def words(self, topic: int, counts: tuple[int, ...]) -> np.ndarray:
        """Probability at each point that a topic has these words in a given order, float (POINTS,)."""
        key = (topic, *counts)
        if key not in self._known:
            psi = self.psi[:, topic]
            out, total = np.ones(POINTS), psi.sum(axis=1)
            for w, count in enumerate(counts):
                for i in range(count):
                    out *= psi[:, w] + i
            for i in range(sum(counts)):
                out /= total + i
            self._known[key] = out
        return self._known[key]


@lru_cache(maxsize=4)
def points(hyper: tuple[float, ...], width: int, n_words: int, n_topics: int) -> Points:
    """Return the points for some hyperparameters; see `Points`."""
    return Points(hyper, width, n_words, n_topics)


def log_words(
    z: np.ndarray, words: np.ndarray, n_words: int, width: int, hyper: Mapping[str, np.ndarray]
) -> float:
    """Log probability of the words (N,) given topics `z` (N,) and hyperparameters, of two layers or more."""
    layers = np.column_stack([hyper[name] for name in ("layer_mass", "layer_rate", "link_rate")])
    at = points((float(hyper["eta"]), *layers.ravel().tolist()), width, n_words, z.size)
    out = np.ones(POINTS)
    for place, k in enumerate(np.unique(z)):
        out = out * at.words(place, tuple(np.bincount(words[z == k], minlength=n_words).tolist()))
    return float(np.log(out.mean()))
