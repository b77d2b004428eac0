"""Products that are written out as logarithms before they overflow or vanish: no result depends on when.

On small corpora no product comes near that, and no other test runs these lines. Here products are long, or
written out at almost every factor.
"""

import numpy as np
import pytest
from bnpzoo.diagnostics.laboratory.patched import PLAIN_PYTHON, Change, load_room
from bnpzoo.kernels.hdp import halves
from bnpzoo.kernels.pitman_yor import exchange, hyper
from bnpzoo.kernels.scaling import documents, scales
from bnpzoo.kernels.segments import buffet, tables
from bnpzoo.kernels.toolbox import tally
from bnpzoo.zoo.contract import Design
from bnpzoo.zoo.models import get
from numpy.testing import assert_allclose
from scipy.special import gammaln, logsumexp

DESIGN = Design(
    np.array([9, 0, 24, 6, 17]),
    6,
    group=np.array([0, 1, 1, 0, 1]),
    segment_ptr=np.array([0, 4, 9, 12, 15, 18, 20, 21, 24, 28, 33, 36, 39, 42, 47, 50, 56]),
)
SWEEPS = 30
LONG = 400


def change(module, old, new):
    """Change of the source of a module of the kernels."""
    return Change("/".join(module.__name__.split(".")[2:]) + ".py", old, new)


HALVES = (
    change(halves, "LEAST = 1e-200", "LEAST = 0.9"),
    change(halves, "out += math.log(max(product, SMALLEST))", "out -= math.log(product)"),
)
SIDES = HALVES[0], change(halves, "log_q += math.log(max(product, SMALLEST))", "pass")
TABLES = (
    change(hyper, "LARGE = 1e150", "LARGE = 1.1"),
    change(exchange, "out += math.log(max(product, SMALLEST))", "pass"),
)
BLOCKS = (
    change(tables, "LEAST = 1e-8", "LEAST = 0.9"),
    change(tables, "out += math.log(product)", "out = math.log(product)"),
)
CHAINS = [
    ("hdp", "whole-tables", HALVES),
    ("hdp", "whole-tables", SIDES),
    ("mt_hdp", "whole-tables", HALVES),
    ("hpyp", "exchange", TABLES),
    ("was", "blocked", BLOCKS),
    ("tjb_hdp", "blocked", BLOCKS),
]
"""Samplers; where products are written out at almost every factor; and a mistake there."""


def chain_of(model_id, variant, *changes):
    """Latents after each of some sweeps."""
    model = get(model_id)
    model = model.replaced(**model.kernels[variant].requires)
    latents, corpus = model.simulate(DESIGN, np.random.default_rng(5))
    kernel = model.kernels_in(load_room(PLAIN_PYTHON, *changes))[variant]
    state, rng, found = kernel.load(latents, corpus, model), np.random.default_rng(6), []
    for _ in range(SWEEPS):
        state = kernel.step(rng, state)
        found.append({name: value.copy() for name, value in kernel.snapshot(state).items()})
    return found


def is_same(one, other):
    """Whether two chains differ by no more than rounding."""
    return all(
        a[name].shape == b[name].shape and np.allclose(a[name], b[name], rtol=1e-6, atol=1e-9)
        for a, b in zip(one, other, strict=True)
        for name in a
    )


@pytest.mark.parametrize(
    ("model_id", "variant", "changes"),
    CHAINS,
    ids=lambda part: part[1].file if isinstance(part, tuple) else part,
)
def test_chains_do_not_depend_on_when_products_are_written_out(model_id, variant, changes):
    soon, mistake = changes
    expected = chain_of(model_id, variant)
    assert is_same(chain_of(model_id, variant, soon), expected)
    assert not is_same(chain_of(model_id, variant, soon, mistake), expected)


def plain(module, *changes):
    """Module of the kernels in plain Python."""
    return load_room(PLAIN_PYTHON, *changes)(module)


def test_urns_of_long_documents():
    doc_ptr, topic = np.array([0, LONG, 2 * LONG]), np.repeat(np.array([0, 1], np.int32), LONG)
    prior = np.array([[0.3, 1e-3], [1e120, 1e-120]])
    weights = prior[[0, 1], [0, 1]][:, None] + np.arange(LONG)
    found = plain(tally).log_urns(doc_ptr, np.array([0, 1], np.int32), topic, prior)
    assert_allclose(found, np.log(weights).sum(), rtol=1e-12)


@pytest.mark.parametrize("step", [0.0, 0.7])
def test_steps_of_many_tables(step):
    expected = np.log(0.4 + step * np.arange(1, LONG + 1)).sum()
    assert_allclose(plain(hyper).log_steps(0.4, step, LONG), expected, rtol=1e-12)


def test_sums_over_many_documents():
    rng = np.random.default_rng(0)
    u, value = np.exp(rng.normal(size=LONG) * 5.0), rng.normal(size=LONG)
    u[7] = 1e130
    assert_allclose(plain(documents).sum_of_logs(u, 2.0), np.log1p(2.0 * u).sum(), rtol=1e-12)
    expected = np.log1p(u * np.exp(1.5 * value)).sum()
    assert_allclose(plain(scales).sum_of_powers(u, value, 1.5), expected, rtol=1e-12)


GAMMA, SERVED, HAVING, SENTENCES = 0.7, 3, 300, 3000


def log_terms():
    """Log probability, up to a constant, that a dish with tokens in HAVING sentences is on in j of them."""
    j = np.arange(HAVING, SENTENCES + 1)
    on = gammaln(j) - gammaln(j - HAVING + 1.0)
    return j, on - (GAMMA + SERVED) * np.log(1.0 + j * np.log(2.0))


def test_dishes_of_many_sentences():
    j, log_term = log_terms()
    x = 1.0 + j * np.log(2.0)
    per_table = np.log(GAMMA + SERVED) - logsumexp(log_term)
    again = np.exp(per_table + logsumexp(log_term - np.log(x)))
    first = np.exp(per_table + logsumexp(log_term - np.log(x), b=(j - HAVING) / (SENTENCES - HAVING)))
    room = plain(buffet)
    assert_allclose(room.weigh_next_table(GAMMA, SERVED, HAVING, SENTENCES), (again, first), rtol=1e-9)


def sentences_on(*changes):
    room, rng = plain(buffet, *changes), np.random.default_rng(1)
    return [room.draw_sentences_on(rng, GAMMA, SERVED, HAVING, SENTENCES) for _ in range(20)]


def test_sentences_that_a_dish_is_on_in():
    soon = change(buffet, "LARGE = 1e200", "LARGE = 1.1")
    mistake = change(buffet, "term, total = term / LARGE, total / LARGE", "term = term / LARGE")
    assert sentences_on() == sentences_on(soon)
    assert sentences_on() != sentences_on(mistake)
