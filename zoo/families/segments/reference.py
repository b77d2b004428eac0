"""References of models of sentences: the dishes of short documents enumerated, as data of the programs.

Every value of a document's dishes is a row. Its log probability is a product of numbers of the row, which are
data, and of logarithms that depend on hyperparameters alone (see `law`): of zeta; of K + zeta for each number
K of dishes on offer; and, as ratios of beta functions are products, of a + i, b + i and a + b + i. Given
dishes, a token of word w at dish l has probability ``sum_k phi_dlk lambda_kw``; so a row also has how often
each word occurs at each dish.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache
from itertools import chain, pairwise
from typing import Any, NamedTuple

import numpy as np

from ...contract import Hyperparameter, Latents
from ...corpus import Corpus, CorpusError
from ...toolbox.draws import draw_categorical
from .law import Tables, partitions
from .order import Seating

MOST_ROWS = 100_000
"""Of all documents together."""


class Rows(NamedTuple):
    """All dishes of all documents of a corpus.

    Attributes
    ----------
    first : int (D + 1,)
        Document d has rows ``first[d]:first[d + 1]``.
    dishes : tuple of int (rows, n)
        Of each document, in the order of the corpus.
    law : int (R, sum of widths)
        What the logarithms are multiplied by.
    widths : tuple of int (5,)
        Columns of `law` for zeta, for K + zeta from K = 0 on, and for a + i, b + i, a + b + i from i = 0 on.
    words : int (R, L V)
        How often each word occurs at each dish.
    """

    first: np.ndarray
    dishes: tuple[np.ndarray, ...]
    law: np.ndarray
    widths: tuple[int, ...]
    words: np.ndarray

    def log_factors(self, xp: Any, a: Any, b: Any, zeta: Any) -> Any:
        """Logarithms that `law` multiplies, in the order of its columns; `xp` is NumPy, or JAX's."""
        starts = (zeta, zeta, a, b, a + b)
        return xp.concatenate(
            [xp.log(xp.arange(n) + start) for n, start in zip(self.widths, starts, strict=True)]
        )


def rows_of(corpus: Corpus, seats: Seating, most_tables: int, most_dishes: int, label: str) -> Rows:
    """Enumerate the dishes of all documents; at most `most_dishes` a document, and so many tables a sentence.

    Raises
    ------
    CorpusError
        A document has too many tokens.
    """
    numbers = np.array([_number_of_rows(int(n), most_dishes) for n in corpus.doc_lengths])
    if numbers.sum() > MOST_ROWS:
        longest = int(np.argmax(numbers))
        raise CorpusError(
            f"{label}: its references enumerate the dishes of each document: expected at most {MOST_ROWS:,} "
            f"rows, found {numbers.sum():,}; document {longest} has {corpus.doc_lengths[longest]} tokens"
        )
    key = (tuple(corpus.words.tolist()), tuple(corpus.doc_ptr.tolist()), corpus.n_words)
    places = (tuple(seats.sentence.tolist()), tuple(seats.time.tolist()))
    return _rows(*key, *places, most_tables, most_dishes)


def _number_of_rows(n_tokens: int, most_dishes: int) -> int:
    """How many partitions of the tokens there are, cut off beyond what is allowed."""
    row = [1] + [0] * min(most_dishes, n_tokens)
    for _ in range(n_tokens):
        row = [0] + [row[j - 1] + j * row[j] for j in range(1, len(row))]
        if sum(row) > MOST_ROWS:
            break
    return sum(row)


@lru_cache(maxsize=4)
def _rows(
    words: tuple[int, ...],
    doc_ptr: tuple[int, ...],
    n_words: int,
    sentence: tuple[int, ...],
    time: tuple[int, ...],
    most_tables: int,
    most_dishes: int,
) -> Rows:
    all_seats = Seating(np.zeros(len(words), np.int64), np.array(sentence, int), np.array(time, int))
    found = [
        partitions(Seating(*(x[start:end] for x in all_seats)), most_tables, most_dishes)
        for start, end in pairwise(doc_ptr)
    ]
    dishes = tuple(one.dish for one in found)
    first = np.concatenate([[0], np.cumsum([len(rows) for rows in dishes])])
    tables = [
        one.tables._replace(document=one.tables.document + at) for one, at in zip(found, first, strict=False)
    ]
    joined = Tables(*(np.concatenate(parts) for parts in zip(*tables, strict=True)))
    law, widths = _features(joined, int(first[-1]))
    emitted = np.zeros((int(first[-1]), most_dishes * n_words), np.int64)
    for rows, at, start in zip(dishes, first[:-1], doc_ptr[:-1], strict=True):
        row, token = np.indices(rows.shape)
        own = np.array(words[start : start + rows.shape[1]], int)
        np.add.at(emitted, (at + row, rows * n_words + own[token]), 1)
    return Rows(first, dishes, law, widths, emitted)


def _features(tables: Tables, n_rows: int) -> tuple[np.ndarray, tuple[int, ...]]:
    """Count what the logarithms are multiplied by, and how many there are of each kind; see `Rows`."""

    def by_row(values: np.ndarray) -> np.ndarray:
        return np.bincount(tables.document, values, minlength=n_rows)

    def rising(n: np.ndarray) -> list[np.ndarray]:
        return [by_row(n > i) for i in range(int(n.max(initial=0)))]

    offers = [by_row(tables.offered == k) for k in range(int(tables.offered.max(initial=0)) + 1)]
    parts = [
        [by_row(tables.is_new)],
        [-times for times in offers],
        rising(tables.size - 1),
        rising(tables.later),
        [-times for times in rising(tables.size - 1 + tables.later)],
    ]
    return np.column_stack(list(chain(*parts))).astype(np.int64), tuple(map(len, parts))


def program(
    rows: Rows, n_words: int, n_topics: int, hyper: Mapping[str, Hyperparameter]
) -> Callable[[], None]:
    """NumPyro program; its sites are ``dishes`` (D L, K), ``phi`` (K, V) and the hyperparameters.

    Parameters
    ----------
    rows : Rows
    n_words, n_topics : int
    hyper : mapping of str to float or Gamma
    """
    n_documents = len(rows.dishes)
    n_dishes = rows.words.shape[1] // n_words

    def numpyro_program() -> None:
        import jax.numpy as jnp
        import numpyro
        from jax.scipy.special import logsumexp

        from ...toolbox import blocks

        a, b, zeta = (blocks.hyperparameter(name, hyper[name]) for name in ("a", "b", "zeta"))
        log_kappa, log_eta = (blocks.log_hyperparameter(name, hyper[name]) for name in ("kappa", "eta"))
        log_dishes = blocks.log_dirichlet("dishes", log_kappa, (n_documents * n_dishes, n_topics))
        log_phi = blocks.log_dirichlet("phi", log_eta, (n_topics, n_words))
        factors = rows.log_factors(jnp, a, b, zeta)
        log_words = logsumexp(log_dishes[:, :, None] + log_phi, axis=1).reshape(n_documents, -1)
        for d in range(n_documents):
            own = slice(rows.first[d], rows.first[d + 1])
            log_p = rows.law[own] @ factors + rows.words[own] @ log_words[d]
            numpyro.factor(f"words {d}", logsumexp(log_p))

    return numpyro_program


def stan_rows(rows: Rows, n_words: int) -> dict[str, Any]:
    """Return what the Stan program asks for but hyperparameters and the number of topics."""
    return {
        "D": len(rows.dishes),
        "V": n_words,
        "L": rows.words.shape[1] // n_words,
        "R": len(rows.law),
        "widths": list(rows.widths),
        "first_row": rows.first + 1,
        "law": rows.law,
        "words": rows.words,
    }


def latents_at(
    draw: Mapping[str, np.ndarray], rows: Rows, corpus: Corpus, rng: np.random.Generator
) -> Latents:
    """Draw dishes and topics of tokens given the parameters at one draw."""
    factors = rows.log_factors(np, *(float(draw[name]) for name in ("a", "b", "zeta")))
    dishes = draw["dishes"].reshape(corpus.n_documents, -1, draw["phi"].shape[0])
    dish, z = np.zeros(corpus.n_tokens, np.int64), np.zeros(corpus.n_tokens, np.int64)
    for d in np.flatnonzero(corpus.doc_lengths):
        own, tokens = slice(rows.first[d], rows.first[d + 1]), slice(corpus.doc_ptr[d], corpus.doc_ptr[d + 1])
        log_words = np.log(dishes[d] @ draw["phi"]).ravel()
        log_p = rows.law[own] @ factors + rows.words[own] @ log_words
        row = draw_categorical(np.exp(log_p - log_p.max())[None], rng)[0]
        dish[tokens] = rows.dishes[d][row]
        weights = dishes[d][dish[tokens]] * draw["phi"].T[corpus.words[tokens]]
        z[tokens] = draw_categorical(weights, rng)
    hyper = {name: np.asarray(draw[name]) for name in ("a", "b", "zeta", "kappa", "eta")}
    return {"z": z, "dish": dish} | hyper
