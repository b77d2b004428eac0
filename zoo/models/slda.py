"""Supervised topic models (McAuliffe and Blei 2008)."""

from dataclasses import dataclass
from typing import ClassVar

from ..contract import Card, Equation
from ..families.responses.lda import RespondingLda


@dataclass(frozen=True)
class Slda(RespondingLda):
    """Numbers and categories that documents have depend on the topics of their tokens.

    Latents: ``z`` (N,), ``alpha``; of the P linear predictors ``intercept`` (P,) and ``coefficient`` (P, K):
    logarithms of odds for categories, plain numbers for a number; of the R responses ``intercept_precision``
    and ``precision`` (R,), and of the numbers among them ``noise_precision``; those of the topics, such as
    ``eta``.

    Parameters
    ----------
    alpha : float or Gamma
        Dirichlet parameter of a document's proportions, a topic.
    intercept_precision : float or Gamma
        One over the variance of the intercepts of a response.
    precision : float or Gamma
        One over the variance of the coefficients of a response.
    noise_precision : float or Gamma
        One over the variance of a number about its linear predictor.
    topics : TopicSide
        `Dirichlet` or `PitmanYor`, with hyperparameters of their own.
    n_topics : int
        K.
    response : str
        Covariates that are responses, with commas between them, each as it is or with ``:number`` or
        ``:category`` after it. By default all that hold named categories or numbers that are not whole, and
        the groups; "none" for none.
    """

    card: ClassVar[Card] = Card(
        id="slda",
        title="Supervised topic model",
        summary="Numbers and categories of documents depend on the topics of their tokens.",
        citation=(
            "J. D. McAuliffe and D. M. Blei. Supervised topic models. "
            "Advances in Neural Information Processing Systems 20, 121-128, 2008."
        ),
        source="McAuliffe & Blei (2008)",
        bibtex_key="mcauliffe2008supervised",
        equations=(
            Equation(
                "Section 2",
                r"\theta_d \sim \mathrm{Dir}_K(\alpha),\quad \phi_k \sim \mathrm{Dir}_V(\eta),\quad "
                r"z_i \sim \theta_{d(i)},\quad w_i \sim \phi_{z_i}",
                "topics and words, as in latent Dirichlet allocation",
            ),
            Equation(
                "Section 2",
                r"\psi_d = b_0 + \sum_k \bar{z}_{dk} b_k,\quad y_d \sim \mathrm{N}(\psi_d, \delta^{-1})",
                "a number, given the shares of topics in the tokens of its document",
            ),
            Equation(
                "Section 2",
                r"p(y_d = c) = e^{\psi_{dc}} / \sum_j e^{\psi_{dj}},\quad \psi_{d0} = 0",
                "a category; the first is the baseline",
            ),
            Equation(
                "here",
                r"b_0 \sim \mathrm{N}(0, \tau_0^{-1}),\quad b_k \sim \mathrm{N}(0, \tau^{-1})",
                "intercept and coefficients of a linear predictor",
            ),
        ),
        errata=(
            "The paper takes the most probable coefficients and variance. Here they are drawn, under priors "
            "whose precisions are drawn too.",
            "There is an intercept, so that coefficients are differences between topics, and a document "
            "without tokens has a law.",
            "Several responses, some of which may be missing; categories by the logit, with the "
            "Polya-Gamma variables of Polson, Scott and Windle (2013).",
            "A response depends on the topics of all tokens of its document together, so that the references "
            "count them in all ways: they take short documents and few topics, which are Dirichlet.",
        ),
        tags=("parametric", "responses"),
    )
