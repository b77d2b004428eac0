"""Samplers of other packages as subjects: models of tomotopy (extra ``peers``)."""

import warnings
from collections.abc import Iterator, Mapping
from typing import Any, override

import numpy as np
import tomotopy

from ...zoo.contract import Design, Latents, Probes
from ...zoo.corpus import Corpus
from ...zoo.models.dmr import Dmr
from ...zoo.models.hdp import Hdp
from ...zoo.models.labeled_lda import LabeledLda
from ...zoo.models.lda import Lda
from ...zoo.models.partially_labeled_lda import PartiallyLabeledLda
from ...zoo.models.slda import Slda
from ...zoo.toolbox.laws import by_first_appearance
from .subject import BrokenSubject


class Tomotopy:
    """Collapsed Gibbs sampler of tomotopy as a `Subject`, with all hyperparameters fixed.

    tomotopy cannot be put at given latents: a chain starts where tomotopy starts it. So `agrees_with_oracle`
    and `sbc` can judge it, which throw the beginning of a chain away, and `geweke` and `sequential` cannot.

    To tomotopy the vocabulary is what occurs in the corpus. Latents and data are therefore drawn from the
    joint law given that every word occurs; the posterior given such data is the model's own.

    Parameters
    ----------
    model : Lda or Hdp
        With numbers for all hyperparameters.
    design : Design
        Of the data; no document may be empty.
    initial_topics : int
        Of the HDP. It should not matter after the warm-up.

    Raises
    ------
    ValueError
        A hyperparameter is sampled, a document is empty, or there are fewer tokens than words.
    """

    starts_by_itself = True

    def __init__(self, model: Any, design: Design, initial_topics: int = 2):
        if model.sampled():
            raise ValueError(f"{model.card.id}: {model.sampled()[0]}: expected a fixed number")
        if np.min(design.doc_lengths) < 1:
            raise ValueError("doc_lengths: expected at least one token in every document")
        if np.sum(design.doc_lengths) < design.n_words:
            raise ValueError(f"n_words: expected at most one a token, found {design.n_words}")
        self.model = model
        self.design = design
        self.initial_topics = initial_topics
        self.hyper = model.draw_hyperparameters(design, np.random.default_rng(0))
        self.probes = Probes.of(design.corpus(np.zeros(int(np.sum(design.doc_lengths)), np.int32)))
        self.name = f"tomotopy {tomotopy.__version__}/{model.card.id}"

    def draw_latents(self, rng: np.random.Generator) -> Latents:
        """Draw topics, from the prior given that the data will hold every word."""
        while True:
            latents, corpus = self.model.simulate(self.design, rng)
            if self._holds_every_word(corpus):
                return latents

    def draw_data(self, rng: np.random.Generator, latents: Latents) -> Corpus:
        """Draw a corpus given `latents` and given that it holds every word."""
        while True:
            corpus = self.model.resample_data(latents, self.design, rng)
            if self._holds_every_word(corpus):
                return corpus

    def transition(self, rng: np.random.Generator, latents: Latents, data: Corpus) -> Latents:
        """Refuse: there is no transition from given latents."""
        raise BrokenSubject("tomotopy cannot start from given latents")

    def transitions(self, rng: np.random.Generator, latents: Latents, data: Corpus) -> Iterator[Latents]:
        """Latents after each iteration of a fresh tomotopy model; `latents` are not looked at."""
        if not self._holds_every_word(data):
            raise BrokenSubject("tomotopy needs every word of the vocabulary in the corpus")
        peer = self._fresh(int(rng.integers(2**31)))
        for d, words in enumerate(np.split(data.words, data.doc_ptr[1:-1])):
            peer.add_doc([f"w{word}" for word in words], **self._labels_of(data, d))
        yield from self._run(peer)

    def _run(self, peer: Any) -> Iterator[Latents]:
        """Latents after each iteration of a tomotopy model that has its documents."""
        while True:
            peer.train(1, workers=1)
            yield self._latents_of(peer)

    def _labels_of(self, data: Corpus, d: int) -> dict[str, Any]:
        """Return what tomotopy is told of a document beside its words."""
        return {}

    def _latents_of(self, peer: Any) -> Latents:
        z = _topics_of(peer)
        return {"z": by_first_appearance(z)[0] if isinstance(self.model, Hdp) else z}

    def quantities(self, latents: Latents, data: Corpus) -> Mapping[str, np.ndarray]:
        """Topics in use, log probability of topics and words, and which pairs of tokens share a topic."""
        z = latents["z"]
        i, j = self.probes.pairs.T
        return {
            "n_topics": np.asarray(float(np.unique(z).size)),
            "log_marginal": np.asarray(self.model.log_marginal(z, data, self.hyper)),
            "same_topic": (z[i] == z[j]).astype(float),
        }

    def _holds_every_word(self, corpus: Corpus) -> bool:
        return np.unique(corpus.words).size == self.design.n_words

    def _fresh(self, seed: int) -> tomotopy.LDAModel:
        common = self._common(seed)
        if isinstance(self.model, Lda):
            alpha = [float(self.hyper["alpha"])] * self.model.n_topics
            peer = tomotopy.LDAModel(k=self.model.n_topics, alpha=alpha, **common)
        else:
            concentrations = {name: float(self.hyper[name]) for name in ("alpha", "gamma")}
            peer = tomotopy.HDPModel(initial_k=self.initial_topics, **concentrations, **common)
        peer.optim_interval = 0
        return peer

    def _common(self, seed: int) -> dict[str, Any]:
        """Arguments that all models take: no word may be dropped for being rare or frequent."""
        words = {"min_cf": 0, "min_df": 0, "rm_top": 0}
        return words | {"eta": float(self.hyper["eta"]), "seed": seed}


class LabelledTomotopy(Tomotopy):
    """Labeled LDA and partially labeled LDA of tomotopy, one alpha for all topics; see `Tomotopy`.

    Parameters
    ----------
    model : LabeledLda or PartiallyLabeledLda
        With numbers for all hyperparameters; the first without common topics.
    design : Design
        Each document needs a label: to tomotopy's PLDA, those without have the common topics alone.
    """

    def __init__(self, model: LabeledLda | PartiallyLabeledLda, design: Design):
        if isinstance(model, LabeledLda) and model.common:
            raise ValueError(f"{model.card.id}: common: tomotopy has none, found {model.common}")
        super().__init__(model, design)
        self.labels = model.labels_of(design, len(design.doc_lengths)).tolil().rows
        if not all(self.labels):
            raise ValueError(f"{model.card.id}: expected a label on every document")

    @override
    def _labels_of(self, data: Corpus, d: int) -> dict[str, Any]:
        return {"labels": [str(j) for j in self.labels[d]]}

    @override
    def _latents_of(self, peer: Any) -> Latents:
        """Topics under this package's numbers: tomotopy's labels are by first appearance."""
        known = np.array([int(name) for name in peer.topic_label_dict])
        per_label, n_labels = self.model.per_label, self.model.n_labels(self.design)
        z, of_labels = _topics_of(peer), known.size * per_label
        label, rank = np.divmod(np.minimum(z, of_labels - 1), per_label)
        own = known[label] * per_label + rank
        return {"z": np.where(z < of_labels, own, z - of_labels + n_labels * per_label)}

    @override
    def _fresh(self, seed: int) -> tomotopy.LDAModel:
        common: Any = self._common(seed) | {"alpha": float(self.hyper["alpha"][0])}
        if isinstance(self.model, LabeledLda):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # PLDA is said to replace it
                peer: Any = tomotopy.LLDAModel(**common)
        else:
            peer = tomotopy.PLDAModel(
                latent_topics=self.model.common, topics_per_label=self.model.per_label, **common
            )
        peer.optim_interval = 0
        return peer


class RegressionTomotopy(Tomotopy):
    """Dirichlet-multinomial regression of tomotopy, with the coefficients that it found; see `Tomotopy`.

    tomotopy maximises the coefficients. So it is let do so for some iterations on one corpus; then they are
    kept, and its topics move on. They are judged given these coefficients, by one chain: a second one would
    go on from the same state with the same seed.

    Parameters
    ----------
    model : Dmr
    corpus : Corpus
        Each document has one label.
    iterations : int
        With coefficients that are maximised after every tenth.
    seed : int

    Attributes
    ----------
    log_factor : float (J + 1, K)
        Coefficients; the intercepts are zero.
    """

    def __init__(self, model: Dmr, corpus: Corpus, iterations: int = 200, seed: int = 0):
        super().__init__(model, Design.of(corpus))
        labels = model.labels_of(corpus, corpus.n_documents)
        if np.any(np.diff(labels.indptr) != 1):
            raise ValueError(f"{model.card.id}: expected one label on every document")
        self.peer: Any = tomotopy.DMRModel(k=model.n_topics, **self._common(seed))
        self.peer.optim_interval = 10
        for words, j in zip(np.split(corpus.words, corpus.doc_ptr[1:-1]), labels.indices, strict=True):
            self.peer.add_doc([f"w{word}" for word in words], metadata=str(j))
        self.peer.train(iterations, workers=1)
        self.peer.optim_interval = 0
        self.log_factor = np.zeros((1 + labels.shape[1], model.n_topics))
        known = [int(name) for name in self.peer.metadata_dict]
        for j, coefficients in zip(known, self.peer.lambdas.T, strict=True):
            self.log_factor[1 + j] = coefficients

    @override
    def transitions(self, rng: np.random.Generator, latents: Latents, data: Corpus) -> Iterator[Latents]:
        return self._run(self.peer.copy())


class RespondingTomotopy(Tomotopy):
    """Supervised LDA of tomotopy with numbers as responses; see `Tomotopy`.

    It has no intercept, as a model with a large `intercept_precision` next to has none, and sets its
    coefficients to a function of the topics after each iteration, where a draw would be due.

    Parameters
    ----------
    model : Slda
        With numbers for all hyperparameters.
    corpus : Corpus
        Every response is a number, and each document has all of them.
    """

    def __init__(self, model: Slda, corpus: Corpus):
        super().__init__(model, Design.of(corpus))
        if not all(response.is_number for response in model.responses(corpus)):
            raise ValueError(f"{model.card.id}: expected numbers as responses, found categories")
        self.values = model.values_of(corpus, corpus.n_documents)
        if np.any(np.isnan(self.values)):
            raise ValueError(f"{model.card.id}: expected every response of every document, found one missing")

    @override
    def _labels_of(self, data: Corpus, d: int) -> dict[str, Any]:
        return {"y": self.values[d].tolist()}

    @override
    def _fresh(self, seed: int) -> tomotopy.LDAModel:
        n_responses = self.values.shape[1]
        peer: Any = tomotopy.SLDAModel(
            k=self.model.n_topics,
            vars="l" * n_responses,
            alpha=[float(self.hyper["alpha"])] * self.model.n_topics,
            nu_sq=(1.0 / self.hyper["precision"]).tolist(),
            glm_param=(1.0 / self.hyper["noise_precision"]).tolist(),
            **self._common(seed),
        )
        peer.optim_interval = 0
        return peer


def _topics_of(peer: Any) -> np.ndarray:
    """Topics of all tokens as tomotopy numbers them, int (N,)."""
    return np.concatenate([document.topics for document in peer.docs]).astype(np.int64)
