"""What a posterior draw says of new documents, and of those of the fit."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from ..kernels.toolbox import foldin
from .corpus import Corpus


class Predictive(ABC):
    """Probabilities of new documents given one posterior draw; `FrozenTopics` are one kind."""

    @abstractmethod
    def check(self, documents: Corpus) -> None:
        """Raise ValueError unless it can say something of such documents: of their words and groups."""

    @abstractmethod
    def log_completion(
        self, observed: Corpus, rest: Corpus, rng: np.random.Generator, *, burn_in: int, sweeps: int
    ) -> np.ndarray:
        """Log probability of each token of `rest` given what is observed of its document, float (N,).

        Parameters
        ----------
        observed, rest : Corpus
            Parts of the same documents.
        rng : numpy.random.Generator
        burn_in, sweeps : int
            Sweeps over the observed tokens: dropped, averaged.
        """

    @abstractmethod
    def log_documents(self, documents: Corpus, rng: np.random.Generator, *, particles: int) -> np.ndarray:
        """Logarithm of an unbiased estimate of each document's probability, float (D,)."""


@dataclass(frozen=True)
class FrozenTopics(Predictive):
    """Topics of one posterior draw, which new documents leave as they are.

    Attributes
    ----------
    words : float (K, V) or (G, K, V)
        Posterior mean word distribution of each topic, by group where topics differ between groups. In a
        nonparametric model the last row stands for all topics that have not been seen yet.
    prior : float (G, K)
        Dirichlet parameters of a new document's topic proportions, by group.
    inclusion : float (G, K), optional
        Probability that a topic is on in a new document, for models where a document has some topics only.
        Its length is then negative binomial, of size the sum of `prior` over its topics and probability 1/2.
    concentration : float (K,), optional
        Where the words of topics are Dirichlet given the draw: their parameters are this, times `words`.
    """

    words: np.ndarray
    prior: np.ndarray
    inclusion: np.ndarray | None = None
    concentration: np.ndarray | None = None

    def words_of(self, group: int) -> np.ndarray:
        """Word distributions of the topics in a group, float (K, V)."""
        return self.words if self.words.ndim == 2 else self.words[group]

    def rows_of(self, documents: Corpus) -> np.ndarray:
        """Row of `prior` for each document, int (D,); a single row serves every group."""
        if len(self.prior) > 1:
            return documents.group_of_doc
        return np.zeros(documents.n_documents, np.int32)

    @property
    def prior_if_absent(self) -> np.ndarray:
        """Weight of each topic for a document that has no token of it, float (G, K).

        The prior; times the probability that the topic is on where it may be off, given that it has no token:
        one that is on has none with probability ``2 ** -prior``.
        """
        if self.inclusion is None:
            return self.prior
        on = self.inclusion * np.exp2(-self.prior)
        return self.prior * on / (1.0 - self.inclusion + on)

    def weights(self, counts: np.ndarray, row: np.ndarray | int) -> np.ndarray:
        """Weight of each topic for one more token of documents, unnormalised float (…, K).

        Parameters
        ----------
        counts : int (…, K)
            Tokens of each topic in a document; none in those not given.
        row : int, or int of shape (…)
            Of the prior.
        """
        return counts + np.where(counts > 0, self.prior[row], self.prior_if_absent[row])

    def draw_counts(
        self,
        document: np.ndarray,
        row: int,
        word_topics: np.ndarray,
        rng: np.random.Generator,
        *,
        burn_in: int,
        sweeps: int,
    ) -> np.ndarray:
        """Topic counts of one new document after each of some Gibbs sweeps, float (sweeps, K).

        Parameters
        ----------
        document : int (n,)
            Its words.
        row : int
            Of the prior.
        word_topics : float (V, K)
            Transpose of `words_of` its group, contiguous.
        rng : numpy.random.Generator
        burn_in, sweeps : int
            Sweeps that are dropped, and those after which the counts are kept.
        """
        counts = np.empty((sweeps, self.prior.shape[1]))
        foldin.draw_counts(
            rng, document, word_topics, self.prior[row], self.prior_if_absent[row], burn_in, counts
        )
        return counts

    def check(self, documents: Corpus) -> None:
        """Raise ValueError unless it fits the documents' words and groups, and gives each some topic."""
        *groups, n_topics, n_words = self.words.shape
        n_groups = self.prior.shape[0]
        if n_words != documents.n_words:
            raise ValueError(
                f"test corpus: expected the {n_words} words of the training vocabulary, "
                f"found {documents.n_words}"
            )
        if self.prior.shape != (n_groups, n_topics):
            raise ValueError(f"prior: expected {n_topics} topics, found shape {self.prior.shape}")
        if groups not in ([], [n_groups]):
            raise ValueError(f"topics: expected those of {n_groups} groups, found shape {self.words.shape}")
        if not (np.all(self.words > 0) and np.all(self.prior >= 0)):
            raise ValueError("topics: expected positive word probabilities and a non-negative prior")
        if n_groups > 1 and (documents.group is None or documents.group_of_doc.max(initial=0) >= n_groups):
            found = "none" if documents.group is None else str(documents.n_groups)
            raise ValueError(f"test corpus: expected the {n_groups} groups of the fit, found {found}")
        for g in np.unique(self.rows_of(documents)):
            if not self.prior[g].any():
                of_group = "" if n_groups == 1 else f" of group {documents.group_names[g]!s}"  # type: ignore[index]
                raise ValueError(f"prior{of_group}: expected a topic with a positive weight, found none")

    def log_completion(
        self, observed: Corpus, rest: Corpus, rng: np.random.Generator, *, burn_in: int, sweeps: int
    ) -> np.ndarray:
        """Predict by mean topic proportions θ of Gibbs sweeps: ``p(w) = sum_k θ_k φ_kw``."""
        self._check_that_all_are_on()
        group = self.rows_of(rest)
        words = self.words.reshape(-1, *self.words.shape[-2:])
        word_topics = np.ascontiguousarray(words.transpose(0, 2, 1))
        theta = np.empty((rest.n_documents, words.shape[1]))
        foldin.fold_in(
            rng, observed.words, observed.doc_ptr, group, word_topics, self.prior, burn_in, sweeps, theta
        )
        rows = group[rest.doc_of] if len(words) > 1 else 0
        return np.log(np.einsum("nk,nk->n", theta[rest.doc_of], word_topics[rows, rest.words]))

    def log_documents(self, documents: Corpus, rng: np.random.Generator, *, particles: int) -> np.ndarray:
        """Estimate from the left to the right (Buntine 2009): the mean over particles of products."""
        self._check_that_all_are_on()
        topics_of = [np.ascontiguousarray(self.words_of(g).T) for g in range(len(self.prior))]
        log_p = np.empty(documents.n_documents)
        for d, g in enumerate(self.rows_of(documents)):
            words = documents.words[documents.doc_ptr[d] : documents.doc_ptr[d + 1]]
            log_conditionals = np.empty((particles, words.size))
            foldin.left_to_right(rng, words, topics_of[g], self.prior[g], log_conditionals)
            log_p[d] = logsumexp(log_conditionals.sum(axis=1)) - np.log(particles)
        return log_p

    def _check_that_all_are_on(self) -> None:
        if self.inclusion is not None:
            raise ValueError("topics: some may be off in a new document; score it by empirical likelihood")


class Proportions(ABC):
    """Law of the topic proportions θ of documents, given one posterior draw.

    Topics not in use, if a document can open some, are one topic, the last.
    """

    @abstractmethod
    def mean(self, here: slice) -> np.ndarray:
        """Probability of each topic for one more token of some documents, float (D, K)."""

    @abstractmethod
    def draw(self, here: slice, n: int, rng: np.random.Generator) -> np.ndarray:
        """Draw the proportions of some documents `n` times, float (n, D, K)."""


class NewProportions(ABC):
    """Law of the topic proportions θ of new documents given their words alone, at one posterior draw."""

    @abstractmethod
    def check(self, documents: Corpus) -> None:
        """Raise ValueError unless it can say something of such documents: of their words and groups."""

    @abstractmethod
    def draw_proportions(
        self, document: Corpus, rng: np.random.Generator, *, burn_in: int, sweeps: int, repeats: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Mean proportions after each of some Gibbs sweeps, and proportions drawn, `repeats` times a sweep.

        Parameters
        ----------
        document : Corpus
            A single one.
        rng : numpy.random.Generator
        burn_in, sweeps : int
            Sweeps over its tokens: dropped, looked at.
        repeats : int

        Returns
        -------
        mean : float (sweeps, K)
        drawn : float (repeats * sweeps, K)
        """
