"""Topics of sentences by several priors: held-out perplexity, coherence, and what was planted.

References
----------
.. [1] M. Das, C. Bhattacharyya. Weight-agnostic hierarchical stick-breaking process. Section V, Tables I to
   III.
"""

import sysconfig
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, override

import numpy as np
from xarray import DataTree

from ...zoo.contract import FrozenTopics, Model
from ...zoo.corpus import Corpus, CorpusError
from ...zoo.designs import SubtleTopics
from ...zoo.formats import TextOptions, from_texts, read_corpus, to_counts
from ...zoo.formats.sentences import as_lines, statements
from ...zoo.inference import sample
from ...zoo.models import get
from ..coherence import umass
from ..heldout import HeldOut, left_to_right, posterior_predictives, posterior_topics
from ..heldout.empirical_likelihood import log_probabilities
from ..heldout.scores import average_over_draws
from ..topics import Sentences, comments, match_topics, subtle, topics_of
from .differential import with_words
from .runner import Cell, Experiment, Sampling

PRIORS: dict[str, dict[str, float]] = {
    "was": {"a": 1.0, "b": 1.0, "zeta": 1.0},
    "sbp": {"a": 1.0, "b": 1.0},
    "tjb_hdp": {"alpha": 1.0, "gamma": 0.5},
    "icd": {},
    "mqr_hdp": {"alpha": 1.0, "epsilon": 0.5},
    "focused": {},
    "lda": {},
}
"""Models and their own hyperparameters: the paper's, but zeta and epsilon, on which it is silent; and so it
is on those of ICD, which are sampled. We add LDA; MQR-HDP, which the paper defines and does not report; and
ICD without dishes, the focused model of sentences."""

METHODS = tuple(PRIORS)

OF_SENTENCES = ("focused",)
"""Models of documents that are fitted to sentences, each a document of its own."""

SAMPLES = 100
"""Simulated topic proportions a particle, where a sentence has some topics only."""

SYNTHETIC, SOURCE = "synthetic", "source"
TOP = 5
"""Words of a topic that coherence looks at, as in Table II."""

LABELS = {
    "was": "WAS",
    "sbp": "SBP of each sentence",
    "tjb_hdp": "HDP of a document's sentences",
    "mqr_hdp": "shared and own dishes",
    "icd": "ICD of a document's sentences",
    "focused": "ICD without dishes",
    "lda": "LDA of documents",
    "data": "",
    "n_topics": "number of topics",
    "perplexity": "held-out perplexity",
}


@dataclass(frozen=True, kw_only=True)
class ParticleSampling(Sampling):
    """How the posterior is drawn from and documents are scored; the paper is silent on all of it.

    Parameters
    ----------
    particles : int
        For each draw and held-out document.
    """

    particles: int


class Problem(NamedTuple):
    """Documents to fit and documents to predict, and what was planted in the former, if anything.

    Attributes
    ----------
    train, test : Corpus
    carries : bool (S,) or None
        Whether each training sentence is one of an article that carries a subtle topic.
    is_specific : bool (D,) or None
        Whether each training document is a specific comment.
    """

    train: Corpus
    test: Corpus
    carries: np.ndarray | None = None
    is_specific: np.ndarray | None = None


@dataclass(frozen=True)
class WeightAgnosticExperiment(Experiment):
    """Tables I to III, on a synthetic corpus, the interpreter's standard library, and corpora of yours.

    Of each corpus a third of the documents, at random, is held out; comments go with their article.

    Parameters
    ----------
    sampling : ParticleSampling
    corpora : tuple of str
        Files to be used beside the other two. Sentences are those of the corpus or, where it has none, runs
        of `window` words.
    topic_counts : tuple of int
        K, which the paper does not give.
    kappa, eta : float
        Dirichlet parameters of topic vectors, or of the proportions of LDA, and of topics.
    window : int
    most_documents, most_sentences : int
        Documents, and sentences of each, that are taken at random from real corpora; the rest play no part.
    least_documents : int
        In real corpora a word is kept if it is in so many training documents.
    methods : tuple of str
    replicates : int
        Splits into training and test documents.
    seed : int
    """

    sampling: ParticleSampling
    corpora: tuple[str, ...] = ()
    topic_counts: tuple[int, ...] = (10, 20)
    kappa: float = 1.0
    eta: float = 1.0
    window: int = 10
    most_documents: int = 60
    most_sentences: int = 30
    least_documents: int = 2
    methods: tuple[str, ...] = METHODS
    replicates: int = 3
    seed: int = 0
    name: str = "weight-agnostic"

    x: ClassVar[str] = "n_topics"
    panel: ClassVar[str] = "data"
    measure: ClassVar[str] = "perplexity"
    baseline: ClassVar[str] = "was"
    difference: ClassVar[str] = "perplexity above"
    labels: ClassVar = LABELS

    @override
    def settings(self) -> Iterator[dict[str, Any]]:
        for data in (SYNTHETIC, SOURCE, *(Path(corpus).stem for corpus in self.corpora)):
            yield from ({"data": data, "n_topics": n} for n in self.topic_counts)

    @override
    def check(self) -> None:
        """Make all models, and draw the documents of all replicates."""
        stems = [Path(corpus).stem for corpus in self.corpora]
        if len({SYNTHETIC, SOURCE, *stems}) < 2 + len(stems):
            raise CorpusError(f"corpora: expected names that differ, and are not {SYNTHETIC} or {SOURCE}")
        for setting in self.settings():
            for method in self.methods:
                self.model(method, setting["n_topics"])
            for replicate in range(self.replicates):
                self.problem(setting["data"], replicate)

    def model(self, method: str, n_topics: int) -> Model:
        """Model of a method; its hyperparameters are fixed, as in the paper, but those of ICD."""
        arguments: dict[str, Any] = {"eta": self.eta, **PRIORS[method]}
        if method not in OF_SENTENCES:  # which have as many topics as they need, and no topic vectors
            arguments |= {"n_topics": n_topics, "alpha" if method == "lda" else "kappa": self.kappa}
        return get(method, **arguments)

    def problem(self, data: str, replicate: int) -> Problem:
        """Draw training and test documents."""
        rng = np.random.default_rng([self.seed, replicate])
        if data == SYNTHETIC:
            return planted(SubtleTopics(n_documents=self.most_documents, n_comments=4), rng)
        path = {Path(corpus).stem: corpus for corpus in self.corpora}.get(data)
        whole = standard_library() if path is None else corpus_with_sentences(path, self.window)
        chosen = rng.permutation(np.flatnonzero(whole.doc_lengths > 0))[: self.most_documents]
        part = some_sentences(whole.take(chosen), self.most_sentences, rng)
        n_test = chosen.size // 3
        train, test = part.take(slice(n_test, None)), part.take(slice(n_test))
        present = np.diff(to_counts(train).tocsc().indptr) >= self.least_documents
        if n_test == 0 or not present.any():
            raise CorpusError(
                f"{path or SOURCE}: expected three documents and more, and words that {self.least_documents} "
                f"of them have, found {chosen.size} documents"
            )
        return Problem(with_words(train, present), with_words(test, present))

    @override
    def run(self, cell: Cell) -> dict[str, float]:
        """See `Experiment.run`.

        ``perplexity`` of whole held-out documents; UMass coherence, mean over topics, that counts documents,
        ``umass``, or sentences, ``umass_s``; and of what was planted, the share that is among as many
        with the highest scores, which is precision and recall at once: of the sentences with a ``subtle``
        topic, and of the ``specific`` comments.
        """
        problem = self.problem(cell.setting["data"], cell.replicate)
        seed = int(np.random.SeedSequence([self.seed, cell.replicate]).generate_state(1)[0])
        tree = sample(
            self.model(cell.method, cell.setting["n_topics"]),
            problem.train.of_sentences() if cell.method in OF_SENTENCES else problem.train,
            start="seated",
            chains=1,
            tune=self.sampling.tune,
            draws=self.sampling.draws,
            thin=self.sampling.thin,
            keep=self.sampling.draws,
            seed=seed,
            workers=1,
            partial=False,
        )
        if cell.method in OF_SENTENCES:
            score = sentence_by_sentence(tree, problem.test, seed, SAMPLES * self.sampling.particles)
        else:
            draws = posterior_predictives(tree, problem.test)
            score = left_to_right(draws, problem.test, seed=seed, particles=self.sampling.particles)
        return {"perplexity": score.perplexity} | coherence(tree, problem.train) | found(tree, problem)


def planted(design: SubtleTopics, rng: np.random.Generator) -> Problem:
    """Draw a synthetic corpus, and hold out a third of its articles with the comments on them."""
    drawn = design.draw(rng)
    corpus = drawn.simulation.corpus
    order = rng.permutation(design.n_documents)
    is_test = np.isin(corpus.grouped("article").group_of_doc, order[: design.n_documents // 3])
    sentences = Sentences.of(corpus)
    in_train = ~is_test[sentences.document]
    carries = (drawn.carried >= 0) & ~corpus.flag("is_comment")[sentences.document]
    return Problem(
        corpus.take(~is_test), corpus.take(is_test), carries[in_train], (drawn.about >= 0)[~is_test]
    )


def sentence_by_sentence(tree: DataTree, test: Corpus, seed: int, samples: int) -> HeldOut:
    """Score documents by a model of their sentences, which are independent under one draw."""
    sentences = test.of_sentences()
    document = Sentences.of(test).document

    def estimate(rng: np.random.Generator, frozen: FrozenTopics) -> np.ndarray:
        log_p = log_probabilities(rng, frozen, sentences, samples)
        return np.bincount(document, log_p, test.n_documents)

    log_p, n_draws = average_over_draws(estimate, posterior_topics(tree, test), test, seed)
    return HeldOut.of_documents("empirical likelihood", log_p, test.doc_lengths, n_draws)


def coherence(tree: DataTree, train: Corpus) -> dict[str, float]:
    """UMass coherence of the last draw's topics, mean over those that hold so many words, by both units."""
    top = np.array([topic.word_ids for topic in topics_of(tree, TOP) if len(topic.words) == TOP])
    if not top.size:
        return {"umass": np.nan, "umass_s": np.nan}
    return {
        "umass": float(umass(top, train, unit="document").mean()),
        "umass_s": float(umass(top, train, unit="sentence").mean()),
    }


def found(tree: DataTree, problem: Problem) -> dict[str, float]:
    """Shares of what was planted that have the highest scores; NaN where nothing was planted."""
    if problem.carries is None or problem.is_specific is None:
        return {"subtle": np.nan, "specific": np.nan}
    matched = replace(match_topics(tree), corpus=problem.train)  # of documents, whatever was fitted
    of_sentences = np.zeros(problem.train.n_segments)
    table = subtle(matched, least=0.0, most=1.0)
    np.maximum.at(of_sentences, table.index.to_numpy(), table["score"].to_numpy())
    scores = {each.document: each.specificity for each in comments(matched)}
    of_comments = np.array([scores.get(d, 0.0) for d in range(problem.train.n_documents)])
    return {
        "subtle": precision_at_planted(of_sentences, problem.carries),
        "specific": precision_at_planted(of_comments, problem.is_specific),
    }


def precision_at_planted(scores: np.ndarray, is_planted: np.ndarray) -> float:
    """Share of the n planted among the n highest scores; precision and recall are the same there."""
    return float(is_planted[np.argsort(-scores, kind="stable")[: is_planted.sum()]].mean())


def some_sentences(corpus: Corpus, most: int, rng: np.random.Generator) -> Corpus:
    """Corpus of at most so many sentences of each document, at random; they stay in their order."""
    sentences = Sentences.of(corpus)
    order = np.lexsort((rng.random(corpus.n_segments), sentences.document))
    rank = np.empty(corpus.n_segments, np.int64)
    rank[order] = sentences.number
    return corpus.keep(rank[corpus.segment_of] <= most)


@cache
def corpus_with_sentences(path: str, window: int) -> Corpus:
    """Read a corpus; where it has no sentences, runs of `window` words in reading order stand for them."""
    corpus = read_corpus(Path(path), options=TextOptions())
    if corpus.segment_ptr is not None:
        return corpus
    starts = [np.arange(a, b, window) for a, b in zip(corpus.doc_ptr[:-1], corpus.doc_ptr[1:], strict=True)]
    return replace(corpus, segment_ptr=np.append(np.concatenate(starts), corpus.n_tokens))


@cache
def standard_library() -> Corpus:
    """Corpus of the modules of the interpreter's standard library that are one file, by statements.

    As in the paper for Java: lower case, without stop words, numbers, words of fewer than three letters and
    statements of fewer than 20 characters.
    """
    from sklearn.feature_extraction.text import CountVectorizer

    texts, names = [], []
    for path in sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py")):
        with tokenize.open(path) as file:
            found = [statement for statement in statements(file.read()) if len(statement) >= 20]
        texts.append(as_lines(found))
        names.append(path.name)
    words = CountVectorizer(stop_words="english", token_pattern=r"\b[a-zA-Z]{3,}\b")
    return from_texts(texts, words, sentences=True, covariates={"file": names})


SMALL = ParticleSampling(tune=300, draws=5, thin=20, particles=10)
PAPER = ParticleSampling(tune=2000, draws=20, thin=50, particles=50)
