"""What is recovered of simulated scales of topics under labels (Kim & Oh, Section 5.1)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, override

import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from scipy.stats import spearmanr
from xarray import DataTree

from ...zoo.corpus import Corpus
from ...zoo.inference import latents_of
from ...zoo.models import get
from ..heldout import posterior_topics
from .runner import Cell
from .scaling import ScalingExperiment


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
class SyntheticExperiment(ScalingExperiment):
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
