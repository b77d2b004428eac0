"""A sweep of a scaling process: tokens, labels, documents, sticks, scales, then the topic side."""

import numpy as np

from ..toolbox.jit import kernel
from ..toolbox.sides import move_topics
from .documents import document_pass, draw_alpha, note_exposures
from .law import draw_law
from .missing import move_labels
from .scales import move_scales, shift_scales
from .sticks import draw_fixed_sticks, draw_sticks, propose_gamma, propose_law, room_for_sticks, thin
from .tokens import token_pass


@kernel
def sweep(rng, state):
    """One sweep; False if it stopped for want of room for new topics, before these are proposed.

    ``scratch.next_document`` is 1 then, and a call goes on from there. Mutates `state`.
    """
    tokens, documents, topics, scratch = state
    if scratch.next_document[0] == 0:
        token_pass(rng, tokens, documents, topics, scratch)
        move_labels(rng, tokens, documents, scratch, topics.n_topics[0])
        document_pass(rng, tokens, documents, scratch, topics.n_topics[0])
        note_exposures(documents, topics.n_topics[0])
        draw_alpha(rng, documents, topics.n_topics[0])
        thin(rng, documents, topics)
        if documents.n_fixed[0] == 0:
            propose_gamma(rng, documents, topics.n_topics[0])
            propose_law(rng, documents, topics.n_topics[0])
            if room_for_sticks(documents, topics.n_topics[0]) > documents.root.size:
                scratch.next_document[0] = 1
                return False
    scratch.next_document[0] = 0
    if documents.n_fixed[0] == 0:
        draw_sticks(rng, tokens, documents, topics)
    else:
        draw_fixed_sticks(rng, documents, topics.n_topics[0])
        draw_law(rng, documents, np.arange(topics.n_topics[0]))
        documents.law_parameters[:] = documents.next_law_parameters
    move_scales(rng, tokens, documents, scratch, topics.n_topics[0])
    if documents.n_fixed[0] > 0:
        shift_scales(rng, documents, topics.n_topics[0])
    move_topics(rng, topics)
    return True
