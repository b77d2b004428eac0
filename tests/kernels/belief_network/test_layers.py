"""Parts of the sampler of belief networks against their laws."""

from contextlib import nullcontext

import numpy as np
import pytest
from bnpzoo import Gamma
from bnpzoo.diagnostics.laboratory.ladder import DESIGN
from bnpzoo.diagnostics.laboratory.mutants.registry import mutant_by_id
from bnpzoo.diagnostics.laboratory.patched import PLAIN_PYTHON, Change, load_room
from bnpzoo.diagnostics.laboratory.sequential import sequential
from bnpzoo.diagnostics.laboratory.subject import ModelSubject
from bnpzoo.kernels.belief_network import layers, tokens
from bnpzoo.kernels.belief_network.state import Layers
from bnpzoo.zoo.contract import Design
from bnpzoo.zoo.models import get
from scipy import stats

FALSE_ALARM_RATE = 1e-5


@pytest.mark.parametrize("n_topics", [1, 3, 4, 9])
def test_smooth_mass_is_a_sum_over_all_topics(n_topics):
    rng = np.random.default_rng(n_topics)
    coefficient, psi = rng.random(n_topics), rng.random((5, n_topics))
    assert tokens.smooth_mass(coefficient, psi, 2, n_topics) == pytest.approx(coefficient @ psi[2])


def test_topics_are_found_by_their_height():
    coefficient, psi = np.array([1.0, 0.0, 2.0, 1.0]), np.array([[1.0, 5.0, 0.5, 0.0]])
    found = [layers.find_in_mixture(u, coefficient, psi, 0, 4) for u in (0.0, 0.99, 1.01, 1.99, 2.0)]
    assert found == [0, 0, 2, 2, 2]


def test_entries_of_running_sums_are_found():
    running = np.array([0.0, 1.0, 1.0, 3.0])
    assert [layers.find_in_running(running, u) for u in (0.0, 0.5, 1.0, 2.9, 3.0)] == [1, 1, 3, 3, 3]


def test_counts_are_handed_up_whole():
    rng = np.random.default_rng(0)
    counts = rng.poisson(1.0, (6, 4))
    counts[:, 2] = 0
    topics, log_links = rng.dirichlet(np.ones(6), 3).T.copy(), np.log(rng.gamma(1.0, size=(4, 3)))
    log_l, used, above = np.full(4, np.nan), np.zeros((4, 3), np.int64), np.zeros((6, 3), np.int64)
    layers.pass_up(rng, counts, topics, log_links, log_l, used, above)
    assert log_l[2] == -np.inf
    assert np.all(np.isfinite(log_l[[0, 1, 3]]))
    assert used.sum() == above.sum()
    np.testing.assert_array_equal(used.sum(axis=0), above.sum(axis=0))
    assert not used[2].any()
    assert np.all(above.sum(axis=1) <= counts.sum(axis=1))
    np.testing.assert_array_equal(above.sum(axis=1) > 0, counts.sum(axis=1) > 0)


def test_tables_and_where_they_go_have_their_law():
    """Means of many sweeps against those of Antoniak (1974) and of the split, by the normal law."""
    rng, n = np.random.default_rng(1), 20_000
    counts, topics = np.array([[5], [2]]), np.array([[0.8, 0.3], [0.2, 0.7]])
    links = np.array([[0.9, 1.6]])
    log_l, used, above = np.zeros(1), np.zeros((1, 2), np.int64), np.zeros((2, 2), np.int64)
    drawn = np.empty((n, 5))
    for i in range(n):
        layers.pass_up(rng, counts, topics, np.log(links), log_l, used, above)
        drawn[i] = [*above.ravel(), -np.exp(log_l[0])]
    psi = topics @ links[0]
    tables = [np.sum(r / (r + np.arange(c[0]))) for r, c in zip(psi, counts, strict=True)]
    split = topics * links / psi[:, None] * np.array(tables)[:, None]
    a, b = links.sum(), counts.sum()
    log_q_mean = stats.beta.expect(np.log, args=(a, b))
    z = (drawn.mean(axis=0) - [*split.ravel(), log_q_mean]) / (drawn.std(axis=0) / np.sqrt(n))
    assert np.abs(z).max() < stats.norm.isf(FALSE_ALARM_RATE / 10)


@pytest.mark.parametrize("log_mass", [-1e9, -651.0, -649.0, 0.7])
def test_companions_of_any_mass_have_their_law(log_mass):
    """Of a beta variable; for a mass that is hardly a double, or none, of an exponential over the mass."""
    rng = np.random.default_rng(6)
    drawn = np.array([layers.log_companion(rng, log_mass, 3.0) for _ in range(20_000)])
    if log_mass > 0.0:
        found = stats.kstest(np.exp(-np.exp(drawn)), "beta", (np.exp(log_mass), 3.0))
    else:
        found = stats.kstest(np.exp(drawn + log_mass), "expon")
    assert found.pvalue > FALSE_ALARM_RATE


RAISED = Change(
    "belief_network/layers.py",
    "log_mass = log_row_sum(log_links, j)",
    "log_mass = math.log(links[j].sum())",
)
"""Companions of links that have been raised to 1e-282."""


@pytest.mark.parametrize("change", [None, pytest.param(RAISED, marks=pytest.mark.heavy)])
@pytest.mark.slow
def test_links_that_underflow_leave_the_law_as_it_is(change):
    """With masses so small that links often are no positive doubles."""
    changes = (PLAIN_PYTHON, change) if change else ()
    model = get("lda", topics="belief-network").set_to("prior")
    model = model.replaced(layer_mass=Gamma(0.4, 0.15), layer_rate=Gamma(1.7, 1.1), link_rate=Gamma(1.2, 0.7))
    verdict = sequential(Changed(model, DESIGN, changes), false_alarm_rate=FALSE_ALARM_RATE)
    assert verdict.passed == (change is None), verdict


class Changed(ModelSubject):
    """The first sampler of a model, of kernels with some changes."""

    def __init__(self, model, design, changes):
        super().__init__(model, design, "sparse")
        self.of_changed = model.kernels_in(load_room(*changes))["sparse"]

    @property
    def kernel(self):
        return self.of_changed


def test_links_of_topics_without_tokens_are_drawn_from_their_prior():
    rng, n = np.random.default_rng(2), 20_000
    state = one_layer(np.log([2.0, 0.7]), link_rate=1.7)
    log_links, drawn = np.zeros((1, 2)), np.empty((n, 2))
    for i in range(n):
        layers.draw_link_weights(rng, state, 0, np.full(1, -np.inf), np.zeros((1, 2), np.int64), log_links)
        drawn[i] = np.exp(log_links[0])
    for values, shape in zip(drawn.T, (2.0, 0.7), strict=True):
        assert stats.kstest(values, "gamma", (shape, 0, 1 / 1.7)).pvalue > FALSE_ALARM_RATE


def one_layer(log_popularity, link_rate):
    """Return a layer of two topics."""
    nothing = np.zeros((1, 1, 2))
    numbers = (np.array([1.0]), np.array([1.0]), np.array([link_rate]))
    priors = (np.zeros(2), np.zeros(2), np.zeros(2))
    return Layers(
        nothing, nothing, np.array([log_popularity]), np.zeros((1, 2)), np.zeros((0, 2, 2)), *numbers, *priors
    )


def test_topics_of_a_layer_are_dirichlet():
    rng, n = np.random.default_rng(3), 20_000
    shapes, counts = np.array([[0.5, 1e-5], [1.5, 0.4], [2.0, 1e-5]]), np.array([[0, 0], [1, 0], [0, 1]])
    log_topics, topics, drawn = np.zeros((3, 2)), np.zeros((3, 2)), np.empty((n, 2))
    for i in range(n):
        layers.draw_topics(rng, shapes, counts, log_topics, topics)
        drawn[i] = topics[0, 0], topics[2, 1]
    np.testing.assert_allclose(np.exp(log_topics), topics)
    np.testing.assert_allclose(topics.sum(axis=0), 1.0)
    assert stats.kstest(drawn[:, 0], "beta", (0.5, 4.5)).pvalue > FALSE_ALARM_RATE
    assert stats.kstest(drawn[:, 1], "beta", (1.0 + 1e-5, 0.4 + 1e-5)).pvalue > FALSE_ALARM_RATE


def test_mixtures():
    rng = np.random.default_rng(4)
    topics, links, psi = rng.random((5, 3)), rng.random((4, 3)), np.zeros((5, 4))
    layers.mix(topics, links, psi)
    np.testing.assert_allclose(psi, topics @ links.T)
    raised = layers.linear(np.array([[-2000.0, -2001.0], [0.0, -3000.0]]))
    assert raised[0, 0] / raised[0, 1] == pytest.approx(np.e)
    np.testing.assert_array_equal(raised[1], [1.0, 0.0])


def after_one_draw(layers, n, rng):
    """Mass, popularity, links and their rate after `draw_links` without counts, from draws of the prior.

    As quantiles: of mass and rate of links in their priors, and of the sums of popularity and of links in
    their laws given these.
    """
    out, prior = np.empty((n, 4)), {"mass": (2.0, 1.5), "link_rate": (1.5, 1.0)}
    log_l, used = np.full(4, -np.inf), np.zeros((4, 3), np.int64)
    for i in range(n):
        mass, rate = rng.gamma(2.0, 1 / 1.5, 1), rng.gamma(1.5, 1.0, 1)
        state = Layers(
            *(np.zeros((1, 1, 3)) for _ in range(2)),
            np.log(np.maximum(rng.gamma(mass / 3, size=(1, 3)), 1e-300)),
            np.zeros((4, 3)),
            np.zeros((0, 3, 3)),
            mass,
            np.ones(1),
            rate,
            np.array(prior["mass"]),
            np.zeros(2),
            np.array(prior["link_rate"]),
        )
        popularity = np.maximum(np.exp(state.log_popularity[0]), 1e-300)
        state.log_links[:] = np.log(np.maximum(rng.gamma(popularity, 1 / rate, (4, 3)), 1e-300))
        layers.draw_links(rng, state, 0, log_l, used, state.log_links)
        popularity = max(np.exp(state.log_popularity[0]).sum(), 1e-300)
        out[i] = [
            stats.gamma.cdf(state.mass[0], 2.0, scale=1 / 1.5),
            stats.gamma.cdf(popularity, state.mass[0]),
            stats.gamma.cdf(state.link_rate[0], 1.5),
            stats.gamma.cdf(np.exp(state.log_links).sum() * state.link_rate[0], 4 * popularity),
        ]
    return out


ORDERS = ("popularity-before-mass", "rate-before-links", "printed-order", "empty-links-kept")


@pytest.mark.parametrize("mutant", ["", *ORDERS])
def test_only_the_right_draws_leave_the_prior_as_it_is(mutant):
    """Where there are no tokens, the posterior of a layer is its prior."""
    changes = (mutant_by_id(f"belief-{mutant}").change,) if mutant else ()
    room = load_room(PLAIN_PYTHON, *changes)
    found = after_one_draw(room(layers), 1500, np.random.default_rng(5))
    p_value = min(stats.kstest(values, "uniform").pvalue for values in found.T)
    assert (p_value > FALSE_ALARM_RATE / 4) == (not mutant)


@pytest.mark.parametrize("mutant", ["", "belief-psi-of-old-links"])
def test_a_psi_that_is_no_mixture_is_seen(mutant):
    model = get("lda", topics="belief-network", n_topics=2, width=3)
    latents, corpus = model.simulate(Design(np.array([5, 4]), 4), np.random.default_rng(0))
    kernel = model.kernels_in(load_room(PLAIN_PYTHON, *(mutant_by_id(m).change for m in [mutant] if m)))[
        "sparse"
    ]
    state = kernel.step(np.random.default_rng(1), kernel.load(latents, corpus, model))
    with pytest.raises(AssertionError, match="psi is not") if mutant else nullcontext():
        kernel.check(state)
