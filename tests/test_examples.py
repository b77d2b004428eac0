"""Tutorials and examples run, and show what they say."""

import re
import runpy
import sys
from pathlib import Path

import pytest
from bnpzoo import compare
from bnpzoo.diagnostics.laboratory.oracle import Oracle

ROOT = Path(__file__).parents[1]


def run_cells(page):
    """Run the code cells of a MyST notebook in one namespace, which is returned."""
    cells = re.findall(r"^```\{code-cell\}\n(.*?)^```", page.read_text(encoding="utf-8"), re.S | re.M)
    assert cells
    names = {}
    for cell in cells:
        exec(compile(cell, str(page), "exec"), names)
    return names


@pytest.mark.compiled
@pytest.mark.slow
def test_test_your_own_sampler(monkeypatch):
    # Five verdicts on the right sampler. False alarms: at most 1e-5 each, none of the joint ratios'.
    monkeypatch.chdir(ROOT / "docs" / "tutorials")
    monkeypatch.syspath_prepend(ROOT / "docs" / "tutorials")
    names = run_cells(ROOT / "docs" / "tutorials" / "test_your_own_sampler.md")
    assert len(names["blind"].outcomes) == 6
    assert [outcome.mutation.after for outcome in names["blind"].of("survived")] == ["(z != coin)"]
    for rung in ("joint", "chains", "two_samples", "in_turn", "ranks"):
        verdicts = names[rung]
        assert verdicts["coins"].passed, verdicts["coins"]
        assert verdicts["forgetful coins"].status == "rejected", verdicts["forgetful coins"]
    assert names["forgetful"]
    assert compare({name: names[name] for name in ("kernel", "mine")}).verdict == "disagree"


@pytest.mark.compiled
@pytest.mark.slow
def test_has_my_model_converged(monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "agg")
    names = run_cells(ROOT / "docs" / "tutorials" / "has_my_model_converged.md")
    assert names["rhat"](names["apart"]) > 1.5
    assert names["rhat"](names["fit"]) <= 1.05
    assert all(names["found"].entry(start, "log_joint") for start in ("one", "documents"))


@pytest.mark.slow
def test_tomotopy_hdp(monkeypatch, capsys):
    pytest.importorskip("tomotopy", reason="tomotopy is not installed (extra peers)")
    monkeypatch.setattr(sys, "argv", ["tomotopy_hdp.py", "--chains", "2", "--draws", "200"])
    runpy.run_path(str(ROOT / "examples" / "tomotopy_hdp.py"), run_name="__main__")
    assert "two tokens of one word" in capsys.readouterr().out


@pytest.mark.slow
def test_digits(monkeypatch, capsys, tmp_path):
    picture = tmp_path / "digits.png"
    arguments = ["--topics", "2", "--per-class", "5", "--sweeps", "5", "--out", str(picture)]
    monkeypatch.setattr(sys, "argv", ["digits.py", *arguments])
    runpy.run_path(str(ROOT / "examples" / "digits.py"), run_name="__main__")
    assert "likeness of the ten versions" in capsys.readouterr().out
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_franchise_without_differences_is_exact():
    example = runpy.run_path(str(ROOT / "examples" / "tomotopy_hdp.py"))
    corpus, model = example["CORPORA"]["0 1 | 0 1"], example["MODEL"]
    oracle = Oracle.of_model(model, corpus)
    exact = oracle.probabilities.mean
    assert abs(example["Franchise"](corpus, model).stationary(oracle.assignments) - exact).max() < 1e-6
    for difference in ("new table", "words apart"):
        wrong = example["Franchise"](corpus, model, (difference,)).stationary(oracle.assignments)
        assert abs(wrong - exact).max() > 0.01
