"""Inference: the three back ends behind `sample`, and the draws as a tree."""

from .backends import BACKENDS
from .checkpoint import CheckpointError
from .results import ResultsError, corpus_of, latents_of, load, model_of, save
from .sampling import check, sample

__all__ = [
    "BACKENDS",
    "CheckpointError",
    "ResultsError",
    "check",
    "corpus_of",
    "latents_of",
    "load",
    "model_of",
    "sample",
    "save",
]
