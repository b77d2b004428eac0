"""The samplers of the models with Pitman-Yor topics, by variant."""

from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np

from ..kernels.pitman_yor import PitmanYorState
from .collapsed import prior_arrays
from .contract import Kernel, Latents, TokenStep
from .corpus import Corpus


def pitman_yor_kernels(toolbox: ModuleType) -> dict[str, Kernel]:
    """Make the samplers; see `Model.kernels_of`."""
    pitman_yor = import_module(f"{toolbox.__name__}.pitman_yor")
    seats = import_module(f"{toolbox.__name__}.pitman_yor_seats")

    def make(
        scheme: type,
        about: str,
        sweep: Callable[..., Any] = pitman_yor.sparse_sweep,
        token_step: TokenStep = "reversible",
    ) -> Kernel:
        def load(latents: Latents, corpus: Corpus, model: Any) -> PitmanYorState:
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

    return {
        "forced": make(seats.Indicators, "table indicators; a word's only table keeps its head"),
        "lock": make(seats.LockedIndicators, "table indicators; the head of a word's only table stays"),
        "minus-one": make(seats.MinusOne, "table indicators of all tokens of a word but one"),
        "tables": make(
            seats.TableCounts, "table counts, drawn apart from the tokens", pitman_yor.tables_sweep
        ),
        "seating": make(seats.Seating, "Chinese restaurants, who sits where summed out"),
        "explicit": make(
            seats.Indicators,
            "table indicators; tokens given explicit bases; a token costs as much as there are topics",
            pitman_yor.explicit_sweep,
            "augmented",
        ),
    }
