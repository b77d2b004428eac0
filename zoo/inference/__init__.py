"""Inference: the three back ends behind `sample`, and the draws as a tree."""

from .backends import BACKENDS
from .chain import NotFiniteError
from .checkpoint import CheckpointError
from .cluster import ClusterError, check_address, cluster_at
from .cooling import check_cooling, cool
from .fits import expected_size, load, rescue, save
from .growth import check_growth, grow
from .interrupt import held_signals, interrupted_by_any
from .own import as_fit
from .results import ResultsError, corpus_of, latents_of, model_of
from .sampling import check, sample
from .streamed import stream

__all__ = [
    "BACKENDS",
    "CheckpointError",
    "ClusterError",
    "NotFiniteError",
    "ResultsError",
    "as_fit",
    "check",
    "check_address",
    "check_cooling",
    "check_growth",
    "cluster_at",
    "cool",
    "corpus_of",
    "expected_size",
    "grow",
    "held_signals",
    "interrupted_by_any",
    "latents_of",
    "load",
    "model_of",
    "rescue",
    "sample",
    "save",
    "stream",
]
