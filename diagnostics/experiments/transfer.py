"""Transfer learning with the sparse transfer topic model: the paper's experiments 1 to 3.

References
----------
.. [1] A. Faisal, J. Gillberg, G. Leen, J. Peltonen (2013). Transfer learning using a nonparametric sparse
   topic model. Neurocomputing 112. Section 5.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, override

import numpy as np

from ...zoo.contract import Gamma, Model
from ...zoo.corpus import Corpus, CorpusError
from ...zoo.designs import TransferContinuum
from ...zoo.formats import from_texts, read_corpus
from ...zoo.inference import sample
from ...zoo.models import get
from ..heldout import posterior_topics
from ..heldout.empirical_likelihood import empirical_likelihood
from .runner import Cell, Experiment, Sampling

METHODS = ("sparse_transfer", "published", "mt_hdp", "hdp")
LABELS = {
    "sparse_transfer": "sparse transfer, exact",
    "published": "sparse transfer, Algorithm 1 as published",
    "mt_hdp": "three-level HDP",
    "hdp": "HDP on the task of interest alone",
    "mixing": "position on the continuum, u",
    "n_tasks": "number of tasks",
    "n_documents": "documents of the task of interest",
    "log_likelihood": "held-out log likelihood a word",
}


@dataclass(frozen=True, kw_only=True)
class TransferSampling(Sampling):
    """How the posterior is drawn from and held-out documents are scored.

    Parameters
    ----------
    chains : int
        Starts; their draws are averaged. The paper has one.
    samples : int
        Topic proportions simulated for each draw, for the empirical likelihood. The paper is silent.
    """

    chains: int
    samples: int = 1000


@dataclass(frozen=True)
class TransferPrior:
    """Hyperparameters; defaults are the paper's, or are said to be ours.

    Parameters
    ----------
    alpha, epsilon, a1, a2 : float
        Of `sparse_transfer`.
    eta : float
        Of all models.
    """

    alpha: float = 5.0
    epsilon: float = 0.01
    a1: float = 5.0
    a2: float = 0.1
    eta: float = 5e-5

    def model(self, method: str) -> Model:
        """Model of a method. Concentrations of the HDPs have priors, which the paper does not give."""
        match method:
            case "sparse_transfer" | "published":
                return get("sparse_transfer", alpha=self.alpha, epsilon=self.epsilon, a1=self.a1, a2=self.a2,
                           eta=self.eta)  # fmt: skip
            case "mt_hdp":
                return get("mt_hdp", gamma=Gamma(1.0, 0.1), alpha=Gamma(1.0, 1.0), alpha0=Gamma(1.0, 1.0),
                           eta=self.eta)  # fmt: skip
            case "hdp":
                return get("hdp", gamma=Gamma(1.0, 0.1), alpha=Gamma(1.0, 1.0), eta=self.eta)
        raise ValueError(f"no method {method!r}; there are {', '.join(METHODS)}")


def held_out_score(
    method: str, prior: TransferPrior, sampling: TransferSampling, train: Corpus, test: Corpus, seed: int
) -> dict[str, float]:
    """Fit a method and score documents of the task of interest, which is group 0.

    Parameters
    ----------
    method : str
        One of `METHODS`.
    prior : TransferPrior
    sampling : TransferSampling
    train, test : Corpus
        Over one vocabulary.
    seed : int

    Returns
    -------
    dict
        ``log_likelihood`` a word; ``spread``, the standard deviation of the chains' own (NaN for one chain):
        where it is as large as what methods differ by, chains did not mix; ``n_topics`` on average.
    """
    if method == "hdp":
        train = train.take(train.group_of_doc == 0)
    tree = sample(
        prior.model(method),
        train,
        variant="published" if method == "published" else None,
        start="seated",
        chains=sampling.chains,
        tune=sampling.tune,
        draws=sampling.draws,
        thin=sampling.thin,
        keep=sampling.draws,
        seed=seed,
        workers=1,
        partial=False,
    )
    topics = list(posterior_topics(tree, test))
    log_p = empirical_likelihood(topics, test, seed=seed, samples=sampling.samples).log_probability
    of_chains = [
        empirical_likelihood(
            topics[c * sampling.draws : (c + 1) * sampling.draws], test, seed=seed, samples=sampling.samples
        ).log_probability.sum()
        for c in range(sampling.chains)
    ]
    return {
        "log_likelihood": log_p.sum() / test.n_tokens,
        "spread": np.std(of_chains, ddof=1) / test.n_tokens if sampling.chains > 1 else np.nan,
        "n_topics": np.mean(tree["posterior"]["n_topics"].to_numpy()),
    }


@dataclass(frozen=True)
class _Transfer(Experiment):
    """What the experiments share.

    Parameters
    ----------
    sampling : TransferSampling
    prior : TransferPrior
    methods : tuple of str
    replicates : int
    seed : int
    """

    sampling: TransferSampling
    prior: TransferPrior
    methods: tuple[str, ...] = METHODS
    replicates: int = 10
    seed: int = 0

    measure: ClassVar[str] = "log_likelihood"
    baseline: ClassVar[str] = "mt_hdp"
    labels: ClassVar = LABELS

    def problem(self, setting: dict[str, Any], replicate: int) -> tuple[Corpus, Corpus]:
        """Training and test documents."""
        raise NotImplementedError

    def check(self) -> None:
        """Make all models and data sets."""
        for method in self.methods:
            self.prior.model(method)
        for replicate in range(self.replicates):
            for setting in self.settings():
                self.problem(setting, replicate)

    @override
    def run(self, cell: Cell) -> dict[str, float]:
        train, test = self.problem(cell.setting, cell.replicate)
        seed = int(np.random.SeedSequence([self.seed, cell.replicate]).generate_state(1)[0])
        return held_out_score(cell.method, self.prior, self.sampling, train, test, seed)


@dataclass(frozen=True)
class SyntheticTransfer(_Transfer):
    """Synthetic corpora along the continuum from shared to random topics (Appendix B).

    Parameters
    ----------
    mixings : tuple of float
        Positions on the continuum.
    task_counts : tuple of int
    """

    mixings: tuple[float, ...] = (0.0, 0.25, 0.5, 0.75, 1.0)
    task_counts: tuple[int, ...] = (10,)

    @override
    def settings(self) -> Iterator[dict[str, Any]]:
        for n_tasks in self.task_counts:
            for mixing in self.mixings:
                yield {"mixing": mixing, "n_tasks": n_tasks}

    def problem(self, setting: dict[str, Any], replicate: int) -> tuple[Corpus, Corpus]:
        """Draw both ends of the continuum anew for each replicate and number of tasks, and the corpora."""
        n_tasks, mixing = setting["n_tasks"], setting["mixing"]
        key = [self.seed, replicate, n_tasks]
        continuum = TransferContinuum(n_tasks=n_tasks).draw(np.random.default_rng(key))
        problem = continuum.at(mixing, np.random.default_rng([*key, round(1e6 * mixing)]))
        return problem.train.corpus, problem.test.corpus


@dataclass(frozen=True)
class ContinuumExperiment(SyntheticTransfer):
    """Experiment 1: along the continuum."""

    name: str = "transfer-continuum"
    x: ClassVar[str] = "mixing"


@dataclass(frozen=True)
class TasksExperiment(SyntheticTransfer):
    """Experiment 2: with the number of tasks."""

    name: str = "transfer-tasks"
    x: ClassVar[str] = "n_tasks"
    panel: ClassVar[str] = "mixing"
    labels: ClassVar = LABELS | {"mixing": "u ="}


@dataclass(frozen=True)
class DocumentsExperiment(_Transfer):
    """Experiment 3: with the number of documents of the task of interest, on real text, cross-validated.

    A replicate is a fold: its documents of the task of interest are the test documents.

    Parameters
    ----------
    corpus : str
        File, or ``"20newsgroups"`` for the groups comp.* as scikit-learn fetches them.
    tasks : str
        Covariate that says of which task a document is; empty for the groups of the corpus.
    task_of_interest : int
    document_counts : tuple of int
        Training documents of the task of interest.
    other_documents : int
        Training documents of each other task.
    most_test_documents : int
        Test documents of a fold, at random.
    folds : int
    """

    name: str = "transfer-documents"
    replicates: int = 5
    corpus: str = ""
    tasks: str = ""
    task_of_interest: int = 0
    document_counts: tuple[int, ...] = (5, 10, 20, 40)
    other_documents: int = 50
    most_test_documents: int = 200
    folds: int = 5

    x: ClassVar[str] = "n_documents"

    @override
    def settings(self) -> Iterator[dict[str, Any]]:
        yield from ({"n_documents": n} for n in self.document_counts)

    def problem(self, setting: dict[str, Any], replicate: int) -> tuple[Corpus, Corpus]:
        """Draw training and test documents; fewer documents of interest are some of the more."""
        whole = corpus_with_tasks(self.corpus, self.tasks, self.task_of_interest)
        if self.replicates > self.folds:
            raise ValueError(f"expected at most {self.folds} replicates, one a fold, found {self.replicates}")
        order = np.random.default_rng([self.seed, 0]).permutation(np.flatnonzero(whole.doc_lengths > 0))
        group = whole.group_of_doc[order]
        of_interest = order[group == 0]
        if of_interest.size < self.folds:
            raise CorpusError(
                f"{self.corpus}: expected at least {self.folds} documents of the task of interest, "
                f"one a fold, found {of_interest.size}"
            )
        test = of_interest[replicate :: self.folds]
        rng = np.random.default_rng([self.seed, 1, replicate])
        remaining = rng.permutation(np.setdiff1d(of_interest, test))
        most = max(self.document_counts)
        if remaining.size < most:
            raise CorpusError(
                f"{self.corpus}: expected at least {most} documents of the task of interest in "
                f"{self.folds - 1} of {self.folds} folds, found {remaining.size}"
            )
        train = [remaining[: setting["n_documents"]]]
        for task in range(1, whole.n_groups):
            train.append(rng.permutation(order[group == task])[: self.other_documents])
        return whole.take(np.concatenate(train)), whole.take(test[: self.most_test_documents])


@cache
def corpus_with_tasks(path: str, tasks: str, task_of_interest: int) -> Corpus:
    """Corpus whose groups are tasks, the task of interest first.

    Parameters
    ----------
    path : str
        File, or ``"20newsgroups"``.
    tasks : str
        A covariate of whole numbers; empty for the groups of the corpus.
    task_of_interest : int

    Raises
    ------
    CorpusError
        No such covariate, no groups, or no such task.
    """
    corpus = newsgroups() if path == "20newsgroups" else read_corpus(Path(path))
    group = corpus.covariates.get(tasks) if tasks else corpus.group
    if not isinstance(group, np.ndarray) or group.ndim != 1 or group.dtype.kind not in "iu":
        named = ", ".join(corpus.covariates) or "none"
        what = f"a covariate {tasks!r} of whole numbers" if tasks else "groups (or name a covariate)"
        raise CorpusError(f"{path}: expected {what} to tell tasks by, found covariates: {named}")
    values, group = np.unique(group, return_inverse=True)
    if task_of_interest not in values:
        raise CorpusError(
            f"{path}: task of interest: expected one of {', '.join(map(str, values))}, "
            f"found {task_of_interest}"
        )
    order = np.argsort(values != task_of_interest, kind="stable")
    names = corpus.covariate_names.get(tasks) if tasks else corpus.group_names
    names = np.array([f"task {value}" for value in values]) if names is None else names[values]
    return corpus.with_groups(np.argsort(order)[group], names[order])


def newsgroups() -> Corpus:
    """Read the five groups comp.* of 20 newsgroups, through scikit-learn; words in 5 documents and more."""
    from sklearn.datasets import fetch_20newsgroups
    from sklearn.feature_extraction.text import CountVectorizer

    groups = ["comp.sys.ibm.pc.hardware", "comp.graphics", "comp.os.ms-windows.misc",
              "comp.sys.mac.hardware", "comp.windows.x"]  # fmt: skip
    try:
        fetched: Any = fetch_20newsgroups(
            subset="train", categories=groups, remove=("headers", "footers", "quotes")
        )
    except OSError as error:
        raise CorpusError(
            f"20newsgroups: scikit-learn could not fetch it ({error}); name a corpus file instead"
        ) from None
    rank = np.array([groups.index(name) for name in fetched.target_names])
    return from_texts(
        fetched.data,
        CountVectorizer(stop_words="english", min_df=5, max_df=0.3),
        group=rank[fetched.target],
        group_names=np.array(groups),
    )


SMALL = TransferSampling(chains=2, tune=500, draws=20, thin=5)
PAPER = TransferSampling(chains=1, tune=1500, draws=100, thin=15)
PAPER_DOCUMENTS = TransferSampling(chains=1, tune=1000, draws=10, thin=50)
