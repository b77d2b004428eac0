"""Pitman-Yor topics of each group by itself (Sato and Nakagawa 2010)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from ..contract import Card, Equation, Gamma, Hyperparameter
from ..families.pitman_yor.family import DOCUMENTS, PitmanYorFamily
from ..families.pitman_yor.topics import PitmanYor
from ..families.topics import TopicSide
from ..settings import option, setting


@dataclass(frozen=True)
class Pyp(PitmanYorFamily):
    """Several groups of documents, each with topics of its own, whose words follow power laws.

    Latents: ``z`` (N,), ``association`` (N,), ``alpha`` (G,), ``eta``, ``b`` (K,), ``a``. A token that
    heads a table has its own word as association, others -1. Topics of two groups with the same number
    have nothing in common but `b`.

    Parameters
    ----------
    n_topics : int
        K, of each group.
    alpha : float or Gamma
        Dirichlet parameter of a document's proportions, a topic; each group has its own, all under this
        prior.
    topics : PitmanYor
        With a base of each group's own, and no associations.
    """

    card: ClassVar[Card] = Card(
        id="pyp",
        title="Pitman-Yor topic model of each group by itself",
        summary="Topics whose words follow power laws, separately in each group; a baseline.",
        citation=(
            "I. Sato and H. Nakagawa. Topic models with power-law using Pitman-Yor process. ACM SIGKDD "
            "International Conference on Knowledge Discovery and Data Mining, pages 673-682, 2010. As PYP in "
            "C. Chen, W. Buntine, N. Ding, L. Xie and L. Du. Differential topic models. IEEE Transactions on "
            "Pattern Analysis and Machine Intelligence 37(2):230-242, 2015."
        ),
        source="Sato & Nakagawa (2010)",
        bibtex_key="sato2010topic",
        equations=(
            *DOCUMENTS,
            Equation(
                "Section 6.2",
                r"\phi^0_{gk} \sim \mathrm{Dir}_V(\gamma)",
                "base of a group's topic; γ is `eta` here",
            ),
            Equation("Section 6.2", r"\phi_{gk} \sim \mathrm{PYP}(a, b_k, \phi^0_{gk})", "topic in a group"),
        ),
        errata=(
            "Chen et al. do not say what the topics' base is; here each group has a Dirichlet variable. Of "
            "Sato and Nakagawa's model this has the topics, with documents of latent Dirichlet allocation.",
        ),
        tags=("parametric", "several collections", "power law"),
    )
    topic_sides: ClassVar[Mapping[str, TopicSide]] = {"pitman-yor": PitmanYor(base="own")}
    why_only: ClassVar[str] = (
        "it has Pitman-Yor topics with a base of each group's own, and no associations; `lda` takes any"
    )

    n_topics: int = option(10, small=2, benchmark=100)
    alpha: Hyperparameter = setting(Gamma(1.0, 1.0), fixed=0.7, benchmark=0.1)
    topics: TopicSide = PitmanYor(base="own")
