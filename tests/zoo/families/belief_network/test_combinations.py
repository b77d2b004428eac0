"""Topics under a Dirichlet belief network with documents of all kinds: edges, threads, refusals."""

from dataclasses import replace

import bnpzoo
import numpy as np
import pytest
from bnpzoo import Corpus, Gamma
from bnpzoo.diagnostics.laboratory.oracle import Oracle, agrees_with_oracle
from bnpzoo.diagnostics.laboratory.subject import ModelSubject
from bnpzoo.zoo.contract import Design
from bnpzoo.zoo.models import combinations, get
from samplers import is_of_a_family, of_sampler
from scipy import sparse

MODELS = [model_id for model_id, topics in combinations() if topics == "belief-network"]
LABELLED = [model_id for model_id in MODELS if hasattr(get(model_id), "labels")]

TAGS = sparse.csr_array(np.array([[1, 0, 1, 0], [0, 0, 0, 0], [0, 0, 1, 0]]))
"""Of three documents: of the four labels two are in none of them."""

CORPUS = Corpus(
    [0, 1, 1, 2, 0, 0, 5, 3, 3],
    [0, 4, 4, 9],
    n_words=7,
    covariates={"tags": TAGS},
    covariate_names={"tags": ["a", "b", "c", "d"]},
)
"""With an empty document, and words that nobody uses."""

OF_TASKS = replace(CORPUS, group=[0, 1, 1])
"""For the model that needs them; groups would be labels to others."""

EDGES = {
    "tiny shapes": {"eta": 1e-6, "layer_mass": 1e-6, "layer_rate": 1e6, "link_rate": 1e6, "layers": 3},
    "an empty layer": {"layer_mass": 1e-9, "layers": 3, "width": 4},
    "layers of one topic": {"width": 1, "layers": 3},
    "more layers than make sense": {"layers": 10, "width": 3},
    "a layer wider than makes sense": {"layers": 2, "width": 300, "layer_mass": 0.01},
    "one layer of tiny eta": {"layers": 1, "eta": 1e-6},
}


def of(model_id, **options):
    """Model of few topics; labeled LDA has one a label, and two besides."""
    few = {
        "labeled_lda": {"common": 2},
        "partially_labeled_lda": {"common": 2, "topics_per_label": 1},
        "hdp": {},
        "mt_hdp": {},
    }
    return get(model_id, topics="belief-network", **few.get(model_id, {"n_topics": 3}), **options)


def states(model, variant, n, corpus=CORPUS):
    """States of a chain of `n` sweeps, each recounted."""
    kernel, rng = model.kernel(variant), np.random.default_rng(0)
    state = kernel.load(model.initial_latents(corpus, rng), corpus, model)
    for _ in range(n):
        state = kernel.step(rng, state)
        kernel.check(state)
        yield kernel.snapshot(state)


@pytest.mark.parametrize("edge", EDGES)
@pytest.mark.parametrize(
    "model_id", [m if m == "lda" else pytest.param(m, marks=pytest.mark.heavy) for m in MODELS]
)
@pytest.mark.slow
def test_edges_stay_finite(model_id, edge):
    model, corpus = of(model_id, **EDGES[edge]), OF_TASKS if model_id == "mt_hdp" else CORPUS
    for variant in model.kernels:
        (*_, latents) = states(model, variant, 50, corpus)
        assert not any(np.isnan(values).any() for values in latents.values())
        assert not np.isnan(model.log_joint(latents, corpus))
        for name, value in model.quantities(latents, corpus).items():
            assert not np.isnan(value).any(), name
        words = model.frozen_topics(latents, corpus).words
        np.testing.assert_allclose(words.sum(axis=1), 1.0)
        predictive, rng = model.predictive(latents, corpus), np.random.default_rng(1)
        assert np.isfinite(predictive.log_completion(corpus, corpus, rng, burn_in=2, sweeps=3)).all()
        assert np.isfinite(predictive.log_documents(corpus, rng, particles=3)).all()


@pytest.mark.parametrize(
    "model_id",
    [of_sampler(is_of_a_family(m, "belief-network"), m) for m in MODELS if "n_topics" in get(m).arguments()],
)
def test_one_topic(model_id):
    model = get(model_id, topics="belief-network", n_topics=1, width=2)
    for variant in model.kernels:
        (*_, latents) = states(model, variant, 20)
        assert not latents["z"].any()
        assert np.isfinite(model.log_joint(latents, CORPUS))


@pytest.mark.parametrize("model_id", LABELLED)
@pytest.mark.slow
def test_topics_of_labels_that_nobody_has_are_linked_as_the_prior_has_it(model_id):
    """Links of topics without tokens have the mean of Gamma(popularity, link_rate) given popularity."""
    model = of(model_id, layers=2, width=2, layer_mass=4.0, layer_rate=1.0, link_rate=2.0, eta=0.5)
    found = []
    for latents in states(model, "sparse", 3000):
        empty = np.bincount(latents["z"], minlength=latents["log_links"].shape[1]) == 0
        if empty.any():
            shape = np.exp(latents["log_popularity"][0])[:, None]
            found.append(np.mean((np.exp(latents["log_links"]) - shape / 2.0)[:, empty]))
    assert len(found) > 100
    # a topic may be empty for some sweeps, in which its links are drawn anew: errors are of the white sort
    assert abs(np.mean(found)) < 5.0 * np.std(found) / np.sqrt(len(found))


def test_pfa_has_as_many_topics_as_the_layers_unless_told():
    model = get("pfa", topics=bnpzoo.BeliefNetwork(width=4))
    assert not model.opens_topics
    assert model.limit == 4
    assert model.replaced(width=7).limit == 7
    assert get("pfa", topics=bnpzoo.BeliefNetwork(width=4), n_topics=6).limit == 6
    assert get("pfa").limit == 0
    latents, _ = model.replaced(gamma=1.0, c=1.0).simulate(
        Design(np.array([2, 1]), 3), np.random.default_rng(0)
    )
    assert latents["r"].size == 5
    assert latents["log_links"].shape == (4, 4)


@pytest.mark.slow
def test_pfa_on_one_layer_is_pfa_with_a_sampled_eta():
    """The enumerated posterior of `pfa` with symmetric Dirichlet topics, by the sampler of a network."""
    hyper = {"n_topics": 2, "gamma": 1.5, "c": 0.8, "length_shape": 2.0}
    corpus = Corpus([0, 0, 1, 1, 2, 2], [0, 3, 6], n_words=3)
    plain = get("pfa", eta=Gamma(2.0, 2.0), **hyper)
    model = get("pfa", topics="belief-network", layers=1, eta=Gamma(2.0, 2.0), **hyper)
    subject = ModelSubject(model, Design.of(corpus))
    oracle = Oracle.of_model(plain, corpus, nodes=32)
    assert agrees_with_oracle(subject, oracle, corpus, draws=4000, false_alarm_rate=1e-5).passed
    wrong = Oracle.of_model(plain.replaced(eta=Gamma(20.0, 2.0)), corpus, nodes=32)
    assert not agrees_with_oracle(subject, wrong, corpus, draws=4000, false_alarm_rate=1e-5).passed


@pytest.mark.slow
def test_words_of_a_topic_without_tokens_are_drawn_however_small_the_shapes():
    """By the parallel sampler: of two words, each is all of an empty topic half of the time.

    Nothing but the second topic's words decides where the first document's only token goes; were its gamma
    variables to underflow, it would go there never.
    """
    corpus = Corpus([0], [0, 1], n_words=2)
    model = get("pfa", n_topics=2, gamma=20.0, c=1.0, length_shape=0.0, eta=1e-6)
    drawn = np.array([latents["z"][0] for latents in states(model, "parallel", 4000, corpus)])
    moved = np.mean(drawn[1:] != drawn[:-1])
    # the other topic has the word with probability 1/2, its weight then is that of the token's own topic
    assert 0.15 < moved < 0.35


def test_documents_with_responses_refuse():
    for model_id, expected in (("slda", "there are dirichlet, pitman-yor, found"), ("shdp", "")):
        with pytest.raises(ValueError, match=f"{model_id}: topics: {expected}") as caught:
            get(model_id, topics="belief-network")
        assert "\n" not in str(caught.value)
