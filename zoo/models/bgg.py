"""Poisson factor analysis with a probability a topic (Zhao, Du, Buntine and Zhou 2018, Equation 15)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, override

import numpy as np
from scipy.special import betaln

from ...kernels.poisson import probabilities
from ...kernels.toolbox.sides import State
from ...kernels.toolbox.tally import log_urns
from ..contract import (
    Card,
    Design,
    Equation,
    FrozenTopics,
    Gamma,
    Hyperparameter,
    Latents,
    Probes,
    Quantities,
    Room,
    Simulation,
    WordCounts,
)
from ..corpus import Corpus
from ..families.belief_network.topics import BeliefNetwork
from ..families.finite import OneCollection
from ..families.poisson import convolved, reference
from ..families.poisson.family import PoissonFamily
from ..families.poisson.layered import draw_gammas, log_gammas
from ..families.poisson.lengths import LONGEST
from ..families.poisson.predictive import ConvolvedPredictive, frozen_under
from ..families.poisson.samplers import guarded_samplers
from ..families.topics import Dirichlet, Sampler, TopicSide
from ..settings import option, setting
from ..toolbox.draws import log_gamma
from ..toolbox.proportions import NormalisedRates


@dataclass(frozen=True)
class Bgg(PoissonFamily, OneCollection):
    """Counts of words as sums of Poisson variables, one a topic; each topic has a probability of its own.

    Latents: ``z`` (N,); ``r`` (K,); ``log_odds`` (K,), log p - log(1 - p) of each topic; ``gamma``, ``c``;
    those of the topics, as ``eta``. The rates of the documents are integrated out.

    Parameters
    ----------
    gamma : float or Gamma
        Mass of the weights r: how many topics. In the paper K c0 r0.
    c : float or Gamma
        Their rate. In the paper c0.
    topics : TopicSide
        `Dirichlet` or `BeliefNetwork`, with hyperparameters of their own.
    n_topics : int
        K.
    p_mean : float
        Expected p, between 0 and 1. In the paper epsilon.
    p_concentration : float
        The larger, the closer are all p to it. In the paper c.
    """

    card: ClassVar[Card] = Card(
        id="bgg",
        title="Beta-gamma-gamma Poisson factor analysis",
        summary="Counts of words are sums of Poisson variables; each topic has its own dispersion.",
        citation=(
            "H. Zhao, L. Du, W. Buntine and M. Zhou. Dirichlet belief networks for topic structure learning. "
            "Advances in Neural Information Processing Systems 31, 2018. Supplement, Equation 15."
        ),
        source="Zhao, Du, Buntine & Zhou (2018)",
        bibtex_key="zhao2018dirichlet",
        equations=(
            Equation(
                "Equation 15",
                r"\theta_{dk} \sim \mathrm{Gamma}\left(r_k, \frac{1 - p_k}{p_k}\right),\quad "
                r"p_k \sim \mathrm{Beta}(m \epsilon, m (1 - \epsilon)),\quad "
                r"r_k \sim \mathrm{Gamma}(\gamma / K, c)",
                "rates of the topics in a document; second parameters of gamma laws are rates",
            ),
            Equation(
                "Poisson factor analysis",
                r"x_{dv} \sim \mathrm{Poisson}\left(\sum_k \theta_{dk} \phi_{kv}\right),\quad "
                r"\phi_k \sim \mathrm{Dir}_V(\eta)",
                "how often a word occurs in a document",
            ),
            Equation(
                "collapsed",
                r"p(z_i = k) \propto p_k (n_{dk} + r_k)\,\phi_{k w_i}",
                "counts without token i; the factor p_k comes from p of the topic; `pfa` has none",
            ),
        ),
        errata=(
            "The paper prints this model and its code samples `pfa`, in which p belongs to the document.",
            "Neither says what c, epsilon, c0 and r0 are. Here they are `p_concentration`, `p_mean`, `c` and "
            "gamma / (K c); gamma and c can be sampled, as in `pfa`.",
            "Given its length, a document is not Dirichlet, and this is no Dirichlet process for large K.",
        ),
        tags=("parametric", "single corpus", "counts"),
    )

    topic_sides: ClassVar[Mapping[str, TopicSide]] = {
        side.name: side for side in (Dirichlet(), BeliefNetwork())
    }
    likelier_lengths: ClassVar[str] = "or hyperparameters that make them likely"
    document_parameters: ClassVar[tuple[str, ...]] = ("theta", "r", "log_odds", "gamma", "c")
    stan_program: ClassVar[str] = "bgg"

    # In tests these make documents about as long as the tests have them: a generator that is given lengths
    # finds its weights by rejection.
    gamma: Hyperparameter = setting(
        Gamma(1.0, 1.0), fixed=2.4, prior=Gamma(8.0, 3.0), reference=2.2, benchmark=1.5
    )
    c: Hyperparameter = setting(
        Gamma(1.0, 1.0), fixed=0.85, prior=Gamma(6.0, 5.0), reference=Gamma(9.0, 7.0), benchmark=0.1
    )
    n_topics: int = option(10, small=2, benchmark=100)
    p_mean: float = option(0.5, small=0.45, benchmark=0.5)
    p_concentration: float = option(1.0, small=3.5, benchmark=1.0)

    def __post_init__(self):
        self.check_number("p_mean", lambda x: 0.0 < x < 1.0, "a number between 0 and 1")
        self.check_number("p_concentration")
        super().__post_init__()

    @property
    def p_shapes(self) -> tuple[float, float]:
        """Parameters of the beta law of p."""
        return self.p_concentration * self.p_mean, self.p_concentration * (1.0 - self.p_mean)

    @property
    @override
    def document_dimensions(self) -> Mapping[str, tuple[str, ...]]:
        return {"r": ("topic",), "log_odds": ("topic",)}

    @property
    @override
    def samplers(self) -> Mapping[str, Sampler]:
        """See `TwoSidedModel.samplers`: the one that has topics' words at hand can weigh topics by p."""
        return {"parallel": guarded_samplers(self.topics)["parallel"]}

    @override
    def document_rows(self, corpus: Corpus) -> np.ndarray:
        return np.zeros(corpus.n_documents, np.int32)

    @override
    def document_prior(self, latents: Latents, corpus: Corpus) -> np.ndarray:
        """See `CollapsedTopicModel.document_prior`; without the factor p."""
        return np.append(latents["r"], 0.0)[None]

    @override
    def draw_weights(
        self, n_documents: int, hyper: Mapping[str, np.ndarray], rng: np.random.Generator
    ) -> Latents:
        shape = np.full(self.n_topics, float(hyper["gamma"]) / self.n_topics)
        log_p, log_q = (log_gamma(of, (self.n_topics,), rng) for of in self.p_shapes)
        return {"r": draw_gammas(shape, float(hyper["c"]), rng), "log_odds": log_p - log_q}

    @override
    def log_lengths_of(self, weights: Latents, doc_lengths: np.ndarray) -> float:
        return convolved.log_lengths(weights["r"], weights["log_odds"], doc_lengths)

    @override
    def highest_log_lengths(self, doc_lengths: np.ndarray) -> float:
        return convolved.highest_log_lengths(doc_lengths)

    @override
    def log_lengths(self, latents: Latents, corpus: Corpus) -> float:
        return self.log_lengths_of(latents, corpus.doc_lengths)

    @override
    def seat(self, weights: Latents, design: Design, rng: np.random.Generator) -> Latents:
        lengths = np.asarray(design.doc_lengths)
        return self._seat(
            weights, convolved.draw_counts(weights["r"], weights["log_odds"], lengths, rng), rng
        )

    def _seat(self, weights: Latents, counts: np.ndarray, rng: np.random.Generator) -> Latents:
        """Put the topics of each document in a random order."""
        z = [rng.permutation(np.repeat(np.arange(self.n_topics), row)) for row in counts]
        return {"z": np.concatenate([np.zeros(0, np.int64), *z])} | weights

    @override
    def simulate_lengths(self, design: Design, rng: np.random.Generator) -> Simulation:
        """Draw the lengths of the documents too: counts of topics are negative binomial.

        Raises
        ------
        ValueError
            A document has more than `LONGEST` tokens.
        """
        hyper = self.draw_hyperparameters(design, rng)
        weights = self.draw_weights(len(design.doc_lengths), hyper, rng)
        with np.errstate(over="ignore"):
            theta = rng.gamma(
                weights["r"], np.exp(weights["log_odds"]), (len(design.doc_lengths), self.n_topics)
            )
        if not theta.sum(axis=1).max(initial=0.0) < LONGEST:
            raise ValueError(
                f"a document has more than {LONGEST:,.0f} tokens: p_concentration: expected a larger one "
                f"than {self.p_concentration}, or a smaller p_mean: p is close to 1"
            )
        counts = rng.poisson(theta)
        design = design.with_lengths(counts.sum(axis=1))
        return self._words(hyper, self._seat(weights, counts, rng), design, rng)

    @override
    def weights_started(
        self, labels: np.ndarray | None, hyper: Mapping[str, np.ndarray], corpus: Corpus
    ) -> Latents:
        """See `PoissonFamily.weights_started`; all topics weigh the same, and every p is one half."""
        k = self.n_topics
        above = {"r": np.full(k, float(hyper["gamma"]) / float(hyper["c"]) / k), "log_odds": np.zeros(k)}
        return above if labels is None else {"z": labels % k} | above

    @override
    def log_sticks(self, latents: Latents) -> float:
        """Log density of the weights and of the log odds."""
        r, log_odds, (a, b) = latents["r"], latents["log_odds"], self.p_shapes
        shape = np.full(self.n_topics, float(latents["gamma"]) / self.n_topics)
        of_odds = -a * np.logaddexp(0.0, -log_odds) - b * np.logaddexp(0.0, log_odds) - betaln(a, b)
        return log_gammas(r, shape, float(latents["c"])) + float(of_odds.sum())

    @override
    def log_assignments(self, latents: Latents, corpus: Corpus) -> float:
        """Log probability of ``z`` given lengths, weights and probabilities."""
        r, log_odds, z = latents["r"], latents["log_odds"], latents["z"]
        of_topics = log_urns(corpus.doc_ptr, self.document_rows(corpus), z, r[None])
        of_topics += float(convolved.log_p(log_odds)[z].sum())
        return float(of_topics - convolved.log_ways(r, log_odds, corpus.doc_lengths).sum())

    @override
    def log_marginal(self, z: np.ndarray, corpus: Corpus, hyper: Mapping[str, np.ndarray]) -> float:
        of_topics = convolved.log_topics(z, corpus, hyper, self.n_topics, self.p_shapes)
        return of_topics + self.log_words(z, corpus, hyper)

    @override
    def predictive(self, latents: Latents, corpus: Corpus) -> ConvolvedPredictive:
        """See `Model.predictive`."""
        frozen = self.frozen_topics(latents, corpus)
        return ConvolvedPredictive(frozen.words, latents["r"], latents["log_odds"])

    @override
    def new_proportions(self, latents: Latents, corpus: Corpus) -> ConvolvedPredictive:
        return self.predictive(latents, corpus)

    @override
    def frozen_topics(self, latents: Latents, corpus: Corpus) -> FrozenTopics:
        """See `Model.frozen_topics`; a new document is approximated by a Dirichlet one.

        It has the mass of r, and the weights of a first token, ``p_k r_k``.
        """
        r = np.maximum(latents["r"], np.finfo(float).tiny)
        log_rate = np.log(r) + convolved.log_p(latents["log_odds"])
        share = np.exp(log_rate - np.logaddexp.reduce(log_rate))
        return frozen_under(self, np.maximum(r.sum() * share, np.finfo(float).tiny), latents, corpus)

    @override
    def own_proportions(self, latents: Latents, corpus: Corpus) -> NormalisedRates:
        """See `Model.own_proportions`: of counts n, the rates are ``p Gamma(r + n)``."""
        log_p = convolved.log_p(latents["log_odds"])[None]
        return NormalisedRates(latents["z"], corpus, latents["r"], lambda here: log_p)

    @override
    def quantities(
        self,
        latents: Latents,
        corpus: Corpus,
        probes: Probes | None = None,
        counts: WordCounts | None = None,
    ) -> Quantities:
        """See `Model.quantities`.

        Those of `PoissonFamily.quantities`, ``predictive`` by the expected rates of the topics; and
        ``mean_log_p`` and ``mean_log_q``, means over topics of log p and log(1 - p), each taken as -30 where
        it is less.
        """
        probes = probes or Probes.of(corpus)
        found = super().quantities(latents, corpus, probes, counts)
        p, z = np.exp(convolved.log_p(latents["log_odds"])), latents["z"]
        _, topic_words = self.measured_words(latents, corpus, probes.cells[:, 1], counts)
        predictive = np.empty(len(probes.cells))
        for j, (d, _) in enumerate(probes.cells):
            own = np.bincount(z[corpus.doc_ptr[d] : corpus.doc_ptr[d + 1]], minlength=self.n_topics)
            rates = p * (own + latents["r"])
            predictive[j] = rates @ topic_words[0, :, j] / rates.sum()
        return found | {
            "predictive": predictive,
            "mean_log_p": np.asarray(np.mean(np.maximum(convolved.log_p(latents["log_odds"]), -30.0))),
            "mean_log_q": np.asarray(np.mean(np.maximum(convolved.log_p(-latents["log_odds"]), -30.0))),
        }

    @override
    def document_block(self, corpus: Corpus, n_topics: int) -> Callable[[], Any]:
        return reference.of_topic_probabilities(
            corpus.n_documents, n_topics, self.gamma, self.c, self.p_shapes
        )

    @override
    def document_data(self, corpus: Corpus) -> dict[str, Any]:
        return {"p_shapes": np.array(self.p_shapes)}

    @override
    def documents_at(
        self, draw: Mapping[str, np.ndarray], labels: np.ndarray, corpus: Corpus
    ) -> tuple[Latents, np.ndarray]:
        latents = {name: np.asarray(draw[name]) for name in ("r", "log_odds", "gamma", "c")}
        return {"z": labels} | latents, np.arange(self.n_topics)

    @override
    def load_documents(self, room: Room, latents: Latents, corpus: Corpus) -> Any:
        return room(probabilities).topic_probabilities(latents, self.prior_arrays(), self.p_shapes)

    @override
    def snapshot_documents(self, state: State) -> Latents:
        side = state.documents
        return {
            "r": side.prior[0].copy(),
            "log_odds": side.log_odds.copy(),
            "gamma": np.array(side.gamma[0]),
            "c": np.array(side.c[0]),
        }
