"""The sampler of the scaling processes: an adapter to its kernels."""

from functools import partial
from typing import Any

from ....kernels.scaling import missing, state, sweeps
from ....kernels.toolbox import sides
from ....kernels.toolbox import sweeps as sweeps_of_sides
from ....kernels.toolbox.sides import ROOM, State
from ...contract import Kernel, Latents, Room
from ...corpus import Corpus
from ..two_sided import TwoSidedModel
from .missing import answers_of


def kernels_in(family: TwoSidedModel, room: Room) -> dict[str, Kernel]:
    """See `Model.kernels_in`; one sampler, whether or not there is a limit to the number of topics."""
    own_sides, own_states, own_sweeps = room(sides), room(state), room(sweeps)
    own_missing = room(missing)
    of_sides = room(sweeps_of_sides)

    def load(latents: Latents, corpus: Corpus, model: Any) -> State:
        rows, of_document = model.label_rows(corpus)
        tokens = own_sides.tokens_of(corpus.words, corpus.doc_ptr, of_document, latents["z"])
        labels = own_states.labels_of(rows, of_document, corpus.doc_lengths)
        questions = own_missing.questions_of(model.asked_of(corpus), labels, answers_of(latents))
        law = (model.law.kind, model.law.names)
        documents = own_states.scaled_documents(
            latents, model.prior_arrays(), labels, questions, law, model.n_topics, ROOM
        )
        capacity, n_topics = documents.prior.shape[1], model.n_topics_of(latents)
        topics = model.topics.load(room, tokens, latents, corpus, capacity, n_topics, "")
        return of_sides.make_state(tokens, documents, topics)

    about = "Gibbs given one auxiliary variable a document; a token costs as much as its counts"
    # Without a limit some topics are too rare for the rung `joint` to know their probability.
    return {
        "auxiliary": Kernel(
            load,
            Kernel.step_of(own_sweeps.sweep, of_sides.with_room),
            partial(family.snapshot, room),
            of_sides.check,
            own_sweeps.sweep,
            about=about,
            token_step="augmented" if family.opens_topics else "conditional",
            with_room=of_sides.with_room if family.opens_topics else None,
            counts=family.topics.counts,
        )
    }
