"""The runner of experiments on a toy, and the experiments of transfer at the smallest size."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pytest
from bnpzoo.diagnostics.experiments import transfer
from bnpzoo.diagnostics.experiments.runner import Cell, Experiment, plot_experiment, run_experiment, summary
from bnpzoo.zoo.corpus import Corpus, CorpusError
from bnpzoo.zoo.formats import write_corpus

CALLS: list[Cell] = []


@dataclass(frozen=True)
class Toy(Experiment):
    name: str = "toy"
    methods: tuple[str, ...] = ("plus", "minus")
    replicates: int = 3
    x: ClassVar[str] = "a"
    panel: ClassVar[str] = "b"
    measure: ClassVar[str] = "value"
    baseline: ClassVar[str] = "plus"
    labels: ClassVar = {"a": "a", "b": "b =", "value": "value", "plus": "added"}

    def settings(self) -> Iterator[dict[str, Any]]:
        for b in (1, 2):
            for a in (0.0, 0.5):
                yield {"a": a, "b": b}

    def check(self) -> None:
        if not self.methods:
            raise ValueError("no methods")

    def run(self, cell: Cell) -> dict[str, float]:
        CALLS.append(cell)
        sign = 1.0 if cell.method == "plus" else -1.0
        value = cell.setting["b"] + sign * cell.setting["a"] + 0.1 * cell.replicate
        return {"value": value, "never": np.nan}


@pytest.fixture(autouse=True)
def no_calls():
    CALLS.clear()


def test_results_are_the_grid_and_its_summary(tmp_path):
    seen = []
    results = run_experiment(Toy(), tmp_path, progress=lambda done, total: seen.append((done, total)))
    assert len(results) == len(CALLS) == 24
    assert seen == [(done, 24) for done in range(25)]
    table = summary(Toy(), results)
    row = table[(table["a"] == 0.5) & (table["b"] == 2) & (table["method"] == "minus")].iloc[0]
    assert row["replicates"] == 3
    assert row["value_mean"] == pytest.approx(1.6)
    assert row["value_std"] == pytest.approx(0.1)
    assert row["gain_mean"] == pytest.approx(-1.0)
    assert row["gain_se"] == pytest.approx(0.0, abs=1e-12)
    assert (
        (tmp_path / "results.csv").read_text().startswith("a,b,method,replicate,value,never\n0.0,1,plus,0,")
    )
    plot_experiment(Toy(), results, tmp_path / "figure.png")
    assert (tmp_path / "figure.png").read_bytes().startswith(b"\x89PNG")


def test_a_stopped_run_goes_on_where_it_was(tmp_path, monkeypatch):
    def stop(self, cell):
        if len(CALLS) == 7:
            raise KeyboardInterrupt
        return run(self, cell)

    run = Toy.run
    monkeypatch.setattr(Toy, "run", stop)
    with pytest.raises(KeyboardInterrupt):
        run_experiment(Toy(), tmp_path)
    monkeypatch.setattr(Toy, "run", run)
    CALLS.clear()
    results = run_experiment(Toy(), tmp_path)
    assert len(CALLS) == 24 - 7
    CALLS.clear()
    again = run_experiment(Toy(), tmp_path)
    assert not CALLS
    assert again.equals(results)


def test_a_folder_of_another_run_is_refused(tmp_path):
    run_experiment(Toy(methods=("plus",)), tmp_path)
    with pytest.raises(ValueError, match="holds the results of another run, which differs in methods"):
        run_experiment(Toy(), tmp_path)


def test_replicates_can_be_added(tmp_path):
    fewer = run_experiment(Toy(replicates=1), tmp_path)
    CALLS.clear()
    more = run_experiment(Toy(replicates=3), tmp_path)
    assert {cell.replicate for cell in CALLS} == {1, 2}
    assert more[more["replicate"] == 0].reset_index(drop=True).equals(fewer)


def test_a_run_that_cannot_start_leaves_its_folder_to_others(tmp_path):
    with pytest.raises(ValueError, match="no methods"):
        run_experiment(Toy(methods=()), tmp_path / "toy")
    assert not (tmp_path / "toy").exists()


TINY = transfer.TransferSampling(chains=2, tune=3, draws=2, thin=1, samples=50)
PRIOR = transfer.TransferPrior(eta=0.05)


@pytest.mark.slow
def test_every_method_is_scored_on_the_same_data(tmp_path):
    experiment = transfer.TasksExperiment(TINY, PRIOR, mixings=(0.5,), task_counts=(2, 3), replicates=1)
    results = run_experiment(experiment, tmp_path)
    assert list(results["method"]) == [*transfer.METHODS] * 2
    assert results["log_likelihood"].between(-np.log(150.0) - 2.0, 0.0).all()
    assert (results["n_topics"] >= 1.0).all()
    first, second = (experiment.problem({"mixing": 0.5, "n_tasks": 3}, 0)[0] for _ in range(2))
    assert first.digest() == second.digest()
    assert json.loads((tmp_path / "run.json").read_text())["prior"]["eta"] == 0.05


@pytest.fixture
def labelled(tmp_path):
    rng = np.random.default_rng(0)
    n = 60
    corpus = Corpus(
        rng.integers(0, 20, 5 * n), 5 * np.arange(n + 1), n_words=20, covariates={"label": np.arange(n) % 3}
    )
    write_corpus(corpus, tmp_path / "labelled.npz")
    return str(tmp_path / "labelled.npz")


def test_real_documents_are_split_into_folds(labelled):
    experiment = transfer.DocumentsExperiment(
        TINY, PRIOR, corpus=labelled, tasks="label", task_of_interest=1, document_counts=(2, 4),
        other_documents=6, replicates=5,
    )  # fmt: skip
    tested = []
    for fold in range(5):
        few, test = experiment.problem({"n_documents": 2}, fold)
        more, same = experiment.problem({"n_documents": 4}, fold)
        assert test.digest() == same.digest()
        assert np.bincount(few.group).tolist() == [2, 6, 6]
        assert np.bincount(more.group).tolist() == [4, 6, 6]
        assert np.array_equal(more.words[:10], few.words[:10])
        assert np.all(test.group == 0)
        tested.append(test.n_documents)
    assert sum(tested) == 20
    assert np.isfinite(experiment.run(Cell({"n_documents": 2}, "sparse_transfer", 0))["log_likelihood"])


def test_tasks_keep_all_that_is_known_of_their_documents(tmp_path, full_corpus, differences):
    corpus = full_corpus(1)
    write_corpus(corpus, tmp_path / "full.npz")
    by_group = transfer.corpus_with_tasks(str(tmp_path / "full.npz"), "", 1)
    assert by_group.group.tolist() == (1 - corpus.group).tolist()
    assert by_group.group_names.tolist() == ["ÿ", "x"]
    by_label = transfer.corpus_with_tasks(str(tmp_path / "full.npz"), "label", 1)
    assert by_label.group_names.tolist() == ["yes", "no"]
    for found in (by_group, by_label):
        assert {*differences(found, corpus)} <= {"group", "group_names", "associations"}


def test_what_is_wrong_with_tasks_is_named(labelled, monkeypatch):
    with pytest.raises(CorpusError, match=r"expected groups .* found covariates: label"):
        transfer.corpus_with_tasks(labelled, "", 0)
    with pytest.raises(CorpusError, match="expected a covariate 'age' of whole numbers"):
        transfer.corpus_with_tasks(labelled, "age", 0)
    with pytest.raises(CorpusError, match="task of interest: expected one of 0, 1, 2, found 7"):
        transfer.corpus_with_tasks(labelled, "label", 7)
    experiment = transfer.DocumentsExperiment(TINY, PRIOR, corpus=labelled, tasks="label")
    with pytest.raises(CorpusError, match=r"expected at least 40 documents .* in 4 of 5 folds, found 16"):
        experiment.check()
    replace(experiment, document_counts=(16,)).check()
    with pytest.raises(CorpusError, match=r"expected at least 21 documents .* one a fold, found 20"):
        replace(experiment, document_counts=(1,), folds=21).check()

    def fetch(**arguments):
        raise OSError("no network")

    monkeypatch.setattr("sklearn.datasets.fetch_20newsgroups", fetch)
    with pytest.raises(CorpusError, match=r"could not fetch it \(no network\); name a corpus file"):
        transfer.corpus_with_tasks("20newsgroups", "", 0)
