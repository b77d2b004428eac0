"""Where work is done: processes that may die, and a cluster of Dask, which gives the same results."""

import os
import signal
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np
import pytest
from bnpzoo.diagnostics.engine import on_cluster, unordered
from bnpzoo.diagnostics.experiments.runner import Cell, Experiment, run_experiment
from bnpzoo.diagnostics.laboratory.ladder import Case, CaseSubject
from bnpzoo.diagnostics.laboratory.sbc import sbc
from bnpzoo.diagnostics.laboratory.validate import judge_all
from joblib import delayed

distributed = pytest.importorskip("distributed")

pytestmark = pytest.mark.compiled


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=False,
            protocol="tcp",
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            memory_limit=0,  # which would count what all tests before have filled, and pause them
        ) as own,
        distributed.Client(own, set_as_default=False) as client,
    ):
        yield client


@dataclass(frozen=True)
class Toy(Experiment):
    name: str = "toy"
    methods: tuple[str, ...] = ("plus", "minus")
    replicates: int = 2
    x: ClassVar[str] = "a"
    measure: ClassVar[str] = "value"
    baseline: ClassVar[str] = "plus"
    labels: ClassVar = {"a": "a", "value": "value", "plus": "added"}

    def settings(self) -> Iterator[dict[str, Any]]:
        for a in (0.0, 0.5):
            yield {"a": a}

    def check(self) -> None:
        pass

    def run(self, cell: Cell) -> dict[str, float]:
        sign = 1.0 if cell.method == "plus" else -1.0
        return {"value": sign * cell.setting["a"] + 0.1 * cell.replicate, "never": np.nan}


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_process_that_dies_is_told():
    with pytest.raises(MemoryError, match="a process was ended from outside"):
        list(unordered([delayed(die)(), delayed(die)()], 2))


def test_cells_of_an_experiment(client, tmp_path):
    here = run_experiment(Toy(), tmp_path / "here")
    there = run_experiment(Toy(), tmp_path / "there", cluster=client)
    assert there.equals(here)
    names = [sorted(path.name for path in (tmp_path / place).rglob("*")) for place in ("here", "there")]
    assert names[0] == names[1]


@pytest.mark.slow
def test_verdicts(client, tmp_path):
    cases = [Case("lda", variant, "joint") for variant in ("dense", "sparse")]
    found = {}
    for place, cluster in (("here", None), ("there", client)):
        records = []
        judge_all(cases, tmp_path / place, 1, records.append, cluster=cluster)
        told = [asdict(record) for record in sorted(records, key=lambda record: record.case.variant)]
        found[place] = [
            {name: value for name, value in one.items() if name not in ("seconds", "date")} for one in told
        ]
        assert len(list((tmp_path / place).glob("*.nc"))) == len(cases)
    assert found["there"] == found["here"]


def test_replications(client):
    subject = CaseSubject(Case("lda", "dense", "sbc"))
    here = sbc(subject, replications=9, draws=4, thin=1, seed=3)
    with on_cluster(client):
        there = sbc(subject, replications=9, draws=4, thin=1, seed=3, n_jobs=2)
    assert there.table.identical(here.table)
