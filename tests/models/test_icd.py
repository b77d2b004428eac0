"""IBP compound Dirichlet process of sentences: its law, moves of tables, references, new documents."""

from itertools import product

import jax
import numpy as np
import pytest
from bnpzoo.diagnostics.laboratory.oracle import invariance_residual
from bnpzoo.diagnostics.laboratory.patched import PLAIN_PYTHON, Change, load_room
from bnpzoo.diagnostics.laboratory.token_law import outcomes
from bnpzoo.kernels.segments import buffet as kernel_of_buffet
from bnpzoo.kernels.segments import urns
from bnpzoo.zoo.contract import Design, FrozenTopics, Probes
from bnpzoo.zoo.corpus import Corpus
from bnpzoo.zoo.families.segments import buffet
from bnpzoo.zoo.families.segments.predictive import SetsPredictive
from bnpzoo.zoo.models import get
from bnpzoo.zoo.toolbox.laws import log_sequences
from numpy.testing import assert_allclose
from numpyro import handlers
from scipy.special import logsumexp
from scipy.stats import chisquare

HYPER = {"alpha": 1.3, "gamma": 0.7, "kappa": 0.4, "eta": 0.5}
MODEL = get("icd", n_topics=2, **HYPER)
SENTENCES = Corpus([0, 0, 1, 2, 0], [0, 5], n_words=3, segment_ptr=[0, 2, 4, 5])
SEATS = MODEL.seats(Design.of(SENTENCES))


def test_law_of_dishes_is_the_focused_models_of_topics_with_sentences_for_documents():
    """To which strengths are a polynomial in the counts, and tables unknown; there is one word."""
    corpus = Corpus([0] * 6, [0, 6], n_words=1, segment_ptr=[0, 3, 5, 6])
    dishes, log_p = MODEL.dish_laws(MODEL.seats(Design.of(corpus)), HYPER)
    focused = get("focused", **{name: HYPER[name] for name in ("alpha", "gamma", "eta")})
    exact = [focused.log_marginal(row, corpus.of_sentences(), HYPER) for row in dishes]
    assert len(dishes) == 203
    assert_allclose(log_p, exact, rtol=0.0, atol=1e-12)


def test_law_of_dishes_sums_over_tables():
    found = buffet.listing((0, 0, 1, 1, 2))

    dishes, log_p = MODEL.dish_laws(SEATS, HYPER)
    together = np.zeros(5, np.int64)
    tables = [t for t in product(range(2), repeat=5) if t[0] == t[2] == t[4] == 0]
    terms = [buffet.log_law(SEATS, together, np.array(t), 1.3, 0.7) for t in tables]
    assert log_p[np.flatnonzero((dishes == 0).all(axis=1))[0]] == pytest.approx(logsumexp(terms), abs=1e-12)
    assert len(np.unique(found.dish, axis=0)) == len(dishes) == 52
    two = np.array([0, 0, 1, 1, 1])
    assert buffet.log_law(SEATS, np.array([0, 1, 0, 0, 0]), two * 0, 1.3, 0.7) == -np.inf


def dishes_drawn(n, **hyper):
    """Counts of the dishes of short sentences in n draws, and their law."""
    seats = MODEL.seats(Design.of(Corpus([0, 0, 0], [0, 3], segment_ptr=[0, 2, 3])))
    rng = np.random.default_rng(0)
    rows = [buffet.draw(seats, HYPER | hyper, "icd", rng)["dish"] for _ in range(n)]
    dishes, log_p = MODEL.dish_laws(seats, HYPER)
    counts = [sum(np.array_equal(row, dish) for row in rows) for dish in dishes]
    return np.array(counts), np.exp(log_p - logsumexp(log_p))


@pytest.mark.slow
def test_generator_draws_from_the_law_given_the_lengths():
    """A false alarm in 100,000; weights of another gamma are told."""
    counts, law = dishes_drawn(3000)
    assert chisquare(counts, law * counts.sum()).pvalue > 1e-5
    counts, law = dishes_drawn(3000, gamma=3.0)
    assert chisquare(counts, law * counts.sum()).pvalue < 1e-5


@pytest.mark.parametrize(
    ("having", "tables", "n_sentences"), [(1, 1, 1), (2, 5, 7), (3, 3, 3), (40, 90, 3000), (600, 600, 6000)]
)
def test_weights_of_tables_are_ratios_of_the_law(having, tables, n_sentences):
    again, first = kernel_of_buffet.weigh_next_table(0.7, tables, having, n_sentences)
    now = buffet.log_dish(having, tables, n_sentences, 0.7)
    assert np.log(again) == pytest.approx(
        buffet.log_dish(having, tables + 1, n_sentences, 0.7) - now, abs=1e-9
    )
    if having < n_sentences:
        more = buffet.log_dish(having + 1, tables + 1, n_sentences, 0.7) - now
        assert np.log(first) == pytest.approx(more, abs=1e-9)


def blocks_residual(*changes):
    """How far the moves of tables are from leaving the posterior of dishes as it is."""
    room, corpus = load_room(*changes, PLAIN_PYTHON), Corpus([0, 0, 0], [0, 3], segment_ptr=[0, 2, 3])
    kernel = MODEL.kernels_in(room)["blocked"]
    states = [
        {"z": np.array([0, 1, 0]), "dish": np.array(dish), "table": np.array([0, second, 0])}
        | {name: np.array(value) for name, value in HYPER.items()}
        for dish in ([0, 0, 0], [0, 0, 1], [0, 1, 0], [0, 1, 1], [0, 1, 2])
        for second in (0, 1)
        if second == 1 or dish[1] == 0
    ]
    index = {(*at["dish"], *at["table"]): i for i, at in enumerate(states)}
    matrix = np.zeros((len(states), len(states)))
    for at, row in zip(states, matrix, strict=True):

        def run(generator, at=at):
            state = kernel.load(at, corpus, MODEL)
            room(urns).block_pass(generator, state)
            after = kernel.snapshot(state)
            return index[*after["dish"], *after["table"]]

        for after, probability in outcomes(run, most=10):
            row[after] += probability
    assert_allclose(matrix.sum(axis=1), 1.0, rtol=1e-12)
    log_p = np.array([MODEL.log_joint(at, corpus) for at in states])
    return invariance_residual(matrix, np.exp(log_p - logsumexp(log_p)))


def test_moves_of_tables_leave_the_posterior_invariant():
    assert blocks_residual() < 1e-12
    left = Change(
        "segments/buffet.py",
        "    close_table(urn, c, n)\n    for slot",
        "    close_table(urn, c, 0)\n    for slot",
    )
    assert blocks_residual(left) > 1e-3


def test_predictive_is_a_ratio_of_the_joint():
    latents = MODEL.draw_hyperparameters(Design.of(SENTENCES), np.random.default_rng(0))
    latents |= {"z": np.array([0, 1, 1, 0, 0]), "dish": np.array([0, 1, 0, 2, 2])}
    latents |= {"table": np.array([0, 1, 0, 1, 0])}
    found = MODEL.quantities(latents, SENTENCES)["predictive"]
    for (_, w), share in zip(Probes.of(SENTENCES).cells, found, strict=True):
        by_word = []
        for word in range(3):
            longer = Corpus([*SENTENCES.words, word], [0, 6], n_words=3, segment_ptr=[0, 2, 4, 5, 6])
            terms = [
                MODEL.log_joint(
                    latents
                    | {
                        name: np.append(latents[name], x)
                        for name, x in {"z": k, "dish": c, "table": 0}.items()
                    },
                    longer,
                )
                for c in range(4)
                for k in range(2)
            ]
            by_word.append(logsumexp(terms))
        assert np.log(share) == pytest.approx(by_word[w] - logsumexp(by_word), abs=1e-12)


@pytest.mark.slow
def test_reference_sums_over_sets_of_dishes():
    """Words and lengths of every sentence, summed over sets by hand."""
    corpus = Corpus([0, 1, 1, 2, 0, 2], [0, 3, 3, 6], n_words=3, segment_ptr=[0, 2, 3, 6])
    with jax.enable_x64(True):
        program = handlers.seed(MODEL.reference.numpyro(corpus, 2), jax.random.key(1))
        sites = handlers.trace(program).get_trace()
    value = {name: np.asarray(site["value"]) for name, site in sites.items() if "value" in site}
    dishes, total = value["dishes"].reshape(3, 2, 2), 0.0
    for s, (d, words) in enumerate([(0, [0, 1]), (0, [1]), (2, [2, 0, 2])]):
        pi, g, terms = np.exp(value["log_sticks"][d]), value["strength"][d], []
        for on in product((False, True), repeat=2):
            if any(on):
                weights = np.exp(value["log_g"][s]) * on
                p = weights / weights.sum() @ dishes[d] @ value["phi"][:, words]
                mass, n = g[list(on)].sum(), len(words)
                rising = np.prod(mass + np.arange(n)) * 0.5**mass
                terms.append(np.prod(np.where(on, pi, 1.0 - pi)) * rising * np.prod(p))
        total += np.log(np.sum(terms))
    assert float(sites["words"]["fn"].log_factor) == pytest.approx(total, abs=1e-9)
    latents = MODEL.reference.latents(
        value | {n: np.array(v) for n, v in HYPER.items()}, corpus, np.random.default_rng(0)
    )
    assert np.isfinite(MODEL.log_joint(latents, corpus))


@pytest.mark.slow
def test_lengths_that_are_too_unlikely_are_told():
    design = Design(np.full(3, 400), 5)
    with pytest.raises(ValueError, match=r"^icd: hardly a draw from the prior has sentences of the design's"):
        get("icd", alpha=0.01, gamma=0.01, window=20).simulate(design, np.random.default_rng(0))


@pytest.mark.slow
def test_lengths_are_drawn_too():
    """A sentence has as many tokens as its dishes are strong, given that it has one; standard errors: six."""
    model, rng = get("icd", n_topics=2, window=2, **HYPER | {"alpha": 3.0}), np.random.default_rng(0)
    drawn = [model.simulate_lengths(Design(np.array([2, 0, 1]), 3), rng) for _ in range(2000)]
    latents, corpus = drawn[0]
    assert corpus.n_segments == 2
    assert corpus.doc_lengths[1] == 0
    assert np.isfinite(model.log_joint(latents, corpus))
    n = np.concatenate([np.diff(x.corpus.segment_ptr) for x in drawn])
    mean = 3.0 * 0.7 / (1.0 - np.exp(-3.0 * (1.0 - (1.0 + np.log(2.0)) ** -0.7)))
    assert abs(n.mean() - mean) < 6.0 * n.std() / np.sqrt(n.size)
    with pytest.raises(
        ValueError, match=r"^icd: none of 1,000 draws from the prior is without empty sentences"
    ):
        get("icd", alpha=0.01, window=2).simulate_lengths(Design(np.full(9, 9), 3), rng)


@pytest.mark.slow
def test_new_documents_are_scored():
    """Mean of estimates over the exact probability of words given lengths; six standard errors."""
    phi = np.random.default_rng(0).dirichlet(np.ones(3), 2)
    rng = np.random.default_rng(0)
    law = kernel_of_buffet.Sets(1.3, 0.7, np.full(2, 0.4), 0, 0)
    predictive = SetsPredictive(FrozenTopics(phi, np.ones((1, 2))), law, MODEL.seats)
    dishes, log_p = MODEL.dish_laws(SEATS, HYPER)
    exact = logsumexp(
        [
            p + np.log(phi[list(z), SENTENCES.words]).sum() + log_sequences(row, np.array(z), np.full(2, 0.4))
            for row, p in zip(dishes, log_p, strict=True)
            for z in product(range(2), repeat=5)
        ]
    ) - logsumexp(log_p)
    log_ratio = [predictive.log_documents(SENTENCES, rng, particles=40)[0] - exact for _ in range(400)]
    ratio = np.exp(log_ratio)
    assert abs(ratio.mean() - 1.0) < 6.0 * ratio.std() / np.sqrt(ratio.size) + 2e-3  # bias of a ratio
    assert ratio.std() < 0.3
    nothing = SENTENCES.keep(np.zeros(5, bool))
    completed = predictive.log_completion(nothing, SENTENCES, rng, burn_in=0, sweeps=5)
    assert_allclose(completed, np.log(phi.mean(axis=0))[SENTENCES.words])
