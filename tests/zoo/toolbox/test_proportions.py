"""Topic proportions of a fit's own documents: what is drawn has the law that is told."""

import numpy as np
import pytest
from bnpzoo import get, sample
from bnpzoo.diagnostics.topics import documents
from bnpzoo.zoo.corpus import Corpus
from bnpzoo.zoo.inference import load, save
from bnpzoo.zoo.toolbox.proportions import DirichletProportions, MixedProportions, NormalisedRates
from samplers import as_plain_python
from scipy.integrate import quad
from scipy.special import beta, digamma

N = 20_000
CORPUS = Corpus(np.zeros(7, int), [0, 4, 4, 7], ["a"])
Z = np.array([0, 0, 1, 0, 2, 1, 1])
COUNTS = np.array([[3, 1, 0], [0, 0, 0], [0, 2, 1]])
HERE = slice(0, 3)


def agree(drawn, expected):
    """Whether means over draws, of which there are N, are as expected: within 5 standard errors."""
    error = np.maximum(drawn.std(axis=0) / np.sqrt(N), 1e-12)
    return np.all(np.abs(drawn.mean(axis=0) - expected) < 5.0 * error)


def test_dirichlet_proportions():
    prior = np.array([[0.5, 1.0, 0.2], [2.0, 0.1, 0.0]])
    law = DirichletProportions(Z, CORPUS, prior, np.array([0, 1, 1]))
    expected = np.array([[3.5, 2.0, 0.2], [2.0, 0.1, 0.0], [2.0, 2.1, 1.0]])
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(law.mean(HERE), expected)
    np.testing.assert_allclose(law.mean(slice(2, 3)), expected[2:])
    drawn = law.draw(HERE, N, np.random.default_rng(0))
    assert drawn.shape == (N, 3, 3)
    assert agree(drawn, expected)
    assert not agree(drawn, expected[[0, 1, 1]])


def test_topics_that_may_be_off():
    """One without a token, of weight r, is on with odds ``pi 2**-r`` to ``1 - pi``."""
    r, inclusion = np.array([[0.5, 1.0, 0.7]]), np.array([[0.3, 0.6, 1.0]])
    law = DirichletProportions(Z, CORPUS, r, np.zeros(3, int), inclusion)
    on = inclusion * 2.0**-r
    on /= on + 1.0 - inclusion
    expected = np.where(COUNTS > 0, r, r * on) + COUNTS
    np.testing.assert_allclose(law.mean(HERE), expected / expected.sum(axis=1, keepdims=True))
    drawn = law.draw(HERE, N, np.random.default_rng(1))
    assert agree((drawn[:, 1, :2] > 0.0), on[0, :2])
    assert np.all(drawn[:, 0, :2] > 0.0)


def test_a_document_without_any_topic_has_that_of_its_first_token():
    """Proportions were not a number wherever all topics were off, and so were the ends of intervals."""
    r, inclusion = np.array([[0.5, 2.0]]), np.array([[0.3, 0.6]])
    law = DirichletProportions(Z[:0], Corpus([], [0, 0], ["a"]), r, np.zeros(1, int), inclusion)
    on = inclusion[0] * 2.0 ** -r[0]
    on /= on + 1.0 - inclusion[0]
    first = on * r[0] / np.sum(on * r[0])
    one, both, none = on * (1.0 - on[::-1]), on.prod(), np.prod(1.0 - on)
    drawn = law.draw(slice(0, 1), N, np.random.default_rng(4))
    np.testing.assert_allclose(drawn.sum(axis=2), 1.0)
    assert agree(drawn[:, 0], one + both * r[0] / r.sum() + none * first)


def test_where_there_are_no_topics_proportions_are_zero():
    """As in a task of empty documents, to which `sparse_transfer` need not give any."""
    law = DirichletProportions(Z, CORPUS, np.array([[0.5, 0.5, 0.5], [0.0, 0.0, 0.0]]), np.array([0, 1, 0]))
    assert law.mean(HERE)[1] == pytest.approx(np.zeros(3))
    drawn = law.draw(HERE, 10, np.random.default_rng(5))
    np.testing.assert_allclose(drawn.sum(axis=2), [[1.0, 0.0, 1.0]] * 10)


def test_mixed_proportions():
    parts = [
        (np.array([0.25, 0.75]), np.array([[1.0, 2.0, 3.0], [0.1, 0.1, 5.0]])),
        (np.array([1.0]), np.array([[4.0, 1.0, 1.0]])),
    ]
    law = MixedProportions(lambda d: parts[d % 2])
    first = 0.25 * np.array([1.0, 2.0, 3.0]) / 6.0 + 0.75 * np.array([0.1, 0.1, 5.0]) / 5.2
    expected = np.array([first, np.array([4.0, 1.0, 1.0]) / 6.0, first])
    np.testing.assert_allclose(law.mean(HERE), expected)
    drawn = law.draw(HERE, N, np.random.default_rng(2))
    np.testing.assert_allclose(drawn.sum(axis=2), 1.0)
    assert agree(drawn, expected)


def test_rates_that_are_normalised():
    shape, log_scale = np.array([0.5, 1.5, 1e-3]), np.array([[0.0, -1.0, 2.0]] * 3) * [[1.0], [2.0], [3.0]]
    law = NormalisedRates(Z, CORPUS, shape, lambda here: log_scale[here])
    shapes = shape + COUNTS
    drawn = law.draw(HERE, N, np.random.default_rng(3))
    np.testing.assert_allclose(drawn.sum(axis=2), 1.0)
    assert agree(drawn, law.mean(HERE))
    log_odds = np.log(drawn[..., 0] / drawn[..., 1])
    mean_log = digamma(shapes) + log_scale
    assert agree(log_odds, mean_log[:, 0] - mean_log[:, 1])


@pytest.mark.parametrize("log_scale", [0.0, 1.0, -4.0])
@pytest.mark.parametrize("shape", [[1.0, 1.0], [0.5, 2.0], [1e-3, 2e-3], [30.0, 10.0]])
def test_mean_of_two_normalised_rates_is_an_integral_over_a_beta_variable(shape, log_scale):
    """The share of the first is ``s b / (s b + 1 - b)``, b a Beta variable."""
    none = Corpus(np.zeros(0, int), [0, 0], n_words=1)
    law = NormalisedRates(none.words, none, np.array(shape), lambda here: np.array([[log_scale, 0.0]]))
    scale, exponents = np.exp(log_scale), (shape[0] - 1, shape[1] - 1)
    share = quad(
        lambda b: scale * b / (scale * b + 1 - b), 0, 1, weight="alg", wvar=exponents, epsabs=0, epsrel=1e-11
    )
    expected = share[0] / beta(*shape)
    assert law.mean(slice(0, 1))[0, 0] == pytest.approx(expected, rel=1e-9)


def test_a_document_without_a_token_and_without_weights_has_no_rates_of_zero():
    law = NormalisedRates(Z, CORPUS, np.zeros(3), lambda here: np.zeros((1, 3)))
    assert law.mean(slice(1, 2)) == pytest.approx(np.full((1, 3), 1.0 / 3.0))


@as_plain_python
@pytest.mark.parametrize("model_id", ["hdsp", "whdsp", "author_topic", "dp_mrm", "gbn", "bgg", "was"])
def test_documents_of_a_fit_without_labels(model_id, tmp_path):
    corpus = Corpus(
        np.random.default_rng(0).integers(5, size=40),
        [0, 10, 10, 25, 40],
        segment_ptr=[0, 4, 10, 20, 25, 40],
        n_words=5,
    )
    quick = {"chains": 2, "tune": 2, "draws": 4, "keep": 2, "workers": 1}
    save(sample(get(model_id), corpus, **quick), tmp_path / "fit.nc")
    tree = load(tmp_path / "fit.nc")
    sample(get(model_id), corpus, **quick, start=tree)
    found = documents(tree)
    assert np.isfinite(found.mean).all(axis=None)
    assert found.mean.sum(axis=1).between(0.1, 1.0 + 1e-9).all()
    assert (found.low <= found.high).all(axis=None)
