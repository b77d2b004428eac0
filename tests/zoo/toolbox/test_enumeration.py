"""Partitions of few items, each once."""

import numpy as np
import pytest
from bnpzoo.zoo.toolbox.enumeration import restricted_growth_strings

STIRLING = np.array([0, 1, 15, 25, 10, 1])
"""Partitions of five items into so many blocks."""


@pytest.mark.parametrize("most", [None, 1, 2, 3, 5, 9])
def test_partitions_into_few_blocks(most):
    found = list(restricted_growth_strings(5, most))
    assert len({tuple(labels) for labels in found}) == len(found)
    for labels in found:
        blocks, firsts = np.unique(labels, return_index=True)
        assert np.array_equal(blocks, np.arange(blocks.size))
        assert np.all(np.diff(firsts) > 0)
    counts = np.bincount([labels.max() + 1 for labels in found], minlength=6)
    assert np.array_equal(counts, np.where(np.arange(6) <= (most or 5), STIRLING, 0))


def test_no_items_have_one_partition():
    (labels,) = restricted_growth_strings(0)
    assert labels.size == 0
