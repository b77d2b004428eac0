"""Synthetic corpora as the papers made them, with all that a paper leaves open as a named argument."""

from .subtle_topics import SubtleProblem, SubtleTopics
from .transfer_continuum import DOMAINS, Continuum, TransferContinuum, TransferProblem, sparse_topics

__all__ = [
    "DOMAINS",
    "Continuum",
    "SubtleProblem",
    "SubtleTopics",
    "TransferContinuum",
    "TransferProblem",
    "sparse_topics",
]
