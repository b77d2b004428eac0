"""Wrong input is one red line on standard error and exit code 2, never a traceback."""

import os
import signal
import time

import pytest
from bnpzoo.cli.settings import parse_settings
from bnpzoo.zoo.contract import Beta, Gamma


def assert_one_line(result, *parts):
    assert result.exit_code == 2
    lines = [line for line in result.stderr.splitlines() if line.startswith("error: ")]
    assert len(lines) == 1
    assert "Traceback" not in result.output
    for part in parts:
        assert part in lines[0]


def test_unknown_model(run):
    assert_one_line(run("show", "nope"), "nope", "hdp")


def test_unknown_hyperparameter(run, corpus_file):
    assert_one_line(run("fit", "hdp", corpus_file, "--set", "beta=1"), "hdp", "beta")


@pytest.mark.parametrize("setting", ["topics=2", "topics=pitman-yor", "model_id=3"])
@pytest.mark.parametrize("command", ["fit", "validate"])
def test_settings_that_are_no_hyperparameters(run, corpus_file, command, setting):
    arguments = (command, "lda", *([corpus_file] if command == "fit" else []), "--set", setting)
    name = setting.partition("=")[0]
    known = "; there are n_topics, alpha, symmetric, eta"
    assert_one_line(run(*arguments), f"lda: no argument '{name}'", known)


def test_seeds_that_are_said_twice(run, corpus_file, tmp_path):
    (tmp_path / "seeds.txt").write_text("a b\n")
    seeds = ("--seeds", tmp_path / "seeds.txt", "--set", "seeds=3")
    assert_one_line(run("fit", "lda", corpus_file, *seeds), "--set seeds")


def test_hyperparameter_out_of_range(run, corpus_file):
    assert_one_line(run("fit", "hdp", corpus_file, "--set", "alpha=-1"), "alpha")


def test_choice_that_is_none(run, corpus_file):
    choice = ("--set", "lengths=page")
    assert_one_line(run("fit", "sparse_transfer", corpus_file, *choice), "task, document, none", "'page'")


@pytest.mark.parametrize(
    "arguments",
    [("--variant", "collapsed"), ("--backend", "numpyro", "--truncation", 11), ("--backend", "stan")],
)
def test_errors_come_before_the_work(run, corpus_file, arguments):
    result = run("fit", "sparse_transfer", corpus_file, *arguments)
    assert_one_line(result)
    assert result.stderr.startswith("error: ")
    assert not result.stdout


@pytest.mark.compiled
def test_chain_that_is_not_finite(run, corpus_file, tmp_path):
    """No file is left that could not be read."""
    vague = (
        "--set",
        "precision=1e-40",
        "--set",
        "intercept_precision=1e-40",
        "--set",
        "response=group:number",
    )
    result = run("fit", "slda", corpus_file, *vague, "--chains", 1, "--tune", 0, "--out", tmp_path / "fit.nc")
    assert_one_line(
        result, "slda: chain 0, sweep 1: ", "expected a finite number, found nan", "hyperparameters"
    )
    assert not list(tmp_path.iterdir())


def test_missing_corpus(run, tmp_path):
    assert_one_line(run("fit", "lda", tmp_path / "none.npz"), "none.npz")


def test_corpus_that_is_none(run, tmp_path):
    path = tmp_path / "text.npz"
    path.write_text("not an archive")
    assert_one_line(run("fit", "lda", path), "text.npz")


def test_model_that_needs_groups(run):
    assert_one_line(run("simulate", "mt_hdp"), "groups")


@pytest.mark.parametrize("command", ["compare", "topics", "report"])
def test_fit_that_is_none(run, corpus_file, command):
    assert_one_line(run(command, corpus_file), "corpus.npz")


def test_missing_folder_for_the_result(run, tmp_path):
    assert_one_line(run("simulate", "lda", "--out", tmp_path / "no" / "corpus.npz"), "no")


def test_back_end_that_does_not_exist(run, corpus_file):
    assert_one_line(run("fit", "lda", corpus_file, "--backend", "emcee"), "emcee", "numpyro")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("validate", "lda", "--blind", 0), "--blind"),
        (("validate", "lda", "--rung", "reference"), "--rung reference: expected --budget full or long"),
    ],
)
def test_tests_that_cannot_be_run(run, arguments, message):
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr


def test_split_by_nothing(run, corpus_file):
    assert_one_line(run("fit", "lda", corpus_file, "--split", "fold"), "fold")


def test_markup_in_a_name_is_not_interpreted(run, tmp_path):
    assert_one_line(run("fit", "lda", tmp_path / "[bold]x.npz"), "[bold]x.npz")


def test_wrong_usage(run):
    assert run("fit", "lda").exit_code == 2
    assert run("nonsense").exit_code == 2


def test_debug_lets_the_traceback_through(run):
    result = run("--debug", "show", "nope")
    assert isinstance(result.exception, ValueError)


def test_settings():
    texts = ["n_topics=3", " alpha = 0.5", "gamma=gamma(1, 2.5)", "a=Beta(2,1)", "eta=1e-2", "yes=True"]
    assert parse_settings(texts) == {
        "n_topics": 3,
        "alpha": 0.5,
        "gamma": Gamma(1, 2.5),
        "a": Beta(2, 1),
        "eta": 0.01,
        "yes": True,
    }


@pytest.mark.parametrize("text", ["alpha", "alpha=", "=1", "alpha=x", "alpha=Gamma(1)", "alpha=Gamma(a,b)"])
def test_settings_that_cannot_be_read(text):
    with pytest.raises(ValueError, match="--set"):
        parse_settings([text])


def test_stan_that_is_not_there_is_an_error_with_the_way_to_get_it(run, corpus_file, monkeypatch):
    monkeypatch.setattr("bnpzoo.zoo.inference.stan_engines.engines", list)
    assert_one_line(run("fit", "lda", corpus_file, "--backend", "stan"), "install_cmdstan", "pystan")
    assert "install_cmdstan" in run("doctor").stdout.replace("\n", "").replace(" ", "")


def test_a_stan_program_that_does_not_compile(run, corpus_file, monkeypatch, fake_cmdstan):
    monkeypatch.setattr("bnpzoo.zoo.inference.stan.program_text", lambda *_: "no such block")
    result = run("fit", "lda", corpus_file, "--backend", "stan", "--tune", 5, "--draws", 5)
    assert_one_line(result, "does not compile: Syntax error")


def test_half_a_cmdstan_is_no_stan(run, fake_cmdstan):
    assert "cmdstan 2.36.0" in run("doctor", "--json").stdout
    (fake_cmdstan / "bin" / "stanc").unlink()
    assert "cmdstan 2" not in run("doctor", "--json").stdout


def test_truncation_of_a_model_that_cuts_nothing_off(run, corpus_file):
    result = run("fit", "lda", corpus_file, "--backend", "numpyro", "--truncation", 5)
    assert_one_line(result, "truncation: lda cuts nothing off")


KEPT = "what is done is in {}, and the same command goes on"

STOPPED = {
    "validate": ("bnpzoo.diagnostics.laboratory.validate.judge_case", ("validate", "lda"), KEPT),
    "all": ("bnpzoo.diagnostics.laboratory.validate.judge_all", ("validate", "--all"), KEPT),
    "blind": ("bnpzoo.diagnostics.laboratory.blind.audit.audit", ("validate", "lda", "--blind", 1), KEPT),
    "experiment": (
        "bnpzoo.diagnostics.experiments.runner.run_experiment",
        ("experiment", "transfer-continuum"),
        KEPT,
    ),
    "fit": ("bnpzoo.zoo.inference.sample", ("fit", "lda", "CORPUS"), "nothing was drawn"),
    "simulate": ("bnpzoo.zoo.formats.write_corpus", ("simulate", "lda"), ""),
}
"""What is interrupted, in which command, and what it says of this."""


@pytest.mark.parametrize("name", STOPPED)
def test_ctrl_c_is_one_line_that_says_how_to_go_on(run, monkeypatch, tmp_path, corpus_file, name):
    place, words, told = STOPPED[name]

    def interrupted(*arguments, **named):
        raise KeyboardInterrupt

    monkeypatch.setattr(place, interrupted)
    out = tmp_path / {"fit": "kept.nc", "simulate": "kept.npz"}.get(name, "kept")
    result = run(*(corpus_file if word == "CORPUS" else word for word in words), "--out", out)
    assert result.exit_code == 130
    ending = f": {told.format(out)}." if told else "."
    assert [line for line in result.stderr.splitlines() if "Interrupted" in line] == [f"Interrupted{ending}"]
    assert "Traceback" not in result.output


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("name", [name for name, (_, _, told) in STOPPED.items() if told == KEPT])
def test_what_goes_on_later_ends_as_by_ctrl_c_when_it_is_told_to_end(
    run, monkeypatch, tmp_path, name, number
):
    """Killed at once, it would leave the processes behind that it has started, which go on computing."""
    place, words, told = STOPPED[name]

    def ended(*arguments, **named):
        assert signal.getsignal(number) is not signal.SIG_DFL
        os.kill(os.getpid(), number)
        time.sleep(10.0)

    monkeypatch.setattr(place, ended)
    before = signal.signal(number, signal.SIG_DFL)
    try:
        result = run(*words, "--out", tmp_path)
        assert signal.getsignal(number) is signal.SIG_DFL
    finally:
        signal.signal(number, before)
    assert result.exit_code == 130
    assert f"Interrupted: {told.format(tmp_path)}." in result.stderr.splitlines()


@pytest.mark.parametrize(
    ("model", "setting", "named"),
    [
        ("dmr", "labels=kind,kind", "dmr: labels: expected each covariate once, found 'kind' twice"),
        ("labeled_lda", "labels=kind, kind:category", "labels: expected each covariate once, found 'kind'"),
        ("slda", "response=score,score:number", "response: expected each covariate once, found 'score'"),
    ],
)
def test_a_label_that_is_named_twice(run, tmp_path, model, setting, named):
    texts = tmp_path / "texts.csv"
    texts.write_text("text,kind,score\naa bb,x,1.5\nbb cc,y,2.5\naa cc,x,0.5\n")
    topics = () if model == "labeled_lda" else ("--set", "n_topics=2")
    command = ("fit", model, texts, *topics, "--min-df", 1, "--tune", 1, "--draws", 2)
    assert_one_line(run(*command, "--set", setting), named)
    both = "response=score:number, score:category" if model == "slda" else "labels=kind"
    assert run(*command, "--set", both).exit_code == 0
