"""The scores of held-out documents that a model can be given, whichever these are."""

from dataclasses import replace

import xarray as xr

from ...zoo.corpus import Corpus
from ...zoo.families.labelled import GivenLabels
from ...zoo.families.responses.predictive import RespondingPredictive
from ...zoo.predictive import FrozenTopics, Predictive
from .empirical_likelihood import empirical_likelihood
from .scores import HeldOut, document_completion, left_to_right, posterior_predictives, posterior_topics


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


def all_scores(
    tree: xr.DataTree, test: Corpus, *, seed: int = 0, with_left_to_right: bool = True
) -> list[HeldOut]:
    """Score documents by every method that applies to the model.

    Parameters
    ----------
    tree, test, seed
        As for `usual_score`.
    with_left_to_right : bool
        It takes the longest.

    Returns
    -------
    list of HeldOut
        Empirical likelihood is the last, and the only one where documents have some topics only. It takes new
        documents to have Dirichlet proportions and no labels; where the others do not its ``method`` says so.

    Raises
    ------
    ValueError
        As `usual_score` does.
    """
    simulated = empirical_likelihood(posterior_topics(tree, test), test, seed=seed)
    if next(posterior_topics(tree, test)).inclusion is not None:
        return [simulated]
    simulated = replace(simulated, method=simulated.method + _told(next(posterior_predictives(tree, test))))
    methods = [document_completion, *([left_to_right] if with_left_to_right else [])]
    return [*(method(posterior_predictives(tree, test), test, seed=seed) for method in methods), simulated]


def _told(predictive: Predictive) -> str:
    """Say what of the law of new documents empirical likelihood does not know."""
    match predictive:
        case GivenLabels():
            return ", labels not used"
        case FrozenTopics() | RespondingPredictive():  # whose words are scored without their responses
            return ""
    return ", as of Dirichlet documents"
