"""References of models of documents with responses: the topics of short documents enumerated.

A response depends on the topics of all tokens of its document together, so that these are summed out as a
whole: for each document there is a row for every way in which its words can have topics, and how many values
of the tokens' topics it stands for.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from scipy.special import gammaln

from ...contract import Hyperparameter
from ...corpus import Corpus, CorpusError
from .responses import Response

MOST_ROWS = 100_000
"""Of all documents together."""


class Rows(NamedTuple):
    """All ways in which the words of documents can have topics.

    Attributes
    ----------
    first : int (D + 1,)
        Document d has rows ``first[d]:first[d + 1]``.
    counts : int (R, K, V)
        How often each word has each topic.
    log_ways : float (R,)
        Log of how many values of the tokens' topics these are.
    shares : float (R, K)
        Of the topics in the document.
    """

    first: np.ndarray
    counts: np.ndarray
    log_ways: np.ndarray
    shares: np.ndarray

    @property
    def document(self) -> np.ndarray:
        """Document of each row, int (R,)."""
        return np.repeat(np.arange(self.first.size - 1), np.diff(self.first))


def _splits(n: int, n_topics: int) -> np.ndarray:
    """All ways to give `n` tokens of one word to topics, by their numbers, int (ways, K)."""
    bars = [c for c in product(range(n + 1), repeat=n_topics - 1) if sum(c) <= n]
    return np.array([(*c, n - sum(c)) for c in bars], np.int64).reshape(-1, n_topics)


@lru_cache(maxsize=4)
def rows_of(corpus: Corpus, n_topics: int, label: str) -> Rows:
    """Rows of a corpus.

    Raises
    ------
    CorpusError
        There are more than `MOST_ROWS`.
    """
    each, n_rows = [], 0
    for row in corpus.counts():
        words = np.flatnonzero(row)
        ways = [_splits(int(row[w]), n_topics) for w in words]
        n_rows += int(np.prod([len(way) for way in ways], dtype=float))
        if n_rows > MOST_ROWS:
            raise CorpusError(
                f"{label}: references enumerate the topics of a document's tokens; expected at most "
                f"{MOST_ROWS:,} ways, found more: take shorter documents, fewer topics, or a kernel"
            )
        counts = np.zeros((1, n_topics, corpus.n_words), np.int64)
        for w, way in zip(words, ways, strict=True):
            counts = np.repeat(counts, len(way), axis=0)
            counts[:, :, w] = np.tile(way, (len(counts) // len(way), 1))
        each.append(counts)
    counts = np.concatenate(each) if each else np.zeros((0, n_topics, corpus.n_words), np.int64)
    by_topic = counts.sum(axis=2)
    log_ways = np.sum(gammaln(counts.sum(axis=1) + 1.0), axis=1) - np.sum(gammaln(counts + 1.0), axis=(1, 2))
    return Rows(
        np.cumsum([0, *map(len, each)]),
        counts,
        log_ways,
        by_topic / np.maximum(by_topic.sum(axis=1, keepdims=True), 1),
    )


def numpyro(
    rows: Rows,
    values: np.ndarray,
    responses: tuple[Response, ...],
    hyper: Mapping[str, Hyperparameter],
    documents: Callable[[], Any],
    topics: Callable[[], tuple[Any, np.ndarray]],
) -> Callable[[], None]:
    """Words and responses given proportions and topics.

    Parameters
    ----------
    rows : Rows
    values : float (D, R)
        Of the responses; NaN where a document has none.
    responses : tuple of Response
    hyper : mapping of str to float or Gamma
        The three precisions.
    documents, topics : callable
        Parts of the program that return log proportions (D, K), and log topics (1, K, V) and groups.

    Returns
    -------
    callable
        NumPyro program with sites ``intercept`` (P,), ``coefficient`` (P, K), the precisions, and those of
        its parts.
    """

    def program() -> None:
        import jax.numpy as jnp
        import numpyro
        import numpyro.distributions as dist
        from jax.scipy.special import logsumexp

        from ...toolbox import blocks

        log_theta, (log_phi, _) = documents(), topics()
        n_numbers = sum(response.is_number for response in responses)
        of = np.repeat(np.arange(len(responses)), [response.n_predictors for response in responses])
        of_intercept = blocks.log_hyperparameter(
            "intercept_precision", hyper["intercept_precision"], len(responses)
        )
        of_weight = blocks.log_hyperparameter("precision", hyper["precision"], len(responses))
        of_error = blocks.log_hyperparameter("noise_precision", hyper["noise_precision"], n_numbers)
        law = dist.Normal().expand((of.size, rows.shares.shape[1] + 1)).to_event()
        standard = jnp.asarray(numpyro.sample("standard_coefficients", law))
        base = jnp.exp(-0.5 * of_intercept[of]) * standard[:, 0]
        weight = jnp.exp(-0.5 * of_weight[of])[:, None] * standard[:, 1:]
        numpyro.deterministic("intercept", base)
        numpyro.deterministic("coefficient", weight)

        predictors = base + rows.shares @ weight.T
        log_p = rows.log_ways + jnp.sum(rows.counts.sum(axis=2) * log_theta[rows.document], axis=1)
        log_p += jnp.sum(rows.counts * log_phi[0], axis=(1, 2))
        first = number = 0
        for r, response in enumerate(responses):
            y = values[rows.document, r]
            known = ~np.isnan(y)
            own = predictors[:, first : first + response.n_predictors]
            if response.is_number:
                error = jnp.where(known, np.nan_to_num(y) - own[:, 0], 0.0)
                normaliser = 0.5 * (of_error[number] - np.log(2.0 * np.pi))
                log_y = normaliser - 0.5 * jnp.exp(of_error[number]) * error**2
                number += 1
            elif response.hinge is not None:
                of_predictor = np.arange(len(response.values))[-response.n_predictors :]
                side = np.where(np.nan_to_num(y)[:, None] == of_predictor, 1.0, -1.0)
                loss = jnp.maximum(0.0, response.hinge.margin - side * own)
                log_y = -2.0 * response.hinge.cost * loss.sum(axis=1)
            else:
                logits = jnp.pad(own, ((0, 0), (1, 0)))
                of_value = logits[np.arange(len(y)), np.nan_to_num(y).astype(int)]
                log_y = of_value - logsumexp(logits, axis=1)
            log_p += jnp.where(known, log_y, 0.0)
            first += response.n_predictors
        for start, end in zip(rows.first[:-1], rows.first[1:], strict=True):
            numpyro.factor(f"document_{start}", logsumexp(log_p[start:end]))

    return program


def stan_data(rows: Rows, values: np.ndarray, responses: tuple[Response, ...]) -> dict[str, Any]:
    """Return what the Stan program asks of rows and responses."""
    is_number = np.array([response.is_number for response in responses], bool)
    known = ~np.isnan(values)
    hinges = np.reshape([response.hinge or (0.0, 0.0) for response in responses], (-1, 2))
    return {
        "R": len(responses),
        "first_predictor": np.cumsum([1, *(response.n_predictors for response in responses)]),
        "number": np.where(is_number, np.cumsum(is_number), 0),
        "cost": hinges[:, 0],
        "margin": hinges[:, 1],
        "known": known.astype(int),
        "y": np.where(known & is_number, np.nan_to_num(values), 0.0),
        "category": np.where(known & ~is_number, np.nan_to_num(values), 0.0).astype(int) + 1,
        "n_rows": len(rows.counts),
        "first_row": rows.first + 1,
        "row_counts": rows.counts.sum(axis=2),
        "row_words": rows.counts.reshape(len(rows.counts), -1),
        "row_log_ways": rows.log_ways,
        "row_shares": rows.shares,
    }


def assignments_of(n_tokens: int, n_topics: int) -> np.ndarray:
    """All topics that a document's tokens can have, int (A, n)."""
    return np.array(list(product(range(n_topics), repeat=n_tokens)), np.int64).reshape(-1, n_tokens)
