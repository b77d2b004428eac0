"""One Gibbs pass over the tokens, for any document side over Dirichlet topics.

`dense_pass` is the definition, O(K) a token. `sparse_pass` draws from the same conditionals and spends time
only where counts are (Yao, Mimno and McCallum 2009): the weight of a topic is split into

    (prior_k + n_dk) n_kw / (n_k + V eta)     word part: the topics in the list of the word
    eta n_dk / (n_k + V eta)                  document part: the topics of the document
    eta prior_k / (n_k + V eta)               smooth part: all topics, rarely visited

Both passes take a token's own count out of the weights, and write to the state only if its topic changes.
"""

from .jit import kernel
from .random import categorical
from .state import list_token, open_topic, unlist_token

REFRESH_AT_LEAST = 64  # tokens between two recounts of the smooth mass, whose increments drift by rounding


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
def has_room(tokens, documents, topics, d):
    """Whether every token of document `d` could open a topic without outgrowing the arrays."""
    if documents.rest[tokens.group[d]] == 0.0:
        return True
    return topics.n_topics[0] + tokens.doc_ptr[d + 1] - tokens.doc_ptr[d] < topics.total.size


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
        if not has_room(tokens, documents, topics, d):
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
def smooth_mass(documents, topics, scratch, g):
    """Recount ``base`` and ``coefficient`` of all topics outside a document; return sum_k prior_k base_k."""
    smoothing = topics.n_listed.size * topics.eta[0]
    mass = 0.0
    for k in range(topics.n_topics[0]):
        scratch.base[k] = 1.0 / (topics.total[k] + smoothing)
        scratch.coefficient[k] = documents.prior[g, k] * scratch.base[k]
        mass += scratch.coefficient[k]
    return mass


@kernel
def find_in_parts(
    u, word_mass, doc_mass, all_mass, eta, running, word_topics, prior, doc_count, doc_topics, base, n_topics, old, own_base
):
    """Topic at height `u` of the parts laid end to end; `n_topics` where `u` is above all of them.

    `running` holds the running sums of the word part, whose topics are `word_topics`; `old` is the token's
    own topic, or -1, and `own_base` its ``base`` without the token.
    """
    if u < word_mass:
        j = 0
        while running[j] <= u:
            j += 1
        return word_topics[j]
    u = (u - word_mass) / eta
    if u < doc_mass:
        for k in doc_topics:
            u -= (doc_count[k] - 1) * own_base if k == old else doc_count[k] * base[k]
            if u < 0.0:
                return k
        u = doc_mass  # the terms sum to less than the mass by rounding: go on with the smooth part
    u -= doc_mass
    if u < all_mass:
        for k in range(n_topics):
            u -= prior[k] * (own_base if k == old else base[k])
            if u < 0.0:
                return k
    return n_topics


@kernel
def sparse_pass(rng, tokens, documents, topics, scratch):
    """Resample every token's topic, in time that grows with the non-zero counts. Mutates all arguments.

    Starts at ``scratch.next_document``. Returns whether it got through; if not, the arrays over topics need
    more room before it is called again.
    """
    eta = topics.eta[0]
    n_words = topics.n_listed.size
    smoothing = n_words * eta
    words, doc_ptr, group, topic = tokens.words, tokens.doc_ptr, tokens.group, tokens.topic
    total, word_ptr, n_listed = topics.total, topics.word_ptr, topics.n_listed
    listed_topic, listed_count = topics.listed_topic, topics.listed_count
    doc_count, doc_topics = scratch.doc_count, scratch.doc_topics
    base, coefficient, running = scratch.base, scratch.coefficient, scratch.weights
    n_topics = topics.n_topics[0]
    counted_group = -1
    all_mass = 0.0
    since_recount = 0
    for d in range(scratch.next_document[0], group.size):
        if not has_room(tokens, documents, topics, d):
            scratch.next_document[0] = d
            return False
        g = group[d]
        prior = documents.prior[g]
        if g != counted_group or since_recount > max(REFRESH_AT_LEAST, n_topics):
            all_mass = smooth_mass(documents, topics, scratch, g)
            counted_group = g
            since_recount = 0
        first, last = doc_ptr[d], doc_ptr[d + 1]
        since_recount += last - first
        n_doc_topics = enter_document(tokens, scratch, d)
        doc_mass = 0.0
        for j in range(n_doc_topics):
            k = doc_topics[j]
            doc_mass += doc_count[k] * base[k]
            coefficient[k] = (prior[k] + doc_count[k]) * base[k]
        for i in range(first, last):
            w = words[i]
            old = topic[i]
            start = word_ptr[w]
            length = n_listed[w]
            own_base, own_coefficient = 0.0, 0.0
            doc_without, all_without = doc_mass, all_mass
            if old >= 0:  # the weights without the token itself
                own_base = 1.0 / (total[old] - 1 + smoothing)
                own_coefficient = coefficient[old]
                doc_without += (doc_count[old] - 1) * own_base - doc_count[old] * base[old]
                all_without += prior[old] * (own_base - base[old])
                coefficient[old] = (prior[old] + (doc_count[old] - 1)) * own_base
            word_mass = 0.0
            old_entry = 0
            for j in range(length):
                k = listed_topic[start + j]
                count = listed_count[start + j]
                if k == old:
                    count -= 1
                    old_entry = start + j
                word_mass += coefficient[k] * count
                running[j] = word_mass
            u = rng.random() * (word_mass + eta * (doc_without + all_without) + documents.rest[g] / n_words)
            new = find_in_parts(
                u, word_mass, doc_without, all_without, eta, running, listed_topic[start:start+length], prior,
                doc_count, doc_topics[:n_doc_topics], base, n_topics, old, own_base
            )
            if new == old:
                coefficient[old] = own_coefficient
                continue
            if old >= 0:
                base[old] = own_base
                doc_mass, all_mass = doc_without, all_without
                total[old] -= 1
                doc_count[old] -= 1
                listed_count[old_entry] -= 1
                if listed_count[old_entry] == 0:
                    length -= 1
                    listed_topic[old_entry] = listed_topic[start + length]
                    listed_count[old_entry] = listed_count[start + length]
                if doc_count[old] == 0:
                    n_doc_topics -= 1
                    for j in range(n_doc_topics):
                        if doc_topics[j] == old:
                            doc_topics[j] = doc_topics[n_doc_topics]
            if new == n_topics:
                if documents.rest[g] == 0.0:
                    new -= 1
                else:
                    n_topics += 1
                    topics.n_topics[0] = n_topics
                    open_topic(rng, documents, new, g)
                    base[new] = 1.0 / smoothing
                    all_mass += prior[new] * base[new]
            new_base = 1.0 / (total[new] + 1 + smoothing)
            doc_mass += (doc_count[new] + 1) * new_base - doc_count[new] * base[new]
            all_mass += prior[new] * (new_base - base[new])
            base[new] = new_base
            if doc_count[new] == 0:
                doc_topics[n_doc_topics] = new
                n_doc_topics += 1
            doc_count[new] += 1
            coefficient[new] = (prior[new] + doc_count[new]) * new_base
            total[new] += 1
            topic[i] = new
            j = start
            while j < start + length and listed_topic[j] != new:
                j += 1
            if j == start + length:
                listed_topic[j] = new
                listed_count[j] = 0
                length += 1
            listed_count[j] += 1
            n_listed[w] = length
        for j in range(n_doc_topics):
            k = doc_topics[j]
            coefficient[k] = prior[k] * base[k]
            doc_count[k] = 0
    scratch.next_document[0] = 0
    return True
