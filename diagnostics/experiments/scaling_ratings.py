"""Ratings told from words (Kim & Oh, Section 5.3)."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, override

import numpy as np
from xarray import DataTree

from ...zoo.contract import Model
from ...zoo.corpus import Corpus
from ...zoo.models import get
from ..heldout.labels import PredictedLabels, predict_labels
from ..heldout.responses import predict_response
from .runner import Cell
from .scaling import CLASSIFIERS, LABELLED, RESPONDING, CorpusExperiment

RATINGS = 5
RESPONSES = dict.fromkeys(RESPONDING, "stars:category") | {"slda_number": "stars:number"}
"""What a rating is to models to which it is a response."""


@dataclass(frozen=True)
class RatingsExperiment(CorpusExperiment):
    """Section 5.3: ratings, binned to five of as many training documents each, told from the words.

    Parameters
    ----------
    document_counts : tuple of int
        Training documents; `most_documents` plays no part.
    """

    label: str = "rating"
    document_counts: tuple[int, ...] = (300,)
    methods: tuple[str, ...] = (
        "whdsp", "whdsp_alone", *LABELLED, *RESPONSES, *CLASSIFIERS,
    )  # fmt: skip
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
            tree = self.fit(self.model(cell.method, train), train, cell)
            found = self.guess(cell, tree, test)
        truth, bins = self.classes(test), np.arange(1, RATINGS + 1)
        each: Any = f1_score(truth, found, labels=bins, average=None, zero_division=0.0)  # type: ignore[arg-type]
        return {
            "macro_f1": float(each.mean()),
            "micro_f1": float(np.mean(truth == found)),
        } | {f"f1_{star}": float(value) for star, value in zip(bins, each, strict=True)}

    def model(self, method: str, train: Corpus) -> Model:
        """Model of a method; to those of labels five ratings are five labels."""
        if method in LABELLED:
            return get(method, labels="stars:category", **LABELLED[method])
        if method in RESPONSES:
            model_id = method.removesuffix("_number")
            return get(model_id, response=RESPONSES[method], **RESPONDING[model_id])
        others = ", group" if method == "whdsp" and train.group is not None else ""
        return get("whdsp", labels="stars" + others)

    def guess(self, cell: Cell, tree: DataTree, test: Corpus) -> np.ndarray:
        """Tell the ratings of test documents from their words, int (D,)."""
        seed = self.seed_of(cell)
        if cell.method in RESPONSES:
            found = predict_response(tree, test, RESPONSES[cell.method], seed=seed)
        else:
            found = predict_labels(tree, test, "stars", particles=self.sampling.particles, seed=seed)
        if isinstance(found, PredictedLabels):
            return np.array([int(value) for value in found.values])[found.predicted]
        return np.clip(np.rint(found.mean), 1, RATINGS).astype(int)
