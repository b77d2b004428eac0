"""How well a fit predicts documents that it has not seen.

Topics and document prior are frozen at each kept posterior draw; predictive probabilities are averaged
over draws before their logarithm is taken, since the draws are a mixture, not a committee.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import xarray as xr
from scipy.special import logsumexp

from ..kernels import foldin
from ..zoo.contract import FrozenTopics
from ..zoo.corpus import Corpus
from ..zoo.inference.results import corpus_of, latents_of, model_of


@dataclass(frozen=True)
class HeldOut:
    """Score of held-out documents.

    Attributes
    ----------
    method : str
        ``"document completion"``, ``"left to right"`` or ``"empirical likelihood"``.
    log_probability : float (D,)
        Natural logarithm of each document's scored tokens.
    n_scored : int (D,)
        Tokens scored in each document.
    n_draws : int
        Posterior draws that were averaged.
    """

    method: str
    log_probability: np.ndarray
    n_scored: np.ndarray
    n_draws: int

    @property
    def perplexity(self) -> float:
        """``exp(-sum log p / N)`` over the N scored tokens; lower is better, V is that of guessing."""
        return float(np.exp(-self.log_probability.sum() / self.n_scored.sum()))

    @property
    def standard_error(self) -> float:
        """Standard error of `perplexity` over the choice of test documents (delta method); NaN for one."""
        if np.count_nonzero(self.n_scored) < 2:
            return np.nan
        n = self.n_scored.sum()
        residual = self.log_probability - self.n_scored * (self.log_probability.sum() / n)
        return float(self.perplexity * np.sqrt(np.sum(residual**2)) / n)


def posterior_topics(tree: xr.DataTree, test: Corpus) -> Iterator[FrozenTopics]:
    """Frozen topics at each kept draw of a fit, chain by chain.

    Parameters
    ----------
    tree : DataTree
        As `sample` returns it, with group ``latents``.
    test : Corpus
        What the topics are meant for.

    Raises
    ------
    ValueError
        The vocabulary of `test` is not that of the fit.
    """
    model, corpus = model_of(tree), corpus_of(tree)
    if not np.array_equal(corpus.vocabulary, test.vocabulary):
        raise ValueError(
            f"test corpus: expected the vocabulary of the fit ({corpus.n_words} words in the same order), "
            f"found another ({test.n_words} words)"
        )
    for _, _, latents in latents_of(tree):
        yield model.frozen_topics(latents, corpus)


def unigram(corpus: Corpus) -> FrozenTopics:
    """One topic with the word frequencies of `corpus`, each count raised by one: the model to beat."""
    counts = np.bincount(corpus.words, minlength=corpus.n_words) + 1.0
    return FrozenTopics(words=counts[None] / counts.sum(), prior=np.ones((1, 1)))


def split_documents(corpus: Corpus, seed: int = 0) -> tuple[Corpus, Corpus]:
    """Split each document's tokens at random into two halves.

    Returns
    -------
    observed, scored : Corpus
        The same documents; of n tokens, ``n // 2`` are observed.
    """
    rng = np.random.default_rng(seed)
    shuffled = np.lexsort((rng.random(corpus.n_tokens), corpus.doc_of))
    rank = np.arange(corpus.n_tokens) - corpus.doc_ptr[corpus.doc_of]
    first = rank < corpus.doc_lengths[corpus.doc_of] // 2

    def part(tokens: np.ndarray) -> Corpus:
        lengths = np.bincount(corpus.doc_of[tokens], minlength=corpus.n_documents)
        return Corpus(
            words=corpus.words[np.sort(tokens)],
            doc_ptr=np.concatenate([[0], np.cumsum(lengths)]),
            vocabulary=corpus.vocabulary,
            group=corpus.group,
            group_names=corpus.group_names,
        )

    return part(shuffled[first]), part(shuffled[~first])


def document_completion(
    topics: Iterable[FrozenTopics], test: Corpus, *, seed: int = 0, burn_in: int = 25, sweeps: int = 25
) -> HeldOut:
    """Predict half of each test document from its other half.

    Half of each document's tokens, at random, are observed; their topics are drawn by Gibbs sampling under
    the frozen topics, and the mean topic proportions θ predict the other half:
    ``p(w) = sum_k θ_k φ_kw`` (Wallach et al. 2009, Section 5.1; Asuncion et al. 2009).

    Parameters
    ----------
    topics : iterable of FrozenTopics
        One a posterior draw, as from `posterior_topics`; consumed one by one.
    test : Corpus
        Over the same vocabulary. A document of one token is predicted from the prior.
    seed : int
        Decides the halves and the fold-in; the same seed gives the same halves for every fit.
    burn_in, sweeps : int
        Gibbs sweeps for each document and draw: dropped, averaged.

    Raises
    ------
    ValueError
        No token to score, no draw, or topics that do not fit the corpus, such as none in a group.
    """
    observed, scored = split_documents(test, seed)
    if sweeps < 1 or burn_in < 0:
        raise ValueError(f"expected sweeps >= 1 and burn_in >= 0, found {sweeps} and {burn_in}")

    def predict(rng: np.random.Generator, frozen: FrozenTopics, group: np.ndarray) -> np.ndarray:
        _check_that_all_are_on(frozen)
        words = frozen.words.reshape(-1, *frozen.words.shape[-2:])
        word_topics = np.ascontiguousarray(words.transpose(0, 2, 1))
        theta = np.empty((test.n_documents, words.shape[1]))
        foldin.fold_in(
            rng, observed.words, observed.doc_ptr, group, word_topics, frozen.prior, burn_in, sweeps, theta
        )
        rows = group[scored.doc_of] if len(words) > 1 else 0
        return np.log(np.einsum("nk,nk->n", theta[scored.doc_of], word_topics[rows, scored.words]))

    log_p, n_draws = average_over_draws(predict, topics, scored, seed)
    by_document = np.bincount(scored.doc_of, weights=log_p, minlength=test.n_documents)
    return HeldOut("document completion", by_document, scored.doc_lengths, n_draws)


def left_to_right(
    topics: Iterable[FrozenTopics], test: Corpus, *, seed: int = 0, particles: int = 20
) -> HeldOut:
    """Estimate the probability of whole test documents, token by token from the left.

    The estimate of each document's probability under one draw is the mean over particles of the product of
    the conditional probabilities, which is unbiased (Buntine 2009); the product of the means over particles
    is not. Its cost grows with the square of a document's length.

    Parameters
    ----------
    topics : iterable of FrozenTopics
        One a posterior draw, as from `posterior_topics`; consumed one by one.
    test : Corpus
        Over the same vocabulary.
    seed : int
    particles : int
        Independent estimates that are averaged for each document and draw.

    Raises
    ------
    ValueError
        No token to score, no draw, or topics that do not fit the corpus, such as none in a group.
    """
    if particles < 1:
        raise ValueError(f"expected at least 1 particle, found {particles}")

    def estimate(rng: np.random.Generator, frozen: FrozenTopics, group: np.ndarray) -> np.ndarray:
        _check_that_all_are_on(frozen)
        topics_of = [np.ascontiguousarray(frozen.words_of(g).T) for g in range(len(frozen.prior))]
        log_p = np.empty(test.n_documents)
        for d, g in enumerate(group):
            words = test.words[test.doc_ptr[d] : test.doc_ptr[d + 1]]
            log_conditionals = np.empty((particles, words.size))
            foldin.left_to_right(rng, words, topics_of[g], frozen.prior[g], log_conditionals)
            log_p[d] = logsumexp(log_conditionals.sum(axis=1)) - np.log(particles)
        return log_p

    log_p, n_draws = average_over_draws(estimate, topics, test, seed)
    return HeldOut("left to right", log_p, test.doc_lengths, n_draws)


def average_over_draws(
    log_probability: Callable[[np.random.Generator, FrozenTopics, np.ndarray], np.ndarray],
    topics: Iterable[FrozenTopics],
    scored: Corpus,
    seed: int,
) -> tuple[np.ndarray, int]:
    """Average probabilities over posterior draws.

    Parameters
    ----------
    log_probability : (rng, frozen topics, row of their prior for each document) -> float (n,)
        Logarithms under one draw.
    topics : iterable of FrozenTopics
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
    for draw, frozen in enumerate(topics):
        _check(frozen, scored)
        group = scored.group_of_doc if frozen.prior.shape[0] > 1 else np.zeros(scored.n_documents, np.int32)
        _check_that_some_are_on(frozen.prior, group, scored)
        log_p = log_probability(np.random.default_rng([seed, draw]), frozen, group)
        total = log_p if total is None else np.logaddexp(total, log_p)
        n_draws = draw + 1
    if total is None:
        raise ValueError("topics: expected at least one posterior draw, found none")
    return total - np.log(n_draws), n_draws


def _check_that_all_are_on(frozen: FrozenTopics) -> None:
    if frozen.inclusion is not None:
        raise ValueError("topics: some may be off in a new document; score it by empirical likelihood")


def _check_that_some_are_on(prior: np.ndarray, group: np.ndarray, test: Corpus) -> None:
    for g in np.unique(group):
        if not prior[g].any():
            of_group = "" if len(prior) == 1 else f" of group {test.group_names[g]!s}"  # type: ignore[index]
            raise ValueError(f"prior{of_group}: expected a topic with a positive weight, found none")


def _check(frozen: FrozenTopics, test: Corpus) -> None:
    *groups, n_topics, n_words = frozen.words.shape
    n_groups = frozen.prior.shape[0]
    if n_words != test.n_words:
        raise ValueError(
            f"test corpus: expected the {n_words} words of the training vocabulary, found {test.n_words}"
        )
    if frozen.prior.shape != (n_groups, n_topics):
        raise ValueError(f"prior: expected {n_topics} topics, found shape {frozen.prior.shape}")
    if groups not in ([], [n_groups]):
        raise ValueError(f"topics: expected those of {n_groups} groups, found shape {frozen.words.shape}")
    if not (np.all(frozen.words > 0) and np.all(frozen.prior >= 0)):
        raise ValueError("topics: expected positive word probabilities and a non-negative prior")
    if n_groups > 1 and (test.group is None or test.group_of_doc.max(initial=0) >= n_groups):
        found = "none" if test.group is None else str(test.n_groups)
        raise ValueError(f"test corpus: expected the {n_groups} groups of the fit, found {found}")
