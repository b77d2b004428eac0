"""Seeded topics: how seeds are told, what they do, and what is said where they cannot be had."""

import json

import bnpzoo
import numpy as np
import pytest
import xarray as xr
from bnpzoo.zoo.contract import Design
from bnpzoo.zoo.families.lda.seeded import Seeded
from bnpzoo.zoo.inference.results import describe, model_of
from bnpzoo.zoo.models import get
from bnpzoo.zoo.toolbox.laws import log_sequences

CORPUS = bnpzoo.Corpus.from_texts(
    [["price", "market", "trade"], ["goal", "team", "goal"], ["team", "market"], []] * 5
)
SEEDS = (("market",), (), ("goal", "team"))


def seeded(**arguments):
    return get("lda", topics="seeded", n_topics=4, **arguments)


def test_a_fit_s_attributes_bring_seeds_back():
    model = seeded(seeds=[["market", 3], []], seed_tokens=np.int64(7))
    tree = xr.DataTree()
    tree.attrs = {"model": "lda", "hyperparameters": json.dumps(describe(model))}
    assert model_of(tree) == model
    assert model.topics.seeds == (("market", 3), ())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"seeds": "market"}, "lda: seeds: expected a list of words for each of the first topics"),
        ({"seeds": ["market"]}, "lda: seeds: expected a list of words for each .*, found 'market'"),
        ({"seeds": [["a", "a"]]}, "lda: seeds: expected different words in a topic"),
        ({"seeds": [["a"]] * 5}, "lda: seeds: expected at most 4 topics, as n_topics says, found 5"),
        ({"seeds": [[1.5]]}, r"lda: seeds: expected words or their numbers, found 1.5"),
        ({"seed_tokens": 0}, "lda: seed_tokens: expected a whole number, 1 to 1,000,000, found 0"),
        ({"seed_tokens": 2.5}, "lda: seed_tokens: expected a whole number, .*, found 2.5"),
    ],
)
def test_wrong_seeds_are_told_in_a_line(arguments, message):
    with pytest.raises(ValueError, match=message) as caught:
        seeded(**arguments)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("seeds", "message"),
    [
        (
            [["goal", "xyzzy"], ["cheese"]],
            r"seeds: words that the corpus does not have: 'xyzzy' \(topic 0\), 'cheese' \(topic 1\)",
        ),
        ([[17]], r"seeds: words that the corpus does not have: 17 \(topic 0\)"),
        ([["goal", 0]], "seeds: expected different words in a topic, found one as a text and a number"),
    ],
)
def test_seeds_that_the_corpus_does_not_know(seeds, message):
    with pytest.raises(ValueError, match=message):
        bnpzoo.sample(seeded(seeds=seeds), CORPUS, chains=1, tune=1, draws=1)


def test_models_that_open_topics_take_no_seeds():
    with pytest.raises(
        ValueError, match="hdp: topics: there are dirichlet, pitman-yor, belief-network, found 'seeded'"
    ):
        get("hdp", topics="seeded")


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.slow
def test_topic_k_is_that_of_the_kth_seeds(order):
    model = get("lda", topics="seeded", n_topics=2, seeds=[["market"], ["goal"]][::order])
    tree = bnpzoo.sample(model, CORPUS, chains=2, tune=20, draws=20, seed=1)
    z, words = tree["latents"]["z"].to_numpy(), CORPUS.vocabulary[CORPUS.words]
    for topic, word in enumerate(["market", "goal"][::order]):
        assert np.mean(z[..., words == word] == topic) > 0.9


def test_likelihood_is_that_of_a_corpus_that_begins_with_the_seeds():
    """By the chain rule, with the seeds' tokens for those that came before."""
    model, rng = seeded(seeds=SEEDS, seed_tokens=3), np.random.default_rng(0)
    latents, corpus = model.simulate(Design.of(CORPUS), rng)
    topic, word = np.repeat(model.topics.pairs(corpus, 4), 3, axis=0).T
    shapes = np.full(corpus.n_words, float(latents["eta"]))
    z, words = np.append(topic, latents["z"]), np.append(word, corpus.words)
    expected = log_sequences(z, words, shapes) - log_sequences(topic, word, shapes)
    assert model.log_likelihood(latents, corpus) == pytest.approx(expected, rel=1e-12)


def test_without_seeds_it_is_the_symmetric_prior():
    plain, bare = get("lda", n_topics=4), seeded()
    latents, corpus = plain.simulate(Design.of(CORPUS), np.random.default_rng(3))
    assert bare.log_joint(latents, corpus) == pytest.approx(plain.log_joint(latents, corpus), rel=1e-13)
    run = {"chains": 1, "tune": 0, "draws": 8, "seed": 2}
    ends = [bnpzoo.sample(model, corpus, **run)["latents"]["z"] for model in (plain, bare)]
    np.testing.assert_array_equal(*ends)


def test_numbers_and_texts_name_the_same_words():
    number = CORPUS.vocabulary.tolist().index("goal")
    pairs = Seeded(seeds=(("goal",),)).pairs(CORPUS, 4)
    np.testing.assert_array_equal(pairs, [[0, number]])
    np.testing.assert_array_equal(Seeded(seeds=((number,),)).pairs(Design.of(CORPUS), 4), pairs)
