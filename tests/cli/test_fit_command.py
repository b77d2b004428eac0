"""`bnpzoo fit`: what it prints, what it writes, and what its exit code says."""

import errno
import json
import os

import pytest
from bnpzoo import Corpus
from bnpzoo.cli.settings import read_seeds
from bnpzoo.diagnostics.topics import topics_of
from bnpzoo.zoo.formats import read_corpus, write_corpus
from bnpzoo.zoo.inference import chain, corpus_of, fits, load, sample, save
from bnpzoo.zoo.inference.starts import n_topics_of_fit
from bnpzoo.zoo.memory import TooLarge
from bnpzoo.zoo.models import get
from samplers import as_plain_python

from tests.helpers.disks import files_of_at_most

FAST = ("--chains", 2, "--tune", 20, "--draws", 20)


@as_plain_python
def test_topics_are_fitted_and_read_back(run, corpus_file, tmp_path):
    out = tmp_path / "fit.nc"
    command = ("--topics", "pitman-yor", "--set", "a=0.5", "--set", "symmetric=false", "--out", out)
    result = run("fit", "lda", corpus_file, *command, "--set", "n_topics=2", *FAST)
    assert result.exit_code == 0, result.output
    attributes = json.loads(load(out).attrs["hyperparameters"])
    assert {"topics": "pitman-yor", "a": 0.5, "symmetric": False}.items() <= attributes.items()
    assert run("topics", out).exit_code == 0


def test_fit_says_what_is_sampled_and_scores_the_held_out_part(run, corpus_file, tmp_path):
    path = tmp_path / "fit.nc"
    settings = ("--set", "n_topics=3", "--set", "alpha=Gamma(2, 2)", "--set", "eta=0.5")
    result = run("fit", "lda", corpus_file, *settings, *FAST, "--out", path)
    assert result.exit_code == 0, result.output
    assert "alpha: sampled, prior Gamma(2, 2)" in result.stderr
    assert "eta: fixed at 0.5" in result.stderr
    assert "Occupied topics" in result.stdout
    assert "Held-out perplexity" in result.stdout
    assert load(path)["posterior"]["alpha"].shape == (2, 20)


@as_plain_python
def test_fit_takes_a_choice_of_the_model(run, corpus_file, tmp_path):
    settings = ("--set", "lengths=document", "--variant", "collapsed")
    fast = ("--chains", 1, "--tune", 2, "--draws", 4)
    result = run("fit", "sparse_transfer", corpus_file, *settings, *fast, "--out", tmp_path / "fit.nc")
    assert result.exit_code == 0, result.output
    assert "lengths: document" in result.stderr
    assert "collapsed" in result.stdout
    assert run("report", tmp_path / "fit.nc", "--out", tmp_path / "report.html").exit_code == 0
    assert "<code>lengths</code><span>document</span>" in (tmp_path / "report.html").read_text()


def test_fit_json(run, corpus_file):
    result = run("fit", "lda", corpus_file, *FAST, "--json")
    summary = json.loads(result.stdout)
    assert summary["model"] == "lda"
    assert summary["held_out"]["perplexity"] > 1
    assert {row["quantity"] for row in summary["quantities"]} >= {"n_topics", "alpha", "eta"}


def test_fit_resumes_to_the_same_draws(run, corpus_file, tmp_path):
    arguments = ("fit", "lda", corpus_file, *FAST, "--checkpoint", tmp_path / "chains", "--out")
    assert run(*arguments, tmp_path / "a.nc").exit_code == 0
    assert run(*arguments, tmp_path / "b.nc").exit_code == 2
    assert run(*arguments, tmp_path / "b.nc", "--resume").exit_code == 0
    assert load(tmp_path / "a.nc")["posterior"].equals(load(tmp_path / "b.nc")["posterior"])


@pytest.mark.slow
def test_threads_of_a_sweep_change_no_draw(run, corpus_file, tmp_path, monkeypatch):
    monkeypatch.setenv("BNPZOO_THREADS", "3")
    fits = []
    for threads in ((), ("--threads", 1), ("--threads", 2)):
        out = tmp_path / f"{len(fits)}.nc"
        run("fit", "lda", corpus_file, *FAST, "--variant", "parallel", *threads, "--out", out)
        fits.append(load(out)["posterior"].to_dataset())
    assert all(fits[0].identical(fit) for fit in fits[1:])
    assert os.environ["BNPZOO_THREADS"] == "3"


@as_plain_python
def test_documents_that_were_held_out_are_scored_as_the_model_allows(run, corpus_file, tmp_path):
    quick = ("--tune", 1, "--draws", 2, "--chains", 2)
    focused = run(
        "fit", "focused", corpus_file, "--split", "is_test", *quick, "--out", tmp_path / "focused.nc"
    )
    assert focused.exit_code in (0, 3), focused.output
    assert "Held-out perplexity (empirical likelihood" in focused.stdout
    chains = run("evaluate", tmp_path / "focused.nc", corpus_file, "--split", "is_test", "--chains", "--json")
    assert [row["method"] for row in json.loads(chains.stdout)["chains"]] == ["empirical likelihood"] * 3
    shown = run("evaluate", tmp_path / "focused.nc", corpus_file, "--split", "is_test", "--chains").stdout
    assert "Chains by empirical likelihood" in shown
    kept = run("fit", "lda", corpus_file, "--set", "n_topics=2", "--split", "is_test", *quick, "--keep", 0)
    assert kept.exit_code in (0, 3), kept.output
    assert "held out are not scored: no draw is kept whole (--keep)" in kept.stderr
    assert "Test quantities" in kept.stdout
    out = tmp_path / "without any.nc"
    told = run("fit", "hdp", corpus_file, *quick, "--keep", 0, "--out", out).stdout.replace("\n", "")
    assert f"Next: bnpzoo report '{out}'".replace(" ", "") in told.replace(" ", "")
    assert "--start" not in told


@as_plain_python
def test_room_is_wanted_for_all_draws_that_are_kept_whole(run, corpus_file, tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr("bnpzoo.zoo.inference.expected_size", lambda *given: asked.append(given[1:]) or 0)
    quick = ("--tune", 1, "--draws", 3, "--chains", 2, "--keep", 3)
    assert run("fit", "hdp", corpus_file, *quick, "--out", tmp_path / "fit.nc").exit_code in (0, 3)
    assert asked == [(2, 3, 3)]


def test_a_folder_of_draws_without_room_is_refused(run, corpus_file, tmp_path, monkeypatch):
    monkeypatch.setattr("bnpzoo.zoo.inference.expected_size", lambda *given: 2**80)
    refused = run("fit", "hdp", corpus_file, "--out", tmp_path / "fit.zarr")
    assert refused.exit_code == 2
    assert "fit.zarr: expected room for about" in " ".join(refused.stderr.split())


@as_plain_python
def test_resuming_where_there_is_nothing_is_told(run, corpus_file, tmp_path):
    quick = ("--tune", 1, "--draws", 2, "--chains", 1, "--checkpoint", tmp_path / "place", "--resume")
    told = "nothing to resume; a new run begins"
    assert told in " ".join(run("fit", "hdp", corpus_file, *quick).stderr.split())
    assert told not in " ".join(run("fit", "hdp", corpus_file, *quick).stderr.split())


@as_plain_python
def test_a_run_goes_on_with_the_burn_in_that_it_had(run, corpus_file, tmp_path, monkeypatch):
    quick = ("--tune", 1, "--draws", 2, "--chains", 1, "--checkpoint")
    with monkeypatch.context() as patch:
        patch.setattr("bnpzoo.zoo.inference.sample", stopped)
        assert run("fit", "hdp", corpus_file, *quick, tmp_path / "grown", "--grow", 2).exit_code == 130
    refused = run("fit", "hdp", corpus_file, *quick, tmp_path / "grown", "--resume")
    assert refused.exit_code == 2
    told = f"--resume: expected the --grow or --cool with which the run in {tmp_path / 'grown'} began"
    assert told in " ".join(refused.stderr.split())
    assert run("fit", "hdp", corpus_file, *quick, tmp_path / "grown", "--grow", 2, "--resume").exit_code == 0
    run("fit", "hdp", corpus_file, *quick, tmp_path / "plain")
    refused = run("fit", "hdp", corpus_file, *quick, tmp_path / "plain", "--resume", "--cool", 1)
    assert "--cool: expected none, as the run in" in " ".join(refused.stderr.split())


def stopped(*arguments, **options):
    raise KeyboardInterrupt


@as_plain_python
def test_draws_for_which_there_is_no_place_can_be_made_again(run, corpus_file, tmp_path):
    quick = ("--tune", 1, "--draws", 2, "--chains", 1, "--checkpoint", tmp_path / "place")
    out = tmp_path / "fit.nc"
    run("fit", "hdp", corpus_file, *quick)
    run("fit", "hdp", corpus_file, *quick, "--resume")  # compiles all, which cannot be kept below
    with files_of_at_most((tmp_path / "place" / "chain-0.npz").stat().st_size):
        result = run("fit", "hdp", corpus_file, *quick, "--resume", "--out", out)
    assert result.exit_code == 2
    told = f"{out}: cannot be written: File too large; nor is there another place for the draws; --resume"
    assert told in " ".join(result.stderr.split())
    assert run("fit", "hdp", corpus_file, *quick, "--resume", "--out", out).exit_code == 0


@as_plain_python
def test_hints_of_fit_can_be_followed(run, corpus_file, tmp_path):
    pytest.importorskip("zarr")
    many = ("--set", "alpha=9.0", "--set", "gamma=9.0", "--set", "eta=0.01")
    quick = ("--tune", 0, "--draws", 4, "--chains", 2, *many)
    out, place = tmp_path / "fit.zarr", tmp_path / "place"
    told = run("fit", "hdp", corpus_file, *quick, "--out", out, "--checkpoint", place).stdout
    told = told.replace("\n", "")
    assert f"bnpzoo topics {out} --topics ".replace(" ", "") in told.replace(" ", "")
    hint = f"--start {out} --until 1.05 --within 30m --draws 50"
    hint += f" --out {tmp_path / 'fit.nc'} --checkpoint {place}-2"
    assert hint.replace(" ", "") in told.replace(" ", "")
    assert "--topics" not in run("fit", "hdp", corpus_file, *quick).stdout
    alone = run("fit", "hdp", corpus_file, *quick, "--chains", 1, "--out", tmp_path / "alone.nc").stdout
    assert "R-hat" in alone.partition(":")[2]
    assert "--until" not in alone


def test_numbers_with_gaps_are_told_to_be_text(run, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text,score,code,id\nred house,1.5,a,007\ngreen house,n/a,b,\nred tree,2.0,,008\n")
    said = run("convert", path, "--out", tmp_path / "a.npz", "--min-df", 1).stderr.replace("\n", "")
    assert "score: kept as text, as 1 of 3 documents have no number; labels take it for categories" in said
    assert "code:" not in said
    assert "id:" not in said


@as_plain_python
def test_topics_of_too_few_words_have_no_coherence(run, corpus, corpus_file, tmp_path):
    training, _ = corpus.split("is_test")
    tree = sample(get("hdp", alpha=5.0, gamma=5.0), training, chains=1, tune=1, draws=4, keep=1)
    save(tree, tmp_path / "fit.nc")
    scores = json.loads(run("evaluate", tmp_path / "fit.nc", corpus_file, "--top", 3, "--json").stdout)
    has_all = [len(topic.words) == 3 for topic in topics_of(tree, 3)]
    assert {True, False} <= set(has_all)
    for measure in ("UMass", "NPMI"):
        assert [score is not None for score in scores["coherence"][measure]] == has_all


def test_a_corpus_that_holds_nothing_out_is_fitted_whole(run, corpus, tmp_path):
    training, _ = corpus.split("is_test")
    write_corpus(training, tmp_path / "whole.npz")
    quick = ("--set", "n_topics=2", "--tune", 1, "--draws", 2, "--chains", 1, "--out", tmp_path / "fit.nc")
    assert run("fit", "lda", tmp_path / "whole.npz", *quick).exit_code == 0
    asked = run("fit", "lda", tmp_path / "whole.npz", *quick, "--split", "is_test")
    assert "expected at least one token to score, found none" in asked.stderr


@as_plain_python
def test_groups_may_be_told_by_a_covariate(run, corpus_file, tmp_path):
    out = tmp_path / "fit.nc"
    quick = ("--set", "n_topics=2", "--tune", 1, "--draws", 2, "--chains", 1, "--out", out)
    assert run("fit", "hpyp", corpus_file, "--groups", "is_test", "--split", "is_test", *quick).exit_code == 0
    assert corpus_of(load(out)).group_names.tolist() == ["is_test False", "is_test True"]
    assert run("evaluate", out, corpus_file, "--groups", "is_test").exit_code == 0
    result = run("evaluate", out, corpus_file)
    assert result.exit_code == 2
    assert "group 'group 0': expected one of is_test False, is_test True" in result.stderr
    result = run("fit", "hpyp", corpus_file, "--groups", "age", *quick)
    assert result.exit_code == 2
    assert "covariates['age']: expected a whole number or text a document" in result.stderr


@as_plain_python
def test_lda_is_fitted_from_the_topics_of_an_hdp(run, corpus_file, tmp_path):
    first, second = tmp_path / "hdp.nc", tmp_path / "lda.nc"
    assert run("fit", "hdp", corpus_file, "--out", first, *FAST).exit_code == 0
    result = run("fit", "lda", corpus_file, "--start", first, "--out", second, *FAST)
    assert result.exit_code == 0, result.output
    n_topics = json.loads(load(second).attrs["hyperparameters"])["n_topics"]
    assert n_topics == n_topics_of_fit(load(first))
    assert f"n_topics: fixed at {n_topics}" in result.output


@as_plain_python
def test_a_model_without_a_limit_of_topics_goes_on_without_one(run, corpus_file, tmp_path):
    first, second = tmp_path / "first.nc", tmp_path / "second.nc"
    for settings, limit in (((), 0), (("--set", "n_topics=4"), 4)):
        assert run("fit", "hdsp", corpus_file, "--out", first, *settings, *FAST).exit_code in (0, 3)
        result = run("fit", "hdsp", corpus_file, "--start", first, "--out", second, *FAST)
        assert result.exit_code in (0, 3), result.output
        assert json.loads(load(second).attrs["hyperparameters"])["n_topics"] == limit


@as_plain_python
@pytest.mark.parametrize("settings", [(), ("--set", "labels=none")])
def test_a_model_of_labels_that_finds_none_says_so(run, tmp_path, settings):
    path = tmp_path / "a.csv"
    path.write_text("text,zone\n" + "red house,north\ngreen tree,south\n" * 3)
    said = run("fit", "hdsp", path, "--min-df", 1, *settings, *FAST).stderr
    told = "No label was found, so that all documents are alike to the model; --set labels=zone takes"
    assert (told in " ".join(said.split())) == (not settings)


@as_plain_python
def test_a_model_of_labels_says_which_it_sees_and_which_texts_it_leaves_out(run, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text,zone,group\n" + "red house,north,a\ngreen tree,south,b\n" * 3)
    said = run("fit", "hdsp", path, "--min-df", 1, *FAST).stderr
    assert "labels: group; --set labels=group,zone takes what is text" in " ".join(said.split())


@as_plain_python
@pytest.mark.parametrize(
    ("response", "told", "is_open"),
    [
        ("stars", "stars: 3 categories", True),
        ("stars:category", "stars:category: 3 categories", False),
        ("stars:number", "stars:number: a number", False),
        ("price", "price: a number", False),
        ("kind", "kind: 2 categories", False),
    ],
)
def test_a_model_of_responses_says_how_it_takes_them(run, tmp_path, response, told, is_open):
    path = tmp_path / "a.csv"
    path.write_text("text,stars,price,kind\nred house,1,1.5,a\ngreen house,2,,b\nred tree,4,2.5,b\n")
    told_as = ("--set", f"response={response}", "--set", "n_topics=2")
    said = run("fit", "slda", path, "--min-df", 1, *told_as, "--tune", 1, "--draws", 2, "--chains", 1).stderr
    assert f"\n  {told}\n" in said
    hint = "stars: whole numbers are taken for categories; --set response=stars:number takes them as numbers"
    assert (hint in said.replace("\n", " ")) == is_open


@as_plain_python
def test_words_that_repeat_are_told(run, tmp_path):
    write_corpus(Corpus([0, 1, 2], [0, 2, 3], vocabulary=["red", "red", "blue"]), tmp_path / "a.npz")
    said = run("fit", "lda", tmp_path / "a.npz", "--set", "n_topics=2", *FAST).stderr
    assert "Entries of the vocabulary that repeat a word: 1;" in " ".join(said.split())


@as_plain_python
def test_topics_are_seeded_from_a_file(run, corpus_file, tmp_path):
    words = read_corpus(corpus_file).vocabulary.tolist()
    seeds, out = tmp_path / "seeds.txt", tmp_path / "fit.nc"
    seeds.write_text(f"{words[0]}, {words[1]}\n\n{words[2]}\n\n", encoding="utf-8")
    settings = ("--set", "seed_tokens=9", "--set", "n_topics=4")
    result = run("fit", "lda", corpus_file, "--seeds", seeds, *settings, "--out", out, *FAST)
    assert result.exit_code == 0, result.output
    attributes = json.loads(load(out).attrs["hyperparameters"])
    assert attributes["seeds"] == [words[:2], [], [words[2]]]
    assert attributes["topics"] == "seeded"
    assert attributes["seed_tokens"] == 9
    seeds.write_text("e\u0301cole", encoding="utf-8")
    assert read_seeds(seeds) == [["\u00e9cole"]]  # as words of texts are
    seeds.write_text("xyzzy", encoding="utf-8")
    result = run("fit", "lda", corpus_file, "--seeds", seeds, *FAST)
    assert result.exit_code == 2
    assert "error: seeds: words that the corpus does not have: 'xyzzy' (topic 0)" in result.stderr
    result = run("fit", "hdp", corpus_file, "--seeds", seeds, *FAST)
    assert result.exit_code == 2
    assert "hdp: topics: there are dirichlet, pitman-yor, belief-network, found 'seeded'" in result.stderr


@pytest.mark.slow
def test_draws_that_go_to_disk(run, corpus_file, tmp_path):
    pytest.importorskip("zarr")
    options = ("--set", "n_topics=2", "--tune", 5, "--draws", 20, "--chains", 2)
    out = tmp_path / "fit.zarr"
    result = run("fit", "lda", corpus_file, *options, "--out", out)
    assert result.exit_code == 0, result.output
    plain = run("fit", "lda", corpus_file, *options, "--out", tmp_path / "fit.nc")
    assert plain.exit_code == 0
    shown, expected = (" ".join(one.stdout.split()) for one in (result, plain))
    shown = shown.replace("fit.zarr", "fit.nc").replace(f" --out {tmp_path / 'fit.nc'}", "")  # a hint
    assert shown == expected
    assert "Held-out perplexity" in shown
    for command in ("topics", "documents", "compare"):
        streamed, plain = (run(command, path, "--json") for path in (out, tmp_path / "fit.nc"))
        assert streamed.exit_code == plain.exit_code, streamed.output
        assert command == "compare" or json.loads(streamed.stdout) == json.loads(plain.stdout)
    for wrong in ((), ("--within", "10s"), ("--backend", "numpyro", "--truncation", 3)):
        place = out if not wrong else tmp_path / "other.zarr"
        assert run("fit", "lda", corpus_file, *options, *wrong, "--out", place).exit_code == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["fit.nc", "fit.zarr"]
    again = tmp_path / "again.nc"
    assert run("fit", "lda", corpus_file, *options, "--start", out, "--out", again).exit_code == 0
    assert load(again).attrs["start"].startswith("fit ")


def test_draws_that_do_not_fit_into_memory_have_no_summary(run, corpus_file, tmp_path, monkeypatch):
    pytest.importorskip("zarr")

    def refuse(needs, what):
        raise TooLarge(f"{what}: would take 9.0 TiB")

    monkeypatch.setattr(fits, "require_memory", refuse)
    options = ("--set", "n_topics=2", "--tune", 5, "--draws", 20, "--chains", 2)
    result = run("fit", "lda", corpus_file, *options, "--out", tmp_path / "fit.zarr")
    assert result.exit_code == 0, result.output
    assert "would take 9.0 TiB" in result.output
    assert "No summary: " in result.output
    monkeypatch.undo()
    assert load(tmp_path / "fit.zarr")["posterior"].sizes["draw"] == 20


@pytest.mark.parametrize("name", ["corpus.csv", "fit"])
def test_a_fit_is_not_written_over_files_of_another_kind(run, corpus_file, tmp_path, name):
    (tmp_path / name).write_text("text\n")
    result = run("fit", "lda", corpus_file, "--set", "n_topics=2", "--out", tmp_path / name)
    assert result.exit_code == 2
    assert "expected a name that ends in .nc or .zarr" in result.stderr.replace("\n", " ")
    assert (tmp_path / name).read_text() == "text\n"


@as_plain_python
@pytest.mark.parametrize(
    ("which", "told"), [("lda", "only --variant parallel has threads"), ("cclda", "no sampler of cclda has")]
)
def test_threads_that_do_nothing_are_told(run, corpus_file, tmp_path, which, told):
    result = run("fit", which, corpus_file, *FAST, "--threads", 2, "--out", tmp_path / "fit.nc")
    assert f"--threads has no effect: {told}" in " ".join(result.output.split())


@as_plain_python
def test_starts_of_variational_inference_that_have_not_converged_are_named(run, corpus_file):
    command = ("fit", "hdsp", corpus_file, "--set", "labels=none", "--set", "n_topics=2", "--backend", "vi")
    fast = ("--chains", 2, "--draws", 5, "--keep", 0, "--tune")
    few = run(*command, *fast, 2)
    assert few.exit_code == 0, few.output
    told = "not converged: chains 0 (after 2 iterations), 1 (after 2 iterations); a larger --tune"
    assert told in " ".join(few.stderr.split())
    assert "An approximation. Its objective, points included" in few.stdout
    assert "not converged" not in run(*command, *fast, 2000).stderr
    none = run(*command, *fast, 0)
    assert none.exit_code == 2
    assert none.stderr.splitlines()[-1] == "error: tune: backend 'vi' needs at least one iteration, found 0"


@as_plain_python
def test_intervals_of_variational_inference_are_told_to_be_of_an_approximation(run, corpus_file, tmp_path):
    out = tmp_path / "fit.nc"
    command = ("fit", "hdsp", corpus_file, "--set", "labels=none", "--set", "n_topics=2", "--draws", 5)
    for backend, told in (("vi", ["intervals are of where its 2 starts ended, together"]), ("kernel", [])):
        assert run(*command, "--backend", backend, "--chains", 2, "--out", out).exit_code == 0
        for words in (("topics", out), ("documents", out), ("transform", out, corpus_file)):
            result = run(*words, "--json")
            assert json.loads(result.stdout)
            assert [
                line.partition("; ")[2] for line in result.stderr.splitlines() if "variational" in line
            ] == told


@as_plain_python
@pytest.mark.filterwarnings("default::RuntimeWarning")
def test_a_full_disk_under_checkpoints_is_one_line(run, corpus_file, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(chain, "save_chain", full)
    out = tmp_path / "fit.nc"
    result = run("fit", "lda", corpus_file, *FAST, "--checkpoint", tmp_path / "chains", "--out", out)
    assert result.exit_code in (0, 3), result.output
    told = " ".join(result.output.split())
    assert told.count("checkpoints cannot be written: No space left on device; the run goes on without") == 1
    assert "RuntimeWarning" not in told
    assert out.exists()
