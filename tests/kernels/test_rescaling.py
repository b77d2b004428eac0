"""Products that are written out as logarithms before they overflow or vanish: no result depends on when.

On small corpora no product comes near that. Here products are long, or written out at almost every factor.
Single functions that are as easily summed otherwise are tested beside their like.
"""

import numpy as np
import pytest
from bnpzoo.diagnostics.laboratory.patched import PLAIN_PYTHON, Change, load_room
from bnpzoo.kernels.hdp import halves
from bnpzoo.kernels.pitman_yor import exchange, hyper
from bnpzoo.kernels.scaling import documents, scales
from bnpzoo.kernels.segments import buffet, tables
from bnpzoo.zoo.contract import Design
from bnpzoo.zoo.models import get
from numpy.testing import assert_allclose

DESIGN = Design(
    np.array([9, 0, 24, 6, 17]),
    6,
    group=np.array([0, 1, 1, 0, 1]),
    segment_ptr=np.array([0, 4, 9, 12, 15, 18, 20, 21, 24, 28, 33, 36, 39, 42, 47, 50, 56]),
)
SWEEPS = 30


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
    change(tables, "out += math.log(max(product", "out = math.log(max(product"),
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


FORGOTTEN = "out += math.log(product)\n            product = 1.0", "product = 1.0"
"""A mistake of both sums."""


def test_sums_over_many_documents():
    rng = np.random.default_rng(0)
    u, value = np.exp(rng.normal(size=400) * 5.0), rng.normal(size=400)
    u[7] = 1e130
    expected = np.log1p(2.0 * u).sum()
    assert_allclose(plain(documents).sum_of_logs(u, 2.0), expected, rtol=1e-12)
    assert plain(documents, change(documents, *FORGOTTEN)).sum_of_logs(u, 2.0) < expected - 100.0
    expected = np.log1p(u * np.exp(1.5 * value)).sum()
    assert_allclose(plain(scales).sum_of_powers(u, value, 1.5), expected, rtol=1e-12)
    assert plain(scales, change(scales, *FORGOTTEN)).sum_of_powers(u, value, 1.5) < expected - 100.0


def sentences_on(*changes):
    """In how many of 6,000 sentences a dish is on that has a table in 600 of them, drawn 20 times."""
    room, rng = plain(buffet, *changes), np.random.default_rng(1)
    return [room.draw_sentences_on(rng, 0.7, 600, 600, 6000) for _ in range(20)]


def test_sentences_that_a_dish_is_on_in():
    soon = change(buffet, "LARGE = 1e200", "LARGE = 1.1")
    mistake = change(buffet, "term, total = term / LARGE, total / LARGE", "term = term / LARGE")
    assert sentences_on() == sentences_on(soon)
    assert sentences_on() != sentences_on(mistake)
