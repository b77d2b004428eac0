"""The demonstration, cut down to kernels: `make demo` runs all of it."""

import pytest
from bnpzoo.cli import demo


@pytest.mark.compiled
@pytest.mark.slow
def test_demo_ends_by_naming_its_report(run, tmp_path, monkeypatch):
    monkeypatch.setattr(demo, "RUNS", {"kernel": {"tune": 200, "draws": 400, "thin": 10}})
    report = tmp_path / "made" / "report.html"
    result = run("demo", "--out", report)
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[-1] == f"Report: {report}"
    assert report.exists()
