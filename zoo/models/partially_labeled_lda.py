"""Partially labeled Dirichlet allocation (Ramage, Manning and Dumais 2011)."""

from dataclasses import dataclass
from typing import ClassVar, override

from ..contract import Card, Gamma, Hyperparameter
from ..families.labels.own_topics import OwnTopicsFamily, equations
from ..families.lda.family import MOST_TOPICS
from ..families.topics import Dirichlet, TopicSide
from ..settings import option, setting


@dataclass(frozen=True)
class PartiallyLabeledLda(OwnTopicsFamily):
    """Each label has some topics, and a document mixes those of its labels with some that all documents have.

    Topic ``i`` of label ``j`` has number ``j * topics_per_label + i``; the common ones come last.

    Latents: ``z`` (N,); ``alpha``, of each label, and last of the common topics; those of the topics, such as
    ``eta``.

    Parameters
    ----------
    alpha : float or Gamma
        Dirichlet parameter of a topic in a document; each label has its own, all under this prior.
    topics : TopicSide
        `Dirichlet`, `PitmanYor` or `BeliefNetwork`, with hyperparameters of their own.
    labels : str
        Covariates that are labels, with commas between them: sets of labels, or categories. By default all
        that hold named categories or sets, and the groups.
    topics_per_label : int
    common : int
        Topics that every document may have besides.
    """

    card: ClassVar[Card] = Card(
        id="partially_labeled_lda",
        title="Partially labeled Dirichlet allocation",
        summary="Each label has topics of its own; a document mixes those of its labels with common ones.",
        citation=(
            "D. Ramage, C. D. Manning and S. Dumais. Partially labeled topic models for interpretable text "
            "mining. KDD 2011, 457-465."
        ),
        source="Ramage, Manning & Dumais (2011)",
        bibtex_key="ramage2011partially",
        equations=equations(
            "Section 3",
            r"\theta_d \sim \mathrm{Dir}(\alpha_{j(k)} : j(k) \in \Lambda_d \cup \{0\})",
            "proportions of a document over the topics k of its labels, and the common ones, of label 0",
        ),
        errata=(
            "A document's mix of labels, and its mix of topics within each, are one Dirichlet here: the same "
            "as a Dirichlet over labels, its parameters sums over their topics, and one within each.",
            "Each label has an alpha of its own where alpha is sampled.",
            "A document without labels may have every topic: its labels are not known.",
        ),
        tags=("parametric", "labels"),
    )

    alpha: Hyperparameter = setting(Gamma(1.0, 1.0), fixed=0.7, benchmark=0.1)
    topics: TopicSide = Dirichlet()
    labels: str = ""
    topics_per_label: int = option(5, small=2, benchmark=12)
    common: int = option(5, small=1, benchmark=4)

    def __post_init__(self):
        self.check_whole("topics_per_label", 1, MOST_TOPICS)
        super().__post_init__()

    @property
    @override
    def per_label(self) -> int:
        return self.topics_per_label
