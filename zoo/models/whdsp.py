"""The hierarchical Dirichlet scaling process with labels that may be numbers (Kim and Oh)."""

from dataclasses import dataclass
from typing import ClassVar

from ..contract import Card, Equation, Gamma, Hyperparameter
from ..families.scaling.card import ERRATA, equations
from ..families.scaling.family import ScalingFamily
from ..families.scaling.laws import Normal, ScaleLaw, range_of_scales
from ..settings import option, setting


@dataclass(frozen=True)
class Whdsp(ScalingFamily):
    """As many topics as the corpus needs; ratings and other labels make each of them more or less likely.

    Latents: those of `hdsp`; ``log_scale`` is what a label of value one adds to the log scale of a topic.

    Parameters
    ----------
    gamma : float or Gamma
        Concentration of the root: how many topics.
    alpha : float or Gamma
        Concentration of the documents: how many of them in a document.
    topics : Dirichlet
        With the Dirichlet parameter ``eta`` of a topic's word distribution, a word.
    n_topics : int
        Number of topics, the last stick being all that is left; no limit at 0.
    labels : str
        Covariates that are labels, with commas between them, each with ``:category`` or ``:number`` after it
        where that is not as it seems. Numbers are taken in standard deviations from their mean over the
        documents. By default all numbers that are not whole, and whatever `hdsp` would take; "none" for none.
    missing : str
        As in `hdsp`; numbers are never missing.
    w_variance : float or Gamma
        Of the normal law of w.
    """

    card: ClassVar[Card] = Card(
        id="whdsp",
        title="Hierarchical Dirichlet scaling process with numeric labels",
        summary="As many topics as the corpus needs; numbers such as ratings make them more or less likely.",
        citation="D. Kim and A. Oh. Hierarchical Dirichlet scaling process.",
        source="Kim & Oh",
        bibtex_key="kim_scaling",
        equations=equations(
            Equation(
                "Equation 19",
                r"s_{dk} = \exp\left(-\sum_j w_{kj} r_{dj}\right),\quad w_{kj} \sim \mathrm{N}(0, \sigma)",
                "scale of a topic in a document whose labels have the values r; sigma is the variance",
            )
        ),
        errata=(
            *ERRATA,
            "Numbers are standardised, which the paper does not say: else what a rating scales would depend "
            "on its unit and on where its zero is.",
            "The paper's w is minus the log scale here: a larger log scale makes a topic more likely.",
        ),
        tags=("nonparametric", "labels", "numeric covariates"),
    )

    has_numbers: ClassVar[bool] = True
    law: ClassVar[type[ScaleLaw]] = Normal

    labels: str = option("", small="group, group:number", benchmark="")
    w_variance: Hyperparameter = setting(
        1.0, range=range_of_scales(1e-6, 1000.0), fixed=2.5, prior=Gamma(4.0, 3.0), benchmark=1.0
    )
