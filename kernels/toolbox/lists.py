"""Lists of words: the topics of a word's tokens, each with its count, as `DirichletTopics` keeps them.

A token's draw goes through the list of its word, and this is where the time of a sweep goes.
"""

import numpy as np

from .jit import borrowing_kernel, kernel


@borrowing_kernel
def find_entry(listed_topic, start, length, k):
    """Entry of topic `k` in the list that begins at `start`; -1 if it is not there."""
    begin = np.uint64(start)
    for j in range(np.uint64(length)):
        if listed_topic[begin + j] == k:
            return np.int64(j)
    return -1


@borrowing_kernel
def weigh_listed(listed_topic, listed_count, start, length, coefficient, running):
    """Fill `running` with the running sums of ``coefficient_k n_kw`` over a list; return the last.

    In pairs, so that a sum waits for half of the additions; by unsigned indices, which cannot count from the
    end, so that nobody looks whether they do.
    """
    begin, end, one = np.uint64(start), np.uint64(length), np.uint64(1)
    mass = 0.0
    for pair in range(end >> one):
        j = pair + pair
        at = begin + j
        first = coefficient[np.uint32(listed_topic[at])] * listed_count[at]
        both = first + coefficient[np.uint32(listed_topic[at + one])] * listed_count[at + one]
        running[j] = mass + first
        mass += both
        running[j + one] = mass
    if end & one:
        j = end - one
        mass += coefficient[np.uint32(listed_topic[begin + j])] * listed_count[begin + j]
        running[j] = mass
    return mass


@borrowing_kernel
def weigh_others(listed_topic, listed_count, start, length, entry, coefficient, running):
    """Do the same as if the topic at `entry` (-1: none) had a token less."""
    if entry >= 0:
        listed_count[start + entry] -= 1
    mass = weigh_listed(listed_topic, listed_count, start, length, coefficient, running)
    if entry >= 0:
        listed_count[start + entry] += 1
    return mass


@borrowing_kernel
def entry_at(running, u):
    """First entry whose running sum is above `u`."""
    entry = 0
    while running[entry] <= u:
        entry += 1
    return entry


@kernel
def move_in_list(listed_topic, listed_count, start, length, old_entry, new_entry, new):
    """Move a token within the list of its word, which begins at `start`; return the new length of the list.

    From `old_entry` to `new_entry`, the entry of topic `new`; -1 is one that there is not, or not yet.
    """
    if new_entry >= 0:
        listed_count[start + new_entry] += 1
    if old_entry >= 0:
        listed_count[start + old_entry] -= 1
        if listed_count[start + old_entry] == 0:
            length -= 1
            listed_topic[start + old_entry] = listed_topic[start + length]
            listed_count[start + old_entry] = listed_count[start + length]
    if new_entry < 0:  # only now is there sure to be space: the list has one entry a token at most
        listed_topic[start + length] = new
        listed_count[start + length] = 1
        length += 1
    return length


@kernel
def tally_words(counts, first, end):
    """How many of the n_kw of the words ``first:end`` have each value from 1 on; int64 (most + 1,)."""
    largest = 0
    for w in range(first, end):
        for j in range(counts.word_ptr[w], counts.word_ptr[w] + counts.n_listed[w]):
            largest = max(largest, counts.listed_count[j])
    tally = np.zeros(largest + 1, np.int64)
    for w in range(first, end):
        for j in range(counts.word_ptr[w], counts.word_ptr[w] + counts.n_listed[w]):
            tally[counts.listed_count[j]] += 1
    return tally
