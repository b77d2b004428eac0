"""A sweep in parts, in threads: documents and words are cut, and each part draws by itself.

How many parts there are, and where they are cut, depends on the corpus alone; each has a generator of its
own, and what parts find is summed in their order. So the bits do not depend on the number of threads.
"""

from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np

from .sides import Tokens, draw_tables, move_topics
from .sides import scratch as empty_scratch
from .threads import in_parts, parts_of

FEWEST_PARTS, MOST_PARTS, TOKENS_OF_PART = 2, 16, 2048


class Part(NamedTuple):
    """Documents, or words, `first` to `end`, and what they are drawn by."""

    rng: np.random.Generator
    first: int
    end: int

    @property
    def rows(self) -> slice:
        """Where they are in arrays of all."""
        return slice(self.first, self.end)


class Cut(NamedTuple):
    """Parts of a corpus. The parts of one step have a generator each; those of the next have the same."""

    documents: list[Part]
    words: list[Part]


def cut(rng: np.random.Generator, tokens: Tokens, word_ptr: np.ndarray, n_topics: int) -> Cut:
    """Cut a corpus, with fresh generators. A word costs as much as `n_topics` tokens."""
    n_parts = min(MOST_PARTS, FEWEST_PARTS + tokens.words.size // TOKENS_OF_PART)
    rngs = [np.random.Generator(np.random.PCG64(int(seed))) for seed in rng.integers(2**63, size=n_parts)]
    word_cost = word_ptr + (n_topics - 1) * np.arange(word_ptr.size)
    return Cut(*(_parts(rngs, ptr) for ptr in (tokens.doc_ptr, word_cost)))


def _parts(rngs: list[np.random.Generator], ptr: np.ndarray) -> list[Part]:
    """Parts that are not empty."""
    cuts = (bounds for bounds in parts_of(ptr, len(rngs)) if bounds[0] < bounds[1])
    return [Part(rng, *bounds) for rng, bounds in zip(rngs, cuts, strict=False)]


def documents_of(tokens: Tokens, part: Part) -> Tokens:
    """Tokens as if there were no other documents. Arrays over tokens stay whole; `doc_ptr` finds them."""
    return tokens._replace(doc_ptr=tokens.doc_ptr[part.first : part.end + 1], group=tokens.group[part.rows])


def tables_in_parts(tokens: Tokens, documents: Any, parts: list[Part]) -> np.ndarray:
    """Tables of the documents' restaurants, by group and topic, as those of `draw_tables`."""
    n_topics = documents.prior.shape[1]

    def tables_of(part: Part) -> tuple[np.ndarray, np.ndarray]:
        some = documents_of(tokens, part)
        has = np.zeros(documents.rest.size, np.bool_)
        has[some.group] = True
        groups, name = np.flatnonzero(has), np.cumsum(has, dtype=np.int32) - np.int32(1)
        side = documents._replace(prior=documents.prior[groups], rest=documents.rest[groups])
        renamed = some._replace(group=name[some.group])
        return groups, draw_tables(part.rng, renamed, side, empty_scratch(n_topics), n_topics)

    out = np.zeros(documents.prior.shape, np.int64)
    for groups, tables in in_parts(tables_of, parts):
        out[groups] += tables
    return out


@singledispatch
def move_documents_in_parts(
    documents: Any, rng: np.random.Generator, tokens: Tokens, topics: Any, parts: list[Part]
) -> None:
    """Move all of the document side given the tokens' topics, as `move_documents`, but rename no topics."""
    raise TypeError(f"{type(documents).__name__}: expected documents that move in parts")


@singledispatch
def move_topics_in_parts(topics: Any, rng: np.random.Generator, parts: list[Part]) -> None:
    """Move the hyperparameters of the topic side, as `move_topics`, which is what sides without parts do."""
    move_topics(rng, topics)
