"""Fits in the forms of other programs."""

from .ground_truth import ground_truth
from .lda_objects import to_gensim, to_sklearn
from .posteriordb import write_posteriordb
from .pyldavis import to_pyldavis

__all__ = ["ground_truth", "to_gensim", "to_pyldavis", "to_sklearn", "write_posteriordb"]
