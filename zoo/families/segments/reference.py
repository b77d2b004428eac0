"""References of models of sentences: the dishes of short documents enumerated, as data of the programs.

Every value of a document's dishes is a row. Its log probability is a constant and a product of numbers of
the row, which are data, and of logarithms that depend on hyperparameters alone: ratios of gamma and beta
functions whose arguments differ by whole numbers are products of x, x + 1, ... for a few numbers x. Given
dishes, a token of word w at dish l has probability ``sum_k phi_dlk lambda_kw``; so a row also has how often
each word occurs at each dish.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ...contract import Hyperparameter, Latents
from ...corpus import Corpus, CorpusError
from ...toolbox.draws import draw_categorical
from .order import Seating

MOST_ROWS = 100_000
"""Of all documents together."""


class Listing(NamedTuple):
    """All dishes that the tokens of one document can have.

    Attributes
    ----------
    tokens : dict of str to int (R, n)
        By name of the latent, in the order of the corpus; ``dish`` is one.
    powers : tuple of int (R, .)
        By kind of logarithm, see `Rows.law`.
    log_constant : float (R,)
        What no hyperparameter has a part in.
    """

    tokens: dict[str, np.ndarray]
    powers: tuple[np.ndarray, ...]
    log_constant: np.ndarray


class Rows(NamedTuple):
    """All dishes of all documents of a corpus.

    Attributes
    ----------
    first : int (D + 1,)
        Document d has rows ``first[d]:first[d + 1]``.
    tokens : tuple of dict of str to int (rows, n)
        Of each document, as `Listing` has them.
    law : int (R, sum of widths)
        What the logarithms are multiplied by.
    widths : tuple of int
        Columns of `law` by kind: those of x, x + 1, ... for each of the numbers x that a model has.
    log_constant : float (R,)
    words : int (R, L V)
        How often each word occurs at each dish.
    """

    first: np.ndarray
    tokens: tuple[dict[str, np.ndarray], ...]
    law: np.ndarray
    widths: tuple[int, ...]
    log_constant: np.ndarray
    words: np.ndarray

    def log_law(self, xp: Any, starts: Sequence[Any], own: slice = slice(None)) -> Any:
        """Log probabilities of rows at the numbers that the model has; `xp` is NumPy, or JAX's."""
        factors = [xp.log(xp.arange(n) + x) for n, x in zip(self.widths, starts, strict=True)]
        return self.log_constant[own] + self.law[own] @ xp.concatenate(factors)


def rows_of(
    corpus: Corpus,
    seats: Seating,
    listing: Callable[..., Listing],
    limits: tuple[int, ...],
    label: str,
) -> Rows:
    """Enumerate the dishes of all documents.

    Parameters
    ----------
    corpus, seats
    listing : (seats, *limits) -> Listing
        Of one document.
    limits : tuple of int
        The first is how many dishes a document may have.
    label : str
        Of the model, for the error.

    Raises
    ------
    CorpusError
        A document has too many tokens.
    """
    numbers = np.array([_number_of_rows(int(n), limits[0]) for n in corpus.doc_lengths])
    if numbers.sum() > MOST_ROWS:
        longest = int(np.argmax(numbers))
        raise CorpusError(
            f"{label}: its references enumerate the dishes of each document: expected at most {MOST_ROWS:,} "
            f"rows, found {numbers.sum():,}; document {longest} has {corpus.doc_lengths[longest]} tokens"
        )
    key = (tuple(corpus.words.tolist()), tuple(corpus.doc_ptr.tolist()), corpus.n_words)
    places = (tuple(seats.sentence.tolist()), tuple(seats.time.tolist()))
    return _rows(*key, *places, listing, limits)


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
    listing: Callable[..., Listing],
    limits: tuple[int, ...],
) -> Rows:
    all_seats = Seating(np.zeros(len(words), np.int64), np.array(sentence, int), np.array(time, int))
    found = [
        listing(Seating(*(x[start:end] for x in all_seats)), *limits) for start, end in pairwise(doc_ptr)
    ]
    tokens = tuple(one.tokens for one in found)
    first = np.concatenate([[0], np.cumsum([len(one.log_constant) for one in found])])
    kinds = [_joined(parts) for parts in zip(*(one.powers for one in found), strict=True)]
    emitted = np.zeros((int(first[-1]), limits[0] * n_words), np.int64)
    for of_document, at, start in zip(tokens, first[:-1], doc_ptr[:-1], strict=True):
        dish = of_document["dish"]
        row, token = np.indices(dish.shape)
        own = np.array(words[start : start + dish.shape[1]], int)
        np.add.at(emitted, (at + row, dish * n_words + own[token]), 1)
    return Rows(
        first,
        tokens,
        np.hstack(kinds).astype(np.int64),
        tuple(kind.shape[1] for kind in kinds),
        np.concatenate([one.log_constant for one in found]),
        emitted,
    )


def _joined(parts: Sequence[np.ndarray]) -> np.ndarray:
    """Rows of all documents, with as many columns as the widest has."""
    width = max(part.shape[1] for part in parts)
    return np.vstack([np.pad(part, ((0, 0), (0, width - part.shape[1]))) for part in parts])


def rising(n: np.ndarray, row: np.ndarray, n_rows: int) -> np.ndarray:
    """Powers of x, x + 1, ... in the product of all x (x + 1) ... (x + n - 1) of a row, int (R, most)."""
    out = [np.bincount(row[n > i], minlength=n_rows) for i in range(int(n.max(initial=0)))]
    return np.array(out, np.int64).reshape(-1, n_rows).T


def program(
    rows: Rows,
    n_words: int,
    n_topics: int,
    hyper: Mapping[str, Hyperparameter],
    starts: Callable[[Mapping[str, Any]], Sequence[Any]],
) -> Callable[[], None]:
    """NumPyro program; its sites are ``dishes`` (D L, K), ``phi`` (K, V) and the hyperparameters.

    Parameters
    ----------
    rows : Rows
    n_words, n_topics : int
    hyper : mapping of str to float or Prior
    starts : (values of hyperparameters) -> numbers
        See `Rows.widths`.
    """
    n_documents = len(rows.tokens)
    n_dishes = rows.words.shape[1] // n_words

    def numpyro_program() -> None:
        import jax.numpy as jnp
        import numpyro
        from jax.scipy.special import logsumexp

        from ...toolbox import blocks

        smoothings = ("kappa", "eta")
        at = starts(
            {name: blocks.hyperparameter(name, hyper[name]) for name in hyper if name not in smoothings}
        )
        log_kappa, log_eta = (blocks.log_hyperparameter(name, hyper[name]) for name in smoothings)
        log_dishes = blocks.log_dirichlet("dishes", log_kappa, (n_documents * n_dishes, n_topics))
        log_phi = blocks.log_dirichlet("phi", log_eta, (n_topics, n_words))
        log_law = rows.log_law(jnp, at)
        log_words = logsumexp(log_dishes[:, :, None] + log_phi, axis=1).reshape(n_documents, -1)
        for d in range(n_documents):
            own = slice(rows.first[d], rows.first[d + 1])
            numpyro.factor(f"words {d}", logsumexp(log_law[own] + rows.words[own] @ log_words[d]))

    return numpyro_program


def stan_rows(rows: Rows, n_words: int) -> dict[str, Any]:
    """Return what a Stan program asks for but hyperparameters and the number of topics."""
    return {
        "D": len(rows.tokens),
        "V": n_words,
        "L": rows.words.shape[1] // n_words,
        "R": len(rows.law),
        "widths": list(rows.widths),
        "first_row": rows.first + 1,
        "law": rows.law,
        "log_constant": rows.log_constant,
        "words": rows.words,
    }


def latents_at(
    draw: Mapping[str, np.ndarray],
    rows: Rows,
    corpus: Corpus,
    hyper: Iterable[str],
    starts: Callable[[Mapping[str, Any]], Sequence[Any]],
    rng: np.random.Generator,
) -> Latents:
    """Draw dishes and topics of tokens given the parameters at one draw."""
    values = {name: np.asarray(draw[name]) for name in hyper}
    log_law = rows.log_law(np, starts({name: float(value) for name, value in values.items()}))
    dishes = draw["dishes"].reshape(corpus.n_documents, -1, draw["phi"].shape[0])
    out = {name: np.zeros(corpus.n_tokens, np.int64) for name in ("z", *rows.tokens[0])}
    for d in np.flatnonzero(corpus.doc_lengths):
        own, tokens = slice(rows.first[d], rows.first[d + 1]), slice(corpus.doc_ptr[d], corpus.doc_ptr[d + 1])
        log_words = np.log(dishes[d] @ draw["phi"]).ravel()
        log_p = log_law[own] + rows.words[own] @ log_words
        row = draw_categorical(np.exp(log_p - log_p.max())[None], rng)[0]
        for name, values_of_rows in rows.tokens[d].items():
            out[name][tokens] = values_of_rows[row]
        weights = dishes[d][out["dish"][tokens]] * draw["phi"].T[corpus.words[tokens]]
        out["z"][tokens] = draw_categorical(weights, rng)
    return out | values
