"""Deliberately wrong kernels of all topics that keep a list of topics a word; see `registry`."""

from ....zoo.families.topics import Dirichlet
from ....zoo.models.lda import Lda
from ..patched import Change, Mutant

OWN_WORD = """\
        listed_count[start + entry] -= 1
    mass = weigh_listed(listed_topic, listed_count, start, length, coefficient, running)
    if entry >= 0:
        listed_count[start + entry] += 1
"""
OWN_WORD_KEPT = Change("toolbox/lists.py", OWN_WORD, OWN_WORD.replace("= 1", "= 0"))
LAST_FORGOTTEN = Change("toolbox/lists.py", "    if end & one:\n", "    if end & one and end < one:\n")

MUTANTS: tuple[Mutant, ...] = tuple(
    Mutant(f"{prefix}{name}", concerns, change, about, variant)
    for prefix, concerns, variant in (("", (Dirichlet,), "sparse"), ("blocked-", (Lda,), "parallel"))
    for name, change, about in (
        ("own-word-kept", OWN_WORD_KEPT, "a token's own count is not taken out of those of its word"),
        (
            "last-of-odd-forgotten",
            LAST_FORGOTTEN,
            "the last of an odd number of topics of a word is passed over",
        ),
    )
)
