"""How a token gets another dish and topic, and passes over all tokens.

Dish and topic are drawn together, by one uniform variate: the weight of a dish is that of its tables times

    sum_k (n_ck + base_k) / (n_c + sum_l base_l) (m_kw + eta) / (m_k + V eta),

of which the part with ``base_k`` is the same for all dishes, and the rest a sum over the topics that the dish
has.
A pass returns False where it stops for want of room for topics; the next one goes on there.
"""

from ..toolbox.jit import borrowing_kernel, kernel
from .documents import (
    SLOTS,
    empty_slot,
    enter_document,
    enter_sentence,
    leave_document,
    leave_sentence,
    seat,
    unseat,
)
from .state import NEVER
from .vectors import is_full, open_topic
from .weights import combine, draw_dish, draw_topic, weigh_dishes, weigh_seats, weigh_word


@borrowing_kernel
def draw_seat(rng, state, i, first_sentence, time):
    """Give token `i`, which is counted out, a dish and a topic as if it came at `time`."""
    tokens, topics, law, document = state.tokens, state.topics, state.law, state.document
    sentence = tokens.sentence[i]
    own_before = weigh_dishes(law, document, sentence, time)
    weigh_seats(law, document, sentence, own_before)
    total = combine(law, document, weigh_word(law, topics, document, tokens.words[i]))
    c, u = draw_dish(document, rng.random(), total)
    k = draw_topic(law, document, c, u)
    open_topic(rng, law.vectors, k)
    if c == document.sizes[SLOTS]:
        c = empty_slot(document)
    seat(tokens, topics, document, i, c, k, first_sentence)


@kernel
def token_pass(rng, state, as_if_last):
    """Draw every token anew, in the order of the corpus. Mutates `state`.

    Where `as_if_last`, each is taken for the last of its document, which is not exact.
    """
    tokens, topics, document, vectors = state.tokens, state.topics, state.document, state.law.vectors
    begin = vectors.next_token[0]
    for d in range(tokens.doc_ptr.size - 1):
        if tokens.doc_ptr[d + 1] <= begin:
            continue
        enter_document(state, d)
        first_sentence = tokens.doc_sentences[d]
        for s in range(first_sentence, tokens.doc_sentences[d + 1]):
            enter_sentence(tokens, document, s)
            for i in range(max(begin, tokens.sentence_ptr[s]), tokens.sentence_ptr[s + 1]):
                if is_full(vectors):
                    leave_sentence(tokens, document, s)
                    leave_document(document)
                    vectors.next_token[0] = i
                    return False
                if tokens.dish[i] >= 0:
                    unseat(tokens, topics, document, i, first_sentence)
                draw_seat(rng, state, i, first_sentence, NEVER if as_if_last else tokens.time[i])
            leave_sentence(tokens, document, s)
        leave_document(document)
    vectors.next_token[0] = 0
    return True


@kernel
def pass_given_past(rng, state):
    """Draw every token given those before it alone, in the order of time: not exact. Mutates `state`."""
    tokens, topics, document, vectors = state.tokens, state.topics, state.document, state.law.vectors
    begin = vectors.next_token[0]
    for d in range(tokens.doc_ptr.size - 1):
        if tokens.doc_ptr[d + 1] <= begin:
            continue
        first_sentence = tokens.doc_sentences[d]
        for place in range(max(begin, tokens.doc_ptr[d]), tokens.doc_ptr[d + 1]):
            tokens.dish[tokens.at_time[place]] = -1
        enter_document(state, d)
        for place in range(max(begin, tokens.doc_ptr[d]), tokens.doc_ptr[d + 1]):
            if is_full(vectors):
                leave_document(document)
                vectors.next_token[0] = place
                return False
            i = tokens.at_time[place]
            if tokens.topic[i] >= 0:
                topics.counts[tokens.words[i], tokens.topic[i]] -= 1
                topics.total[tokens.topic[i]] -= 1
            enter_sentence(tokens, document, tokens.sentence[i])
            draw_seat(rng, state, i, first_sentence, tokens.time[i])
            leave_sentence(tokens, document, tokens.sentence[i])
        leave_document(document)
    vectors.next_token[0] = 0
    return True
