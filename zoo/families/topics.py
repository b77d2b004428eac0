"""Topic sides: how likely a word is under a topic; what each has to offer, and the symmetric Dirichlet one.

A model of Dirichlet (process) documents holds a topic side. Documents decide which topics tokens have; given
these, all that concerns words is the topic side's: its latent variables, its hyperparameters and its moves.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, override

import numpy as np
from scipy.special import gammaln

from ...kernels.toolbox import dirichlet, sweeps, tally
from ...kernels.toolbox.sides import State, Tokens
from ..contract import Design, Gamma, Hyperparameter, Latents, Quantities, Room, TokenStep, WordCounts
from ..corpus import Corpus
from ..settings import HasSettings, setting
from ..toolbox.draws import draw_words
from ..toolbox.laws import log_sequences, topic_word_counts


class Sampler(NamedTuple):
    """A sweep over the tokens that a topic side has, whatever the documents.

    Attributes
    ----------
    about : str
    sweep : (room) -> callable
        The njit function; True once it got through all tokens.
    scheme : str
        Which of the side's schemes, where it has several.
    token_step : {"conditional", "reversible", "augmented"}
        See `Kernel.token_step`.
    opens_topics : bool
        Whether it also serves documents that open topics.
    """

    about: str
    sweep: Callable[[Room], Callable[..., bool]]
    scheme: str = ""
    token_step: TokenStep = "conditional"
    opens_topics: bool = True


def sparse(room: Room) -> Callable[..., bool]:
    """Sweep in time that grows with the non-zero counts."""
    return room(sweeps).sparse_sweep


def dense(room: Room) -> Callable[..., bool]:
    """Sweep in time that grows with the number of topics."""
    return room(sweeps).dense_sweep


class TopicSide(HasSettings, ABC):
    """A topic side: a frozen dataclass whose fields are its hyperparameters.

    Sizes in what follows: N tokens, V words, G groups, K topics.
    """

    name: ClassVar[str]
    """As users say it."""
    about: ClassVar[str]
    """One line for users."""
    parameters: ClassVar[tuple[str, ...]]
    """What `word_weights` and `latents_at` need of a draw of the reference programs."""
    stan_folder: ClassVar[str]
    """Where the Stan programs find this side's part."""
    moves_whole_tables: ClassVar[bool] = False
    """Whether kernels can weigh a table's tokens together, which in Pitman-Yor topics would need seats."""

    @property
    def form(self) -> Mapping[str, Any]:
        """Its arguments that are no hyperparameters."""
        hyper = self.hyperparameters()
        return {name: value for name, value in self.arguments().items() if name not in hyper}

    @property
    def dimensions(self) -> Mapping[str, tuple[str, ...]]:
        """Axes of its latents that are arrays; see `Model.dimensions`."""
        return {}

    @property
    def has_versions(self) -> bool:
        """See `Model.has_versions`."""
        return False

    def sizes(self, n_topics: int) -> Mapping[str, int]:
        """Lengths of its hyperparameters that are vectors over topics."""
        return {}

    def selected(self, hyper: Mapping[str, np.ndarray], topics: np.ndarray | slice) -> Latents:
        """Return `hyper`, of vectors over topics the entries of some topics alone."""
        return {name: x[topics] if name in self.sizes(0) else x for name, x in hyper.items()}

    def unseated(self, corpus: Corpus) -> Latents:
        """Its latents, hyperparameters apart, while no token has a topic."""
        return {}

    def started(self, z: np.ndarray, n_topics: int, corpus: Corpus) -> Latents:
        """Its latents, hyperparameters apart, with which a chain can start at topics `z`."""
        return self.unseated(corpus)

    @abstractmethod
    def draw_words(
        self, latents: Latents, n_topics: int, design: Design, rng: np.random.Generator
    ) -> tuple[np.ndarray, Latents]:
        """Draw words, int (N,), and its latents, given topics ``latents["z"]`` and hyperparameters."""

    @abstractmethod
    def redraw_words(
        self, latents: Latents, n_topics: int, design: Design, rng: np.random.Generator
    ) -> np.ndarray:
        """Draw words given all latents, int (N,)."""

    @abstractmethod
    def log_likelihood(self, latents: Latents, corpus: Corpus) -> float:
        """Log probability of words and its latents given topics and hyperparameters."""

    def log_multiplicity(self, latents: Latents, corpus: Corpus) -> float:
        """See `Model.log_multiplicity`."""
        return 0.0

    def log_marginal(self, z: np.ndarray, corpus: Corpus, hyper: Mapping[str, np.ndarray]) -> float:
        """Log probability of words given topics and hyperparameters, all else summed out; for few tokens."""
        return self.log_likelihood({"z": z, **hyper}, corpus)

    @abstractmethod
    def word_probabilities(
        self, latents: Latents, corpus: Corpus, n_topics: int, words: np.ndarray
    ) -> np.ndarray:
        """See `CollapsedTopicModel.word_probabilities`."""

    @property
    def counts(self) -> Callable[[State], WordCounts] | None:
        """See `Kernel.counts`."""
        return None

    def measured_words(
        self,
        latents: Latents,
        corpus: Corpus,
        n_topics: int,
        words: np.ndarray,
        counts: WordCounts | None,
    ) -> tuple[float, np.ndarray]:
        """See `CollapsedTopicModel.measured_words`."""
        probabilities = self.word_probabilities(latents, corpus, n_topics, words)
        return self.log_likelihood(latents, corpus), probabilities

    def new_word_probabilities(self, latents: Latents, corpus: Corpus, words: np.ndarray) -> np.ndarray:
        """See `CollapsedTopicModel.new_word_probabilities`."""
        return np.full((1, len(words)), 1.0 / corpus.n_words)

    def word_concentration(self, latents: Latents, corpus: Corpus, n_topics: int) -> np.ndarray | None:
        """See `CollapsedTopicModel.word_concentration`."""
        return None

    def quantities(self, latents: Latents) -> Quantities:
        """Test quantities beside those that all models have."""
        return {}

    @abstractmethod
    def block(self, corpus: Corpus, n_topics: int) -> Callable[[], tuple[Any, np.ndarray]]:
        """Return its part of a NumPyro program, which returns log topics (G, K, V) and documents' groups."""

    @abstractmethod
    def stan_data(self, corpus: Corpus) -> dict[str, Any]:
        """Return what its part of the Stan programs asks for but hyperparameters."""

    @abstractmethod
    def word_weights(self, draw: Mapping[str, np.ndarray], corpus: Corpus) -> np.ndarray:
        """Probability of each token's word under each topic at a draw of the references, float (N, K)."""

    def latents_at(
        self,
        draw: Mapping[str, np.ndarray],
        labels: np.ndarray,
        topics: np.ndarray,
        corpus: Corpus,
        rng: np.random.Generator,
    ) -> Latents:
        """Draw its latents given a draw of the references and topics of tokens.

        Parameters
        ----------
        draw : mapping of str to array
        labels : int (N,)
            As the draw numbers topics.
        topics : int (K,)
            Those whose hyperparameters are kept, in this order.
        corpus : Corpus
        rng : numpy.random.Generator
        """
        return self.selected({name: np.asarray(draw[name]) for name in self.hyperparameters()}, topics)

    @property
    @abstractmethod
    def samplers(self) -> Mapping[str, Sampler]:
        """By name of the variant; the first is the default."""

    @abstractmethod
    def load(
        self,
        room: Room,
        tokens: Tokens,
        latents: Latents,
        corpus: Corpus,
        capacity: int,
        n_topics: int,
        scheme: str,
    ) -> Any:
        """Topic side of a kernel's state."""

    @abstractmethod
    def snapshot(self, room: Room, state: State) -> Latents:
        """Copy its latents and hyperparameters."""

    def memory_of_chain(self, corpus: Corpus, n_topics: int, variant: str | None = None) -> dict[str, int]:
        """Bytes of the large arrays that a chain has for words; see `Model.memory_of_chain`."""
        return {}


def dirichlet_counts(state: Any) -> WordCounts:
    """Return the counts that a sampler of symmetric Dirichlet topics keeps; see `Kernel.counts`."""
    return tally.counts_of(state.topics)


@dataclass(frozen=True)
class Dirichlet(TopicSide):
    """Symmetric Dirichlet topics, the same in all groups.

    Parameters
    ----------
    eta : float or Gamma
        Dirichlet parameter of a topic's word distribution, a word.
    """

    name: ClassVar[str] = "dirichlet"
    about: ClassVar[str] = "symmetric Dirichlet, the same in all groups"
    parameters: ClassVar[tuple[str, ...]] = ("phi", "eta")
    stan_folder: ClassVar[str] = "topics/dirichlet"
    moves_whole_tables: ClassVar[bool] = True

    eta: Hyperparameter = setting(Gamma(1.0, 10.0), fixed=0.5, prior=Gamma(2.0, 3.0), benchmark=0.01)

    @override
    def draw_words(
        self, latents: Latents, n_topics: int, design: Design, rng: np.random.Generator
    ) -> tuple[np.ndarray, Latents]:
        return self.redraw_words(latents, n_topics, design, rng), {}

    @override
    def redraw_words(
        self, latents: Latents, n_topics: int, design: Design, rng: np.random.Generator
    ) -> np.ndarray:
        z = latents["z"]
        return draw_words(z, int(z.max(initial=-1)) + 1, design.n_words, float(latents["eta"]), rng)

    @override
    def log_likelihood(self, latents: Latents, corpus: Corpus) -> float:
        return log_sequences(latents["z"], corpus.words, np.full(corpus.n_words, float(latents["eta"])))

    @override
    def word_probabilities(
        self, latents: Latents, corpus: Corpus, n_topics: int, words: np.ndarray
    ) -> np.ndarray:
        counted = topic_word_counts(latents["z"], corpus.words, n_topics, words)
        return self._probabilities(counted, np.bincount(latents["z"], minlength=n_topics), latents, corpus)

    @override
    def word_concentration(self, latents: Latents, corpus: Corpus, n_topics: int) -> np.ndarray:
        return np.bincount(latents["z"], minlength=n_topics + 1) + corpus.n_words * float(latents["eta"])

    def _probabilities(
        self, counted: np.ndarray, total: np.ndarray, latents: Latents, corpus: Corpus
    ) -> np.ndarray:
        eta = float(latents["eta"])
        return ((counted + eta) / (total[:, None] + corpus.n_words * eta))[None]

    @property
    @override
    def counts(self) -> Callable[[State], WordCounts]:
        return dirichlet_counts

    @override
    def measured_words(
        self,
        latents: Latents,
        corpus: Corpus,
        n_topics: int,
        words: np.ndarray,
        counts: WordCounts | None,
    ) -> tuple[float, np.ndarray]:
        """See `TopicSide.measured_words`; from counts, in time that grows with those that are not zero."""
        counts = counts or tally.recount(corpus.words, latents["z"], corpus.n_words, n_topics)
        pairs, eta = tally.counts_of_counts(counts), float(latents["eta"])
        smoothing, size = corpus.n_words * eta, np.arange(pairs.size)
        likelihood = np.sum(pairs * (gammaln(eta + size) - gammaln(eta)))
        likelihood += np.sum(gammaln(smoothing) - gammaln(smoothing + counts.total))
        counted = tally.counts_of_words(counts, words)
        return float(likelihood), self._probabilities(counted, counts.total, latents, corpus)

    @override
    def block(self, corpus: Corpus, n_topics: int) -> Callable[[], tuple[Any, np.ndarray]]:
        """See `TopicSide.block`; sites ``phi`` (K, V) and ``eta``."""
        group = np.zeros(corpus.n_documents, np.int64)

        def program() -> tuple[Any, np.ndarray]:
            from ..toolbox import blocks

            log_eta = blocks.log_hyperparameter("eta", self.eta)
            return blocks.log_dirichlet("phi", log_eta, (n_topics, corpus.n_words))[None], group

        return program

    @override
    def stan_data(self, corpus: Corpus) -> dict[str, Any]:
        return {}

    @override
    def word_weights(self, draw: Mapping[str, np.ndarray], corpus: Corpus) -> np.ndarray:
        return draw["phi"].T[corpus.words]

    @property
    @override
    def samplers(self) -> Mapping[str, Sampler]:
        return {
            "sparse": Sampler("a token costs as much as its non-zero counts", sparse),
            "dense": Sampler("a token costs as much as there are topics", dense),
        }

    @override
    def load(
        self,
        room: Room,
        tokens: Tokens,
        latents: Latents,
        corpus: Corpus,
        capacity: int,
        n_topics: int,
        scheme: str,
    ) -> Any:
        return room(dirichlet).dirichlet_topics(
            tokens, corpus.n_words, n_topics, capacity, float(latents["eta"]), self.prior_arrays()["eta"]
        )

    @override
    def snapshot(self, room: Room, state: State) -> Latents:
        return {"eta": np.array(state.topics.eta[0])}
