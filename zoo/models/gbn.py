"""Gamma belief networks over topics (Zhou, Cong and Chen 2016)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, override

import numpy as np

from ...kernels.poisson import layers
from ...kernels.toolbox.sides import State
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
    WordCounts,
)
from ..corpus import Corpus
from ..families.finite import OneCollection
from ..families.pitman_yor.topics import PitmanYor
from ..families.poisson import layered, reference
from ..families.poisson.family import OfDocumentProbabilities
from ..families.poisson.lengths import highest_log_lengths
from ..families.poisson.marginal import SimulatedLaw
from ..families.poisson.predictive import LayeredPredictive, frozen_under
from ..families.poisson.samplers import PRUNED
from ..families.topics import Sampler
from ..settings import option, setting
from ..toolbox.draws import draw_categorical, draw_dirichlet

DRAWS, DRAWS_OF_MANY = 400_000, 10_000
"""Simulated documents behind a marginal probability; few where hyperparameters are sampled as well."""


@dataclass(frozen=True)
class Gbn(OfDocumentProbabilities, OneCollection):
    """Topics of documents come from a few more general ones, and these from more general ones still.

    Latents: ``z`` (N,); ``theta`` (S - 1, D, K), rates of layers 2 to S; ``link`` (S - 1, K, K), for each
    topic of these the distribution over those of the layer below; ``rate`` (S - 1, D), the c of each theta;
    ``r`` (K,), ``gamma``, ``c``; those of the topics, as ``eta``. Rates of the lowest layer are integrated
    out.

    Parameters
    ----------
    gamma : float or Gamma
        Mass of the weights r: how many topics the highest layer has.
    c : float or Gamma
        Their rate.
    topics : TopicSide
        `Dirichlet`, `PitmanYor` or `BeliefNetwork`, with hyperparameters of their own.
    length_shape : float
        a, of the probabilities p of the lengths, Beta(a, a); 0 for lengths that are given.
    n_topics : int
        K, of every layer.
    n_layers : int
        S, 2 or more; with one it would be `pfa`.
    link_eta : float
        Dirichlet parameter of the links.
    rate_shape, rate_rate : float
        Of the gamma law of the rates c of the documents.
    """

    card: ClassVar[Card] = Card(
        id="gbn",
        title="Gamma belief network",
        summary="Layers of topics: what a document is about comes from a few more general topics.",
        citation=(
            "M. Zhou, Y. Cong and B. Chen. Augmentable gamma belief networks. "
            "Journal of Machine Learning Research 17(163):1-44, 2016."
        ),
        source="Zhou, Cong & Chen (2016)",
        bibtex_key="zhou2016augmentable",
        equations=(
            Equation(
                "highest layer",
                r"\theta^{(S)}_d \sim \mathrm{Gamma}(r, c^{(S+1)}_d),\quad "
                r"r_k \sim \mathrm{Gamma}(\gamma / K, c)",
                "rates of the most general topics; second parameters are rates",
            ),
            Equation(
                "layer s",
                r"\theta^{(s)}_d \sim \mathrm{Gamma}(\Phi^{(s+1)} \theta^{(s+1)}_d, c^{(s+1)}_d),\quad "
                r"\phi^{(s)}_k \sim \mathrm{Dir}_K(\eta_\Phi)",
                "rates of a layer, and the links between layers",
            ),
            Equation(
                "rates",
                r"c^{(2)}_d = \frac{1 - p_d}{p_d},\quad p_d \sim \mathrm{Beta}(a, a),\quad "
                r"c^{(s)}_d \sim \mathrm{Gamma}(e_0, f_0),\quad s \geq 3",
                "rates of the gamma variables of a document",
            ),
            Equation(
                "collapsed",
                r"p(z_i = k) \propto \left(n_{dk} + (\Phi^{(2)} \theta^{(2)}_d)_k\right)"
                r"\,\frac{n_{kw} + \eta}{n_k + V\eta}",
                "counts without token i, rates of the lowest layer integrated out",
            ),
        ),
        errata=(
            "The authors' code draws r before p and the c of the documents, which then see a theta that was "
            "drawn with another r: wrong for two layers or more. Here p and c come first.",
            "Layers are sampled together, all with K topics; none is trained before another, and no topic is "
            "pruned but by the variant `pruned`. Both change the law of the code's samples.",
            "In the supplement of Zhao, Du, Buntine and Zhou (2018), Equation 17, c of the highest layer has "
            "the index j for the document d, and T + 1 for S + 1.",
        ),
        tags=("parametric", "single corpus", "counts", "layers"),
    )

    document_parameters: ClassVar[tuple[str, ...]] = (
        "theta", "rates", "link", "rate", "root", "mass", "gamma", "c",
    )  # fmt: skip
    stan_program: ClassVar[str] = "gbn"
    not_exact: ClassVar[tuple[str, ...]] = ("pruned",)

    gamma: Hyperparameter = setting(
        Gamma(0.01, 0.01),
        fixed=2.1,
        prior=Gamma(6.0, 2.0),
        reference=8.0,  # from weights of small shapes NUTS does not come back
        benchmark=1.5,
    )
    length_shape: float = option(0.01, small=0.0, benchmark=0.01)
    n_topics: int = option(10, small=2, benchmark=100)
    n_layers: int = 2
    link_eta: float = option(0.05, small=0.8, benchmark=0.05)
    rate_shape: float = option(1.0, small=2.7, benchmark=1.0)
    rate_rate: float = option(1.0, small=1.9, benchmark=1.0)

    def __post_init__(self):
        self.check_whole("n_layers", 2, bounds="2 or more (with one it is pfa)")
        for name in ("link_eta", "rate_shape", "rate_rate"):
            self.check_number(name)
        super().__post_init__()

    @property
    @override
    def document_dimensions(self) -> Mapping[str, tuple[str, ...]]:
        return {
            "theta": ("theta_layer", "document", "topic"),
            "link": ("theta_layer", "theta_topic", "topic"),
            "rate": ("theta_layer", "document"),
            "r": ("topic",),
            "mean_log_rate": ("theta_layer",),
            "mean_log_theta": ("theta_layer",),
        }

    @property
    @override
    def samplers(self) -> Mapping[str, Sampler]:
        """See `TwoSidedModel.samplers`; not over Pitman-Yor topics one that prunes, as the authors do."""
        own = {} if isinstance(self.topics, PitmanYor) else {"pruned": PRUNED}
        return {**super().samplers, **own}

    @override
    def document_rows(self, corpus: Corpus) -> np.ndarray:
        return np.arange(corpus.n_documents)

    @override
    def prior_rows(self, prior: np.ndarray, corpus: Corpus) -> np.ndarray:
        return self.document_rows(corpus)

    @override
    def document_prior(self, latents: Latents, corpus: Corpus) -> np.ndarray:
        """See `CollapsedTopicModel.document_prior`; a row a document."""
        return np.pad(latents["theta"][0] @ latents["link"][0], ((0, 0), (0, 1)))

    @override
    def draw_weights(
        self, n_documents: int, hyper: Mapping[str, np.ndarray], rng: np.random.Generator
    ) -> Latents:
        return {name: x[0] for name, x in layered.draw_layers(self, 1, n_documents, hyper, rng).items()}

    @override
    def masses(self, weights: Latents, n_documents: int) -> np.ndarray:
        return weights["theta"][0].sum(axis=1)

    @override
    def masses_of(self, latents: Latents, corpus: Corpus) -> np.ndarray:
        return self.masses(latents, corpus.n_documents)

    @override
    def highest_log_lengths(self, doc_lengths: np.ndarray) -> float:
        return sum(highest_log_lengths((int(n),), self.length_shape) for n in doc_lengths)

    @override
    def seat(self, weights: Latents, design: Design, rng: np.random.Generator) -> Latents:
        alpha = weights["theta"][0] @ weights["link"][0]
        theta = draw_dirichlet(np.maximum(alpha, np.finfo(float).tiny), rng)
        return {"z": draw_categorical(np.repeat(theta, design.doc_lengths, axis=0), rng)} | weights

    @override
    def weights_started(
        self, labels: np.ndarray | None, hyper: Mapping[str, np.ndarray], corpus: Corpus
    ) -> Latents:
        """See `PoissonFamily.weights_started`; topics of a layer weigh the same, and link to all alike."""
        shape, k = (self.n_layers - 1, corpus.n_documents), self.n_topics
        mass = float(hyper["gamma"]) / float(hyper["c"])
        above = {
            "theta": np.full((*shape, k), mass / k),
            "link": np.full((shape[0], k, k), 1.0 / k),
            "rate": np.ones(shape),
            "r": np.full(k, mass / k),
        }
        return above if labels is None else {"z": labels % k} | above

    @override
    def log_sticks(self, latents: Latents) -> float:
        """Log density of all layers above the lowest."""
        return layered.log_density(self, latents)

    @override
    def log_marginal(self, z: np.ndarray, corpus: Corpus, hyper: Mapping[str, np.ndarray]) -> float:
        """See `Model.log_marginal`; by simulation, so that it has an error."""
        values = (float(hyper["gamma"]), float(hyper["c"]))
        lengths = tuple(map(int, corpus.doc_lengths))
        draws = DRAWS_OF_MANY if self.sampled() else DRAWS
        return _law(self, values, lengths, draws)(z, corpus) + self.log_words(z, corpus, hyper)

    @override
    def predictive(self, latents: Latents, corpus: Corpus) -> LayeredPredictive:
        """See `Model.predictive`: a new document has layers of its own."""
        return LayeredPredictive(self, self.frozen_topics(latents, corpus).words, latents)

    @override
    def new_proportions(self, latents: Latents, corpus: Corpus) -> LayeredPredictive:
        return self.predictive(latents, corpus)

    @override
    def frozen_topics(self, latents: Latents, corpus: Corpus) -> FrozenTopics:
        """See `Model.frozen_topics`; the prior is approximated by that of the mean document."""
        alpha = self.document_prior(latents, corpus)[:, :-1]
        prior = alpha.mean(axis=0) if len(alpha) else np.full(self.n_topics, 1.0 / self.n_topics)
        return frozen_under(self, prior, latents, corpus)

    @override
    def quantities(
        self,
        latents: Latents,
        corpus: Corpus,
        probes: Probes | None = None,
        counts: WordCounts | None = None,
    ) -> Quantities:
        """See `Model.quantities`.

        Those of `PoissonFamily.quantities`; of each layer, means over documents, ``mean_log_rate`` and
        ``mean_log_theta``, of the sum of theta.
        """
        mass = np.maximum(latents["theta"].sum(axis=2), np.finfo(float).tiny)
        own = {
            "mean_log_rate": np.log(latents["rate"]).mean(axis=1),
            "mean_log_theta": np.log(mass).mean(axis=1),
        }
        return super().quantities(latents, corpus, probes, counts) | own

    @override
    def document_block(self, corpus: Corpus, n_topics: int) -> Callable[[], Any]:
        return reference.layers(self, corpus.doc_lengths)

    @override
    def document_data(self, corpus: Corpus) -> dict[str, Any]:
        return {
            "S": self.n_layers,
            "length_shape": self.length_shape,
            "link_eta": self.link_eta,
            "rate_shape": self.rate_shape,
            "rate_rate": self.rate_rate,
        }

    @override
    def documents_at(
        self, draw: Mapping[str, np.ndarray], labels: np.ndarray, corpus: Corpus
    ) -> tuple[Latents, np.ndarray]:
        shape = (self.n_layers - 1, corpus.n_documents)
        latents = {
            "theta": np.reshape(draw["rates"], (*shape, self.n_topics)),
            "link": np.reshape(draw["link"], (shape[0], self.n_topics, self.n_topics)),
            "rate": np.reshape(draw["rate"], shape),
            "r": draw["mass"] * draw["root"],
        }
        hyper = {name: np.asarray(draw[name]) for name in ("gamma", "c")}
        return {"z": labels} | latents | hyper, np.arange(self.n_topics)

    @override
    def load_documents(self, room: Room, latents: Latents, corpus: Corpus) -> Any:
        rate_prior = (self.rate_shape, self.rate_rate)
        return room(layers).layered_documents(
            latents, self.prior_arrays(), self.length_shape, self.link_eta, rate_prior
        )

    @override
    def snapshot_documents(self, state: State) -> Latents:
        side = state.documents
        arrays = {name: getattr(side, name).copy() for name in ("theta", "link", "rate", "r")}
        return arrays | {"gamma": np.array(side.gamma[0]), "c": np.array(side.c[0])}


@lru_cache(maxsize=8)
def _law(model: Gbn, hyper: tuple[float, float], doc_lengths: tuple[int, ...], draws: int) -> SimulatedLaw:
    """Law of topics given gamma and c, which also seed the simulation."""
    rng = np.random.default_rng(np.array(hyper).view(np.uint32).tolist())
    alpha = np.empty((draws, len(doc_lengths), model.n_topics))
    named = {"gamma": np.array(hyper[0]), "c": np.array(hyper[1])}
    for start in range(0, draws, DRAWS_OF_MANY):
        weights = layered.draw_layers(model, DRAWS_OF_MANY, len(doc_lengths), named, rng)
        alpha[start : start + DRAWS_OF_MANY] = weights["theta"][:, 0] @ weights["link"][:, 0]
    return SimulatedLaw(alpha, np.array(doc_lengths), model.length_shape)
