"""A continuum of multi-task corpora, from topics that all tasks share to topics at random.

One task is of interest, and has weak topics in the middle of the continuum.

References
----------
.. [1] A. Faisal, J. Gillberg, G. Leen, J. Peltonen (2013). Transfer learning using a nonparametric sparse
   topic model. Neurocomputing 112. Appendix B; sizes from Section 5.1.
.. [2] C. Wang, D. M. Blei (2009). Decoupling sparsity and smoothness in the discrete hierarchical Dirichlet
   process. Advances in Neural Information Processing Systems 22.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..contract import Simulation
from ..corpus import Corpus
from ..toolbox.draws import draw_categorical, draw_dirichlet

DOMAINS = np.linspace(0.0, 1.0, 9)
"""Mixing coefficients of the nine domains: the paper names 0.25, 0.5 and 1, and is silent on the others."""


class TransferProblem(NamedTuple):
    """A learning problem, and the truth behind it.

    Attributes
    ----------
    pseudocounts : float (C, K)
        Dirichlet parameters of the topic proportions in each task; row 0 is the task of interest.
    topics : float (K, V)
    train, test : Simulation
        Latents ``z`` (N,) and ``theta`` (D, K). All test documents belong to the task of interest.
    """

    pseudocounts: np.ndarray
    topics: np.ndarray
    train: Simulation
    test: Simulation


@dataclass(frozen=True)
class TransferContinuum:
    """Sizes of the continuum; defaults are the paper's, or are said to be ours.

    Parameters
    ----------
    n_tasks : int
        C; the paper has 10, and from 5 to 30 in its second experiment.
    n_topics, n_words : int
        K and V.
    total : float
        Sum of the pseudocounts of a task.
    n_random : int
        Topics of a task at the right end.
    doc_length : int
        Tokens of every document.
    documents_of_interest, other_documents : int
        Training documents of the task of interest, and of each other task.
    test_documents : int
        Of the task of interest. Our choice: the paper does not say.
    words_on, words_off : float
        A word belongs to a topic with a probability drawn from Beta(words_on, words_off). Our choice, 15 of
        150 words on average: the paper does not say.
    smoothness : float
        Dirichlet parameter of a topic's words, a word that belongs to it. Our choice: the paper does not say.
    """

    n_tasks: int = 10
    n_topics: int = 10
    n_words: int = 150
    total: float = 300.0
    n_random: int = 3
    doc_length: int = 8
    documents_of_interest: int = 24
    other_documents: int = 8
    test_documents: int = 100
    words_on: float = 1.0
    words_off: float = 9.0
    smoothness: float = 1.0

    def __post_init__(self):
        for name, least in (
            ("n_tasks", 1),
            ("n_topics", 2),
            ("n_words", 1),
            ("n_random", 1),
            ("doc_length", 0),
            ("documents_of_interest", 0),
            ("other_documents", 0),
            ("test_documents", 0),
        ):
            if getattr(self, name) < least:
                raise ValueError(f"{name}: expected at least {least}, found {getattr(self, name)}")
        for name in ("total", "words_on", "words_off", "smoothness"):
            if not 0 < getattr(self, name) < np.inf:
                raise ValueError(f"{name}: expected a positive number, found {getattr(self, name)}")
        if self.n_random > self.n_topics:
            raise ValueError(
                f"n_random: expected at most the {self.n_topics} topics there are, found {self.n_random}"
            )

    @property
    def left(self) -> np.ndarray:
        """Pseudocounts of the left end, float (C, K).

        Topic 0 is in all tasks; the task of interest has no other, and task c has topic c for itself. With
        more tasks than topics, where the paper does not say, the topics but 0 are gone through again.
        """
        shares = np.zeros((self.n_tasks, self.n_topics))
        tasks = np.arange(1, self.n_tasks)
        shares[:, 0] = 0.5
        shares[tasks, 1 + (tasks - 1) % (self.n_topics - 1)] = 0.5
        shares[0, 0] = 1.0
        return self.total * shares

    def draw_right(self, rng: np.random.Generator) -> np.ndarray:
        """Pseudocounts of the right end, float (C, K): each task has some topics at random, all alike."""
        shares = np.zeros((self.n_tasks, self.n_topics))
        for row in shares:
            row[rng.choice(self.n_topics, self.n_random, replace=False)] = 1.0 / self.n_random
        return self.total * shares

    def draw(self, rng: np.random.Generator, topics: np.ndarray | None = None) -> "Continuum":
        """Draw what all domains of a replicate share: both ends and the topics.

        Parameters
        ----------
        rng : numpy.random.Generator
        topics : float (K, V), optional
            Keeps topics from one replicate to the next. By default each has its own; the paper does not say.
        """
        right = self.draw_right(rng)
        if topics is None:
            topics = sparse_topics(
                self.n_topics, self.n_words, self.words_on, self.words_off, self.smoothness, rng
            )
        return Continuum(self, self.left, right, topics)


@dataclass(frozen=True)
class Continuum:
    """A replicate of the continuum.

    Attributes
    ----------
    sizes : TransferContinuum
    left, right : float (C, K)
        Pseudocounts at the ends.
    topics : float (K, V)
    """

    sizes: TransferContinuum
    left: np.ndarray
    right: np.ndarray
    topics: np.ndarray

    def at(self, mixing: float, rng: np.random.Generator) -> TransferProblem:
        """Draw a learning problem from one domain.

        Parameters
        ----------
        mixing : float
            From 0 at the left end to 1 at the right.
        rng : numpy.random.Generator

        Raises
        ------
        ValueError
            `mixing` is not in [0, 1].
        """
        if not 0.0 <= mixing <= 1.0:
            raise ValueError(f"mixing: expected a number from 0 to 1, found {mixing}")
        sizes = self.sizes
        pseudocounts = (1.0 - mixing) * self.left + mixing * self.right
        per_task = np.full(sizes.n_tasks, sizes.other_documents)
        per_task[0] = sizes.documents_of_interest
        return TransferProblem(
            pseudocounts,
            self.topics,
            train=self._documents(pseudocounts, np.repeat(np.arange(sizes.n_tasks), per_task), rng),
            test=self._documents(pseudocounts, np.zeros(sizes.test_documents, np.int64), rng),
        )

    def _documents(self, pseudocounts: np.ndarray, group: np.ndarray, rng: np.random.Generator) -> Simulation:
        length = self.sizes.doc_length
        theta = np.zeros((group.size, pseudocounts.shape[1]))
        for row, task in zip(theta, group, strict=True):
            on = pseudocounts[task] > 0
            row[on] = draw_dirichlet(pseudocounts[task, on], rng)
        z = draw_categorical(np.repeat(theta, length, axis=0), rng)
        corpus = Corpus(
            draw_categorical(self.topics[z], rng),
            length * np.arange(group.size + 1),
            n_words=self.topics.shape[1],
            group=group,
            group_names=np.array(["task of interest", *(f"task {c}" for c in range(1, len(pseudocounts)))]),
        )
        return Simulation({"z": z, "theta": theta}, corpus)


def sparse_topics(
    n_topics: int,
    n_words: int,
    words_on: float,
    words_off: float,
    smoothness: float,
    rng: np.random.Generator,
) -> np.ndarray:
    """Topics that use some of the words only (Wang and Blei 2009, Section 3).

    A topic's share of words is Beta(`words_on`, `words_off`); each word belongs to it with that probability;
    over those that do, the topic is Dirichlet(`smoothness`). A topic that no word belongs to is drawn again.

    Returns
    -------
    float (n_topics, n_words)
    """
    topics = np.zeros((n_topics, n_words))
    for row in topics:
        belongs = np.zeros(n_words, bool)
        while not belongs.any():
            belongs = rng.random(n_words) < rng.beta(words_on, words_off)
        row[belongs] = draw_dirichlet(np.full(belongs.sum(), smoothness), rng)
    return topics
