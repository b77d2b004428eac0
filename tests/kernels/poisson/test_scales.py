"""Scales of the theta of documents: with the other steps they leave the law of the layers as it is."""

import numpy as np
import pytest
from bnpzoo.diagnostics.laboratory.mutants.registry import mutant_by_id
from bnpzoo.diagnostics.laboratory.patched import load_room
from bnpzoo.kernels.poisson import layers, scales
from bnpzoo.kernels.toolbox import sides
from bnpzoo.zoo.families.poisson import layered
from bnpzoo.zoo.models import get
from bnpzoo.zoo.toolbox.draws import draw_categorical, draw_dirichlet
from scipy.stats import ks_2samp

FALSE_ALARM_RATE = 1e-5
N_TOPICS, N_DOCUMENTS, SWEEPS = 2, 20_000, 20
FEWEST = 200  # documents that are tested by themselves
FIXED = {"gamma": (0.0, 0.0), "c": (0.0, 0.0)}


def documents_of(n_layers, mass, length_shape, rng):
    """Draw documents of zero to five tokens, or of lengths that say how large theta are, from their law."""
    model = get("gbn", n_topics=N_TOPICS, n_layers=n_layers, length_shape=length_shape, rate_shape=2.7)
    r = mass * np.array([0.6, 0.4])
    link = rng.dirichlet(np.full(N_TOPICS, 0.8), (n_layers - 1, N_TOPICS))
    drawn = layered.draw_documents(model, r[None], link[None], N_DOCUMENTS, rng)
    theta, rate = drawn["theta"][0], drawn["rate"][0]
    alpha = theta[0] @ link[0]
    length = rng.integers(0, 6, N_DOCUMENTS)
    if length_shape > 0.0:
        odds = rng.gamma(length_shape, size=N_DOCUMENTS) / rng.gamma(length_shape, size=N_DOCUMENTS)
        length = rng.poisson(np.minimum(rng.gamma(np.maximum(alpha.sum(axis=1), 1e-290)) * odds, 1e4))
    share = draw_dirichlet(np.maximum(alpha, np.finfo(float).tiny), rng)
    z = draw_categorical(np.repeat(share, length, axis=0), rng)
    latents = {"theta": theta, "link": link, "rate": rate, "r": r, "gamma": 1.0, "c": 1.0}
    prior = model.rate_shape, model.rate_rate
    side = layers.layered_documents(latents, FIXED, length_shape, model.link_eta, prior)
    document = np.arange(N_DOCUMENTS)
    np.add.at(side.counts[0], (np.repeat(document, length), z), 1)
    ends = np.concatenate([[0], np.cumsum(length)])
    return side, sides.tokens_of(np.zeros(z.size, int), ends, document, z)


def scale(kernels, rng, side, tokens):
    """Scale theta, and draw their rates."""
    kernels.draw_scales(rng, tokens, side)
    kernels.draw_rates(rng, side)


def sweep(kernels, rng, side, tokens):
    """Do what a sweep does, but for tokens, links and r."""
    linked = np.zeros((N_TOPICS, N_TOPICS))
    kernels.look_at_theta(rng, tokens, side)
    side.counts[1:] = 0
    for s in range(len(side.theta)):
        kernels.count_upwards(rng, side, s, linked)
    kernels.draw_downwards(rng, side)


WRONG = {
    "scale-at-this-rate": (scale, 2, 1.0, 0.0),
    "scale-of-any-length": (scale, 2, 1.0, 0.0),
    "scale-whatever-follows": (scale, 3, 8.0, 1.0),
    "scale-exponentials-anew": (scale, 3, 0.5, 0.3),
    "mass-of-floats": (sweep, 3, 0.02, 0.0),
}
"""Mutants, and by what move, of how many layers, which mass of r and which shape of lengths they show."""


def quantities(side):
    """Logarithms of the theta of each layer and topic, of their sum and of their rate."""
    theta = np.concatenate([side.theta, side.theta.sum(axis=2, keepdims=True)], axis=2)
    return np.log(np.maximum(np.concatenate([theta, side.rate[..., None]], axis=2), 1e-300))


def smallest_p_value(before, after, n_held):
    """Of two-sample tests of each quantity, of documents of no topic, of one and of two by themselves.

    They are the same documents before and after, more alike than two samples: alarms are rarer than told.
    """
    p_values = [
        ks_2samp(before[s, n_held == n, j], after[s, n_held == n, j], method="asymp").pvalue
        for n in range(N_TOPICS + 1)
        if np.sum(n_held == n) >= FEWEST
        for s, j in np.ndindex(before.shape[0], before.shape[2])
    ]
    return min(p_values) * len(p_values)


def p_value(move, n_layers, mass, length_shape, *mutants):
    """Of documents that have moved some times, against those that were drawn."""
    room = load_room(*(mutant_by_id(f"poisson-{name}").change for name in mutants))
    rng = np.random.default_rng(n_layers)
    side, tokens = documents_of(n_layers, mass, length_shape, rng)
    before, own = quantities(side), room(layers).LayeredDocuments(*side)
    for _ in range(SWEEPS):
        move(room(layers), rng, own, room(sides).Tokens(*tokens))
    return smallest_p_value(before, quantities(own), np.sum(own.counts[0] > 0, axis=1))


@pytest.mark.compiled
@pytest.mark.parametrize("move", [scale, sweep])
@pytest.mark.parametrize(
    "documents", [(2, 1.0, 0.0), (2, 0.3, 0.4), (3, 0.02, 0.0), (3, 0.5, 0.3), (3, 8.0, 1.0), (4, 1.0, 0.0)]
)
def test_the_law_of_layers_stays(move, documents):
    assert p_value(move, *documents) > FALSE_ALARM_RATE


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.parametrize("mutant", WRONG)
def test_under_wrong_scales_it_does_not(mutant):
    assert p_value(*WRONG[mutant], mutant) < FALSE_ALARM_RATE


@pytest.mark.parametrize("log_x", [-1e100, -800.0, -3.0, 0.7, 20.0, 20.8, 35.0])
@pytest.mark.parametrize("n", [1, 2, 17])
def test_rising_factorials_are_right_far_below_the_floats_and_far_above_one(log_x, n):
    exact = np.sum(np.log(np.exp(log_x) + np.arange(1, n)))
    np.testing.assert_allclose(scales.log_rising(log_x, n), exact, rtol=1e-7, atol=1e-12)
