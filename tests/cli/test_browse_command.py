import pytest


@pytest.mark.slow
def test_browse_writes_a_page(run, fit_file, folder):
    page = folder / "topics.html"
    result = run("browse", fit_file, "--out", page)
    assert result.exit_code == 0
    assert result.stdout.strip() == f"Wrote {page}"
    assert page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_a_report_links_to_the_browser_beside_it(run, fit_file, folder):
    result = run("report", fit_file, "--out", folder / "r.html", "--browser", folder / "its topics.html")
    assert result.exit_code == 0
    assert '<a href="its%20topics.html">' in (folder / "r.html").read_text(encoding="utf-8")
    assert (folder / "its topics.html").exists()


def test_a_page_must_be_called_one(run, fit_file, folder):
    result = run("browse", fit_file, "--out", folder / "topics.txt")
    assert result.exit_code == 2
    assert len(result.stderr.splitlines()) == 1
    assert not (folder / "topics.txt").exists()
