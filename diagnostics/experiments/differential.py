"""Differential topic models on real text: held-out perplexity, and telling collections apart.

References
----------
.. [1] C. Chen, W. Buntine, N. Ding, L. Xie, L. Du (2015). Differential topic models. IEEE Transactions on
   Pattern Analysis and Machine Intelligence 37(2). Sections 6.2 and 6.5.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, override

import numpy as np

from ...kernels.toolbox import foldin
from ...zoo.contract import FrozenTopics
from ...zoo.corpus import Corpus, CorpusError
from ...zoo.corpus.associate import associations_of, cooccurrence
from ...zoo.formats import read_corpus, to_counts
from ...zoo.inference import sample
from ...zoo.models import get
from ..heldout import document_completion, posterior_topics
from .runner import Cell, Experiment, Sampling

METHODS = {
    "tpyp": ("tpyp", "forced"),
    "hpyp": ("hpyp", "forced"),
    "hpyp-tables": ("hpyp", "tables"),
    "hpyp-seating": ("hpyp", "seating"),
    "pyp": ("pyp", "forced"),
    "cclda": ("cclda", "dense"),
    "group_lda": ("group_lda", "sparse"),
}
"""Model and variant of each method."""

CLASSIFIERS = ("svm_linear", "svm_rbf", "lda_svm")

LABELS = {
    "tpyp": "TI: tpyp",
    "hpyp": "TII: hpyp",
    "hpyp-tables": "CS: hpyp by table counts",
    "hpyp-seating": "SS: hpyp by seating",
    "pyp": "PYP: each group by itself",
    "cclda": "ccLDA",
    "group_lda": "LDA of each group",
    "svm_linear": "linear SVM on tf-idf",
    "svm_rbf": "RBF SVM on tf-idf",
    "lda_svm": "RBF SVM on LDA features",
    "n_topics": "number of topics",
    "perplexity": "held-out perplexity",
    "accuracy": "documents told apart",
}


@dataclass(frozen=True)
class _Differential(Experiment):
    """What the experiments share: documents of several groups, a fifth of which are held out.

    Hyperparameters are sampled under the models' own priors, but the discount of Pitman-Yor processes, which
    is 0.7 as in the paper. The associations of `tpyp` are the ten words that stand together most in the
    training documents: in a window of 20 kept words where these are in reading order, else in documents.

    Parameters
    ----------
    sampling : Sampling
    corpus : str
        File.
    groups : str, optional
        Covariate that says of which group a document is; the groups of the corpus if left out.
    topic_counts : tuple of int
    most_documents : int
        Documents that are taken at random from each replicate's; the rest play no part.
    least_documents : int
        A word is kept if it is in so many training documents.
    replicates : int
        Splits into training and test documents.
    seed : int
    """

    sampling: Sampling
    corpus: str
    groups: str | None = None
    topic_counts: tuple[int, ...] = (10, 30)
    most_documents: int = 10**9
    least_documents: int = 5
    replicates: int = 6
    seed: int = 0

    x: ClassVar[str] = "n_topics"
    labels: ClassVar = LABELS

    @override
    def settings(self) -> Iterator[dict[str, Any]]:
        yield from ({"n_topics": n} for n in self.topic_counts)

    def check(self) -> None:
        """Make all models, and draw the documents of all replicates."""
        for method in set(self.methods) & set(METHODS):
            for setting in self.settings():
                get(METHODS[method][0], **setting)
        for replicate in range(self.replicates):
            self.split(replicate)

    def split(self, replicate: int) -> tuple[Corpus, Corpus]:
        """Draw training and test documents, four to one, over the words of the training documents."""
        whole = corpus_with_groups(self.corpus, self.groups)
        rng = np.random.default_rng([self.seed, replicate])
        chosen = rng.permutation(np.flatnonzero(whole.doc_lengths > 0))[: self.most_documents]
        n_test = chosen.size // 5
        train, test = whole.take(chosen[n_test:]), whole.take(chosen[:n_test])
        present = np.diff(to_counts(train).tocsc().indptr) >= self.least_documents
        if n_test == 0 or not present.any():
            raise CorpusError(
                f"{self.corpus}: expected five documents and more, and words that {self.least_documents} of "
                f"them have, found {chosen.size} documents"
            )
        return with_words(train, present), with_words(test, present)

    def draw_topics(self, cell: Cell, train: Corpus, test: Corpus) -> list[FrozenTopics]:
        """Fit the method of a cell; topics at each draw, for test documents."""
        model, variant = METHODS[cell.method]
        if model == "tpyp":
            together = cooccurrence(train, train, 20 if train.in_order else None)
            train = replace(train, associations=associations_of(together, train.n_groups))
        tree = sample(
            get(model, n_topics=cell.setting["n_topics"]),
            train,
            variant=variant,
            chains=1,
            tune=self.sampling.tune,
            draws=self.sampling.draws,
            thin=self.sampling.thin,
            keep=self.sampling.draws,
            seed=self.seed_of(cell),
            workers=1,
            partial=False,
        )
        return list(posterior_topics(tree, test))

    def seed_of(self, cell: Cell) -> int:
        """Seed of a replicate, the same for all methods."""
        return int(np.random.SeedSequence([self.seed, cell.replicate]).generate_state(1)[0])


@dataclass(frozen=True)
class PerplexityExperiment(_Differential):
    """Figure 6: perplexity of half of each test document given the other half."""

    methods: tuple[str, ...] = tuple(METHODS)
    name: str = "differential"
    measure: ClassVar[str] = "perplexity"
    baseline: ClassVar[str] = "hpyp"
    difference: ClassVar[str] = "perplexity above"

    @override
    def run(self, cell: Cell) -> dict[str, float]:
        train, test = self.split(cell.replicate)
        topics = self.draw_topics(cell, train, test)
        score = document_completion(topics, test, seed=self.seed_of(cell))
        return {"perplexity": score.perplexity, "standard_error": score.standard_error}


@dataclass(frozen=True)
class ClassificationExperiment(_Differential):
    """Table 2: which group a test document is from."""

    topic_counts: tuple[int, ...] = (5,)
    methods: tuple[str, ...] = ("tpyp", "hpyp", "cclda", "group_lda", *CLASSIFIERS)
    name: str = "differential-classes"
    measure: ClassVar[str] = "accuracy"
    baseline: ClassVar[str] = "svm_linear"

    @override
    def run(self, cell: Cell) -> dict[str, float]:
        """See `Experiment.run`; ``accuracy``, and that of always guessing the largest group."""
        train, test = self.split(cell.replicate)
        if cell.method in CLASSIFIERS:
            found = self._by_machine(cell, train, test)
        else:
            found = most_likely_groups(self.draw_topics(cell, train, test), test, self.seed_of(cell))
        largest = np.bincount(train.group_of_doc).argmax()
        return {
            "accuracy": float(np.mean(found == test.group)),
            "guessing": float(np.mean(test.group == largest)),
        }

    def _by_machine(self, cell: Cell, train: Corpus, test: Corpus) -> np.ndarray:
        """Find groups by a support vector machine, its C chosen by five-fold cross-validation."""
        from sklearn.feature_extraction.text import TfidfTransformer
        from sklearn.model_selection import GridSearchCV
        from sklearn.pipeline import Pipeline
        from sklearn.preprocessing import StandardScaler
        from sklearn.svm import SVC, LinearSVC

        features: list[Any] = [to_counts(corpus) for corpus in (train, test)]
        scale: Any = TfidfTransformer()
        machine: Any = SVC()
        if cell.method == "svm_linear":
            machine = LinearSVC()
        elif cell.method == "lda_svm":
            topics = self._lda_topics(cell, train)
            features = [mean_proportions(topics, corpus, 0, self.seed_of(cell)) for corpus in (train, test)]
            scale = StandardScaler()
        steps = Pipeline([("scale", scale), ("machine", machine)])
        search = GridSearchCV(steps, {"machine__C": [0.1, 1.0, 10.0, 100.0]})
        return search.fit(features[0], train.group).predict(features[1])

    def _lda_topics(self, cell: Cell, train: Corpus) -> FrozenTopics:
        """Topics of LDA on all training documents, at its last draw."""
        tree = sample(
            get("lda", n_topics=cell.setting["n_topics"]), train, chains=1, tune=self.sampling.tune, draws=1,
            keep=1, seed=self.seed_of(cell), workers=1, partial=False,
        )  # fmt: skip
        return next(posterior_topics(tree, train))


def most_likely_groups(topics: Iterable[FrozenTopics], test: Corpus, seed: int = 0) -> np.ndarray:
    """Find the groups under whose topics documents are likeliest, int (D,).

    The score of group g is ``sum_i log sum_k theta_dk phi^g_k,w_i``, averaged over draws as probabilities;
    theta is the posterior mean under g's own topics. The paper prints no logarithm, and has theta from the
    shared topics, which some models do not have, and whose words may be others.

    Parameters
    ----------
    topics : iterable of FrozenTopics
        One a posterior draw.
    test : Corpus
    seed : int
    """
    scores = []
    for frozen in topics:
        of_group = np.empty((len(frozen.prior), test.n_documents))
        for g in range(len(frozen.prior)):
            theta = mean_proportions(frozen, test, g, seed)
            words = frozen.words_of(g).T[test.words]
            log_p = np.log(np.einsum("nk,nk->n", theta[test.doc_of], words))
            of_group[g] = np.bincount(test.doc_of, weights=log_p, minlength=test.n_documents)
        scores.append(of_group)
    return np.logaddexp.reduce(scores, axis=0).argmax(axis=0)


def mean_proportions(frozen: FrozenTopics, corpus: Corpus, group: int, seed: int) -> np.ndarray:
    """Posterior mean topic proportions of documents as if all were of one group, float (D, K)."""
    theta = np.empty((corpus.n_documents, frozen.prior.shape[1]))
    word_topics = np.ascontiguousarray(frozen.words_of(group).T)[None]
    everyone = np.zeros(corpus.n_documents, np.int32)
    prior = frozen.prior[group : group + 1]
    rng = np.random.default_rng(seed)
    foldin.fold_in(rng, corpus.words, corpus.doc_ptr, everyone, word_topics, prior, 20, 20, theta)
    return theta


@cache
def corpus_with_groups(path: str, groups: str | None) -> Corpus:
    """Read a corpus whose groups are its own or, where it is named, the values of a covariate."""
    corpus = read_corpus(Path(path))
    if groups is not None:
        return corpus.grouped(groups)
    if corpus.group is None:
        raise CorpusError(f"{path}: expected groups, or the name of a covariate to tell them by")
    return corpus


def with_words(corpus: Corpus, kept: np.ndarray) -> Corpus:
    """Corpus without the tokens of other words than those `kept`, bool (V,), and without those words.

    Associations are gone: what the other words become is no longer among the words.
    """
    part = corpus.keep(kept[corpus.words])
    return replace(
        part,
        words=(np.cumsum(kept) - 1)[part.words],
        vocabulary=corpus.vocabulary[kept],
        n_words=int(kept.sum()),
        associations=None,
    )


SMALL = Sampling(tune=100, draws=10, thin=2)
PAPER = Sampling(tune=2000, draws=100)
PAPER_CLASSES = Sampling(tune=50, draws=150)
