"""The hierarchical Dirichlet scaling process with labels (Kim and Oh)."""

from dataclasses import dataclass
from typing import ClassVar

from ..contract import Card, Equation, Gamma, Hyperparameter
from ..families.scaling.card import ERRATA, equations
from ..families.scaling.family import ScalingFamily
from ..families.scaling.laws import LogInverseGamma, ScaleLaw, range_of_scales
from ..settings import setting


@dataclass(frozen=True)
class Hdsp(ScalingFamily):
    """As many topics as the corpus needs; each label makes some of them more likely in its documents.

    Latents: ``z`` (N,); ``root`` (K + 1,), the last entry being the weight of all topics that are not
    represented, less than 1e-12; ``log_scale`` (J, K), log w of each label and topic; ``log_u`` (D,), of the
    auxiliary variable of each document; ``alpha``, ``gamma``, ``eta``. Some of the K topics have no tokens.

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
        Covariates that are labels, with commas between them: sets of labels, or categories. By default all
        that hold named categories or sets, and the groups; "none" for none.
    missing : str
        Category that stands for one that is not known, which is then sampled; in a set, that any label beside
        those of the set may be there. By default all is known, and a label that a document lacks is absent.
    w_shape, w_rate : float or Gamma
        Of the inverse gamma law of w.
    """

    card: ClassVar[Card] = Card(
        id="hdsp",
        title="Hierarchical Dirichlet scaling process",
        summary="As many topics as the corpus needs; each label makes some of them more likely.",
        citation="D. Kim and A. Oh. Hierarchical Dirichlet scaling process.",
        source="Kim & Oh",
        bibtex_key="kim_scaling",
        equations=equations(
            Equation(
                "Equation 15",
                r"s_{dk} = \prod_j w_{kj}^{r_{dj}},\quad w_{kj} \sim \mathrm{InvGamma}(a_w, b_w)",
                "scale of a topic in a document that has the labels with r = 1",
            )
        ),
        errata=ERRATA,
        tags=("nonparametric", "labels"),
    )

    law: ClassVar[type[ScaleLaw]] = LogInverseGamma

    w_shape: Hyperparameter = setting(
        3.0, range=range_of_scales(0.1, 1e6), fixed=1.2, prior=Gamma(5.0, 3.0), benchmark=3.0
    )
    w_rate: Hyperparameter = setting(
        2.0, range=range_of_scales(1e-6, 1e6), fixed=0.8, prior=Gamma(4.0, 5.0), benchmark=2.0
    )
