"""Topics of sentences by a hierarchical Dirichlet process a document (Teh, Jordan, Beal and Blei 2006)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, override

import numpy as np

from ...kernels.segments.particles import Restaurants
from ..contract import Card, Equation, Gamma, Hyperparameter, Kernel, Latents, Room
from ..families.segments import franchise
from ..families.segments.card import FREE_TOPICS, NO_REFERENCE, SAMPLED_PARAMETERS
from ..families.segments.kernels import tjb_kernels
from ..families.segments.order import Seating
from ..families.segments.reference import Listing
from ..families.segments.urns import Seat, Seated, UrnFamily
from ..settings import setting


@dataclass(frozen=True)
class TjbHdp(UrnFamily):
    """Sentences share the dishes (topic vectors) of their document, and their weights resemble one another.

    The baseline of the weight-agnostic process, `was`: a dish that is common in the document is expected to
    be common in each of its sentences. Tokens are exchangeable.

    Latents: ``z`` (N,); ``dish`` (N,), numbered through each document from 0 by first appearance; ``table``
    (N,), numbered through each sentence in the same way; ``alpha``, ``gamma``, ``kappa``, ``eta``. The corpus
    must have sentences (``segment_ptr``), or `window` must say how to cut documents.

    Parameters
    ----------
    n_topics : int
        K; 0 for as many as are needed.
    alpha : float or Gamma
        Concentration of a document: how many dishes it has.
    gamma : float or Gamma
        Concentration of a sentence: the larger, the more its weights are those of its document.
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

    mark: ClassVar[str] = "table"

    card: ClassVar[Card] = Card(
        id="tjb_hdp",
        title="Hierarchical Dirichlet process of sentences",
        summary="Topics of sentences: each has weights over its document's dishes, near the document's.",
        citation=(
            "Y. W. Teh, M. I. Jordan, M. J. Beal and D. M. Blei. Hierarchical Dirichlet processes. Journal "
            "of the American Statistical Association, 101(476):1566-1581, 2006. As a baseline in M. Das and "
            "C. Bhattacharyya. Weight-agnostic hierarchical stick-breaking process. IEEE, pages "
            "342-349, 2018."
        ),
        source="Teh, Jordan, Beal & Blei (2006)",
        bibtex_key="teh2006hierarchical",
        equations=(
            Equation(
                "Equation 4",
                r"P_s \sim \mathrm{DP}(\gamma, G_0),\quad G_0 \sim \mathrm{DP}(\alpha, H),\quad "
                r"H = \mathrm{Dir}_K(\kappa)",
                "weights of the dishes in a sentence, and in its document",
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
            "Equations and numbers are those of the paper on the weight-agnostic process, which has this one "
            "in the place of its own in Algorithm 1, at alpha = 1 and gamma = 0.5. There is one hierarchy a "
            "document, as its groups are sentences: documents share topics, and no dishes.",
            "The variance of a sentence's stick does depend on gamma; Section II-B says otherwise.",
            SAMPLED_PARAMETERS,
            NO_REFERENCE,
        ),
        tags=("parametric topics", "nonparametric dishes", "sentences"),
    )

    alpha: Hyperparameter = setting(1.0, fixed=1.2, prior=Gamma(3.0, 2.0), benchmark=1.0)
    gamma: Hyperparameter = setting(0.5, fixed=0.9, prior=Gamma(2.0, 2.0), benchmark=0.5)

    @override
    def open_seats(self, sentence: int, seated: Seated, hyper: Mapping[str, float]) -> list[Seat]:
        return franchise.open_seats(sentence, seated, hyper)

    @property
    @override
    def listing(self) -> Callable[[Seating, int], Listing]:
        return franchise.listing

    @override
    def starts(self, hyper: Mapping[str, Any]) -> tuple[Any, ...]:
        return hyper["gamma"], hyper["gamma"], hyper["alpha"], hyper["alpha"]

    @override
    def log_dishes(self, latents: Latents, seats: Seating) -> float:
        if not self.is_within_limits(latents, seats):
            return -np.inf
        alpha, gamma = float(latents["alpha"]), float(latents["gamma"])
        return franchise.log_law(seats, latents["dish"], latents["table"], alpha, gamma)

    @override
    def law_of_new(self, latents: Latents) -> Restaurants:
        alpha, gamma = float(latents["alpha"]), float(latents["gamma"])
        return Restaurants(alpha, gamma, self.topic_parameters(latents), truncation=0)

    @override
    def kernels_in(self, room: Room) -> dict[str, Kernel]:
        return tjb_kernels(room, self.opens_topics)
