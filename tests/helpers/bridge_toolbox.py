"""What bridges have in common: a micro corpus, and the variables of which references are made."""

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from typing import NamedTuple

import numpy as np
from bnpzoo.diagnostics.laboratory.ladder import neighbours
from bnpzoo.zoo.contract import Design
from scipy import sparse, stats
from scipy.special import gammaln, logsumexp

CORPUS = Design(
    np.array([2, 1, 0, 1, 1]), n_words=4, group=np.array([2, 0, 1, 2, 0]), associations=neighbours(4, 3)
).corpus(np.array([0, 3, 1, 3, 0]))
"""As little symmetry as five tokens have: five documents, four words, three groups; two topics."""

SETS = np.array([[1, 1, 0], [0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]])
"""Labels of the documents in the forms that take sets; nobody has the last."""

OF_SETS = replace(Design.of(CORPUS), covariates={"tag": sparse.csr_array(SETS)}).corpus(CORPUS.words)

TRUNCATION = 2


def corpus_of(model):
    """Corpus of a model: documents have sets of labels where it takes them."""
    return OF_SETS if getattr(model, "labels", "") == "tag" else CORPUS


def labels_of(model):
    """Labels of the documents, int (D, J): sets of them, or one a group."""
    groups = np.eye(CORPUS.n_groups, dtype=int)[CORPUS.group_of_doc]
    return SETS if corpus_of(model) is OF_SETS else groups


def hyper_of(model, values):
    """Hyperparameters among the values of a reference's sample sites."""
    return {name: values[name] for name in model.hyperparameters()}


def own_density(values, sites, name):
    """Log density that a reference itself gives to a site."""
    return float(np.sum(sites[name]["fn"].log_prob(values[name])))


def root_of_sticks(values):
    """Shares of topics, from sticks that are cut off."""
    return np.exp(values["sticks"] - logsumexp(values["sticks"]))


class Shares(NamedTuple):
    """Rows of a Dirichlet variable, and the density of what they are made of.

    Attributes
    ----------
    shapes, log_share : float (…, K)
    log_g : float (…, K)
        Logarithms of the gamma variates.
    log_density : float
    """

    shapes: np.ndarray
    log_share: np.ndarray
    log_g: np.ndarray
    log_density: float

    @classmethod
    def of(cls, values, site, shapes):
        """Read off the values of `site`: log h - x / a, h ~ Gamma(a + 1, 1) and x ~ Exponential(1)."""
        log_h, x = values[f"{site}_log_h"], values[f"{site}_x"]
        shapes = np.broadcast_to(shapes, x.shape)
        log_g = log_h - x / shapes
        density = np.sum(stats.loggamma(shapes + 1.0).logpdf(log_h)) + np.sum(stats.expon.logpdf(x))
        return cls(shapes, log_g - logsumexp(log_g, axis=-1, keepdims=True), log_g, float(density))

    def tilt(self, counts):
        """Log of the Dirichlet density given counts over that without them."""
        return log_tilt(self.shapes, self.log_share, counts)


class Rates(NamedTuple):
    """Gamma variables, with the odds p / (1 - p) as their scale, and the density of what they are made of."""

    shapes: np.ndarray
    log_odds: np.ndarray
    log_g: np.ndarray
    log_density: float

    @classmethod
    def of(cls, values, site, shapes, log_odds):
        """Read off the values of `site`; see `Shares.of`."""
        made = Shares.of(values, site, shapes)
        return cls(made.shapes, log_odds, made.log_g, made.log_density)

    def tilt(self, counts):
        """Log of the gamma densities given Poisson counts, of scale p, over those without them."""
        theta, p = np.exp(self.log_g + self.log_odds), 1.0 / (1.0 + np.exp(-self.log_odds))
        given = stats.gamma.logpdf(theta, self.shapes + counts, scale=p)
        return float(np.sum(given - stats.gamma.logpdf(theta, self.shapes, scale=np.exp(self.log_odds))))


class Documents(NamedTuple):
    """The document side of a reference.

    Attributes
    ----------
    theta : Shares or Rates
        Of topics in documents, (D, K).
    latents : dict
        What the model's densities take beside its hyperparameters and topics.
    log_density : float
        Of what theta is given.
    """

    theta: Shares | Rates
    latents: dict[str, np.ndarray]
    log_density: float = 0.0


class Topics(NamedTuple):
    """The topic side of a reference.

    Attributes
    ----------
    log_density : float
        Of topics.
    log_tokens : (latents, k) -> float
        Log density of topics `k` of the tokens, and of words, with these topics.
    """

    log_density: float
    log_tokens: Callable[[dict[str, np.ndarray], np.ndarray], float]


def log_tilt(shapes, log_share, counts):
    total, n = shapes.sum(axis=-1), counts.sum(axis=-1)
    constants = np.sum(gammaln(total + n) - gammaln(total)) - np.sum(
        gammaln(shapes + counts) - gammaln(shapes)
    )
    return float(constants + np.sum(counts * log_share))


def tally(shape, *index):
    out = np.zeros(shape)
    np.add.at(out, index, 1)
    return out


def all_topics(n_topics):
    """All topics that the tokens of the corpus may have."""
    return (np.array(k) for k in product(range(n_topics), repeat=CORPUS.n_tokens))


def log_given(model, latents, corpus):
    """Log density of topics and words given all other latents, from the model's densities."""
    return model.log_assignments(latents, corpus) + model.log_likelihood(latents, corpus)
