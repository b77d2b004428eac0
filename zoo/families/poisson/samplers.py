"""Samplers of topics under documents whose prior mass can be tiny."""

from collections.abc import Callable, Mapping
from typing import Any

from ....kernels.poisson import optimised, parallel, pruned, sweeps
from ...contract import Room
from ..belief_network.topics import BeliefNetwork
from ..topics import Dirichlet, Sampler, TopicSide, sparse


def guarded(room: Room) -> Callable[..., Any]:
    """Sweep as `sparse`, but dense in documents of little prior mass."""
    return room(sweeps).guarded_sweep


def in_parallel(room: Room) -> Callable[..., Any]:
    """Sweep with topics' words drawn, and documents in parallel threads."""
    return room(parallel).parallel_sweep


def optimised_eta(room: Room) -> Callable[..., Any]:
    """Sweep with eta at a maximum of the likelihood of the words."""
    return room(optimised).optimised_sweep


def pruning(room: Room) -> Callable[..., Any]:
    """Sweep a gamma belief network without the topics that have become empty."""
    return room(pruned).pruned_sweep


MALLET = Sampler("eta by MALLET's fixed point, 200 steps a sweep, whatever its prior", optimised_eta)
PRUNED = Sampler("topics of any layer that have become empty never come back", pruning, opens_topics=False)
"""Variants that are not exact; see `PoissonFamily.not_exact`."""


def guarded_samplers(topics: TopicSide) -> Mapping[str, Sampler]:
    """Samplers of a topic side, its sparse ones guarded; of topics that are Dirichlet also one in threads."""
    found = {
        name: sampler._replace(sweep=guarded) if sampler.sweep is sparse else sampler
        for name, sampler in topics.samplers.items()
    }
    if isinstance(topics, (Dirichlet, BeliefNetwork)):
        about = "words of topics are drawn; documents in parallel threads, as BNPZOO_THREADS says"
        found["parallel"] = Sampler(about, in_parallel, token_step="augmented", opens_topics=False)
    return found
