"""Samplers of the hierarchical Dirichlet processes, as models take them."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ....kernels.hdp import sweeps
from ....kernels.hdp.sweeps import HdpState
from ...contract import Kernel, Latents, Room
from ...corpus import Corpus
from ..collapsed import prior_arrays
from .family import HdpFamily


def hdp_kernels(room: Room, snapshot: Callable[[HdpState], Latents]) -> dict[str, Kernel]:
    """Make the samplers of one member of the family, by variant; see `Model.kernels_in`."""
    hdp = room(sweeps)

    def load(latents: Latents, corpus: Corpus, model: HdpFamily) -> HdpState:
        alpha0 = model.alpha0_of(latents)
        return hdp.make_state(
            corpus.words,
            corpus.doc_ptr,
            model.groups(corpus.group, corpus.n_documents),
            corpus.n_words,
            latents["z"],
            latents["root"],
            model.tasks_of(latents),
            {name: latents[name] for name in ("alpha", "gamma", "eta")} | {"alpha0": alpha0 or 0.0},
            {"alpha0": (0.0, 0.0)} | prior_arrays(model),
            2 if alpha0 is None else 3,
        )

    def make(sweep: Callable[..., bool], about: str) -> Kernel:
        def step(rng: np.random.Generator, state: HdpState) -> HdpState:
            while not sweep(rng, state):
                state = hdp.with_room(state)
            return state

        return Kernel(load, step, snapshot, hdp.check, sweep, about=about, with_room=hdp.with_room)

    return {
        "sparse": make(hdp.sparse_sweep, "direct assignment; a token costs as much as its non-zero counts"),
        "dense": make(hdp.dense_sweep, "direct assignment; a token costs as much as there are topics"),
    }


def common_snapshot(state: HdpState) -> dict[str, Any]:
    """Latents that every member of the family has; ``alpha`` is a vector."""
    k = int(state.topics.n_topics[0])
    documents = state.documents
    return {
        "z": state.tokens.topic.astype(np.int64),
        "root": np.append(documents.root[:k], documents.root_rest[0]),
        "alpha": documents.alpha.copy(),
        "gamma": np.array(documents.gamma[0]),
        "eta": np.array(state.topics.eta[0]),
    }
