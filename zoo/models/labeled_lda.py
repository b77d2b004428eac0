"""Labeled LDA (Ramage, Hall, Nallapati and Manning 2009)."""

from dataclasses import dataclass
from typing import ClassVar

from ..contract import Card, Gamma, Hyperparameter
from ..families.labels.own_topics import OwnTopicsFamily, equations
from ..families.topics import Dirichlet, TopicSide
from ..settings import option, setting


@dataclass(frozen=True)
class LabeledLda(OwnTopicsFamily):
    """Each label is a topic, and a document mixes the topics of its labels.

    Latents: ``z`` (N,), the number of a label; ``alpha``, of each label, and last of the common topics; those
    of the topics, such as ``eta``.

    Parameters
    ----------
    alpha : float or Gamma
        Dirichlet parameter of a topic in a document; each label has its own, all under this prior.
    topics : TopicSide
        `Dirichlet`, `PitmanYor` or `BeliefNetwork`, with hyperparameters of their own.
    labels : str
        Covariates that are labels, with commas between them: sets of labels, or categories. By default all
        that hold named categories or sets, and the groups.
    common : int
        Topics that every document may have besides.
    """

    card: ClassVar[Card] = Card(
        id="labeled_lda",
        title="Labeled LDA",
        summary="Each label is a topic; a document mixes the topics of its labels, and no others.",
        citation=(
            "D. Ramage, D. Hall, R. Nallapati and C. D. Manning. Labeled LDA: A supervised topic model for "
            "credit attribution in multi-labeled corpora. EMNLP 2009, 248-256."
        ),
        source="Ramage, Hall, Nallapati & Manning (2009)",
        bibtex_key="ramage2009labeled",
        equations=equations(
            "Section 3",
            r"\theta_d \sim \mathrm{Dir}(\alpha_j : j \in \Lambda_d)",
            "proportions of a document over its labels, the set Lambda_d",
        ),
        errata=(
            "The paper draws the labels of documents too; that says nothing of topics, and is left out.",
            "The paper's alpha is one number. Here each label has its own where alpha is sampled, so that a "
            "label can be a small part of most documents that have it.",
            "A document without labels may have every topic: its labels are not known. The paper has none.",
        ),
        tags=("parametric", "labels"),
    )

    alpha: Hyperparameter = setting(Gamma(1.0, 1.0), fixed=0.7, benchmark=0.1)
    topics: TopicSide = Dirichlet()
    labels: str = ""
    common: int = option(0, small=1, benchmark=4)
