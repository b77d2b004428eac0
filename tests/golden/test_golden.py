"""Samplers and reference programs against their golden data; `make.py` tells what these are."""

import runpy
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from samplers import COMPILED_PROGRAMS, IS_PLAIN, is_of_a_family, of_sampler

make = SimpleNamespace(**runpy.run_path(str(Path(__file__).with_name("make.py"))))

NEAR = 1e-9
"""Of real latents as plain Python draws them: NumPy's exp is not that of compiled code to the last bit.

Whole numbers are the same.
"""

CLIMBS = {("dmr", "optimised")}
"""Whose real latents are the same to `RTOL` where kernels are compiled, not to the bit: a maximum that
exponentials of the C library approach, whose last bit hangs on the processor (as
``GLIBC_TUNABLES=glibc.cpu.hwcaps=-FMA`` shows).
"""

RTOL = 1e-12
"""Of densities, and of gradients relative to their largest entry: rounding in another order of summation."""

WITH_REFERENCE = [name for name in make.GOLDEN if make.maker(name)().reference is not None]


def stored(part, model_id, prefix=""):
    path = make.path_of(part, model_id)
    if not path.exists():
        pytest.fail(f"no golden {part} of {model_id}: {make.HOW_TO} {model_id} --parts {part}", pytrace=False)
    arrays = make.read(part, model_id)
    return {name: x for name, x in arrays.items() if name.startswith(prefix)}, str(arrays["made_with"])


def assert_same_names(part, model_id, found, golden):
    if set(found) != set(golden):
        changed = ", ".join(sorted(set(found) ^ set(golden)))
        pytest.fail(
            f"golden {part} of {model_id} has other contents ({changed}); if that is meant: "
            f"{make.HOW_TO} {model_id} --parts {part}",
            pytrace=False,
        )


def same(x, y, within):
    """Whether latents are the same, real ones within a relative difference: to the bit if that is 0."""
    return np.array_equal(x, y) or (y.dtype.kind == "f" and np.allclose(x, y, within, 0.0))


def first_difference(found, golden, within):
    """What differs in one setting of a sampler, in a line; None where nothing does."""
    after = np.flatnonzero(found["checksum"] != golden["checksum"])
    if within:
        after = np.flatnonzero(~np.isclose(found["log_joint"], golden["log_joint"], within, 0.0))
    differing = []
    for name in sorted(set(found) - {"checksum", "log_joint"}):
        x, y = found[name], golden[name]
        if x.shape != y.shape:
            differing.append(f"{name} of shape {x.shape}, golden {y.shape}")
        elif not same(x, y, within):
            differing.append(f"{name} in {np.count_nonzero(x != y)} of {x.size}")
    if not after.size and not differing:
        return None
    i = after[0] if after.size else len(found["checksum"]) - 1
    return (
        f"first after sweep {i + 1}, log joint {found['log_joint'][i]!r}, golden {golden['log_joint'][i]!r}; "
        f"in the end: {'; '.join(differing) or 'the same'}"
    )


def stands_for_a_family(name, variant=None):
    model_id, arguments = make.GOLDEN[name]
    return arguments.keys() <= {"topics"} and is_of_a_family(model_id, arguments.get("topics", ""), variant)


@pytest.mark.parametrize(
    ("model_id", "variant"),
    [
        pytest.param(name, variant, marks=pytest.mark.heavy)  # without a limit, the first alone
        if i > 0 and "n_topics" in make.GOLDEN[name][1]
        else of_sampler(stands_for_a_family(name, variant), name, variant)
        for name in make.GOLDEN
        for i, variant in enumerate(make.maker(name)().kernels)
    ],
)
def test_draws_have_the_same_bits(model_id, variant):
    kind = "sampled" if IS_PLAIN else ""  # which runs all that fixed hyperparameters run
    golden, made_with = stored("draws", model_id, f"{variant}/{kind}")
    if made_with != make.made_with():
        pytest.skip(f"bits are those of {made_with}; here is {make.made_with()}")
    found = make.draws(model_id, variant, kind)
    assert_same_names("draws", f"{model_id} {variant}", found, golden)
    within = NEAR if IS_PLAIN else RTOL * ((model_id, variant) in CLIMBS)
    settings = {}
    for name in found:
        setting, _, array = name.removeprefix(f"{variant}/").rpartition("/")
        settings.setdefault(setting, {})[array] = name
    differences = []
    for setting, names in settings.items():
        ours, theirs = ({array: x[name] for array, name in names.items()} for x in (found, golden))
        difference = first_difference(ours, theirs, within)
        if difference:
            differences.append(f"{setting}: {difference}")
        else:
            np.testing.assert_allclose(
                ours["log_joint"], theirs["log_joint"], NEAR if IS_PLAIN else RTOL, err_msg=setting
            )
    assert not differences, "\n".join(differences)


def assert_same_densities(part, model_id):
    golden, _ = stored(part, model_id)
    golden.pop("made_with")
    found = make.parts(model_id)[part]()
    assert_same_names(part, model_id, found, golden)
    for name, x in found.items():
        scale = (
            np.abs(golden[name]).max(axis=-1, keepdims=True) if name.endswith("gradient") else golden[name]
        )
        distance = np.max(np.abs(x - golden[name]) / np.abs(scale))
        assert distance <= RTOL, f"{name}: relative distance {distance:.1e}"


def heavy_unless(is_light):
    return [
        name if is_light(name) else pytest.param(name, marks=pytest.mark.heavy) for name in WITH_REFERENCE
    ]


@pytest.mark.parametrize("model_id", heavy_unless(stands_for_a_family))
@pytest.mark.slow
def test_numpyro_has_the_same_density(model_id):
    assert_same_densities("numpyro", model_id)


@pytest.mark.stan
@pytest.mark.skipif(not make.has_pystan(), reason="needs PyStan and g++")
@pytest.mark.parametrize("model_id", heavy_unless(COMPILED_PROGRAMS.__contains__))
@pytest.mark.slow
def test_stan_has_the_same_density(model_id):
    assert_same_densities("stan", model_id)
