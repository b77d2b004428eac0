"""Weight-agnostic process: its law by hand and by enumeration, limits, references, new documents."""

from itertools import product
from math import exp, lgamma, log

import jax
import numpy as np
import pytest
from bnpzoo.diagnostics.laboratory.oracle import Oracle, agrees_with_oracle
from bnpzoo.diagnostics.laboratory.subject import ModelSubject
from bnpzoo.kernels.segments.particles import Sticks
from bnpzoo.zoo.contract import Design, FrozenTopics, Probes
from bnpzoo.zoo.corpus import Corpus, CorpusError
from bnpzoo.zoo.families.segments import family
from bnpzoo.zoo.families.segments.law import log_tables, partitions
from bnpzoo.zoo.families.segments.order import Seating, seating, sentence_starts
from bnpzoo.zoo.families.segments.predictive import SegmentsPredictive
from bnpzoo.zoo.models import get
from bnpzoo.zoo.toolbox.laws import log_sequences
from numpy.testing import assert_allclose, assert_array_equal
from numpyro import handlers
from scipy.special import gammaln, logsumexp


def seats_of(lengths, order="round_robin"):
    """Seating of one document with sentences of given lengths."""
    n = np.array([sum(lengths)])
    return seating(np.concatenate([[0], np.cumsum(lengths)]), n, order)


def laws(seats, a=1.0, b=1.0, zeta=1.0):
    """All dishes of a document, their log probabilities and numbers."""
    rows = partitions(seats)
    of_tables = log_tables(rows.tables, a, b, zeta)
    return (
        rows.dish,
        np.bincount(rows.tables.document, of_tables),
        np.bincount(rows.tables.document, rows.tables.is_new),
    )


def log_beta(x, y):
    return lgamma(x) + lgamma(y) - lgamma(x + y)


def log_law(seats, dish, a, b, zeta):
    """Log probability of dishes, one token after the other; a and b by table."""
    out, sentences, seen = 0.0, {}, set()
    for i in np.argsort(seats.time):
        tables = sentences.setdefault(int(seats.sentence[i]), {})
        c = int(dish[i])
        if c not in tables:
            out += (0.0 if c in seen else log(zeta)) - log(len(seen) - len(tables) + zeta)
            seen.add(c)
        tables[c] = tables.get(c, 0) + 1
    for tables in sentences.values():
        sizes = list(tables.values())
        for j, size in enumerate(sizes):
            out += log_beta(a[j] + size - 1, b[j] + sum(sizes[j + 1 :])) - log_beta(a[j], b[j])
    return out


@pytest.mark.parametrize("lengths", [[2, 2], [3, 2], [2, 2, 2], [3, 2, 2], [4, 1, 2]], ids=str)
@pytest.mark.parametrize("order", ["round_robin", "reading"])
def test_law_term_by_term_and_its_sum(lengths, order):
    rng = np.random.default_rng(sum(lengths))
    for zeta in (0.3, 2.5):
        a, b = rng.uniform(0.3, 3.0, (2, max(lengths)))
        seats = seats_of(lengths, order)
        dishes, log_p, _ = laws(seats, a, b, zeta)
        assert np.exp(log_p).sum() == pytest.approx(1.0, abs=1e-13)
        for row in rng.integers(len(dishes), size=20):
            assert log_p[row] == pytest.approx(log_law(seats, dishes[row], a, b, zeta), abs=1e-11)


def test_law_of_three_tokens_by_hand():
    seats = seats_of([2, 1])
    assert_array_equal(seats.time, [0, 2, 1])
    dishes, log_p, _ = laws(seats)
    found = {
        "".join(map(str, row[np.argsort(seats.time)])): exp(p) for row, p in zip(dishes, log_p, strict=True)
    }
    assert found == pytest.approx({"000": 1 / 4, "001": 1 / 4, "010": 1 / 4, "011": 1 / 8, "012": 1 / 8})


def test_sentences_without_more_tokens_are_passed_over():
    assert_array_equal(seats_of([3, 1, 2]).time, [0, 3, 5, 1, 2, 4])
    assert_array_equal(seats_of([3, 1, 2], "reading").time, np.arange(6))


@pytest.mark.parametrize(
    ("lengths", "distance"), [([2, 2], 0.083), ([3, 3], 0.130), ([3, 2, 2], 0.168)], ids=str
)
def test_the_law_depends_on_the_order(lengths, distance):
    found = []
    for order in ("round_robin", "reading"):
        dishes, log_p, _ = laws(seats_of(lengths, order))
        same = [tuple((row[:, None] == row[None]).ravel()) for row in dishes]
        found.append(dict(zip(same, np.exp(log_p), strict=True)))
    assert sum(abs(found[0][key] - found[1][key]) for key in found[0]) / 2 == pytest.approx(
        distance, abs=5e-4
    )


@pytest.mark.parametrize("discount", [0.0, 0.4])
def test_tables_of_a_sentence_are_a_pitman_yor_restaurant(discount):
    concentration, n = 0.9, 6
    j = np.arange(1, n + 1)
    dishes, log_p, _ = laws(seats_of([n]), 1 - discount + 0.0 * j, concentration + j * discount, 0.7)
    for row, found in zip(dishes, log_p, strict=True):
        sizes = np.bincount(row)
        expected = sum(log(concentration + k * discount) for k in range(1, sizes.size))
        expected += np.sum(gammaln(sizes - discount) - gammaln(1 - discount))
        expected += lgamma(concentration + 1) - lgamma(concentration + n)
        assert found == pytest.approx(expected, abs=1e-12)


def test_in_one_sentence_zeta_says_nothing():
    _, one, _ = laws(seats_of([5]), 1.3, 0.8, 0.2)
    _, other, _ = laws(seats_of([5]), 1.3, 0.8, 7.0)
    assert_allclose(one, other, atol=1e-12)


def test_weights_are_independent_by_table_and_not_by_dish():
    """Theorem 2 holds at fixed numbers of tables: sizes of first tables, and of a dish that is shared."""
    dishes, log_p, _ = laws(seats_of([3, 3]))
    p = np.exp(log_p)

    def dependence(first, second, where):
        joint = np.zeros((4, 4))
        np.add.at(joint, (first[where], second[where]), p[where] / p[where].sum())
        return np.abs(joint - np.outer(joint.sum(axis=1), joint.sum(axis=0))).max()

    one, other = dishes[:, :3], dishes[:, 3:]
    sizes = [(sentence == sentence[:, :1]).sum(axis=1) for sentence in (one, other)]
    assert dependence(sizes[0], sizes[1], np.ones(len(p), bool)) < 1e-14
    of_dish = [(sentence == 0).sum(axis=1) for sentence in (one, other)]
    assert dependence(of_dish[0], of_dish[1], of_dish[1] > 0) > 1e-3


def log_urns(counts, parameter):
    """Log probability of sequences with these counts, (…, outcomes)."""
    total = parameter * counts.shape[-1]
    out = gammaln(total) - gammaln(total + counts.sum(axis=-1))
    return out + np.sum(gammaln(parameter + counts) - gammaln(parameter), axis=-1)


ONES = (1.0, 1.0)
ENUMERATED = [
    ([3, 2, 2], "0100120", ONES, (1, 1, 1), (-7.8753894267, 2.88319980, 0.47285558, 0.49837032)),
    ([3, 2, 2], "0100120", ONES, (0.7, 0.3, 0.2), (-8.6446484671, 2.73618308, 0.44116112, 0.40467460)),
    (
        [3, 3], "010102", (np.array([1.5, 2, 0.5]), np.array([0.7, 1.2, 2])), (0.6, 0.3, 0.2),
        (-7.7120549346, 2.21661404, 0.37879825, 0.32695740),
    ),
    (
        [2, 2, 1], "01002", (np.array([1, 1.5]), np.array([1.2, 0.8])), (0.7, 0.6, 0.5),
        (-6.0085605293, 2.37260899, 0.55581576, 0.51345264),
    ),
]  # fmt: skip
"""Sentences, words in the order of the process, a and b, the others; evidence and posterior means."""


@pytest.mark.parametrize(("lengths", "words", "sticks", "others", "expected"), ENUMERATED)
def test_posterior_by_enumeration(lengths, words, sticks, others, expected):
    """Log evidence, mean number of dishes, chance of one dish and of one topic for the first two tokens."""
    zeta, kappa, eta = others
    seats = seats_of(lengths)
    dishes, log_p, n_dishes = laws(seats, sticks[0], sticks[1], zeta)
    z = np.array(list(product(range(2), repeat=len(words))))
    w = np.array([int(x) for x in words])[seats.time]
    in_topic = np.stack([((z == k)[:, :, None] & (w[:, None] == np.arange(3))).sum(1) for k in range(2)], 1)
    log_words = log_urns(in_topic, eta).sum(axis=1)
    log_joint = np.array(
        [
            p + log_words + sum(
                log_urns(np.stack([(z[:, row == c] == k).sum(axis=1) for k in range(2)], axis=1), kappa)
                for c in range(row.max() + 1)
            )
            for row, p in zip(dishes, log_p, strict=True)
        ]
    )  # fmt: skip
    evidence = logsumexp(log_joint)
    p = np.exp(log_joint - evidence)
    first, second = np.argsort(seats.time)[:2]
    found = (
        evidence,
        p.sum(axis=1) @ n_dishes,
        p.sum(axis=1) @ (dishes[:, first] == dishes[:, second]),
        p.sum(axis=0) @ (z[:, first] == z[:, second]),
    )
    assert found == pytest.approx(expected, abs=6e-9)


def test_joint_density_is_that_of_its_parts():
    model = get("was", n_topics=2, a=1.3, b=0.8, zeta=0.7, kappa=0.6, eta=0.5)
    corpus = Corpus([0, 1, 1, 2, 0], [0, 3, 5], n_words=3, segment_ptr=[0, 2, 3, 5])
    latents = model.draw_hyperparameters(Design.of(corpus), np.random.default_rng(0))
    latents |= {"z": np.array([0, 1, 1, 0, 0]), "dish": np.array([0, 1, 0, 0, 0])}
    seats = [seats_of([2, 1]), seats_of([2])]
    expected = sum(
        log_law(one, dish, [1.3] * 3, [0.8] * 3, 0.7)
        for one, dish in zip(seats, ([0, 1, 0], [0, 0]), strict=True)
    )
    expected += sum(log_urns(np.array(counts), 0.6) for counts in ([1, 1], [0, 1], [2, 0]))
    expected += sum(log_urns(np.array(counts), 0.5) for counts in ([2, 0, 1], [0, 2, 0]))
    assert model.log_joint(latents, corpus) == pytest.approx(expected, abs=1e-12)


def test_sentences_are_needed():
    corpus = Corpus([0, 1, 0], [0, 3])
    message = (
        "was: expected sentences, found none: read text with --sentences lines .* such as --set window=20"
    )
    for call in (
        lambda: get("was").initial_latents(corpus, np.random.default_rng(0)),
        lambda: get("was").reference.numpyro(corpus, 3),
    ):
        with pytest.raises(CorpusError, match=message):
            call()
    assert_array_equal(sentence_starts(None, np.array([5, 0, 3]), 2, "was"), [0, 2, 4, 5, 7, 8])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"order": "backwards"}, "was: order: expected round_robin or reading, found 'backwards'"),
        ({"window": -1}, "was: window: expected a whole number, 0 or more, found -1"),
        ({"most_dishes": 1.5}, "was: most_dishes: expected a whole number, 0 or more, found 1.5"),
        ({"n_topics": -1}, "was: n_topics: expected a whole number, 0 or more, found -1"),
        ({"tau": 2.0}, "was: tau: expected n_topics=0, as many topics as are needed, found 10"),
    ],
)
def test_bad_options_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        get("was", **arguments)


def test_limits_are_conditions():
    """The law within limits is the law without them, given that they are kept."""
    model, limited = (get("was", most_dishes=m, most_tables=m).set_to("fixed") for m in (0, 2))
    seats = seats_of([3, 2])
    hyper = model.draw_hyperparameters(Design(np.array([5]), 2), np.random.default_rng(0))
    all_dishes, log_p = model.dish_laws(seats, hyper)
    within = all_dishes.max(axis=1) < 2
    some, some_log_p = limited.dish_laws(seats, hyper)
    assert_array_equal(some, all_dishes[within])
    assert_allclose(some_log_p, log_p[within], rtol=1e-12)
    latents = {"z": np.zeros(5, int), "dish": all_dishes[~within][0]} | hyper
    assert limited.log_dishes(latents, seats) == -np.inf


def test_the_generator_keeps_to_limits_or_gives_up(monkeypatch):
    design = Design(np.array([6, 6]), 3)
    model = get("was", most_dishes=2, most_tables=2, window=3)
    for seed in range(5):
        latents, _ = model.simulate(design, np.random.default_rng(seed))
        assert latents["dish"].max() < 2
    monkeypatch.setattr(family, "MOST_DRAWS", 20)
    with pytest.raises(ValueError, match="expected most_dishes and most_tables that such documents keep to"):
        get("was", most_dishes=1, b=50.0, window=3).simulate(
            Design(np.full(3, 9), 3), np.random.default_rng(0)
        )


@pytest.mark.slow
def test_reference_is_the_sum_over_all_dishes():
    model = get("was").set_to("prior")
    design = Design(np.array([4, 0, 3, 5]), 3)
    corpus = model.simulate(design, np.random.default_rng(0)).corpus
    with jax.enable_x64(True):
        program = handlers.seed(model.reference.numpyro(corpus, 5), jax.random.key(1))
        sites = handlers.trace(program).get_trace()
        seen = sum(float(s["fn"].log_prob(s["value"])) for name, s in sites.items() if "words" in name)
        values = {name: np.asarray(site["value"]) for name, site in sites.items()}
    seats, expected = model.seats(design), 0.0
    for d in (0, 2, 3):
        own = seats.document == d
        dishes, log_p = model.dish_laws(Seating(*(x[own] for x in seats)), values)
        of_words = np.log(values["dishes"].reshape(4, 5, 2)[d] @ values["phi"])
        expected += np.logaddexp.reduce(
            [p + of_words[row, corpus.words[own]].sum() for row, p in zip(dishes, log_p, strict=True)]
        )
    assert seen == pytest.approx(expected, abs=1e-10)
    latents = model.reference.latents(values, corpus, np.random.default_rng(0))
    assert np.isfinite(model.log_joint(latents, corpus))


def test_references_say_what_is_too_long():
    corpus = Corpus(np.zeros(40, int), [0, 3, 40])
    with pytest.raises(
        CorpusError, match=r"expected at most 100,000 rows, found .*; document 1 has 37 tokens"
    ):
        get("was", window=5).reference.stan_data(corpus, 6)


@pytest.mark.parametrize("of_dish", [(0.4, 0.4), (0.7, 0.1)], ids=["even", "uneven"])
def test_new_documents_are_scored_without_bias(of_dish):
    """Mean of estimates over exact probabilities; six standard errors, a false alarm in 5e8."""
    phi = np.random.default_rng(0).dirichlet(np.ones(3), 2)
    hyper, kappa = {"a": 1.7, "b": 0.8, "zeta": 0.6}, np.array(of_dish)
    model = get("was", n_topics=2)
    design = Design(np.array([5, 0, 4]), 3, segment_ptr=np.array([0, 2, 5, 6, 9]))
    corpus = design.corpus(np.array([0, 1, 1, 2, 0, 1, 0, 0, 2]))
    law = Sticks(*hyper.values(), kappa, truncation=0)
    predictive = SegmentsPredictive(FrozenTopics(phi, np.ones((1, 2))), law, model.seats)
    predictive.check(corpus)
    seats, exact = model.seats(design), np.zeros(3)
    for d in (0, 2):
        own = seats.document == d
        dishes, log_p = model.dish_laws(Seating(*(x[own] for x in seats)), hyper)
        exact[d] = logsumexp(
            [
                p + np.log(phi[list(z), corpus.words[own]]).sum() + log_sequences(row, np.array(z), kappa)
                for row, p in zip(dishes, log_p, strict=True)
                for z in product(range(2), repeat=int(own.sum()))
            ]
        )
    rng = np.random.default_rng(0)
    ratio = np.exp([predictive.log_documents(corpus, rng, particles=4) - exact for _ in range(4000)])
    assert_allclose(ratio[:, 1], 1.0, rtol=1e-12)
    error = (ratio.mean(axis=0) - 1.0) / (ratio.std(axis=0) / np.sqrt(len(ratio)) + 1e-12)
    assert np.abs(error).max() < 6.0
    assert ratio.std() < 0.3
    completed = predictive.log_completion(corpus, corpus, rng, burn_in=0, sweeps=50)
    empty = predictive.log_completion(corpus.keep(np.zeros(9, bool)), corpus, rng, burn_in=0, sweeps=5)
    assert np.all(completed < 0.0)
    assert_allclose(empty, np.log(kappa / kappa.sum() @ phi)[corpus.words])


def test_new_documents_of_limited_models_are_refused():
    model = get("was", most_dishes=3, window=2)
    latents, corpus = model.simulate(Design(np.array([4]), 3), np.random.default_rng(0))
    with pytest.raises(ValueError, match="new documents are scored without limits"):
        model.predictive(latents, corpus)


def test_quantities_by_hand():
    model = get("was", n_topics=2, a=1.0, b=1.0, zeta=0.5, kappa=0.6, eta=0.5)
    corpus = Corpus([0, 1, 1, 2, 0], [0, 3, 5], n_words=3, segment_ptr=[0, 2, 3, 5])
    latents = model.draw_hyperparameters(Design.of(corpus), np.random.default_rng(0))
    latents |= {"z": np.array([0, 1, 1, 0, 0]), "dish": np.array([0, 1, 0, 0, 0])}
    found = model.quantities(latents, corpus)
    assert found["dishes_per_document"] == 1.5
    assert found["dishes_per_sentence"] == pytest.approx(4 / 3)
    words = np.array([[2.5, 0.5, 1.5], [0.5, 2.5, 0.5]]) / [[4.5], [3.5]]
    dishes = np.array([[1.6, 1.6], [0.6, 1.6]]) / [[3.2], [2.2]]  # of the first document
    at_first = (dishes.sum(axis=0) + 0.5 / 2) / 2.5 @ words
    at_second = (np.array([2.6, 0.6]) / 3.2 + 0.5 / 2) / 1.5 @ words
    expected = [(at_first, at_second)[d][w] for d, w in Probes.of(corpus).cells]
    assert_allclose(found["predictive"], expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("variant", "is_exact"), [("blocked", True), ("past_only", False), ("as_if_last", False)]
)
@pytest.mark.slow
def test_long_chains_against_enumeration(variant, is_exact):
    """On sentences of 2, 2 and 1 tokens, where what is not exact is off by 0.05 and 0.09."""
    model = get("was", n_topics=2, a=1.0, b=1.0, zeta=1.0, kappa=0.3, eta=0.2)
    corpus = Corpus([0, 0, 1, 2, 0], [0, 5], n_words=3, segment_ptr=[0, 2, 4, 5])
    subject = ModelSubject(model, Design.of(corpus), variant)
    verdict = agrees_with_oracle(subject, Oracle.of_model(model, corpus), corpus, draws=6000)
    assert verdict.status == ("passed" if is_exact else "rejected"), verdict
