"""The samplers of the models with Pitman-Yor topics, by variant."""

from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np

from ....kernels.toolbox.sides import State
from ...contract import Kernel, Latents, TokenStep
from ...corpus import Corpus
from ..collapsed import prior_arrays


def pitman_yor_kernels(toolbox: ModuleType) -> dict[str, Kernel]:
    """Make the samplers; see `Model.kernels_of`."""
    lda, side, counts, explicit, sides, sweeps = (
        import_module(f"{toolbox.__name__}.{part}")
        for part in (
            "lda.documents",
            "pitman_yor.topics",
            "pitman_yor.counts",
            "pitman_yor.explicit",
            "toolbox.sides",
            "toolbox.sweeps",
        )
    )

    def snapshot(state: State) -> Latents:
        found = counts.snapshot(state.tokens, state.topics)
        z, alpha = state.tokens.topic.astype(np.int64), state.documents.alpha.copy()
        return {"z": z, "alpha": alpha, "gamma": found.pop("eta")} | found

    def make(
        scheme: str,
        about: str,
        sweep: Callable[..., Any] = sweeps.sparse_sweep,
        token_step: TokenStep = "reversible",
    ) -> Kernel:
        def load(latents: Latents, corpus: Corpus, model: Any) -> State:
            if np.any(latents["z"] >= 0) and np.isneginf(model.log_likelihood(latents, corpus)):
                raise ValueError(
                    f"{model.card.id}: association: expected a token that heads a table for each word of a "
                    "topic in a group, and for each of those a word that may become it; found other latents"
                )
            tokens = sides.tokens_of(corpus.words, corpus.doc_ptr, corpus.group_of_doc, latents["z"])
            priors, n_topics = prior_arrays(model), model.n_topics
            may_have = np.ones((corpus.n_groups, n_topics), bool)
            topics = side.pitman_yor_topics(
                tokens,
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
            documents = lda.finite_documents(may_have, latents["alpha"], priors["alpha"])
            return sweeps.make_state(tokens, documents, topics)

        def step(rng: np.random.Generator, state: State) -> State:
            sweep(rng, state)
            return state

        return Kernel(load, step, snapshot, sweeps.check, sweep, about=about, token_step=token_step)

    variants = {
        "forced": "table indicators; a word's only table keeps its head",
        "lock": "table indicators; the head of a word's only table stays",
        "minus-one": "table indicators of all tokens of a word but one",
        "tables": "table counts, drawn apart from the tokens",
        "seating": "Chinese restaurants, who sits where summed out",
    }
    given_bases = "table indicators; tokens given explicit bases; a token costs as much as there are topics"
    return {name: make(name, about) for name, about in variants.items()} | {
        "explicit": make("forced", given_bases, explicit.explicit_sweep, "augmented")
    }
