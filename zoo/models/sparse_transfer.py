"""The sparse transfer topic model (Faisal, Gillberg, Leen and Peltonen 2013)."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, override

import numpy as np
from scipy.special import gammaln

from ..contract import (
    Card,
    Design,
    Equation,
    Gamma,
    Hyperparameter,
    Kernel,
    Latents,
    Probes,
    Quantities,
    Reference,
    Room,
    Simulation,
    WordCounts,
)
from ..corpus import Corpus, CorpusError
from ..families.buffet import reference
from ..families.buffet.generator import (
    Draws,
    draw_given_lengths,
    draw_topics,
    expected_topics,
    seat_tokens,
    total_by_owner,
)
from ..families.buffet.ibp import first_rows, log_reach
from ..families.buffet.kernels import sparse_transfer_kernels
from ..families.buffet.lengths import LENGTHS, Lengths, Weight, draw_lengths, log_lengths
from ..families.buffet.marginal import TopicMarginal, pattern_of
from ..families.topics import Dirichlet, TopicSide
from ..families.two_sided import TwoSidedModel
from ..settings import option, setting
from ..toolbox.draws import draw_hyperparameter, log_gamma
from ..toolbox.enumeration import restricted_growth_strings
from ..toolbox.laws import by_first_appearance, doc_topic_counts
from ..toolbox.stan_data import stan_priors


@dataclass(frozen=True)
class SparseTransfer(TwoSidedModel):
    """Several collections (tasks) of documents; an Indian buffet process says which of them use which topics.

    Latents: ``z`` (N,), ``log_weight`` (C, K), ``shape`` (K,), ``alpha``, ``eta``. A task has the topics
    whose ``log_weight`` is finite, with the weights phi = exp(log_weight); elsewhere it is -inf. ``shape``
    is gamma_k, from which the weights of topic k are drawn. After the topics in use come *ghosts*: topics
    that some task has but no token. Topics that no task has are integrated out.

    The lengths of the documents are data, unless `lengths` is "none". A generator that keeps to a design's
    lengths therefore has to reject: it suits small designs and hyperparameters that make them likely.
    `simulate_lengths` draws the lengths as well, without rejection.

    Parameters
    ----------
    alpha : float or Gamma
        Mass of the Indian buffet process: the expected number of topics of a task is ``alpha * epsilon``.
    epsilon : float
        Probability, in (0, 1], that a task keeps a topic that it took from the buffet.
    a1, a2 : float
        Shape and scale of the gamma prior of ``shape``.
    topics : Dirichlet
        With the Dirichlet parameter ``eta`` of a topic's word distribution, a word.
    lengths : {"task", "document", "none"}
        What the lengths of documents say about the weights; see `zoo.families.buffet.lengths`.
    """

    card: ClassVar[Card] = Card(
        id="sparse_transfer",
        title="Sparse transfer topic model",
        summary="Several collections of documents; a binary matrix says which of them has which topics.",
        citation=(
            "A. Faisal, J. Gillberg, G. Leen and J. Peltonen. Transfer learning using a nonparametric sparse "
            "topic model. Neurocomputing 112:124-137, 2013."
        ),
        source="Faisal, Gillberg, Leen & Peltonen (2013)",
        bibtex_key="faisal2013transfer",
        equations=(
            Equation(
                "Section 3, 1a",
                r"\gamma_k \sim \mathrm{Gamma}(a_1, a_2)",
                "strength of a topic; a_2 is a scale",
            ),
            Equation("eqs. 2-3", r"b_{ck} \sim \mathrm{IBP}(\alpha)", "topics that a task takes"),
            Equation("Section 3, 2c", r"\psi_{ck} \sim \mathrm{Bernoulli}(\epsilon)", "and keeps"),
            Equation("Section 3, 2a", r"\phi_{ck} \sim \mathrm{Gamma}(\gamma_k, 1)", "weight of a topic"),
            Equation(
                "Section 3, 3",
                r"n_c \sim \mathrm{NB}(\sum_k b_{ck}\psi_{ck}\phi_{ck}, 1/2)",
                "tokens of a task",
            ),
            Equation(
                "Section 3, 4a", r"\theta_{cd} \sim \mathrm{Dir}(b_c \psi_c \phi_c)", "topic proportions"
            ),
        ),
        errata=(
            "Epsilon is the probability that a topic stays on (Table 1), not that it is turned off (text).",
            "Equations 8 and 9 hold for documents of one task laid end to end: for an empty topic, 2^-phi "
            "should be the ratio h(S + phi) / h(S), which is 2^-(D phi) if each document has its own length.",
            "Equation 7 lacks alpha in the exponent.",
            "Equation 10 takes the posterior of the weights where their prior belongs.",
            "Appendix A takes means over the prior of empty topics, without what lengths say of them.",
            "Algorithm 1 as a whole (variant `published`) is off: on 8 tokens of two tasks, with alpha 1.5, "
            "epsilon 0.6, a1 2, a2 0.5 and eta 0.3, it has 3.86 topics on average instead of 2.49, and "
            "probabilities that two tokens share a topic are wrong by up to 0.38 (lengths of tasks); 3.84 "
            "instead of 2.34, and up to 0.45, with lengths of documents.",
        ),
        tags=("nonparametric", "several collections", "sparse"),
    )
    topic_sides: ClassVar[Mapping[str, TopicSide]] = {"dirichlet": Dirichlet()}
    why_only: ClassVar[str] = (
        "its token steps move masks and ghosts with the words of Dirichlet topics integrated out; no others"
    )

    alpha: Hyperparameter = setting(Gamma(2.0, 0.5), fixed=1.5, reference=0.3, benchmark=40.0)
    epsilon: float = option(0.5, small=0.9, benchmark=0.5)
    a1: float = option(2.0, small=2.0, benchmark=1.0)
    a2: float = option(2.0, small=0.8, benchmark=100.0)
    topics: TopicSide = Dirichlet()
    lengths: Lengths = option("task")

    def __post_init__(self):
        super().__post_init__()
        self.check_number("epsilon", lambda x: 0 < x <= 1, "a number in (0, 1]")
        self.check_number("a1")
        self.check_number("a2")
        if self.lengths not in LENGTHS:
            raise ValueError(
                f"sparse_transfer: lengths: expected one of {', '.join(LENGTHS)}, found {self.lengths!r}"
            )

    @property
    @override
    def document_dimensions(self) -> Mapping[str, tuple[str, ...]]:
        return {"log_weight": ("task", "stick"), "shape": ("stick",), "mass": ("task",)}

    @override
    def most_topics(self, design: Design) -> int:
        """See `TwoSidedModel.most_topics`: as many as there are tokens."""
        return int(np.sum(design.doc_lengths))

    def tasks(self, group: np.ndarray | None) -> np.ndarray:
        """Tasks of the documents; an error where the corpus has none."""
        if group is None:
            raise CorpusError("sparse_transfer: expected a corpus with groups (one task a group), found none")
        return group

    def task_lengths(self, design: Design) -> list[np.ndarray]:
        """Lengths of the documents of each task."""
        group = self.tasks(design.group)
        lengths = np.asarray(design.doc_lengths)
        return [lengths[group == c] for c in range(design.n_groups)]

    def length_weights(self, design: Design) -> list[Weight]:
        """Return what the lengths make of each task's mass."""
        return [Weight.of(lengths, self.lengths) for lengths in self.task_lengths(design)]

    @override
    def simulate(self, design: Design, rng: np.random.Generator) -> Simulation:
        """See `Model.simulate`; alpha is rejected together with the rest, since lengths say something of it.

        Raises
        ------
        ValueError
            The hyperparameters make the design's lengths too unlikely.
        """
        hyper = self.draw_hyperparameters(design, rng)
        latents = self._draw(design, self.alpha, rng) | {"eta": hyper["eta"]}
        return Simulation(latents, self.resample_data(latents, design, rng))

    @override
    def simulate_lengths(self, design: Design, rng: np.random.Generator) -> Simulation:
        if self.lengths == "none":
            return self.simulate(design, rng)
        group = self.tasks(design.group)
        hyper = self.draw_hyperparameters(design, rng)
        draws = self._draw_prior(1, self.alpha, design.n_groups, rng)
        design = design.with_lengths(draw_lengths(draws.mass[0], group, self.lengths, rng))
        latents = seat_tokens(draws.one(0), design.doc_lengths, group, rng) | {"eta": hyper["eta"]}
        return Simulation(latents, self.resample_data(latents, design, rng))

    def draw_topics(
        self, design: Design, hyper: Mapping[str, np.ndarray], rng: np.random.Generator
    ) -> Latents:
        """Draw masks, weights and topics of tokens."""
        latents = self._draw(design, float(hyper["alpha"]), rng)
        return {name: latents[name] for name in ("z", "log_weight", "shape")}

    def _draw(self, design: Design, alpha: Hyperparameter, rng: np.random.Generator) -> Latents:
        draw = draw_given_lengths(
            lambda n: self._draw_prior(n, alpha, design.n_groups, rng),
            self.task_lengths(design),
            self.lengths,
            expected_topics(alpha, design.n_groups, self.epsilon),
            rng,
            self.card.id,
        )
        return seat_tokens(draw, design.doc_lengths, self.tasks(design.group), rng)

    def _draw_prior(self, n: int, alpha: Hyperparameter, n_tasks: int, rng: np.random.Generator) -> Draws:
        """Draw `n` alphas, and masks, weights and shapes of topics that some task has."""
        alphas = draw_hyperparameter(alpha, n, rng)
        owner, mask, _ = draw_topics(alphas, n_tasks, self.epsilon, rng)
        shape = rng.gamma(self.a1, self.a2, owner.size)
        log_weight = np.where(mask, log_gamma(shape[:, None], mask.shape, rng), -np.inf)
        topics = {"log_weight": log_weight, "shape": shape}
        return Draws({"alpha": alphas}, owner, topics, total_by_owner(np.exp(log_weight), owner, n))

    @override
    def documents_started(
        self, labels: np.ndarray, hyper: Mapping[str, np.ndarray], corpus: Corpus
    ) -> Latents:
        """See `CollapsedTopicModel.documents_started`.

        A task has the topics that its tokens have; weights are those at which lengths are as expected.
        """
        z, used = by_first_appearance(labels)
        weight = np.zeros((corpus.n_groups, used.size))
        np.add.at(weight, (self.tasks(corpus.group)[corpus.doc_of], z), 1.0)
        if self.lengths != "task":
            filled = [np.count_nonzero(n) for n in self.task_lengths(Design.of(corpus))]
            weight /= np.maximum(filled, 1)[:, None]
        with np.errstate(divide="ignore"):
            log_weight = np.log(weight)
        return {"z": z, "log_weight": log_weight, "shape": weight.sum(axis=0) / (weight > 0).sum(axis=0)}

    def unseated(self, corpus: Corpus) -> Latents:
        """No task has a topic."""
        self.tasks(corpus.group)
        weights = {"log_weight": np.zeros((corpus.n_groups, 0)), "shape": np.zeros(0)}
        return super().unseated(corpus) | weights

    @override
    def n_topics_of(self, latents: Latents) -> int:
        return latents["shape"].size

    def document_prior(self, latents: Latents, corpus: Corpus) -> np.ndarray:
        """Weights of the topics of each task; a task has no others."""
        return np.pad(np.exp(latents["log_weight"]), [(0, 0), (0, 1)])

    def log_sticks(self, latents: Latents) -> float:
        """Log density of masks, weights and shapes, as of an unordered set of topics."""
        log_weight, shape = latents["log_weight"], latents["shape"]
        alpha, n_tasks = float(latents["alpha"]), len(log_weight)
        on = log_weight > -np.inf
        shapes = np.broadcast_to(shape, on.shape)[on]
        return float(
            shape.size * np.log(alpha)
            - alpha * first_rows(n_tasks, self.epsilon).sum()
            + log_reach(n_tasks, self.epsilon)[on.sum(axis=0)].sum()
            + Gamma(self.a1, 1.0 / self.a2).log_density(shape)
            + np.sum((shapes - 1.0) * log_weight[on] - np.exp(log_weight[on]) - gammaln(shapes))
        )

    def log_assignments(self, latents: Latents, corpus: Corpus) -> float:
        """Log probability of ``z`` and of the lengths given the weights, without factors of lengths alone."""
        mass = np.exp(latents["log_weight"]).sum(axis=1)
        of_lengths = sum(
            float(log_lengths(s, doc_lengths, self.lengths))
            for s, doc_lengths in zip(mass, self.task_lengths(Design.of(corpus)), strict=True)
        )
        if of_lengths == -np.inf:
            return of_lengths
        return of_lengths + super().log_assignments(latents, corpus.take(corpus.doc_lengths > 0))

    @override
    def log_marginal(self, z: np.ndarray, corpus: Corpus, hyper: Mapping[str, np.ndarray]) -> float:
        """See `Model.log_marginal`; includes the lengths' probability, without factors of them alone."""
        design = Design.of(corpus)
        marginal = _marginal(self, tuple(map(tuple, self.task_lengths(design))))
        counts = doc_topic_counts(z, corpus, int(z.max(initial=-1)) + 1).T
        group, alpha = self.tasks(corpus.group), float(hyper["alpha"])
        topics = [marginal.log_topic(pattern_of(n, group, corpus.n_groups)) for n in counts]
        terms = sum(topics, alpha * marginal.log_without_words(self.epsilon) + len(topics) * np.log(alpha))
        return marginal.total(terms) + self.log_words(z, corpus, hyper)

    def assignments(self, corpus: Corpus) -> Iterator[np.ndarray]:
        """All partitions of the tokens."""
        return restricted_growth_strings(corpus.n_tokens)

    @override
    def quantities(
        self,
        latents: Latents,
        corpus: Corpus,
        probes: Probes | None = None,
        counts: WordCounts | None = None,
    ) -> Quantities:
        """See `Model.quantities`; besides, how many topics and pairs of task and topic there are.

        ``n_pairs`` counts pairs with tokens and ``n_on`` all that are on, ``n_represented`` topics with their
        ghosts; ``mass`` is the sum of each task's weights, ``mean_shape`` the mean over topics in use.
        """
        log_weight, shape = latents["log_weight"], latents["shape"]
        in_task = np.zeros((corpus.n_groups, shape.size), np.int64)
        np.add.at(in_task, (corpus.group_of_doc[corpus.doc_of], latents["z"]), 1)
        in_use = in_task.sum(axis=0) > 0
        return super().quantities(latents, corpus, probes, counts) | {
            "n_represented": np.asarray(float(shape.size)),
            "n_pairs": np.asarray(float(np.count_nonzero(in_task))),
            "n_on": np.asarray(float(np.count_nonzero(log_weight > -np.inf))),
            "mass": np.exp(log_weight).sum(axis=1),
            "mean_shape": np.asarray(shape[in_use].mean() if in_use.any() else 0.0),
        }

    @override
    def kernels_in(self, room: Room) -> dict[str, Kernel]:
        return sparse_transfer_kernels(room)

    @property
    @override
    def reference(self) -> Reference:
        return Reference(
            parameters=reference.SPARSE_TRANSFER_PARAMETERS,
            numpyro=self._numpyro,
            stan_program="sparse_transfer",
            stan_data=self._stan_data,
            latents=reference.sparse_transfer_latents,
            largest_truncation=reference.MOST_TOPICS,
        )

    def _numpyro(self, corpus: Corpus, truncation: int) -> Callable[[], None]:
        self.tasks(corpus.group)
        return reference.sparse_transfer(
            corpus,
            truncation,
            self.alpha,
            self.epsilon,
            self.hyperparameters()["eta"],
            self.a1,
            self.a2,
            self.lengths,
        )

    def _stan_data(self, corpus: Corpus, truncation: int) -> dict[str, Any]:
        self.tasks(corpus.group)
        data = reference.sparse_transfer_data(
            corpus, truncation, self.epsilon, self.a1, self.a2, self.lengths
        )
        return data | stan_priors(self)


@lru_cache(maxsize=8)
def _marginal(model: SparseTransfer, task_lengths: tuple[tuple[int, ...], ...]) -> TopicMarginal:
    """Weights of topics, shared by all assignments of tokens; `model` is hashed by its hyperparameters."""
    weights = [Weight.of(np.array(lengths, np.int64), model.lengths) for lengths in task_lengths]
    return TopicMarginal.unbounded(weights, model.a1, model.a2, model.epsilon)
