"""Hierarchical Pitman-Yor topics, one a group around a base that all groups share (Chen et al. 2015, TII)."""

from dataclasses import dataclass
from typing import ClassVar

from ..contract import Card, Equation
from ..families.pitman_yor.family import CITATION, DOCUMENTS, PitmanYorFamily


@dataclass(frozen=True)
class Hpyp(PitmanYorFamily):
    """Several groups of documents; each topic looks a little different in each of them.

    Latents: ``z`` (N,), ``association`` (N,), ``alpha`` (G,), ``gamma``, ``b`` (K,), ``a``. A token that
    heads a table has its own word as association, others -1.

    Parameters
    ----------
    n_topics : int
        K.
    alpha : float or Gamma
        Dirichlet parameter of a document's proportions, a topic; each group has its own, all under this
        prior.
    gamma : float or Gamma
        Dirichlet parameter of the base's word distributions, a word.
    b : float or Gamma
        Concentration of a topic: how alike it is in all groups; each has its own, all under this prior. A
        fixed one may be negative, above minus `a`.
    a : float or Beta
        Discount, in [0, 1): how heavy the tails of the topics are.
    """

    card: ClassVar[Card] = Card(
        id="hpyp",
        title="Hierarchical Pitman-Yor topic model of several groups",
        summary="Groups of documents share topics, whose words follow power laws and differ between groups.",
        citation=CITATION,
        source="Chen, Buntine, Ding, Xie & Du (2015)",
        bibtex_key="chen2015differential",
        equations=(
            *DOCUMENTS,
            Equation("Section 4", r"\phi^0_k \sim \mathrm{Dir}_V(\gamma)", "base of a topic"),
            Equation("Section 4", r"\phi_{gk} \sim \mathrm{PYP}(a, b_k, \phi^0_k)", "topic in a group"),
        ),
        tags=("parametric", "several collections", "power law"),
        evidence=("joint", "oracle", "geweke", "sequential", "sbc", "reference"),
    )
    has_versions: ClassVar[bool] = True
