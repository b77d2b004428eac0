"""Weights of chains that have not met, by how well they predict together.

Chains that stay apart are draws from parts of the posterior, and how many chains there are in a part says
nothing of its probability. Stacking gives them the weights with which their mixture predicts new documents
best [1]_. It does not make the mixture the posterior.

References
----------
.. [1] Y. Yao, A. Vehtari, A. Gelman (2022). Stacking for non-mixing Bayesian computations: the curse and
   blessing of multimodal posteriors. Journal of Machine Learning Research 23(79).
"""

from dataclasses import dataclass, replace

import numpy as np
import xarray as xr
from scipy.optimize import minimize

from ...zoo.corpus import Corpus
from .scores import HeldOut
from .usual import usual_score

LEAST_WEIGHT = 1e-12
"""So that what a single component has a probability for never has none."""


@dataclass(frozen=True)
class StackedChains:
    """Chains of a fit as one mixture.

    Attributes
    ----------
    weights : float (C,)
        Of the chains; they sum to one.
    chains : tuple of HeldOut
        Score of each chain by itself.
    mixture : HeldOut
        Of the mixture, on the documents that chose the weights: a little too good.
    """

    weights: np.ndarray
    chains: tuple[HeldOut, ...]
    mixture: HeldOut


def stack_chains(tree: xr.DataTree, test: Corpus, *, seed: int = 0) -> StackedChains:
    """Stack the chains of a fit by their `usual_score`, of tokens or of documents, whichever that averages.

    With equal weights the mixture has the score of all chains together, but for what is drawn at random.

    Raises
    ------
    ValueError
        The fit holds no latents, or `test` has another vocabulary or no token to score.
    """
    n_chains = tree["latents"].sizes.get("chain", 0) if "latents" in tree.children else 0
    if n_chains == 0:
        raise ValueError("topics: expected at least one posterior draw, found none")
    chains = tuple(usual_score(tree, test, chain, seed=seed) for chain in range(n_chains))
    first, log_p = chains[0], np.array([score.log_p for score in chains])
    weights = stacking_weights(log_p[:, first.n_scored[first.doc_of] > 0])
    together = np.logaddexp.reduce(np.log(weights)[:, None] + log_p)
    draws = sum(score.n_draws for score in chains)
    return StackedChains(weights, chains, replace(first, log_p=together, n_draws=draws))


def stacking_weights(log_p: np.ndarray) -> np.ndarray:
    """Weights of the mixture that is most likely, float (C,).

    Parameters
    ----------
    log_p : float (C, P)
        Log probability of each token, or document, under each component.

    Notes
    -----
    The logarithm of the mixture is concave in the weights. (ArviZ has stacking inside its comparison of
    models, in the units of probabilities, which those of documents underflow.)
    """
    p = np.exp(log_p - log_p.max(axis=0))
    n = len(p)

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        mixture = weights @ p
        return -float(np.log(mixture).mean()), -(p / mixture).mean(axis=1)

    found = minimize(
        loss,
        np.full(n, 1.0 / n),
        jac=True,
        method="SLSQP",
        bounds=[(LEAST_WEIGHT, 1.0)] * n,
        constraints={"type": "eq", "fun": lambda w: w.sum() - 1.0, "jac": lambda w: np.ones(n)},
        options={"ftol": 1e-13, "maxiter": 1000},
    )
    return found.x / found.x.sum()
