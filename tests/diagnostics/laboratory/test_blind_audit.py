"""Blind audits: what becomes of mutants, what is known of them later, and what is not."""

import itertools
import os
import signal
import sys
import tempfile
import threading
import time
from concurrent.futures import CancelledError, ThreadPoolExecutor
from dataclasses import asdict, replace

import pytest
from bnpzoo.diagnostics.laboratory.blind import running, targets
from bnpzoo.diagnostics.laboratory.blind import trial as process
from bnpzoo.diagnostics.laboratory.blind.audit import Audit, Outcome, audit
from bnpzoo.diagnostics.laboratory.blind.changes import Mutation
from bnpzoo.diagnostics.laboratory.blind.running import Ended, Runner
from bnpzoo.diagnostics.laboratory.blind.targets import OwnSampler
from bnpzoo.diagnostics.reports.blind import summary_of, write_blind_report
from bnpzoo.diagnostics.reports.evidence import evidence_page
from bnpzoo.zoo.inference import interrupt
from own_program import OWN


def test_an_audit_of_a_program_of_ones_own(own, tmp_path, monkeypatch):
    seen = []
    found = audit(own, 5, 1, tmp_path / "store", 2, lambda *told: seen.append(told))
    fates = {(o.mutation.definition, o.status) for o in found.outcomes}
    assert ("Halves.half", "killed") in fates
    assert {status for name, status in fates if name == "more"} == {"survived"}
    assert {name for name, _ in fates} == {"Halves.half", "more"}
    assert seen[0] == ("the right program: verdicts", 0, 5)
    assert [told for _, *told in seen[1:]] == [[done, 5] for done in range(1, 6)]
    told = {f"{o.status}: {o.mutation.file}:{o.mutation.line}" for o in found.outcomes}
    assert {what for what, *_ in seen[1:]} == told
    assert 0.0 < found.score_of_running < 1.0
    assert found.interval[0] < found.score_of_running < found.interval[1]
    assert found.killers == {"verdicts": len(found.of("killed")) + len(found.of("crashed"))}
    page = tmp_path / "page.html"
    write_blind_report(page, found)
    assert summary_of(found) in page.read_text()

    run = Runner.run

    def run_right(self, target, trial, mutation, limit):
        assert mutation is None, "everything is known"
        return run(self, target, trial, mutation, limit)

    monkeypatch.setattr(Runner, "run", run_right)
    again = audit(own, 5, 1, tmp_path / "store", 2)
    assert [asdict(o) for o in again.outcomes] == [asdict(o) for o in found.outcomes]
    found.save(tmp_path / "own.audit")
    assert Audit.read(tmp_path / "own.audit") == found
    (tmp_path / "own.audit").write_text("{}")
    with pytest.raises(ValueError, match=r"own\.audit: expected a blind audit"):
        Audit.read(tmp_path / "own.audit")


def test_the_evidence_page_tells_of_audits_one_by_one_and_together():
    def outcome(status, line):
        mutation = Mutation("a.py", "f", line, "y = x | 1", "name", "x", "y", 4, 5)
        return Outcome(mutation, status, "", "", [], 1.0)

    first = Audit("lda", "", 7, 100, "2026-01-02", [outcome("killed", 1), outcome("crashed", 2)], ["a rung"])
    second = Audit("hdp", "", 8, 100, "2026-01-03", [outcome("survived", 3), outcome("killed", 4)])
    page = evidence_page([], [first, second])
    assert "Drawn from 2026-01-02 to 2026-01-03." in page
    assert "| lda | 1 | 1 | 0 | 100%\xa0(2–100%) | 0 | 7 |" in page
    assert "| hdp | 0 | 1 | 1 | 50%\xa0(1–99%) | 0 | 8 |" in page
    assert "| all | 1 | 2 | 1 | 67%\xa0(9–99%) | 0 |  |" in page
    assert f"- **hdp**: `` {second.outcomes[0].mutation.key} ``" in page
    assert "**lda**" not in page
    assert "- `a rung`" in page


def test_other_tests_are_all_that_is_tried_anew(own, tmp_path, monkeypatch):
    [trial] = own.trials()
    tried = []

    def run(self, target, trial, mutation, limit):
        tried.append((trial.tests, mutation is None))
        return Ended(0, [], 1.0)

    monkeypatch.setattr(Runner, "run", run)
    monkeypatch.setattr(own, "trials", lambda: [replace(trial, tests="old"), replace(trial, tests="mended")])
    audit(own, 2, 1, tmp_path / "store", 1)
    assert len(tried) == 6
    monkeypatch.setattr(own, "trials", lambda: [replace(trial, tests="old"), replace(trial, tests="new")])
    tried.clear()
    audit(own, 2, 1, tmp_path / "store", 1)
    assert sorted(tried) == [("new", False), ("new", False), ("new", True), ("old", True)]


def test_what_is_known_of_mutants_holds_for_one_version_and_one_helper(own, tmp_path, monkeypatch):
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (folder / "helper_of_own.py").write_text("FOUR = 4.0\n")
    monkeypatch.setenv("PYTHONPATH", str(folder), prepend=os.pathsep)
    own.file.write_text("from helper_of_own import FOUR\n" + OWN.replace("== 4.0", "== FOUR"))
    run, tried = Runner.run, []

    def counted(self, target, trial, mutation, limit):
        tried.append(mutation is None)
        return run(self, target, trial, mutation, limit)

    monkeypatch.setattr(Runner, "run", counted)

    def tried_now():
        tried.clear()
        audit(OwnSampler(own.name), 1, 1, tmp_path / "store")
        return tried

    assert tried_now() == [True, False]
    assert tried_now() == [True]
    (folder / "helper_of_own.py").write_text("FOUR = 8.0 / 2.0\n")
    assert tried_now() == [True, False]
    monkeypatch.setattr(targets, "__version__", "another")
    assert tried_now() == [True, False]


def test_modules_that_import_others_when_they_are_looked_at(monkeypatch):
    class Lazy:
        @property
        def __class__(self):
            monkeypatch.setitem(sys.modules, "what_lazy_imports", None)
            return Lazy

    monkeypatch.setitem(sys.modules, "lazy", Lazy())
    assert process.hash_of_imports() == process.hash_of_imports()


def test_mutants_that_are_argued_to_be_equivalent_are_not_tried(own):
    own.equivalent = {m.key: "nobody calls it, so it says nothing" for site in own.sites for m in site}
    found = audit(own, 3, 1)
    assert [o.status for o in found.outcomes] == ["equivalent"] * 3
    assert "nothing can be said" in summary_of(found)


def test_a_program_that_is_wrong_from_the_start(own):
    own.file.write_text(OWN.replace("== 4.0", "== 5.0"))
    with pytest.raises(ValueError, match="the right program does not pass verdicts"):
        audit(own, 3, 1)


def test_verdicts_that_are_none(own):
    own.file.write_text(OWN.replace("    yield", "    yield from ()\n    return\n    yield"))
    with pytest.raises(
        ValueError, match=r"does not pass verdicts: ValueError: own\.py:Halves: gave no verdict"
    ):
        audit(own, 3, 1)


def test_a_mutant_that_goes_on_for_ever(own, monkeypatch):
    monkeypatch.setattr(process, "LEAST_LIMIT", 1.0)
    monkeypatch.setattr(process, "SLACK", 0.0)
    loop = "while x > 4.0:\n            x = x - 2.0\n        return x"
    own.file.write_text(OWN.replace("return x / 2.0", loop))
    sites = OwnSampler(own.name).sites
    own.sites = [[m] for site in sites for m in site if m.after == "(x + 2.0)"]
    found = audit(own, 1, 1)
    assert [(o.status, o.how) for o in found.outcomes] == [("killed", "stopped after 1 s")]


WAITS = process.Trial("waits", ("-c", "import time; time.sleep(60)"))


def test_trials_that_wait_without_computing(own, monkeypatch):
    monkeypatch.setattr(running, "PATIENCE", 0.05)
    for _ in range(10):  # whether the watch or the audit hears first of its end is up to the system
        ended = Runner().run(own, WAITS, None, 1.0)
        assert ended.said == ["stopped after 0 s"]


def test_of_trials_that_are_stopped_nothing_is_known(own):
    runner = Runner()
    with ThreadPoolExecutor(3) as pool:
        trials = [pool.submit(runner.run, own, WAITS, None, 60.0) for _ in range(3)]
        while len(runner._running) < 3:
            time.sleep(0.01)
        runner.stop()
        assert [type(trial.exception(timeout=30)) for trial in trials] == [CancelledError] * 3
    with pytest.raises(CancelledError):
        runner.run(own, WAITS, None, 60.0)


def test_a_second_signal_does_not_cut_the_end_short():
    ended = []

    def end():
        with interrupt.interrupted_by_any():
            try:
                os.kill(os.getpid(), signal.SIGTERM)
                time.sleep(10.0)
            finally:
                os.kill(os.getpid(), signal.SIGTERM)
                time.sleep(0.1)
                ended.append(True)

    with pytest.raises(KeyboardInterrupt):
        end()
    assert ended


@pytest.fixture
def usual_signals():
    """Signals as they are unless somebody, such as ``nohup``, has them ignored."""
    before = {number: signal.signal(number, signal.SIG_DFL) for number in interrupt.ENDING}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.usefixtures("usual_signals")
@pytest.mark.parametrize(
    ("begun", "by"), [(1, signal.SIGINT), (4, signal.SIGINT), (4, signal.SIGTERM), (1, signal.SIGHUP)]
)
def test_an_audit_that_is_interrupted_goes_on_as_if_it_had_not_been(own, tmp_path, monkeypatch, begun, by):
    """While the right program goes through its trials, and while mutants do."""
    run, lock, count = Runner.run, threading.Lock(), itertools.count(1)

    def interrupted(self, target, trial, mutation, limit):
        """Run a trial, but for one that waits until the audit is told to stop."""
        with lock:
            is_last = next(count) == begun
        if not is_last:
            return run(self, target, trial, mutation, limit)
        threading.Timer(1.0, os.kill, [os.getpid(), by]).start()
        return run(self, target, replace(trial, arguments=WAITS.arguments), mutation, limit)

    monkeypatch.setattr(Runner, "run", interrupted)
    before = [signal.getsignal(number) for number in interrupt.ENDING]
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(KeyboardInterrupt):
        audit(own, 5, 1, tmp_path / "store", 2)
    assert not [*tmp_path.glob("bnpzoo-blind-*")]
    assert [signal.getsignal(number) for number in interrupt.ENDING] == before
    monkeypatch.setattr(Runner, "run", run)
    found, whole = audit(own, 5, 1, tmp_path / "store", 2), audit(own, 5, 1)
    assert [replace(o, seconds=0.0) for o in found.outcomes] == [
        replace(o, seconds=0.0) for o in whole.outcomes
    ]
