"""Models whose dishes come from urns: the law, enumeration, moves of blocks, references, new documents."""

from itertools import product

import jax
import numpy as np
import pytest
from bnpzoo.diagnostics.laboratory.oracle import invariance_residual
from bnpzoo.diagnostics.laboratory.patched import PLAIN_PYTHON, Change, load_room
from bnpzoo.diagnostics.laboratory.token_law import outcomes
from bnpzoo.kernels.segments import urns
from bnpzoo.zoo.contract import Design, FrozenTopics, Probes
from bnpzoo.zoo.corpus import Corpus
from bnpzoo.zoo.families.segments.order import Seating
from bnpzoo.zoo.families.segments.predictive import SegmentsPredictive
from bnpzoo.zoo.families.segments.urns import Seated
from bnpzoo.zoo.models import get
from bnpzoo.zoo.toolbox.laws import log_sequences
from numpy.testing import assert_allclose
from numpyro import handlers
from scipy.special import logsumexp

HYPER = {
    "tjb_hdp": {"alpha": 1.3, "gamma": 0.7, "kappa": 0.4, "eta": 0.5},
    "mqr_hdp": {"alpha": 1.3, "epsilon": 0.6, "kappa": 0.4, "eta": 0.5},
}
FORGOTTEN = {
    "tjb_hdp": Change(
        "segments/franchise.py", "served = urn.served[slot]\n", "served = urn.served[slot] + (slot == c)\n"
    ),
    "mqr_hdp": Change(
        "segments/mixture.py",
        "own = n * math.log1p(-epsilon) - log_rising(urn.sizes[OWN] + alpha, n)\n",
        "own = n * math.log1p(-epsilon) - log_rising(alpha, n)\n",
    ),
}
SENTENCES = Corpus([0, 0, 1, 2, 0], [0, 5], n_words=3, segment_ptr=[0, 2, 4, 5])

each = pytest.mark.parametrize("name", HYPER)


def made(name, **options):
    return get(name, n_topics=2, **HYPER[name], **options)


@each
@pytest.mark.parametrize("most_dishes", [0, 2])
def test_law_is_the_product_of_what_each_token_finds(name, most_dishes):
    model = made(name, most_dishes=most_dishes)
    seats = model.seats(Design.of(SENTENCES))
    listing = model.listing(seats, most_dishes)
    pairs = list(zip(listing.tokens["dish"], listing.tokens[model.mark], strict=True))
    log_p = [model.log_dishes({**HYPER[name], "dish": c, model.mark: m}, seats) for c, m in pairs]
    for (dish, mark), found in zip(pairs[::5], log_p[::5], strict=True):
        seated, expected = Seated(), 0.0
        for s, c, m in zip(seats.sentence.tolist(), dish, mark, strict=True):
            (seat,) = [x for x in model.open_seats(s, seated, HYPER[name]) if (x.dish, x.mark) == (c, m)]
            expected += np.log(seat.weight)
            seated = seated.and_one(s, seat.dish, seat.mark)
        assert found == pytest.approx(expected, abs=1e-12)
    assert len({(*c, *m) for c, m in pairs}) == len(pairs)
    total = float(logsumexp(log_p))
    assert total == pytest.approx(0.0, abs=1e-12) if most_dishes == 0 else total < -0.1
    dishes, of_dishes = model.dish_laws(seats, HYPER[name])
    assert logsumexp(of_dishes) == pytest.approx(total, abs=1e-12)
    for row, found in zip(dishes[::3], of_dishes[::3], strict=True):
        same = [p for (c, _), p in zip(pairs, log_p, strict=True) if np.array_equal(c, row)]
        assert found == pytest.approx(logsumexp(same), abs=1e-12)


def blocks_residual(name, *changes):
    """How far the moves of blocks are from leaving the posterior of dishes as it is."""
    room, corpus = load_room(*changes, PLAIN_PYTHON), Corpus([0, 0, 0], [0, 3], segment_ptr=[0, 2, 3])
    model = made(name)
    kernel, seats = model.kernels_in(room)["blocked"], model.seats(Design.of(corpus))
    hyper = model.draw_hyperparameters(Design.of(corpus), np.random.default_rng(0))
    listing, z = model.listing(seats, 0), np.array([0, 1, 0])
    states = [
        {"z": z, "dish": c, model.mark: m} | hyper
        for c, m in zip(listing.tokens["dish"], listing.tokens[model.mark], strict=True)
    ]
    index = {(*at["dish"], *at[model.mark]): i for i, at in enumerate(states)}
    matrix = np.zeros((len(states), len(states)))
    for at, row in zip(states, matrix, strict=True):

        def run(generator, at=at):
            state = kernel.load(at, corpus, model)
            room(urns).block_pass(generator, state)
            after = kernel.snapshot(state)
            return index[*after["dish"], *after[model.mark]]

        for after, probability in outcomes(run, most=10):
            row[after] += probability
    assert_allclose(matrix.sum(axis=1), 1.0, rtol=1e-12)
    log_p = np.array([model.log_joint(at, corpus) for at in states])
    return invariance_residual(matrix, np.exp(log_p - logsumexp(log_p)))


@each
def test_blocks_leave_the_posterior_invariant(name):
    assert blocks_residual(name) < 1e-12
    assert blocks_residual(name, FORGOTTEN[name]) > 1e-3


@each
def test_references_sum_over_dishes_seats_and_topics(name):
    model = made(name, most_dishes=2, window=2)
    corpus = Corpus([0, 1, 1, 2, 0, 2], [0, 3, 3, 6], n_words=3)
    with jax.enable_x64(True):
        program = handlers.seed(model.reference.numpyro(corpus, 0), jax.random.key(1))
        sites = handlers.trace(program).get_trace()
    dishes, phi = (np.asarray(sites[site]["value"]) for site in ("dishes", "phi"))
    seats = model.seats(Design.of(corpus))
    for d in (0, 2):
        own = slice(corpus.doc_ptr[d], corpus.doc_ptr[d + 1])
        rows, log_p = model.dish_laws(Seating(*(x[own] for x in seats)), HYPER[name])
        words = (dishes.reshape(3, 2, 2)[d] @ phi)[rows, corpus.words[own]]
        expected = logsumexp(log_p + np.log(words).sum(axis=1))
        assert float(sites[f"words {d}"]["fn"].log_factor) == pytest.approx(expected, abs=1e-10)
    values = {site: np.asarray(sites[site]["value"]) for site in model.reference.parameters}
    latents = model.reference.latents(values, corpus, np.random.default_rng(0))
    assert np.isfinite(model.log_joint(latents, corpus))


@each
@pytest.mark.slow
def test_new_documents_are_scored_without_bias(name):
    """Mean of estimates over exact probabilities; six standard errors, a false alarm in 5e8."""
    phi = np.random.default_rng(0).dirichlet(np.ones(3), 2)
    model, rng = made(name), np.random.default_rng(0)
    law = model.law_of_new(HYPER[name])
    predictive = SegmentsPredictive(FrozenTopics(phi, np.ones((1, 2))), law, model.seats)
    dishes, log_p = model.dish_laws(model.seats(Design.of(SENTENCES)), HYPER[name])
    exact = logsumexp(
        [
            p + np.log(phi[list(z), SENTENCES.words]).sum() + log_sequences(row, np.array(z), np.full(2, 0.4))
            for row, p in zip(dishes, log_p, strict=True)
            for z in product(range(2), repeat=5)
        ]
    )
    ratio = np.exp([predictive.log_documents(SENTENCES, rng, particles=4)[0] - exact for _ in range(4000)])
    assert abs(ratio.mean() - 1.0) < 6.0 * ratio.std() / np.sqrt(ratio.size)
    assert ratio.std() < 0.3
    nothing = SENTENCES.keep(np.zeros(5, bool))
    completed = predictive.log_completion(nothing, SENTENCES, rng, burn_in=0, sweeps=5)
    assert_allclose(completed, np.log(phi.mean(axis=0))[SENTENCES.words])
    with pytest.raises(ValueError, match=f"{name}: new documents are scored without limits"):
        made(name, most_dishes=2).predictive({}, SENTENCES)


@each
def test_predictive_is_a_ratio_of_the_joint(name):
    model = made(name)
    latents = model.draw_hyperparameters(Design.of(SENTENCES), np.random.default_rng(0))
    marks = np.zeros(5, int) if name == "tjb_hdp" else np.array([0, 1, 0, 0, 0])
    latents |= {"z": np.array([0, 1, 1, 0, 0]), "dish": np.array([0, 1, 0, 2, 2]), model.mark: marks}
    if name == "tjb_hdp":
        latents[model.mark][[1, 3]] = 1
    now = model.log_joint(latents, SENTENCES)
    for (_, w), found in zip(
        Probes.of(SENTENCES).cells, model.quantities(latents, SENTENCES)["predictive"], strict=True
    ):
        longer = Corpus([*SENTENCES.words, w], [0, 6], n_words=3, segment_ptr=[0, 2, 4, 5, 6])
        seated = Seated()
        for of_token in zip(
            [0, 0, 1, 1, 2], latents["dish"].tolist(), latents[model.mark].tolist(), strict=True
        ):
            seated.add(*of_token)
        after = [
            {"z": k, "dish": seat.dish, model.mark: seat.mark}
            for seat in model.open_seats(3, seated, HYPER[name])
            for k in range(2)
        ]
        joint = [
            model.log_joint(latents | {key: np.append(latents[key], v) for key, v in at.items()}, longer)
            for at in after
        ]
        assert found == pytest.approx(np.exp(logsumexp(joint) - now), rel=1e-12)


@each
def test_limits_are_kept(name):
    model, rng = made(name, most_dishes=2, window=3), np.random.default_rng(0)
    latents, corpus = model.simulate(Design(np.array([6, 5]), 4), rng)
    assert latents["dish"].max() < 2
    kernel = model.kernels_in(load_room(PLAIN_PYTHON))["blocked"]
    state = kernel.load(latents, corpus, model)
    for _ in range(30):
        kernel.step(rng, state)
        kernel.check(state)
    assert model.log_dishes(latents | {"dish": np.arange(11)}, model.seats(Design.of(corpus))) == -np.inf
