"""Dirichlet parameters of the words of topics, whichever side has them."""

from .dirichlet import DirichletTopics
from .jit import chosen_by_type


@chosen_by_type(0)
def prior_shapes(topics, word, out):
    """Fill `out` (K,) with the Dirichlet parameters that topics have for a word before there are tokens."""


@prior_shapes.implement(DirichletTopics)
def _prior_shapes(topics, word, out):
    out[:] = topics.eta[0]
