"""One Gibbs pass over the tokens, for any document side over Dirichlet topics.

`dense_pass` is the definition, O(K) a token. `sparse_pass` draws from the same conditionals and spends time
only where counts are (Yao, Mimno and McCallum 2009). It splits the weight of a topic, whose coefficient is
``c_k = (prior_k + n_dk) / (n_k + V eta)``, into

    c_k n_kw    word part: the topics in the list of the word
    c_k eta     smooth part: all topics, those of the document first; rarely visited

and keeps the sum of the c_k, the *mass*, up to date while tokens move. Both passes take a token's own count
out of the weights before they draw.
"""

from .jit import kernel
from .random import categorical
from .sides import list_token, open_topic, unlist_token

RECOUNT_AFTER = (
    64  # tokens, or as many as there are topics: the mass is O(K) to recount, and drifts by rounding
)


@kernel
def enter_document(tokens, scratch, d):
    """Count the topics of document `d` into the scratch; return how many there are."""
    n_doc_topics = 0
    for i in range(tokens.doc_ptr[d], tokens.doc_ptr[d + 1]):
        k = tokens.topic[i]
        if k >= 0:
            if scratch.doc_count[k] == 0:
                scratch.doc_topics[n_doc_topics] = k
                n_doc_topics += 1
            scratch.doc_count[k] += 1
    return n_doc_topics


@kernel
def leave_document(tokens, scratch, d):
    """Zero the document's counts in the scratch."""
    for i in range(tokens.doc_ptr[d], tokens.doc_ptr[d + 1]):
        scratch.doc_count[tokens.topic[i]] = 0


@kernel
def has_room(tokens, documents, topics, d, end):
    """Whether every token of documents `d` to `end`, of one group, could open a topic within the arrays."""
    if documents.rest[tokens.group[d]] == 0.0:
        return True
    return topics.n_topics[0] + tokens.doc_ptr[end] - tokens.doc_ptr[d] < topics.total.size


@kernel
def dense_pass(rng, tokens, documents, topics, scratch):
    """Resample every token's topic, O(K) a token. Mutates all arguments.

    Starts at ``scratch.next_document``. Returns whether it got through; if not, the arrays over topics need
    more room before it is called again.
    """
    eta = topics.eta[0]
    n_words = topics.n_listed.size
    weights = scratch.weights
    for d in range(scratch.next_document[0], tokens.group.size):
        if not has_room(tokens, documents, topics, d, d + 1):
            scratch.next_document[0] = d
            return False
        g = tokens.group[d]
        enter_document(tokens, scratch, d)
        for i in range(tokens.doc_ptr[d], tokens.doc_ptr[d + 1]):
            w = tokens.words[i]
            old = tokens.topic[i]
            if old >= 0:
                unlist_token(topics, w, old)
                scratch.doc_count[old] -= 1
            n_topics = topics.n_topics[0]
            for k in range(n_topics):
                scratch.coefficient[k] = (documents.prior[g, k] + scratch.doc_count[k]) / (
                    topics.total[k] + n_words * eta
                )
                weights[k] = scratch.coefficient[k] * eta
            for j in range(topics.word_ptr[w], topics.word_ptr[w] + topics.n_listed[w]):
                k = topics.listed_topic[j]
                weights[k] += scratch.coefficient[k] * topics.listed_count[j]
            n_outcomes = n_topics
            if documents.rest[g] > 0.0:
                weights[n_topics] = documents.rest[g] / n_words
                n_outcomes += 1
            new = categorical(rng, weights, n_outcomes)
            if new == n_topics:
                topics.n_topics[0] += 1
                open_topic(rng, documents, new, g)
            tokens.topic[i] = new
            list_token(topics, w, new)
            scratch.doc_count[new] += 1
        leave_document(tokens, scratch, d)
    scratch.next_document[0] = 0
    return True


@kernel
def block_end(tokens, d, at_least):
    """End of the documents from `d` on that share its group, cut off once they have `at_least` tokens."""
    end = d + 1
    while (
        end < tokens.group.size
        and tokens.group[end] == tokens.group[d]
        and tokens.doc_ptr[end] - tokens.doc_ptr[d] < at_least
    ):
        end += 1
    return end


@kernel
def recount(coefficient, prior, total, smoothing, n_topics):
    """Recount the coefficients as they are outside of documents; return their sum, the mass."""
    mass = 0.0
    for k in range(n_topics):
        coefficient[k] = prior[k] / (total[k] + smoothing)
        mass += coefficient[k]
    return mass


@kernel
def find_in_smooth_part(u, coefficient, doc_topics, n_doc_topics, is_doc_topic, n_topics):
    """Topic at height `u` of all coefficients laid end to end, those in `doc_topics` first."""
    found = 0
    for j in range(n_doc_topics):
        found = doc_topics[j]
        u -= coefficient[found]
        if u < 0.0:
            return found
    for k in range(n_topics):
        if not is_doc_topic[k] and coefficient[k] > 0.0:
            found = k
            u -= coefficient[k]
            if u < 0.0:
                return found
    return found  # by rounding, the coefficients can sum to less than the mass


@kernel
def move_in_list(listed_topic, listed_count, start, length, old_entry, new_entry, new):
    """Move a token within the list of its word, which begins at `start`; return the new length of the list.

    From `old_entry` (-1: it was not listed) to the entry `new_entry` of topic `new`, which is `length` where
    there is none yet.
    """
    is_listed = new_entry < length
    if is_listed:
        listed_count[start + new_entry] += 1
    if old_entry >= 0:
        listed_count[start + old_entry] -= 1
        if listed_count[start + old_entry] == 0:
            length -= 1
            listed_topic[start + old_entry] = listed_topic[start + length]
            listed_count[start + old_entry] = listed_count[start + length]
    if not is_listed:  # only now is there sure to be space: the list has one entry a token at most
        listed_topic[start + length] = new
        listed_count[start + length] = 1
        length += 1
    return length


@kernel
def sparse_block(rng, tokens, documents, topics, scratch, first, end):
    """Resample the tokens of documents `first` to `end`, of one group; return the mass outside of documents.

    Local names for the arrays keep numba from counting references to them at every token.
    """
    eta = topics.eta[0]
    n_words = topics.n_listed.size
    smoothing = n_words * eta
    words, doc_ptr, topic = tokens.words, tokens.doc_ptr, tokens.topic
    total, word_ptr, n_listed = topics.total, topics.word_ptr, topics.n_listed
    listed_topic, listed_count = topics.listed_topic, topics.listed_count
    doc_count, doc_topics, is_doc_topic = scratch.doc_count, scratch.doc_topics, scratch.is_doc_topic
    coefficient, running = scratch.coefficient, scratch.weights
    n_topics = topics.n_topics[0]
    g = tokens.group[first]
    prior = documents.prior[g]
    rest = documents.rest[g] / n_words
    mass = recount(coefficient, prior, total, smoothing, n_topics)
    for d in range(first, end):
        n_doc_topics = enter_document(tokens, scratch, d)
        for j in range(n_doc_topics):
            k = doc_topics[j]
            is_doc_topic[k] = True
            mass -= coefficient[k]
            coefficient[k] = (prior[k] + doc_count[k]) / (total[k] + smoothing)
            mass += coefficient[k]
        for i in range(doc_ptr[d], doc_ptr[d + 1]):
            w = words[i]
            old = topic[i]
            start = word_ptr[w]
            length = n_listed[w]

            # Take the token out of its topic's coefficient and of the mass.
            kept = 0.0
            mass_without = mass
            if old >= 0:
                kept = coefficient[old]
                coefficient[old] = (prior[old] + (doc_count[old] - 1)) / (total[old] - 1 + smoothing)
                mass_without += coefficient[old] - kept

            word_mass = 0.0
            old_entry = -1
            for j in range(length):
                k = listed_topic[start + j]
                count = listed_count[start + j]
                if k == old:
                    count -= 1
                    old_entry = j
                word_mass += coefficient[k] * count
                running[j] = word_mass

            u = rng.random() * (word_mass + eta * mass_without + rest)
            new_entry = 0
            if u < word_mass:
                while running[new_entry] <= u:
                    new_entry += 1
                new = listed_topic[start + new_entry]
            else:
                u -= word_mass
                if u < eta * mass_without or rest == 0.0:
                    new = find_in_smooth_part(
                        u / eta, coefficient, doc_topics, n_doc_topics, is_doc_topic, n_topics
                    )
                else:
                    new = n_topics
                    n_topics += 1
                    topics.n_topics[0] = n_topics
                    open_topic(rng, documents, new, g)
                    coefficient[new] = 0.0
                    rest = documents.rest[g] / n_words
                while new_entry < length and listed_topic[start + new_entry] != new:
                    new_entry += 1

            if new == old:
                coefficient[old] = kept
                continue
            topic[i] = new
            n_listed[w] = move_in_list(listed_topic, listed_count, start, length, old_entry, new_entry, new)
            if old >= 0:
                total[old] -= 1
                doc_count[old] -= 1
            total[new] += 1
            doc_count[new] += 1
            if not is_doc_topic[new]:
                is_doc_topic[new] = True
                doc_topics[n_doc_topics] = new
                n_doc_topics += 1
            kept = coefficient[new]
            coefficient[new] = (prior[new] + doc_count[new]) / (total[new] + smoothing)
            mass = mass_without + (coefficient[new] - kept)
        for j in range(n_doc_topics):
            k = doc_topics[j]
            doc_count[k] = 0
            is_doc_topic[k] = False
            mass -= coefficient[k]
            coefficient[k] = prior[k] / (total[k] + smoothing)
            mass += coefficient[k]
    return mass


@kernel
def sparse_pass(rng, tokens, documents, topics, scratch):
    """Resample every token's topic, in time that grows with the non-zero counts. Mutates all arguments.

    Starts at ``scratch.next_document``. Returns whether it got through; if not, the arrays over topics need
    more room before it is called again. It stops only where it recounts the mass, so that the draws are the
    same to the last bit wherever it had to stop.
    """
    d = scratch.next_document[0]
    while d < tokens.group.size:
        end = block_end(tokens, d, max(RECOUNT_AFTER, topics.n_topics[0]))
        if not has_room(tokens, documents, topics, d, end):
            scratch.next_document[0] = d
            return False
        sparse_block(rng, tokens, documents, topics, scratch, d, end)
        d = end
    scratch.next_document[0] = 0
    return True
