"""Samplers of latent Dirichlet allocation, as models take them."""

from collections.abc import Callable

import numpy as np

from ....kernels.lda import sweeps
from ....kernels.lda.sweeps import LdaState
from ...contract import Kernel, Latents, Room
from ...corpus import Corpus
from ..collapsed import prior_arrays
from .family import FiniteFamily


def lda_kernels(room: Room, snapshot: Callable[[LdaState], Latents]) -> dict[str, Kernel]:
    """Make the samplers of LDA, where documents may have what `may_have` says; see `Model.kernels_in`."""
    lda = room(sweeps)

    def load(latents: Latents, corpus: Corpus, model: FiniteFamily) -> LdaState:
        priors = prior_arrays(model)
        return lda.make_state(
            corpus.words,
            corpus.doc_ptr,
            model.groups(corpus.group, corpus.n_documents),
            corpus.n_words,
            model.may_have(np.size(latents["alpha"])),
            latents["z"],
            latents["alpha"],
            latents["eta"],
            priors["alpha"],
            priors["eta"],
        )

    def make(sweep: Callable[..., None], about: str) -> Kernel:
        def step(rng: np.random.Generator, state: LdaState) -> LdaState:
            sweep(rng, state)
            return state

        return Kernel(load, step, snapshot, lda.check, sweep, about=about)

    return {
        "sparse": make(lda.sparse_sweep, "collapsed Gibbs; a token costs as much as its non-zero counts"),
        "dense": make(lda.dense_sweep, "collapsed Gibbs; a token costs as much as there are topics"),
    }


def common_snapshot(state: LdaState) -> Latents:
    """Latents of LDA; ``alpha`` is a vector."""
    return {
        "z": state.tokens.topic.astype(np.int64),
        "alpha": state.documents.alpha.copy(),
        "eta": np.array(state.topics.eta[0]),
    }
