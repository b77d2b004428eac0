"""The sampler of the scaling processes."""

from typing import TYPE_CHECKING

import numpy as np

from ....kernels.scaling import state as states
from ....kernels.scaling import sweeps
from ....kernels.toolbox import sides
from ....kernels.toolbox import sweeps as sweeps_of_sides
from ....kernels.toolbox.sides import State
from ...contract import Kernel, Latents, Room
from ...corpus import Corpus
from ..collapsed import prior_arrays

if TYPE_CHECKING:
    from .family import ScalingFamily

ROOM = 64
"""For topics beyond those that a state begins with."""


def scaling_kernels(room: Room, model: "ScalingFamily") -> dict[str, Kernel]:
    """Samplers by name of variant."""
    own_sides, own_states, own_sweeps = room(sides), room(states), room(sweeps)
    of_sides = room(sweeps_of_sides)

    def load(latents: Latents, corpus: Corpus, model: "ScalingFamily") -> State:
        rows, of_document = model.label_rows(corpus)
        tokens = own_sides.tokens_of(corpus.words, corpus.doc_ptr, of_document, latents["z"])
        labels = own_states.labels_of(rows, of_document, corpus.doc_lengths)
        law = (model.law.kind, *model.law.parameters)
        documents = own_states.scaled_documents(
            latents, prior_arrays(model), labels, law, model.n_topics, ROOM
        )
        capacity, n_topics = documents.prior.shape[1], model.n_topics_of(latents)
        topics = model.topics.load(room, tokens, latents, corpus, capacity, n_topics, "")
        return of_sides.make_state(tokens, documents, topics)

    def step(rng: np.random.Generator, state: State) -> State:
        while not own_sweeps.sweep(rng, state):
            state = of_sides.with_room(state)
        return state

    def snapshot(state: State) -> Latents:
        z = {"z": state.tokens.topic.astype(np.int64)}
        return z | model.snapshot_documents(state) | model.topics.snapshot(room, state)

    return {
        "sparse": Kernel(
            load,
            step,
            snapshot,
            of_sides.check,
            own_sweeps.sweep,
            about="Gibbs given one auxiliary variable a document; a token costs as much as its counts",
            # Without a limit some topics are too rare for the rung `joint` to know their probability.
            token_step="augmented" if model.opens_topics else "conditional",
            with_room=of_sides.with_room if model.opens_topics else None,
            counts=model.topics.counts,
        )
    }
