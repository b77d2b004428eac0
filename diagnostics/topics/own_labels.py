"""The labels that topics belong to, where each label has topics of its own."""

import numpy as np

from ...zoo.families.labels.own_topics import OwnTopicsFamily
from .matching import MatchedTopics

COMMON = "(all documents)"
"""What stands for a label where all documents may have a topic."""


def own_labels(matched: MatchedTopics) -> list[str] | None:
    """Label of each topic, in most draws; None where topics belong to none.

    Parameters
    ----------
    matched : MatchedTopics
    """
    model, corpus = matched.model, matched.corpus
    if not isinstance(model, OwnTopicsFamily):
        return None
    names = [column.name for column in model.columns(corpus)]
    n_alphas = model.n_alphas(corpus)
    names += [COMMON] * (n_alphas - len(names))
    label_of_topic = model.label_of_topic(n_alphas)
    votes = np.zeros((matched.n_topics, n_alphas), np.int64)
    for numbers in matched.labels:
        own = np.flatnonzero(numbers >= 0)
        np.add.at(votes, (numbers[own], label_of_topic[own]), 1)
    return [names[label] for label in votes.argmax(axis=1)]
