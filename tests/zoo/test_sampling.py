"""`sample`: the same bits in any number of threads, after Ctrl-C and after kill -9; results as trees."""

import inspect
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
from bnpzoo import Corpus, get, sample
from bnpzoo.zoo.contract import Design
from bnpzoo.zoo.inference import (
    BACKENDS,
    CheckpointError,
    NotFiniteError,
    ResultsError,
    chain,
    check,
    corpus_of,
    latents_of,
    load,
    model_of,
    save,
)
from bnpzoo.zoo.inference.convergence import LOCAL

from tests.helpers.signals import send_until_heard

pytestmark = pytest.mark.compiled  # chains are threads, beside one another only where kernels are compiled

DESIGN = Design(np.full(6, 5), 4, group=np.arange(6) % 2)
SETTINGS = {"chains": 3, "tune": 20, "draws": 30, "thin": 2, "seed": 5}


@pytest.fixture(scope="module")
def subject():
    model = get("mt_hdp")
    return model, model.simulate(DESIGN, np.random.default_rng(2)).corpus


@pytest.fixture(scope="module")
def tree(subject):
    return sample(*subject, **SETTINGS)


def same_draws(a, b):
    for group in ("posterior", "latents"):
        assert set(a[group].data_vars) == set(b[group].data_vars)
        for name, values in a[group].data_vars.items():
            np.testing.assert_array_equal(values.values, b[group][name].values, err_msg=str(name))


def test_tree_has_the_groups_of_arviz(tree):
    assert set(tree.children) == {
        "posterior", "warmup_posterior", "sample_stats", "latents", "observed_data", "constant_data"
    }  # fmt: skip
    assert tree["warmup_posterior"]["n_topics"].shape == (3, 20)
    assert tree["warmup_posterior"]["sweep"].values.tolist() == list(range(1, 21))
    assert not LOCAL & set(tree["warmup_posterior"].data_vars)
    assert dict(tree["posterior"].sizes) | {"pair": 8} == dict(tree["posterior"].sizes)
    assert tree["posterior"]["n_topics"].shape == (3, 30)
    assert tree["posterior"]["alpha"].dims == ("chain", "draw", "task")
    assert tree["latents"]["z"].shape == (3, 10, 30)
    assert np.all(tree["sample_stats"]["seconds"] >= 0)
    assert tree.attrs["variant"] == "whole-tables"
    assert tree.attrs["interrupted"] == 0


@pytest.mark.parametrize("tune", [0, 4])
def test_a_chain_that_is_not_finite_ends(tune, tmp_path):
    """Priors so vague that nothing is left of them beside the responses."""
    corpus = Corpus([0, 1, 1, 0, 0, 1], [0, 2, 4, 6], covariates={"score": np.array([1.5, 0.5, 2.0])})
    model = get("slda", n_topics=2, response="score", precision=1e-40, intercept_precision=1e-40)
    with pytest.raises(
        NotFiniteError, match=r"^slda: chain [01], sweep 1: .*expected a finite number, found nan"
    ):
        sample(model, corpus, chains=2, tune=tune, draws=4, checkpoint=tmp_path)


@pytest.mark.parametrize("workers", [1, 4])
def test_threads_do_not_change_the_draws(subject, tree, workers):
    same_draws(sample(*subject, **SETTINGS, workers=workers), tree)


def test_seed_changes_the_draws(subject, tree):
    other = sample(*subject, **(SETTINGS | {"seed": 6}))
    assert np.any(other["posterior"]["log_joint"].values != tree["posterior"]["log_joint"].values)


def test_draws_survive_the_disk(subject, tree, tmp_path):
    model, corpus = subject
    save(tree, tmp_path / "fit.nc")
    back = load(tmp_path / "fit.nc")
    same_draws(back, tree)
    assert model_of(back) == model
    assert corpus_of(back).digest() == corpus.digest()
    assert list(tmp_path.iterdir()) == [tmp_path / "fit.nc"]
    for (_, _, ours), (_, _, theirs) in zip(latents_of(tree), latents_of(back), strict=True):
        assert ours.keys() == theirs.keys()
        assert np.isfinite(model.log_joint(ours, corpus))
        assert len(ours["root"]) == ours["z"].max() + 2
        for name, value in ours.items():
            np.testing.assert_array_equal(value, theirs[name])


def test_paranoid_mode_changes_nothing(subject, tree):
    same_draws(sample(*subject, **SETTINGS, paranoid=True), tree)


def test_ctrl_c_keeps_what_was_drawn_and_resumes(subject, tree, tmp_path):
    def interrupt(number, done, total, note=""):
        if number == 1 and done == 60:
            send_until_heard(signal.SIGINT)

    part = sample(*subject, **SETTINGS, progress=interrupt, checkpoint=tmp_path / "run", workers=1)
    assert part.attrs["interrupted"] == 1
    n = part["posterior"].sizes["draw"]
    assert part["posterior"].sizes["chain"] == 2
    assert n == 20
    np.testing.assert_array_equal(
        part["posterior"]["log_joint"].values[0], tree["posterior"]["log_joint"].values[0, :n]
    )
    whole = sample(*subject, **SETTINGS, checkpoint=tmp_path / "run", resume=True)
    assert whole.attrs["interrupted"] == 0
    same_draws(whole, tree)


def test_ctrl_c_ends_a_run_that_has_no_end(subject):
    def interrupt(number, done, total, note=""):
        if number == 1 and done == 200:
            send_until_heard(signal.SIGINT)

    part = sample(*subject, **SETTINGS, within=600.0, progress=interrupt)
    assert part.attrs["interrupted"] == 1
    assert part["posterior"].sizes["chain"] == 3
    as_long = {
        "tune": part.attrs["tune"],
        "thin": part.attrs["thin"],
        "draws": part["posterior"].sizes["draw"],
    }
    plain = sample(*subject, **(SETTINGS | as_long))
    for name, values in part["posterior"].data_vars.items():
        np.testing.assert_array_equal(values.values, plain["posterior"][name].values, err_msg=str(name))


def test_kill_and_resume_gives_the_same_bits(subject, tree, tmp_path):
    model, corpus = subject
    script = textwrap.dedent(
        f"""
        import os, signal, sys
        import numpy as np
        from bnpzoo import get, sample
        from bnpzoo.zoo.contract import Design
        from bnpzoo.zoo.inference import chain
        chain.CHECKPOINT_SECONDS = 0.0
        model = get("mt_hdp")
        design = Design(np.full(6, 5), 4, group=np.arange(6) % 2)
        corpus = model.simulate(design, np.random.default_rng(2)).corpus
        def die(number, done, total, note=""):
            if number == 1 and done == 41:
                os.kill(os.getpid(), signal.SIGKILL)
        sample(model, corpus, **{SETTINGS!r}, progress=die, checkpoint=sys.argv[1], workers=2)
        """
    )
    killed = subprocess.run([sys.executable, "-c", script, str(tmp_path / "run")], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert (tmp_path / "run" / "chain-1.npz").exists()
    same_draws(sample(model, corpus, **SETTINGS, checkpoint=tmp_path / "run", resume=True), tree)


def test_interrupt_before_the_first_draw_goes_on(subject):
    def interrupt(number, done, total, note=""):
        if number == 0 and done == 1:
            send_until_heard(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        sample(*subject, **SETTINGS, progress=interrupt)


def test_an_error_in_a_chain_stops_all(subject, monkeypatch):
    def fail(self):
        raise RuntimeError("no quantities today")

    monkeypatch.setattr(chain.Chain, "_record", fail)
    with pytest.raises(RuntimeError, match="no quantities today"):
        sample(*subject, **SETTINGS)


def test_checkpoints_of_another_run_are_refused(subject, tmp_path):
    sample(*subject, **SETTINGS, checkpoint=tmp_path)
    with pytest.raises(CheckpointError, match="holds the checkpoints of a run"):
        sample(*subject, **SETTINGS, checkpoint=tmp_path)
    with pytest.raises(CheckpointError, match="was made with seed = 5, this run has 6"):
        sample(*subject, **(SETTINGS | {"seed": 6}), checkpoint=tmp_path, resume=True)
    (tmp_path / "chain-0.npz").write_bytes(b"PK\x03\x04 torn")
    with pytest.raises(CheckpointError, match=r"chain-0\.npz: cannot be read"):
        sample(*subject, **SETTINGS, checkpoint=tmp_path, resume=True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"backend": "bugs"}, "backend: expected one of kernel, numpyro, stan"),
        ({"chains": 0}, "chains: expected a whole number, 1 or more, found 0"),
        ({"draws": 0}, "draws: expected a whole number, 1 or more, found 0"),
        ({"thin": 0}, "thin: expected a whole number, 1 or more, found 0"),
        ({"draws": 4.5}, "draws: expected a whole number, 1 or more, found 4.5"),
        ({"tune": 2.5}, "tune: expected a whole number, 0 or more, found 2.5"),
        ({"keep": True}, "keep: expected a whole number, 0 or more, found True"),
        ({"chains": "4"}, "chains: expected a whole number, 1 or more, found '4'"),
        ({"workers": 0}, "workers: expected a whole number, 1 or more, found 0"),
        ({"seed": None}, "seed: expected a whole number, 0 to 9,223,372,036,854,775,807, found None"),
        ({"seed": -1}, "seed: expected a whole number, 0 to .*, found -1"),
        ({"seed": 2**63}, "seed: expected a whole number, 0 to .*, found 9223372036854775808"),
        ({"truncation": 5}, "truncation: backend 'kernel' takes none; it is for backend numpyro or stan"),
        ({"backend": "numpyro"}, "mt_hdp under backend 'numpyro' needs one"),
        ({"backend": "numpyro", "truncation": 1}, "truncation: expected a whole number, 2 or more, found 1"),
        (
            {"backend": "numpyro", "truncation": "5"},
            "truncation: .* 2 or more, found '5'",
        ),
        ({"within": "10s"}, "within: expected a number above 0, found '10s'"),
        ({"within": True}, "within: expected a number above 0, found True"),
        ({"start": 5}, "start: expected seated, .*, found 5"),
        ({"start": ["seated", 5]}, "start: expected seated, .*, found 5"),
        ({"checkpoint": 5}, "checkpoint: expected the name of a folder, found 5"),
        ({"progress": 5}, "progress: expected True, False or a function, found 5"),
        ({"cluster": 5}, "cluster: expected an address or a client of Dask, found 5"),
        (
            {"backend": "numpyro", "variant": "dense"},
            "variant: backend 'numpyro' takes none",
        ),
        ({"variant": "quick"}, "no variant 'quick'"),
    ],
)
def test_bad_arguments_are_named(subject, arguments, message):
    with pytest.raises(ValueError, match=message):
        sample(*subject, **arguments)


def test_numbers_of_numpy_are_as_good(subject, tmp_path):
    model, corpus = subject
    lengths = dict.fromkeys(("chains", "tune", "draws", "thin", "keep"), np.int64(2))
    tree = sample(model, corpus, **lengths, seed=np.uint64(2**63 - 1))
    save(tree, tmp_path / "fit.nc")
    assert load(tmp_path / "fit.nc").attrs["seed"] == 2**63 - 1


def test_the_name_of_a_model_is_no_model(subject):
    with pytest.raises(ValueError, match="model: expected a model, as `get` makes it, found 'hdp'"):
        sample("hdp", subject[1])


@pytest.mark.parametrize(
    ("model", "arguments", "message"),
    [
        ("sparse_transfer", {"variant": "collapsed"}, 'variant "collapsed": expected lengths="document"'),
        ("sparse_transfer", {"backend": "stan"}, "sparse_transfer under backend 'stan' needs one, 2 to 10"),
        (
            "sparse_transfer",
            {"backend": "stan", "truncation": 11},
            "truncation: .* 2 to 10, found 11",
        ),
        (
            "focused",
            {"backend": "numpyro", "truncation": 1},
            "truncation: .* 2 to 10, found 1",
        ),
        ("mt_hdp", {"backend": "numpyro"}, "mt_hdp under backend 'numpyro' needs one, at least 2"),
        ("lda", {"backend": "stan", "truncation": 5}, "lda cuts nothing off; expected none, found 5"),
        ("tpyp", {"backend": "numpyro", "truncation": 5}, "tpyp cuts nothing off; expected none, found 5"),
    ],
)
def test_what_a_model_cannot_do_is_found_before_the_start(subject, model, arguments, message):
    with pytest.raises(ValueError, match=message):
        check(get(model), subject[1], **arguments)


def test_a_model_without_a_reference_is_sampled_by_its_kernel_alone(subject):
    class Alone(type(subject[0])):
        reference = None

    model = Alone(**subject[0].arguments())
    check(model, subject[1])
    for backend in ("numpyro", "stan"):
        with pytest.raises(ValueError, match="mt_hdp: there is no reference program"):
            check(model, subject[1], backend, truncation=5)


def test_every_back_end_says_what_it_is_and_takes_arguments_of_sample():
    arguments = inspect.signature(sample).parameters
    for name, backend in BACKENDS.items():
        assert backend.name == name
        assert backend.about
        assert backend.takes <= arguments.keys()


def test_a_corpus_without_tokens_is_refused():
    with pytest.raises(ValueError, match="at least one token"):
        sample(get("lda"), Corpus([], [0, 0], n_words=3))


def test_a_corpus_of_more_tokens_than_kernels_can_number_is_refused(subject, monkeypatch):
    monkeypatch.setattr("bnpzoo.zoo.inference.backends.MOST_TOKENS", 3)
    model, corpus = subject
    with pytest.raises(ValueError, match=f"at most 3 tokens, found {corpus.n_tokens}"):
        sample(model, corpus)


def test_files_that_hold_no_draws_are_refused(tmp_path):
    with pytest.raises(ResultsError, match="there is no such file"):
        load(tmp_path / "none.nc")
    torn = Path(tmp_path / "torn.nc")
    torn.write_bytes(b"\x89HDF\r\n torn")
    with pytest.raises(ResultsError, match="expected a fit as netCDF"):
        load(torn)


def test_what_is_at_hand_becomes_a_corpus():
    model, texts = get("lda", n_topics=2), [["a", "b", "a"], ["b", "c"]]
    short = {"variant": "sparse", "chains": 1, "tune": 1, "draws": 2}
    of_texts = sample(model, texts, **short)
    assert corpus_of(of_texts).vocabulary.tolist() == ["a", "b", "c"]
    of_counts = sample(model, np.array([[2, 1, 0], [0, 1, 1]]), **short)
    assert corpus_of(of_counts).n_tokens == 5


@pytest.mark.parametrize(
    ("model_id", "options"),
    [("slda", {"response": "mood"}), ("labeled_lda", {"labels": "mood"})],
)
def test_labels_are_those_of_all_documents(model_id, options):
    """Also while the kernel is compiled, on the tokens of the first document: it has none."""
    corpus = Corpus(
        np.array([0, 1, 2, 0, 1, 1]),
        np.array([0, 0, 2, 4, 6]),
        n_words=3,
        covariates={"mood": ["", "", "good", "bad"]},
    )
    tree = sample(get(model_id, **options), corpus, chains=1, tune=2, draws=3, seed=1)
    assert tree["posterior"].sizes["draw"] == 3
