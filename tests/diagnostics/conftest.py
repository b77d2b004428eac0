"""Toy subjects with switches that break them."""

import math

import numpy as np
import pytest


class Normal:
    """mu ~ N(0, 1), y_i ~ N(mu, 1): an autoregression about the exact posterior mean.

    A `width` other than 1 makes a posterior that is too wide or too narrow.
    """

    def __init__(self, n=3, width=1.0, correlation=0.5):
        self.n, self.width, self.correlation = n, width, correlation

    def draw_latents(self, rng):
        return rng.normal()

    def draw_data(self, rng, latents):
        return rng.normal(latents, 1.0, self.n)

    def transition(self, rng, latents, data):
        variance = 1.0 / (1.0 + data.size)
        mean = data.sum() * variance
        noise = rng.normal(0.0, self.width * math.sqrt(variance * (1.0 - self.correlation**2)))
        return mean + self.correlation * (latents - mean) + noise

    def quantities(self, latents, data):
        log_likelihood = -0.5 * np.sum((data - latents) ** 2)
        return {"mu": latents, "log_likelihood": log_likelihood, "exceeds": [latents > 0, latents > 1]}

    def extend(self, rng, latents, data):
        return latents, np.concatenate([data, self.draw_data(rng, latents)])


class Chinese:
    """Chinese restaurant mixture of words; collapsed Gibbs over partitions.

    Its mistakes: ``"count"``, a token is not taken out of the counts before it is drawn anew, and
    ``"smoothing"``, the denominator forgets the size of the vocabulary.
    """

    def __init__(self, n=4, n_words=2, alpha=1.0, eta=0.5, mistake=None):
        self.n, self.n_words, self.alpha, self.eta = n, n_words, alpha, eta
        self.mistake = mistake

    def draw_latents(self, rng):
        z = np.zeros(self.n, np.int64)
        for i in range(1, self.n):
            weights = np.append(np.bincount(z[:i]), self.alpha)
            z[i] = rng.choice(weights.size, p=weights / weights.sum())
        return {"z": z}

    def draw_data(self, rng, latents):
        topics = rng.dirichlet(np.full(self.n_words, self.eta), size=self.n)
        return np.array([rng.choice(self.n_words, p=topics[k]) for k in latents["z"]])

    def conditional(self, z, i, words):
        others = np.ones(z.size) if self.mistake == "count" else np.arange(z.size) != i
        total = np.bincount(z, weights=others, minlength=z.size + 1)
        same = np.bincount(z, weights=others * (words == words[i]), minlength=z.size + 1)
        prior = total.copy()
        prior[np.flatnonzero(total == 0)[0]] = self.alpha
        n_words = 1 if self.mistake == "smoothing" else self.n_words
        return prior * (same + self.eta) / (total + n_words * self.eta)

    @staticmethod
    def canonical(z):
        _, first, inverse = np.unique(z, return_index=True, return_inverse=True)
        return np.argsort(np.argsort(first))[inverse]

    def transition(self, rng, latents, data):
        z = latents["z"].copy()
        for i in range(z.size):
            weights = np.cumsum(self.conditional(z, i, data))
            z[i] = np.searchsorted(weights, rng.random() * weights[-1], side="right")
        return {"z": self.canonical(z)}

    def log_joint(self, z, words):
        lgamma = math.lgamma
        total = lgamma(self.alpha) - lgamma(self.alpha + z.size)
        for k in np.unique(z):
            counts = np.bincount(words[z == k], minlength=self.n_words)
            total += math.log(self.alpha) + lgamma(counts.sum())
            total += lgamma(self.n_words * self.eta) - lgamma(counts.sum() + self.n_words * self.eta)
            total += sum(lgamma(c + self.eta) - lgamma(self.eta) for c in counts)
        return total

    def quantities(self, latents, data):
        z = latents["z"]
        return {
            "n_topics": np.unique(z).size,
            "log_joint": self.log_joint(z, data),
            "same_topic": (z[:-1] == z[1:]).astype(float),
        }


class Broken(Normal):
    """The normal subject with one of its functions replaced."""

    def __init__(self, **functions):
        super().__init__()
        for name, function in functions.items():
            setattr(self, name, function)


@pytest.fixture
def normal():
    return Normal


@pytest.fixture
def chinese():
    return Chinese


@pytest.fixture
def broken():
    return Broken
