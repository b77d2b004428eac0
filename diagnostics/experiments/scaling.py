"""Topics under labels: what is recovered of simulated scales; what labels tell of words, and words of labels.

References
----------
.. [1] D. Kim and A. Oh. Hierarchical Dirichlet scaling process. Sections 5.1 to 5.3, Figures 3, 4 and 8,
   Tables 3 and 4.
"""

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, override

import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from scipy.stats import spearmanr
from xarray import DataTree

from ...zoo.contract import Model
from ...zoo.corpus import Corpus, CorpusError
from ...zoo.formats import read_corpus, to_counts
from ...zoo.inference import latents_of, sample
from ...zoo.models import get
from ..heldout import left_to_right, posterior_predictives, posterior_topics
from ..heldout.labels import predict_labels
from .differential import mean_proportions, with_words
from .runner import Cell, Experiment

CLASSIFIERS = ("lda_svm", "naive_bayes", "svm", "cart")
LDA_TOPICS = 50
LABELLED = {
    "labeled_lda": {"common": 5},
    "partially_labeled_lda": {"topics_per_label": 5, "common": 5},
    "dmr": {"n_topics": LDA_TOPICS},
    "author_topic": {"n_topics": LDA_TOPICS},
}
"""Models of labels with a fixed number of topics, and their arguments."""
RATINGS = 5

LABELS = {
    "hdsp": "HDSP",
    "whdsp": "wHDSP",
    "whdsp_alone": "wHDSP, rating alone",
    "vi": "HDSP, variational",
    "hdp": "HDP",
    "labeled_lda": "Labeled LDA",
    "partially_labeled_lda": "PLDA",
    "dmr": "DMR",
    "author_topic": "author-topic model",
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


@dataclass(frozen=True)
class Sampling:
    """How long chains are, and with how many particles documents are scored; the paper is silent on it.

    Parameters
    ----------
    tune, draws, thin : int
        Sweeps before the first draw; draws; sweeps a draw.
    particles : int
    iterations : int
        Of variational inference, at most.
    """

    tune: int
    draws: int
    thin: int
    particles: int
    iterations: int = 100


@dataclass(frozen=True)
class _Scaling(Experiment):
    """Base: how models are fitted.

    Parameters
    ----------
    sampling : Sampling
    seed : int
    """

    sampling: Sampling
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


class Simulated(NamedTuple):
    """Documents under labels, and what made them.

    Attributes
    ----------
    train, test : Corpus
    words : float (K, V)
    log_scale : float (J, K)
    """

    train: Corpus
    test: Corpus
    words: np.ndarray
    log_scale: np.ndarray


@dataclass(frozen=True)
class SyntheticExperiment(_Scaling):
    """Section 5.1: topics and labels at places in a cube, and w their inverse distance.

    The paper varies the side of the cube. That multiplies all w, which changes no document: so lengths are
    varied here, as in its third experiment. It leaves the number of labels, labels a document, lengths and
    concentrations open.

    Parameters
    ----------
    lengths : tuple of int
        Mean number of tokens of a document, a Poisson variate.
    n_documents, n_test : int
        Documents to fit and to score.
    side : float
        Of the cube.
    n_topics, n_words, n_labels : int
        Twice as many topics are fitted, as in the paper.
    """

    lengths: tuple[int, ...] = (20, 50, 200)
    n_documents: int = 300
    n_test: int = 60
    side: float = 10.0
    n_topics: int = 10
    n_words: int = 20
    n_labels: int = 5
    methods: tuple[str, ...] = ("hdsp", "vi", "hdp")
    replicates: int = 3
    name: str = "scaling-synthetic"
    x: ClassVar[str] = "length"
    measure: ClassVar[str] = "perplexity"
    baseline: ClassVar[str] = "hdsp"
    difference: ClassVar[str] = "perplexity above"

    @override
    def settings(self) -> Iterator[dict[str, Any]]:
        yield from ({"length": length} for length in self.lengths)

    @override
    def check(self) -> None:
        self.simulate(self.lengths[0], 0)

    def simulate(self, length: int, replicate: int) -> Simulated:
        """Draw places, topics, labels and documents."""
        rng = np.random.default_rng([self.seed, replicate])
        places = rng.uniform(0.0, self.side, (self.n_topics + self.n_labels, 3))
        apart = np.linalg.norm(places[self.n_topics :, None] - places[None, : self.n_topics], axis=2)
        log_scale = -np.log(apart)
        words = rng.dirichlet(np.full(self.n_words, 0.1), self.n_topics)
        n = self.n_documents + self.n_test
        tags = rng.random((n, self.n_labels)) < 2.0 / self.n_labels
        shape = np.full((n, self.n_topics), 1.0)
        pi = rng.gamma(shape) * np.exp(tags @ log_scale)
        theta = pi / pi.sum(axis=1, keepdims=True)
        lengths = np.maximum(rng.poisson(length, n), 1)
        tokens = np.concatenate(
            [rng.choice(self.n_words, m, p=p) for m, p in zip(lengths, theta @ words, strict=True)]
        )
        whole = Corpus(
            tokens,
            np.append(0, np.cumsum(lengths)),
            n_words=self.n_words,
            covariates={"tag": sparse.csr_array(tags.astype(int))},
        )
        train, test = whole.take(slice(self.n_documents)), whole.take(slice(self.n_documents, None))
        return Simulated(train, test, words, log_scale)

    @override
    def run(self, cell: Cell) -> dict[str, float]:
        """See `Experiment.run`.

        Of the centred log scales: rank correlation with what was simulated, ``spearman``, and mean absolute
        error, ``mae``; the error without centring, ``mae_raw``; and ``perplexity``.
        """
        made = self.simulate(cell.setting["length"], cell.replicate)
        is_variational = cell.method == "vi"
        n_fitted = 2 * self.n_topics
        model = get(
            "hdsp",
            labels="none" if cell.method == "hdp" else "tag",
            n_topics=0 if is_variational else n_fitted,
        )
        tree = self.fit(model, made.train, cell, n_fitted if is_variational else None)
        out = {"spearman": np.nan, "mae": np.nan, "mae_raw": np.nan}
        if cell.method != "hdp":
            out = recovered(tree, made)
        return out | {"perplexity": self.perplexity(tree, made.test, cell)}


def recovered(tree: DataTree, made: Simulated) -> dict[str, float]:
    """Compare mean log scales with those simulated, topics matched by how near their words are."""
    found = []
    for (_, _, latents), frozen in zip(latents_of(tree), posterior_topics(tree, made.train), strict=True):
        log_scale = latents["log_scale"]
        words = np.log(np.maximum(frozen.words[: log_scale.shape[1]], 1e-12))
        divergence = -made.words @ words.T  # Kullback and Leibler's, but for what is the same for all
        found.append(log_scale[:, linear_sum_assignment(divergence)[1]])
    raw = np.mean(found, axis=0)
    centred, truth = (x - x.mean(axis=1, keepdims=True) for x in (raw, made.log_scale))
    return {
        "spearman": float(spearmanr(centred.ravel(), truth.ravel())[0]),  # type: ignore[arg-type]
        "mae": float(np.abs(centred - truth).mean()),
        "mae_raw": float(np.abs(raw - made.log_scale).mean()),
    }


@dataclass(frozen=True)
class _OfCorpus(_Scaling):
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


@dataclass(frozen=True)
class LabelsExperiment(_OfCorpus):
    """Figure 8: held-out perplexity given labels, with the share of training labels that are kept.

    Test documents have all of their labels but those that no training document has. Where each has one, it is
    predicted as well.

    Parameters
    ----------
    shares : tuple of float
    """

    shares: tuple[float, ...] = (0.1, 0.5, 1.0)
    methods: tuple[str, ...] = ("hdsp", "whdsp", *LABELLED, "hdp", *CLASSIFIERS)
    replicates: int = 2
    name: str = "scaling-labels"
    x: ClassVar[str] = "kept"
    measure: ClassVar[str] = "perplexity"
    baseline: ClassVar[str] = "hdp"
    difference: ClassVar[str] = "perplexity above"

    @override
    def settings(self) -> Iterator[dict[str, Any]]:
        yield from ({"kept": share} for share in self.shares)

    @override
    def classes(self, corpus: Corpus) -> np.ndarray:
        return np.asarray(corpus.covariates[self.label])

    @override
    def run(self, cell: Cell) -> dict[str, float]:
        """See `Experiment.run`; ``perplexity``, of topic models, and ``accuracy``, of single labels."""
        train, test = self.split(cell.replicate)
        rng = np.random.default_rng([self.seed, cell.replicate, 1])
        is_single = not sparse.issparse(train.covariates[self.label])
        out = {"perplexity": np.nan, "accuracy": np.nan}
        known = rng.random(train.n_documents) < cell.setting["kept"]
        if cell.method in CLASSIFIERS:
            if is_single:
                found = self.by_machine(cell, train, test, known)
                out["accuracy"] = float(np.mean(found == self.classes(test)))
            return out
        names = train.covariate_names[self.label]
        tags, of_test = (as_set(corpus.covariates[self.label], len(names)) for corpus in (train, test))
        in_train = np.flatnonzero(tags.sum(axis=0))
        tags, of_test, names = tags[:, in_train], of_test[:, in_train], names[in_train]
        if is_single:
            shown = sparse.csr_array(tags.multiply(known[:, None]))
        else:  # each label of each document for itself
            shown = sparse.csr_array(
                (rng.random(tags.nnz) < cell.setting["kept"], tags.indices, tags.indptr), tags.shape
            )
        train, test = with_labels(train, shown, names), with_labels(test, of_test, names)
        options = LABELLED.get(cell.method, {}) | {"labels": "shown"}
        model = get("hdsp", labels="none") if cell.method == "hdp" else get(cell.method, **options)
        tree = self.fit(model, train, cell)
        out["perplexity"] = self.perplexity(tree, test, cell)
        if is_single and cell.method != "hdp":
            guess = predict_labels(
                tree, test, "shown", particles=self.sampling.particles, seed=self.seed_of(cell)
            )
            out["accuracy"] = float(np.mean(guess.predicted == guess.truth))
        return out


def as_set(values: Any, n_names: int) -> sparse.csr_array:
    """Return labels as a matrix of sets (D, names), where they may be one number a document."""
    if sparse.issparse(values):
        return sparse.csr_array(values)
    cells = (np.ones(len(values), np.int64), (np.arange(len(values)), values))
    return sparse.csr_array(cells, shape=(len(values), n_names))


def with_labels(corpus: Corpus, labels: sparse.csr_array, names: np.ndarray) -> Corpus:
    """Corpus with the sets ``shown`` and no other covariate, without groups."""
    labels = sparse.csr_array(labels.astype(np.int64))
    labels.eliminate_zeros()
    return replace(
        corpus,
        group=None,
        group_names=None,
        covariates={"shown": labels},
        covariate_names={"shown": names},
    )


@dataclass(frozen=True)
class RatingsExperiment(_OfCorpus):
    """Section 5.3: ratings, binned to five of as many training documents each, told from the words.

    Parameters
    ----------
    document_counts : tuple of int
        Training documents; `most_documents` plays no part.
    """

    label: str = "rating"
    document_counts: tuple[int, ...] = (300,)
    methods: tuple[str, ...] = ("whdsp", "whdsp_alone", *LABELLED, *CLASSIFIERS)
    replicates: int = 2
    name: str = "scaling-ratings"
    x: ClassVar[str] = "documents"
    measure: ClassVar[str] = "macro_f1"
    baseline: ClassVar[str] = "svm"

    @override
    def settings(self) -> Iterator[dict[str, Any]]:
        yield from ({"documents": n} for n in self.document_counts)

    @override
    def classes(self, corpus: Corpus) -> np.ndarray:
        return np.asarray(corpus.covariates["stars"])

    @override
    def run(self, cell: Cell) -> dict[str, float]:
        """See `Experiment.run`; ``macro_f1``, ``micro_f1``, which is the accuracy, and F1 of each bin."""
        from sklearn.metrics import f1_score

        train, test = replace(self, most_documents=cell.setting["documents"]).split(cell.replicate)
        ratings = [np.asarray(part.covariates[self.label]) for part in (train, test)]
        ends = np.quantile(ratings[0], np.arange(1, RATINGS) / RATINGS)
        train, test = (
            replace(part, covariates={**part.covariates, "stars": np.searchsorted(ends, rating) + 1})
            for part, rating in zip((train, test), ratings, strict=True)
        )
        if cell.method in CLASSIFIERS:
            found = self.by_machine(cell, train, test, np.ones(train.n_documents, bool))
        else:
            others = ", group" if cell.method == "whdsp" and train.group is not None else ""
            model = get("whdsp", labels="stars" + others)
            if cell.method in LABELLED:  # to which five ratings are five labels
                model = get(cell.method, labels="stars:category", **LABELLED[cell.method])
            tree = self.fit(model, train, cell)
            guess = predict_labels(
                tree, test, "stars", particles=self.sampling.particles, seed=self.seed_of(cell)
            )
            found = np.array([int(value) for value in guess.values])[guess.predicted]
        truth, bins = self.classes(test), np.arange(1, RATINGS + 1)
        each: Any = f1_score(truth, found, labels=bins, average=None, zero_division=0.0)  # type: ignore[arg-type]
        return {
            "macro_f1": float(each.mean()),
            "micro_f1": float(np.mean(truth == found)),
        } | {f"f1_{star}": float(value) for star, value in zip(bins, each, strict=True)}


SMALL = Sampling(tune=150, draws=3, thin=10, particles=3, iterations=100)
PAPER = Sampling(tune=2000, draws=10, thin=50, particles=10, iterations=500)
