"""The samplers of the models with Pitman-Yor topics, by variant."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ....kernels.pitman_yor import sweeps
from ....kernels.pitman_yor.sweeps import PitmanYorState
from ...contract import Kernel, Latents, Room, TokenStep
from ...corpus import Corpus
from ..collapsed import prior_arrays


def pitman_yor_kernels(room: Room) -> dict[str, Kernel]:
    """Make the samplers; see `Model.kernels_in`."""
    pitman_yor = room(sweeps)

    def make(
        scheme: str,
        about: str,
        sweep: Callable[..., Any] = pitman_yor.sparse_sweep,
        token_step: TokenStep = "reversible",
    ) -> Kernel:
        def load(latents: Latents, corpus: Corpus, model: Any) -> PitmanYorState:
            if np.any(latents["z"] >= 0) and np.isneginf(model.log_likelihood(latents, corpus)):
                raise ValueError(
                    f"{model.card.id}: association: expected a token that heads a table for each word of a "
                    "topic in a group, and for each of those a word that may become it; found other latents"
                )
            return pitman_yor.make_state(
                corpus.words,
                corpus.doc_ptr,
                corpus.group_of_doc,
                corpus.n_words,
                latents["z"],
                latents["association"],
                latents["alpha"],
                latents["b"],
                float(latents["a"]),
                float(latents["gamma"]),
                prior_arrays(model),
                model.base_of_group(corpus.n_groups),
                **model.transformation(corpus),
                scheme=scheme,
            )

        def step(rng: np.random.Generator, state: PitmanYorState) -> PitmanYorState:
            sweep(rng, state)
            return state

        return Kernel(
            load, step, pitman_yor.snapshot, pitman_yor.check, sweep, about=about, token_step=token_step
        )

    variants = {
        "forced": "table indicators; a word's only table keeps its head",
        "lock": "table indicators; the head of a word's only table stays",
        "minus-one": "table indicators of all tokens of a word but one",
        "tables": "table counts, drawn apart from the tokens",
        "seating": "Chinese restaurants, who sits where summed out",
    }
    explicit = "table indicators; tokens given explicit bases; a token costs as much as there are topics"
    return {name: make(name, about) for name, about in variants.items()} | {
        "explicit": make("forced", explicit, pitman_yor.explicit_sweep, "augmented")
    }
