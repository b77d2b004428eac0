"""Subtle topics: truncated stick-breaking for each sentence over its document's dishes (Das et al. 2013)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, ClassVar, override

import numpy as np
from scipy.special import betaln

from ...kernels.segments.particles import Sticks
from ..contract import Card, Design, Equation, Gamma, Hyperparameter, Kernel, Latents, Reference, Room
from ..corpus import Corpus
from ..families.segments import truncated
from ..families.segments.card import FREE_TOPICS, NO_REFERENCE, SAMPLED_PARAMETERS
from ..families.segments.family import SentencesFamily
from ..families.segments.kernels import sbp_kernels
from ..families.segments.order import Seating
from ..families.segments.predictive import SegmentsPredictive
from ..settings import option, setting
from ..toolbox.stan_data import stan_priors


@dataclass(frozen=True)
class Sbp(SentencesFamily):
    """A fixed number of dishes a document; each sentence has stick-breaking weights of its own over them.

    The baseline of the weight-agnostic process, `was`: all sentences share all dishes from the start, in one
    order, so that the first ones are expected to be common in every sentence. Tokens are exchangeable.

    Latents: ``z`` (N,); ``dish`` (N,), from 0 to ``n_dishes - 1``; ``a``, ``b``, ``kappa``, ``eta``. The
    corpus must have sentences (``segment_ptr``), or `window` must say how to cut documents.

    Parameters
    ----------
    n_topics : int
        K; 0 for as many as are needed.
    n_dishes : int
        T, where sticks are truncated: the last dish takes what is left.
    a, b : float or Gamma
        Of the sticks, v ~ Beta(a, b).
    kappa : float or Gamma
        Dirichlet parameter of a dish, a topic; without a number of topics, concentration of a dish.
    tau : float or Gamma
        Without a number of topics, their concentration: how many.
    eta : float or Gamma
        Dirichlet parameter of a topic's word distribution, a word.
    window : int
        Where a corpus does not say where its sentences end, they are cut off after so many tokens; at 0 they
        must be known.
    """

    card: ClassVar[Card] = Card(
        id="sbp",
        title="Stick-breaking process of each sentence",
        summary="Topics of sentences: each has stick-breaking weights of its own over its document's dishes.",
        citation=(
            "M. Das, S. Bhattacharya, C. Bhattacharyya and K. Gopinath. Subtle topic models and discovering "
            "subtly manifested software concerns automatically. International Conference on Machine "
            "Learning, 2013. As a baseline in M. Das and C. Bhattacharyya. Weight-agnostic hierarchical "
            "stick-breaking process. IEEE, pages 342-349, 2018."
        ),
        source="Das, Bhattacharya, Bhattacharyya & Gopinath (2013)",
        bibtex_key="das2013subtle",
        equations=(
            Equation(
                "Equation 1",
                r"\theta_{sl} = v_{sl} \prod_{m<l} (1 - v_{sm}),\quad v_{sl} \sim \mathrm{Beta}(a, b),"
                r"\quad v_{sT} = 1",
                "weights of the dishes in a sentence",
            ),
            Equation(
                "Algorithm 1",
                r"\phi_{dl} \sim \mathrm{Dir}_K(\kappa),\quad \lambda_k \sim \mathrm{Dir}_V(\eta)",
                "topics of a dish, words of a topic",
            ),
            Equation(
                "Algorithm 1",
                r"c_i \sim \theta_{s(i)},\quad z_i \sim \phi_{d, c_i},\quad w_i \sim \lambda_{z_i}",
                "dish, topic and word of a token",
            ),
            FREE_TOPICS,
        ),
        errata=(
            "Equations and numbers are those of the paper on the weight-agnostic process, which has this one "
            "in the place of its own in Algorithm 1. It does not say where sticks are truncated.",
            SAMPLED_PARAMETERS,
            NO_REFERENCE,
        ),
        tags=("parametric topics", "parametric dishes", "sentences"),
    )

    n_dishes: int = option(10, small=3)
    a: Hyperparameter = setting(1.0, fixed=1.2, prior=Gamma(3.0, 2.0), benchmark=1.0)
    b: Hyperparameter = setting(1.0, fixed=1.5, prior=Gamma(2.0, 2.0), benchmark=1.0)

    def __post_init__(self):
        self.check_whole("n_dishes", 2)
        super().__post_init__()

    @override
    def range_of_tokens(self, name: str, corpus: Corpus) -> tuple[int, int | np.ndarray]:
        return (0, self.n_dishes - 1) if name == "dish" else super().range_of_tokens(name, corpus)

    @override
    def draw_dishes(
        self, seats: Seating, hyper: Mapping[str, np.ndarray], rng: np.random.Generator
    ) -> Latents:
        a, b = float(hyper["a"]), float(hyper["b"])
        return {"dish": truncated.draw_dishes(seats, self.n_dishes, a, b, rng)}

    @override
    def log_dishes(self, latents: Latents, seats: Seating) -> float:
        a, b = float(latents["a"]), float(latents["b"])
        counts = truncated.counts_of(seats.sentence, latents["dish"], self.n_dishes)
        later = counts[:, ::-1].cumsum(axis=1)[:, ::-1] - counts
        return float(np.sum((betaln(a + counts, b + later) - betaln(a, b))[:, :-1]))

    @override
    def dish_laws(self, seats: Seating, hyper: Mapping[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        dishes = np.array(list(product(range(self.n_dishes), repeat=seats.time.size)))
        return dishes, np.array([self.log_dishes({"dish": row, **hyper}, seats) for row in dishes])

    @override
    def new_sentence(self, latents: Latents, seats: Seating) -> np.ndarray:
        return np.append(truncated.mean_weights(self.n_dishes, float(latents["a"]), float(latents["b"])), 0.0)

    @override
    def predictive(self, latents: Latents, corpus: Corpus) -> SegmentsPredictive:
        a, b = float(latents["a"]), float(latents["b"])
        law = Sticks(a, b, 0.0, self.topic_parameters(latents), self.n_dishes)
        return SegmentsPredictive(self.frozen_topics(latents, corpus), law, self.seats)

    @override
    def kernels_in(self, room: Room) -> dict[str, Kernel]:
        return sbp_kernels(room, self.opens_topics)

    @property
    @override
    def program(self) -> Reference:
        return Reference(
            parameters=("theta", "dishes", "phi", "a", "b", "kappa", "eta"),
            numpyro=self._numpyro,
            stan_program="sbp",
            stan_data=self._stan_data,
            latents=self._latents_at,
            needs_truncation=False,
        )

    def _numpyro(self, corpus: Corpus, truncation: int) -> Callable[[], None]:
        seats = self.seats(Design.of(corpus))
        return truncated.program(corpus, seats, self.n_dishes, self.n_topics, self.hyperparameters())

    def _stan_data(self, corpus: Corpus, truncation: int) -> dict[str, Any]:
        counts, document = truncated.word_counts(corpus, self.seats(Design.of(corpus)))
        sizes = {"D": corpus.n_documents, "S": len(counts), "V": corpus.n_words}
        sizes |= {"T": self.n_dishes, "K": self.n_topics}
        return sizes | {"counts": counts, "document": document + 1} | stan_priors(self)

    def _latents_at(
        self, draw: Mapping[str, np.ndarray], corpus: Corpus, rng: np.random.Generator
    ) -> Latents:
        return truncated.latents_at(draw, corpus, self.seats(Design.of(corpus)), rng)

    @override
    def memory_of_reference(self, corpus: Corpus, truncation: int) -> int:
        sentences = corpus.n_tokens if corpus.segment_ptr is None else corpus.segment_ptr.size
        of_dishes = self.n_dishes * (self.n_topics * corpus.n_documents + sentences)
        return 8 * (of_dishes + self.n_topics * corpus.n_words)

    @override
    def memory_of_chain(self, corpus: Corpus, variant: str | None = None) -> dict[str, int]:
        sentences = corpus.n_tokens if corpus.segment_ptr is None else corpus.segment_ptr.size
        return {
            "counts of topics": 8 * self.room_for_topics * corpus.n_words,
            "sticks of sentences": 16 * self.n_dishes * sentences,
        }
