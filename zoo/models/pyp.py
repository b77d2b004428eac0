"""Pitman-Yor topics of each group by itself (Sato and Nakagawa 2010)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..contract import Card, Equation
from ..families.pitman_yor.family import DOCUMENTS, PitmanYorFamily


@dataclass(frozen=True)
class Pyp(PitmanYorFamily):
    """Several groups of documents, each with topics of its own, whose words follow power laws.

    Latents: ``z`` (N,), ``association`` (N,), ``alpha`` (G,), ``gamma``, ``b`` (K,), ``a``. A token that
    heads a table has its own word as association, others -1. Topics of two groups with the same number
    have nothing in common but `b`.

    Parameters
    ----------
    n_topics : int
        K, of each group.
    alpha : float or Gamma
        Dirichlet parameter of a document's proportions, a topic; each group has its own, all under this
        prior.
    gamma : float or Gamma
        Dirichlet parameter of the bases' word distributions, a word.
    b : float or Gamma
        Concentration: how close topics are to their bases; each number of a topic has its own, all under this
        prior. A fixed one may be negative, above minus `a`.
    a : float or Beta
        Discount, in [0, 1): how heavy the tails of the topics are.
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
            Equation("Section 6.2", r"\phi^0_{gk} \sim \mathrm{Dir}_V(\gamma)", "base of a group's topic"),
            Equation("Section 6.2", r"\phi_{gk} \sim \mathrm{PYP}(a, b_k, \phi^0_{gk})", "topic in a group"),
        ),
        errata=(
            "Chen et al. do not say what the topics' base is; here each group has a Dirichlet variable. Of "
            "Sato and Nakagawa's model this has the topics, with documents of latent Dirichlet allocation.",
        ),
        tags=("parametric", "several collections", "power law"),
        evidence=("joint", "oracle", "geweke", "sequential", "sbc", "reference"),
    )

    def base_of_group(self, n_groups: int) -> np.ndarray:
        """Every group has a base of its own."""
        return np.arange(n_groups)
