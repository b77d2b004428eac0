"""References by the forward algorithm: what enumeration lists row by row, token by token; limits; latents."""

from itertools import product

import jax
import numpy as np
import pytest
from bnpzoo.zoo.contract import Design
from bnpzoo.zoo.corpus import Corpus, CorpusError
from bnpzoo.zoo.families.segments import forward, lattice
from bnpzoo.zoo.families.segments.law import partitions
from bnpzoo.zoo.families.segments.order import ORDERS, Seating
from bnpzoo.zoo.models import get
from numpyro import handlers
from numpyro.infer.util import log_density
from scipy import stats
from scipy.special import logsumexp


def document_of(lengths, rng, n_words=3):
    """Corpus of one document whose sentences have given lengths."""
    n = int(np.sum(lengths))
    words = rng.integers(n_words, size=n)
    return Corpus(words, [0, n], n_words=n_words, segment_ptr=np.concatenate([[0], np.cumsum(lengths)]))


def seats_of(corpus, order):
    return get("was", order=order).seats(Design.of(corpus))


def by_lattice(corpus, seats, sticks, log_words, zeta, most_tables, most_dishes):
    """Log probability of the words of a document given its sticks (S, J) and words of dishes (L, V)."""
    found = lattice.lattice_of(corpus, seats, label="was", most_dishes=most_dishes, most_tables=most_tables)
    log_sticks = np.stack([np.log(sticks), np.log1p(-sticks)], axis=-1)[:, : found.n_tables]
    log_edges = (
        lattice.log_seats(np, log_sticks)[found.seat]
        + lattice.log_offers(np, zeta, most_dishes)[found.offer]
        + log_words[:most_dishes].ravel()[forward.words_of(found, corpus)]
    )
    log_p = forward.log_forward(found, log_edges)
    return logsumexp(log_p[found.first_state[found.last[0]] :])


def by_rows(corpus, seats, sticks, log_words, zeta, most_tables, most_dishes):
    """The same by all rows of the other references, whose sticks are given."""
    dish, tables = partitions(seats, most_tables, most_dishes)
    sentence = tables.sentence % (int(seats.sentence.max()) + 1)
    v = sticks[sentence, tables.rank]
    of_tables = (tables.size - 1) * np.log(v) + tables.later * np.log1p(-v)
    of_tables += tables.is_new * np.log(zeta) - np.log(tables.offered + zeta)
    of_rows = np.bincount(tables.document, of_tables, minlength=len(dish))
    return logsumexp(of_rows + log_words[dish, corpus.words].sum(axis=1))


@pytest.mark.parametrize(
    ("lengths", "order", "limits"),
    list(product([(3, 3), (3, 2, 2), (4, 1, 2), (7,)], ORDERS, [(7, 7), (2, 2), (2, 3), (1, 7)])),
)
def test_forward_algorithm_agrees_with_enumeration(lengths, order, limits):
    rng = np.random.default_rng(len(lengths))
    corpus = document_of(lengths, rng)
    seats, sticks = seats_of(corpus, order), rng.beta(1.5, 0.8, (len(lengths), 7))
    log_words = np.log(rng.dirichlet(np.ones(3), 7))
    given = (corpus, seats, sticks, log_words, 0.6, *limits)
    assert by_lattice(*given) == pytest.approx(by_rows(*given), abs=1e-10)
    if limits == (7, 7):
        nothing = by_lattice(corpus, seats, sticks, np.zeros((7, 3)), 0.6, *limits)
        assert nothing == pytest.approx(0.0, abs=1e-10)


def test_order_and_limits_matter():
    rng = np.random.default_rng(0)
    corpus, sticks = document_of((3, 3), rng), rng.beta(1.0, 1.0, (2, 7))
    log_words = np.log(rng.dirichlet(np.ones(3), 7))
    values = [
        by_lattice(corpus, seats_of(corpus, order), sticks, log_words, 0.6, *limits)
        for order in ORDERS
        for limits in ((7, 7), (2, 3))
    ]
    assert np.diff(np.sort(values)).min() > 1e-4


@pytest.mark.parametrize(
    ("lengths", "limits", "states", "edges"),
    [
        ((8, 8), (3, 3), 42, 1378),
        ((10, 10), (3, 4), 103, 4833),
        ((6, 6, 6), (2, 3), 128, 3732),
        ((6, 6, 6), (3, 3), 599, 18296),
    ],
)
def test_lattices_of_documents_beyond_enumeration(lengths, limits, states, edges):
    corpus, (most_tables, most_dishes) = document_of(lengths, np.random.default_rng(0)), limits
    found = lattice.lattice_of(
        corpus, seats_of(corpus, ORDERS[0]), label="was", most_dishes=most_dishes, most_tables=most_tables
    )
    assert (np.diff(found.first_state).max(), found.source.size) == (states, edges)


@pytest.mark.slow
def test_too_large_lattices_are_refused():
    corpus = document_of([9] * 6, np.random.default_rng(0))
    message = "was: its references run over the tables of each document: expected at most 200,000 edges"
    with pytest.raises(CorpusError, match=message):
        get("was", forward=True).reference.stan_data(corpus, 5)
    many = Corpus(
        np.zeros(12_000, int), np.arange(0, 12_001, 12), segment_ptr=np.arange(0, 12_001, 3), n_words=1
    )
    with pytest.raises(CorpusError, match=r"edges, found .*; take fewer documents, or smaller limits"):
        get("was", forward=True, most_tables=2, most_dishes=3).reference.stan_data(many, 3)
    with pytest.raises(ValueError, match="was: forward: expected True or False, found 1"):
        get("was", forward=1)


FORMS = {
    "was": {"window": 2, "most_dishes": 3},
    "was by limited tables": {"window": 3, "most_tables": 2},
    "was as it is read": {"window": 3, "most_dishes": 3, "order": "reading"},
    "ordered_sbp": {"most_dishes": 3},
}


def model_of(form, **arguments):
    options = FORMS[form] | arguments
    return get(form.split()[0], **options).set_to("prior").replaced(**options)


def at_a_draw(model, corpus):
    """Density of the program at a draw from it, and the values of all sites."""
    with jax.enable_x64(True):
        program = handlers.seed(model.reference.numpyro(corpus, 4), jax.random.key(1))
        sites = handlers.trace(program).get_trace()
        return float(sites["words"]["fn"].log_factor), {
            name: np.asarray(site["value"]) for name, site in sites.items() if name != "words"
        }


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.slow
def test_program_is_the_sum_over_all_dishes_given_sticks(form):
    model = model_of(form, forward=True)
    corpus = model.simulate(Design(np.array([4, 0, 3, 5]), 3), np.random.default_rng(0)).corpus
    seen, values = at_a_draw(model, corpus)
    seats, most = model.seats(Design.of(corpus)), model.most_dishes or 4
    sticks = values["sticks"].reshape(int(seats.sentence.max()) + 1, -1, 2)[:, :, 0]
    log_words = np.log(values["dishes"].reshape(4, most, 2) @ values["phi"])
    most_tables, zeta, expected = model.limits.get("most_tables", 0), values.get("zeta", 1.0), 0.0
    for d in (0, 2, 3):
        own = seats.document == d
        words = Corpus(corpus.words[own], [0, own.sum()], n_words=3)
        first = seats.sentence[own].min()
        of_document = Seating(seats.document[own], seats.sentence[own] - first, seats.time[own])
        expected += by_rows(words, of_document, sticks[first:], log_words[d], zeta, most_tables, most)
    assert seen == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.slow
def test_sticks_integrated_out_give_the_enumerated_program(form):
    """By Monte Carlo over sticks, with six standard errors; a false alarm in 5e8, were the seed not fixed."""
    model, rng = model_of(form, a=1.3, b=0.8), np.random.default_rng(0)
    corpus = model.simulate(Design(np.array([4, 0, 3]), 3), rng).corpus
    values = {"kappa": 0.6, "eta": 0.5, "zeta": 0.7, "a": 1.3, "b": 0.8}
    model = model.replaced(**{name: values[name] for name in model.hyperparameters()})
    kept = model.replaced(forward=True)
    with jax.enable_x64(True):
        enumerated = handlers.seed(model.reference.numpyro(corpus, 4), jax.random.key(1))
        sites = handlers.trace(enumerated).get_trace()
        exact = sum(float(site["fn"].log_factor) for name, site in sites.items() if name.startswith("words"))
        given = {name: site["value"] for name, site in sites.items() if site["type"] == "sample"}
        given = {name: value for name, value in given.items() if not name.startswith("words")}

        def log_words(key):
            program = handlers.seed(handlers.substitute(kept.reference.numpyro(corpus, 4), given), key)
            return handlers.trace(program).get_trace()["words"]["fn"].log_factor

        log_p = jax.jit(jax.vmap(log_words))(jax.random.split(jax.random.key(2), 20_000))
    ratio = np.exp(np.asarray(log_p) - exact)
    assert abs(ratio.mean() - 1.0) < 6.0 * ratio.std() / np.sqrt(ratio.size)
    assert ratio.std() / np.sqrt(ratio.size) < 0.01


@pytest.mark.slow
def test_gradients_where_documents_are_long():
    """Against differences of the density along a line."""
    corpus, rng = document_of((10, 10), np.random.default_rng(0)), np.random.default_rng(1)
    model = get("was", forward=True, most_tables=3, most_dishes=4).set_to("fixed")
    _, values = at_a_draw(model, corpus)
    latent = {name: value for name, value in values.items() if name.endswith(("_log_h", "_x"))}
    along = {name: rng.normal(size=value.shape) for name, value in latent.items()}
    with jax.enable_x64(True):
        program = model.reference.numpyro(corpus, 0)
        gradient = jax.grad(lambda at: log_density(program, (), {}, at)[0])(latent)

        def moved(by):
            at = {name: value + by * along[name] for name, value in latent.items()}
            return float(log_density(program, (), {}, at)[0])

        slope = (moved(1e-5) - moved(-1e-5)) / 2e-5
    found = sum(np.sum(np.asarray(gradient[name]) * along[name]) for name in latent)
    assert found == pytest.approx(slope, rel=1e-6)


def test_dishes_are_drawn_from_their_posterior():
    """Shares of all dishes of a document against their law given the parameters, with a rate of 1e-5."""
    model, rng = model_of("was", forward=True), np.random.default_rng(0)
    corpus = model.simulate(Design(np.array([4, 0, 3]), 3), rng).corpus
    _, values = at_a_draw(model, corpus)
    seats, own = model.seats(Design.of(corpus)), slice(0, 4)
    dish, tables = partitions(Seating(*(x[own] for x in seats)), 0, 3)
    v = values["sticks"].reshape(-1, 2, 2)[tables.sentence % 2, tables.rank, 0]
    log_p = (tables.size - 1) * np.log(v) + tables.later * np.log1p(-v)
    log_p += tables.is_new * np.log(values["zeta"]) - np.log(tables.offered + values["zeta"])
    log_words = np.log(values["dishes"].reshape(3, 3, 2)[0] @ values["phi"])
    log_p = np.bincount(tables.document, log_p) + log_words[dish, corpus.words[own]].sum(axis=1)
    law, index = np.exp(log_p - logsumexp(log_p)), {tuple(row): i for i, row in enumerate(dish)}
    drawn = [model.reference.latents(values, corpus, rng) for _ in range(2000)]
    counts = np.bincount([index[tuple(one["dish"][own])] for one in drawn], minlength=len(law))
    pooled = law > 0.005
    observed = np.append(counts[pooled], counts[~pooled].sum())
    expected = np.append(law[pooled], law[~pooled].sum()) * counts.sum()
    assert stats.chisquare(observed, expected).pvalue > 1e-5
    assert np.isfinite([model.log_joint(one, corpus) for one in drawn[:20]]).all()
