"""Synthetic corpora as the papers made them, with all that a paper leaves open as a named argument."""

from .transfer_continuum import DOMAINS, Continuum, TransferContinuum, TransferProblem, sparse_topics

__all__ = ["DOMAINS", "Continuum", "TransferContinuum", "TransferProblem", "sparse_topics"]
