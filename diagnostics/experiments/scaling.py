"""Topics under labels: what its experiments share.

References
----------
.. [1] D. Kim and A. Oh. Hierarchical Dirichlet scaling process. Sections 5.1 to 5.3, Figures 3, 4 and 8,
   Tables 3 and 4.
"""

from abc import abstractmethod
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, override

import numpy as np
from xarray import DataTree

from ...zoo.contract import Model
from ...zoo.corpus import Corpus, CorpusError
from ...zoo.formats import read_corpus, to_counts
from ...zoo.inference import sample
from ...zoo.models import get
from ..heldout import left_to_right, posterior_predictives, posterior_topics
from .differential import mean_proportions, with_words
from .runner import Cell, Experiment, Sampling

CLASSIFIERS = ("lda_svm", "naive_bayes", "svm", "cart")
LDA_TOPICS = 50
LABELLED: dict[str, dict[str, Any]] = {
    "labeled_lda": {"common": 5},
    "partially_labeled_lda": {"topics_per_label": 5, "common": 5},
    "dmr": {"n_topics": LDA_TOPICS},
    "author_topic": {"n_topics": LDA_TOPICS},
    "dp_mrm": {},
}
"""Other models of labels, and their arguments."""

RESPONDING: dict[str, dict[str, Any]] = {
    "slda": {"n_topics": LDA_TOPICS},
    "shdp": {},
    "medlda": {"n_topics": LDA_TOPICS},
}
"""Models to which labels are responses, and their arguments."""

LABELS = {
    "hdsp": "HDSP",
    "hdsp_sampled": "HDSP, other labels sampled",
    "whdsp": "wHDSP",
    "whdsp_alone": "wHDSP, rating alone",
    "vi": "HDSP, variational",
    "hdp": "HDP",
    "labeled_lda": "Labeled LDA",
    "partially_labeled_lda": "PLDA",
    "dmr": "DMR",
    "author_topic": "author-topic model",
    "dp_mrm": "DP-MRM",
    "slda": "sLDA",
    "slda_number": "sLDA, ratings as numbers",
    "shdp": "sHDP",
    "medlda": "MedLDA",
    "lda_svm": "LDA and SVM",
    "naive_bayes": "naive Bayes",
    "svm": "SVM",
    "cart": "decision tree",
    "length": "mean length of a document",
    "kept": "share of the training labels that are kept",
    "documents": "training documents",
    "perplexity": "held-out perplexity",
    "spearman": "rank correlation of centred log w",
    "macro_f1": "macro F1",
}


@dataclass(frozen=True, kw_only=True)
class ScalingSampling(Sampling):
    """How models are fitted and documents scored; the paper is silent on it.

    Parameters
    ----------
    particles : int
        For each draw and held-out document.
    iterations : int
        Of variational inference, at most.
    """

    particles: int
    iterations: int = 100


SMALL = ScalingSampling(tune=150, draws=3, thin=10, particles=3, iterations=100)
PAPER = ScalingSampling(tune=2000, draws=10, thin=50, particles=10, iterations=500)


@dataclass(frozen=True)
class ScalingExperiment(Experiment):
    """Base: how models are fitted.

    Parameters
    ----------
    sampling : ScalingSampling
    seed : int
    """

    sampling: ScalingSampling
    seed: int = 0
    labels: ClassVar = LABELS

    def seed_of(self, cell: Cell) -> int:
        """Seed of a replicate, the same for all methods."""
        return int(np.random.SeedSequence([self.seed, cell.replicate]).generate_state(1)[0])

    def fit(self, model: Model, train: Corpus, cell: Cell, truncation: int | None = None) -> DataTree:
        """Sample one chain, or iterate once from a start where there is a `truncation`."""
        plan = self.sampling
        how: dict[str, Any] = {"tune": plan.tune, "thin": plan.thin, "start": "seated", "workers": 1}
        if truncation is not None:
            how = {"backend": "vi", "tune": plan.iterations, "truncation": truncation}
        return sample(
            model, train, chains=1, draws=plan.draws, keep=plan.draws, seed=self.seed_of(cell), partial=False,
            **how,
        )  # fmt: skip

    def perplexity(self, tree: DataTree, test: Corpus, cell: Cell) -> float:
        """Of whole test documents, given their labels."""
        draws = posterior_predictives(tree, test)
        return left_to_right(
            draws, test, seed=self.seed_of(cell), particles=self.sampling.particles
        ).perplexity


@dataclass(frozen=True)
class CorpusExperiment(ScalingExperiment):
    """Base of those on a corpus, whose labels are predicted.

    Parameters
    ----------
    corpus : str
        File.
    label : str
        Covariate.
    most_documents, most_tokens : int
        Training documents at random, and the first tokens of each; a third as many documents are held out.
    least_documents : int
        A word is kept if it is in so many training documents.
    """

    corpus: str = ""
    label: str = "label"
    most_documents: int = 600
    most_tokens: int = 100
    least_documents: int = 3

    @override
    def check(self) -> None:
        self.split(0)

    def split(self, replicate: int) -> tuple[Corpus, Corpus]:
        """Draw training and test documents."""
        rng, whole = np.random.default_rng([self.seed, replicate]), _read(self.corpus)
        if self.label not in whole.covariates:
            raise CorpusError(f"{self.corpus}: expected a covariate {self.label!r}, found none")
        order = rng.permutation(np.flatnonzero(whole.doc_lengths > 0))
        if order.size < 4:
            raise CorpusError(f"{self.corpus}: expected four documents and more, found {order.size}")
        n = min(self.most_documents, 3 * order.size // 4)
        part = whole.take(order[: n + n // 3])
        rank = np.arange(part.n_tokens) - part.doc_ptr[part.doc_of]
        part = part.keep(rank < self.most_tokens)
        train, test = part.take(slice(n)), part.take(slice(n, None))
        kept = np.diff(to_counts(train).tocsc().indptr) >= self.least_documents
        return with_words(train, kept), with_words(test, kept)

    @abstractmethod
    def classes(self, corpus: Corpus) -> np.ndarray:
        """Return the class of each document, int (D,)."""

    def by_machine(self, cell: Cell, train: Corpus, test: Corpus, known: np.ndarray) -> np.ndarray:
        """Classes of test documents by a classifier that saw the training documents `known`."""
        from sklearn.feature_extraction.text import TfidfTransformer
        from sklearn.naive_bayes import MultinomialNB
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler
        from sklearn.svm import SVC, LinearSVC
        from sklearn.tree import DecisionTreeClassifier

        features: list[Any] = [to_counts(corpus) for corpus in (train, test)]
        machine: Any = {
            "naive_bayes": MultinomialNB(),
            "svm": make_pipeline(TfidfTransformer(), LinearSVC()),
            "cart": DecisionTreeClassifier(random_state=self.seed_of(cell)),
            "lda_svm": make_pipeline(StandardScaler(), SVC()),
        }[cell.method]
        if cell.method == "lda_svm":
            tree = self.fit(get("lda", n_topics=LDA_TOPICS), train, cell)
            *_, topics = posterior_topics(tree, train)
            features = [mean_proportions(topics, corpus, 0, self.seed_of(cell)) for corpus in (train, test)]
        machine.fit(features[0][known], self.classes(train)[known])
        return machine.predict(features[1])


@cache
def _read(path: str) -> Corpus:
    return read_corpus(Path(path))
