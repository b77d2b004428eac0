"""Topic proportions of new documents of sentences: the law by which documents of a fit have theirs."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from bnpzoo.zoo.contract import Design, FrozenTopics
from bnpzoo.zoo.corpus import Corpus
from bnpzoo.zoo.models import get
from bnpzoo.zoo.toolbox.laws import log_sequences
from bnpzoo.zoo.toolbox.new_documents import DirichletOfNew
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logsumexp
from scipy.stats import norm

KAPPA = 0.4
OF_DISHES = {
    "was": {"a": 1.3, "b": 0.7, "zeta": 0.9},
    "mqr_hdp": {"alpha": 1.3, "epsilon": 0.6},
    "sbp": {"a": 1.3, "b": 0.7},
    "ordered_sbp": {"a": 1.3, "b": 0.7},
    "tjb_hdp": {"alpha": 1.3, "gamma": 0.7},
    "icd": {"alpha": 1.3, "gamma": 0.7},
}
OPTIONS = {"sbp": {"n_dishes": 2}}
PHI = np.random.default_rng(0).dirichlet(np.ones(3), 2)
DOCUMENT = Corpus([0, 1, 1, 2], [0, 4], n_words=3, segment_ptr=[0, 3, 4])
PARTICLES, REPEATS = 8_000, 2_000
"""Many particles, so that what is drawn from them is as good as independent."""


def made(name):
    """Model, and its hyperparameters as latents have them."""
    hyper = OF_DISHES[name] | {"kappa": KAPPA, "eta": 0.5}
    model = get(name, n_topics=2, **OPTIONS.get(name, {}), **hyper)
    return model, {key: np.asarray(value) for key, value in hyper.items()}


def new_proportions(name):
    """Law of a draw whose topics are `PHI`."""
    model, hyper = made(name)
    nothing = {"z": np.zeros(4, np.int64), "dish": np.zeros(4, np.int64)}
    law = model.new_proportions(nothing | hyper, DOCUMENT)
    return replace(law, topics=FrozenTopics(PHI, np.full((1, 2), KAPPA)))


def drawn_of(law, document=DOCUMENT):
    law.check(document)
    rng = np.random.default_rng(1)
    return law.draw_proportions(document, rng, burn_in=PARTICLES, sweeps=2, repeats=REPEATS // 2)


def exact_moments(name):
    """Mean and second moment of the proportions, by all dishes and topics of the document."""
    model, hyper = made(name)
    dishes, log_p = model.dish_laws(model.seats(Design.of(DOCUMENT)), hyper)
    log_weights, moments = [], []
    for (dish, p), z in product(zip(dishes, log_p, strict=True), product(range(2), repeat=4)):
        latents = {"z": np.array(z), "dish": dish} | hyper
        weights, topics = model.own_proportions(latents, DOCUMENT).components(0)
        mass = topics.sum(axis=1, keepdims=True)
        means = topics / mass
        mean = weights @ means
        moments.append([mean, mean**2 + weights**2 @ (means * (1.0 - means) / (mass + 1.0))])
        of_words = np.log(PHI[list(z), DOCUMENT.words]).sum()
        log_weights.append(p + of_words + log_sequences(dish, np.array(z), np.full(2, KAPPA)))
    return np.tensordot(np.exp(log_weights - logsumexp(log_weights)), np.array(moments), axes=1)


def error(values):
    return values.std(axis=0) / np.sqrt(len(values))


def z_scores(values, expected):
    return (values.mean(axis=0) - expected) / error(values)


LIMIT = norm.isf(1e-7)
"""Of some fifty numbers that are normal, one is beyond it once in 100,000 times."""


@pytest.mark.compiled
@pytest.mark.parametrize("name", ["was", "sbp", "ordered_sbp"])  # dishes of others have more latents
def test_they_have_the_moments_of_the_enumeration(name):
    law = new_proportions(name)
    mean, drawn = drawn_of(law)
    first, second = exact_moments(name)
    assert_allclose(drawn.sum(axis=1), 1.0)
    assert np.abs((mean.mean(axis=0) - first) / error(drawn)).max() < LIMIT  # it varies less
    assert np.abs(z_scores(drawn, first)).max() < LIMIT
    assert np.abs(z_scores(drawn**2, second)).max() < LIMIT
    _, of_another_sentence = drawn_of(replace(law, goes_on=not law.goes_on))
    assert np.abs(z_scores(of_another_sentence**2, second)).max() > LIMIT
    _, of_one_dish = drawn_of(DirichletOfNew(law.topics))
    assert np.abs(z_scores(of_one_dish, first)).max() > LIMIT


@pytest.mark.slow
@pytest.mark.parametrize("name", OF_DISHES)
def test_they_are_those_by_which_words_are_completed(name):
    law, rng = new_proportions(name), np.random.default_rng(2)
    mean, drawn = drawn_of(law)
    word = Corpus([0], [0, 1], n_words=3)
    completed = np.exp(law.log_completion(DOCUMENT, word, rng, burn_in=0, sweeps=PARTICLES))
    assert np.abs(z_scores(drawn @ PHI[:, :1], completed)) < LIMIT
    of_mean = mean.mean(axis=0) @ PHI[:, :1]
    assert np.abs((of_mean - completed) / error(drawn @ PHI[:, :1])) < LIMIT


@pytest.mark.slow
@pytest.mark.parametrize("name", OF_DISHES)
def test_nothing_is_known_of_an_empty_document(name):
    empty = DOCUMENT.keep(np.zeros(4, bool))
    mean, drawn = drawn_of(new_proportions(name), empty)
    assert_allclose(mean, 0.5)
    assert np.abs(z_scores(drawn[:, 0], 0.5)) < LIMIT
    variance = 0.25 / (2 * KAPPA + 1.0)
    if name != "sbp":  # whose next sentence has all its dishes, one of them new in the others
        assert np.abs(z_scores((drawn[:, 0] - 0.5) ** 2, variance)) < LIMIT


def test_the_same_generator_gives_the_same_proportions():
    law = new_proportions("was")
    assert_array_equal(drawn_of(law)[1], drawn_of(law)[1])
