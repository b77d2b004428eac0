"""Topics of groups: the documents of a group share their topic proportions (Rosen-Zvi et al. 2004)."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from numbers import Integral
from typing import Any, ClassVar, override

import numpy as np
from scipy.stats import entropy

from ...kernels.skeleton import sweeps
from ...kernels.skeleton.sweeps import SkeletonState
from ..contract import (
    Card,
    Design,
    Equation,
    FrozenTopics,
    Gamma,
    Hyperparameter,
    Kernel,
    Latents,
    Model,
    Prior,
    Probes,
    Quantities,
    Reference,
    Room,
    Simulation,
    WordCounts,
)
from ..corpus import Corpus, CorpusError
from ..settings import option, setting
from ..toolbox.draws import draw_categorical, draw_dirichlet, draw_hyperparameter, draw_words
from ..toolbox.laws import doc_topic_counts, log_sequences, topic_word_counts
from ..toolbox.proportions import MixedProportions
from ..toolbox.stan_data import stan_priors


@dataclass(frozen=True)
class Skeleton(Model):
    """A fixed number of topics; groups mix them, and all documents of a group in the same proportions.

    Latents: ``z`` (N,), ``alpha``, ``eta``. The corpus must have groups.

    Parameters
    ----------
    n_topics : int
        K.
    alpha : float or Gamma
        Dirichlet parameter of a group's proportions, a topic.
    eta : float or Gamma
        Dirichlet parameter of a topic's word distribution, a word.
    """

    # Step 1: the card and the hyperparameters.

    card: ClassVar[Card] = Card(
        id="skeleton",
        title="Topics of groups",
        summary="A fixed number of topics; all documents of a group mix them in the same proportions.",
        citation=(
            "M. Rosen-Zvi, T. Griffiths, M. Steyvers and P. Smyth. The author-topic model for authors and "
            "documents. Conference on Uncertainty in Artificial Intelligence, pages 487-494, 2004."
        ),
        source="Rosen-Zvi, Griffiths, Steyvers & Smyth (2004)",
        bibtex_key="rosenzvi2004author",
        equations=(
            Equation("Section 2.3", r"\theta_g \sim \mathrm{Dir}_K(\alpha)", "topic proportions of a group"),
            Equation("Section 2.3", r"\phi_k \sim \mathrm{Dir}_V(\eta)", "word distribution of a topic"),
            Equation(
                "Section 2.3",
                r"z_i \sim \theta_{g(d(i))},\quad w_i \sim \phi_{z_i}",
                "topic and word of a token",
            ),
        ),
        errata=(
            "In the paper every token has an author, drawn among those of its document; here a document has "
            "one, its group. The paper fixes alpha and eta; here each may have a prior.",
        ),
        tags=("parametric", "several collections"),
    )

    n_topics: int = option(10, small=2, benchmark=100)
    alpha: Hyperparameter = setting(Gamma(1.0, 1.0), fixed=0.7, benchmark=0.1)
    eta: Hyperparameter = setting(Gamma(1.0, 10.0), fixed=0.5, prior=Gamma(2.0, 3.0), benchmark=0.01)

    def __post_init__(self):
        if not isinstance(self.n_topics, Integral) or isinstance(self.n_topics, bool) or self.n_topics < 1:
            raise ValueError(f"n_topics: expected a whole number, 1 or more, found {self.n_topics!r}")
        object.__setattr__(self, "n_topics", int(self.n_topics))
        super().__post_init__()

    def group_of_token(self, group: np.ndarray | None, doc_lengths: np.ndarray) -> np.ndarray:
        """Group of each token, int (N,); CorpusError where documents have none."""
        if group is None:
            raise CorpusError(f"{self.label}: expected a corpus with groups, found none")
        return np.repeat(group, doc_lengths)

    # Step 2: the generator, as the paper tells the story.

    @override
    def draw_hyperparameters(self, design: Design, rng: np.random.Generator) -> dict[str, np.ndarray]:
        return {name: draw_hyperparameter(value, None, rng) for name, value in self.hyperparameters().items()}

    def draw_topics(
        self, design: Design, hyper: Mapping[str, np.ndarray], rng: np.random.Generator
    ) -> Latents:
        """Draw ``z`` given the hyperparameters."""
        group = self.group_of_token(design.group, design.doc_lengths)
        theta = draw_dirichlet(np.full((design.n_groups, self.n_topics), float(hyper["alpha"])), rng)
        return {"z": draw_categorical(theta[group], rng)}

    @override
    def simulate(self, design: Design, rng: np.random.Generator) -> Simulation:
        hyper = self.draw_hyperparameters(design, rng)
        latents = self.draw_topics(design, hyper, rng) | hyper
        return Simulation(latents, self.resample_data(latents, design, rng))

    @override
    def resample_data(self, latents: Latents, design: Design, rng: np.random.Generator) -> Corpus:
        words = draw_words(latents["z"], self.n_topics, design.n_words, float(latents["eta"]), rng)
        return design.corpus(words)

    @override
    def initial_latents(self, corpus: Corpus, rng: np.random.Generator) -> Latents:
        hyper = self.draw_hyperparameters(Design.of(corpus), rng)
        return {"z": np.full(corpus.n_tokens, -1)} | hyper

    # Step 3: the density, from the equations, slow and obvious; proportions are integrated out.

    def log_assignments(self, latents: Latents, corpus: Corpus) -> float:
        """Log probability of ``z`` given alpha."""
        group = self.group_of_token(corpus.group, corpus.doc_lengths)
        return log_sequences(group, latents["z"], np.full(self.n_topics, float(latents["alpha"])))

    @override
    def log_likelihood(self, latents: Latents, corpus: Corpus) -> float:
        return log_sequences(latents["z"], corpus.words, np.full(corpus.n_words, float(latents["eta"])))

    @override
    def log_joint(self, latents: Latents, corpus: Corpus) -> float:
        priors = {name: prior for name, prior in self.hyperparameters().items() if isinstance(prior, Prior)}
        return (
            sum(prior.log_density(latents[name]) for name, prior in priors.items())
            + self.log_assignments(latents, corpus)
            + self.log_likelihood(latents, corpus)
        )

    @override
    def log_marginal(self, z: np.ndarray, corpus: Corpus, hyper: Mapping[str, np.ndarray]) -> float:
        latents = {"z": z, **hyper}
        return self.log_assignments(latents, corpus) + self.log_likelihood(latents, corpus)

    @override
    def assignments(self, corpus: Corpus) -> Iterator[np.ndarray]:
        for z in product(range(self.n_topics), repeat=corpus.n_tokens):
            yield np.array(z, np.int64)

    @override
    def n_topics_of(self, latents: Latents) -> int:
        return self.n_topics

    # Step 4: the reference, the topics of the tokens summed out.

    @property
    @override
    def reference(self) -> Reference:
        return Reference(
            parameters=("theta", "phi", "alpha", "eta"),
            numpyro=self._numpyro,
            stan_program="skeleton",
            stan_data=self._stan_data,
            latents=self._latents_at,
            needs_truncation=False,
        )

    def _counts(self, corpus: Corpus) -> np.ndarray:
        """How often each word occurs in each group, int (G, V)."""
        counts = np.zeros((corpus.n_groups, corpus.n_words), np.int64)
        np.add.at(counts, (self.group_of_token(corpus.group, corpus.doc_lengths), corpus.words), 1)
        return counts

    def _numpyro(self, corpus: Corpus, truncation: int) -> Callable[[], None]:
        from ..toolbox import blocks  # JAX takes seconds to import

        counts = self._counts(corpus)
        n_groups, n_words = counts.shape

        def program() -> None:
            log_alpha = blocks.log_hyperparameter("alpha", self.alpha)
            log_theta = blocks.log_dirichlet("theta", log_alpha, (n_groups, self.n_topics))
            log_eta = blocks.log_hyperparameter("eta", self.eta)
            log_phi = blocks.log_dirichlet("phi", log_eta, (self.n_topics, n_words))
            blocks.see_words(counts, log_theta, log_phi[None], np.zeros(n_groups, np.int64))

        return program

    def _stan_data(self, corpus: Corpus, truncation: int) -> dict[str, Any]:
        counts = self._counts(corpus)
        sizes = {"G": corpus.n_groups, "V": corpus.n_words, "K": self.n_topics}
        return sizes | {"counts": counts} | stan_priors(self)

    def _latents_at(
        self, draw: Mapping[str, np.ndarray], corpus: Corpus, rng: np.random.Generator
    ) -> Latents:
        group = self.group_of_token(corpus.group, corpus.doc_lengths)
        z = draw_categorical(draw["theta"][group] * draw["phi"].T[corpus.words], rng)
        return {"z": z, "alpha": np.asarray(draw["alpha"]), "eta": np.asarray(draw["eta"])}

    @override
    def memory_of_reference(self, corpus: Corpus, truncation: int) -> int:
        return 8 * self.n_topics * (corpus.n_groups + corpus.n_words)

    # Step 5: the kernel; the sampler itself is in `kernels/`.

    @override
    def kernels_in(self, room: Room) -> dict[str, Kernel]:
        skeleton = room(sweeps)

        def load(latents: Latents, corpus: Corpus, model: Skeleton) -> SkeletonState:
            return skeleton.make_state(
                corpus.words,
                model.group_of_token(corpus.group, corpus.doc_lengths),
                (corpus.n_groups, model.n_topics, corpus.n_words),
                latents,
                model.prior_arrays(),
            )

        def step(rng: np.random.Generator, state: SkeletonState) -> SkeletonState:
            skeleton.sweep(rng, state)
            return state

        about = "collapsed Gibbs; a token costs as much as there are topics"
        return {"dense": Kernel(load, step, _snapshot, skeleton.check, skeleton.sweep, about=about)}

    @override
    def memory_of_chain(self, corpus: Corpus, variant: str | None = None) -> dict[str, int]:
        return {"counts of topics": 8 * self.n_topics * (corpus.n_groups + corpus.n_words)}

    # Step 6: what is said of new documents, and the test quantities.

    @override
    def frozen_topics(self, latents: Latents, corpus: Corpus) -> FrozenTopics:
        """See `Model.frozen_topics`; what a group's tokens say of its proportions is the prior."""
        z = latents["z"]
        words = topic_word_counts(z, corpus.words, self.n_topics, np.arange(corpus.n_words))
        words = words + float(latents["eta"])
        prior = np.full((corpus.n_groups, self.n_topics), float(latents["alpha"]))
        np.add.at(prior, (self.group_of_token(corpus.group, corpus.doc_lengths), z), 1.0)
        return FrozenTopics(words / words.sum(axis=1, keepdims=True), prior)

    @override
    def own_proportions(self, latents: Latents, corpus: Corpus) -> MixedProportions:
        """See `Model.own_proportions`; those of its group, given all tokens of the group."""
        frozen = self.frozen_topics(latents, corpus)
        rows = frozen.rows_of(corpus)
        return MixedProportions(lambda d: (np.ones(1), frozen.prior[rows[d]][None]))

    @override
    def quantities(
        self,
        latents: Latents,
        corpus: Corpus,
        probes: Probes | None = None,
        counts: WordCounts | None = None,
    ) -> Quantities:
        probes = probes or Probes.of(corpus)
        z, topics = latents["z"], self.frozen_topics(latents, corpus)
        theta = topics.prior / topics.prior.sum(axis=1, keepdims=True)
        document, word = probes.cells.T
        likelihood = self.log_likelihood(latents, corpus)
        return {
            "n_topics": np.asarray(float(np.unique(z).size)),
            "log_joint": np.asarray(likelihood + self.log_assignments(latents, corpus)),
            "log_likelihood": np.asarray(likelihood),
            "same_topic": (z[probes.pairs[:, 0]] == z[probes.pairs[:, 1]]).astype(float),
            "topic_entropy": entropy(doc_topic_counts(z, corpus, self.n_topics)[probes.documents], axis=1),
            "predictive": np.sum(theta[corpus.group_of_doc[document]] * topics.words[:, word].T, axis=1),
        } | {name: np.asarray(latents[name], float) for name in self.sampled()}


def _snapshot(state: SkeletonState) -> Latents:
    return {
        "z": state.topic.astype(np.int64),
        "alpha": np.array(state.alpha[0]),
        "eta": np.array(state.eta[0]),
    }
