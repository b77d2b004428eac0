"""Topics under a Dirichlet belief network: density, marginal, generator, and what goes without saying."""

import bnpzoo
import numpy as np
import pytest
from bnpzoo.diagnostics.laboratory.ladder import MICRO
from bnpzoo.diagnostics.laboratory.oracle import Oracle
from bnpzoo.zoo.contract import Design
from bnpzoo.zoo.corpus import Corpus
from bnpzoo.zoo.families.belief_network import marginal, network
from bnpzoo.zoo.models import get
from scipy import stats
from scipy.special import gammaln

Z, WORDS = np.array([0, 0, 1, 0, 1, 0]), np.array([0, 0, 1, 2, 1, 1])
HYPER = {"eta": np.array(0.6), "layer_mass": [2.0, 1.5], "layer_rate": [0.8, 1.2], "link_rate": [0.7, 0.5]}


def hyper_of(layers):
    upper = {name: np.array(values[: layers - 1]) for name, values in HYPER.items() if name != "eta"}
    return {"eta": HYPER["eta"]} | upper


def log_words_given(psi):
    """Log probability of the words given Dirichlet parameters (K, V), topics integrated out, from the urn."""
    counts, out = np.zeros_like(psi), 0.0
    for k, w in zip(Z, WORDS, strict=True):
        out += np.log((psi[k, w] + counts[k, w]) / (psi[k] + counts[k]).sum())
        counts[k, w] += 1
    return out


@pytest.mark.parametrize("layers", [2, 3])
@pytest.mark.slow
def test_marginal_is_the_mean_over_the_generator(layers):
    """At most 4.5 standard errors apart: a false alarm has probability 7e-6, were the seed not fixed."""
    hyper, rng = hyper_of(layers), np.random.default_rng(layers)
    values = []
    for _ in range(20_000):
        above = network.draw(hyper, layers, 3, 2, 3, rng)
        values.append(log_words_given(network.shapes(above["log_upper_topics"][0], above["log_links"])))
    drawn = np.exp(values)
    exact = np.exp(marginal.log_words(Z, WORDS, 3, 3, hyper))
    assert abs(drawn.mean() - exact) < 4.5 * drawn.std() / np.sqrt(drawn.size)
    wrong = np.exp(marginal.log_words(Z, WORDS, 3, 3, hyper | {"link_rate": 2.0 * hyper["link_rate"]}))
    assert abs(drawn.mean() - wrong) > 4.5 * drawn.std() / np.sqrt(drawn.size)


@pytest.mark.parametrize("layers", [2, 3])
@pytest.mark.slow
def test_more_points_change_the_oracle_by_less_than_chains_err(layers, monkeypatch):
    """Chains before the oracle have standard errors of 0.003 or more."""
    model = get("lda", topics="belief-network", layers=layers).set_to("fixed")
    first = Oracle.of_model(model, MICRO).same_topic.mean
    monkeypatch.setattr(marginal, "POINTS", 2**16)
    marginal.points.cache_clear()
    assert np.abs(first - Oracle.of_model(model, MICRO).same_topic.mean).max() < 0.0015
    marginal.points.cache_clear()


@pytest.mark.parametrize("layers", [2, 3])
def test_density_is_that_of_gamma_and_dirichlet_variables(layers):
    hyper, rng = hyper_of(layers), np.random.default_rng(0)
    latents = hyper | network.draw(hyper, layers, 3, 2, 4, rng)
    expected = 0.0
    for t in range(layers - 1):
        mass, rate, link_rate = (hyper[name][t] for name in ("layer_mass", "layer_rate", "link_rate"))
        log_g, log_b = latents["log_popularity"][t], network.links_below(latents, t)
        expected += np.sum(stats.gamma.logpdf(np.exp(log_g), mass / 3, scale=1 / rate) + log_g)
        shape = np.exp(log_g)[:, None]
        expected += np.sum(stats.gamma.logpdf(np.exp(log_b), shape, scale=1 / link_rate) + log_b)
        shapes = np.full((3, 4), float(hyper["eta"]))
        if t < layers - 2:
            shapes = np.exp(latents["log_upper_links"][t]).T @ np.exp(latents["log_upper_topics"][t + 1])
        for shape, log_phi in zip(shapes, latents["log_upper_topics"][t], strict=True):
            expected += stats.dirichlet.logpdf(np.exp(log_phi) / np.exp(log_phi).sum(), shape) + log_phi.sum()
    assert network.log_density(latents) == pytest.approx(expected, rel=1e-9)


def test_one_layer_is_a_symmetric_dirichlet():
    one, same = get("lda", topics="belief-network", layers=1, n_topics=3), get("lda", n_topics=3)
    latents, corpus = one.simulate(Design(np.array([4, 0, 5]), 6), np.random.default_rng(0))
    assert one.topics.log_likelihood(latents, corpus) == same.topics.log_likelihood(latents, corpus)
    assert set(latents) == {"z", "alpha", "eta"}
    assert set(one.hyperparameters()) == {"alpha", "eta"}


def test_the_order_of_upper_topics_is_no_quantity():
    model = get("lda", topics="belief-network", layers=3, width=4, n_topics=3)
    latents, corpus = model.simulate(Design(np.array([4, 9, 5]), 6), np.random.default_rng(0))
    order = [2, 0, 3, 1]
    other = latents | {
        "log_popularity": latents["log_popularity"][:, order],
        "log_links": latents["log_links"][order],
        "log_upper_topics": latents["log_upper_topics"][:, order],
        "log_upper_links": latents["log_upper_links"][:, order][..., order],
    }
    assert model.log_joint(other, corpus) == pytest.approx(model.log_joint(latents, corpus))
    for name, value in model.quantities(latents, corpus).items():
        np.testing.assert_allclose(model.quantities(other, corpus)[name], value, err_msg=name)


def test_links_that_all_underflow_keep_their_proportions():
    log_links = np.array([[-2000.0, -1.0, -1e18], [-2001.0, -1000.0, -2e18]])
    found = network.linear(log_links)
    np.testing.assert_allclose(found[:, 2], [np.exp(network.LOWEST), 0.0])
    assert found[0, 0] / found[1, 0] == pytest.approx(np.e)
    np.testing.assert_array_equal(found[:, 1], [np.exp(-1.0), 0.0])


def test_shares_are_handed_up_by_links():
    latents = {
        "log_popularity": np.zeros((2, 2)),
        "log_links": np.log([[3.0, 1.0, 1.0], [1.0, 1.0, 3.0]]),
        "log_upper_links": np.log([[[1.0, 1.0], [1.0, 3.0]]]),
    }
    first, second = network.token_shares(latents, np.array([4, 4, 0]))
    np.testing.assert_allclose(first, [0.625, 0.375])
    np.testing.assert_allclose(second, [0.625 / 2 + 0.375 / 4, 0.625 / 2 + 0.375 * 3 / 4])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"layers": 0}, "lda: layers: expected a whole number, 1 to 10, found 0"),
        ({"layers": 2.5}, "lda: layers: expected a whole number, 1 to 10, found 2.5"),
        ({"layers": 11}, "lda: layers: expected a whole number, 1 to 10, found 11"),
        ({"width": 0}, "lda: width: expected a whole number, 1 to 65,536, found 0"),
        ({"layer_mass": -1}, "lda: layer_mass: expected a positive number"),
    ],
)
def test_wrong_arguments_are_told_in_a_line(arguments, message):
    with pytest.raises(ValueError, match=message) as caught:
        get("lda", topics="belief-network", **arguments)
    assert "\n" not in str(caught.value)


def test_what_it_does_not_go_with_is_told_in_a_line():
    model = get("lda", topics="belief-network", layers=4)
    with pytest.raises(
        ValueError, match="layers: the references, in NumPyro or Stan, have at most 3; found 4"
    ):
        model.reference.stan_data(Corpus([0], [0, 1]), 3)


EDGES = {
    "tiny shapes": {"eta": 1e-6, "layer_mass": 1e-6, "layer_rate": 1e6, "link_rate": 1e6, "layers": 3},
    "one topic": {"n_topics": 1, "width": 1, "layers": 3},
    "a layer of one": {"width": 1, "layers": 2},
    "many layers": {"layers": 10, "width": 3},
    "usual priors": {"layers": 3, "width": 20},
    "one layer of tiny eta": {"layers": 1, "eta": 1e-6},
}


@pytest.mark.parametrize("edge", EDGES)
def test_edges_stay_finite(edge):
    model = get("lda", topics="belief-network", **{"n_topics": 4} | EDGES[edge])
    corpus = Corpus([0, 1, 1, 2, 0, 0, 5, 3, 3], [0, 4, 4, 9], n_words=7)
    kernel, rng = model.kernel(), np.random.default_rng(0)
    state = kernel.load(model.initial_latents(corpus, rng), corpus, model)
    for _ in range(200):
        state = kernel.step(rng, state)
        kernel.check(state)
    latents = kernel.snapshot(state)
    assert not any(np.isnan(values).any() for values in latents.values())
    assert not np.isnan(model.log_joint(latents, corpus))
    for name, value in model.quantities(latents, corpus).items():
        assert not np.isnan(value).any(), name
    words = model.frozen_topics(latents, corpus).words
    np.testing.assert_allclose(words.sum(axis=1), 1.0)


def test_a_vocabulary_of_one_word():
    model = get("lda", topics=bnpzoo.BeliefNetwork(layers=3, width=2), n_topics=2)
    latents, corpus = model.simulate(Design(np.array([3, 2]), 1), np.random.default_rng(0))
    np.testing.assert_allclose(latents["log_upper_topics"], 0.0)
    words = gammaln(1.0)  # the only word has probability one
    assert model.topics.log_likelihood(latents, corpus) == pytest.approx(words + network.log_density(latents))
