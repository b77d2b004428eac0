"""Samplers of other packages as subjects: the LDA and the HDP of tomotopy (extra ``peers``)."""

from collections.abc import Iterator, Mapping

import numpy as np
import tomotopy

from ...zoo.contract import Design, Latents, Probes
from ...zoo.corpus import Corpus
from ...zoo.models.hdp import Hdp
from ...zoo.models.lda import Lda
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

    def __init__(self, model: Lda | Hdp, design: Design, initial_topics: int = 2):
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
        for words in np.split(data.words, data.doc_ptr[1:-1]):
            peer.add_doc([f"w{word}" for word in words])
        while True:
            peer.train(1, workers=1)
            z = np.concatenate([document.topics for document in peer.docs]).astype(np.int64)
            yield {"z": by_first_appearance(z)[0] if isinstance(self.model, Hdp) else z}

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
        # No word may be dropped for being rare or frequent, and no hyperparameter may be optimised.
        common = {"min_cf": 0, "min_df": 0, "rm_top": 0, "eta": float(self.hyper["eta"]), "seed": seed}
        if isinstance(self.model, Lda):
            alpha = [float(self.hyper["alpha"])] * self.model.n_topics
            peer = tomotopy.LDAModel(k=self.model.n_topics, alpha=alpha, **common)
        else:
            concentrations = {name: float(self.hyper[name]) for name in ("alpha", "gamma")}
            peer = tomotopy.HDPModel(initial_k=self.initial_topics, **concentrations, **common)
        peer.optim_interval = 0
        return peer
