import numpy as np
import pytest
import xarray as xr
from bnpzoo.diagnostics.topics import topics_of


@pytest.fixture
def tree():
    """One chain of two kept draws of five tokens; at the last one topic 1 is the larger, topic 0 is empty."""
    return xr.DataTree.from_dict(
        {
            "latents": xr.Dataset({"z": (("chain", "kept", "token"), [[[0, 0, 0, 0, 0], [2, 1, 1, 1, 2]]])}),
            "observed_data": xr.Dataset({"words": ("token", [0, 1, 2, 1, 0])}),
            "constant_data": xr.Dataset(
                {"doc_ptr": ("boundary", [0, 5]), "vocabulary": ("word", np.array(["a", "b", "c"]))}
            ),
        }
    )


def test_topics_of_the_last_draw_largest_first(tree):
    topics = topics_of(tree, n_words=2)
    assert [(t.n_tokens, t.share, t.words) for t in topics] == [(3, 0.6, ("b", "c")), (2, 0.4, ("a",))]
    assert [t.word_ids.tolist() for t in topics] == [[1, 2], [0, 1]]


def test_a_chain_that_there_is_not(tree):
    with pytest.raises(ValueError, match="chain 3"):
        topics_of(tree, chain=3)
