"""The IBP compound Dirichlet process of a document's sentences (Williamson, Wang, Heller and Blei 2010)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, override

import numpy as np

from ...kernels.segments.buffet import Sets
from ..contract import (
    Card,
    Design,
    Equation,
    Gamma,
    Hyperparameter,
    Kernel,
    Latents,
    Reference,
    Room,
    Simulation,
)
from ..corpus import Corpus
from ..families.buffet.reference import MOST_TOPICS
from ..families.segments import buffet, buffet_reference
from ..families.segments.card import FREE_TOPICS, NO_REFERENCE, SAMPLED_PARAMETERS
from ..families.segments.family import SentencesFamily, dish_ids
from ..families.segments.kernels import icd_kernels
from ..families.segments.order import Seating
from ..families.segments.predictive import SetsPredictive
from ..settings import option, setting
from ..toolbox.stan_data import stan_priors


@dataclass(frozen=True)
class Icd(SentencesFamily):
    """A sentence has some of the dishes (topic vectors) of its document; which says nothing of how much.

    A dish has an inclusion, the share of the document's sentences that it is on in, and a strength, which
    gives it tokens where it is on. The baseline of the weight-agnostic process, `was`: a dish may be absent
    from most sentences, but has about the same weight in all that have it. Tokens are exchangeable.

    Latents: ``z`` (N,); ``dish`` (N,), numbered through each document from 0 by first appearance; ``table``
    (N,), numbered through each sentence in the same way: tokens at one table of a sentence have one dish;
    ``alpha``, ``gamma``, ``kappa``, ``eta``. Inclusions, strengths and where dishes are on are integrated
    out. The corpus must have sentences (``segment_ptr``), or `window` must say how to cut documents.

    The lengths of the sentences are data: they are negative binomial. No corpus has empty sentences, so that
    the generator keeps to a design's lengths, and has to reject: it suits small designs and hyperparameters
    that make them likely.

    Parameters
    ----------
    n_topics : int
        K; 0 for as many as are needed.
    alpha : float or Gamma
        Mass of the Indian buffet process: the expected number of dishes that are on in a sentence.
    gamma : float or Gamma
        Shape of the strengths.
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
        id="icd",
        title="IBP compound Dirichlet process of sentences",
        summary="Topics of sentences: each has some of its document's dishes, each as strong as in others.",
        citation=(
            "S. Williamson, C. Wang, K. A. Heller and D. M. Blei. The IBP compound Dirichlet process and its "
            "application to focused topic modeling. International Conference on Machine Learning, "
            "pages 1151-1158, 2010. As a baseline in M. Das and C. Bhattacharyya. Weight-agnostic "
            "hierarchical stick-breaking process. IEEE, pages 342-349, 2018."
        ),
        source="Williamson, Wang, Heller & Blei (2010)",
        bibtex_key="williamson2010ibp",
        equations=(
            Equation(
                "generative process",
                r"b_{sl} \sim \mathrm{Bernoulli}(\pi_{dl}),\quad \pi_d \sim \mathrm{IBP}(\alpha)",
                "whether a dish of the document is on in a sentence",
            ),
            Equation(
                "generative process",
                r"g_{dl} \sim \mathrm{Gamma}(\gamma, 1),\quad \theta_s \sim \mathrm{Dir}(b_s \circ g_d),"
                r"\quad n_s \sim \mathrm{NB}(b_s^\top g_d, 1/2)",
                "strengths of dishes; weights in a sentence, and its length",
            ),
            Equation(
                "Algorithm 1",
                r"c_i \sim \theta_{s(i)},\quad z_i \sim \phi_{d, c_i},\quad w_i \sim \lambda_{z_i},\quad"
                r"\phi_{dl} \sim \mathrm{Dir}_K(\kappa),\quad \lambda_k \sim \mathrm{Dir}_V(\eta)",
                "dish, topic and word of a token",
            ),
            FREE_TOPICS,
        ),
        errata=(
            "The process is that of the first source; Algorithm 1, which has it in the place of its own, is "
            "of the second, the paper on the weight-agnostic process. There is one buffet a document, as its "
            "groups are sentences: documents share topics, and no dishes.",
            "The second source gives neither alpha nor gamma, and does not say whether sentences have a law "
            "of their lengths. They have one in the first, which is kept: the strengths have a scale by it.",
            'The second source has "IBP compound DP" of the first: its weights are Dirichlet given where '
            "dishes are on, and gamma variables that are normalised.",
            SAMPLED_PARAMETERS,
            NO_REFERENCE,
        ),
        tags=("parametric topics", "nonparametric dishes", "sentences", "sentence lengths are data"),
    )
    most_dishes: ClassVar[int] = 0
    """No limit: the references cut sticks off, and condition on nothing."""

    window: int = option(0, small=3, benchmark=20)
    alpha: Hyperparameter = setting(
        Gamma(5.0, 1.0), fixed=1.5, prior=Gamma(5.0, 3.0), reference=0.3, benchmark=3.0
    )
    gamma: Hyperparameter = setting(Gamma(5.0, 1.0), fixed=1.2, prior=Gamma(3.0, 2.0), benchmark=3.0)

    @property
    @override
    def of_tokens(self) -> tuple[str, ...]:
        return ("dish", "table")

    @override
    def draw_dishes(self, seats: Seating, hyper: Mapping[str, Any], rng: np.random.Generator) -> Latents:
        """See `SegmentsFamily.draw_dishes`; and alpha and gamma, which may be given as priors."""
        return buffet.draw(seats, hyper, self.label, rng)

    @override
    def simulate(self, design: Design, rng: np.random.Generator) -> Simulation:
        """See `Model.simulate`; alpha and gamma are rejected with the rest: lengths say something of them.

        Raises
        ------
        ValueError
            The hyperparameters make the design's lengths too unlikely.
        """
        hyper: dict[str, Any] = self.draw_hyperparameters(design, rng)
        given: dict[str, Any] = hyper | {"alpha": self.alpha, "gamma": self.gamma}
        latents = hyper | self.draw_topics(design, given, rng)
        return Simulation(latents, self.resample_data(latents, design, rng))

    @override
    def simulate_lengths(self, design: Design, rng: np.random.Generator) -> Simulation:
        """See `Model.simulate_lengths`; as many sentences as the design has, given that none is empty.

        Raises
        ------
        ValueError
            Nearly every draw has empty sentences.
        """
        before = self.seats(design)
        sizes = buffet.sentences_of(before)
        drawn, lengths = buffet.draw_with_lengths(sizes, self.hyperparameters(), self.label, rng)
        document = np.repeat(np.unique(before.document), sizes)
        of_document = np.bincount(document, lengths, np.size(design.doc_lengths))
        ends = np.cumsum(lengths)
        design = replace(
            design, doc_lengths=of_document.astype(np.int64), segment_ptr=np.concatenate([[0], ends])
        )
        seats = self.seats(design)
        latents = self.draw_hyperparameters(design, rng) | buffet.seated(drawn, seats, rng)
        latents |= self.draw_topics_of(dish_ids(seats, latents["dish"]), latents, rng)
        return Simulation(latents, self.resample_data(latents, design, rng))

    @override
    def log_dishes(self, latents: Latents, seats: Seating) -> float:
        alpha, gamma = float(latents["alpha"]), float(latents["gamma"])
        return buffet.log_law(seats, latents["dish"], latents["table"], alpha, gamma)

    @override
    def dish_laws(self, seats: Seating, hyper: Mapping[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        return buffet.dish_laws(seats, float(hyper["alpha"]), float(hyper["gamma"]))

    @override
    def new_sentence(self, latents: Latents, seats: Seating) -> np.ndarray:
        alpha, gamma = float(latents["alpha"]), float(latents["gamma"])
        return buffet.new_sentence(seats, latents["dish"], latents["table"], alpha, gamma)

    @override
    def predictive(self, latents: Latents, corpus: Corpus) -> SetsPredictive:
        alpha, gamma = float(latents["alpha"]), float(latents["gamma"])
        law = Sets(alpha, gamma, self.topic_parameters(latents), 0, 0)
        return SetsPredictive(self.frozen_topics(latents, corpus), law, self.seats)

    @override
    def kernels_in(self, room: Room) -> dict[str, Kernel]:
        return icd_kernels(room, self.opens_topics)

    @property
    @override
    def program(self) -> Reference:
        return Reference(
            parameters=buffet_reference.PARAMETERS,
            numpyro=self._numpyro,
            stan_program="icd",
            stan_data=self._stan_data,
            latents=self._latents_at,
            largest_truncation=MOST_TOPICS,
        )

    def _numpyro(self, corpus: Corpus, truncation: int) -> Callable[[], None]:
        seats = self.seats(Design.of(corpus))
        return buffet_reference.program(corpus, seats, truncation, self.n_topics, self.hyperparameters())

    def _stan_data(self, corpus: Corpus, truncation: int) -> dict[str, Any]:
        seats = self.seats(Design.of(corpus))
        return buffet_reference.stan_data(corpus, seats, truncation, self.n_topics) | stan_priors(self)

    def _latents_at(
        self, draw: Mapping[str, np.ndarray], corpus: Corpus, rng: np.random.Generator
    ) -> Latents:
        return buffet_reference.latents_at(draw, corpus, self.seats(Design.of(corpus)), rng)

    @override
    def memory_of_reference(self, corpus: Corpus, truncation: int) -> int:
        sentences = corpus.n_tokens if corpus.segment_ptr is None else corpus.segment_ptr.size
        of_sentences = (truncation + 2**truncation) * sentences
        return 8 * (of_sentences + self.n_topics * (truncation * corpus.n_documents + corpus.n_words))
