"""Weights of chains that have not met, by how well they predict together.

Chains that stay apart are draws from parts of the posterior, and how many chains there are in a part says
nothing of its probability. Stacking gives them the weights with which their mixture predicts new documents
best [1]_. It does not make the mixture the posterior.

References
----------
.. [1] Y. Yao, A. Vehtari, A. Gelman (2022). Stacking for non-mixing Bayesian computations: the curse and
   blessing of multimodal posteriors. Journal of Machine Learning Research 23(79).
"""

from dataclasses import dataclass

import numpy as np
import xarray as xr

from ...zoo.corpus import Corpus
from .scores import HeldOut
from .usual import usual_score


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
    """Stack the chains of a fit by their `usual_score`.

    Raises
    ------
    ValueError
        The fit holds no latents, or `test` has another vocabulary or no token to score.
    """
    n_chains = tree["latents"].sizes.get("chain", 0) if "latents" in tree.children else 0
    if n_chains == 0:
        raise ValueError("topics: expected at least one posterior draw, found none")
    chains = tuple(usual_score(tree, test, chain, seed=seed) for chain in range(n_chains))
    log_p = np.array([score.log_probability for score in chains])
    scored = chains[0].n_scored
    weights = stacking_weights(log_p[:, scored > 0])
    with np.errstate(divide="ignore"):
        together = np.logaddexp.reduce(np.log(weights)[:, None] + log_p)
    draws = sum(score.n_draws for score in chains)
    return StackedChains(weights, chains, HeldOut(chains[0].method, together, scored, draws))


def stacking_weights(log_p: np.ndarray, tolerance: float = 1e-9) -> np.ndarray:
    """Weights of the mixture that is most likely, float (C,).

    Parameters
    ----------
    log_p : float (C, D)
        Log probability of each document under each component.
    tolerance : float
        Largest change of a weight in the last step.

    Notes
    -----
    By expectation and maximisation, which climbs this concave function to its top. (ArviZ has stacking
    inside its comparison of models, in the units of probabilities, which those of documents underflow.)
    """
    p = np.exp(log_p - log_p.max(axis=0))
    weights = np.full(len(p), 1.0 / len(p))
    for _ in range(100_000):
        share = weights[:, None] * p
        before, weights = weights, np.mean(share / share.sum(axis=0), axis=1)
        if np.max(np.abs(weights - before)) <= tolerance:
            break
    return weights
