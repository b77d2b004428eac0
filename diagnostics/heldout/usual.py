"""The score of held-out documents that a model can be given, whichever that is."""

import xarray as xr

from ...zoo.corpus import Corpus
from .empirical_likelihood import empirical_likelihood
from .scores import HeldOut, document_completion, posterior_predictives, posterior_topics


def usual_score(tree: xr.DataTree, test: Corpus, chain: int | None = None, *, seed: int = 0) -> HeldOut:
    """Score documents by completion or, where they have some topics only, by empirical likelihood.

    Parameters
    ----------
    tree : DataTree
        As `sample` returns it, with group ``latents``.
    test : Corpus
        Over the vocabulary of the fit.
    chain : int, optional
        Of this chain alone.
    seed : int

    Raises
    ------
    ValueError
        The fit holds no latents, or `test` has another vocabulary or no token to score.
    """
    first = next(posterior_topics(tree, test, chain), None)
    if first is not None and first.inclusion is not None:
        return empirical_likelihood(posterior_topics(tree, test, chain), test, seed=seed)
    return document_completion(posterior_predictives(tree, test, chain), test, seed=seed)
