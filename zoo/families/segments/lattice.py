"""Tables of a document as a hidden Markov model: what the forward algorithm runs over.

Given its sticks, a document is a Markov chain over the tokens in the order in which they take their seats.
The state is the dishes of every sentence in the order of its tables; limits on tables and dishes leave out
states, and no step is normalised anew, so that they are a condition on the whole. The number of states grows
with the limits and not with the tokens.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ...corpus import Corpus, CorpusError
from .order import Seating

MOST_EDGES = 200_000
"""Of all documents together."""

type State = tuple[tuple[int, ...], ...]


class Edge(NamedTuple):
    """What one token can do.

    Attributes
    ----------
    after : State
    table : int
        That it sits at; of its sentence.
    is_open : bool
        Whether somebody sat there before.
    dish : int
    offered : int
        Dishes on offer to a new table, of those that there are.
    is_new : bool
        Whether the document lacked the dish.
    """

    after: State
    table: int
    is_open: bool
    dish: int
    offered: int
    is_new: bool


def edges_from(state: State, sentence: int, most_tables: int, most_dishes: int) -> Iterator[Edge]:
    """Yield what a token of a sentence can do."""
    own, n_dishes = state[sentence], max((max(x, default=-1) for x in state), default=-1) + 1
    for table, dish in enumerate(own):
        yield Edge(state, table, True, dish, 0, False)
    if len(own) < most_tables:
        for dish in range(min(n_dishes + 1, most_dishes)):
            if dish not in own:
                after = (*state[:sentence], (*own, dish), *state[sentence + 1 :])
                yield Edge(after, len(own), False, dish, n_dishes - len(own), dish == n_dishes)


class Lattice(NamedTuple):
    """States and edges of all documents, token by token in the order in which they take their seats.

    Sizes: N tokens; T states after a token, each token's after those of the one before; E edges, sorted by
    the state that they lead to.

    Attributes
    ----------
    first_state : int (N + 1,)
        After token n of that order there are states ``first_state[n]:first_state[n + 1]``.
    first_edge : int (T + 1,)
    source : int (E,)
        State before; -1 for the first token of a document.
    seat : int (E,)
        Which of the numbers of `log_seats` is the probability of the table.
    offer : int (E,)
        Which of those of `log_offers` is the probability of its dish.
    dish : int (E,)
    token : int (N,)
        Of the corpus.
    last : int (documents with tokens,)
        Their last tokens, by number in the order.
    n_sentences, n_tables, n_dishes : int
        S sentences of at most J tables each, in documents of at most L dishes.
    """

    first_state: np.ndarray
    first_edge: np.ndarray
    source: np.ndarray
    seat: np.ndarray
    offer: np.ndarray
    dish: np.ndarray
    token: np.ndarray
    last: np.ndarray
    n_sentences: int
    n_tables: int
    n_dishes: int

    @property
    def step(self) -> np.ndarray:
        """Token of each edge, by number in the order, int (E,)."""
        per_token = np.diff(self.first_edge[self.first_state])
        return np.repeat(np.arange(per_token.size), per_token)


class _Document(NamedTuple):
    """The same of one document, whose sentences are numbered from 0.

    Attributes
    ----------
    states : int (n,)
        After each token.
    per_state : int (T,)
        Edges to each state.
    columns : int (E, 5)
        Source, table, whether somebody sat there, offer and dish of each edge.
    """

    states: np.ndarray
    per_state: np.ndarray
    columns: np.ndarray


def lattice_of(
    corpus: Corpus, seats: Seating, *, label: str, most_dishes: int, most_tables: int = 0
) -> Lattice:
    """Lattice of all documents; there is a limit on dishes, and none on tables at 0.

    Raises
    ------
    CorpusError
        There are too many edges.
    """
    # No two tables of a sentence have one dish, and none is empty.
    longest = int(np.bincount(seats.sentence, minlength=1).max())
    n_tables = max(min(most_tables or most_dishes, most_dishes, longest), 1)
    n_sentences = int(seats.sentence.max(initial=-1)) + 1
    order = np.lexsort((seats.time, seats.document))
    found, columns, at_state, last = [], [np.zeros((0, 4), np.int64)], 0, []
    for start, end in zip(corpus.doc_ptr[:-1], corpus.doc_ptr[1:], strict=True):
        if start == end:
            continue
        sentence = seats.sentence[order[start:end]]
        first = int(sentence.min())
        try:
            one = _document(tuple((sentence - first).tolist()), n_tables, most_dishes)
        except OverflowError:
            raise CorpusError(
                f"{label}: its references run over the tables of each document: expected at most "
                f"{MOST_EDGES:,} edges, found more in document {int(seats.document[start])} of "
                f"{end - start} tokens; set smaller limits, such as most_tables=2 and most_dishes=3"
            ) from None
        source, table, is_open, offer, dish = one.columns.T
        step = np.repeat(np.repeat(np.arange(one.states.size), one.states), one.per_state)
        seat = sentence[step] * n_tables + table + np.where(is_open, 0, n_sentences * n_tables)
        columns.append(np.column_stack([np.where(source < 0, -1, source + at_state), seat, offer, dish]))
        found.append(one)
        at_state += int(one.states.sum())
        last.append(end - 1)
    edges = np.vstack(columns)
    if len(edges) > MOST_EDGES:
        raise CorpusError(
            f"{label}: its references run over the tables of each document: expected at most "
            f"{MOST_EDGES:,} edges, found {len(edges):,}; take fewer documents, or smaller limits"
        )
    states = np.concatenate([np.zeros(1, np.int64), *(one.states for one in found)])
    per_state = np.concatenate([np.zeros(1, np.int64), *(one.per_state for one in found)])
    return Lattice(
        np.cumsum(states),
        np.cumsum(per_state),
        *edges.T,
        token=order,
        last=np.array(last, np.int64),
        n_sentences=n_sentences,
        n_tables=n_tables,
        n_dishes=most_dishes,
    )


@lru_cache(maxsize=64)
def _document(sentence: tuple[int, ...], n_tables: int, most_dishes: int) -> _Document:
    """Lattice of one document; OverflowError where there are too many edges."""
    states: dict[State, int] = {((),) * (max(sentence) + 1): -1}
    n_states, per_state, columns, before = [], [], [], 0
    for s in sentence:
        into: dict[State, list[tuple[int, int, bool, int, int]]] = {}
        for state, source in states.items():
            for edge in edges_from(state, s, n_tables, most_dishes):
                offer = 0 if edge.is_open else 1 + edge.offered + edge.is_new * (most_dishes + 1)
                into.setdefault(edge.after, []).append((source, edge.table, edge.is_open, offer, edge.dish))
        states = {state: before + i for i, state in enumerate(into)}
        before += len(states)
        n_states.append(len(states))
        per_state += [len(edges) for edges in into.values()]
        columns += [column for edges in into.values() for column in edges]
        if len(columns) > MOST_EDGES:
            raise OverflowError
    return _Document(np.array(n_states), np.array(per_state), np.array(columns, np.int64))


def log_seats(xp: Any, log_sticks: Any) -> Any:
    """Log probabilities of passing to a table and sitting down there; then of passing all before it.

    Parameters
    ----------
    xp : module
        NumPy, or JAX's.
    log_sticks : float (S, J, 2)
        log v and log (1 - v).

    Returns
    -------
    float (2 S J,)
    """
    passed = xp.cumsum(log_sticks[:, :, 1], axis=1) - log_sticks[:, :, 1]
    return xp.concatenate([(passed + log_sticks[:, :, 0]).ravel(), passed.ravel()])


def log_offers(xp: Any, zeta: Any, most_dishes: int) -> Any:
    """Log probabilities of the dish of a table: 0 for an old table; then one on offer, and a new one.

    Returns
    -------
    float (2 L + 3,)
    """
    on_offer = -xp.log(xp.arange(most_dishes + 1) + zeta)
    return xp.concatenate([xp.zeros(1), on_offer, on_offer + xp.log(zeta)])
