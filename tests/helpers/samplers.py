"""Which samplers every run of the tests compiles, and which only `make validate`."""

import pytest
from bnpzoo.zoo.models import get

IN_FULL = "lda", "hdp"
"""Documents over which all variants of all kinds of topics are compiled."""


def as_parameter(model_id, topics, variant, *values):
    """Parameters of a test that compiles a sampler: heavy, where each side of it is compiled elsewhere.

    Documents over topics of another kind are compiled once, in the first variant. The other variants differ
    from that one in their topics alone, which are compiled over the documents of `IN_FULL`; and compiling
    takes ten to thirty seconds where running takes less than one.
    """
    first = next(iter(get(model_id, topics=topics or None).kernels))
    heavy = topics and model_id not in IN_FULL and variant != first
    return pytest.param(*values, marks=[pytest.mark.heavy] if heavy else [])
