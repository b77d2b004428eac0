"""Arrays of which compiled code has the types that models give it."""

import numpy as np


def as_of_a_corpus(words, doc_ptr, group):
    """Return words, ends of documents and groups as a corpus has them, which nobody can write to.

    For other types of arrays a sweep would be compiled once more.
    """
    arrays = np.array(words, np.int32), np.array(doc_ptr, np.int64), np.array(group, np.int32)
    for array in arrays:
        array.flags.writeable = False
    return arrays
