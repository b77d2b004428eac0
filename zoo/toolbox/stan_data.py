"""The data that every Stan program asks for."""

from typing import Any

from ..contract import Model
from ..corpus import Corpus
from ..priors import Prior


def stan_counts(corpus: Corpus) -> dict[str, Any]:
    """Return what every Stan program asks of the words: ``D``, ``V`` and ``counts`` (D, V)."""
    return {"D": corpus.n_documents, "V": corpus.n_words, "counts": corpus.counts()}


def stan_priors(model: Model) -> dict[str, Any]:
    """How Stan is told of each hyperparameter: ``*_is_random``; ``*_given``, its value or its prior's two."""
    data: dict[str, Any] = {}
    for name, value in model.hyperparameters().items():
        random = isinstance(value, Prior)
        data[f"{name}_is_random"] = int(random)
        data[f"{name}_given"] = list(value.parameters) if random else [float(value)]
    return data
