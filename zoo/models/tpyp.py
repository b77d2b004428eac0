"""The differential topic model: transformed Pitman-Yor processes (Chen, Buntine, Ding, Xie and Du 2015)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from ..contract import Card, Equation, Gamma, Hyperparameter
from ..families.pitman_yor.family import CITATION, DOCUMENTS, PitmanYorFamily
from ..families.pitman_yor.topics import PitmanYor
from ..families.topics import TopicSide
from ..settings import option, setting


@dataclass(frozen=True)
class Tpyp(PitmanYorFamily):
    """Several groups of documents with words of their own for what they share.

    A word of a shared topic becomes one of the words that it is associated with in the group; the corpus
    carries the associations.

    Latents: ``z`` (N,), ``association`` (N,), ``alpha`` (G,), ``eta``, ``b`` (K,), ``a``. A token that
    heads a table has the word of the shared topic that its word was as association, others -1.

    Parameters
    ----------
    n_topics : int
        K.
    alpha : float or Gamma
        Dirichlet parameter of a document's proportions, a topic; each group has its own, all under this
        prior.
    topics : PitmanYor
        With one base for all groups, and the corpus' associations.
    """

    card: ClassVar[Card] = Card(
        id="tpyp",
        title="Differential topic model (transformed Pitman-Yor process)",
        summary="Groups of documents share topics, with words of their own for them; power laws.",
        citation=CITATION,
        source="Chen, Buntine, Ding, Xie & Du (2015)",
        bibtex_key="chen2015differential",
        equations=(
            *DOCUMENTS,
            Equation("Section 4", r"\phi^0_k \sim \mathrm{Dir}_V(\gamma)", "shared topic; γ is `eta` here"),
            Equation(
                "Section 4",
                r"\phi_{gk} \sim \mathrm{PYP}(a, b_k, P^g \phi^0_k)",
                "topic in a group, P^g with columns that sum to 1",
            ),
            Equation(
                "eq. 6",
                r"\prod_k \left\{ \frac{\Gamma(V\gamma)}{\Gamma(V\gamma + Q_k)} "
                r"\prod_v \frac{\Gamma(\gamma + q_{kv})}{\Gamma(\gamma)} "
                r"\prod_g \frac{(b_k|a)_{T_{gk}}}{(b_k)_{M_{gk}}} "
                r"\prod_w S^{m_{gkw}}_{t_{gkw},a} \binom{m_{gkw}}{t_{gkw}}^{-1} \prod_v p_{wv}^{q_{gkwv}} "
                r"\right\}",
                "words, heads of tables and their dishes, given topics of the tokens",
            ),
        ),
        errata=(
            "Eq. 6 lacks the normaliser Γ(Vγ + Q_k) below; its probabilities sum to 13.9 in place of 1 on a "
            "corpus of eight tokens. Algorithm 2 has it.",
            "Algorithm 2, a new table: the ratio of Stirling numbers is S^{m+1}_{t+1} / S^m_t.",
            "Algorithm 1 may take the head of a word's only table away while others sit at it, which has no "
            "place in the model. Variant `lock` leaves such a token where it is. The default never takes it "
            "for the head; then tokens join an only table with the full weight S^{m+1}_1 / S^m_1, without "
            "the factor (m - t + 1) / (m + 1).",
            "The matrices of Section 6.2.2 have rows of equal entries; the columns must sum to 1.",
            "Section 5.1: the density of b is not log-concave, as adaptive rejection sampling needs it to "
            "be, and under a flat prior not proper. Here it has a Gamma prior and slice moves.",
        ),
        tags=("parametric", "several collections", "power law"),
    )
    topic_sides: ClassVar[Mapping[str, TopicSide]] = {"pitman-yor": PitmanYor(transformed=True)}
    why_only: ClassVar[str] = (
        "it has Pitman-Yor topics with one base for all groups, and the corpus' associations; `lda` takes any"
    )

    n_topics: int = option(10, small=2, benchmark=100)
    alpha: Hyperparameter = setting(Gamma(1.0, 1.0), fixed=0.7, benchmark=0.1)
    topics: TopicSide = PitmanYor(transformed=True)
