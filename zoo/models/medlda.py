"""Max-margin supervised topic models (Zhu, Chen, Perkins and Zhang 2014)."""

from dataclasses import dataclass
from typing import ClassVar, override

import numpy as np

from ..contract import Card, Design, Equation, Latents, Simulation
from ..corpus import Corpus, CorpusError
from ..corpus.labels import Labelled
from ..families.lda.family import LdaFamily
from ..families.responses import law
from ..families.responses.lda import RespondingLda
from ..families.responses.responses import Hinge, Response
from ..settings import option

MOST_TRIALS = 20_000
"""Of `Medlda.simulate`, before it gives up."""


@dataclass(frozen=True)
class Medlda(RespondingLda):
    """Categories of documents are told apart by a margin, which is linear in the topics of their tokens.

    The density of latents, words and categories is that of `lda` and of the coefficients times a factor, at
    most 1, for each category that is known. It is normalised for all documents together, with
    hyperparameters among the latents: their law before data is not their prior, but that prior tilted towards
    coefficients and topics that tell some categories apart. `log_joint` and `log_marginal` leave out the
    normaliser, which depends on K, the priors, cost and margin: they do not compare models.

    Latents: ``z`` (N,), ``alpha``; of the P linear predictors ``intercept`` (P,) and ``coefficient`` (P, K);
    of the R responses ``intercept_precision`` and ``precision`` (R,), and of the numbers among them
    ``noise_precision``; those of the topics, such as ``eta``.

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
        Covariates that are responses, as in `slda`; numbers are what they are there.
    cost : float
        c, above 0: a predictor that misses the margin by one costs 2 c of log density.
    margin : float
        The margin, above 0: how far on its side of zero a predictor has to be to cost nothing.
    """

    card: ClassVar[Card] = Card(
        id="medlda",
        title="Max-margin supervised topic model",
        summary="Categories of documents are told apart, by a margin, by the topics of their tokens.",
        citation=(
            "J. Zhu, N. Chen, H. Perkins and B. Zhang. Gibbs max-margin topic models with data augmentation. "
            "Journal of Machine Learning Research 15, 1073-1110, 2014."
        ),
        source="Zhu, Chen, Perkins & Zhang (2014)",
        bibtex_key="zhu2014gibbs",
        equations=(
            Equation(
                "Section 3",
                r"\theta_d \sim \mathrm{Dir}_K(\alpha),\quad \phi_k \sim \mathrm{Dir}_V(\eta),\quad "
                r"z_i \sim \theta_{d(i)},\quad w_i \sim \phi_{z_i}",
                "topics and words, as in latent Dirichlet allocation",
            ),
            Equation(
                "Section 3",
                r"\varphi(y_d) = \exp\left(-2c \sum_j \max(0,\, \ell - s_{dj} \psi_{dj})\right),\quad "
                r"s_{dj} = 1\ \mathrm{if}\ y_d = j,\ \mathrm{else}\ -1",
                "the factor of a document's category: one against all others",
            ),
            Equation(
                "here",
                r"\psi_{dj} = b_{j0} + \sum_k \bar{z}_{dk} b_{jk},\quad b_{j0} \sim "
                r"\mathrm{N}(0, \tau_0^{-1}),\quad b_{jk} \sim \mathrm{N}(0, \tau^{-1})",
                "predictors are linear in the shares of topics in the tokens of a document",
            ),
            Equation(
                "Lemma of Polson and Scott (2011)",
                r"e^{-2c \max(0, u)} = \int_0^\infty \frac{1}{\sqrt{2\pi\lambda}} "
                r"\exp\left(-\frac{(\lambda + c u)^2}{2\lambda}\right)\, d\lambda",
                "the factor is a mixture of normal densities of the predictor",
            ),
        ),
        errata=(
            "The paper states a posterior, but no model that has it. Here latents, words and categories have "
            "a joint law, proportional to what the paper multiplies and normalised as a whole.",
            "There is an intercept, and the precisions are drawn.",
            "Of more than two categories, a document's is one against all others, under one set of topics. "
            "Numbers are normal, as in slda; the paper has a loss for them.",
            "Tokens move with the variables of the mixture integrated out.",
            "A response depends on the topics of all tokens of its document together, so that the references "
            "count them in all ways: they take short documents and few topics, which are Dirichlet.",
        ),
        tags=("parametric", "responses"),
    )

    cost: float = option(1.0, small=0.5, benchmark=1.0)
    margin: float = option(1.0, small=0.4, benchmark=1.0)

    @override
    def __post_init__(self):
        self.check_number("cost")
        self.check_number("margin")
        super().__post_init__()

    @override
    def responses(self, corpus: Labelled) -> tuple[Response, ...]:
        hinge = Hinge(self.cost, self.margin)
        found = super().responses(corpus)
        return tuple(each if each.is_number else each._replace(hinge=hinge) for each in found)

    def log_tilt(self, latents: Latents, corpus: Corpus) -> float:
        """Log probability with which `simulate` takes a draw, 0 at most.

        The log of the sum of all factors over all categories that documents could have, less the largest that
        it can be. Responses that documents of `corpus` lack have no part in it, and values play no role.
        """
        known = ~np.isnan(self.values_of(corpus, corpus.n_documents))
        out = 0.0
        for r, response, own, _ in law.parts(self.responses(corpus), self.predictors(latents, corpus)):
            totals = law.log_total(response, own[known[:, r]])
            out += float(np.sum(totals - law.log_largest_total(response)))
        return out

    @override
    def simulate(self, design: Design, rng: np.random.Generator) -> Simulation:
        """See `Model.simulate`: what `lda` and the coefficients' prior draw is taken or rejected as a whole.

        With categories summed out, the density is that of `lda` times `log_tilt`. Given all else, categories
        are independent of one another.

        Raises
        ------
        CorpusError
            Nothing is taken in `MOST_TRIALS` trials, as the design has too many documents.
        """
        total = 0.0
        for _ in range(MOST_TRIALS):
            latents, corpus = LdaFamily.simulate(self, design, rng)
            probability = np.exp(self.log_tilt(latents, corpus))
            if rng.random() < probability:
                return Simulation(latents, self.respond(latents, corpus, rng))
            total += probability
        raise CorpusError(
            f"medlda: simulate: rejection is for few documents; of draws of {len(design.doc_lengths):,} "
            f"one in {MOST_TRIALS / max(total, 1e-300):.1g} is taken, expected one in {MOST_TRIALS:,} or more"
        )
