"""References with masks: their sticks, and their posteriors on a micro corpus against exact ones."""

from dataclasses import replace

import arviz_stats
import bnpzoo
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from bnpzoo.diagnostics.laboratory.oracle import Oracle
from bnpzoo.zoo.families.buffet import reference
from bnpzoo.zoo.families.buffet.blocks import BuffetSticks, all_masks, log_lengths
from bnpzoo.zoo.families.buffet.reference import masked_proportions
from bnpzoo.zoo.inference import nuts
from buffet_micro import HYPER, MICRO
from scipy.stats import chisquare

FALSE_ALARM_RATE = 1e-5
ALARM = 5.0
"""Standard errors: with the normal law, a false alarm in any of 40 comparisons has probability 3e-5."""

FOCUSED = {"alpha": 0.5, "gamma": 1.1, "eta": 0.5}
# Two topics with Beta(alpha / 2, 1) sticks, by quadrature: P(m_ck = 1) and E[weight_ck] by task, E[shape].
EXACT = {
    "task": [0.70477979, 0.64496391, 1.92676719, 1.65877353, 1.43295778],
    "document": [0.68047713, 0.62369692, 1.54904156, 1.32874784, 1.28754478],
}


class WeakLimit:
    """Sparse transfer model whose reference has the sticks of the weak limit."""

    def __init__(self, **hyper):
        self.model = bnpzoo.get("sparse_transfer", **HYPER | hyper)

    def require_reference(self):
        parameters = ("mask", "log_weight", "shape")
        return replace(self.model.reference, parameters=parameters, numpyro=self.numpyro)

    def numpyro(self, corpus, truncation):
        own = {name: value for name, value in self.model.spelled().items() if name != "topics"}
        return reference.sparse_transfer(corpus, truncation, **own, weak_limit=True)


def standard_scores(paths, exact):
    return [(x.mean() - e) / float(arviz_stats.mcse(x)) for x, e in zip(paths, exact, strict=True)]


@pytest.fixture(scope="module", params=EXACT)
def transfer(request):
    draws = nuts.run(WeakLimit(lengths=request.param), MICRO, 2, 2, 500, 3000, 1)["draws"]
    on = draws["mask"] @ all_masks(2)
    weight = np.exp(draws["log_weight"])
    paths = [on[:, :, c].mean(-1) for c in (0, 1)] + [weight[:, :, c].mean(-1) for c in (0, 1)]
    return request.param, [*paths, draws["shape"].mean(-1)]


@pytest.mark.heavy
def test_transfer_equals_quadrature(transfer):
    lengths, paths = transfer
    assert np.abs(standard_scores(paths, EXACT[lengths])).max() < ALARM


@pytest.mark.heavy
def test_transfer_tells_models_of_lengths_apart(transfer):
    lengths, paths = transfer
    (other,) = EXACT.keys() - {lengths}
    assert np.abs(standard_scores(paths, EXACT[other])).max() > ALARM


@pytest.fixture(scope="module")
def same_topic():
    """Draws of P(z_i = z_j), (chain, draw, pair), under the five largest sticks of a focused model."""
    model = bnpzoo.get("focused", **FOCUSED)
    corpus = MICRO.take(slice(1, 4))
    draws = nuts.run(model, corpus, 5, 2, 500, 1500, 1)["draws"]
    rng = np.random.default_rng(0)
    states = [[{k: v[c, s] for k, v in draws.items()} for s in range(1500)] for c in (0, 1)]
    z = np.array([[model.reference.latents(state, corpus, rng)["z"] for state in row] for row in states])
    first, second = np.triu_indices(corpus.n_tokens, 1)
    return corpus, (z[:, :, first] == z[:, :, second]).astype(float)


@pytest.mark.heavy
@pytest.mark.parametrize(("hyper", "agrees"), [({}, True), ({"alpha": 2.0}, False), ({"eta": 0.1}, False)])
def test_focused_equals_enumeration(same_topic, hyper, agrees):
    # No sixth stick in three documents but with probability 3 * 0.5 * (1 / 3)^5 = 0.006 under the prior.
    corpus, draws = same_topic
    exact = Oracle.of_model(bnpzoo.get("focused", **FOCUSED | hyper), corpus).same_topic.mean
    scores = standard_scores(np.moveaxis(draws, 2, 0), exact[np.triu_indices(corpus.n_tokens, 1)])
    assert (np.abs(scores).max() < ALARM) == agrees


@pytest.mark.parametrize("weak_limit", [False, True])
def test_sticks_are_drawn_from_their_density(weak_limit):
    # E[f / p] over draws is the volume that f fills, for a density f inside the support:
    # of exponentials here.
    with jax.enable_x64(True):
        law = BuffetSticks(jnp.asarray(1.5), 3, weak_limit)
        x = law.sample(jax.random.key(0), (40_000,))
        ratio = np.exp(3 * np.log(2.0) + 2.0 * np.sum(x, -1) - law.log_prob(x))
    error = ratio.std() / np.sqrt(ratio.size)
    assert error < 0.02
    assert abs(ratio.mean() - 1.0) < ALARM * error


def test_sticks_of_each_draw_are_in_an_order_of_their_own():
    law = BuffetSticks(jnp.asarray(1.5), 3)
    orders = np.argsort(law.sample(jax.random.key(0), (600,)), axis=-1)
    _, counts = np.unique(orders, axis=0, return_counts=True)
    assert len(counts) == 6
    assert chisquare(counts).pvalue > FALSE_ALARM_RATE


def test_topics_that_are_off_have_no_weight_however_strong():
    mask = np.eye(8)[[1, 6, 0]]  # the first topic; the other two; none
    log_g = np.array([[-1e9, 0.0, 5.0], [0.0, -2e9, -2e9], [0.0, 0.0, 0.0]])
    on, g = masked_proportions(mask, log_g, np.arange(3), np.random.default_rng(0))
    assert on.tolist() == [[True, False, False], [False, True, True], [False, False, False]]
    assert g.tolist() == [[1.0, 0.0, 0.0], [0.0, 1.0, 1.0], [0.0, 0.0, 0.0]]


@pytest.mark.parametrize("name", ["sparse_transfer", "focused"])
def test_more_topics_than_can_be_enumerated(name):
    for build in ("numpyro", "stan_data"):
        with pytest.raises(ValueError, match=f"{name}: the reference .* truncation of 1 to 10, found 11"):
            getattr(bnpzoo.get(name).reference, build)(MICRO, 11)


@pytest.mark.parametrize("lengths", ["none", "task", "document"])
def test_a_mask_is_empty_where_no_topic_is_on_and_not_where_their_mass_is_rounded_to_zero(lengths):
    masks, tokens = all_masks(2), np.array([3, 2])
    with jax.enable_x64(True):
        out = log_lengths(masks, jnp.zeros(4), tokens, lengths)
        assert np.isneginf(out).tolist() == [True, False, False, False]
        assert np.isfinite(log_lengths(masks, jnp.zeros(4), 0 * tokens, lengths)).all()
