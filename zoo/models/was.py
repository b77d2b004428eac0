"""Topics of sentences: the weight-agnostic hierarchical stick-breaking process (Das and Bhattacharyya)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, override

import numpy as np

from ..contract import Card, Design, Equation, Gamma, Hyperparameter, Kernel, Latents, Room
from ..families.segments.card import FREE_TOPICS, NO_REFERENCE, SAMPLED_PARAMETERS
from ..families.segments.family import SentencesFamily
from ..families.segments.kernels import was_kernels
from ..families.segments.law import tables_of
from ..families.segments.order import ORDERS, Seating
from ..families.segments.sticks import SticksFamily
from ..settings import setting


@dataclass(frozen=True)
class Was(SticksFamily, SentencesFamily):
    """Sentences share the dishes (topic vectors) of their document, each with weights of its own.

    A dish may be prominent in a few sentences and absent from all others, and its weight in one says nothing
    of that in another. The number of dishes of a document is free. That of topics is fixed by default, as in
    the paper, which draws a dish from a Dirichlet distribution over K topics; at ``n_topics=0`` dishes share
    as many topics as are needed.

    Latents: ``z`` (N,); ``dish`` (N,), numbered through each document from 0 by first appearance in the order
    in which tokens take their seats; ``a``, ``b``, ``zeta``, ``kappa``, ``eta``; without a number of topics
    ``tau`` and ``root`` (K + 1,), the weights of topics, that of all without tokens last. The corpus must
    have sentences (``segment_ptr``), or `window` must say how to cut documents.

    Parameters
    ----------
    n_topics : int
        K; 0 for as many as are needed.
    a, b : float or Gamma
        Of the sticks, v ~ Beta(a, b). With ``a = 1`` the tables of a sentence are a Chinese restaurant of
        concentration b.
    zeta : float or Gamma
        How readily a new table has a dish that is new to the document.
    kappa : float or Gamma
        Dirichlet parameter of a dish, a topic; without a number of topics, concentration of a dish.
    tau : float or Gamma
        Without a number of topics, their concentration: how many.
    eta : float or Gamma
        Dirichlet parameter of a topic's word distribution, a word.
    window : int
        Where a corpus does not say where its sentences end, they are cut off after so many tokens; at 0 they
        must be known.
    order : {"round_robin", "reading"}
        In which tokens take their seats; the law depends on it.
    most_tables, most_dishes : int
        The law is that given that no sentence has more tables, and no document more dishes; no limit at 0.
        References need limits, and a kernel with the same ones has the same law.
    forward : bool
        References keep the sticks and sum over dishes token by token, for documents too long to enumerate.
    """

    card: ClassVar[Card] = Card(
        id="was",
        title="Weight-agnostic hierarchical stick-breaking process",
        summary="Topics of sentences: a topic may be prominent in a few and absent from all others.",
        citation=(
            "M. Das and C. Bhattacharyya. Weight-agnostic hierarchical stick-breaking process. IEEE, pages "
            "342-349, 2018."
        ),
        source="Das & Bhattacharyya (2018)",
        bibtex_key="das2018weight",
        equations=(
            Equation(
                "Equation 9",
                r"\theta_{sj} = v_{sj} \prod_{l<j} (1 - v_{sl}),\quad v_{sj} \sim \mathrm{Beta}(a, b)",
                "weights of the tables of a sentence",
            ),
            Equation(
                "Equation 11",
                r"\beta_{sj} \mid G \sim \sum_{c \in G} \frac{\delta_c}{K + \zeta}"
                r" + \frac{\zeta}{K + \zeta} H,\quad K = |G|",
                "dish of a new table; G are the dishes of the document that the sentence lacks",
            ),
            Equation(
                "Equation 14",
                r"p(\mathrm{tables}_s) = \prod_j \frac{B(a + g_{sj} - 1, b + h_{sj})}{B(a, b)}",
                "sticks integrated out; g tokens at a table, h at those after it",
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
            "The paper samples the n-th token given those before it (note to Theorem 4). The process is not "
            "exchangeable, and tokens that come later say something of it too: the default sampler weighs "
            "them. Variant `past_only` is the paper's; `as_if_last` takes each token for the last one.",
            "Equation 10: the atoms that a group lacks are those of the others without its own.",
            "Theorem 1 and Equation 11: the paper's epsilon, here K / (K + zeta), may be 0, where a group "
            "lacks no dish.",
            "Section III-C says that weights of tables depend on the atoms passed over, other than in the "
            "HDP. At the paper's a = b = 1 they are a Chinese restaurant's, and do not.",
            "Theorem 2: weights are independent at fixed numbers of tables; those of a dish that two "
            "sentences share are not, as it has its tables for its weights.",
            "Definition 4 is silent on sentences of unequal lengths: here one that has no more tokens is "
            "passed over. The paper gives neither zeta nor the number of topics.",
            SAMPLED_PARAMETERS,
            NO_REFERENCE,
        ),
        tags=("parametric topics", "nonparametric dishes", "sentences", "not exchangeable"),
    )

    zeta: Hyperparameter = setting(Gamma(1.0, 1.0), fixed=0.7, prior=Gamma(3.0, 4.0), benchmark=1.0)
    order: str = "round_robin"
    most_tables: int = 0

    few_dishes: ClassVar[int] = 3

    def __post_init__(self):
        if self.order not in ORDERS:
            raise ValueError(f"was: order: expected {' or '.join(ORDERS)}, found {self.order!r}")
        self.check_whole("most_tables", 0)
        super().__post_init__()

    @override
    def seats(self, design: Design) -> Seating:
        return self.seats_in(self.order, design)

    @property
    @override
    def limits(self) -> Mapping[str, int]:
        return {"most_dishes": self.most_dishes, "most_tables": self.most_tables}

    @override
    def is_within_limits(self, latents: Latents, seats: Seating) -> bool:
        n_tables = int(tables_of(seats, latents["dish"]).rank.max(initial=-1)) + 1
        return n_tables <= (self.most_tables or n_tables) and super().is_within_limits(latents, seats)

    @override
    def new_sentence(self, latents: Latents, seats: Seating) -> np.ndarray:
        zeta, n_dishes = float(latents["zeta"]), latents["dish"].max(initial=-1) + 1
        return np.append(np.ones(n_dishes), zeta) / (n_dishes + zeta)

    @override
    def kernels_in(self, room: Room) -> dict[str, Kernel]:
        return was_kernels(room, self.opens_topics)
