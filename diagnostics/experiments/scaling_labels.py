"""What labels tell of words, and words of labels (Kim & Oh, Section 5.2)."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, override

import numpy as np
from scipy import sparse
from xarray import DataTree

from ...zoo.contract import Model
from ...zoo.corpus import Corpus
from ...zoo.models import get
from ..heldout.labels import PredictedLabels, predict_labels
from ..heldout.responses import predict_response
from .runner import Cell
from .scaling import CLASSIFIERS, LABELLED, RESPONDING, CorpusExperiment

UNKNOWN = "not known"


class Labels(NamedTuple):
    """Labels of documents.

    Attributes
    ----------
    train, test : sparse.csr_array
        Shape (documents, labels), of 0 and 1.
    names : (labels,) array
    """

    train: sparse.csr_array
    test: sparse.csr_array
    names: np.ndarray


@dataclass(frozen=True)
class LabelsExperiment(CorpusExperiment):
    """Figure 8: held-out perplexity given labels, with the share of training labels that are kept.

    Test documents have all of their labels but those that no training document has. Where each has one, it is
    predicted as well, and ``hdsp_sampled`` samples those that are left out. To `RESPONDING` they are
    responses, and play no part in the perplexity of test documents.

    Parameters
    ----------
    shares : tuple of float
    """

    shares: tuple[float, ...] = (0.1, 0.5, 1.0)
    methods: tuple[str, ...] = (
        "hdsp", "hdsp_sampled", "whdsp", *LABELLED, *RESPONDING, "hdp", *CLASSIFIERS,
    )  # fmt: skip
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
        labels = self.labels(train, test)
        if is_single:
            shown = sparse.csr_array(labels.train.multiply(known[:, None]))
        else:  # each label of each document for itself
            kept = rng.random(labels.train.nnz) < cell.setting["kept"]
            shown = sparse.csr_array((kept, labels.train.indices, labels.train.indptr), labels.train.shape)
        if cell.method in RESPONDING or cell.method == "hdsp_sampled":
            if not is_single:
                return out
            unknown = "" if cell.method in RESPONDING else UNKNOWN
            train = with_categories(train, shown, labels.names, unknown)
        else:
            train = with_labels(train, shown, labels.names)
        if cell.method in RESPONDING:  # none is of a category that no training document has
            test = with_categories(test, labels.test, labels.names, "")
        else:
            test = with_labels(test, labels.test, labels.names)
        tree = self.fit(self.model(cell.method), train, cell)
        out["perplexity"] = self.perplexity(tree, test, cell)
        if is_single and cell.method != "hdp":
            guess = self.guess(cell, tree, test)
            out["accuracy"] = float(np.mean(guess.predicted == guess.truth))
        return out

    def labels(self, train: Corpus, test: Corpus) -> Labels:
        """Find the labels of both parts, of those that a training document has."""
        names = train.covariate_names[self.label]
        sets = [as_set(corpus.covariates[self.label], len(names)) for corpus in (train, test)]
        in_train = np.flatnonzero(sets[0].sum(axis=0))
        return Labels(sets[0][:, in_train], sets[1][:, in_train], names[in_train])

    def model(self, method: str) -> Model:
        """Make the model of a method, which finds labels under the name ``shown``."""
        if method in RESPONDING:
            return get(method, response="shown", **RESPONDING[method])
        if method == "hdsp_sampled":
            return get("hdsp", labels="shown", missing=UNKNOWN)
        if method == "hdp":
            return get("hdsp", labels="none")
        return get(method, **LABELLED.get(method, {}), labels="shown")

    def guess(self, cell: Cell, tree: DataTree, test: Corpus) -> PredictedLabels:
        """Tell the labels of test documents from their words."""
        seed = self.seed_of(cell)
        if cell.method in RESPONDING:
            found = predict_response(tree, test, "shown", seed=seed)
            assert isinstance(found, PredictedLabels)
            return found
        return predict_labels(tree, test, "shown", particles=self.sampling.particles, seed=seed)


def as_set(values: Any, n_names: int) -> sparse.csr_array:
    """Return labels as a matrix of sets (D, names), where they may be one number a document."""
    if sparse.issparse(values):
        return sparse.csr_array(values)
    cells = (np.ones(len(values), np.int64), (np.arange(len(values)), values))
    return sparse.csr_array(cells, shape=(len(values), n_names))


def with_categories(corpus: Corpus, labels: sparse.csr_array, names: np.ndarray, none: str) -> Corpus:
    """Corpus with the category ``shown`` alone, and without groups; it is `none` where a set is empty."""
    code = np.where(labels.sum(axis=1) > 0, labels.toarray().argmax(axis=1), len(names))
    return replace(
        corpus,
        group=None,
        group_names=None,
        covariates={"shown": code},
        covariate_names={"shown": [*names, none]},
    )


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
