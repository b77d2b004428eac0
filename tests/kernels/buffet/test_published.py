"""The published sampler of the sparse transfer topic model: weights of topics, by equations A.11 to A.14."""

from unittest.mock import patch

import numpy as np
import pytest
from bnpzoo.diagnostics.laboratory.patched import PLAIN_PYTHON, Change, load_room
from bnpzoo.kernels.buffet import published
from bnpzoo.zoo.corpus import Corpus
from bnpzoo.zoo.models import get

HYPER = {"alpha": 1.5, "epsilon": 0.6, "eta": 0.3, "a1": 2.0, "a2": 0.5}
CORPUS = Corpus([0, 1, 2, 1, 1, 0, 2], [0, 4, 5, 7], n_words=3, group=[0, 0, 1])
Z = np.array([0, 1, 0, 0, 1, 2, 2])  # the first task has no token of topic 2
WEIGHT, SHAPE, STICK = np.array([1.7, 0.4]), np.array([1.1, 0.6, 2.5]), np.array([0.5, 0.2, 0.3])
TOKEN, OTHERS_IN_DOCUMENT = 2, 3


def weights_of_the_sampler(*changes):
    """Normalised weights of all topics, and last of a new one, for `TOKEN` when its turn comes."""
    model, room = get("sparse_transfer", **HYPER), load_room(*changes, PLAIN_PYTHON)
    log_weight = np.log([[*WEIGHT, 1.0], [1.0, 1.0, 2.2]])
    log_weight[[0, 1, 1], [2, 0, 1]] = -np.inf
    latents = {"z": Z, "log_weight": log_weight, "shape": SHAPE, "alpha": 1.5, "eta": 0.3}
    state, seen = model.kernels_in(room)["published"].load(latents, CORPUS, model), []
    state.masks.stick[:3] = STICK

    def stay(rng, scores, n):
        seen.append(scores[:n] / scores[:n].sum())
        return Z[len(seen) - 1]

    with patch.object(room(published), "categorical", stay):
        room(published).published_pass(np.random.default_rng(0), state, 0, [0])
    return seen[TOKEN]


def weights_by_the_formulas():
    in_document, of_word, size = np.array([2, 1]), np.array([0, 0, 1]), np.array([2, 2, 2])
    new = HYPER["alpha"] * HYPER["epsilon"] * HYPER["a1"] * HYPER["a2"]
    off = STICK[2] * SHAPE[2]
    everything = OTHERS_IN_DOCUMENT + WEIGHT.sum() + off + new
    of_topic = [*(in_document + WEIGHT) / everything, off / (everything - off + SHAPE[2])]
    of_topic *= (of_word + HYPER["eta"]) / (size + 3 * HYPER["eta"])
    out = np.append(of_topic, new / everything / 3)
    return out / out.sum()


def test_topics_of_a_token_have_the_published_weights():
    assert weights_of_the_sampler() == pytest.approx(weights_by_the_formulas(), rel=1e-12)


@pytest.mark.parametrize(
    ("find", "replace"),
    [
        ("float(length - 1)", "float(1)"),
        ("prior.alpha[0] * prior.epsilon * prior.a1", "prior.alpha[0] * prior.a1"),
        ("everything - scores[k] + masks.shape[k]", "everything + masks.shape[k]"),
    ],
)
def test_other_weights_are_told(find, replace):
    found = weights_of_the_sampler(Change("buffet/published.py", find, replace))
    assert np.abs(found - weights_by_the_formulas()).max() > 1e-3
