"""Documents with subtle topics, which a few sentences are about and the others do not mention.

The papers that speak of such topics [1]_ [2]_ have no synthetic data, so that all of this is our choice.

References
----------
.. [1] M. Das, S. Bhattacharya, C. Bhattacharyya, K. Gopinath (2013). Subtle topic models and discovering
   subtly manifested software concerns automatically. ICML.
.. [2] M. Das, C. Bhattacharyya. Weight-agnostic hierarchical stick-breaking process. Section IV.
"""

from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np

from ..contract import Simulation
from ..corpus import Corpus
from ..toolbox.draws import draw_categorical, draw_dirichlet

SHARES = ("prominence", "specific")


class SubtleProblem(NamedTuple):
    """A corpus with subtle topics, and the truth behind it.

    Attributes
    ----------
    topics : float (K, V)
        Common topics, then subtle ones.
    simulation : Simulation
        Latents ``z`` (N,), and ``theta`` (D, C), the proportions of the common topics. The corpus has
        sentences and two covariates: ``article``, the number of the article that a document is or comments
        on, and ``is_comment``.
    carried : int (S,)
        Subtle topic that each sentence carries, or -1.
    about : int (D,)
        Subtle topic that a comment is about, or -1 for one on all of its article, and for articles.
    """

    topics: np.ndarray
    simulation: Simulation
    carried: np.ndarray
    about: np.ndarray


@dataclass(frozen=True)
class SubtleTopics:
    """Sizes of a corpus with subtle topics.

    Parameters
    ----------
    n_documents, n_sentences, sentence_length : int
        Articles, sentences of each, and tokens of each of these.
    n_words : int
        V.
    n_common, n_subtle : int
        Topics of whole documents, C, and of single sentences.
    per_document : int
        Different subtle topics in each document.
    carriers : int
        Sentences of a document that carry each of them; no sentence carries two.
    prominence : float
        Probability that a token of such a sentence has its subtle topic, and not a common one.
    concentration : float
        Dirichlet parameter of a document's proportions of common topics.
    smoothness : float
        Dirichlet parameter of the words of all topics.
    n_comments : int
        Comments on each article, which are documents of one sentence.
    specific : float
        Probability that a comment is on a subtle topic of its article, and made as a sentence that carries
        it; others have the common topics of the article.
    """

    n_documents: int = 100
    n_sentences: int = 20
    sentence_length: int = 10
    n_words: int = 400
    n_common: int = 5
    n_subtle: int = 10
    per_document: int = 2
    carriers: int = 2
    prominence: float = 0.8
    concentration: float = 0.5
    smoothness: float = 0.05
    n_comments: int = 0
    specific: float = 0.5

    def __post_init__(self):
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name in SHARES:
                if not 0.0 <= value <= 1.0:
                    raise ValueError(f"{field.name}: expected a probability, found {value}")
            elif field.name in ("concentration", "smoothness"):
                if not 0.0 < value < np.inf:
                    raise ValueError(f"{field.name}: expected a positive number, found {value}")
            elif value < (least := 0 if field.name in ("n_comments", "per_document", "carriers") else 1):
                raise ValueError(f"{field.name}: expected at least {least}, found {value}")
        if self.per_document > self.n_subtle:
            raise ValueError(
                f"per_document: expected at most the {self.n_subtle} subtle topics, found {self.per_document}"
            )
        if self.per_document * self.carriers > self.n_sentences:
            raise ValueError(
                f"carriers: expected at most the {self.n_sentences} sentences of a document for "
                f"{self.per_document} topics, found {self.carriers} each"
            )

    def draw(self, rng: np.random.Generator) -> SubtleProblem:
        """Draw a corpus: each article, and the comments on it after it."""
        topics = draw_dirichlet(np.full((self.n_common + self.n_subtle, self.n_words), self.smoothness), rng)
        of_articles = draw_dirichlet(np.full((self.n_documents, self.n_common), self.concentration), rng)
        planted = [self._plant(rng) for _ in range(self.n_documents)]
        carried = np.concatenate([np.concatenate(both) for both in planted])
        theta = np.repeat(of_articles, self.n_sentences + self.n_comments, axis=0)
        z = self._topics_of_tokens(carried, theta, rng)
        words = np.empty(z.size, np.int32)
        for k in np.unique(z):
            words[z == k] = rng.choice(self.n_words, np.count_nonzero(z == k), p=topics[k])
        sentences = [self.n_sentences] + [1] * self.n_comments
        corpus = Corpus(
            words,
            self.sentence_length * np.cumsum([0, *sentences * self.n_documents]),
            n_words=self.n_words,
            segment_ptr=self.sentence_length * np.arange(carried.size + 1),
            covariates={
                "article": np.repeat(np.arange(self.n_documents), len(sentences)),
                "is_comment": np.tile(np.arange(len(sentences)) > 0, self.n_documents),
            },
            in_order=True,
        )
        latents = {"z": z, "theta": np.repeat(of_articles, len(sentences), axis=0)}
        about = np.concatenate([[-1, *comments] for _, comments in planted])
        return SubtleProblem(topics, Simulation(latents, corpus), carried, about)

    def _plant(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Subtle topic, or -1, of each sentence of one article, and of each comment on it."""
        subtle = self.n_common + rng.choice(self.n_subtle, self.per_document, replace=False)
        of_sentences = np.full(self.n_sentences, -1)
        of_sentences[: subtle.size * self.carriers] = np.repeat(subtle, self.carriers)
        of_comments = np.full(self.n_comments, -1)
        if subtle.size:
            is_specific = rng.random(self.n_comments) < self.specific
            of_comments[is_specific] = rng.choice(subtle, np.count_nonzero(is_specific))
        return rng.permutation(of_sentences), of_comments

    def _topics_of_tokens(
        self, carried: np.ndarray, theta: np.ndarray, rng: np.random.Generator
    ) -> np.ndarray:
        """Topic of each token, given the subtle topic (S,) and the common ones (S, C) of its sentence."""
        common = draw_categorical(np.repeat(theta, self.sentence_length, axis=0), rng)
        subtle = np.repeat(carried, self.sentence_length)
        return np.where((subtle >= 0) & (rng.random(subtle.size) < self.prominence), subtle, common)
