"""How well a fit predicts documents that it has not seen.

Predictive probabilities under each kept posterior draw are averaged over draws before their logarithm is
taken, since the draws are a mixture, not a committee.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import xarray as xr

from ...zoo.contract import FrozenTopics, Latents, Model
from ...zoo.corpus import Corpus
from ...zoo.inference.results import corpus_of, latents_of, model_of
from ...zoo.predictive import Predictive


@dataclass(frozen=True)
class HeldOut:
    """Score of held-out documents.

    Attributes
    ----------
    method : str
        ``"document completion"``, ``"left to right"`` or ``"empirical likelihood"``, and what it leaves out.
    log_p : float (P,)
        Natural logarithm of the probability of each token or, where documents are scored as wholes, document:
        what is averaged over posterior draws.
    doc_of : int (P,)
        Its document.
    n_scored : int (D,)
        Tokens scored in each document.
    n_draws : int
        Posterior draws that were averaged.
    """

    method: str
    log_p: np.ndarray
    doc_of: np.ndarray
    n_scored: np.ndarray
    n_draws: int

    @classmethod
    def of_documents(cls, method: str, log_p: np.ndarray, n_scored: np.ndarray, n_draws: int) -> "HeldOut":
        """Score of documents as wholes, `log_p` (D,)."""
        return cls(method, log_p, np.arange(log_p.size), n_scored, n_draws)

    @property
    def log_probability(self) -> np.ndarray:
        """Natural logarithm of each document's scored tokens, float (D,)."""
        return np.bincount(self.doc_of, weights=self.log_p, minlength=self.n_scored.size)

    @property
    def perplexity(self) -> float:
        """``exp(-sum log p / N)`` over the N scored tokens; lower is better, V is that of guessing."""
        return float(np.exp(-self.log_probability.sum() / self.n_scored.sum()))

    @property
    def standard_error(self) -> float:
        """Standard error of `perplexity` over the choice of test documents (delta method); NaN for one."""
        n_documents, n = np.count_nonzero(self.n_scored), self.n_scored.sum()
        if n_documents < 2:
            return np.nan
        residual = self.log_probability - self.n_scored * (self.log_probability.sum() / n)
        variance = np.sum(residual**2) * n_documents / (n_documents - 1)  # the mean is of the same documents
        return float(self.perplexity * np.sqrt(variance) / n)


def posterior_predictives(tree: xr.DataTree, test: Corpus, chain: int | None = None) -> Iterator[Predictive]:
    """Yield what each kept draw of a fit says of new documents, chain by chain.

    Parameters
    ----------
    tree : DataTree
        As `sample` returns it, with group ``latents``.
    test : Corpus
        The new documents.
    chain : int, optional
        Of this chain alone.

    Raises
    ------
    ValueError
        The vocabulary of `test` is not that of the fit.
    """
    for model, corpus, latents in _draws(tree, test, chain):
        yield model.predictive(latents, corpus)


def posterior_topics(tree: xr.DataTree, test: Corpus, chain: int | None = None) -> Iterator[FrozenTopics]:
    """Frozen topics at each kept draw of a fit, chain by chain; see `posterior_predictives`."""
    for model, corpus, latents in _draws(tree, test, chain):
        yield model.frozen_topics(latents, corpus)


def _draws(
    tree: xr.DataTree, test: Corpus, chain: int | None = None
) -> Iterator[tuple[Model, Corpus, Latents]]:
    model, corpus = model_of(tree), corpus_of(tree)
    if not np.array_equal(corpus.vocabulary, test.vocabulary):
        raise ValueError(
            f"test corpus: expected the vocabulary of the fit ({corpus.n_words} words in the same order), "
            f"found another ({test.n_words} words)"
        )
    for c, _, latents in latents_of(tree):
        if chain in (None, c):
            yield model, corpus, latents


def unigram(corpus: Corpus) -> FrozenTopics:
    """One topic with the word frequencies of `corpus`, each count raised by one: the model to beat."""
    counts = np.bincount(corpus.words, minlength=corpus.n_words) + 1.0
    return FrozenTopics(words=counts[None] / counts.sum(), prior=np.ones((1, 1)))


def split_documents(corpus: Corpus, seed: int = 0) -> tuple[Corpus, Corpus]:
    """Split each document's tokens at random into two halves.

    Returns
    -------
    observed, scored : Corpus
        The same documents, and all that is known of them; of n tokens, ``n // 2`` are observed.
    """
    rng = np.random.default_rng(seed)
    shuffled = np.lexsort((rng.random(corpus.n_tokens), corpus.doc_of))
    rank = np.arange(corpus.n_tokens) - corpus.doc_ptr[corpus.doc_of]
    observed = np.empty(corpus.n_tokens, bool)
    observed[shuffled] = rank < corpus.doc_lengths[corpus.doc_of] // 2
    return corpus.keep(observed), corpus.keep(~observed)


def document_completion(
    draws: Iterable[Predictive], test: Corpus, *, seed: int = 0, burn_in: int = 25, sweeps: int = 25
) -> HeldOut:
    """Predict half of each test document from its other half.

    Half of each document's tokens, at random, are observed; their topics are drawn under the frozen topics,
    by Gibbs sampling that begins where a particle filter ends, and the mean topic proportions θ predict the
    other half:
    ``p(w) = sum_k θ_k φ_kw`` (Wallach et al. 2009, Section 5.1; Asuncion et al. 2009).

    Parameters
    ----------
    draws : iterable of Predictive
        As from `posterior_predictives`; consumed one by one.
    test : Corpus
        Over the same vocabulary. A document of one token is predicted from the prior.
    seed : int
        Decides the halves and the fold-in; the same seed gives the same halves for every fit.
    burn_in, sweeps : int
        Gibbs sweeps for each document and draw: dropped, averaged.

    Raises
    ------
    ValueError
        No token to score, no draw, or draws that do not fit the corpus, such as no topics in a group.
    """
    observed, scored = split_documents(test, seed)
    if sweeps < 1 or burn_in < 0:
        raise ValueError(f"expected sweeps >= 1 and burn_in >= 0, found {sweeps} and {burn_in}")

    def predict(rng: np.random.Generator, draw: Predictive) -> np.ndarray:
        return draw.log_completion(observed, scored, rng, burn_in=burn_in, sweeps=sweeps)

    log_p, n_draws = average_over_draws(predict, draws, scored, seed)
    return HeldOut("document completion", log_p, scored.doc_of, scored.doc_lengths, n_draws)


def left_to_right(
    draws: Iterable[Predictive], test: Corpus, *, seed: int = 0, particles: int = 20
) -> HeldOut:
    """Estimate the probability of whole test documents, token by token from the left.

    The estimate of each document's probability under one draw is the mean over particles of the product of
    the conditional probabilities, which is unbiased (Buntine 2009); the product of the means over particles
    is not. Before a token is scored, at most `foldin.MOST_REDRAWN` of those before it are redrawn.

    Parameters
    ----------
    draws : iterable of Predictive
        As from `posterior_predictives`; consumed one by one.
    test : Corpus
        Over the same vocabulary.
    seed : int
    particles : int
        Independent estimates that are averaged for each document and draw.

    Raises
    ------
    ValueError
        No token to score, no draw, or draws that do not fit the corpus, such as no topics in a group.
    """
    if particles < 1:
        raise ValueError(f"expected at least 1 particle, found {particles}")

    def estimate(rng: np.random.Generator, draw: Predictive) -> np.ndarray:
        return draw.log_documents(test, rng, particles=particles)

    log_p, n_draws = average_over_draws(estimate, draws, test, seed)
    return HeldOut.of_documents("left to right", log_p, test.doc_lengths, n_draws)


def average_over_draws[P: Predictive](
    log_probability: Callable[[np.random.Generator, P], np.ndarray],
    draws: Iterable[P],
    scored: Corpus,
    seed: int,
) -> tuple[np.ndarray, int]:
    """Average probabilities over posterior draws.

    Parameters
    ----------
    log_probability : (rng, draw) -> float (n,)
        Logarithms under one draw.
    draws : iterable of Predictive
    scored : Corpus
    seed : int

    Returns
    -------
    float (n,), int
        Logarithms of the means, and the number of draws.
    """
    if scored.n_tokens == 0:
        raise ValueError("test corpus: expected at least one token to score, found none")
    total, n_draws = None, 0
    for number, draw in enumerate(draws):
        draw.check(scored)
        log_p = log_probability(np.random.default_rng([seed, number]), draw)
        total = log_p if total is None else np.logaddexp(total, log_p)
        n_draws = number + 1
    if total is None:
        raise ValueError("topics: expected at least one posterior draw, found none")
    return total - np.log(n_draws), n_draws
