"""Seeded topics: the law that eta moves by, and what the paranoid mode sees."""

import math

import numpy as np
import pytest
from bnpzoo.diagnostics.laboratory.patched import PLAIN_PYTHON, load_room
from bnpzoo.kernels.lda import seeded as compiled
from bnpzoo.kernels.toolbox import sides as compiled_sides
from bnpzoo.zoo.corpus import Corpus
from bnpzoo.zoo.models import get
from scipy import stats

seeded, sides = map(load_room(PLAIN_PYTHON), (compiled, compiled_sides))
WORDS, DOC_PTR, Z = np.array([0, 1, 1, 3, 2, 0, 3]), np.array([0, 4, 7]), np.array([0, 0, 2, 1, 1, 0, 2])
SEEDS, SEED_TOKENS = np.array([[0, 0], [0, 1], [2, 1]]), 5


def topics(eta_prior=(0.0, 0.0)):
    tokens = sides.tokens_of(WORDS, DOC_PTR, np.zeros(2), Z)
    return tokens, seeded.seeded_topics(tokens, 4, 3, 3, SEEDS, SEED_TOKENS, 0.7, eta_prior)


def test_eta_moves_by_the_likelihood_of_the_corpus_given_the_seeds(monkeypatch):
    """The target against the model's density, which does not know of tokens that were there before."""
    seen = []

    def note(rng, target, x, width):
        seen.append(target)
        return x

    monkeypatch.setattr(seeded, "slice_sample", note)
    seeded.move_topics(None, topics((1.5, 0.4))[1])
    (target,), at = seen, np.log([1e-3, 0.2, 3.0, 500.0])
    model = get("lda", topics="seeded", n_topics=3, seeds=((0, 1), (), (1,)), seed_tokens=SEED_TOKENS)
    corpus = Corpus(WORDS, DOC_PTR, n_words=4)

    def direct(x):
        latents = {"z": Z, "eta": np.array(math.exp(x))}
        prior = stats.gamma.logpdf(math.exp(x), 1.5, scale=1.0 / 0.4) + x
        return prior + model.topics.log_likelihood(latents, corpus)

    found = np.diff([seeded.log_density(target, x) for x in at])
    np.testing.assert_allclose(found, np.diff([direct(x) for x in at]), rtol=1e-9)
    assert seeded.log_density(target, -800.0) == -math.inf


@pytest.mark.parametrize("spoil", ["total", "listed_count", "n_listed"])
def test_a_statistic_that_is_off_is_seen(spoil):
    tokens, side = topics()
    sides.check_side(side, tokens, 3)
    getattr(side, spoil)[0] += 1
    with pytest.raises(AssertionError):
        sides.check_side(side, tokens, 3)


def test_a_seed_is_counted_as_so_many_tokens():
    side = topics()[1]
    np.testing.assert_array_equal(side.total, [3 + 10, 2, 2 + 5])
    np.testing.assert_array_equal(seeded.seed_totals(side), [10, 0, 5])
