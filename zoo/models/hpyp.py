"""Hierarchical Pitman-Yor topics, one a group around a base that all groups share (Chen et al. 2015, TII)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from ..contract import Card, Equation, Gamma, Hyperparameter
from ..families.pitman_yor.family import CITATION, DOCUMENTS, PitmanYorFamily
from ..families.pitman_yor.topics import PitmanYor
from ..families.topics import TopicSide
from ..settings import option, setting


@dataclass(frozen=True)
class Hpyp(PitmanYorFamily):
    """Several groups of documents; each topic looks a little different in each of them.

    Latents: ``z`` (N,), ``association`` (N,), ``alpha`` (G,), ``eta``, ``b`` (K,), ``a``. A token that
    heads a table has its own word as association, others -1.

    Parameters
    ----------
    n_topics : int
        K.
    alpha : float or Gamma
        Dirichlet parameter of a document's proportions, a topic; each group has its own, all under this
        prior.
    topics : PitmanYor
        With one base for all groups, and no associations.
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
            Equation(
                "Section 4", r"\phi^0_k \sim \mathrm{Dir}_V(\gamma)", "base of a topic; γ is `eta` here"
            ),
            Equation("Section 4", r"\phi_{gk} \sim \mathrm{PYP}(a, b_k, \phi^0_k)", "topic in a group"),
        ),
        tags=("parametric", "several collections", "power law"),
    )
    topic_sides: ClassVar[Mapping[str, TopicSide]] = {"pitman-yor": PitmanYor()}
    why_only: ClassVar[str] = (
        "it has Pitman-Yor topics with one base for all groups, and no associations; `lda` takes any"
    )

    n_topics: int = option(10, small=2, benchmark=100)
    alpha: Hyperparameter = setting(Gamma(1.0, 1.0), fixed=0.7, benchmark=0.1)
    topics: TopicSide = PitmanYor()
