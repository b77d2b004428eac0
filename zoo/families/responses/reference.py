"""References of models of documents with responses: topics of a document's tokens summed out together.

A response depends on how many tokens of its document have each topic. Let ``p_i(n)`` be the probability of
the first i words of a document and of n_k of their tokens having topic k. Then

    p_i(n) = sum_k theta_k phi_k,w_i p_{i-1}(n - e_k),

and each n that sums to the length has its own likelihood of the responses.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache
from math import comb
from typing import Any, NamedTuple

import numpy as np
from scipy.special import logsumexp as log_sum

from ...contract import Hyperparameter
from ...corpus import Corpus, CorpusError
from ...toolbox.draws import draw_categorical
from .responses import Response

MOST_COUNTS = 100_000
"""Ways in which the tokens of a document can be counted by topic."""


class Counts(NamedTuple):
    """All ways in which so many tokens can be counted by topic, for each number of tokens up to a largest.

    Attributes
    ----------
    of : list of int (S_i, K)
        Counts of i tokens.
    before : list of int (S_i, K)
        Place of the counts without a token of topic k among those of i - 1 tokens; S_(i - 1), one place too
        far, where there is no such token.
    """

    of: list[np.ndarray]
    before: list[np.ndarray]


@lru_cache(maxsize=4)
def counts_of(most_tokens: int, n_topics: int) -> Counts:
    """Count up to so many tokens in all ways."""
    of, before = [np.zeros((1, n_topics), np.int64)], [np.zeros((1, n_topics), np.int64)]
    for _ in range(most_tokens):
        one_more = (of[-1][:, None] + np.eye(n_topics, dtype=np.int64)).reshape(-1, n_topics)
        of.append(np.unique(one_more, axis=0))
        place = {tuple(n): s for s, n in enumerate(of[-2].tolist())}
        without = (of[-1][:, None] - np.eye(n_topics, dtype=np.int64)).tolist()
        before.append(np.array([[place.get(tuple(n), len(place)) for n in each] for each in without]))
    return Counts(of, before)


def counts_in(corpus: Corpus, n_topics: int, label: str) -> Counts:
    """Count up to as many tokens as the longest document has.

    Raises
    ------
    CorpusError
        Of that document there are more than `MOST_COUNTS`.
    """
    longest = int(corpus.doc_lengths.max(initial=0))
    if comb(longest + n_topics - 1, n_topics - 1) > MOST_COUNTS:
        raise CorpusError(
            f"{label}: references count the tokens of a document by topic in all ways; expected at most "
            f"{MOST_COUNTS:,}, found more: take shorter documents, fewer topics, or a kernel"
        )
    return counts_of(longest, n_topics)


def numpyro(
    corpus: Corpus,
    counts: Counts,
    values: np.ndarray,
    responses: tuple[Response, ...],
    hyper: Mapping[str, Hyperparameter],
    documents: Callable[[], Any],
    topics: Callable[[], tuple[Any, np.ndarray]],
) -> Callable[[], None]:
    """Words and responses given proportions and topics.

    Parameters
    ----------
    corpus : Corpus
    counts : Counts
        Of as many tokens as the longest document has.
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
        law = dist.Normal().expand((of.size, counts.of[0].shape[1] + 1)).to_event()
        standard = jnp.asarray(numpyro.sample("standard_coefficients", law))
        base = jnp.exp(-0.5 * of_intercept[of]) * standard[:, 0]
        weight = jnp.exp(-0.5 * of_weight[of])[:, None] * standard[:, 1:]
        numpyro.deterministic("intercept", base)
        numpyro.deterministic("coefficient", weight)

        def log_likelihood(y: np.ndarray, psi: Any) -> Any:
            """Of one document's responses, at predictors (S, P)."""
            out, first, number = 0.0, 0, 0
            for response, value in zip(responses, y, strict=True):
                own = psi[:, first : first + response.n_predictors]
                if np.isnan(value):
                    pass
                elif response.is_number:
                    error = value - own[:, 0]
                    normaliser = 0.5 * (of_error[number] - np.log(2.0 * np.pi))
                    out += normaliser - 0.5 * jnp.exp(of_error[number]) * error**2
                elif response.hinge is not None:
                    of_predictor = np.arange(len(response.values))[-response.n_predictors :]
                    side = np.where(value == of_predictor, 1.0, -1.0)
                    loss = jnp.maximum(0.0, response.hinge.margin - side * own)
                    out += -2.0 * response.hinge.cost * loss.sum(axis=1)
                else:
                    logits = jnp.pad(own, ((0, 0), (1, 0)))
                    out += logits[:, int(value)] - logsumexp(logits, axis=1)
                first += response.n_predictors
                number += response.is_number
            return out

        for d, words in enumerate(np.split(corpus.words, corpus.doc_ptr[1:-1])):
            log_p = jnp.zeros(1)
            for i, word in enumerate(words, start=1):
                before = jnp.append(log_p, -jnp.inf)[counts.before[i]]
                log_p = logsumexp(before + log_theta[d] + log_phi[0][:, word], axis=1)
            psi = base + counts.of[words.size] / max(1, words.size) @ weight.T
            numpyro.factor(f"document_{d}", logsumexp(log_p + log_likelihood(values[d], psi)))

    return program


def draw_labels(
    counts: Counts,
    log_p: np.ndarray,
    log_likelihood: Callable[[np.ndarray], np.ndarray],
    rng: np.random.Generator,
) -> np.ndarray:
    """Draw the topics of a document's tokens, given words and responses, int (n,).

    Parameters
    ----------
    counts : Counts
    log_p : float (n, K)
        Log probability of each token's topic and word.
    log_likelihood : (shares (S, K)) -> float (S,)
        Of the responses, given shares of topics.
    rng : numpy.random.Generator
    """
    n, levels = len(log_p), [np.zeros(1)]
    for i in range(1, n + 1):
        before = np.append(levels[-1], -np.inf)[counts.before[i]]
        levels.append(np.asarray(log_sum(before + log_p[i - 1], axis=1)))
    s = _draw(levels[n] + log_likelihood(counts.of[n] / max(1, n)), rng)
    z = np.empty(n, np.int64)
    for i in range(n, 0, -1):
        before = counts.before[i][s]
        z[i - 1] = _draw(np.append(levels[i - 1], -np.inf)[before] + log_p[i - 1], rng)
        s = before[z[i - 1]]
    return z


def _draw(log_weights: np.ndarray, rng: np.random.Generator) -> int:
    return int(draw_categorical(np.exp(log_weights - log_weights.max())[None], rng)[0])


def stan_data(
    counts: Counts, values: np.ndarray, responses: tuple[Response, ...], corpus: Corpus
) -> dict[str, Any]:
    """Return what the Stan program asks of tokens, counts and responses."""
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
        "n_tokens": corpus.n_tokens,
        "first_token": corpus.doc_ptr + 1,
        "word": corpus.words + 1,
        "most_tokens": len(counts.of) - 1,
        "first_count": np.cumsum([1, *map(len, counts.of)]),
        "n_counts": sum(map(len, counts.of)),
        "topic_count": np.concatenate(counts.of),
        "count_before": np.concatenate(counts.before) + 1,
    }
