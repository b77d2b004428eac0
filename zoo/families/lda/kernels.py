"""Samplers of latent Dirichlet allocation, as models take them."""

from collections.abc import Callable

import numpy as np

from ....kernels.lda import documents
from ....kernels.toolbox import dirichlet, sides, sweeps
from ....kernels.toolbox.sides import State
from ...contract import Kernel, Latents, Room
from ...corpus import Corpus
from ..collapsed import prior_arrays
from .family import FiniteFamily


def lda_kernels(room: Room, snapshot: Callable[[State], Latents]) -> dict[str, Kernel]:
    """Make the samplers of LDA, where documents may have what `may_have` says; see `Model.kernels_in`."""
    lda, topics, tokens, chain = map(room, (documents, dirichlet, sides, sweeps))

    def load(latents: Latents, corpus: Corpus, model: FiniteFamily) -> State:
        priors, group = prior_arrays(model), model.groups(corpus.group, corpus.n_documents)
        may_have = model.may_have(np.size(latents["alpha"]))
        n_topics = may_have.shape[1]
        seated = tokens.tokens_of(corpus.words, corpus.doc_ptr, group, latents["z"])
        return chain.make_state(
            seated,
            lda.finite_documents(may_have, latents["alpha"], priors["alpha"]),
            topics.dirichlet_topics(
                seated, corpus.n_words, n_topics, n_topics, latents["eta"], priors["eta"]
            ),
        )

    def make(sweep: Callable[..., bool], about: str) -> Kernel:
        def step(rng: np.random.Generator, state: State) -> State:
            sweep(rng, state)
            return state

        return Kernel(load, step, snapshot, chain.check, sweep, about=about)

    return {
        "sparse": make(chain.sparse_sweep, "collapsed Gibbs; a token costs as much as its non-zero counts"),
        "dense": make(chain.dense_sweep, "collapsed Gibbs; a token costs as much as there are topics"),
    }


def common_snapshot(state: State) -> Latents:
    """Latents of LDA; ``alpha`` is a vector."""
    return {
        "z": state.tokens.topic.astype(np.int64),
        "alpha": state.documents.alpha.copy(),
        "eta": np.array(state.topics.eta[0]),
    }
