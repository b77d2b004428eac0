"""Topics under a belief network on short texts: held-out perplexity, coherence, and classes told from topics.

References
----------
.. [1] H. Zhao, L. Du, W. Buntine, M. Zhou. Dirichlet belief networks for topic structure learning. Section 5,
   Table 1 and Figure 3; supplement, Table 1.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, override

import numpy as np
from xarray import DataTree

from ...zoo.contract import FrozenTopics, Model
from ...zoo.corpus import Corpus, CorpusError
from ...zoo.families.poisson.predictive import LayeredPredictive
from ...zoo.formats import read_corpus
from ...zoo.inference import sample
from ...zoo.models import get
from ...zoo.predictive import Predictive
from ..coherence import npmi, top_words
from ..heldout import document_completion, posterior_predictives, posterior_topics
from .differential import mean_proportions
from .runner import Cell, Experiment, Sampling

METHODS = (
    "pfa",
    "pfa_symmetric",
    "pfa_dirbn1",
    "pfa_dirbn3",
    "metalda",
    "metalda_dirbn3",
    "gbn",
    "gbn_dirbn3",
    "hdp",
)

MALLET = "pfa_mallet"
"""Topics with the most likely eta; where asked for."""

PEER = "tomotopy"
"""LDA of another package, where it is installed."""

TOP, BEST = 10, 50
"""Words of a topic that coherence looks at, and topics that it is averaged over: the most coherent ones."""

CLASSES = "label"
"""Covariate that documents are classified by."""

PENALTIES = (1.0, 10.0, 100.0)
"""Inverse penalties of logistic regression; one is chosen by cross-validation on training documents."""

LABELS = {
    "pfa": "PFA",
    "pfa_symmetric": "PFA, sampled eta",
    MALLET: "PFA, MALLET's eta",
    "pfa_dirbn1": "PFA + DirBN-1",
    "pfa_dirbn3": "PFA + DirBN-3",
    "metalda": "MetaLDA",
    "metalda_dirbn3": "MetaLDA + DirBN-3",
    "gbn": "GBN",
    "gbn_dirbn3": "GBN + DirBN-3",
    "hdp": "HDP",
    PEER: "LDA of tomotopy",
    "data": "",
    "share": "share of the words of training documents",
    "perplexity": "held-out perplexity",
}


class Fitted(NamedTuple):
    """What a method says of new documents.

    Attributes
    ----------
    predictives : list of Predictive
        One a posterior draw.
    topics : FrozenTopics
        Of the last.
    upper : float (2,)
        Effective numbers of topics of the second and the third layer, means over draws; NaN without.
    """

    predictives: list[Predictive]
    topics: FrozenTopics
    upper: np.ndarray


@dataclass(frozen=True)
class BeliefNetworkExperiment(Experiment):
    """Table 1, Figure 3 and Table 1 of the supplement, on corpora of yours.

    Training documents keep a share of their tokens, at random, one at least; test documents are whole. These
    are those that the corpus marks by ``is_test``, or else a fifth at random.

    Parameters
    ----------
    sampling : Sampling
    corpora : tuple of str
        Files. Documents with a covariate ``label`` of categories are classified by it.
    shares : tuple of float
    n_topics : int
        Of every layer.
    eta : float
        Dirichlet parameter of topics that have neither a sampled one nor a belief network.
    methods : tuple of str
    replicates : int
        Choices of the tokens, and chains.
    seed : int
    """

    sampling: Sampling
    corpora: tuple[str, ...] = ()
    shares: tuple[float, ...] = (0.2, 1.0)
    n_topics: int = 100
    eta: float = 0.05
    methods: tuple[str, ...] = METHODS
    replicates: int = 1
    seed: int = 0
    name: str = "belief-network"
    x: ClassVar[str] = "share"
    panel: ClassVar[str] = "data"
    measure: ClassVar[str] = "perplexity"
    baseline: ClassVar[str] = "pfa"
    difference: ClassVar[str] = "perplexity above"
    labels: ClassVar = LABELS

    @override
    def settings(self) -> Iterator[dict[str, Any]]:
        for path in self.corpora:
            yield from ({"data": Path(path).stem, "share": share} for share in self.shares)

    @override
    def check(self) -> None:
        names = [Path(path).stem for path in self.corpora]
        if len(set(names)) < len(names):
            raise CorpusError(f"corpora: expected names that differ, found {', '.join(names)}")
        for path in self.corpora:
            train, test = self.split(path, 0)
            if min(train.n_tokens, test.n_tokens) == 0:
                raise CorpusError(f"{path}: expected tokens to fit and to predict, found none")

    def split(self, path: str, replicate: int) -> tuple[Corpus, Corpus]:
        """Return training and test documents."""
        whole = _read(path)
        if "is_test" in whole.covariates:
            return whole.split()
        order = np.random.default_rng([self.seed, replicate]).permutation(whole.n_documents)
        n_test = whole.n_documents // 5
        return whole.take(order[n_test:]), whole.take(order[:n_test])

    def model(self, method: str, is_labelled: bool) -> Model:
        """Make the model of a method."""
        if method == "hdp":
            return get("hdp")
        document_side, _, topics = method.partition("_")
        of_topics: dict[str, Any] = {"eta": self.eta}
        if topics in ("symmetric", "mallet"):
            of_topics = {}
        elif topics:
            layers = int(topics.removeprefix("dirbn"))
            of_topics = {"topics": "belief-network", "layers": layers, "width": self.n_topics}
        labels = {"labels": CLASSES if is_labelled else "none"} if document_side == "metalda" else {}
        return get(document_side, n_topics=self.n_topics, **of_topics, **labels)

    @override
    def run(self, cell: Cell) -> dict[str, float]:
        """See `Experiment.run`.

        ``perplexity`` of halves of test documents given the other halves; ``npmi`` of the most coherent
        topics, counted in whole training documents; ``accuracy`` of classes, where documents have some;
        ``upper_2`` and ``upper_3``, how many topics layers above the first have need of.
        """
        path = next(path for path in self.corpora if Path(path).stem == cell.setting["data"])
        whole, test = self.split(path, cell.replicate)
        seed = int(np.random.SeedSequence([self.seed, cell.replicate]).generate_state(1)[0])
        train = thinned(whole, cell.setting["share"], seed)
        fitted = fit_peer(train, self, seed) if cell.method == PEER else self.fit(cell.method, train, seed)
        score = document_completion(fitted.predictives, test, seed=seed)
        top = top_words(fitted.topics.words, min(TOP, whole.n_words))
        coherence = np.sort(npmi(top, whole))[-BEST:]
        return {
            "perplexity": score.perplexity,
            "npmi": float(coherence.mean()),
            "accuracy": accuracy(fitted.predictives[-1], fitted.topics, train, test, seed),
            "upper_2": float(fitted.upper[0]),
            "upper_3": float(fitted.upper[1]),
        }

    def fit(self, method: str, train: Corpus, seed: int) -> Fitted:
        """Sample one chain of one of the package's models."""
        plan, model = self.sampling, self.model(method, CLASSES in train.covariates)
        tree = sample(
            model, train, variant="mallet" if method == MALLET else None, chains=1, tune=plan.tune,
            draws=plan.draws, thin=plan.thin, keep=plan.draws, seed=seed, start="seated", workers=1,
            partial=False,
        )  # fmt: skip
        *_, topics = posterior_topics(tree, train)
        if method == "hdp":  # the last row stands for topics not seen yet
            topics = FrozenTopics(topics.words[:-1], topics.prior[:, :-1])
        return Fitted([*posterior_predictives(tree, train)], topics, upper_topics(tree))


def upper_topics(tree: DataTree) -> np.ndarray:
    """Effective numbers of topics of the second and the third layer, means over draws, float (2,)."""
    out = np.full(2, np.nan)
    if "upper_topics" in tree["posterior"]:
        means = tree["posterior"]["upper_topics"].mean(("chain", "draw")).to_numpy()
        out[: means.size] = means[:2]
    return out


def fit_peer(train: Corpus, experiment: BeliefNetworkExperiment, seed: int) -> Fitted:
    """Sample LDA by tomotopy, which climbs to an alpha a topic; of its last sweep."""
    import tomotopy

    peer = tomotopy.LDAModel(k=experiment.n_topics, seed=seed % 2**31, min_cf=0, rm_top=0)
    for words in np.split(train.words, train.doc_ptr[1:-1]):
        if words.size:
            peer.add_doc([str(word) for word in words])
    peer.train(experiment.sampling.tune + experiment.sampling.draws * experiment.sampling.thin, workers=1)
    known = np.array([int(word) for word in peer.used_vocabs])
    counts = np.zeros((experiment.n_topics, train.n_words))
    counts[:, known] = [peer.get_topic_word_dist(k, normalize=False) for k in range(experiment.n_topics)]
    counts[:, np.setdiff1d(np.arange(train.n_words), known)] = peer.eta
    topics = FrozenTopics(counts / counts.sum(axis=1, keepdims=True), np.array(peer.alpha, float)[None])
    return Fitted([topics], topics, np.full(2, np.nan))


def thinned(corpus: Corpus, share: float, seed: int) -> Corpus:
    """Corpus with a share of the tokens of each document, at random; of one that has any, one at least."""
    rng = np.random.default_rng([seed, 1])
    shuffled = np.lexsort((rng.random(corpus.n_tokens), corpus.doc_of))
    rank = np.arange(corpus.n_tokens) - corpus.doc_ptr[corpus.doc_of]
    most = np.maximum(np.rint(share * corpus.doc_lengths), 1)
    kept = np.empty(corpus.n_tokens, bool)
    kept[shuffled] = rank < most[corpus.doc_of]
    return corpus.keep(kept)


def accuracy(predictive: Predictive, topics: FrozenTopics, train: Corpus, test: Corpus, seed: int) -> float:
    """Share of test documents whose class is told from their topics; NaN where documents have none.

    Features are proportions of topics given the words alone, of training documents as of test documents: no
    label enters those of either.
    """
    if CLASSES not in train.covariates:
        return np.nan
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV
    from threadpoolctl import threadpool_limits

    features = [proportions(predictive, topics, part, seed) for part in (train, test)]
    machine = GridSearchCV(LogisticRegression(max_iter=300), {"C": list(PENALTIES)}, cv=3)
    with threadpool_limits(1):  # matrices are small: on a busy machine threads wait for one another
        machine.fit(features[0], np.asarray(train.covariates[CLASSES]))
    return float(np.mean(machine.predict(features[1]) == np.asarray(test.covariates[CLASSES])))


def proportions(predictive: Predictive, topics: FrozenTopics, corpus: Corpus, seed: int) -> np.ndarray:
    """Posterior mean proportions of topics in documents, given a draw and their words, float (D, K)."""
    if isinstance(predictive, LayeredPredictive):
        return predictive.proportions(corpus, np.random.default_rng(seed), burn_in=20, sweeps=20)
    return mean_proportions(topics, corpus, 0, seed)


@cache
def _read(path: str) -> Corpus:
    return read_corpus(Path(path))


SMALL = Sampling(tune=200, draws=5, thin=20)
PAPER = Sampling(tune=1500, draws=300, thin=5)
"""1,500 sweeps before 1,500 of which every fifth counts."""
