"""Blind audits: in which order mutants meet trials, and what the right program has to say."""

import json
from dataclasses import replace

import pytest
from bnpzoo.diagnostics.laboratory.blind import running, targets
from bnpzoo.diagnostics.laboratory.blind import trial as process
from bnpzoo.diagnostics.laboratory.blind.audit import Audit, audit
from bnpzoo.diagnostics.laboratory.blind.running import Ended, Runner
from bnpzoo.diagnostics.laboratory.blind.targets import OwnSampler
from bnpzoo.diagnostics.reports.blind import summary_of


def test_what_is_too_dear_is_left_out_and_told(own, tmp_path, monkeypatch):
    [verdicts] = own.trials()
    dear, empty = (replace(verdicts, name=name, arguments=("-m", "pytest")) for name in ("dear", "empty"))
    monkeypatch.setattr(own, "trials", lambda: [dear, verdicts, empty])
    ends = {"dear": Ended(running.STOPPED, ["stopped after 240 s"], 240.0), "empty": Ended(5, [], 1.0)}
    tried = []

    def run(self, target, trial, mutation, limit):
        tried.append((trial.name, mutation is None))
        return ends.get(trial.name, Ended(0, [], 1.0))

    monkeypatch.setattr(Runner, "run", run)
    found = audit(own, 2, 1, jobs=1)
    assert found.left_out == ["dear"]
    assert {name for name, is_right in tried if not is_right} == {"verdicts"}
    assert "Left out, as they take too long or do not run: dear." in summary_of(found)
    found.save(tmp_path / "own.audit")
    assert Audit.read(tmp_path / "own.audit") == found


@pytest.mark.parametrize("killed", [True, False])
def test_what_is_in_reserve_waits_for_a_mutant_that_gets_there(own, monkeypatch, killed):
    [verdicts] = own.trials()
    second, dear = (replace(verdicts, name=name, tests=name, in_reserve=True) for name in ("second", "dear"))
    monkeypatch.setattr(own, "trials", lambda: [second, dear, verdicts])
    tried = []

    def run(self, target, trial, mutation, limit):
        tried.append((trial.name, mutation is None))
        code = running.STOPPED if trial.name == "dear" else process.REJECTED if killed and mutation else 0
        return Ended(code, [""], 1.0)

    monkeypatch.setattr(Runner, "run", run)
    found = audit(own, 3, 1, jobs=2)
    assert tried.count(("verdicts", True)) == 1
    assert tried.count(("verdicts", False)) == 3
    once, thrice = (0, 0) if killed else (1, 3)
    assert [tried.count((name, True)) for name in ("second", "dear")] == [once, once]
    assert [tried.count((name, False)) for name in ("second", "dear")] == [thrice, 0]
    assert found.left_out == ([] if killed else ["dear"])
    assert {tuple(o.passed) for o in found.outcomes} == {() if killed else ("verdicts", "second")}


def test_cheap_trials_come_first_and_the_right_program_where_a_mutant_fails(own, tmp_path, monkeypatch):
    monkeypatch.setattr(OwnSampler, "whole", "as of a model of the package")
    [verdicts] = own.trials()
    dear, cheap, new, late = (
        replace(verdicts, name=name, tests=name) for name in ("dear", "cheap", "new", "late")
    )
    monkeypatch.setattr(own, "trials", lambda: [dear, replace(late, in_reserve=True), new, cheap])
    monkeypatch.setattr(own, "costs", lambda: {"dear": 200.0, "cheap": 5.0, "late": 1.0})
    tried = []

    def run(self, target, trial, mutation, limit):
        tried.append((trial.name, mutation is None))
        is_dear = trial.name == "dear"
        return Ended(process.REJECTED if is_dear and mutation else 0, [""], 3.0 if is_dear else 7.04)

    monkeypatch.setattr(Runner, "run", run)
    found = audit(own, 2, 1, tmp_path / "store", jobs=1)
    first = [("cheap", False), ("new", False), ("dear", False), ("dear", True)]
    assert tried == [*first, ("dear", False)], "which turned out to be the cheapest"
    assert found.costs == {"cheap": 7.0, "new": 7.0, "dear": 3.0}
    found.save(tmp_path / "own.audit")
    assert Audit.read(tmp_path / "own.audit") == found
    tried.clear()
    assert audit(own, 2, 1, tmp_path / "store", jobs=1).outcomes == found.outcomes
    assert tried == []


FAILED = ["FAILED test_a.py::test - assert 0"]


@pytest.mark.parametrize(
    ("of_right", "expected", "of_mutants"),
    [
        pytest.param(Ended(0, [], 100.0), "killed", [60.0], id="passed"),
        pytest.param(Ended(1, FAILED, 100.0), "survived", [60.0, 600.0], id="deselected"),
        pytest.param(Ended(running.STOPPED, [], 240.0), "untried", [60.0], id="too dear"),
    ],
)
def test_the_right_program_is_asked_once_a_mutant_fails(own, monkeypatch, of_right, expected, of_mutants):
    monkeypatch.setattr(OwnSampler, "whole", "as of a model of the package")
    [verdicts] = own.trials()
    tests = replace(verdicts, name="tests", arguments=("-m", "pytest"))
    monkeypatch.setattr(own, "trials", lambda: [tests])
    monkeypatch.setattr(own, "costs", lambda: {"tests": 2.0})
    limits = []

    def run(self, target, trial, mutation, limit):
        if mutation is None:
            return of_right
        limits.append(limit)
        return Ended(0, [], 1.0) if "--deselect" in trial.arguments else Ended(1, FAILED, 1.0)

    monkeypatch.setattr(Runner, "run", run)
    if expected == "untried":
        with pytest.raises(ValueError, match=r"left out: tests$"):
            audit(own, 1, 1)
    else:
        assert [o.status for o in audit(own, 1, 1).outcomes] == [expected]
    assert limits == of_mutants


def test_a_mutant_that_was_stopped_too_soon_has_another_try(own, monkeypatch):
    """As what the books say of costs is of another version, or of another model."""
    monkeypatch.setattr(OwnSampler, "whole", "as of a model of the package")
    monkeypatch.setattr(own, "costs", lambda: {"verdicts": 20.0})

    def run(self, target, trial, mutation, limit):
        return Ended(0, [], 200.0) if limit > 200.0 else Ended(running.STOPPED, ["stopped"], limit)

    monkeypatch.setattr(Runner, "run", run)
    assert [o.status for o in audit(own, 1, 1).outcomes] == ["survived"]


def test_costs_of_this_model_go_before_those_of_others(tmp_path, monkeypatch):
    for name, costs in {"hdp": {"a": 1.0}, "lda": {"a": 2.0, "b": 3.0}, "slda": {"a": 4.0}}.items():
        (tmp_path / f"{name}.audit").write_text(json.dumps({"costs": costs}))
    (tmp_path / "lda.pyp.audit").write_text("{}")
    monkeypatch.setattr(targets, "BOOKS", tmp_path)
    assert targets.PackageModel("hdp").costs() == {"a": 1.0, "b": 3.0}
    assert targets.PackageModel("lda").costs() == {"a": 2.0, "b": 3.0}


def test_an_audit_that_no_verdict_is_left_for(own, monkeypatch):
    monkeypatch.setattr(Runner, "run", lambda *told: Ended(running.STOPPED, ["stopped after 900 s"], 900.0))
    with pytest.raises(ValueError, match=r"right program within 900 s .* found none; left out: verdicts$"):
        audit(own, 2, 1)


def test_mutants_that_no_trial_looks_at_have_not_survived(own, tmp_path, monkeypatch):
    """As their only trial is left out, or all tests of it mind whether kernels are compiled."""
    [verdicts] = own.trials()
    halves = replace(verdicts, sees=lambda mutation: mutation.definition == "Halves.half")
    dear, minds = (replace(verdicts, name=name, arguments=("-m", "pytest")) for name in ("dear", "minds"))
    monkeypatch.setattr(own, "trials", lambda: [halves, dear, minds])

    def run(self, target, trial, mutation, limit):
        if trial.name == "dear":
            return Ended(running.STOPPED, ["stopped after 240 s"], 240.0)
        if trial.name == "minds":
            said = (1, ["FAILED test_a.py::test - no"]) if mutation is None else (5, [])
            return Ended(*said, 1.0)
        return Ended(0, [], 1.0)

    monkeypatch.setattr(Runner, "run", run)
    found = audit(own, 5, 1, jobs=1)
    assert {mutation.definition for mutation in found.untried} == {"more"}
    assert {(o.mutation.definition, o.status) for o in found.outcomes} == {("Halves.half", "survived")}
    assert len(found.untried) + len(found.outcomes) == 5
    found.save(tmp_path / "own.audit")
    assert Audit.read(tmp_path / "own.audit") == found


def test_a_start_that_failed_is_tried_anew(own, tmp_path, monkeypatch):
    monkeypatch.setattr(OwnSampler, "whole", "as of a model of the package")
    ends = [Ended(1, ["ModuleNotFoundError: No module named 'mended'"], 1.0)]
    monkeypatch.setattr(Runner, "run", lambda *told: ends[-1])
    with pytest.raises(ValueError, match="does not pass verdicts: ModuleNotFoundError"):
        audit(own, 2, 1, tmp_path / "store")
    ends.append(Ended(0, [], 1.0))
    assert len(audit(own, 2, 1, tmp_path / "store").of("survived")) == 2


def test_tests_that_failed_to_start_are_tried_anew(own, tmp_path, monkeypatch):
    [verdicts] = own.trials()
    monkeypatch.setattr(OwnSampler, "whole", "as of a model of the package")
    monkeypatch.setattr(own, "trials", lambda: [verdicts, replace(verdicts, arguments=("-m", "pytest"))])
    ends = [Ended(4, ["ImportError while loading conftest"], 1.0)]
    monkeypatch.setattr(
        Runner, "run", lambda self, target, trial, *told: ends[-1] if trial.is_pytest else Ended(0, [], 1.0)
    )
    assert audit(own, 2, 1, tmp_path / "store").left_out == ["verdicts"]
    ends.append(Ended(0, [], 1.0))
    assert audit(own, 2, 1, tmp_path / "store").left_out == []
