"""Topics of sentences, shared in the document or a sentence's own (Müller, Quintana and Rosner 2004)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, override

import numpy as np

from ...kernels.segments.particles import SharedAndOwn
from ..contract import Beta, Card, Equation, Gamma, Hyperparameter, Kernel, Latents, Room
from ..corpus import Corpus
from ..families.segments import mixture
from ..families.segments.card import FREE_TOPICS, NO_REFERENCE, SAMPLED_PARAMETERS
from ..families.segments.kernels import mqr_kernels
from ..families.segments.order import Seating
from ..families.segments.reference import Listing
from ..families.segments.urns import Seat, Seated, UrnFamily
from ..priors import Range
from ..settings import setting

SHARE = Range(lambda value: 0.0 < value < 1.0, "a number between 0 and 1", Beta)


@dataclass(frozen=True)
class MqrHdp(UrnFamily):
    """A token has a dish (topic vector) that all sentences of its document share, or its sentence's own.

    Shared dishes have the same weights in all sentences; the others have none in any other sentence. Tokens
    are exchangeable.

    Latents: ``z`` (N,); ``dish`` (N,), numbered through each document from 0 by first appearance; ``local``
    (N,), 1 where the dish is the sentence's own; ``alpha``, ``epsilon``, ``kappa``, ``eta``. The corpus must
    have sentences (``segment_ptr``), or `window` must say how to cut documents.

    Parameters
    ----------
    n_topics : int
        K; 0 for as many as are needed.
    alpha : float or Gamma
        Concentration of the shared dishes, and of those of each sentence.
    epsilon : float or Beta
        Share of the shared dishes.
    kappa : float or Gamma
        Dirichlet parameter of a dish, a topic; without a number of topics, concentration of a dish.
    tau : float or Gamma
        Without a number of topics, their concentration: how many.
    eta : float or Gamma
        Dirichlet parameter of a topic's word distribution, a word.
    window : int
        Where a corpus does not say where its sentences end, they are cut off after so many tokens; at 0 they
        must be known.
    most_dishes : int
        The law is that given that no document has more dishes; no limit at 0. References need a limit, and a
        kernel with the same one has the same law.
    """

    mark: ClassVar[str] = "local"

    card: ClassVar[Card] = Card(
        id="mqr_hdp",
        title="Mixture of shared and own Dirichlet processes of sentences",
        summary="Topics of sentences: a token has a dish of its document, or one of its sentence's own.",
        citation=(
            "P. Müller, F. Quintana and G. Rosner. A method for combining inference across related "
            "nonparametric Bayesian models. Journal of the Royal Statistical Society: Series B, "
            "66(3):735-749, 2004. As in M. Das and C. Bhattacharyya. Weight-agnostic hierarchical "
            "stick-breaking process. IEEE, pages 342-349, 2018."
        ),
        source="Müller, Quintana & Rosner (2004)",
        bibtex_key="muller2004method",
        equations=(
            Equation(
                "Equation 3",
                r"P_s = \epsilon G_0 + (1 - \epsilon) G_s,\quad G_0, G_1, \dots \sim \mathrm{DP}(\alpha, H),"
                r"\quad H = \mathrm{Dir}_K(\kappa)",
                "weights of shared dishes and of a sentence's own",
            ),
            Equation(
                "Algorithm 1",
                r"c_i \sim P_{s(i)},\quad z_i \sim \phi_{d, c_i},\quad w_i \sim \lambda_{z_i},\quad"
                r"\lambda_k \sim \mathrm{Dir}_V(\eta)",
                "dish, topic and word of a token",
            ),
            FREE_TOPICS,
        ),
        errata=(
            "Equations and numbers are those of the paper on the weight-agnostic process, which defines this "
            "one and reports nothing of it; epsilon is not given. It is in the place of the paper's own "
            "process in Algorithm 1, so that there is one mixture a document.",
            SAMPLED_PARAMETERS,
            NO_REFERENCE,
        ),
        tags=("parametric topics", "nonparametric dishes", "sentences"),
    )

    # Before references few dishes, nearly all of them shared: or hardly a draw would keep to the limit.
    alpha: Hyperparameter = setting(
        1.0, fixed=1.2, prior=Gamma(3.0, 2.0), reference=Gamma(6.0, 30.0), benchmark=1.0
    )
    epsilon: Hyperparameter = setting(
        Beta(1.0, 1.0),
        range=SHARE,
        fixed=0.7,
        prior=Beta(3.0, 2.0),
        reference=Beta(18.0, 2.0),
        benchmark=0.5,
    )

    @override
    def range_of_tokens(self, name: str, corpus: Corpus) -> tuple[int, int | np.ndarray]:
        """See `Model.range_of_tokens`; a dish is shared, or the sentence's own."""
        return (0, 1) if name == "local" else super().range_of_tokens(name, corpus)

    @override
    def open_seats(self, sentence: int, seated: Seated, hyper: Mapping[str, float]) -> list[Seat]:
        return mixture.open_seats(sentence, seated, hyper)

    @property
    @override
    def listing(self) -> Callable[[Seating, int], Listing]:
        return mixture.listing

    @override
    def starts(self, hyper: Mapping[str, Any]) -> tuple[Any, ...]:
        return hyper["epsilon"], 1.0 - hyper["epsilon"], hyper["alpha"], hyper["alpha"]

    @override
    def log_dishes(self, latents: Latents, seats: Seating) -> float:
        if not self.is_within_limits(latents, seats):
            return -np.inf
        alpha, epsilon = float(latents["alpha"]), float(latents["epsilon"])
        return mixture.log_law(seats, latents["dish"], latents["local"], alpha, epsilon)

    @override
    def law_of_new(self, latents: Latents) -> SharedAndOwn:
        alpha, epsilon = float(latents["alpha"]), float(latents["epsilon"])
        return SharedAndOwn(alpha, epsilon, self.topic_parameters(latents), truncation=0)

    @override
    def kernels_in(self, room: Room) -> dict[str, Kernel]:
        return mqr_kernels(room, self.opens_topics)
