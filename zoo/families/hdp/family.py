"""What the hierarchical Dirichlet process models share above their two and three levels."""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from types import ModuleType
from typing import Any, ClassVar

import numpy as np

from ....kernels.toolbox.sides import State
from ...contract import Design, Kernel, Latents
from ...corpus import Corpus
from ...toolbox.enumeration import restricted_growth_strings
from ..collapsed import (
    CollapsedTopicModel,
    by_first_appearance,
    doc_topic_counts,
    draw_categorical,
    prior_arrays,
)
from .sticks import GrowingSticks, log_tables, seat_tokens


class HdpFamily(CollapsedTopicModel):
    """Base of the models whose documents' proportions come from a tree of Dirichlet processes."""

    dimensions: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "root": ("stick",), "tasks": ("task", "stick"), "alpha": ("task",),
    }  # fmt: skip

    @abstractmethod
    def groups(self, group: np.ndarray | None, n_documents: int) -> np.ndarray:
        """Group of each document as the model sees it, int (D,)."""

    @abstractmethod
    def alpha0_of(self, hyper: Mapping[str, np.ndarray]) -> float | None:
        """Concentration of the middle level; None where there is none."""

    @abstractmethod
    def tasks_of(self, latents: Latents) -> np.ndarray:
        """Sticks of each group, float (G, K + 1)."""

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

    def unseated(self, corpus: Corpus) -> Latents:
        """No token has a topic; the sticks are all rest."""
        n_tasks = self.hyperparameter_size("alpha", Design.of(corpus)) or 1
        return {"z": np.full(corpus.n_tokens, -1)} | self._named(np.ones((1, 1)), np.ones((n_tasks, 1)))

    def log_marginal(self, z: np.ndarray, corpus: Corpus, hyper: Mapping[str, np.ndarray]) -> float:
        """See `Model.log_marginal`."""
        counts = doc_topic_counts(z, corpus, int(z.max(initial=-1)) + 1)
        group = self.groups(corpus.group, corpus.n_documents)
        seating = log_tables(
            counts, group, np.reshape(hyper["alpha"], -1), self.alpha0_of(hyper), float(hyper["gamma"])
        )
        return seating + self.log_likelihood({"z": z, **hyper}, corpus)

    def assignments(self, corpus: Corpus) -> Iterator[np.ndarray]:
        """All partitions of the tokens."""
        return restricted_growth_strings(corpus.n_tokens)

    def reference_latents(
        self, draw: Mapping[str, np.ndarray], corpus: Corpus, rng: np.random.Generator
    ) -> Latents:
        """See `Model.reference_latents`; topics without tokens join the rest."""
        labels = draw_categorical(draw["theta"][corpus.doc_of] * draw["phi"].T[corpus.words], rng)
        z, used = by_first_appearance(labels)
        root = _with_rest(draw["root"][None], used)
        tasks = _with_rest(draw["tasks"], used) if "tasks" in draw else root
        return (
            {"z": z}
            | self._named(root, tasks)
            | {name: np.asarray(draw[name]) for name in self.hyperparameters()}
        )


def _with_rest(sticks: np.ndarray, used: np.ndarray) -> np.ndarray:
    """Columns `used` of `sticks`, and a last one with all the rest."""
    kept = sticks[:, used]
    unused = np.delete(sticks, used, axis=1).sum(axis=1) + np.maximum(0.0, 1.0 - sticks.sum(axis=1))
    return np.column_stack([kept, unused])


def hdp_kernels(toolbox: ModuleType, snapshot: Callable[[State], Latents]) -> dict[str, Kernel]:
    """Make the samplers of one member of the family, by variant; see `Model.kernels_of`."""
    hdp, dirichlet, sides, sweeps = (
        import_module(f"{toolbox.__name__}.{part}")
        for part in ("hdp.documents", "toolbox.dirichlet", "toolbox.sides", "toolbox.sweeps")
    )

    def load(latents: Latents, corpus: Corpus, model: HdpFamily) -> State:
        alpha0 = model.alpha0_of(latents)
        priors = {"alpha0": (0.0, 0.0)} | prior_arrays(model)
        group = model.groups(corpus.group, corpus.n_documents)
        tokens = sides.tokens_of(corpus.words, corpus.doc_ptr, group, latents["z"])
        documents = hdp.stick_documents(
            latents["root"],
            model.tasks_of(latents),
            {name: latents[name] for name in ("alpha", "gamma")} | {"alpha0": alpha0 or 0.0},
            priors,
            2 if alpha0 is None else 3,
        )
        topics = dirichlet.dirichlet_topics(
            tokens,
            corpus.n_words,
            len(latents["root"]) - 1,
            documents.prior.shape[1],
            latents["eta"],
            priors["eta"],
        )
        return sweeps.make_state(tokens, documents, topics)

    def make(sweep: Callable[..., bool], about: str) -> Kernel:
        def step(rng: np.random.Generator, state: State) -> State:
            while not sweep(rng, state):
                state = sweeps.with_room(state)
            return state

        return Kernel(load, step, snapshot, sweeps.check, sweep, about=about)

    return {
        "sparse": make(
            sweeps.sparse_sweep, "direct assignment; a token costs as much as its non-zero counts"
        ),
        "dense": make(sweeps.dense_sweep, "direct assignment; a token costs as much as there are topics"),
    }


def common_snapshot(state: State) -> dict[str, Any]:
    """Latents that every member of the family has; ``alpha`` is a vector."""
    k = int(state.topics.n_topics[0])
    documents = state.documents
    return {
        "z": state.tokens.topic.astype(np.int64),
        "root": np.append(documents.root[:k], documents.root_rest[0]),
        "alpha": documents.alpha.copy(),
        "gamma": np.array(documents.gamma[0]),
        "eta": np.array(state.topics.eta[0]),
    }
