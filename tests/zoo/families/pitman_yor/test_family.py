"""The models with Pitman-Yor topics: density, generator and predictions against enumeration of all tables."""

import json
from collections import Counter
from itertools import product

import numpy as np
import pytest
import xarray as xr
from bnpzoo.zoo.contract import Design, Gamma, Probes
from bnpzoo.zoo.corpus import Corpus, CorpusError
from bnpzoo.zoo.corpus.associations import Associations
from bnpzoo.zoo.families.pitman_yor.marginal import Cell
from bnpzoo.zoo.families.pitman_yor.restaurants import log_rising
from bnpzoo.zoo.inference.results import describe, model_of
from bnpzoo.zoo.models import get
from bnpzoo.zoo.priors import Beta
from scipy.special import gammaln, logsumexp
from scipy.stats import chisquare

FALSE_ALARM_RATE = 1e-5
MATRICES = (
    np.array([[0.7, 0.2, 0.0], [0.3, 0.5, 0.4], [0.0, 0.3, 0.6]]),
    np.array([[0.5, 0.0, 0.1], [0.5, 0.6, 0.0], [0.0, 0.4, 0.9]]),
)
FIXED = {"n_topics": 2, "a": 0.7, "b": 1.5, "alpha": 0.5, "eta": 0.4}


def corpus(*docs, n_words=3):
    """Corpus whose second half of documents is a second group."""
    lengths = [len(doc) for doc in docs]
    group = np.arange(len(docs)) * 2 // len(docs)
    matrices = [m[:n_words, :n_words] for m in MATRICES]
    design = Design(np.array(lengths), n_words, group, associations=Associations.of(matrices, normalise=True))
    return design.corpus(np.concatenate(docs))


A = corpus([0, 0], [0, 1], [0, 0], [0, 2])
B = corpus([0, 0, 1], [0, 1], [0, 1], [0, 0, 2])
C = corpus([0, 0, 1], [0, 1], [0, 2], [0, 1])
SMALL = corpus([0, 0], [2, 0])


def fixed(model_id, data=A, **changed):
    model = get(model_id, **FIXED | changed)
    return model, model.draw_hyperparameters(Design.of(data), np.random.default_rng(0))


def evidence(model, data, hyper):
    return logsumexp([model.log_marginal(z, data, hyper) for z in model.assignments(data)])


def states(model, data, hyper):
    """Latents of all values of topics and tables, for each state one of the choices of heads."""
    group = data.group_of_doc[data.doc_of]
    matrices = [model.topics.associations_of(data).matrix(g).toarray() for g in range(data.n_groups)]
    for z in model.assignments(data):
        cells = sorted(set(zip(group.tolist(), z.tolist(), data.words.tolist(), strict=True)))
        tokens = [np.flatnonzero((group == g) & (z == k) & (data.words == w)) for g, k, w in cells]
        dishes = [
            Cell(g, matrices[g][w], own.size).dishes() for (g, _, w), own in zip(cells, tokens, strict=True)
        ]
        for served in product(*dishes):
            association = np.full(z.size, -1)
            for own, words in zip(tokens, served, strict=True):
                association[own[: len(words)]] = words
            yield {"z": z, "association": association} | hyper


def log_density(model, latents, data):
    return model.log_joint(latents, data) + model.log_multiplicity(latents, data)


@pytest.mark.parametrize(
    ("model_id", "data", "exact"),
    [
        ("tpyp", A, -8.975307068790),
        ("hpyp", A, -8.144794844453),
        ("hpyp", B, -11.739749259577),
        ("tpyp", C, -10.317733759719),
    ],
)
def test_evidence_of_micro_corpora(model_id, data, exact):
    """Against another program, which enumerated 1,296 to 808,704 states."""
    model, hyper = fixed(model_id)
    assert evidence(model, data, hyper) == pytest.approx(exact, abs=1e-11)


def test_density_of_all_states():
    model, hyper = fixed("hpyp")
    everything = list(states(model, A, hyper))
    log_p = np.array([log_density(model, latents, A) for latents in everything])
    tables = np.array([np.count_nonzero(latents["association"] >= 0) for latents in everything])
    assert len(everything) == 1296
    assert logsumexp(log_p) == pytest.approx(-8.144794844453, abs=1e-11)
    assert np.exp(log_p - logsumexp(log_p)) @ tables == pytest.approx(7.414953, abs=1e-6)


@pytest.mark.heavy
def test_density_of_all_states_with_associations():
    model, hyper = fixed("tpyp")
    log_p, tables = np.array(
        [
            (log_density(model, latents, A), np.count_nonzero(latents["association"] >= 0))
            for latents in states(model, A, hyper)
        ]
    ).T
    assert log_p.size == 146_016
    assert logsumexp(log_p) == pytest.approx(-8.975307068790, abs=1e-11)
    assert np.exp(log_p - logsumexp(log_p)) @ tables == pytest.approx(7.115076731878, abs=1e-9)


@pytest.mark.parametrize("model_id", ["tpyp", "hpyp", "pyp"])
def test_predictions_are_those_of_a_longer_document(model_id):
    """Mean probability of a next word over all states, against the evidence with the word and without."""
    model, hyper = fixed(model_id, SMALL)
    cells = np.array(list(product(range(2), range(3))))
    probes = Probes(np.zeros((0, 2), int), np.zeros(0, int), cells)
    everything = list(states(model, SMALL, hyper))
    log_p = np.array([log_density(model, latents, SMALL) for latents in everything])
    shares = np.exp(log_p - logsumexp(log_p))
    found = shares @ [model.quantities(latents, SMALL, probes)["predictive"] for latents in everything]
    docs = np.split(SMALL.words, SMALL.doc_ptr[1:-1])
    longer = [corpus(*(np.append(doc, w) if j == d else doc for j, doc in enumerate(docs))) for d, w in cells]
    exact = np.exp([evidence(model, data, hyper) - logsumexp(log_p) for data in longer])
    np.testing.assert_allclose(found, exact, rtol=1e-10)
    np.testing.assert_allclose(found.reshape(2, 3).sum(axis=1), 1.0)


def test_frozen_topics_are_distributions_of_each_group():
    model, hyper = fixed("tpyp")
    latents = next(states(model, A, hyper))
    frozen = model.frozen_topics(latents, A)
    assert frozen.words.shape == (2, 2, 3)
    np.testing.assert_allclose(frozen.words.sum(axis=2), 1.0)
    np.testing.assert_array_equal(frozen.prior, np.full((2, 2), 0.5))


def test_a_new_word_is_what_words_of_an_even_base_become():
    model, hyper = fixed("tpyp")
    latents = next(states(model, A, hyper))
    even = np.full(3, 1.0 / 3.0)
    for words in ([0, 1, 2], [2], [1, 0]):
        found = model.new_word_probabilities(latents, A, np.array(words))
        expected = [(A.associations.matrix(g).toarray() @ even)[words] for g in range(2)]
        np.testing.assert_allclose(found, expected, rtol=1e-14)


def frequencies(draw, n):
    """How often each (topics, words, associations) comes up."""
    drawn = (draw() for _ in range(n))
    return Counter((*at["z"], *data.words, *at["association"]) for at, data in drawn)


@pytest.mark.parametrize("model_id", ["tpyp", "pyp"])
@pytest.mark.parametrize("again", [False, True], ids=["simulated", "data drawn again"])
@pytest.mark.slow
def test_generator_agrees_with_the_density(model_id, again):
    data = corpus([0, 0], [0], n_words=2)
    design, rng = Design.of(data), np.random.default_rng(0)
    model, hyper = fixed(model_id, data, b=0.3)
    exact = {}
    for words in product(range(2), repeat=3):
        for z in model.assignments(data):
            for association in product((-1, 0, 1), repeat=3):
                latents = {"z": z, "association": np.array(association)} | hyper
                at = model.log_joint(latents, design.corpus(np.array(words)))
                if at > -np.inf:
                    exact[(*z, *words, *association)] = np.exp(at)
    assert sum(exact.values()) == pytest.approx(1.0)

    def draw(generator=model):
        latents, made = generator.simulate(design, rng)
        return latents, generator.resample_data(latents, design, rng) if again else made

    def p_value(observed):
        expected = np.array(list(exact.values())) * sum(observed.values())
        counts = np.array([observed[key] for key in exact], float)
        rare = expected < 5.0
        pooled = [np.append(x[~rare], x[rare].sum()) for x in (counts, expected)]
        keep = pooled[1] > 0
        return chisquare(pooled[0][keep], pooled[1][keep]).pvalue

    observed = frequencies(draw, 1500)
    assert set(observed) <= set(exact)
    assert p_value(observed) > FALSE_ALARM_RATE
    wrong, _ = fixed(model_id, data, b=20.0)
    assert p_value(frequencies(lambda: draw(wrong), 1500)) < FALSE_ALARM_RATE


def test_identity_makes_tpyp_an_hpyp():
    (tpyp, hyper), (hpyp, _) = fixed("tpyp"), fixed("hpyp")
    plain = Corpus(A.words, A.doc_ptr, n_words=3, group=A.group, associations=Associations.identity(2, 3))
    for z in list(tpyp.assignments(A))[::37]:
        assert tpyp.log_marginal(z, plain, hyper) == pytest.approx(hpyp.log_marginal(z, A, hyper))


def test_without_groups_there_is_one():
    data = Corpus([0, 0, 1], [0, 2, 3])
    (hpyp, hyper), (pyp, _) = fixed("hpyp", data), fixed("pyp", data)
    assert hyper["alpha"].shape == (1,)
    for z in hpyp.assignments(data):
        assert hpyp.log_marginal(z, data, hyper) == pytest.approx(pyp.log_marginal(z, data, hyper))


@pytest.mark.parametrize("b", [1.5, 1e-3, 1e6])
def test_without_a_discount(b):
    expected = 3 * np.log(b) - gammaln(b + 7) + gammaln(b + 1)  # b^T / (b)_M, over b
    assert log_rising(b, 0.0, 7, 4) == pytest.approx(expected)
    (limit, hyper), (small, close) = fixed("tpyp", a=0.0, b=b), fixed("tpyp", a=1e-9, b=b)
    z = np.array([0, 1, 0, 0, 1, 0, 0, 1])
    assert limit.log_marginal(z, A, hyper) == pytest.approx(small.log_marginal(z, A, close))


def test_a_large_discount_gives_every_token_a_table():
    model, hyper = fixed("hpyp", a=0.999)
    densities = {
        np.count_nonzero(latents["association"] >= 0): log_density(model, latents, A)
        for latents in states(model, A, hyper)
        if not latents["z"].any()
    }
    assert max(densities, key=densities.__getitem__) == A.n_tokens
    assert np.isfinite(evidence(model, A, hyper))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"a": 1.0}, r"hpyp: a: expected a number in \[0, 1\) or a Beta prior, found 1.0"),
        ({"a": Gamma()}, r"hpyp: a: expected a number in \[0, 1\) or a Beta prior, found Gamma"),
        ({"b": -0.7}, "hpyp: b: expected a number above -0.7 or a Gamma prior, found -0.7"),
        (
            {"b": 0.0, "a": Beta()},
            "hpyp: b: expected a positive number from 1e-300 to 1e300 or a Gamma prior, found 0.0",
        ),
        ({"b": np.nan}, "hpyp: b: expected a number above -0.7"),
        (
            {"eta": Beta()},
            "hpyp: eta: expected a positive number from 1e-300 to 1e300 or a Gamma prior, found Beta",
        ),
        ({"n_topics": 0}, "n_topics: expected a whole number, 1 or more, found 0"),
        ({"n_topics": Gamma(1.0, 1.0)}, r"n_topics: expected a whole number, 1 or more, found Gamma\("),
    ],
)
def test_bad_hyperparameters(settings, message):
    with pytest.raises(ValueError, match=message):
        get("hpyp", **settings)


def test_settings_are_written_and_read():
    model = get("tpyp", n_topics=3, a=Beta(2.0, 1.5), b=0.5, eta=Gamma(1.0, 0.25))
    tree = xr.DataTree()
    tree.attrs = {"model": "tpyp", "hyperparameters": json.dumps(describe(model))}
    assert model_of(tree) == model
    assert model.sampled() == ("alpha", "eta", "a")


def test_tpyp_needs_associations():
    with pytest.raises(CorpusError, match="expected a corpus with associations, found none"):
        get("tpyp").simulate(Design(np.array([2]), 3), np.random.default_rng(0))


@pytest.mark.parametrize("association", [[-1] * 8, [2] + [0] * 7])
def test_latents_of_other_words_are_refused(association):
    model, hyper = fixed("tpyp")
    latents = {"z": np.zeros(8, np.int64), "association": np.array(association)} | hyper
    with pytest.raises(ValueError, match="association: expected a token that heads a table"):
        model.kernel().load(latents, A, model)
