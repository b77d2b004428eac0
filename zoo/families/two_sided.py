"""Models that are a document side and hold a topic side: what any two of them make together."""

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from functools import partial
from typing import Any, ClassVar, Self, override

import numpy as np

from ...kernels.toolbox import sides, sweeps
from ...kernels.toolbox.sides import State
from ..contract import Design, Kernel, Latents, Probes, Quantities, Reference, Room, Simulation, WordCounts
from ..corpus import Corpus
from ..toolbox.draws import draw_categorical, draw_hyperparameter
from ..toolbox.stan_data import stan_counts, stan_priors
from .collapsed import CollapsedTopicModel
from .topics import Sampler, TopicSide


class TwoSidedModel(CollapsedTopicModel):
    """Base of the models that hold a topic side in their field ``topics``; they are its document side.

    Attributes
    ----------
    topic_sides : mapping of str to TopicSide
        Those that it takes, by name, as they are unless told otherwise; the first is the default.
    why_only : str
        Why it takes no others.
    document_parameters : tuple of str
        What `documents_at` needs of a draw of the references.
    stan_program : str
    about_tokens : str
        What its samplers are, in two words.
    """

    topic_sides: ClassVar[Mapping[str, TopicSide]]
    why_only: ClassVar[str] = ""
    document_parameters: ClassVar[tuple[str, ...]] = ()
    stan_program: ClassVar[str] = ""
    about_tokens: ClassVar[str] = "collapsed Gibbs"
    topics: TopicSide

    def __post_init__(self):
        super().__post_init__()
        self.check_topics(self.topics)

    @classmethod
    def check_topics(cls, topics: Any) -> None:
        """Raise ValueError unless the model takes these topics."""
        if not isinstance(topics, TopicSide):
            raise ValueError(f"{cls.card.id}: topics: expected topics such as Dirichlet(), found {topics!r}")
        taken = cls.topic_sides.get(topics.name)
        if taken is None or (cls.why_only and topics.form != taken.form):
            why = cls.why_only or f"expected {' or '.join(cls.topic_sides)}, found {topics.name}"
            raise ValueError(f"{cls.card.id}: topics: {why}")

    @classmethod
    def make(cls, topics: TopicSide | str | None = None, **arguments: Any) -> Self:
        """Make a model from arguments of its own and of its topic side, all by name.

        Parameters
        ----------
        topics : TopicSide or str, optional
            The side, or its name.
        **arguments

        Raises
        ------
        ValueError
            It does not take such topics, or an argument is out of range.
        """
        own = {f.name for f in fields(cls)}
        of_topics = {name: value for name, value in arguments.items() if name not in own}
        side = next(iter(cls.topic_sides.values())) if topics is None else topics
        if isinstance(side, str):
            if side not in cls.topic_sides:
                raise ValueError(
                    f"{cls.card.id}: topics: {cls.why_only or f'there are {", ".join(cls.topic_sides)}'}, "
                    f"found {side!r}"
                )
            side = cls.topic_sides[side]
        cls.check_topics(side)
        try:
            side = replace(side, **of_topics)
        except ValueError as error:
            raise ValueError(f"{cls.card.id}: {str(error).removeprefix(f'{side.label}: ')}") from None
        return cls(**{k: value for k, value in arguments.items() if k in own}, topics=side)  # type: ignore[call-arg]

    @override
    def spelled(self) -> dict[str, Any]:
        """See `Model.spelled`: the topic side's name, and its arguments beside those of the documents."""
        return self.arguments() | {"topics": self.topics.name} | self.topics.arguments()

    @abstractmethod
    def most_topics(self, design: Design) -> int:
        """How many topics can have tokens."""

    @property
    def opens_topics(self) -> bool:
        """Whether the number of topics changes from draw to draw."""
        return True

    @property
    def document_dimensions(self) -> Mapping[str, tuple[str, ...]]:
        """Axes of the latents of the document side that are arrays; see `Model.dimensions`."""
        return {}

    @property
    @override
    def dimensions(self) -> Mapping[str, tuple[str, ...]]:
        of_topics = dict(self.topics.dimensions)
        if self.opens_topics:  # their axis changes its length
            of_topics |= dict.fromkeys(self.topics.sizes(0), ("represented",))
        return {**self.document_dimensions, **of_topics}

    @property
    @override
    def has_versions(self) -> bool:
        return self.topics.has_versions

    @override
    def draw_hyperparameters(self, design: Design, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """See `Model.draw_hyperparameters`; vectors over topics are as long as there can be topics."""
        sizes = self.topics.sizes(self.most_topics(design))
        return {
            name: draw_hyperparameter(value, sizes.get(name, self.hyperparameter_size(name, design)), rng)
            for name, value in self.hyperparameters().items()
        }

    @override
    def memory_of_chain(self, corpus: Corpus, variant: str | None = None) -> dict[str, int]:
        if self.opens_topics:  # there is room for a new topic at each token of a document
            n_topics = 1 + int(corpus.doc_lengths.max(initial=0))
        else:
            n_topics = self.most_topics(Design.of(corpus))
        of_topics = self.topics.memory_of_chain(corpus, n_topics, variant)
        return super().memory_of_chain(corpus, variant) | of_topics

    def only_represented(self, latents: Latents) -> Latents:
        """Without hyperparameters of topics that are not represented."""
        return self.topics.selected(latents, slice(self.n_topics_of(latents)))

    @override
    def simulate(self, design: Design, rng: np.random.Generator) -> Simulation:
        hyper = self.draw_hyperparameters(design, rng)
        latents = self.only_represented(self.draw_topics(design, hyper, rng) | hyper)
        words, of_topics = self.topics.draw_words(latents, self.n_topics_of(latents), design, rng)
        return Simulation(latents | of_topics, design.corpus(words))

    @override
    def resample_data(self, latents: Latents, design: Design, rng: np.random.Generator) -> Corpus:
        return design.corpus(self.topics.redraw_words(latents, self.n_topics_of(latents), design, rng))

    @override
    def initial_latents(self, corpus: Corpus, rng: np.random.Generator) -> Latents:
        return self.only_represented(super().initial_latents(corpus, rng)) | self.topics.unseated(corpus)

    @override
    def start_at(self, labels: np.ndarray, corpus: Corpus, rng: np.random.Generator) -> Latents:
        latents = self.only_represented(super().start_at(labels, corpus, rng))
        return latents | self.topics.started(latents["z"], self.n_topics_of(latents), corpus)

    @property
    @override
    def default_starts(self) -> tuple[str, ...]:
        """See `Model.default_starts`: with few topics and with many, where their number is free."""
        return ("seated", "documents") if self.opens_topics else ("seated",)

    @override
    def log_likelihood(self, latents: Latents, corpus: Corpus) -> float:
        return self.topics.log_likelihood(latents, corpus)

    @override
    def log_multiplicity(self, latents: Latents, corpus: Corpus) -> float:
        return self.topics.log_multiplicity(latents, corpus)

    @override
    def log_words(self, z: np.ndarray, corpus: Corpus, hyper: Mapping[str, np.ndarray]) -> float:
        return self.topics.log_marginal(z, corpus, hyper)

    @override
    def word_probabilities(self, latents: Latents, corpus: Corpus, words: np.ndarray) -> np.ndarray:
        return self.topics.word_probabilities(latents, corpus, self.n_topics_of(latents), words)

    @override
    def measured_words(
        self, latents: Latents, corpus: Corpus, words: np.ndarray, counts: WordCounts | None
    ) -> tuple[float, np.ndarray]:
        return self.topics.measured_words(latents, corpus, self.n_topics_of(latents), words, counts)

    @override
    def new_word_probabilities(self, latents: Latents, corpus: Corpus, words: np.ndarray) -> np.ndarray:
        return self.topics.new_word_probabilities(latents, corpus, words)

    @override
    def word_concentration(self, latents: Latents, corpus: Corpus) -> np.ndarray | None:
        return self.topics.word_concentration(latents, corpus, self.n_topics_of(latents))

    @override
    def quantities(
        self,
        latents: Latents,
        corpus: Corpus,
        probes: Probes | None = None,
        counts: WordCounts | None = None,
    ) -> Quantities:
        return super().quantities(latents, corpus, probes, counts) | self.topics.quantities(latents)

    @override
    def hyperparameter_quantities(self, latents: Latents) -> Quantities:
        """Every sampled hyperparameter; of those over topics whose number changes, the mean logarithm."""
        found = super().hyperparameter_quantities(latents)
        for name in self.topics.sizes(0).keys() & found.keys():
            if self.opens_topics:
                found[f"mean_log_{name}"] = np.asarray(np.mean(np.log(found.pop(name))))
        return found

    @property
    @override
    def reference(self) -> Reference:
        return Reference(
            parameters=(*self.document_parameters, *self.topics.parameters),
            numpyro=self._numpyro,
            stan_program=self.stan_program,
            stan_includes=self.stan_includes,
            stan_data=self._stan_data,
            latents=self._latents_at,
            needs_truncation=self.opens_topics,
        )

    @property
    def stan_includes(self) -> tuple[str, ...]:
        """Folders where the Stan program finds its topic side."""
        return (self.topics.stan_folder,)

    def n_reference_topics(self, corpus: Corpus, truncation: int) -> int:
        """Count the topics of the reference programs."""
        return truncation if self.opens_topics else self.most_topics(Design.of(corpus))

    def document_block(self, corpus: Corpus, n_topics: int) -> Callable[[], Any]:
        """Return the document side of the NumPyro program, which returns log proportions (D, K)."""
        raise NotImplementedError(f"{self.label}: its reference is written as a whole")

    def document_data(self, corpus: Corpus) -> dict[str, Any]:
        """Return what the document side of the Stan program asks for but hyperparameters."""
        return {}

    def topic_block(self, corpus: Corpus, n_topics: int) -> Callable[[], tuple[Any, np.ndarray]]:
        """Return the topic side of the NumPyro program; see `TopicSide.block`."""
        return self.topics.block(corpus, n_topics)

    def word_weights(self, draw: Mapping[str, np.ndarray], corpus: Corpus) -> np.ndarray:
        """See `TopicSide.word_weights`."""
        return self.topics.word_weights(draw, corpus)

    def documents_at(
        self, draw: Mapping[str, np.ndarray], labels: np.ndarray, corpus: Corpus
    ) -> tuple[Latents, np.ndarray]:
        """Latents of the document side at a draw of the references, and the topics that they represent.

        Parameters
        ----------
        draw : mapping of str to array
        labels : int (N,)
            Topics of the tokens, as the draw numbers them.
        corpus : Corpus
        """
        raise NotImplementedError(f"{self.label}: its reference is written as a whole")

    def _numpyro(self, corpus: Corpus, truncation: int) -> Callable[[], None]:
        n_topics, counts = self.n_reference_topics(corpus, truncation), corpus.counts()
        documents = self.document_block(corpus, n_topics)
        topics = self.topic_block(corpus, n_topics)

        def program() -> None:
            from ..toolbox import blocks

            log_theta = documents()
            blocks.see_words(counts, log_theta, *topics())

        return program

    def _stan_data(self, corpus: Corpus, truncation: int) -> dict[str, Any]:
        sides = self.document_data(corpus) | self.topics.stan_data(corpus)
        n_topics = self.n_reference_topics(corpus, truncation)
        return stan_counts(corpus) | {"K": n_topics} | sides | stan_priors(self)

    def _latents_at(
        self, draw: Mapping[str, np.ndarray], corpus: Corpus, rng: np.random.Generator
    ) -> Latents:
        weights = draw["theta"][corpus.doc_of] * self.word_weights(draw, corpus)
        labels = draw_categorical(weights, rng)
        latents, topics = self.documents_at(draw, labels, corpus)
        return latents | self.topics.latents_at(draw, labels, topics, corpus, rng)

    def load_documents(self, room: Room, latents: Latents, corpus: Corpus) -> Any:
        """Document side of a kernel's state."""
        raise NotImplementedError(f"{self.label}: its samplers are written as a whole")

    def snapshot_documents(self, state: State) -> Latents:
        """Copy the latents of the document side, ``z`` apart."""
        raise NotImplementedError(f"{self.label}: its samplers are written as a whole")

    def document_rows(self, corpus: Corpus) -> np.ndarray:
        """Row of the prior for each document, int (D,)."""
        raise NotImplementedError(f"{self.label}: its samplers are written as a whole")

    def snapshot(self, room: Room, state: State) -> Latents:
        """Copy the latents of both sides, and ``z``."""
        z = {"z": state.tokens.topic.astype(np.int64)}
        return z | self.snapshot_documents(state) | self.topics.snapshot(room, state)

    @property
    def samplers(self) -> Mapping[str, Sampler]:
        """By name of the variant; the first is the default."""
        return self.topics.samplers

    @override
    def kernels_in(self, room: Room) -> dict[str, Kernel]:
        return {
            name: self._kernel(room, sampler)
            for name, sampler in self.samplers.items()
            if sampler.opens_topics or not self.opens_topics
        }

    def _kernel(self, room: Room, sampler: Sampler) -> Kernel:
        own_sides, own_sweeps, sweep = room(sides), room(sweeps), sampler.sweep(room)

        def load(latents: Latents, corpus: Corpus, model: TwoSidedModel) -> State:
            rows = model.document_rows(corpus)
            tokens = own_sides.tokens_of(corpus.words, corpus.doc_ptr, rows, latents["z"])
            documents = model.load_documents(room, latents, corpus)
            capacity, n_topics = documents.prior.shape[1], model.n_topics_of(latents)
            topics = model.topics.load(room, tokens, latents, corpus, capacity, n_topics, sampler.scheme)
            return own_sweeps.make_state(tokens, documents, topics)

        about = f"{self.about_tokens}; {sampler.about}"
        return Kernel(
            load,
            Kernel.step_of(sweep, own_sweeps.with_room),
            partial(self.snapshot, room),
            own_sweeps.check,
            sweep,
            about=about,
            token_step=sampler.token_step,
            with_room=own_sweeps.with_room if self.opens_topics else None,
            counts=self.topics.counts,
        )
