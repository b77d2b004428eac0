"""Samplers of latent Dirichlet allocation, as models take them."""

from collections.abc import Callable
from importlib import import_module
from types import ModuleType

import numpy as np

from ....kernels.toolbox.sides import State
from ...contract import Kernel, Latents
from ...corpus import Corpus
from ..collapsed import prior_arrays
from .family import FiniteFamily


def lda_kernels(toolbox: ModuleType, snapshot: Callable[[State], Latents]) -> dict[str, Kernel]:
    """Make the samplers of LDA, where documents may have what `may_have` says; see `Model.kernels_of`."""
    lda, dirichlet, sides, sweeps = (
        import_module(f"{toolbox.__name__}.{part}")
        for part in ("lda.documents", "toolbox.dirichlet", "toolbox.sides", "toolbox.sweeps")
    )

    def load(latents: Latents, corpus: Corpus, model: FiniteFamily) -> State:
        priors = prior_arrays(model)
        group = model.groups(corpus.group, corpus.n_documents)
        tokens = sides.tokens_of(corpus.words, corpus.doc_ptr, group, latents["z"])
        may_have = model.may_have(np.size(latents["alpha"]))
        documents = lda.finite_documents(may_have, latents["alpha"], priors["alpha"])
        n_topics = may_have.shape[1]
        topics = dirichlet.dirichlet_topics(
            tokens, corpus.n_words, n_topics, n_topics, latents["eta"], priors["eta"]
        )
        return sweeps.make_state(tokens, documents, topics)

    def make(sweep: Callable[..., bool], about: str) -> Kernel:
        def step(rng: np.random.Generator, state: State) -> State:
            sweep(rng, state)
            return state

        return Kernel(load, step, snapshot, sweeps.check, sweep, about=about)

    return {
        "sparse": make(sweeps.sparse_sweep, "collapsed Gibbs; a token costs as much as its non-zero counts"),
        "dense": make(sweeps.dense_sweep, "collapsed Gibbs; a token costs as much as there are topics"),
    }


def common_snapshot(state: State) -> Latents:
    """Latents of LDA; ``alpha`` is a vector."""
    return {
        "z": state.tokens.topic.astype(np.int64),
        "alpha": state.documents.alpha.copy(),
        "eta": np.array(state.topics.eta[0]),
    }
