"""Mean-field variational inference of the scaling processes: its start, and draws from its end."""

from collections.abc import Mapping
from typing import Any, ClassVar, Protocol

import numpy as np

from ...contract import Hyperparameter, Iteration, Latents, Prior, Variational
from ...corpus import Corpus
from ...toolbox.draws import draw_categorical, log_gamma
from .bound import InverseGamma, MeanField, Point, Points, Problem, bound
from .laws import LogInverseGamma, ScaleLaw
from .mean_field import CHUNK, CORRECTED, Update, update_documents
from .printed import printed_for

SWEEPS = 3
"""Of the exact sampler, whose last topics the iterations start from; the paper has so many of LDA."""


class Scaled(Protocol):
    """What is asked of a scaling process."""

    @property
    def label(self) -> str: ...  # noqa: D102
    @property
    def missing(self) -> str: ...  # noqa: D102

    law: ClassVar[type[ScaleLaw]]

    @property
    def n_topics(self) -> int: ...  # noqa: D102
    @property
    def opens_topics(self) -> bool: ...  # noqa: D102
    def label_rows(self, corpus: Corpus) -> tuple[Any, np.ndarray]: ...  # noqa: D102
    def hyperparameters(self) -> Mapping[str, Hyperparameter]: ...  # noqa: D102
    def replaced(self, **changes: Any) -> Any: ...  # noqa: D102


def variational(model: Scaled) -> Variational:
    """Return the variational inference of a scaling process."""

    def begin(corpus: Corpus, truncation: int, rng: np.random.Generator, variant: str) -> "Inference":
        problem = problem_of(model, corpus)
        q = start_of(model, problem, corpus, model.n_topics or truncation, rng)
        updates = CORRECTED | (printed_for(q) if variant == "published" else {})
        law = dict(zip(model.law.names, problem.law, strict=False))  # the second of one parameter is nothing
        return Inference(problem, corpus, q, updates, law)

    return Variational(
        {
            "mean-field": "mean-field variational inference; an approximation",
            "published": "the same by the updates as printed, some of which lower the bound",
        },
        begin,
        needs_truncation=model.opens_topics,
    )


class Inference(Iteration):
    """A law on its way up.

    Parameters
    ----------
    problem : Problem
    corpus : Corpus
    q : MeanField
    updates : dict of str to Update
    law : dict of str to float
        Parameters of the law of log scales.
    """

    def __init__(
        self,
        problem: Problem,
        corpus: Corpus,
        q: MeanField,
        updates: dict[str, Update],
        law: dict[str, float],
    ):
        self.problem, self.corpus, self.q, self.updates, self.law = problem, corpus, q, updates, law

    def advance(self) -> float:
        """Update all parts once; return the bound, points with it."""
        for update in self.updates.values():
            self.q = update(self.q, self.problem)
        return float(bound(self.q, self.problem))

    def draw(self, rng: np.random.Generator) -> Latents:
        """Draw from the law; its points are as they are."""
        q, corpus = self.q, self.corpus
        log_pi, log_words = q.log_pi(), np.ascontiguousarray(q.log_words().T)
        z = np.empty(corpus.n_tokens, np.int64)
        for start in range(0, corpus.n_tokens, CHUNK):
            part = slice(start, start + CHUNK)
            weights = log_pi[corpus.doc_of[part]] + log_words[corpus.words[part]]
            z[part] = draw_categorical(np.exp(weights - weights.max(axis=1, keepdims=True)), rng)
        log_u = log_gamma(np.maximum(corpus.doc_lengths, 1), corpus.doc_lengths.shape, rng) - np.log(q.xi)
        return {
            "z": z,
            "root": np.append(q.root(), 0.0),
            "log_scale": q.scales.draw(rng),
            "log_u": np.where(corpus.doc_lengths > 0, log_u, 0.0),
        } | {
            name: np.array(float(value))
            for name, value in {"alpha": q.alpha, "gamma": q.gamma, "eta": q.eta, **self.law}.items()
        }


def law_of(model: Scaled) -> tuple[float, float]:
    """Parameters of the law of log scales, the variance with a zero beside it.

    Raises
    ------
    ValueError
        One of them has a prior, or labels are to be sampled.
    """
    hyper = model.hyperparameters()
    sampled = [name for name in model.law.names if isinstance(hyper[name], Prior)]
    if sampled:
        raise ValueError(
            f"{model.label}: {sampled[0]}: expected a number for the back end vi, found {hyper[sampled[0]]}; "
            "only the sampler and the references learn it"
        )
    if model.missing:
        raise ValueError(f"{model.label}: missing: the back end vi samples no labels; use a kernel")
    first, second = (*(float(hyper[name]) for name in model.law.names), 0.0)[:2]  # type: ignore[arg-type]
    return first, second


def problem_of(model: Scaled, corpus: Corpus) -> Problem:
    """Return what variational inference is given."""
    rows, row_of = model.label_rows(corpus)
    cells, count = np.unique(corpus.doc_of * corpus.n_words + corpus.words, return_counts=True)
    document, word = np.divmod(cells, corpus.n_words)
    hyper = model.hyperparameters()
    law = law_of(model)
    priors: dict[str, Point] = {
        name: tuple(hyper[name].parameters) if isinstance(hyper[name], Prior) else None  # type: ignore[misc]
        for name in ("gamma", "alpha", "eta")
    }
    return Problem(
        document, word, count, corpus.doc_lengths.astype(float), corpus.n_words, rows, row_of,
        law, priors,
    )  # fmt: skip


def start_of(
    model: Scaled, problem: Problem, corpus: Corpus, n_topics: int, rng: np.random.Generator
) -> MeanField:
    """Law around the topics of a few sweeps of the exact sampler, the largest topic first."""
    sampled = model.replaced(n_topics=n_topics)
    kernel = sampled.kernel()
    state = kernel.load(sampled.initial_latents(corpus, rng), corpus, sampled)
    for _ in range(SWEEPS):
        state = kernel.step(rng, state)
    z = kernel.snapshot(state)["z"]
    z = np.argsort(np.argsort(-np.bincount(z, minlength=n_topics), kind="stable"), kind="stable")[z]
    doc_topic, topic_word = np.zeros((corpus.n_documents, n_topics)), np.zeros((n_topics, corpus.n_words))
    np.add.at(doc_topic, (corpus.doc_of, z), 1.0)
    np.add.at(topic_word, (z, corpus.words), 1.0)
    points = {
        name: value.mean if isinstance(value, Prior) else float(value)
        for name, value in model.hyperparameters().items()
    }
    tables = np.count_nonzero(doc_topic, axis=0)
    since = np.cumsum(tables[::-1])[::-1]
    first, second = law_of(model)
    shape = (problem.rows.shape[1], n_topics)
    is_gamma = model.law is LogInverseGamma
    q = MeanField(
        doc_topic,
        topic_word,
        0.0,
        doc_topic,
        np.ones(doc_topic.shape),
        np.ones(corpus.n_documents),
        points["eta"] + topic_word,
        InverseGamma(np.full(shape, first), np.full(shape, second)) if is_gamma else Points(np.zeros(shape)),
        ((1.0 + tables) / (1.0 + points["gamma"] + since))[:-1],
        points["gamma"],
        points["alpha"],
        points["eta"],
    )
    return update_documents(q, problem)
