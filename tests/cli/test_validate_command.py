"""``bnpzoo validate``."""

import json

import pytest
import xarray as xr
from bnpzoo.cli.validate import Budget, Rung
from bnpzoo.diagnostics.laboratory.ladder import BUDGETS, RUNGS
from bnpzoo.diagnostics.laboratory.verdict import Verdict


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    return tmp_path_factory.mktemp("validation")


def test_choices_are_those_of_the_laboratory():
    assert [str(rung) for rung in Rung] == [*RUNGS, "all"]
    assert [str(budget) for budget in Budget] == list(BUDGETS)


def test_a_right_sampler(run, out):
    result = run("validate", "lda", "--rung", "joint", "--out", out)
    assert result.exit_code == 0, result.output
    assert "lda/sparse" in result.stdout
    assert "passed" in result.stdout
    assert (out / "lda.html").read_text().startswith("<!DOCTYPE html>")
    assert (out / "lda.dense.joint.ci.nc").exists()


def test_json(run, out):
    result = run("validate", "lda", "--rung", "joint", "--variant", "dense", "--out", out, "--json")
    found = json.loads(result.stdout)
    assert found["passed"]
    assert [verdict["status"] for verdict in found["verdicts"]] == ["passed"]
    assert found["verdicts"][0]["figures"]["conditionals"] == 200


def test_mutants(run, out):
    result = run("validate", "lda", "--rung", "joint", "--variant", "dense", "--mutants", "--out", out)
    assert result.exit_code == 0, result.output
    assert "document-count-kept" in result.stdout
    assert "killed" in result.stdout


def test_a_combination_of_documents_and_topics(run, tmp_path, blind):
    blind("passed")
    command = ("validate", "hdp", "--topics", "pitman-yor", "--rung", "joint", "--variant", "forced")
    found = json.loads(run(*command, "--mutants", "--json", "--out", tmp_path).stdout)
    assert [verdict["topics"] for verdict in found["verdicts"]] == ["pitman-yor"]
    assert {"gamma-ignored", "pyp-printed-weights", "pyp-new-topic-too-likely"} < {*found["survivors"]}
    assert "stale-mass" not in found["survivors"]
    assert (tmp_path / "hdp.pitman-yor.html").exists()


def test_a_form_of_a_model(run, tmp_path, blind):
    blind("passed")
    command = ("validate", "lda", "--set", "symmetric=false", "--rung", "joint", "--variant", "sparse")
    found = json.loads(run(*command, "--mutants", "--json", "--out", tmp_path).stdout)
    assert found["verdicts"][0]["options"] == {"symmetric": False}
    assert "alpha-of-all-topics" in found["survivors"]
    wrong = run("validate", "lda", "--set", "alpha=1", "--out", tmp_path)
    assert wrong.exit_code == 2
    assert "tests choose values of hyperparameters themselves" in wrong.stderr


@pytest.fixture
def blind(monkeypatch):
    """Tests that pass whatever they see, or reject whatever they see."""

    def blind(status):
        def climb(case, store=None, progress=None):
            table = xr.Dataset({"p_value": ("quantity", [0.5])}, {"quantity": ["x"]})
            return Verdict(case.rung, case.subject, status, "Whatever.", 1e-5, table)

        monkeypatch.setattr("bnpzoo.diagnostics.laboratory.validate.climb", climb)

    return blind


def test_mutants_that_survive(run, tmp_path, blind):
    blind("passed")
    command = ("validate", "hdp", "--rung", "oracle", "--mutants", "--out", tmp_path)
    result = run(*command, "--json")
    assert result.exit_code == 1
    found = json.loads(result.stdout)
    assert not found["passed"]
    assert {"stale-mass", "gamma-ignored"} < {*found["survivors"]}
    assert "was not noticed by the rungs that were run" in run(*command).stdout


def test_a_sampler_that_is_rejected(run, tmp_path, blind):
    blind("rejected")
    assert run("validate", "hdp", "--rung", "sbc", "--out", tmp_path).exit_code == 1


@pytest.mark.parametrize(
    "arguments",
    [("ldaa",), ("lda", "--rung", "jont"), ("lda", "--variant", "fast"), ("lda", "--budget", "huge")],
)
def test_bad_input(run, out, arguments):
    assert run("validate", *arguments, "--out", out).exit_code == 2


@pytest.fixture
def short_round(monkeypatch, tmp_path):
    """A full round of two cases, and books that are empty."""
    from bnpzoo.diagnostics.laboratory import validate

    cases = [*validate.cases_of("lda", ["joint"], "dense"), *validate.mutant_cases("lda", ["joint"], "dense")]
    monkeypatch.setattr(validate, "round_of", lambda budget: cases)
    monkeypatch.setattr("bnpzoo.diagnostics.laboratory.archive.BOOKS", tmp_path / "books")
    return cases


def test_everything(run, tmp_path, short_round, blind):
    blind("passed")
    command = ("validate", "--all", "--jobs", "1", "--out", tmp_path, "--json")
    first = json.loads(run(*command).stdout)
    assert (first["judged"], first["known"], first["left"]) == (len(short_round), 0, [])
    assert first["survivors"] == ["lda: document-count-kept"]
    again = json.loads(run(*command).stdout)
    assert (again["judged"], again["known"]) == (0, len(short_round))
    told = " ".join(run(*command[:-1]).stdout.split())
    assert "Nothing notices the mutant document-count-kept of lda" in told


def test_everything_that_something_else_notices(run, tmp_path, short_round, blind, monkeypatch):
    blind("passed")
    tests = {"document-count-kept": "tests/test_lda.py::test_counts"}
    monkeypatch.setattr("bnpzoo.diagnostics.laboratory.noticed.noticing_tests", lambda: tests)
    result = run("validate", "--all", "--jobs", "1", "--out", tmp_path)
    assert result.exit_code == 0
    assert "or a test of their own, notice: 1" in " ".join(result.stdout.split())


def test_everything_as_far_as_time_goes(run, tmp_path, short_round, blind):
    blind("passed")
    command = ("validate", "--all", "--jobs", "1", "--out", tmp_path, "--minutes", "0")
    result = run(*command)
    assert result.exit_code == 0
    assert "bnpzoo validate lda --rung joint --variant dense --budget ci" in result.stdout
    assert "1 tests of mutants" in result.stdout


@pytest.mark.parametrize("arguments", [(), ("lda", "--all"), ("x.py:Y", "--blind", "3")])
def test_what_is_to_be_validated(run, out, arguments):
    assert run("validate", *arguments, "--out", out).exit_code == 2


@pytest.mark.parametrize(
    ("name", "options"), [("coin.py:Coin", ("--rung", "sbc")), ("coin.py", ("--blind", "3"))]
)
def test_a_sampler_of_ones_own_is_audited_or_judged_in_python(run, name, options):
    result = run("validate", name, *options)
    assert result.exit_code == 2
    told = " ".join(result.output.replace("│", " ").split())
    assert f"{name}: a sampler of your own is told as FILE.py:NAME, and needs --blind N; single" in told
    assert "had in Python" in told


OWN = """\
class Coin:
    def side(self):
        return 1


def verdicts(subject):
    from types import SimpleNamespace

    yield SimpleNamespace(passed=subject.side() == 1, status="rejected")
"""


def test_mutants_of_ones_own_sampler(run, tmp_path):
    file = tmp_path / "coin.py"
    file.write_text(OWN)
    command = ("validate", f"{file}:Coin", "--blind", "3", "--jobs", "1", "--out", tmp_path)
    found = json.loads(run(*command, "--json").stdout)
    assert [mutant["status"] for mutant in found["mutants"]] == ["killed"]
    assert found["score"] == 1.0
    result = run(*command)
    assert result.exit_code == 0
    assert "1 of 1 mutants that run were killed, 100%" in result.stdout
    assert len([*tmp_path.glob("coin.Coin.*.blind.html")]) == 1


@pytest.fixture
def told(monkeypatch):
    """Make trials of the right program end so."""
    from bnpzoo.diagnostics.laboratory.blind.running import Ended, Runner

    def told(code, *said):
        def run_trial(self, target, trial, mutation, limit):
            return Ended(code if mutation is None else 3, [*said], 1.0)

        monkeypatch.setattr(Runner, "run", run_trial)

    return told


@pytest.mark.parametrize(("code", "exit_code"), [(3, 1), (4, 1), (1, 2)])
def test_ones_own_sampler_that_does_not_pass(run, tmp_path, told, code, exit_code):
    """It is rejected, or cannot be judged; or it does not run."""
    told(code, "what it says")
    (tmp_path / "coin.py").write_text(OWN)
    result = run("validate", f"{tmp_path / 'coin.py'}:Coin", "--blind", "2", "--out", tmp_path)
    assert result.exit_code == exit_code
    assert "does not pass verdicts: what it says" in result.stderr


def test_pages_of_samplers_whose_files_have_one_name(run, tmp_path, told):
    told(0)
    for folder in ("one", "other"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "hdp.py").write_text(OWN)
        command = ("validate", f"{tmp_path / folder / 'hdp.py'}:Coin", "--blind", "1", "--out", tmp_path)
        assert run(*command).exit_code == 0
    pages = {path.name for path in tmp_path.glob("*.blind.html")}
    assert len(pages) == 2
    assert "hdp.blind.html" not in pages


@pytest.mark.parametrize(
    ("command", "option"),
    [
        (("lda", "--blind", 1), ("--rung", "joint")),
        (("lda", "--blind", 1), ("--variant", "none")),
        (("lda", "--blind", 1), ("--budget", "full")),
        (("lda", "--blind", 1), ("--mutants",)),
        (("lda", "--blind", 1), ("--minutes", 1)),
        (("x.py:Y", "--blind", 1), ("--topics", "pitman-yor")),
        (("x.py:Y", "--blind", 1), ("--set", "a=1")),
        (("--all", "--blind", 1), ("--set", "a=1")),
        (("--all",), ("--variant", "dense")),
        (("lda",), ("--jobs", 1)),
        (("lda",), ("--minutes", 1)),
    ],
)
def test_options_that_would_change_nothing(run, tmp_path, command, option, monkeypatch):
    def nothing(*given):
        raise SystemExit(0)

    for function in ("validate_blindly", "validate_all_blindly", "validate_everything"):
        monkeypatch.setattr(f"bnpzoo.cli.validate.{function}", nothing)
    monkeypatch.setattr("bnpzoo.diagnostics.laboratory.validate.cases_of", nothing)
    result = run("validate", *command, *option, "--out", tmp_path)
    assert result.exit_code == 2
    assert option[0] in result.stderr


@pytest.mark.slow
def test_mutants_of_every_model(run, tmp_path, monkeypatch):
    from bnpzoo.diagnostics.laboratory.blind.running import Ended, Runner
    from bnpzoo.zoo import models

    def run_trial(self, target, trial, mutation, limit):
        return Ended(0 if mutation is None else 3, ["no"], 1.0)

    monkeypatch.setattr(Runner, "run", run_trial)
    monkeypatch.setattr(models, "combinations", lambda: [("lda", ""), ("lda", "pitman-yor")])
    result = run("validate", "--all", "--blind", "2", "--out", tmp_path, "--json")
    found = json.loads(result.stdout)
    assert [one["target"] for one in found] == ["lda", "lda × pitman-yor"]
    assert all(mutant["status"] in ("killed", "crashed") for one in found for mutant in one["mutants"])


def test_a_card_tells_of_verdicts_that_are_current(run, tmp_path, monkeypatch):
    from bnpzoo.diagnostics.laboratory.archive import Books, Record
    from bnpzoo.diagnostics.laboratory.ladder import Case

    monkeypatch.setattr("bnpzoo.diagnostics.laboratory.archive.BOOKS", tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))  # nothing is remembered of the real books
    current, old = Case("lda", "dense", "joint"), Case("lda", "dense", "oracle")
    told = ("passed", "As it should.", {}, "2026-11-21T12:00:00+00:00", 1.0, "0.1.0")
    Books().enter([Record(current, *told, current.fingerprint), Record(old, *told, "of yesterday")])
    shown = run("show", "lda").stdout
    assert "dense: joint passed (ci, 2026-11-21)\n" in shown
    assert "sparse: none that is current" in shown
    assert "as_if_last: not judged: it does not claim to be exact" in run("show", "was").stdout
    (verdict,) = json.loads(run("show", "lda", "--json").stdout)["verdicts"]
    assert (verdict["variant"], verdict["rung"], verdict["status"]) == ("dense", "joint", "passed")
