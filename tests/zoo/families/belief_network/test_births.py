"""Documents that open topics under a belief network: what is known of topics that nobody has seen yet."""

from dataclasses import replace

import numpy as np
import pytest
from bnpzoo import Corpus, Gamma
from bnpzoo.diagnostics.laboratory.ladder import DESIGN, MICRO
from bnpzoo.diagnostics.laboratory.oracle import Oracle, agrees_with_oracle
from bnpzoo.diagnostics.laboratory.patched import PLAIN_PYTHON, load_room
from bnpzoo.diagnostics.laboratory.subject import ModelSubject
from bnpzoo.zoo.contract import Design, Probes
from bnpzoo.zoo.families.belief_network import network
from bnpzoo.zoo.models import get
from samplers import as_plain_python
from scipy import stats

FALSE_ALARM_RATE = 1e-5
MODELS = ("hdp", "mt_hdp")


def drawn(model_id, layers=2, seed=0):
    """Model, and a draw of its joint."""
    model = get(model_id, topics="belief-network", layers=layers).set_to("fixed")
    return model, *model.simulate(DESIGN, np.random.default_rng(seed))


@pytest.mark.parametrize("layers", [2, 3])
def test_first_words_are_those_of_topics_that_the_generator_adds(layers):
    """Mean word distributions of topics with links from the prior, which know nothing of shares."""
    hyper = {"eta": 0.6, "layer_mass": [2.0, 1.5], "layer_rate": [0.8, 1.2], "link_rate": [0.7, 0.5]}
    latents = network.draw(hyper, layers, 3, 100_000, 4, np.random.default_rng(layers))
    psi = network.shapes(latents["log_upper_topics"][0], latents["log_links"])
    words = psi / psi.sum(axis=1, keepdims=True)
    found = network.first_words(latents, 4)
    z = (words.mean(axis=0) - found) / words.std(axis=0) * np.sqrt(len(words))
    assert np.abs(z).max() < stats.norm.isf(FALSE_ALARM_RATE / 8)
    assert abs(words.mean(axis=0) - 0.25).max() > 0.05


@pytest.mark.parametrize("model_id", MODELS)
@pytest.mark.parametrize("layers", [1, 2, 3])
def test_new_documents_meet_unseen_topics_by_the_layers_above(model_id, layers):
    model, latents, corpus = drawn(model_id, layers)
    frozen = model.frozen_topics(latents, corpus)
    n_topics = model.n_topics_of(latents)
    assert frozen.words.shape == (n_topics + 1, corpus.n_words)
    np.testing.assert_allclose(frozen.words[-1], network.first_words(latents, corpus.n_words))
    np.testing.assert_allclose(frozen.words.sum(axis=1), 1.0)
    assert (layers == 1) == np.allclose(frozen.words[-1], 1.0 / corpus.n_words)


@pytest.mark.parametrize("model_id", MODELS)
def test_predictions_of_a_next_token_are_of_one_mind(model_id):
    """The quantity ``predictive``, left to right, and completion, for documents of which nothing is seen."""
    model, latents, corpus = drawn(model_id, seed=1)
    empty = int(np.flatnonzero(corpus.doc_lengths == 0)[0])
    words = np.arange(corpus.n_words)
    cells = np.column_stack([np.full(words.size, empty), words])
    probes = Probes.of(corpus)._replace(cells=cells)
    expected = model.quantities(latents, corpus, probes)["predictive"]
    assert expected.sum() == pytest.approx(1.0)
    design = Design(
        np.ones(words.size, int), corpus.n_words, group=np.full(words.size, corpus.group_of_doc[empty])
    )
    if model_id == "mt_hdp":  # of as many groups as the fit
        design = replace(
            design,
            doc_lengths=np.append(design.doc_lengths, np.zeros(3, int)),
            group=np.append(design.group, np.arange(3)),
        )
    single = design.corpus(words)
    rng, predictive = np.random.default_rng(0), model.predictive(latents, corpus)
    found = predictive.log_documents(single, rng, particles=1)[: words.size]
    np.testing.assert_allclose(np.exp(found), expected)
    nothing = replace(design, doc_lengths=np.zeros_like(design.doc_lengths)).corpus(np.zeros(0, np.int32))
    found = predictive.log_completion(nothing, single, rng, burn_in=0, sweeps=1)
    np.testing.assert_allclose(np.exp(found), expected)


@pytest.mark.parametrize("model_id", MODELS)
def test_one_layer_is_the_model_with_symmetric_dirichlet_topics(model_id):
    plain = get(model_id).set_to("prior")
    model = get(model_id, topics="belief-network", layers=1).set_to("prior")
    latents, corpus = plain.simulate(DESIGN, np.random.default_rng(0))
    assert model.log_joint(latents, corpus) == pytest.approx(plain.log_joint(latents, corpus))
    expected = plain.quantities(latents, corpus)
    found = model.quantities(latents, corpus)
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        np.testing.assert_allclose(found[name], value, err_msg=name)
    frozen, other = (m.frozen_topics(latents, corpus) for m in (model, plain))
    np.testing.assert_allclose(frozen.words, other.words)
    np.testing.assert_allclose(frozen.concentration, other.concentration)


@as_plain_python
@pytest.mark.parametrize("model_id", MODELS)
def test_one_layer_of_fixed_eta_draws_what_symmetric_dirichlet_topics_draw(model_id):
    ends = []
    for topics in ({}, {"topics": "belief-network", "layers": 1}):
        model = get(model_id, **topics).set_to("fixed").replaced(eta=0.3)
        rng, kernel = np.random.default_rng(0), model.kernel("dense")
        _, corpus = get(model_id, eta=0.3).set_to("fixed").simulate(DESIGN, np.random.default_rng(1))
        state = kernel.load(model.initial_latents(corpus, rng), corpus, model)
        for _ in range(30):
            state = kernel.step(rng, state)
        ends.append(kernel.snapshot(state))
    assert ends[0].keys() == ends[1].keys()
    for name, value in ends[0].items():
        np.testing.assert_array_equal(value, ends[1][name], err_msg=name)


@pytest.mark.heavy
def test_one_layer_has_the_posterior_of_symmetric_dirichlet_topics():
    """The enumerated posterior of `hdp` with a sampled eta, by the sampler of a network."""
    plain = get("hdp").set_to("fixed").replaced(eta=Gamma(2.0, 2.0))
    model = get("hdp", topics="belief-network", layers=1).set_to("fixed").replaced(eta=Gamma(2.0, 2.0))
    subject = ModelSubject(model, Design.of(MICRO), "sparse")
    oracle = Oracle.of_model(plain, MICRO, nodes=32)
    assert agrees_with_oracle(subject, oracle, MICRO, draws=4000, false_alarm_rate=FALSE_ALARM_RATE).passed


@pytest.mark.parametrize(("model_id", "layers"), [("hdp", 2), ("hdp", 3), ("mt_hdp", 2)])
@pytest.mark.slow
def test_evidence_of_a_few_tokens_is_the_mean_over_the_generator(model_id, layers):
    """Summed over all partitions; at most 4.5 standard errors apart: a false alarm has probability 7e-6."""
    model = get(model_id, topics="belief-network", layers=layers).set_to("fixed")
    corpus = Design(np.array([3, 2]), 3, group=np.array([0, 1])).corpus(np.array([0, 0, 1, 1, 2]))
    design, rng = Design.of(corpus), np.random.default_rng(layers)
    hyper = model.draw_hyperparameters(design, rng)
    exact = np.exp([model.log_marginal(z, corpus, hyper) for z in model.assignments(corpus)]).sum()
    values = np.empty(6000)
    for i in range(values.size):
        latents, _ = model.simulate(design, rng)
        psi = model.topics.psi(latents, model.n_topics_of(latents), 3)
        values[i], counts = 1.0, np.zeros_like(psi)
        for k, w in zip(latents["z"], corpus.words, strict=True):
            values[i] *= (psi[k, w] + counts[k, w]) / (psi[k] + counts[k]).sum()
            counts[k, w] += 1
    error = values.std() / np.sqrt(values.size)
    assert abs(values.mean() - exact) < 4.5 * error
    other = hyper | {"link_rate": 3.0 * hyper["link_rate"]}
    wrong = np.exp([model.log_marginal(z, corpus, other) for z in model.assignments(corpus)]).sum()
    assert abs(values.mean() - wrong) > 4.5 * error


def test_links_that_are_lost_are_integrated_out_of_the_joint():
    """Of a topic without tokens the joint has none, and a token that has no links is impossible."""
    model, latents, corpus = drawn("hdp")
    z = np.where(latents["z"] == 0, 1, latents["z"])
    log_links = latents["log_links"].copy()
    log_links[:, 0] = -np.inf
    of_lost = network.log_densities(latents, 0)[1][:, 0].sum()
    with_links = model.log_likelihood(latents | {"z": z}, corpus)
    without = model.log_likelihood(latents | {"z": z, "log_links": log_links}, corpus)
    assert without == pytest.approx(with_links - of_lost)
    assert model.log_likelihood(latents | {"log_links": log_links}, corpus) == -np.inf


@pytest.mark.parametrize("layers", [1, 2, 3])
def test_documents_without_any_tokens(layers):
    model = get("hdp", topics="belief-network", layers=layers, width=3)
    corpus, rng = Corpus(np.zeros(0, int), [0, 0, 0], n_words=4), np.random.default_rng(0)
    kernel = model.kernels_in(load_room(PLAIN_PYTHON))["sparse"]
    state = kernel.step(rng, kernel.load(model.initial_latents(corpus, rng), corpus, model))
    kernel.check(state)
    latents = kernel.snapshot(state)
    assert model.n_topics_of(latents) == 0
    for name, value in model.quantities(latents, corpus).items():
        assert np.all(np.isfinite(value)), name
    words = model.frozen_topics(latents, corpus).words
    np.testing.assert_allclose(words, network.first_words(latents, 4)[None])
