"""Bad subjects get a verdict that says what is wrong, and never a crash."""

import numpy as np
import pytest
from bnpzoo.diagnostics.laboratory.geweke import geweke
from bnpzoo.diagnostics.laboratory.sbc import sbc
from bnpzoo.diagnostics.laboratory.sequential import sequential
from bnpzoo.diagnostics.laboratory.subject import Bench, BrokenSubject, ModelSubject
from bnpzoo.zoo.contract import Design
from bnpzoo.zoo.models import get


def _after(calls, good, bad):
    """A function that turns from `good` to `bad` after some calls."""
    seen = iter(range(10**9))
    return lambda *args: bad(*args) if next(seen) >= calls else good(*args)


def _raises(*_):
    raise IndexError("index 7 is out of bounds")


def _fails(*_):
    raise AssertionError


def _bad(normal):
    good = normal()
    later = {"mu": np.nan, "log_likelihood": 0.0, "exceeds": [0, 1]}
    return {
        "NaN": (
            {"quantities": lambda latents, data: {"mu": latents, "ratio": [1.0, np.nan]}},
            r"quantity 'ratio\[1\]': expected a finite number, found nan",
        ),
        "NaN later": (
            {"quantities": _after(40, good.quantities, lambda *_: later)},
            "quantity 'mu': expected a finite number, found nan",
        ),
        "changes shape": (
            {"transition": lambda rng, latents, data: np.append(latents, rng.normal()), "quantities":
             lambda latents, data: {"mu": latents}},
            r"quantity 'mu' changed shape: expected \(\), found \(2,\)",
        ),
        "never moves": ({"transition": lambda rng, latents, data: latents}, "never moved"),
        "raises": ({"transition": _raises}, "transition raised IndexError: index 7 is out of bounds"),
        "raises without a word": ({"transition": _fails}, r"transition raised AssertionError\.$"),
        "moves in place": (
            {"transition": lambda rng, latents, data: None},
            r"transition returned None, where latents were expected\.$",
        ),
        "yields nothing": (
            {"transitions": lambda rng, latents, data: iter([None])},
            "transitions returned None, where latents were expected",
        ),
        "draws no latents": (
            {"draw_latents": lambda rng: None, "quantities": lambda latents, data: {"x": 0.0}},
            "draw_latents returned None, where latents were expected",
        ),
        "measures None": (
            {"quantities": lambda latents, data: None},
            "quantities: expected a mapping of names to numbers, found None",
        ),
        "measures a list": (
            {"quantities": lambda latents, data: [latents]},
            "quantities: expected a mapping of names to numbers, found list",
        ),
        "draws no data": ({"draw_data": _raises}, "draw_data raised IndexError"),
        "measures nothing": ({"quantities": lambda latents, data: {}}, "quantities returned nothing"),
        "measures words": ({"quantities": lambda *_: {"mu": "high"}}, "quantities raised ValueError"),
        "measures complex numbers": (
            {"quantities": lambda latents, data: {"mu": np.complex128(latents)}},
            "quantity 'mu': expected real numbers, found complex ones",
        ),
        "has a number for a name": (
            {"quantities": lambda latents, data: {3: latents}},
            "quantity 3: expected a name that is a string",
        ),
        "has a name with a slash": (
            {"quantities": lambda latents, data: {"a/b": latents}},
            "quantity 'a/b': expected a name without '/'",
        ),
        "has the name of an axis": (
            {"quantities": lambda latents, data: {"draw": latents}},
            "quantity 'draw': expected another name, as an axis of the ranks has this",
        ),
        "has the name of another's axis": (
            {"quantities": lambda latents, data: {"x_dim_0": latents, "x": [latents, latents]}},
            "quantity 'x_dim_0': expected another name, as an axis of the ranks has this",
        ),
        "runs dry": ({"transitions": lambda rng, latents, data: iter([])}, "transitions ended"),
    }  # fmt: skip


CASES = list(_bad(lambda: type("Any", (), {"quantities": None})))


@pytest.mark.parametrize("rung", [geweke, sequential, sbc], ids=lambda rung: rung.__name__)
@pytest.mark.parametrize("case", CASES)
def test_bad_subject_is_reported(rung, case, normal, broken):
    functions, message = _bad(normal)[case]
    verdict = rung(broken(**functions), seed=1)
    assert verdict.status == "broken"
    assert not verdict.passed
    with pytest.raises(AssertionError, match=message):
        raise AssertionError(verdict.message)
    assert verdict.tree().attrs["status"] == "broken"


@pytest.mark.parametrize("rung", [geweke, sequential, sbc], ids=lambda rung: rung.__name__)
def test_a_class_is_no_subject(rung, normal):
    with pytest.raises(ValueError, match=r"^expected a subject, found its class Normal$"):
        rung(normal)


@pytest.mark.parametrize("rung", [geweke, sequential, sbc], ids=lambda rung: rung.__name__)
@pytest.mark.parametrize(
    ("argument", "message"),
    [
        *(
            (
                {"false_alarm_rate": rate},
                f"^false_alarm_rate: expected a number above 0 and below 1, found {rate}",
            )
            for rate in (0, 1.0, -1, np.nan, None)
        ),
        *(
            ({"seed": seed}, f"^seed: expected a whole number, 0 or more, found {seed}")
            for seed in (None, -1, 0.5)
        ),
    ],
)
def test_arguments_of_all_rungs(rung, argument, message, normal):
    with pytest.raises(ValueError, match=message):
        rung(normal(), **argument)


def test_data_may_be_drawn_into_one_array(normal, broken):
    """Of which `sbc` runs a chain after it has drawn others, to start from."""
    good, room = normal(), np.empty(3)

    def draw_data(rng, latents):
        room[:] = good.draw_data(rng, latents)
        return room

    expected, found = (
        sbc(one, replications=20, draws=7, thin=1) for one in (good, broken(draw_data=draw_data))
    )
    assert found.groups["prior_sbc"].identical(expected.groups["prior_sbc"])


def test_rounding_restores_ties():
    bench = Bench(subject=type("Sum", (), {"quantities": lambda self, x, y: {"x": x}})())
    one = bench.measure(np.array([0.1 + 0.2, 1e-300, -1234.5678901234, 0.0, 1e300]), None)
    other = bench.measure(np.array([0.3, 1e-300, -1234.5678901239, 0.0, 1e300]), None)
    assert np.array_equal(one, other)
    assert np.allclose(one, [0.3, 1e-300, -1234.56789, 0.0, 1e300], rtol=1e-9, atol=0.0)


def test_names_of_vector_quantities(normal):
    rng = np.random.default_rng(0)
    bench = Bench(normal())
    bench.measure(*bench.draw_joint(rng))
    assert bench.names == ["mu", "log_likelihood", "exceeds[0]", "exceeds[1]"]


def test_posterior_sbc_needs_extend(chinese):
    with pytest.raises(BrokenSubject, match="extend"):
        Bench(chinese()).extend(np.random.default_rng(0), {}, None)


class Elsewhere(ModelSubject):
    """Its kernel believes in another alpha than its generator."""

    def transitions(self, rng, latents, data):
        for moved in super().transitions(rng, latents | {"alpha": np.array(0.3)}, data):
            yield moved | {"alpha": latents["alpha"]}


@pytest.mark.slow
def test_models_of_the_zoo_are_subjects():
    model, design = get("lda", n_topics=2, alpha=1.0, eta=0.5), Design(np.array([4, 0, 5]), 3)
    assert sequential(ModelSubject(model, design), samples=200, seed=1).passed
    assert sequential(Elsewhere(model, design), samples=500, seed=1).status == "rejected"
    assert ModelSubject(model, design, "dense").name == "lda/dense"
    with pytest.raises(ValueError, match="no variant 'wrong'"):
        ModelSubject(model, design, "wrong")


@pytest.mark.heavy
def test_processes_give_the_same_ranks():
    subject = ModelSubject(get("lda", n_topics=2), Design(np.array([3, 4]), 3))
    one, two = (
        sbc(subject, replications=40, draws=7, thin=2, n_jobs=n, seed=1).groups["prior_sbc"] for n in (1, 2)
    )
    assert one.identical(two)


def test_long_error_messages_become_one_line(broken):
    def transition(*_):
        raise TypeError("first line\nsecond line")

    assert sequential(broken(transition=transition)).message == "transition raised TypeError: first line."


@pytest.mark.parametrize("rung", [sequential, geweke, sbc])
def test_the_traceback_of_what_was_raised_is_had_from_what_the_rung_wraps(rung, broken):
    def transition(*_):
        raise TypeError("first line\nsecond line")

    with pytest.raises(BrokenSubject) as raised:
        rung.__wrapped__(broken(transition=transition))
    assert raised.value.__cause__.__traceback__.tb_next is not None
    assert str(raised.value.__cause__) == "first line\nsecond line"


def test_quantities_may_come_in_any_order():
    told = [{"a": 1.0, "b": [2.0, 3.0]}, {"b": [2.0, 3.0], "a": 1.0}]
    bench = Bench(type("Either", (), {"quantities": lambda self, latents, data: told[latents]})())
    assert bench.measure(0, None).tolist() == bench.measure(1, None).tolist() == [1.0, 2.0, 3.0]
    assert bench.names == ["a", "b[0]", "b[1]"]


def test_a_bad_quantity_is_named_in_any_order():
    told = [{"a": 1.0, "b": 2.0}, {"b": 2.0, "a": np.nan}]
    bench = Bench(type("Either", (), {"quantities": lambda self, latents, data: told[latents]})())
    bench.measure(0, None)
    with pytest.raises(BrokenSubject, match="quantity 'a'"):
        bench.measure(1, None)
