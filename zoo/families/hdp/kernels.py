"""Samplers of the hierarchical Dirichlet processes, as models take them."""

from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np

from ....kernels.toolbox.sides import State
from ...contract import Kernel, Latents
from ...corpus import Corpus
from ..collapsed import prior_arrays
from .family import HdpFamily


def hdp_kernels(toolbox: ModuleType, snapshot: Callable[[State], Latents]) -> dict[str, Kernel]:
    """Make the samplers of one member of the family, by variant; see `Model.kernels_of`."""
    hdp, dirichlet, sides, sweeps = (
        import_module(f"{toolbox.__name__}.{part}")
        for part in ("hdp.documents", "toolbox.dirichlet", "toolbox.sides", "toolbox.sweeps")
    )

    def load(latents: Latents, corpus: Corpus, model: HdpFamily) -> State:
        alpha0 = model.alpha0_of(latents)
        priors = {"alpha0": (0.0, 0.0)} | prior_arrays(model)
        group = model.groups(corpus.group, corpus.n_documents)
        tokens = sides.tokens_of(corpus.words, corpus.doc_ptr, group, latents["z"])
        documents = hdp.stick_documents(
            latents["root"],
            model.tasks_of(latents),
            {name: latents[name] for name in ("alpha", "gamma")} | {"alpha0": alpha0 or 0.0},
            priors,
            2 if alpha0 is None else 3,
        )
        topics = dirichlet.dirichlet_topics(
            tokens,
            corpus.n_words,
            len(latents["root"]) - 1,
            documents.prior.shape[1],
            latents["eta"],
            priors["eta"],
        )
        return sweeps.make_state(tokens, documents, topics)

    def make(sweep: Callable[..., bool], about: str) -> Kernel:
        def step(rng: np.random.Generator, state: State) -> State:
            while not sweep(rng, state):
                state = sweeps.with_room(state)
            return state

        return Kernel(load, step, snapshot, sweeps.check, sweep, about=about)

    return {
        "sparse": make(
            sweeps.sparse_sweep, "direct assignment; a token costs as much as its non-zero counts"
        ),
        "dense": make(sweeps.dense_sweep, "direct assignment; a token costs as much as there are topics"),
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
