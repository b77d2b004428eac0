"""Inference: the three back ends behind `sample`, and the draws as a tree."""

from .checkpoint import CheckpointError
from .fits import load, save
from .results import ResultsError, corpus_of, latents_of, model_of
from .sampling import BACKENDS, check, sample

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
