"""Ordered stick-breaking: the weight-agnostic process of one sentence (Das and Bhattacharyya)."""

from dataclasses import dataclass, replace
from typing import ClassVar, override

import numpy as np

from ..contract import Card, Design, Equation, Kernel, Latents, Room
from ..corpus import Corpus
from ..families.segments.card import FREE_TOPICS, NO_REFERENCE, SAMPLED_PARAMETERS
from ..families.segments.kernels import ordered_kernels
from ..families.segments.order import Seating, seating
from ..families.segments.predictive import SegmentsPredictive
from ..families.segments.sticks import SticksFamily


@dataclass(frozen=True)
class OrderedSbp(SticksFamily):
    """Dishes (topic vectors) of a document in the order in which its tokens come upon them.

    The weight-agnostic process, `was`, of a single group: a document is one sentence, and all its dishes are
    its own. With ``a = 1`` they are a Chinese restaurant of concentration b; else the order of words matters.

    Latents: ``z`` (N,); ``dish`` (N,), numbered through each document from 0 by first appearance; ``a``,
    ``b``, ``kappa``, ``eta``. Sentences of the corpus play no part.

    Parameters
    ----------
    n_topics : int
        K; 0 for as many as are needed.
    a, b : float or Gamma
        Of the sticks, v ~ Beta(a, b).
    kappa : float or Gamma
        Dirichlet parameter of a dish, a topic; without a number of topics, concentration of a dish.
    tau : float or Gamma
        Without a number of topics, their concentration: how many.
    eta : float or Gamma
        Dirichlet parameter of a topic's word distribution, a word.
    most_dishes : int
        The law is that given that no document has more dishes; no limit at 0. References need a limit, and a
        kernel with the same one has the same law.
    forward : bool
        References keep the sticks and sum over dishes token by token, for documents too long to enumerate.
    """

    card: ClassVar[Card] = Card(
        id="ordered_sbp",
        title="Ordered stick-breaking process",
        summary="Topic vectors of a document, as many as it needs; words come upon them in order.",
        citation=(
            "M. Das and C. Bhattacharyya. Weight-agnostic hierarchical stick-breaking process. IEEE, pages "
            "342-349, 2018."
        ),
        source="Das & Bhattacharyya (2018)",
        bibtex_key="das2018weight",
        equations=(
            Equation(
                "Equation 9",
                r"\theta_j = v_j \prod_{l<j} (1 - v_l),\quad v_j \sim \mathrm{Beta}(a, b)",
                "weights of the dishes of a document",
            ),
            Equation(
                "Equation 14",
                r"p(c) = \prod_j \frac{B(a + g_j - 1, b + h_j)}{B(a, b)}",
                "sticks integrated out; g tokens have a dish, h a later one",
            ),
            Equation(
                "Algorithm 1",
                r"\phi_{dl} \sim \mathrm{Dir}_K(\kappa),\quad \lambda_k \sim \mathrm{Dir}_V(\eta)",
                "topics of a dish, words of a topic",
            ),
            Equation(
                "Algorithm 1",
                r"z_i \sim \phi_{d, c_i},\quad w_i \sim \lambda_{z_i}",
                "topic and word of a token that has dish c",
            ),
            FREE_TOPICS,
        ),
        errata=(
            "The paper says that its process with one group is the ordered stick-breaking process; zeta "
            "cancels then, and is no parameter here.",
            "Equation 9 is a stick-breaking process with Beta(a, b) sticks only for the parameters of a "
            "Dirichlet or Pitman-Yor process: a token that opens a table is no success of its stick.",
            SAMPLED_PARAMETERS,
            NO_REFERENCE,
        ),
        tags=("parametric topics", "nonparametric dishes", "order of words", "not exchangeable"),
    )

    @override
    def seats(self, design: Design) -> Seating:
        """See `SegmentsFamily.seats`; a document is one sentence, and tokens come as the text goes."""
        lengths = np.asarray(design.doc_lengths)
        starts = np.concatenate([[0], np.cumsum(lengths[lengths > 0])]).astype(np.int64)
        return seating(starts, lengths, "reading")

    @override
    def new_sentence(self, latents: Latents, seats: Seating) -> np.ndarray:
        """See `SegmentsFamily.new_sentence`; here the token is the document's next."""
        a, b = float(latents["a"]), float(latents["b"])
        size = np.bincount(latents["dish"])
        later = size[::-1].cumsum()[::-1] - size
        stay = (a + size - 1.0) / (a + b + size - 1.0 + later)
        passed = np.append(1.0, np.cumprod(1.0 - stay))
        return np.append(passed[:-1] * stay, passed[-1])

    @override
    def predictive(self, latents: Latents, corpus: Corpus) -> SegmentsPredictive:
        return replace(super().predictive(latents, corpus), goes_on=True)

    @override
    def kernels_in(self, room: Room) -> dict[str, Kernel]:
        return ordered_kernels(room, self.opens_topics)
