"""Every command: what it prints, what it writes, and what its exit code says."""

import json
import subprocess
import sys

import pytest
from bnpzoo.cli import remembered
from bnpzoo.cli.app import app
from bnpzoo.zoo.formats import read_corpus
from bnpzoo.zoo.inference import BACKENDS, load, save
from bnpzoo.zoo.models import MODELS
from samplers import as_plain_python

COMMANDS = [command.name or command.callback.__name__ for command in app.registered_commands]
FAST = ("--chains", 2, "--tune", 20, "--draws", 20)


@pytest.mark.parametrize("command", COMMANDS)
def test_help(run, command):
    result = run(command, "--help")
    assert result.exit_code == 0
    assert "Usage:" in result.stdout


def test_help_of_fit_names_every_back_end(run):
    text = run("fit", "--help").output
    assert all(name in text for name in BACKENDS)


def test_help_does_not_wait_for_heavy_packages():
    heavy = "arviz, jax, numba, numpyro, pandas, scipy, sklearn, xarray"
    code = f"import sys, bnpzoo.cli; print([m for m in '{heavy}'.split(', ') if m in sys.modules])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


@pytest.mark.parametrize("command", [["list"], ["show", "hdp"]])
@pytest.mark.slow
def test_what_was_told_once_does_not_wait_for_heavy_packages(command, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    heavy = "arviz, jax, numba, numpyro, pandas, scipy, sklearn, xarray"
    code = (
        "import sys; from bnpzoo.cli.app import app; app(sys.argv[1:], standalone_mode=False); "
        f"print([m for m in '{heavy}'.split(', ') if m in sys.modules])"
    )
    first, second = (
        subprocess.run([sys.executable, "-c", code, *command], capture_output=True, text=True, check=True)
        for _ in range(2)
    )
    assert second.stdout.splitlines()[-1] == "[]"
    assert first.stdout.splitlines()[:-1] == second.stdout.splitlines()[:-1]


def test_what_is_told_is_as_the_package_is(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(remembered, "_state", lambda: "as it was")
    assert remembered.remembered("it", lambda: {"tags": ("a",)}) == {"tags": ["a"]}
    assert remembered.remembered("it", lambda: 2) == {"tags": ["a"]}
    (kept,) = tmp_path.rglob("*.json")
    kept.write_text("{")
    assert remembered.remembered("it", lambda: 3) == 3
    monkeypatch.setattr(remembered, "_state", lambda: "as it is")
    assert remembered.remembered("it", lambda: 4) == 4


def test_list(run):
    assert "hdp" in run("list").stdout
    assert {"lda", "hdp", "mt_hdp"} <= {model["id"] for model in json.loads(run("list", "--json").stdout)}


def test_show(run):
    result = run("show", "hdp")
    assert result.exit_code == 0
    assert "Teh" in result.stdout
    assert json.loads(run("show", "hdp", "--json").stdout)["bibtex_key"] == "teh2006hierarchical"


def test_show_tells_which_topics_a_model_takes(run):
    shown = run("show", "hdp").stdout
    assert "dirichlet: symmetric Dirichlet, the same in all groups (here)\n" in shown
    assert "pitman-yor: Pitman-Yor processes" in shown
    assert "no others: its token steps move masks" in run("show", "focused").stdout
    of_both = run("show", "hdp", "--topics", "pitman-yor").stdout
    assert "but here topics are pitman-yor" in of_both
    assert "but here topics are" not in shown
    for line in ("gamma = Gamma(1, 1)", "topics = pitman-yor", "a = 0.7", "base = shared"):
        assert f"  {line}\n" in of_both
    assert "forced (exact): direct assignment; table indicators" in of_both


def test_show_lists_everything_that_can_be_set(run):
    shown = run("show", "sparse_transfer").stdout
    for line in ("alpha = Gamma(2, 0.5)", "epsilon = 0.5", "a1 = 2.0", "a2 = 2.0", "lengths = task"):
        assert f"  {line}\n" in shown
    assert "n_topics = 10" in run("show", "lda").stdout
    as_json = json.loads(run("show", "sparse_transfer", "--json").stdout)
    assert as_json["hyperparameters"]["lengths"] == "task"


@pytest.mark.parametrize("model", MODELS)
def test_show_says_once_which_samplers_are_not_exact(run, model):
    for line in run("show", model).stdout.split("\nSamplers\n")[1].split("\n\n")[0].splitlines():
        assert line.count("not exact") <= 1


def test_simulate_writes_a_corpus(run, tmp_path):
    path = tmp_path / "drawn.npz"
    arguments = ("simulate", "mt_hdp", "--documents", 6, "--length", 5, "--words", 9, "--groups", 3)
    assert run(*arguments, "--out", path).exit_code == 0
    corpus = read_corpus(path)
    assert (corpus.n_documents, corpus.n_tokens, corpus.n_words, corpus.n_groups) == (6, 30, 9, 3)


def test_compare_agrees(run, fit_file, other_fit_file):
    result = run("compare", fit_file, other_fit_file)
    assert result.exit_code == 0, result.stdout
    assert "agree" in result.stdout
    assert json.loads(run("compare", fit_file, other_fit_file, "--json").stdout)["verdict"] == "agree"


def test_compare_exits_1_for_fits_that_disagree(run, fit_file, tmp_path):

    shifted = load(fit_file)
    shifted["posterior"] = shifted["posterior"].to_dataset() + 1.0
    save(shifted, tmp_path / "shifted.nc")
    result = run("compare", fit_file, tmp_path / "shifted.nc")
    assert result.exit_code == 1
    assert "disagree" in result.stdout


def test_compare_exits_3_for_chains_that_are_too_short(run, fit_file, tmp_path):

    short = load(fit_file).isel(draw=slice(-20, None), missing_dims="ignore")
    save(short, tmp_path / "short.nc")
    assert run("compare", fit_file, tmp_path / "short.nc").exit_code == 3


def test_evaluate_looks_at_the_documents_that_it_scores_alone(run, tmp_path):
    """Groups of the others may be unknown; and topics of a single word have scores, but no coherence."""
    texts, fit = tmp_path / "texts.csv", tmp_path / "fit.nc"
    texts.write_text("text,group\naa aa,a\naa,b\naa aa aa,a\n")
    quick = ("--draws", 4, "--tune", 2, "--chains", 1, "--min-df", 1)
    assert run("fit", "mt_hdp", texts, *quick, "--out", fit).exit_code == 0
    texts.write_text("text,group,is_test\naa,a,1\naa aa,b,1\naa,c,0\n")
    found = json.loads(run("evaluate", fit, texts, "--split", "is_test", "--json").stdout)
    assert [score["perplexity"] for score in found["held_out"]] == pytest.approx([1.0] * 3)
    assert set(found["coherence"]["NPMI"]) == {None}
    assert json.loads(run("evaluate", fit, texts, "--json").stdout) == found  # as `fit` takes them
    texts.write_text("text,group,is_test\naa,a,0\naa aa,b,0\naa,c,0\n")  # none is marked: all of them
    refused = run("evaluate", fit, texts)
    assert refused.exit_code == 2
    assert "group" in refused.stderr


def test_evaluate(run, fit_file, corpus_file):
    result = run("evaluate", fit_file, corpus_file, "--split", "is_test")
    assert result.exit_code == 0, result.output
    assert "left to right" in result.stdout
    by_sentence = run("evaluate", fit_file, corpus_file, "--unit", "sentence")
    assert by_sentence.exit_code == 2
    assert "expected sentences, found none" in by_sentence.stderr
    scores = json.loads(run("evaluate", fit_file, corpus_file, "--json").stdout)
    assert [score["method"] for score in scores["held_out"]] == [
        "document completion",
        "left to right",
        "empirical likelihood",
    ]
    quick = json.loads(run("evaluate", fit_file, corpus_file, "--quick", "--json").stdout)
    assert quick["held_out"] == [scores["held_out"][0], scores["held_out"][2]]


def test_topics(run, fit_file):
    assert run("topics", fit_file, "--words", 3).exit_code == 0
    topics = json.loads(run("topics", fit_file, "--words", 3, "--json").stdout)
    assert sum(topic["tokens"] for topic in topics) == pytest.approx(80)
    assert all(len(topic["words"]) == 3 for topic in topics)


def test_report(run, fit_file, tmp_path):
    result = run("report", fit_file, "--out", tmp_path / "report.html")
    assert result.exit_code == 0, result.output
    assert "<html" in (tmp_path / "report.html").read_text()


def test_doctor(run):
    assert run("doctor").exit_code == 0
    assert json.loads(run("doctor", "--json").stdout)["packages"]["bnpzoo"]


@as_plain_python
def test_means_of_a_short_run_are_no_ground_truth(run, corpus_file, tmp_path):
    short = tmp_path / "short.nc"
    run("fit", "hdp", corpus_file, "--tune", 1, "--draws", 1, "--chains", 1, "--out", short)
    result = run("export", short, "--to", "ground-truth", "--out", tmp_path / "out.json")
    assert result.exit_code == 0, result.output
    assert "This is no ground truth yet. Not enough evidence" in " ".join(result.stderr.split())


@pytest.mark.parametrize("form", ["ground-truth", "posteriordb", "gensim"])
def test_export(run, fit_file, tmp_path, form):
    if form == "gensim":
        pytest.importorskip("gensim")
    out = tmp_path / "out.json"
    result = run("export", fit_file, "--to", form, "--out", out)
    assert result.exit_code == 0, result.output
    assert out.exists()
    assert ("not ndraws_is_gte_10k" in result.stderr) == (form == "posteriordb")
    if form == "ground-truth":
        refused = run("export", fit_file, "--to", form, "--out", out.with_suffix(".txt"))
        assert "expected a name that ends in .json" in refused.stderr
    refused = run("export", fit_file, "--to", "ground-truth", "--out", out, "--name", "x")
    assert refused.exit_code == 2
    assert "error: --name and --truncation are for --to posteriordb" in refused.stderr
