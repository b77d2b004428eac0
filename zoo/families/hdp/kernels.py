"""Samplers of the hierarchical Dirichlet processes, as models take them."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ....kernels.hdp import documents
from ....kernels.toolbox import dirichlet, sides, sweeps
from ....kernels.toolbox.sides import State
from ...contract import Kernel, Latents, Room
from ...corpus import Corpus
from ..collapsed import prior_arrays
from .family import HdpFamily


def hdp_kernels(room: Room, snapshot: Callable[[State], Latents]) -> dict[str, Kernel]:
    """Make the samplers of one member of the family, by variant; see `Model.kernels_in`."""
    hdp, topics, tokens, chain = map(room, (documents, dirichlet, sides, sweeps))

    def load(latents: Latents, corpus: Corpus, model: HdpFamily) -> State:
        alpha0, group = model.alpha0_of(latents), model.groups(corpus.group, corpus.n_documents)
        priors = {"alpha0": (0.0, 0.0)} | prior_arrays(model)
        seated = tokens.tokens_of(corpus.words, corpus.doc_ptr, group, latents["z"])
        sticks = hdp.stick_documents(
            latents["root"],
            model.tasks_of(latents),
            {name: latents[name] for name in ("alpha", "gamma")} | {"alpha0": alpha0 or 0.0},
            priors,
            2 if alpha0 is None else 3,
        )
        n_topics, capacity = len(latents["root"]) - 1, sticks.prior.shape[1]
        words = topics.dirichlet_topics(
            seated, corpus.n_words, n_topics, capacity, latents["eta"], priors["eta"]
        )
        return chain.make_state(seated, sticks, words)

    def make(sweep: Callable[..., bool], about: str) -> Kernel:
        def step(rng: np.random.Generator, state: State) -> State:
            while not sweep(rng, state):
                state = chain.with_room(state)
            return state

        return Kernel(load, step, snapshot, chain.check, sweep, about=about, with_room=chain.with_room)

    return {
        "sparse": make(chain.sparse_sweep, "direct assignment; a token costs as much as its non-zero counts"),
        "dense": make(chain.dense_sweep, "direct assignment; a token costs as much as there are topics"),
    }


def common_snapshot(state: State) -> dict[str, Any]:
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
