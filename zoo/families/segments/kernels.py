"""The samplers of the weight-agnostic stick-breaking process, by variant."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ....kernels.segments import state as states
from ....kernels.segments import sweeps
from ....kernels.segments.state import SegmentsState
from ...contract import Design, Kernel, Latents, Room
from ...corpus import Corpus
from ..collapsed import prior_arrays


def was_kernels(room: Room) -> dict[str, Kernel]:
    """Make the samplers; see `Model.kernels_in`."""
    own_states, own_sweeps = room(states), room(sweeps)

    def load(latents: Latents, corpus: Corpus, model: Any) -> SegmentsState:
        seats = model.seats(Design.of(corpus))
        sentence_ptr = np.append(np.flatnonzero(np.diff(seats.sentence, prepend=-1)), corpus.n_tokens)
        tokens = own_states.make_tokens(corpus.words, corpus.doc_ptr, sentence_ptr, seats.time, latents)
        limits = (model.most_tables, model.most_dishes)
        return own_states.make_state(
            tokens, model.n_topics, corpus.n_words, latents, prior_arrays(model), *limits
        )

    def snapshot(state: SegmentsState) -> Latents:
        return {
            "z": state.tokens.topic.astype(np.int64),
            "dish": own_states.dishes_by_first_time(state.tokens),
        } | {name: np.array(getattr(state.law, name)[0]) for name in ("a", "b", "zeta", "kappa", "eta")}

    def make(sweep: Callable[..., None], about: str, exact: bool = True) -> Kernel:
        def step(rng: np.random.Generator, state: SegmentsState) -> SegmentsState:
            sweep(rng, state)
            return state

        return Kernel(load, step, snapshot, own_states.check, sweep, exact, about)

    past = "tokens given those before them, as in the paper, for comparison"
    last = "tokens as if each came last, for comparison"
    return {
        "blocked": make(own_sweeps.blocked_sweep, "dish and topic of a token together, dishes of tables"),
        "past_only": make(own_sweeps.sweep_given_past, past, exact=False),
        "as_if_last": make(own_sweeps.sweep_as_if_last, last, exact=False),
    }
