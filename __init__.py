"""Bayesian nonparametric topic models, each written four ways, and the evidence that the four agree."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ._version import __version__

if TYPE_CHECKING:
    from .diagnostics.compare import compare
    from .zoo.corpus import Corpus
    from .zoo.families.belief_network.topics import BeliefNetwork
    from .zoo.families.lda.seeded import Seeded
    from .zoo.families.pitman_yor.topics import PitmanYor
    from .zoo.families.topics import Dirichlet
    from .zoo.formats import read_corpus, write_corpus
    from .zoo.inference import as_fit, cool, grow, load, sample, save
    from .zoo.models import get, list_models
    from .zoo.priors import Beta, Gamma

_HOME = {
    "BeliefNetwork": ".zoo.families.belief_network.topics",
    "Beta": ".zoo.priors",
    "Corpus": ".zoo.corpus",
    "Dirichlet": ".zoo.families.topics",
    "Gamma": ".zoo.priors",
    "PitmanYor": ".zoo.families.pitman_yor.topics",
    "Seeded": ".zoo.families.lda.seeded",
    "as_fit": ".zoo.inference",
    "compare": ".diagnostics.compare",
    "cool": ".zoo.inference",
    "get": ".zoo.models",
    "grow": ".zoo.inference",
    "list_models": ".zoo.models",
    "load": ".zoo.inference",
    "read_corpus": ".zoo.formats",
    "sample": ".zoo.inference",
    "save": ".zoo.inference",
    "write_corpus": ".zoo.formats",
}

__all__ = [
    "BeliefNetwork",
    "Beta",
    "Corpus",
    "Dirichlet",
    "Gamma",
    "PitmanYor",
    "Seeded",
    "__version__",
    "as_fit",
    "compare",
    "cool",
    "get",
    "grow",
    "list_models",
    "load",
    "read_corpus",
    "sample",
    "save",
    "write_corpus",
]


def __getattr__(name: str) -> Any:
    # Names are looked up when they are first used: numba and ArviZ take seconds to import.
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOME[name], __name__), name)


def __dir__() -> list[str]:
    # Else completion shows none of those names.
    return __all__
