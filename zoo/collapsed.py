"""What models with Dirichlet topics and Dirichlet (process) documents share, in plain NumPy.

Such a model is a prior on the topic proportions of a document: ``prior[g, k]`` for the topics in use and
``prior[g, K]`` for all the others together, which is zero where the number of topics is fixed.
"""

from abc import abstractmethod
from collections.abc import Mapping

import numpy as np
from scipy.special import gammaln

from .contract import (
    Design,
    FrozenTopics,
    Hyperparameter,
    Latents,
    Model,
    Prior,
    Probes,
    Quantities,
    Simulation,
)
from .corpus import Corpus
from .memory import require_memory


def doc_topic_counts(z: np.ndarray, corpus: Corpus, n_topics: int) -> np.ndarray:
    """n_dk, int (D, K)."""
    counts = np.zeros((corpus.n_documents, n_topics), np.int64)
    np.add.at(counts, (corpus.doc_of, z), 1)
    return counts


def topic_word_counts(z: np.ndarray, words: np.ndarray, n_topics: int, among: np.ndarray) -> np.ndarray:
    """How many tokens each topic has of some words, int (K, W).

    Parameters
    ----------
    z, words : int (N,)
        Topics and words of tokens.
    n_topics : int
    among : int (W,)
        The words that are counted.
    """
    known, place = np.unique(among, return_inverse=True)
    column = np.minimum(np.searchsorted(known, words), known.size - 1)
    counted = known[column] == words if known.size else np.zeros(words.size, bool)
    cells = z[counted] * known.size + column[counted]
    counts = np.bincount(cells, minlength=n_topics * known.size)
    return counts.reshape(n_topics, known.size)[:, place]


def log_sequences(rows: np.ndarray, columns: np.ndarray, shapes: np.ndarray) -> float:
    """Log probability of sequences of outcomes, each under proportions that are integrated out.

    Parameters
    ----------
    rows, columns : int (N,)
        Sequence and outcome of each item.
    shapes : float (J,)
        Dirichlet parameters of the outcomes. A shape of zero is allowed where no item has that outcome.

    Notes
    -----
    ``sum_r log [Γ(A) / Γ(A + n_r) · prod_j Γ(a_j + n_rj) / Γ(a_j)]``, A the sum of the shapes. Only
    non-zero counts are visited: a large corpus with many topics has few of them.
    """
    cells, counts = np.unique(rows.astype(np.int64) * shapes.size + columns, return_counts=True)
    lengths = np.bincount(rows)
    lengths = lengths[lengths > 0]
    shape, total = shapes[cells % shapes.size], shapes.sum()
    return float(
        np.sum(gammaln(total) - gammaln(total + lengths)) + np.sum(gammaln(shape + counts) - gammaln(shape))
    )


def by_first_appearance(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Renumber `labels` 0, 1, … by first appearance; return them and the old label of each new one."""
    kept, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(kept.size, np.int64)
    rank[order] = np.arange(kept.size)
    return rank[inverse], kept[order]


def draw_words(
    z: np.ndarray, n_topics: int, n_words: int, eta: float, rng: np.random.Generator
) -> np.ndarray:
    """Draw a word for each token, from topics drawn from Dirichlet(`eta`)."""
    require_memory(24 * n_topics * n_words, f"{n_topics:,} topics of {n_words:,} words")
    topics = np.array([draw_dirichlet(np.full(n_words, eta), rng) for _ in range(n_topics)])
    topics = np.cumsum(topics.reshape(n_topics, n_words), axis=1)
    u = rng.random(z.size)
    return np.array(
        [min(np.searchsorted(topics[k], x), n_words - 1) for k, x in zip(z, u, strict=True)], np.int32
    )


def log_gamma(
    shape: float | np.ndarray, size: tuple[int, ...] | None, rng: np.random.Generator
) -> np.ndarray:
    """Logarithms of gamma variates, which underflow themselves for tiny shapes: log X = log Y - E / shape.

    Y is a gamma variate of ``shape + 1`` and E an exponential one. A shape of zero gives -inf.
    """
    shape = np.where(np.asarray(shape) > 0.0, np.maximum(shape, 1e-300), 0.0)  # so that E / shape is finite
    with np.errstate(divide="ignore"):
        return np.log(rng.gamma(shape + 1.0, size=size)) - rng.exponential(size=size) / shape


def draw_dirichlet(shapes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Dirichlet draws, one a row of `shapes` (…, K); with tiny ones NumPy's own would divide zero by zero."""
    logs = log_gamma(shapes, shapes.shape, rng)
    out = np.exp(logs - logs.max(axis=-1, keepdims=True))
    return out / out.sum(axis=-1, keepdims=True)


def draw_categorical(weights: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw one column index a row of unnormalised `weights` (R, K)."""
    cumulative = np.cumsum(weights, axis=1)
    u = rng.random(len(weights)) * cumulative[:, -1]
    return np.minimum((cumulative <= u[:, None]).sum(axis=1), weights.shape[1] - 1)


def draw_hyperparameter(value: Hyperparameter, size: int | None, rng: np.random.Generator) -> np.ndarray:
    """Draw `size` values from a prior, one if None; a fixed value is repeated."""
    if isinstance(value, Prior):
        return np.asarray(value.draw(rng, size))
    return np.full(() if size is None else size, float(value))


class CollapsedTopicModel(Model):
    """Base of the models with Dirichlet documents; a subclass says what their prior is.

    Topics are Dirichlet too, with parameter ``eta`` and the same for all groups, unless a subclass overrides
    `resample_data`, `log_likelihood` and `word_probabilities`.
    """

    @abstractmethod
    def document_prior(self, latents: Latents, corpus: Corpus) -> np.ndarray:
        """Prior weights by group, float (G, K + 1); the last column is for topics not in use."""

    @abstractmethod
    def log_sticks(self, latents: Latents) -> float:
        """Log density of the sticks given the concentrations."""

    @abstractmethod
    def draw_topics(
        self, design: Design, hyper: Mapping[str, np.ndarray], rng: np.random.Generator
    ) -> Latents:
        """Draw ``z`` and the sticks given the hyperparameters."""

    def prior_rows(self, prior: np.ndarray, corpus: Corpus) -> np.ndarray:
        """Row of `prior` (G, K + 1) for each document, int (D,); a single row serves every group."""
        return corpus.group_of_doc if len(prior) > 1 else np.zeros(corpus.n_documents, np.int32)

    def hyperparameter_size(self, name: str, design: Design) -> int | None:
        """Length of a hyperparameter that is a vector; None for a scalar."""
        return None

    def draw_hyperparameters(self, design: Design, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """See `Model.draw_hyperparameters`."""
        return {
            name: draw_hyperparameter(value, self.hyperparameter_size(name, design), rng)
            for name, value in self.hyperparameters().items()
        }

    def simulate(self, design: Design, rng: np.random.Generator) -> Simulation:
        """See `Model.simulate`."""
        hyper = self.draw_hyperparameters(design, rng)
        latents = self.draw_topics(design, hyper, rng) | hyper
        return Simulation(latents, self.resample_data(latents, design, rng))

    def resample_data(self, latents: Latents, design: Design, rng: np.random.Generator) -> Corpus:
        """See `Model.resample_data`."""
        z = latents["z"]
        n_topics = int(z.max(initial=-1)) + 1
        return design.corpus(draw_words(z, n_topics, design.n_words, float(latents["eta"]), rng))

    def initial_latents(self, corpus: Corpus, rng: np.random.Generator) -> Latents:
        """See `Model.initial_latents`."""
        hyper = self.draw_hyperparameters(Design.of(corpus), rng)
        return self.unseated(corpus) | hyper

    @abstractmethod
    def unseated(self, corpus: Corpus) -> Latents:
        """``z`` of -1 throughout, and sticks to match."""

    def log_hyperparameters(self, latents: Latents) -> float:
        """Log prior density of the hyperparameters that are sampled."""
        priors = self.hyperparameters()
        return sum(priors[name].log_density(latents[name]) for name in self.sampled())  # type: ignore[union-attr]

    def log_assignments(self, latents: Latents, corpus: Corpus) -> float:
        """Log probability of ``z`` given sticks and concentrations, topic proportions integrated out."""
        prior = self.document_prior(latents, corpus)
        groups = self.prior_rows(prior, corpus)
        parts = (groups[corpus.doc_of] == g for g in range(len(prior)))
        return sum(
            log_sequences(corpus.doc_of[part], latents["z"][part], row)
            for part, row in zip(parts, prior, strict=True)
        )

    def log_likelihood(self, latents: Latents, corpus: Corpus) -> float:
        """See `Model.log_likelihood`."""
        return log_sequences(latents["z"], corpus.words, np.full(corpus.n_words, float(latents["eta"])))

    def log_joint(self, latents: Latents, corpus: Corpus) -> float:
        """See `Model.log_joint`."""
        return (
            self.log_hyperparameters(latents)
            + self.log_sticks(latents)
            + self.log_assignments(latents, corpus)
            + self.log_likelihood(latents, corpus)
        )

    def word_probabilities(self, latents: Latents, corpus: Corpus, words: np.ndarray) -> np.ndarray:
        """Probabilities of some words as the next token of each topic in use.

        Parameters
        ----------
        latents : Latents
        corpus : Corpus
        words : int (W,)

        Returns
        -------
        float (1, K, W) or (G, K, W)
            By group, where the topics of groups differ.
        """
        n_topics = self.document_prior(latents, corpus).shape[1] - 1
        z, eta = latents["z"], float(latents["eta"])
        counts = topic_word_counts(z, corpus.words, n_topics, words)
        totals = np.bincount(z, minlength=n_topics)[:, None]
        return ((counts + eta) / (totals + corpus.n_words * eta))[None]

    def frozen_topics(self, latents: Latents, corpus: Corpus) -> FrozenTopics:
        """See `Model.frozen_topics`."""
        prior = self.document_prior(latents, corpus)
        words = self.word_probabilities(latents, corpus, np.arange(corpus.n_words))
        if np.any(prior[:, -1] > 0):
            unseen = np.full((len(words), 1, corpus.n_words), 1.0 / corpus.n_words)
            words = np.concatenate([words, unseen], axis=1)
        else:
            prior = prior[:, :-1]
        return FrozenTopics(words[0] if len(words) == 1 else words, prior)

    def quantities(self, latents: Latents, corpus: Corpus, probes: Probes | None = None) -> Quantities:
        """See `Model.quantities`.

        Returns
        -------
        dict
            ``n_topics`` in use; ``log_joint`` of words and topics given sticks and hyperparameters;
            ``log_likelihood`` of the words given topics; ``same_topic`` (P,), whether two tokens share
            their topic; ``topic_entropy`` (Q,) of documents, nats; ``predictive`` (R,), probability of a
            word as the next token of a document; every sampled hyperparameter.

        Notes
        -----
        The density of the sticks is left out of ``log_joint``: where a concentration is small, the rest of
        a stick is near ``exp(-E / concentration)``, and the logarithm of its density has no mean.
        """
        probes = probes or Probes.of(corpus)
        z = latents["z"]
        prior = self.document_prior(latents, corpus)
        groups = self.prior_rows(prior, corpus)
        entropy = np.zeros(len(probes.documents))
        for j, d in enumerate(probes.documents):
            share = np.bincount(z[corpus.doc_ptr[d] : corpus.doc_ptr[d + 1]]) / corpus.doc_lengths[d]
            share = share[share > 0]
            entropy[j] = 0.0 - np.sum(share * np.log(share))
        topic_words = self.word_probabilities(latents, corpus, probes.cells[:, 1])
        n_topics = topic_words.shape[1]
        predictive = np.zeros(len(probes.cells))
        for j, (d, _) in enumerate(probes.cells):
            in_doc = np.bincount(z[corpus.doc_ptr[d] : corpus.doc_ptr[d + 1]], minlength=n_topics)
            topic_word = topic_words[corpus.group_of_doc[d] if len(topic_words) > 1 else 0, :, j]
            row = prior[groups[d]]
            weight = np.sum((in_doc + row[:-1]) * topic_word) + row[-1] / corpus.n_words
            predictive[j] = weight / (corpus.doc_lengths[d] + row.sum())
        likelihood = self.log_likelihood(latents, corpus)
        return {
            "n_topics": np.asarray(float(np.unique(z).size)),
            "log_joint": np.asarray(likelihood + self.log_assignments(latents, corpus)),
            "log_likelihood": np.asarray(likelihood),
            "same_topic": (z[probes.pairs[:, 0]] == z[probes.pairs[:, 1]]).astype(float),
            "topic_entropy": entropy,
            "predictive": predictive,
        } | {name: np.asarray(latents[name], float) for name in self.sampled()}


def prior_arrays(model: Model) -> dict[str, tuple[float, float]]:
    """Parameters of every hyperparameter's prior, (0, 0) for those that are fixed: the form kernels take."""
    return {
        name: value.parameters if isinstance(value, Prior) else (0.0, 0.0)
        for name, value in model.hyperparameters().items()
    }
