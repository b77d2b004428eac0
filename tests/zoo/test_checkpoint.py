"""Checkpoints that are damaged, or of something else, are refused in one line."""

import errno
import json
import zipfile
from dataclasses import replace

import numpy as np
import pytest
from bnpzoo import Corpus, get, sample
from bnpzoo.zoo.contract import Design
from bnpzoo.zoo.inference import CheckpointError, chain
from bnpzoo.zoo.inference.checkpoint import digest_of, flatten, restore
from samplers import of_sampler

MODEL = get("hdp")
CORPUS = MODEL.simulate(Design(np.full(4, 6), 5), np.random.default_rng(0)).corpus
SETTINGS = {"chains": 2, "tune": 4, "draws": 6, "keep": 2, "seed": 1}


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """Folder of a run."""
    folder = tmp_path_factory.mktemp("run")
    sample(MODEL, CORPUS, **SETTINGS, checkpoint=folder)
    return folder


@pytest.fixture
def run(finished, tmp_path):
    """Copy of that folder."""
    for path in finished.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    return tmp_path


def refused(folder, message, **changed):
    with pytest.raises(CheckpointError, match=message) as caught:
        sample(MODEL, CORPUS, **(SETTINGS | changed), checkpoint=folder, resume=True)
    assert "\n" not in str(caught.value)


def rewrite(path, change, with_digest=True):
    """Write a checkpoint anew whose arrays `change` has changed, and give it a digest that fits."""
    with np.load(path) as archive:
        arrays = dict(archive)
    change(arrays)
    if with_digest:
        del arrays["sha256"]
        arrays["sha256"] = np.array(digest_of(arrays))
    np.savez(path, **arrays)


def put(name, value, at=...):
    """Change of one array."""

    def change(arrays):
        arrays[name] = arrays[name].copy()
        arrays[name][at] = value

    return change


def test_what_is_known_from_model_and_corpus_is_not_kept(finished):
    with np.load(finished / "chain-0.npz") as archive:
        names = set(archive.files)
    assert {"chain", "rng", "sha256", "sweep", "state.tokens.topic", "quantity.alpha", "kept.2.z"} <= names
    assert not names & {"state.tokens.words", "state.tokens.doc_ptr", "state.topics.word_ptr"}


def test_a_change_of_any_array_is_noticed(run):
    path = run / "chain-0.npz"
    whole = path.read_bytes()
    with np.load(path) as archive:
        changeable = [
            name for name in archive.files if archive[name].dtype.kind in "if" and archive[name].size
        ]
    for name in changeable:
        path.write_bytes(whole)
        rewrite(path, lambda arrays, name=name: put(name, arrays[name].flat[0] + 1, ...)(arrays), False)
        refused(run, "its arrays differ from those that were written")


@pytest.mark.parametrize(
    "change",
    [
        put("state.tokens.topic", 10**6, 0),
        put("state.tokens.topic", -1, 0),
        put("state.topics.n_topics", 10**9),
        put("state.topics.n_topics", -1),
        put("state.topics.n_listed", 100, 0),
        put("state.topics.listed_topic", -1),
        put("state.topics.listed_count", 2**31 - 1),
        put("state.topics.total", 7),
        put("state.topics.eta", np.nan),
        put("state.documents.alpha", -1.0),
        put("state.documents.gamma", np.inf),
        put("state.documents.root_rest", np.nan),
        put("state.documents.prior", -1.0),
        put("state.scratch.doc_count", 3, 0),
        put("state.scratch.next_document", 10**12),
        put("sweep", 3),
        put("sweep", 10**9),
        put("sweep", -1),
        lambda arrays: arrays.update({"state.tokens.topic": arrays["state.tokens.topic"].astype(np.int64)}),
        lambda arrays: arrays.update({"state.tokens.topic": arrays["state.tokens.topic"][:-1]}),
        lambda arrays: arrays.update({"state.documents.root": arrays["state.documents.root"][:-1]}),
        lambda arrays: arrays.update({"state.documents.root": np.zeros(1000)}),
        lambda arrays: arrays.update({"state.tokens.words": np.zeros(24, np.int32)}),
        lambda arrays: arrays.update({"quantity.alpha": np.zeros((6, 3))}),
        lambda arrays: arrays.update({"quantity.n_topics": arrays["quantity.n_topics"].astype("U5")}),
        lambda arrays: arrays.update({"seconds": np.zeros(2)}),
        lambda arrays: arrays.update({"kept.2.z": np.zeros(3, np.int64)}),
        lambda arrays: arrays.update({"pending_seconds": np.array("soon")}),
        lambda arrays: arrays.pop("kept.5.z"),
        lambda arrays: arrays.pop("quantity.n_topics"),
        lambda arrays: arrays.pop("state.documents.rest"),
        lambda arrays: arrays.pop("sweep"),
        lambda arrays: arrays.update({"chain": np.array(1)}),
        lambda arrays: arrays.update({"rng": np.array("null")}),
        lambda arrays: arrays.update({"rng": np.array("{")}),
    ],
)
def test_arrays_that_do_not_fit_are_refused_even_with_a_digest_that_does(run, change):
    rewrite(run / "chain-0.npz", change)
    refused(run, r"chain-0\.npz: ")


def test_more_room_for_topics_is_no_error(run):
    scratch = ("doc_count", "doc_topics", "is_doc_topic", "coefficient", "weights")
    names = ["topics.total", "documents.root", "documents.prior", *(f"scratch.{name}" for name in scratch)]

    def widen(arrays):
        for name in (f"state.{name}" for name in names):
            arrays[name] = np.pad(arrays[name], [(0, 0)] * (arrays[name].ndim - 1) + [(0, 7)])

    rewrite(run / "chain-0.npz", widen)
    sample(MODEL, CORPUS, **SETTINGS, checkpoint=run, resume=True)


def test_chains_are_not_taken_for_each_other(run):
    (run / "chain-1.npz").replace(run / "chain-0.npz")
    refused(run, r"chain-0\.npz: .*expected chain 0, found chain 1")
    rewrite(run / "chain-0.npz", lambda arrays: arrays.update(chain=np.array(0)))
    refused(run, r"chain-0\.npz: .*expected the random numbers of this chain")


@pytest.mark.parametrize("seconds", [0.0, 1e9])
def test_a_full_disk_costs_the_checkpoints_and_no_draws(tmp_path, monkeypatch, seconds):
    """Whether it is noticed on the way or at the end; each chain has a warning, of which Python shows one."""

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(chain, "CHECKPOINT_SECONDS", seconds)
    monkeypatch.setattr(chain, "save_chain", full)
    with pytest.warns(RuntimeWarning) as warned:
        tree = sample(MODEL, CORPUS, **SETTINGS, checkpoint=tmp_path)
    assert [str(warning.message) for warning in warned] == 2 * [
        f"{tmp_path}: checkpoints cannot be written: No space left on device; the run goes on without"
    ]
    assert tree["posterior"].equals(sample(MODEL, CORPUS, **SETTINGS)["posterior"])


@pytest.mark.parametrize("content", ["null", "[]", "7", '"x"', "{", "", "[" * 100_000, "\x00"])
def test_a_run_that_is_none_is_one_line(run, content):
    (run / "run.json").write_text(content)
    refused(run, r"run\.json: expected an object of JSON")


def test_checkpoints_without_their_run_are_refused(run):
    (run / "run.json").unlink()
    refused(run, r"holds checkpoints, but no run\.json")


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04 torn", b"\x93NUMPY\x01\x00", b"\x80\x04K\x01."])
def test_bytes_that_are_no_checkpoint_are_one_line(run, data):
    (run / "chain-1.npz").write_bytes(data)
    refused(run, r"chain-1\.npz: cannot be read as a checkpoint")


def test_nothing_larger_than_the_file_is_allocated(run):
    header = {"descr": "<f8", "fortran_order": False, "shape": (10**15,)}
    with zipfile.ZipFile(run / "chain-0.npz", "w") as archive, archive.open("sweep.npy", "w") as file:
        np.lib.format.write_array_header_1_0(file, header)
    refused(run, r"chain-0\.npz: .*expected an array of numbers or text")
    with zipfile.ZipFile(run / "chain-0.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("sweep.npy", b"0" * 10**6)
    refused(run, r"chain-0\.npz: .*expected arrays without compression")


def test_a_folder_for_checkpoints_that_is_a_file_is_one_line(run):
    refused(run / "run.json", "expected a folder for checkpoints, found a file")


def test_other_source_of_the_kernels_is_another_run(run):
    noted = json.loads((run / "run.json").read_text())
    (run / "run.json").write_text(json.dumps(noted | {"the source of its kernels": "other"}))
    refused(run, "was made with the source of its kernels = 'other', this run has")


def test_a_seed_may_be_of_numpy(tmp_path):
    settings = SETTINGS | {"seed": np.int64(3)}
    expected = sample(MODEL, CORPUS, **settings, checkpoint=tmp_path)
    again = sample(MODEL, CORPUS, **SETTINGS | {"seed": 3}, checkpoint=tmp_path, resume=True)
    assert again["posterior"].equals(expected["posterior"])


def test_a_run_is_of_one_set_of_labels(tmp_path):
    def rated(*names):
        kind = np.arange(CORPUS.n_documents) % 2
        return replace(CORPUS, covariates={"kind": kind}, covariate_names={"kind": names})

    sample(MODEL, rated("bad", "good"), **SETTINGS, checkpoint=tmp_path)
    with pytest.raises(CheckpointError, match="was made with names of labels"):
        sample(MODEL, rated("bad", "great"), **SETTINGS, checkpoint=tmp_path, resume=True)


def test_a_folder_is_of_one_process_at_a_time(tmp_path):
    refusals = []

    def go_on_meanwhile(*_):
        if not refusals:
            refused(tmp_path, "another run keeps its checkpoints there now")
            refusals.append(1)

    sample(MODEL, CORPUS, **SETTINGS, checkpoint=tmp_path, workers=1, progress=go_on_meanwhile)
    assert refusals
    sample(MODEL, CORPUS, **SETTINGS, checkpoint=tmp_path, resume=True)


@pytest.mark.parametrize("library", ["bnpzoo", "numba", "numpy"])
def test_a_run_is_of_one_version_of_what_its_bits_hang_on(run, library):
    before = json.loads((run / "run.json").read_text())
    (run / "run.json").write_text(json.dumps(before | {library: "0.0.1"}))
    refused(run, f"was made with {library} = '0.0.1'")


def test_a_run_is_of_one_schedule(run):
    assert json.loads((run / "run.json").read_text())["schedule"]["draws"] == 6
    refused(run, "was made with schedule", draws=7)


@pytest.mark.parametrize(
    "model",
    [
        get("hdp", alpha=40.0),
        of_sampler(False, get("hdp", topics="pitman-yor", alpha=40.0, b=10.0)),
        get("focused", alpha=60.0),
    ],
    ids=lambda model: model.label,
)
def test_a_chain_that_took_more_room_for_topics_is_restored(model):
    words = np.random.default_rng(1).integers(9, size=430)
    corpus = Corpus(words, [0, 200, 200, 280, 430], group=[0, 1, 0, 1], n_words=9)
    kernel, rng = model.kernel(), np.random.default_rng(2)
    start = model.initial_latents(corpus, rng)
    state = fresh = kernel.load(start, corpus, model)
    for _ in range(3):
        state = kernel.step(rng, state)
    assert state.scratch.doc_count.size > fresh.scratch.doc_count.size
    arrays = {name: x.copy() for name, x in flatten(state).items()}
    restored = restore(kernel, kernel.load(start, corpus, model), arrays)
    ours, theirs = (
        kernel.snapshot(kernel.step(np.random.default_rng(3), chain)) for chain in (restored, state)
    )
    for name, value in theirs.items():
        assert np.array_equal(ours[name], value), name
