"""Sweeps of Dirichlet topics in parallel threads, for documents that all have one prior."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ....kernels.lda import parallel
from ....kernels.toolbox import blocked
from ....kernels.toolbox.sides import State
from ...contract import Kernel, Latents, Room
from ...corpus import Corpus
from ..topics import Sampler


def _parallel(room: Room) -> Callable[..., bool]:
    return room(parallel).parallel_sweep


IN_BLOCKS = Sampler(
    "shares of blocks of words are drawn; parts in parallel threads, as BNPZOO_THREADS says",
    _parallel,
    token_step="augmented",
    opens_topics=False,
)


def with_blocks(room: Room, kernel: Kernel) -> Kernel:
    """Make a kernel of `Dirichlet` topics load these with the blocks that `IN_BLOCKS` asks for."""

    def load(latents: Latents, corpus: Corpus, model: Any) -> State:
        state = kernel.load(latents, corpus, model)
        return state._replace(topics=room(blocked).blocked_topics(state.topics, state.tokens))

    return replace(kernel, load=load)
