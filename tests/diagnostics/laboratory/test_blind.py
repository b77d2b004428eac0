"""Blind mutants: what can be changed, how it is drawn, and what becomes of it."""

import ast

import pytest
from bnpzoo.diagnostics.laboratory.archive import Books
from bnpzoo.diagnostics.laboratory.blind.audit import Audit, draw, without_folders
from bnpzoo.diagnostics.laboratory.blind.changes import python_sites
from bnpzoo.diagnostics.laboratory.blind.right_program import failed_tests
from bnpzoo.diagnostics.laboratory.blind.stan_changes import called_functions, stan_sites
from bnpzoo.diagnostics.laboratory.blind.targets import EQUIVALENT, PackageModel
from bnpzoo.diagnostics.laboratory.definitions import PACKAGE, Name
from bnpzoo.zoo.inference.stan_engines import engines

SOURCE = '''\
LIMIT = 3


def total(values, n, start=0.5):
    """Sum of some; é."""
    if n < 0:
        raise ValueError("n: expected 0 or more")
    out = start
    for i in range(n):
        if values[i] >= 1 and n > 2:
            out += values[i] - 2.0
    return out if n else -out


class Sampler:
    def step(self, rng, state):
        state.count[0] = rng.random() * 2
        return state
'''
BYTES = SOURCE.encode()


def changed(sites):
    return {(m.definition, m.kind, m.before, m.after) for site in sites for m in site}


def test_the_check_of_zip_is_left_alone():
    sites = python_sites("a.py", b"def f(a, b):\n    return sum(x * y for x, y in zip(a, b, strict=True))\n")
    assert changed(sites)
    assert not any(before == "True" for _, _, before, _ in changed(sites))


def test_what_reads_alike_in_a_line_has_a_place():
    of_python = python_sites("a.py", b"def f(x, y):\n    return x - y - x\n")
    of_stan = stan_sites("a.stan", b"model {\n  target += x - y - x;\n}")
    for sites, last in ((of_python, ": x -> y (place 2)"), (of_stan, ": - -> + (place 2)")):
        keys = [mutation.key for site in sites for mutation in site]
        assert len(set(keys)) == len(keys)
        assert any(key.endswith(last) for key in keys)
        assert any(key.endswith(last.removesuffix(" (place 2)")) for key in keys)


def test_methods_that_never_run_are_left_alone():
    found = PackageModel("lda").definitions
    assert Name("zoo.families.topics", "Dirichlet.measured_words") in found
    assert Name("zoo.families.topics", "TopicSide.measured_words") not in found
    assert Name("zoo.families.lda.family", "LdaFamily.documents_at") in found  # which `Lda` calls


@pytest.mark.parametrize(
    ("model", "module"), [("pfa", "belief_network"), ("was", "topics"), ("lda", "seeded")]
)
def test_models_and_topics_that_are_no_part_of_a_model_are_left_alone(model, module):
    """`pfa` asks whether its topics are of a belief network, and what only that calls is not reached."""
    assert not [name for name in PackageModel(model).definitions if module in name.module.split(".")]


@pytest.mark.parametrize(
    ("model", "runs", "never"), [("hpyp", "same", "associated"), ("tpyp", "associated", "same")]
)
def test_kernels_for_the_states_of_other_models_are_left_alone(model, runs, never):
    found = {
        name.name for name in PackageModel(model).definitions if name.module == "kernels.pitman_yor.state"
    }
    assert {f"_{part}_{runs}" for part in ("keep", "drop", "row_sum")} <= found
    assert not any(name.endswith(f"_{never}") for name in found)


def test_what_makes_the_states_of_other_models_is_left_alone():
    made = Name("kernels.belief_network.topics", "belief_topics")
    assert made not in PackageModel("pfa").definitions
    assert made in PackageModel("pfa", topics="belief-network").definitions


def test_kernels_for_what_is_made_on_the_way_are_not():
    found = PackageModel("hpyp").definitions
    assert Name("kernels.pitman_yor.explicit", "_serve_later") in found  # of a KnownBase, which a sweep makes
    assert Name("kernels.pitman_yor.tokens", "_serve") in found


def test_what_can_be_changed_in_python():
    found = changed(python_sites("a.py", BYTES))
    assert {
        ("LIMIT", "constant", "3", "(4)"),
        ("total", "constant", "0.5", "(1.5)"),
        ("total", "bound off by one", "n", "(n + 1)"),
        ("total", "bound off by one", "i", "(i - 1)"),
        ("total", "operator", "out += values[i] - 2.0", "out -= values[i] - 2.0"),
        ("total", "operator", "values[i] - 2.0", "(values[i] + 2.0)"),
        ("total", "operand", "values[i] - 2.0", "(2.0 - values[i])"),
        ("total", "comparison", "n > 2", "(n >= 2)"),
        ("total", "branch", "values[i] >= 1 and n > 2", "(False)"),
        ("total", "operand", "values[i] >= 1 and n > 2", "(n > 2)"),
        ("total", "name", "out", "start"),
        ("total", "statement dropped", "out += values[i] - 2.0", "pass"),
        ("Sampler.step", "statement dropped", "state.count[0] = rng.random() * 2", "pass"),
        ("Sampler.step", "constant", "0", "(1)"),
    } <= found
    assert not any("expected" in before or "Sum" in before or before == "n < 0" for _, _, before, _ in found)


def test_every_block_is_changed():
    source = b"""\
A, B = 1, 2
C: int = 3
if A:
    def g(x):
        return x + 4
def f(x):
    match x + 5:
        case 0 if x > 6:
            return x + 7
    try:
        x += 8
    except* ValueError:
        x += 9
    else:
        x += 10
    finally:
        x += 11
    with open(x):
        x += 12
    return x
"""
    found = changed(python_sites("a.py", source))
    constants = {(name, before) for name, kind, before, _ in found if kind == "constant"}
    assert constants == {
        ("A", "1"),
        ("A", "2"),
        ("C", "3"),
        ("g", "4"),
        *(("f", str(n)) for n in range(5, 13)),
    }


def test_the_first_of_an_array_does_not_become_its_last():
    """In an array of one, which holds a number that a kernel changes, these are the same."""
    found = changed(python_sites("a.py", BYTES))
    assert ("Sampler.step", "constant", "0", "(-1)") not in found


def test_every_change_is_made_at_its_point_and_parses():
    for site in python_sites("a.py", BYTES):
        for mutation in site:
            assert BYTES[mutation.start : mutation.end].decode() == mutation.before
            assert ast.dump(ast.parse(mutation.apply(BYTES))) != ast.dump(ast.parse(BYTES))


def test_only_what_is_wanted_is_changed():
    found = python_sites("a.py", BYTES, {"Sampler.step"}.__contains__)
    assert {site[0].definition for site in found} == {"Sampler.step"}


def test_a_function_without_a_name_is_known_by_what_it_implements():
    source = b"@grown.register\ndef _(side: Side, n: int) -> Side:\n    return side.of(n + 1)\n"
    sites = python_sites("a.py", source, {"grown(Side)"}.__contains__)
    assert ("grown(Side)", "operator", "n + 1", "(n - 1)") in changed(sites)


STAN = """\
data {
  int<lower=1> K;  // K + 1
  vector<lower=0>[K] y;
}
model {
  real total = 0 + sum(y) - 2;
  for (k in 1:K) {
    target += y[k] * total;
  }
}
"""


def test_what_can_be_changed_in_stan():
    sites = stan_sites("stan/a.stan", STAN.encode())
    found = {(m.kind, m.before, m.after) for site in sites for m in site}
    assert {
        ("operator", "-", "+"),
        ("operator", "*", "/"),
        ("constant", "2", "3"),
        ("constant", "1", "0"),
        ("constant", "0", "1"),
        ("statement dropped", "target += y[k] * total;", ";"),
        ("name", "total", "K"),
    } <= found
    assert not any(m.line <= 3 and m.kind != "name" for site in sites for m in site)
    assert all(m.before != m.after for site in sites for m in site)


FUNCTIONS = """\
real twice(real x) {  // three(x)
  return 2 * x;
}
real of_twice_lpdf(real y, real x) {
  if (y > 1) {
    return twice(y) - x;
  }
  return 3;
}
vector unused(vector x) {
  for (i in 1 : size(x)) {
    target += three(x[i]) * 7;
  }
  return x;
}
"""


def test_functions_of_stan_that_a_program_does_not_call_are_left_alone():
    called = called_functions([FUNCTIONS, "model { y ~ of_twice(x); }"])
    assert called == {"of_twice", "twice"}
    found = {(m.before, m.after) for s in stan_sites("a", FUNCTIONS.encode(), called.__contains__) for m in s}
    assert {("2", "3"), ("-", "+"), ("3", "4")} <= found
    assert not any(before in ("7", "target += three(x[i]) * 7;") for before, _ in found)
    assert called_functions([FUNCTIONS, "model { target += twice(x); }"]) == {"twice"}


def test_few_draws_are_the_first_of_many():
    sites = python_sites("a.py", BYTES) + python_sites("b.py", BYTES)
    few, many = draw(sites, 6, seed=3), draw(sites, 20, seed=3)
    assert many[:6] == few
    assert len(set(many)) == 20
    assert [sum(m.file == file for m in few) for file in ("a.py", "b.py")] == [3, 3]
    assert draw(sites, 6, seed=4) != few


@pytest.mark.skipif(not engines(), reason="Stan is not installed")
def test_what_of_a_model_can_be_changed():
    target = PackageModel("lda")
    files = {site[0].file for site in target.sites}
    assert {
        "kernels/toolbox/random.py",
        "kernels/lda/documents.py",
        "zoo/models/lda.py",
        "zoo/families/lda/reference.py",
        "zoo/toolbox/draws.py",
        "stan/lda.stan",
        "stan/functions/dirichlet.stan",
    } <= files
    assert not {"kernels/toolbox/jit.py", "zoo/models/hdp.py", "zoo/families/hdp/sticks.py"} & files
    changes = {site[0].definition: site[0] for site in target.sites}
    trials = target.trials()
    seen = {
        name: {trial.name.partition(" ")[0] for trial in trials if trial.sees(changes[name])}
        for name in ("crt_by_jumps", "documents", "lda.stan")
    }
    assert {"joint", "sequential"} <= seen["crt_by_jumps"]
    assert "joint" not in seen["lda.stan"]
    assert "tests/zoo/test_stan.py" in seen["lda.stan"]
    of_every_model = {f"tests/models/test_{name}.py" for name in ("models", "chains", "quantities")}
    assert of_every_model <= seen["documents"]
    assert not any(name.startswith("tests/golden") for name in seen["crt_by_jumps"])


def test_names_of_failed_tests_may_have_spaces():
    said = ["FAILED a.py::test[lda with an alpha - AssertionError: x - y", "FAILED a.py::test[b]", "1 failed"]
    assert failed_tests(said) == ["a.py::test[lda with an alpha", "a.py::test[b]"]


def test_what_is_told_names_no_folders_of_the_machine():
    said = "FAILED tests/a.py::test[pfa/limited] - Error: Command '['/one/two/python', '-c', '/one/b.py:3']"
    told = "FAILED tests/a.py::test[pfa/limited] - Error: Command '['python', '-c', 'b.py:3']"
    assert without_folders(said) == told
    assert without_folders("1 / 2, and a/b") == "1 / 2, and a/b"


def test_the_books_name_no_folders_of_a_machine():
    audits = [Audit.read(path) for path in Books().folder.glob("*.audit")]
    told = [outcome.how for one in audits for outcome in one.outcomes]
    assert told == [without_folders(how) for how in told]


def test_reasons_are_of_mutants_that_there_are():
    """A reason may not outlive what it is about."""
    target = PackageModel("lda")
    of_stan = [
        site for file in target.stan_files() for site in stan_sites(file, (PACKAGE / file).read_bytes())
    ]
    known = {mutation.key for site in [*target.sites, *of_stan] for mutation in site}
    files = {key.partition(":")[0] for key in known}
    assert {key for key in target.equivalent if key.partition(":")[0] in files} <= known
    assert all(len(reason.split()) > 3 for reason in target.equivalent.values())
    assert EQUIVALENT.exists()
