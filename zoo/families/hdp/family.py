"""What the hierarchical Dirichlet process models share above their two and three levels."""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, override

import numpy as np

from ....kernels.hdp import documents, sweeps
from ....kernels.toolbox.sides import State
from ...contract import Design, Kernel, Latents, Room
from ...corpus import Corpus
from ...toolbox.enumeration import restricted_growth_strings
from ...toolbox.laws import by_first_appearance, doc_topic_counts
from ..topics import Dirichlet, Sampler
from ..two_sided import TwoSidedModel
from .parallel import IN_CELLS, with_cells
from .sticks import GrowingSticks, log_tables, seat_tokens


class HdpFamily(TwoSidedModel):
    """Base of the models whose documents' proportions come from a tree of Dirichlet processes."""

    about_tokens: ClassVar[str] = "direct assignment"

    @property
    @override
    def document_dimensions(self) -> Mapping[str, tuple[str, ...]]:
        return {"root": ("stick",), "tasks": ("task", "stick"), "alpha": ("task",)}

    @override
    def most_topics(self, design: Design) -> int:
        """See `TwoSidedModel.most_topics`: as many as there are tokens."""
        return int(np.sum(design.doc_lengths))

    @abstractmethod
    def groups(self, group: np.ndarray | None, n_documents: int) -> np.ndarray:
        """Group of each document as the model sees it, int (D,)."""

    @abstractmethod
    def alpha0_of(self, hyper: Mapping[str, np.ndarray]) -> float | None:
        """Concentration of the middle level; None where there is none."""

    @abstractmethod
    def tasks_of(self, latents: Latents) -> np.ndarray:
        """Sticks of each group, float (G, K + 1)."""

    @override
    def n_topics_of(self, latents: Latents) -> int:
        """See `Model.n_topics_of`; the last stick is the rest."""
        return latents["root"].size - 1

    def document_prior(self, latents: Latents, corpus: Corpus) -> np.ndarray:
        """alpha[g] * tasks[g]."""
        return np.reshape(latents["alpha"], (-1, 1)) * self.tasks_of(latents)

    def draw_topics(
        self, design: Design, hyper: Mapping[str, np.ndarray], rng: np.random.Generator
    ) -> Latents:
        """Break sticks and seat the tokens."""
        group = self.groups(design.group, len(design.doc_lengths))
        alpha = np.reshape(hyper["alpha"], -1)
        sticks = GrowingSticks(rng, float(hyper["gamma"]), self.alpha0_of(hyper), alpha.size)
        z, used = by_first_appearance(seat_tokens(sticks, alpha, design.doc_lengths, group, rng))
        return {"z": z} | self._named(
            _with_rest(np.array([sticks.root]), used), _with_rest(np.array(sticks.tasks), used)
        )

    def _named(self, root: np.ndarray, tasks: np.ndarray) -> Latents:
        """Sticks under the names that the model's latents have."""
        return {"root": root[0]}

    @override
    def documents_started(
        self, labels: np.ndarray, hyper: Mapping[str, np.ndarray], corpus: Corpus
    ) -> Latents:
        """See `CollapsedTopicModel.documents_started`.

        Sticks are the means given one table for each topic in a document, and in a task.
        """
        z, used = by_first_appearance(labels)
        rows = self.document_rows(corpus)
        document, topic = np.divmod(np.unique(corpus.doc_of * used.size + z), used.size)
        n_tasks = self.hyperparameter_size("alpha", Design.of(corpus)) or 1
        tables = np.zeros((n_tasks, used.size))
        np.add.at(tables, (rows[document], topic), 1.0)
        alpha0 = self.alpha0_of(hyper)
        dishes = np.append((tables if alpha0 is None else tables > 0).sum(axis=0), float(hyper["gamma"]))
        root = dishes / dishes.sum()
        tasks = np.pad(tables, ((0, 0), (0, 1))) + (alpha0 or 0.0) * root
        return {"z": z} | self._named(root[None], tasks / tasks.sum(axis=1, keepdims=True))

    def unseated(self, corpus: Corpus) -> Latents:
        """No token has a topic; the sticks are all rest."""
        n_tasks = self.hyperparameter_size("alpha", Design.of(corpus)) or 1
        return super().unseated(corpus) | self._named(np.ones((1, 1)), np.ones((n_tasks, 1)))

    @override
    def log_marginal(self, z: np.ndarray, corpus: Corpus, hyper: Mapping[str, np.ndarray]) -> float:
        counts = doc_topic_counts(z, corpus, int(z.max(initial=-1)) + 1)
        group = self.groups(corpus.group, corpus.n_documents)
        seating = log_tables(
            counts, group, np.reshape(hyper["alpha"], -1), self.alpha0_of(hyper), float(hyper["gamma"])
        )
        return seating + self.log_words(z, corpus, hyper)

    def assignments(self, corpus: Corpus) -> Iterator[np.ndarray]:
        """All partitions of the tokens."""
        return restricted_growth_strings(corpus.n_tokens)

    @override
    def documents_at(
        self, draw: Mapping[str, np.ndarray], labels: np.ndarray, corpus: Corpus
    ) -> tuple[Latents, np.ndarray]:
        """See `TwoSidedModel.documents_at`; topics without tokens join the rest."""
        z, used = by_first_appearance(labels)
        root = _with_rest(draw["root"][None], used)
        tasks = _with_rest(draw["tasks"], used) if "tasks" in draw else root
        hyper = {name: np.asarray(draw[name]) for name in self.own_settings() if name in draw}
        return {"z": z} | self._named(root, tasks) | hyper, used

    @property
    @override
    def samplers(self) -> Mapping[str, Sampler]:
        """See `TwoSidedModel.samplers`; where topics let them, whole tables and topics move."""
        of_topics = self.topics.samplers
        if not self.topics.moves_whole_tables:
            return of_topics
        about = "sparse; whole tables move, topics split and merge"
        return {"whole-tables": Sampler(about, _whole_tables, token_step="augmented"), **of_topics}

    @override
    def kernels_in(self, room: Room) -> dict[str, Kernel]:
        """See `Model.kernels_in`; symmetric Dirichlet topics can also be swept in cells."""
        found = super().kernels_in(room)
        if type(self.topics) is Dirichlet:
            found["parallel"] = with_cells(room, self._kernel(room, IN_CELLS))
        return found

    @override
    def document_rows(self, corpus: Corpus) -> np.ndarray:
        return self.groups(corpus.group, corpus.n_documents)

    @override
    def load_documents(self, room: Room, latents: Latents, corpus: Corpus) -> Any:
        alpha0 = self.alpha0_of(latents)
        return room(documents).stick_documents(
            latents["root"],
            self.tasks_of(latents),
            {name: latents[name] for name in ("alpha", "gamma")} | {"alpha0": alpha0 or 0.0},
            {"alpha0": (0.0, 0.0)} | self.prior_arrays(),
            2 if alpha0 is None else 3,
        )

    @override
    def snapshot_documents(self, state: State) -> Latents:
        side, k = state.documents, int(state.topics.n_topics[0])
        return {
            "root": np.append(side.root[:k], side.root_rest[0]),
            "alpha": side.alpha.copy(),
            "gamma": np.array(side.gamma[0]),
        }


def _whole_tables(room: Room) -> Callable[..., bool]:
    return room(sweeps).sweep


def _with_rest(sticks: np.ndarray, used: np.ndarray) -> np.ndarray:
    """Columns `used` of `sticks`, and a last one with all the rest."""
    kept = sticks[:, used]
    unused = np.delete(sticks, used, axis=1).sum(axis=1) + np.maximum(0.0, 1.0 - sticks.sum(axis=1))
    return np.column_stack([kept, unused])
