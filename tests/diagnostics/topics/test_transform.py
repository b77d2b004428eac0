"""Topic proportions of new documents."""

import itertools

import numpy as np
import pytest
from bnpzoo import Corpus
from bnpzoo.diagnostics.topics import transform
from bnpzoo.kernels.toolbox.foldin import draw_counts
from bnpzoo.zoo.corpus import CorpusError
from bnpzoo.zoo.inference import sample
from bnpzoo.zoo.models import get
from bnpzoo.zoo.predictive import FrozenTopics
from samplers import as_plain_python
from scipy.special import gammaln
from scipy.stats import chisquare

ONE = [0] * 8 + [1] * 4


@pytest.fixture
def fit(corpus, fit_of):
    return fit_of(corpus, [[ONE], [ONE]], n_topics=2)


def test_new_documents(fit):
    new = Corpus([0, 1, 2, 3, 3, 4], [0, 2, 5, 5, 6], [*"abcdx"])
    found = transform(fit, new)
    assert (found.mean.idxmax(axis=1) == [0, 1, 0, 0]).all()
    assert found.mean.iat[1, 1] > 0.7
    np.testing.assert_allclose(found.mean.loc[2], 0.5)  # no word, so the prior
    np.testing.assert_allclose(found.mean.loc[3], 0.5)  # a word that the fit does not know
    assert ((found.low < found.mean) & (found.mean < found.high)).to_numpy().all()
    np.testing.assert_allclose(found.mean.sum(axis=1), 1.0)


def test_a_document_is_alone(fit):
    """Neither its place nor what stands beside it changes what comes out."""
    rng = np.random.default_rng(1)
    new = Corpus(rng.integers(5, size=40), np.arange(0, 41, 8), [*"abcde"])
    together = transform(fit, new)
    order = [3, 1, 4]
    alone = transform(fit, new.take(order))
    for a, b in zip(together, alone, strict=True):
        np.testing.assert_array_equal(a.iloc[order], b)


@pytest.mark.parametrize("name", ["gbn", "bgg", "was", "icd"])
@as_plain_python
def test_a_document_is_alone_where_the_law_of_new_ones_is_not_dirichlet(name):
    words = np.random.default_rng(0).integers(6, size=60)
    corpus = Corpus(words, np.arange(0, 61, 6), [*"abcdef"])
    sentences = {"window": 3} if name in ("was", "icd") else {}
    model = get(name, n_topics=3, eta=0.5, **sentences)
    fit = sample(model, corpus, chains=1, tune=5, draws=4, keep=2, seed=1)
    new = Corpus([0, 1, 2, 3], [0, 0, 2, 3, 4], [*"abcx"])
    together, alone = transform(fit, new), transform(fit, new.take(np.array([3, 1])))
    for a, b in zip(together, alone, strict=True):
        np.testing.assert_array_equal(a.iloc[[3, 1]], b)
    np.testing.assert_array_equal(together.mean.loc[0], together.mean.loc[3])  # no word that the fit knows
    np.testing.assert_allclose(together.mean.sum(axis=1), 1.0)


def test_no_documents(fit):
    assert transform(fit, Corpus([], [0], [*"abcde"])).mean.shape == (0, 2)


def test_what_cannot_be_transformed(fit, corpus):
    with pytest.raises(ValueError, match="expected sweeps >= 1"):
        transform(fit, corpus, sweeps=0)
    with pytest.raises(CorpusError, match="expected at least one word"):
        transform(fit, Corpus([], [0]))


@pytest.mark.parametrize("inclusion", [None, np.array([[0.3, 1.0, 0.8]])])
def test_counts_have_the_law_of_their_enumeration(inclusion):
    """One draw from each of many runs, so that they are independent; false alarms: 1e-5."""
    prior = np.array([[2.5, 0.4, 1.1]])
    words = np.array([[0.5, 0.3, 0.2], [0.1, 0.6, 0.3], [0.3, 0.3, 0.4]])
    frozen, document, runs = FrozenTopics(words, prior, inclusion), np.array([0, 1, 1]), 4000
    topics = np.array(list(itertools.product(range(3), repeat=3)))
    counts = np.array([np.bincount(z, minlength=3) for z in topics])
    on = np.ones(3) if inclusion is None else inclusion[0]
    of_on = on * np.exp2(-prior[0]) * np.exp(gammaln(prior[0] + counts) - gammaln(prior[0]))
    law = np.prod(np.where(counts > 0, of_on, of_on + 1.0 - on), axis=1)
    law *= words[topics, document].prod(axis=1)
    cells, cell = np.unique(counts, axis=0, return_inverse=True)
    expected = np.bincount(cell, law / law.sum()) * runs
    rng = np.random.default_rng(2)
    drawn = [
        frozen.draw_counts(document, 0, words.T.copy(), rng, burn_in=20, sweeps=1)[0] for _ in range(runs)
    ]
    seen = [np.sum(np.all(np.array(drawn) == own, axis=1)) for own in cells]
    assert chisquare(seen, expected).pvalue > 1e-5


@pytest.mark.compiled
def test_plain_python_gives_the_same_bits():
    arguments = np.array([0, 1, 1]), np.array([[0.5, 0.2], [0.5, 0.8]]), np.array([0.5, 1.0])
    drawn = []
    for function in (draw_counts, draw_counts.py_func):
        counts = np.empty((4, 2))
        function(np.random.default_rng(3), *arguments, np.array([0.1, 1.0]), 2, counts)
        drawn.append(counts)
    np.testing.assert_array_equal(*drawn)
