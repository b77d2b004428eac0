"""What a model offers, and to whom: the contract that every back end and every diagnostic relies on."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, Literal, NamedTuple, NoReturn, Protocol, override

import numpy as np

from ..kernels.toolbox.tally import WordCounts as WordCounts
from .corpus import Corpus, CorpusError
from .corpus.associations import Associations
from .corpus.fields import MOST_NAMES, Covariate
from .predictive import FrozenTopics as FrozenTopics
from .predictive import NewProportions, Predictive, Proportions
from .priors import Beta as Beta
from .priors import Gamma as Gamma
from .priors import Hyperparameter as Hyperparameter
from .priors import Prior as Prior
from .probes import Probes as Probes
from .settings import HasSettings
from .wording import not_among

type Latents = dict[str, np.ndarray]
"""Latent variables by name. ``z`` is the topic of each token, int (N,), numbered without gaps."""

type Quantities = dict[str, np.ndarray]
"""Label-invariant test quantities by name, each a float scalar or vector."""


@dataclass(frozen=True)
class Equation:
    """An equation of a paper, as the package implements it.

    Attributes
    ----------
    where : str
        Its number or section in the source.
    latex : str
    meaning : str
        What it defines, in a few words.
    """

    where: str
    latex: str
    meaning: str


@dataclass(frozen=True)
class Card:
    """What a model is, and where it comes from.

    Attributes
    ----------
    id, title, summary : str
    citation : str
    source : str
        Authors and year, as a table of models has them.
    bibtex_key : str
    equations : tuple of Equation
    errata : tuple of str
        Where this package differs from the printed source, and why.
    tags : tuple of str
    """

    id: str
    title: str
    summary: str
    citation: str
    source: str
    bibtex_key: str
    equations: tuple[Equation, ...] = ()
    errata: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()


@dataclass(frozen=True)
class Design:
    """All that is fixed when data are generated: all of a corpus but its words.

    Parameters
    ----------
    doc_lengths : int (D,)
    n_words : int
    n_groups : int, optional
        At least the largest group plus one, which is the default; a group may have no documents.
    group, covariates, associations, vocabulary, group_names, segment_ptr, covariate_names, in_order
        As in `Corpus`; kept as they are given.

    Raises
    ------
    CorpusError
        There are fewer names than groups.
    """

    doc_lengths: np.ndarray
    n_words: int
    group: np.ndarray | None = None
    n_groups: int = 0
    covariates: Mapping[str, Covariate] = field(default_factory=dict)
    associations: Associations | None = None
    vocabulary: np.ndarray | None = None
    group_names: np.ndarray | None = None
    segment_ptr: np.ndarray | None = None
    covariate_names: Mapping[str, np.ndarray] = field(default_factory=dict)
    in_order: bool = False

    def __post_init__(self):
        if self.n_words > MOST_NAMES:
            raise ValueError(f"n_words: expected at most {MOST_NAMES:,}, found {self.n_words:,}")
        in_use = 1 if self.group is None else int(np.max(self.group, initial=0)) + 1
        named = 0 if self.group_names is None else len(self.group_names)
        n_groups = max(self.n_groups, in_use, named)
        if named and named < n_groups:
            raise CorpusError(f"group_names: expected {n_groups}, one a group, found {named}")
        object.__setattr__(self, "n_groups", n_groups)

    @classmethod
    def of(cls, corpus: Corpus) -> "Design":
        """Design under which `corpus` could have been generated."""
        return cls(**{f.name: getattr(corpus, f.name) for f in fields(cls)})

    def with_lengths(self, doc_lengths: np.ndarray) -> "Design":
        """Design of documents of other lengths, whose segments are not known."""
        return replace(self, doc_lengths=doc_lengths, segment_ptr=None)

    def corpus(self, words: np.ndarray) -> Corpus:
        """Corpus of this design that holds `words`."""
        doc_ptr = np.concatenate([[0], np.cumsum(self.doc_lengths)])
        fixed = {f.name: getattr(self, f.name) for f in fields(Corpus) if f.name not in ("words", "doc_ptr")}
        if self.group is not None and self.group_names is None:
            fixed["group_names"] = [f"group {g}" for g in range(self.n_groups)]
        return Corpus(words, doc_ptr, **fixed)


class Simulation(NamedTuple):
    """A draw from the joint: latent variables and the corpus they made."""

    latents: Latents
    corpus: Corpus


type TokenStep = Literal["conditional", "reversible", "augmented"]


@dataclass(frozen=True)
class Kernel:
    """A handwritten sampler of one model.

    Attributes
    ----------
    load : (latents, corpus, model) -> State
        State that stands at `latents`. ``latents["z"]`` may be -1 throughout: then the first step seats
        the tokens one after the other, each given those before it.
    step : (rng, state) -> State
        One transition: a full sweep. Mutates the arrays of `state`; returns it, or a state with more room.
    snapshot : (state) -> Latents
        Copies of the latent variables.
    check : (state) -> None
        Recounts every statistic; raises AssertionError where one differs.
    sweep : callable
        The njit function under `step`; ``sweep.py_func`` is its plain Python.
    exact : bool
        Whether the model's posterior is the stationary law.
    about : str
        One line for the user.
    requires : mapping of str to object
        Fields of the model with which it always applies; with others `load` may refuse.
    token_step : {"conditional", "reversible", "augmented"}
        How a token moves: by a draw from its conditional given all else; by a reversible step; or given
        variables that are not among the latents, or once such have moved, so that the rung `joint` has
        nothing to compare with.
    with_room : (state) -> State, optional
        Copy of `state` with room for more topics; None where their number is fixed.
    counts : (state) -> WordCounts, optional
        Counts of words in topics that the state keeps, so that test quantities need not count them again.
    """

    load: Callable[[Latents, Corpus, Any], Any]
    step: Callable[[np.random.Generator, Any], Any]
    snapshot: Callable[[Any], Latents]
    check: Callable[[Any], None]
    sweep: Callable[..., Any]
    exact: bool = True
    about: str = ""
    requires: Mapping[str, Any] = field(default_factory=dict)
    token_step: TokenStep = "conditional"
    with_room: Callable[[Any], Any] | None = None
    counts: Callable[[Any], WordCounts] | None = None

    def counted(self, state: Any) -> WordCounts | None:
        """Return the counts that `state` keeps, if it keeps any."""
        return None if self.counts is None else self.counts(state)

    @staticmethod
    def step_of(sweep: Callable[..., bool], with_room: Callable[[Any], Any]) -> Callable[..., Any]:
        """Return the `step` of a sweep that stops, False, where there is no room for another topic."""

        def step(rng: np.random.Generator, state: Any) -> Any:
            while not sweep(rng, state):
                state = with_room(state)
            return state

        return step


class Room(Protocol):
    """The room ``bnpzoo.kernels``, or a copy of it with a change in it."""

    def __call__[M](self, module: M, /) -> M:
        """Return the room's own version of a module of ``bnpzoo.kernels``."""
        ...


def original[M](module: M, /) -> M:
    """Return `module` itself: the room without a change."""
    return module


@dataclass(frozen=True)
class Reference:
    """A model as a program for general samplers, written twice: in NumPyro and in Stan.

    The two are twins: of one density, up to a constant, and with the same names. Discrete latents are summed
    out, and what is infinite is cut off at the truncation.

    Attributes
    ----------
    parameters : tuple of str
        What `latents` needs of a draw.
    numpyro : (corpus, truncation) -> () -> None
        NumPyro program.
    stan_program : str
        Name of the Stan program, ``stan/<name>.stan``; models may share one.
    stan_includes : tuple of str
        Folders of ``stan/`` where its includes are looked for, beside that one.
    stan_data : (corpus, truncation) -> dict
        Its data.
    latents : (draw, corpus, rng) -> Latents
        Draws ``z``, and whatever else is discrete, given the parameters at one draw.
    needs_truncation : bool
        Whether something is cut off; else the truncation plays no part.
    largest_truncation : int, optional
        Where the cost doubles with every topic; None where there is no limit.
    """

    parameters: tuple[str, ...]
    numpyro: Callable[[Corpus, int], Callable[[], None]]
    stan_program: str
    stan_data: Callable[[Corpus, int], dict[str, Any]]
    latents: Callable[[Mapping[str, np.ndarray], Corpus, np.random.Generator], Latents]
    stan_includes: tuple[str, ...] = ()
    needs_truncation: bool = True
    largest_truncation: int | None = None


class Iteration(ABC):
    """A law that comes nearer to the posterior as it is advanced."""

    @abstractmethod
    def advance(self) -> float:
        """Update all parts of the law once; return the objective, the density of any points in it."""

    @abstractmethod
    def draw(self, rng: np.random.Generator) -> Latents:
        """Draw latents from the law."""


@dataclass(frozen=True)
class Variational:
    """A simpler law in place of the posterior, as near to it as some iteration brings it.

    Attributes
    ----------
    variants : mapping of str to str
        Name of each iteration, and a line about it; the first is the default.
    begin : (corpus, truncation, rng, variant) -> Iteration
    needs_truncation : bool
        Whether something is cut off; else the truncation plays no part.
    """

    variants: Mapping[str, str]
    begin: Callable[[Corpus, int, np.random.Generator, str], Iteration]
    needs_truncation: bool = True


class Model(HasSettings, ABC):
    """A model: a frozen dataclass whose fields are its hyperparameters."""

    card: ClassVar[Card]

    @property
    @override
    def label(self) -> str:
        return self.card.id

    @abstractmethod
    def kernels_in(self, room: Room) -> dict[str, Kernel]:
        """Make the samplers from the modules of `room`, by name of variant; the first is the default."""

    @property
    def kernels(self) -> Mapping[str, Kernel]:
        """Samplers by name of variant; the first is the default."""
        return self.kernels_in(original)

    @property
    def dimensions(self) -> Mapping[str, tuple[str, ...]]:
        """Names of the axes of its latents and quantities that are arrays, but those that every model has.

        ``stick`` and ``represented`` are axes over topics whose lengths change from draw to draw; the first
        has an entry more, for all topics that are not represented.
        """
        return {}

    @property
    def has_versions(self) -> bool:
        """Whether topic k of one group is a version of topic k of another."""
        return False

    @abstractmethod
    def simulate(self, design: Design, rng: np.random.Generator) -> Simulation:
        """Draw latent variables and data from the joint, given all that `design` fixes."""

    def simulate_lengths(self, design: Design, rng: np.random.Generator) -> Simulation:
        """Draw the lengths of the documents too, where the model has a law of them; else as `simulate`."""
        return self.simulate(design, rng)

    @abstractmethod
    def resample_data(self, latents: Latents, design: Design, rng: np.random.Generator) -> Corpus:
        """Draw new data given `latents`, whose ``z`` stays as it is."""

    @abstractmethod
    def log_joint(self, latents: Latents, corpus: Corpus) -> float:
        """Log density of latents and data that every conditional must agree with; slow and obvious."""

    def log_multiplicity(self, latents: Latents, corpus: Corpus) -> float:
        """Log of how many values of the latents, all as likely, are one state to a kernel."""
        return 0.0

    @abstractmethod
    def log_likelihood(self, latents: Latents, corpus: Corpus) -> float:
        """Log probability of the words given the topics of the tokens."""

    @abstractmethod
    def log_marginal(self, z: np.ndarray, corpus: Corpus, hyper: Mapping[str, np.ndarray]) -> float:
        """Log probability of topics `z` and the words given hyperparameters, all else integrated out.

        For micro corpora: may enumerate tables. `z` stands for its partition where topics are exchangeable
        without bound, and for itself where their number is fixed.
        """

    @abstractmethod
    def assignments(self, corpus: Corpus) -> Iterator[np.ndarray]:
        """All values of ``z`` for a micro corpus, in the sense of `log_marginal`."""

    @abstractmethod
    def draw_hyperparameters(self, design: Design, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """Values of all hyperparameters: the fixed ones as they are, the others from their priors."""

    @abstractmethod
    def frozen_topics(self, latents: Latents, corpus: Corpus) -> FrozenTopics:
        """Topics and document prior for new documents, given one posterior draw."""

    def predictive(self, latents: Latents, corpus: Corpus) -> Predictive:
        """Return what one posterior draw says of new documents: its frozen topics, or what a model knows."""
        return self.frozen_topics(latents, corpus)

    def new_proportions(self, latents: Latents, corpus: Corpus) -> FrozenTopics | NewProportions:
        """Law of the topic proportions of new documents given their words alone, at one posterior draw.

        Frozen topics, where proportions are Dirichlet a priori, or taken to be.
        """
        return self.frozen_topics(latents, corpus)

    @abstractmethod
    def own_proportions(self, latents: Latents, corpus: Corpus) -> Proportions:
        """Law of the topic proportions of the documents of `corpus`, given one posterior draw.

        Given all that the model knows of them, such as their labels, which of new documents it may not.
        """

    @abstractmethod
    def initial_latents(self, corpus: Corpus, rng: np.random.Generator) -> Latents:
        """Where a chain starts: ``z`` is -1 throughout."""

    @property
    def default_starts(self) -> tuple[str, ...]:
        """Where chains start in turn unless told otherwise; see `zoo.inference.starts`."""
        return ("seated",)

    def start_at(self, labels: np.ndarray, corpus: Corpus, rng: np.random.Generator) -> Latents:
        """Latents with which a chain can start at given topics; what they do not tell is drawn, or guessed.

        Parameters
        ----------
        labels : int (N,)
            Tokens of one label share their topic, as far as the model has so many.
        corpus : Corpus
        rng : numpy.random.Generator

        Raises
        ------
        ValueError
            Chains of this model can only start with tokens that are seated one after the other.
        """
        self._refuse_start()

    def check_start(self) -> None:
        """Raise the ValueError of `start_at` unless the model has one of its own."""
        if type(self).start_at is Model.start_at:
            self._refuse_start()

    def _refuse_start(self) -> NoReturn:
        raise ValueError(
            f"start: {self.card.id}: its chains start with tokens seated one after the other; expected seated"
        )

    @abstractmethod
    def quantities(
        self,
        latents: Latents,
        corpus: Corpus,
        probes: Probes | None = None,
        counts: WordCounts | None = None,
    ) -> Quantities:
        """Test quantities at one draw, by the same code for every back end.

        Parameters
        ----------
        latents : Latents
        corpus : Corpus
        probes : Probes, optional
            Those of the corpus unless given.
        counts : WordCounts, optional
            Of the latents, where somebody has counted already; what is returned does not depend on it.
        """

    @property
    def reference(self) -> Reference | None:
        """Its programs in NumPyro and Stan; None where it has none."""
        return None

    def require_reference(self) -> Reference:
        """Return its reference; ValueError where it has none."""
        if self.reference is None:
            raise ValueError(
                f"{self.card.id}: there is no reference program, in NumPyro or Stan; use a kernel"
            )
        return self.reference

    @property
    def variational(self) -> Variational | None:
        """Its variational inference; None where it has none."""
        return None

    def require_variational(self) -> Variational:
        """Return its variational inference; ValueError where it has none."""
        if self.variational is None:
            raise ValueError(f"{self.card.id}: there is no variational inference; use a kernel")
        return self.variational

    def spelled(self) -> dict[str, Any]:
        """Return the arguments with which `zoo.models.get` makes it: numbers, words and priors."""
        return self.arguments()

    @abstractmethod
    def n_topics_of(self, latents: Latents) -> int:
        """Return how many topics there are at one draw, so that ``z`` is below it."""

    def range_of_tokens(self, name: str, corpus: Corpus) -> tuple[int, int | np.ndarray]:
        """Least and largest value of a latent of whole numbers, or of each entry; ``z`` has none here."""
        return (0, corpus.n_tokens) if name == "z" else (-1, corpus.n_words - 1)

    def memory_of_chain(self, corpus: Corpus, variant: str | None = None) -> dict[str, int]:
        """Bytes of the large arrays of one chain of a kernel, beside its tokens, by what they are."""
        return {}

    def memory_of_reference(self, corpus: Corpus, truncation: int) -> int:
        """Bytes of one draw of a reference program: proportions of documents and words of topics."""
        return 8 * truncation * (corpus.n_documents + corpus.n_words)

    def settings(self) -> dict[str, str]:
        """How each argument is set, in words: fixed, or sampled under a prior, or the word that is chosen."""

        def told(value: Any) -> str:
            if isinstance(value, Prior):
                return f"sampled, prior {value}"
            return value if isinstance(value, str) else f"fixed at {value}"

        return {name: told(value) for name, value in self.spelled().items()}

    def kernel(self, variant: str | None = None) -> Kernel:
        """Return the sampler `variant`, or the default one.

        Raises
        ------
        ValueError
            Lists the variants there are.
        """
        kernels = self.kernels
        name = variant or next(iter(kernels))
        if name not in kernels:
            raise ValueError(f"{self.card.id}: {not_among('variant', name, kernels)}")
        return kernels[name]
