"""Inference: the three back ends behind `sample`, and the draws as a tree."""

from .backends import BACKENDS
from .checkpoint import CheckpointError
from .interrupt import held_signals
from .results import ResultsError, corpus_of, expected_size, latents_of, load, model_of, rescue, save
from .sampling import check, sample

__all__ = [
    "BACKENDS",
    "CheckpointError",
    "ResultsError",
    "check",
    "corpus_of",
    "expected_size",
    "held_signals",
    "latents_of",
    "load",
    "model_of",
    "rescue",
    "sample",
    "save",
]
