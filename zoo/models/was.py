"""Topics of sentences: the weight-agnostic hierarchical stick-breaking process (Das and Bhattacharyya)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self, override

import numpy as np

from ...kernels.segments.particles import Sticks
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
)
from ..corpus import Corpus
from ..families.segments import generator, reference
from ..families.segments.family import SegmentsFamily
from ..families.segments.kernels import was_kernels
from ..families.segments.law import Tables, listing, log_tables, partitions, tables_of
from ..families.segments.order import ORDERS, Seating, seating, sentence_starts
from ..families.segments.predictive import SegmentsPredictive
from ..families.segments.reference import Rows
from ..settings import Purpose, setting
from ..toolbox.stan_data import stan_priors


@dataclass(frozen=True)
class Was(SegmentsFamily):
    """Sentences share the dishes (topic vectors) of their document, each with weights of its own.

    A dish may be prominent in a few sentences and absent from all others, and its weight in one says nothing
    of that in another. The number of topics is fixed, as in the paper, which draws a dish from a Dirichlet
    distribution over K topics; the number of dishes of a document is not.

    Latents: ``z`` (N,); ``dish`` (N,), numbered through each document from 0 by first appearance in the order
    in which tokens take their seats; ``a``, ``b``, ``zeta``, ``kappa``, ``eta``. The corpus must have
    sentences (``segment_ptr``), or `window` must say how to cut documents.

    Parameters
    ----------
    n_topics : int
        K.
    a, b : float or Gamma
        Of the sticks, v ~ Beta(a, b). With ``a = 1`` the tables of a sentence are a Chinese restaurant of
        concentration b.
    zeta : float or Gamma
        How readily a new table has a dish that is new to the document.
    kappa : float or Gamma
        Dirichlet parameter of a dish, a topic.
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
    """

    card: ClassVar[Card] = Card(
        id="was",
        title="Weight-agnostic hierarchical stick-breaking process",
        summary="Topics of sentences: a topic may be prominent in a few and absent from all others.",
        citation=("M. Das and C. Bhattacharyya. Weight-agnostic hierarchical stick-breaking process. IEEE."),
        source="Das & Bhattacharyya",
        bibtex_key="das_weight_agnostic",
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
        ),
        errata=(
            "The paper samples the n-th token given those before it (note to Theorem 4). The process is not "
            "exchangeable, and tokens that come later say something of it too: the default sampler weighs "
            "them. Variant `past_only` is the paper's; `as_if_last` takes each token for the last one.",
            "Equation 10: the atoms that a group lacks are those of the others without its own.",
            "Equation 11: epsilon may be 0, where a group lacks no dish.",
            "Section III-C says that weights of tables depend on the atoms passed over, other than in the "
            "HDP. At the paper's a = b = 1 they are a Chinese restaurant's, and do not.",
            "Theorem 2: weights are independent at fixed numbers of tables; those of a dish that two "
            "sentences share are not, as it has its tables for its weights.",
            "Definition 4 is silent on sentences of unequal lengths: here one that has no more tokens is "
            "passed over. The paper gives neither zeta nor the number of topics.",
        ),
        tags=("parametric topics", "nonparametric dishes", "sentences", "not exchangeable"),
    )

    a: Hyperparameter = setting(1.0, fixed=1.0, prior=Gamma(3.0, 2.0), benchmark=1.0)
    b: Hyperparameter = setting(1.0, fixed=1.5, prior=Gamma(2.0, 2.0), benchmark=1.0)
    zeta: Hyperparameter = setting(Gamma(1.0, 1.0), fixed=0.7, prior=Gamma(3.0, 4.0), benchmark=1.0)
    order: str = "round_robin"
    most_tables: int = 0
    most_dishes: int = 0

    def __post_init__(self):
        if self.order not in ORDERS:
            raise ValueError(f"was: order: expected {' or '.join(ORDERS)}, found {self.order!r}")
        self.check_whole("most_tables", 0)
        self.check_whole("most_dishes", 0)
        super().__post_init__()

    @override
    def seats(self, design: Design) -> Seating:
        lengths = np.asarray(design.doc_lengths)
        starts = sentence_starts(design.segment_ptr, lengths, self.window, self.label)
        return seating(starts, lengths, self.order)

    @property
    @override
    def limits(self) -> Mapping[str, int]:
        return {"most_tables": self.most_tables, "most_dishes": self.most_dishes}

    @override
    def is_within_limits(self, latents: Latents, seats: Seating) -> bool:
        return self._are_within_limits(tables_of(seats, latents["dish"]))

    def _are_within_limits(self, tables: Tables) -> bool:
        most_dishes = int(np.bincount(tables.document, tables.is_new).max(initial=0))
        most_tables = int(tables.rank.max(initial=-1)) + 1
        return most_tables <= (self.most_tables or most_tables) and (
            most_dishes <= (self.most_dishes or most_dishes)
        )

    @override
    def draw_dishes(
        self, seats: Seating, hyper: Mapping[str, np.ndarray], rng: np.random.Generator
    ) -> Latents:
        a, b, zeta = (float(hyper[name]) for name in ("a", "b", "zeta"))
        return {"dish": generator.draw_dishes(seats, a, b, zeta, rng)}

    @override
    def log_dishes(self, latents: Latents, seats: Seating) -> float:
        tables = tables_of(seats, latents["dish"])
        if not self._are_within_limits(tables):
            return -np.inf
        return float(log_tables(tables, *(float(latents[name]) for name in ("a", "b", "zeta"))).sum())

    @override
    def dish_laws(self, seats: Seating, hyper: Mapping[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        rows = partitions(seats, self.most_tables, self.most_dishes)
        of_tables = log_tables(rows.tables, *(float(hyper[name]) for name in ("a", "b", "zeta")))
        return rows.dish, np.bincount(rows.tables.document, of_tables, minlength=len(rows.dish))

    @override
    def new_sentence(self, latents: Latents, seats: Seating) -> np.ndarray:
        zeta, n_dishes = float(latents["zeta"]), latents["dish"].max(initial=-1) + 1
        return np.append(np.ones(n_dishes), zeta) / (n_dishes + zeta)

    @override
    def predictive(self, latents: Latents, corpus: Corpus) -> SegmentsPredictive:
        """See `Model.predictive`.

        Raises
        ------
        ValueError
            There are limits: what they say of new documents depends on these.
        """
        if self.most_tables or self.most_dishes:
            raise ValueError(
                "was: new documents are scored without limits; expected no most_tables, no most_dishes"
            )
        law = Sticks(*(float(latents[name]) for name in ("a", "b", "zeta", "kappa")), truncation=0)
        return SegmentsPredictive(self.frozen_topics(latents, corpus), law, self.seats)

    @override
    def kernels_in(self, room: Room) -> dict[str, Kernel]:
        return was_kernels(room)

    @override
    def set_to(self, purpose: Purpose) -> Self:
        """See `HasSettings.set_to`; before references there are few dishes, as all are enumerated."""
        made = super().set_to(purpose)
        return replace(made, most_dishes=made.most_dishes or 3) if purpose == "reference" else made

    @property
    @override
    def reference(self) -> Reference:
        """See `Model.reference`; without `most_dishes`, the truncation is the limit."""
        return Reference(
            parameters=("dishes", "phi", "a", "b", "zeta", "kappa", "eta"),
            numpyro=self._numpyro,
            stan_program="was",
            stan_data=self._stan_data,
            latents=self._latents_at,
            needs_truncation=not self.most_dishes,
        )

    def _rows(self, corpus: Corpus, truncation: int) -> Rows:
        limits = (self.most_tables, self.most_dishes or truncation)
        return reference.rows_of(corpus, self.seats(Design.of(corpus)), listing, limits, self.label)

    def _numpyro(self, corpus: Corpus, truncation: int) -> Callable[[], None]:
        rows = self._rows(corpus, truncation)
        return reference.program(rows, corpus.n_words, self.n_topics, self.hyperparameters(), _starts)

    def _stan_data(self, corpus: Corpus, truncation: int) -> dict[str, Any]:
        rows = reference.stan_rows(self._rows(corpus, truncation), corpus.n_words)
        return rows | {"K": self.n_topics} | stan_priors(self)

    def _latents_at(
        self, draw: Mapping[str, np.ndarray], corpus: Corpus, rng: np.random.Generator
    ) -> Latents:
        rows = self._rows(corpus, len(draw["dishes"]) // corpus.n_documents)
        return reference.latents_at(draw, rows, corpus, self.hyperparameters(), _starts, rng)

    @override
    def memory_of_reference(self, corpus: Corpus, truncation: int) -> int:
        n_dishes = (self.most_dishes or truncation) * corpus.n_documents
        return 8 * self.n_topics * (n_dishes + corpus.n_words)

    @override
    def memory_of_chain(self, corpus: Corpus, variant: str | None = None) -> dict[str, int]:
        longest = int(corpus.doc_lengths.max(initial=0))
        return {
            "counts of topics": 8 * self.n_topics * corpus.n_words,
            "dishes of the longest document": 12 * self.n_topics * longest,
        }


def _starts(hyper: Mapping[str, Any]) -> tuple[Any, ...]:
    """Numbers that the law has products of; see `law.listing`."""
    a, b, zeta = (hyper[name] for name in ("a", "b", "zeta"))
    return zeta, zeta, a, b, a + b
