"""Sticks and tables: the density of the sticks integrates to the sum over tables."""

import numpy as np
import pytest
from bnpzoo.zoo.corpus import Corpus
from bnpzoo.zoo.families.hdp.sticks import log_dirichlet, log_gem, log_root, log_tables
from bnpzoo.zoo.models import get
from scipy.integrate import dblquad, quad
from scipy.stats import dirichlet


def one_topic(corpus):
    return np.zeros(corpus.n_tokens, np.int64)


def test_hdp_joint_integrates_to_the_marginal():
    model = get("hdp", gamma=1.7, alpha=0.9, eta=0.4)
    corpus = Corpus([0, 1, 1, 0, 2], [0, 3, 5], n_words=3)
    hyper = {"alpha": np.array(0.9), "gamma": np.array(1.7), "eta": np.array(0.4)}
    z = one_topic(corpus)

    def density(b):
        return np.exp(model.log_joint({"z": z, "root": np.array([b, 1 - b]), **hyper}, corpus))

    integral = quad(density, 0, 1)[0]
    assert np.log(integral) == pytest.approx(model.log_marginal(z, corpus, hyper), abs=1e-7)


def test_hdp_new_topic_weighs_the_rest():
    """Integrated over its stick, moving a token to a new topic has the weight alpha · rest / V."""
    model = get("hdp", gamma=1.7, alpha=0.9, eta=0.4)
    corpus = Corpus([0, 1, 1, 0, 2], [0, 3, 5], n_words=3)
    hyper = {"alpha": np.array(0.9), "gamma": np.array(1.7), "eta": np.array(0.4)}
    root = np.array([0.6, 0.4])
    stay = model.log_joint({"z": one_topic(corpus), "root": root, **hyper}, corpus)
    moved = np.array([1, 0, 0, 0, 0])

    def density(share):
        sticks = np.array([0.6, 0.4 * share, 0.4 * (1 - share)])
        return 0.4 * np.exp(model.log_joint({"z": moved, "root": sticks, **hyper}, corpus) - stay)

    # weights of the first token: existing (n_dk + alpha root) (n_kw + eta) / (n_k + V eta), new: alpha rest/V
    existing = (2 + 0.9 * 0.6) * (1 + 0.4) / (4 + 3 * 0.4)
    new = 0.9 * 0.4 / 3
    assert quad(density, 0, 1)[0] == pytest.approx(new / existing, rel=1e-7)


def test_tasks_have_a_dirichlet_density():
    root, task = np.array([0.5, 0.2, 0.3]), np.array([0.1, 0.7, 0.2])
    assert log_dirichlet(task, 2.5 * root) == pytest.approx(dirichlet.logpdf(task, 2.5 * root))


def test_three_levels_become_two_as_the_tasks_approach_the_root():
    counts = np.array([[2, 1], [0, 2], [1, 0]])
    two = log_tables(counts, np.zeros(3, int), np.array([0.8]), None, 1.5)
    three = log_tables(counts, np.array([0, 1, 0]), np.array([0.8, 0.8]), 1e9, 1.5)
    assert three == pytest.approx(two, abs=1e-6)


def test_tables_of_one_document_are_a_restaurant():
    """With one document and its concentration at infinity, topics follow the root's restaurant."""
    sizes = np.array([[3, 1, 2]])
    found = log_tables(sizes, np.zeros(1, int), np.array([1e9]), None, 1.5)
    assert found == pytest.approx(log_root(sizes[0], 1.5), abs=1e-6)


def test_sticks_of_two_topics_integrate_to_the_restaurant():
    """The density, times each stick to the number of its tables, over both and the share of the first."""

    def given(first, whole):
        root = np.array([first * whole, (1.0 - first) * whole, 1.0 - whole])
        return np.exp(log_gem(root, 1.5) + 3.0 * np.log(root[0]) + 2.0 * np.log(root[1])) * whole

    found, _ = dblquad(given, 0.0, 1.0, 0.0, 1.0)
    assert np.log(found) == pytest.approx(log_root(np.array([3, 2]), 1.5), rel=1e-6)


def test_a_weight_that_underflowed_has_a_finite_density():
    assert np.isfinite(log_dirichlet(np.array([1.0, 0.0]), np.array([1.0, 1e-4])))
    assert np.isfinite(log_gem(np.array([1.0, 0.0]), 0.1))


def test_a_rest_that_underflowed_has_a_density():
    """A root whose rest is zero in floating point, under which the rest of a task is zero, too."""
    root, task = np.array([1.0, 0.0]), np.array([1.0, 0.0])
    nearly = np.array([1.0, np.finfo(float).tiny])
    assert log_dirichlet(task, 1.5 * root) == pytest.approx(log_dirichlet(nearly, 1.5 * nearly), abs=1.0)
