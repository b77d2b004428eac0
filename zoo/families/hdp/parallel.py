"""Sweeps of HDP documents over Dirichlet topics in parallel threads."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ....kernels.hdp import parallel
from ....kernels.toolbox.sides import State
from ...contract import Kernel, Latents, Room
from ...corpus import Corpus
from ..topics import Sampler


def _in_cells(room: Room) -> Callable[..., bool]:
    return room(parallel).parallel_sweep


IN_CELLS = Sampler(
    "sticks of all longer topics are drawn; parts in parallel threads, as BNPZOO_THREADS says",
    _in_cells,
    token_step="augmented",
)


def with_cells(room: Room, kernel: Kernel) -> Kernel:
    """Make a kernel of `Dirichlet` topics load these with the cells that `IN_CELLS` asks for."""

    def load(latents: Latents, corpus: Corpus, model: Any) -> State:
        state = kernel.load(latents, corpus, model)
        return state._replace(topics=room(parallel).celled_topics(state.topics, state.tokens))

    return replace(kernel, load=load)
