"""``bnpzoo experiment``: experiments of the papers, done again; a file a paper."""

from . import belief_network, differential, scaling, transfer, weight_agnostic
from .options import experiment

__all__ = ["belief_network", "differential", "experiment", "scaling", "transfer", "weight_agnostic"]
