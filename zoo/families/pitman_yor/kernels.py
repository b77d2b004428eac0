"""The samplers of the models with Pitman-Yor topics, by variant."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ....kernels.lda import documents
from ....kernels.pitman_yor import counts, explicit, topics
from ....kernels.toolbox import sides, sweeps
from ....kernels.toolbox.sides import State
from ...contract import Kernel, Latents, Room, TokenStep
from ...corpus import Corpus
from ..collapsed import prior_arrays


def pitman_yor_kernels(room: Room) -> dict[str, Kernel]:
    """Make the samplers; see `Model.kernels_in`."""
    lda, side, counted, given_bases = map(room, (documents, topics, counts, explicit))
    tokens, chain = map(room, (sides, sweeps))

    def snapshot(state: State) -> Latents:
        found = counted.snapshot(state.tokens, state.topics)
        z, alpha = state.tokens.topic.astype(np.int64), state.documents.alpha.copy()
        return {"z": z, "alpha": alpha, "gamma": found.pop("eta")} | found

    def make(
        scheme: str,
        about: str,
        sweep: Callable[..., Any] = chain.sparse_sweep,
        token_step: TokenStep = "reversible",
    ) -> Kernel:
        def load(latents: Latents, corpus: Corpus, model: Any) -> State:
            if np.any(latents["z"] >= 0) and np.isneginf(model.log_likelihood(latents, corpus)):
                raise ValueError(
                    f"{model.card.id}: association: expected a token that heads a table for each word of a "
                    "topic in a group, and for each of those a word that may become it; found other latents"
                )
            seated = tokens.tokens_of(corpus.words, corpus.doc_ptr, corpus.group_of_doc, latents["z"])
            priors, n_topics = prior_arrays(model), model.n_topics
            words = side.pitman_yor_topics(
                seated,
                corpus.group_of_doc,
                corpus.n_words,
                n_topics,
                n_topics,
                latents | {"eta": latents["gamma"]},
                priors | {"eta": priors["gamma"]},
                model.base_of_group(corpus.n_groups),
                **model.transformation(corpus),
                scheme=scheme,
            )
            may_have = np.ones((corpus.n_groups, n_topics), bool)
            return chain.make_state(
                seated, lda.finite_documents(may_have, latents["alpha"], priors["alpha"]), words
            )

        def step(rng: np.random.Generator, state: State) -> State:
            sweep(rng, state)
            return state

        return Kernel(load, step, snapshot, chain.check, sweep, about=about, token_step=token_step)

    variants = {
        "forced": "table indicators; a word's only table keeps its head",
        "lock": "table indicators; the head of a word's only table stays",
        "minus-one": "table indicators of all tokens of a word but one",
        "tables": "table counts, drawn apart from the tokens",
        "seating": "Chinese restaurants, who sits where summed out",
    }
    augmented = "table indicators; tokens given explicit bases; a token costs as much as there are topics"
    return {name: make(name, about) for name, about in variants.items()} | {
        "explicit": make("forced", augmented, given_bases.explicit_sweep, "augmented")
    }
