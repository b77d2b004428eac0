"""Latent Dirichlet allocation: collapsed Gibbs, exact."""

import math
from typing import NamedTuple

import numpy as np

from .jit import kernel
from .random import crt, log_beta_variate
from .state import DirichletTopics, Scratch, Tokens, open_topic
from .token_pass import dense_pass, sparse_pass


class FiniteDocuments(NamedTuple):
    prior: np.ndarray
    rest: np.ndarray


@open_topic.implement(FiniteDocuments)
def _no_topic_to_open(rng, documents, topic, group):
    pass


class LdaState(NamedTuple):
    tokens: Tokens
    documents: FiniteDocuments
    topics: DirichletTopics
    scratch: Scratch

@kernel
def sweep(rng, state):
    return sparse_pass(rng, state.tokens, state.documents, state.topics, state.scratch)
