"""Samplers of topics under documents whose prior mass can be tiny."""

from collections.abc import Callable, Mapping
from typing import Any

from ....kernels.poisson import sweeps
from ...contract import Room
from ..topics import Sampler, TopicSide, sparse


def guarded(room: Room) -> Callable[..., Any]:
    """Sweep as `sparse`, but dense in documents of little prior mass."""
    return room(sweeps).guarded_sweep


def guarded_samplers(topics: TopicSide) -> Mapping[str, Sampler]:
    """Samplers of a topic side, its sparse ones guarded."""
    return {
        name: sampler._replace(sweep=guarded) if sampler.sweep is sparse else sampler
        for name, sampler in topics.samplers.items()
    }
