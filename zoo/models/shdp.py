"""The supervised hierarchical Dirichlet process (Dai and Storkey 2015)."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, override

import numpy as np

from ...kernels.responses import sticks
from ..contract import Card, Equation, Kernel, Latents, Reference, Room
from ..corpus import Corpus
from ..families.responses.family import COEFFICIENTS, PRECISIONS, RespondingFamily
from ..families.responses.predictive import UnseenTopics
from ..families.topics import Dirichlet, TopicSide
from ..families.two_sided import TwoSidedModel
from .hdp import Hdp

MOST_TOPICS = 8
"""Of the references, whose cost grows with the ways to count the tokens of a document by topic."""


@dataclass(frozen=True)
class Shdp(RespondingFamily, Hdp):
    """Responses of documents depend on the topics of their tokens, as many as the corpus needs.

    Latents: ``z`` (N,), ``root`` (K + 1,), ``alpha``, ``gamma``; of P linear predictors ``intercept`` (P,)
    and ``coefficient`` (P, K); of the R responses ``intercept_precision`` and ``precision`` (R,), and of the
    numbers among them ``noise_precision``; ``eta`` of the topics.

    Parameters
    ----------
    gamma : float or Gamma
        Concentration of the root: how many topics.
    alpha : float or Gamma
        Concentration of the documents: how many of them in a document.
    topics : TopicSide
        `Dirichlet`.
    intercept_precision : float or Gamma
        One over the variance of the intercepts of a response.
    precision : float or Gamma
        One over the variance of the coefficients of a response.
    noise_precision : float or Gamma
        One over the variance of a number about its linear predictor.
    response : str
        Covariates that are responses, as in `Slda`.
    """

    card: ClassVar[Card] = Card(
        id="shdp",
        title="Supervised hierarchical Dirichlet process",
        summary="As many topics as words, and numbers and categories of documents, call for.",
        citation=(
            "A. M. Dai and A. J. Storkey. The supervised hierarchical Dirichlet process. "
            "IEEE Transactions on Pattern Analysis and Machine Intelligence 37(2):243-255, 2015."
        ),
        source="Dai & Storkey (2015)",
        bibtex_key="dai2015supervised",
        equations=(
            Equation(
                "here",
                r"\beta \sim \mathrm{GEM}(\gamma),\quad \theta_d \sim \mathrm{DP}(\alpha, \beta),\quad "
                r"\phi_k \sim \mathrm{Dir}_V(\eta),\quad z_i \sim \theta_{d(i)},\quad w_i \sim \phi_{z_i}",
                "topics and words, as in the hierarchical Dirichlet process",
            ),
            Equation(
                "here",
                r"\psi_d = b_0 + \sum_k \bar{z}_{dk} b_k,\quad y_d \sim \mathrm{N}(\psi_d, \delta^{-1})",
                "a number, given the shares of topics in the tokens of its document",
            ),
            Equation(
                "here",
                r"p(y_d = c) = e^{\psi_{dc}} / \sum_j e^{\psi_{dj}},\quad \psi_{d0} = 0",
                "a category; the first is the baseline",
            ),
            Equation(
                "here",
                r"b_0 \sim \mathrm{N}(0, \tau_0^{-1}),\quad b_k \sim \mathrm{N}(0, \tau^{-1})",
                "intercept and coefficients; each topic has its own, those without tokens too",
            ),
        ),
        errata=(
            "Responses and priors are those of slda here: with an intercept, several responses, some of "
            "which may be missing, and precisions that are drawn. The paper's were not at hand.",
            "A response depends on the topics of all tokens of its document together, so that the references "
            "count them in all ways: they take short documents and few topics.",
        ),
        tags=("nonparametric", "responses"),
    )

    topic_sides: ClassVar[Mapping[str, TopicSide]] = {Dirichlet.name: Dirichlet()}
    why_only: ClassVar[str] = (
        "its tokens take topics back that do not fit their responses; it has Dirichlet topics"
    )
    document_parameters: ClassVar[tuple[str, ...]] = (*Hdp.document_parameters, *COEFFICIENTS, *PRECISIONS)
    stan_documents: ClassVar[str] = "documents/sticks"
    about_tokens: ClassVar[str] = "direct assignment"

    @property
    @override
    def reference(self) -> Reference:
        """See `Model.reference`: few topics, and documents of few words."""
        return replace(super().reference, largest_truncation=MOST_TOPICS)

    @override
    def kernels_in(self, room: Room) -> dict[str, Kernel]:
        """See `Model.kernels_in`; tokens of a document depend on one another, and are not swept in cells."""
        return TwoSidedModel.kernels_in(self, room)

    @override
    def unseen_topics(self, latents: Latents, corpus: Corpus) -> UnseenTopics:
        n_predictors = [response.n_predictors for response in self.responses(corpus)]
        return UnseenTopics(float(latents["gamma"]), np.repeat(latents["precision"] ** -0.5, n_predictors))

    @override
    def load_documents(self, room: Room, latents: Latents, corpus: Corpus) -> Any:
        responses = self.load_responses(room, latents, corpus)
        return room(sticks).responding_sticks(super().load_documents(room, latents, corpus), responses)
