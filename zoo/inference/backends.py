"""The back ends behind `sample`, and which arguments each of them takes."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..arguments import check_folder, whole_number
from ..contract import Model, Variational
from ..corpus import Corpus, CorpusError
from ..corpus.counts import MOST_TOKENS
from .convergence import ESS_LIMIT
from .needs import check_memory

type Run = Callable[..., dict[str, Any]]
"""Runs a model's reference program; see `nuts.run`."""


@dataclass(frozen=True)
class Backend:
    """A way to draw from posteriors.

    Attributes
    ----------
    name : str
    about : str
        One line for the user.
    takes : frozenset of str
        Of the arguments of `sample` that some back ends have no use for, those that it takes.
    load_run : () -> Run, optional
        Imports what runs reference programs; None for a back end of kernels, or an approximation.
    is_approximate : bool
        Whether its draws are from another law than the posterior.
    """

    name: str
    about: str
    takes: frozenset[str]
    load_run: Callable[[], Run] | None = None
    is_approximate: bool = False

    def check(self, model: Model, arguments: Mapping[str, Any]) -> None:
        """Raise the ValueError with which `sample` would refuse `arguments`, None for those not given."""
        for name, value in arguments.items():
            if value is not None and name not in self.takes:
                others = " or ".join(other.name for other in BACKENDS.values() if name in other.takes)
                raise ValueError(f"{name}: backend {self.name!r} takes none; it is for backend {others}")
        truncation = arguments.get("truncation")
        if self.is_approximate:
            approximation = model.require_variational()
            check_variant(approximation, model, arguments.get("variant"))
            _check_truncation(self.name, model, truncation, approximation.needs_truncation)
        elif self.load_run is not None:
            reference = model.require_reference()
            most = reference.largest_truncation
            _check_truncation(self.name, model, truncation, reference.needs_truncation, most)


def check_variant(approximation: Variational, model: Model, variant: str | None) -> str:
    """Return the name of an iteration, the default for None; ValueError lists those there are."""
    name = variant or next(iter(approximation.variants))
    if name not in approximation.variants:
        there = ", ".join(approximation.variants)
        raise ValueError(f"{model.card.id}: no variant {name!r} of backend 'vi'; there are {there}")
    return name


def _check_truncation(
    backend: str, model: Model, truncation: int | None, needs_truncation: bool, most: int | None = None
) -> None:
    if truncation is None and needs_truncation:
        expected = "at least 2" if most is None else f"2 to {most}"
        raise ValueError(f"truncation: {model.card.id} under backend {backend!r} needs one, {expected}")
    if truncation is not None and not needs_truncation:
        raise ValueError(f"truncation: {model.card.id} cuts nothing off; expected none, found {truncation}")
    if truncation is not None:
        whole_number("truncation", truncation, 2, most or math.inf)


def _load_nuts() -> Run:
    from . import nuts

    return nuts.run


def _load_stan() -> Run:
    from . import stan

    return stan.run


KERNEL_ARGUMENTS = frozenset({"variant", "checkpoint", "start", "until", "within", "cluster"})

# JAX and Stan are slow to load: only when they are used.
BACKENDS: dict[str, Backend] = {
    backend.name: backend
    for backend in (
        Backend("kernel", "the handwritten samplers, fast", KERNEL_ARGUMENTS),
        Backend("numpyro", "NUTS on the NumPyro program", frozenset({"truncation"}), _load_nuts),
        Backend("stan", "NUTS on the Stan program", frozenset({"truncation"}), _load_stan),
        Backend(
            "vi",
            "mean-field variational inference, an approximation",
            frozenset({"truncation", "variant"}),
            is_approximate=True,
        ),
    )
}


def backend_by_name(name: str) -> Backend:
    """Find a back end; ValueError lists those there are."""
    if name not in BACKENDS:
        raise ValueError(f"backend: expected one of {', '.join(BACKENDS)}, found {name!r}")
    return BACKENDS[name]


def checked_backend(
    model: Model,
    corpus: Corpus,
    name: str,
    given: Mapping[str, Any],
    *,
    chains: int = 1,
    draws: int = 1,
    resume: bool = False,
) -> Backend:
    """Find a back end, and check what does not depend on the model's own code.

    Parameters
    ----------
    model : Model
    corpus : Corpus
    name : str
        Of the back end.
    given : mapping
        Arguments of `sample` that some back ends take; None for those that are not given.
    chains, draws, resume
        As for `sample`.

    Raises
    ------
    ValueError
        With which `sample` refuses the arguments; `CorpusError` for a corpus without tokens.
    """
    engine = backend_by_name(name)
    _check_arguments(model, corpus, engine, given, chains, draws, resume)
    return engine


def _check_arguments(
    model: Model,
    corpus: Corpus,
    engine: Backend,
    given: Mapping[str, Any],
    chains: int,
    draws: int,
    resume: bool,
) -> None:
    checkpoint = given.get("checkpoint")
    if not isinstance(model, Model):
        raise ValueError(f"model: expected a model, as `get` makes it, found {model!r}")
    whole_number("chains", chains, 1)
    whole_number("draws", draws, 1)
    if chains == 1 and given.get("until") is not None:
        raise ValueError("until: expected two chains or more: of one there is no R-hat")
    if chains * draws < ESS_LIMIT and given.get("until") is not None:
        needed = f"{ESS_LIMIT:g} draws or more of all chains, as effective sample sizes are to be"
        raise ValueError(f"until: expected {needed}, found {chains} chains of {draws}")
    if corpus.n_tokens == 0:
        raise CorpusError("expected a corpus with at least one token, found none")
    if corpus.n_tokens > MOST_TOKENS:  # kernels number them by 32 bits
        raise CorpusError(f"expected a corpus of at most {MOST_TOKENS:,} tokens, found {corpus.n_tokens:,}")
    check_folder("checkpoint", checkpoint)
    if resume and checkpoint is None:
        raise ValueError("resume: expected a checkpoint to go on from")
    engine.check(model, given)
    check_memory(model, corpus, engine.name, given.get("variant"), given.get("truncation"))
