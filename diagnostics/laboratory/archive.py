"""Verdicts on disk, each with what it depends on, so that none is reached twice."""

import json
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import xarray as xr

from ..._version import __version__
from ...zoo.files import replace_on_success
from ...zoo.inference.fits import save
from .ladder import BUDGETS, Case
from .mutants.registry import MUTANTS
from .verdict import Verdict

FIGURE = "figure_"

BOOKS = Path(__file__).with_name("verdicts")
"""The package's own records: a file a model, a line a verdict."""

AUDIT = ".audit"
"""Ends the names of files of blind audits, in the books and elsewhere."""


@dataclass(frozen=True)
class Record:
    """A verdict in brief.

    Attributes
    ----------
    case : Case
    status, message : str
    figures : dict of str to float
    date : str
        ISO 8601, in UTC.
    seconds : float
        Of one core.
    version : str
        Of the package.
    fingerprint : str
        Of the case when it was judged.
    """

    case: Case
    status: str
    message: str
    figures: dict[str, float]
    date: str
    seconds: float
    version: str
    fingerprint: str

    @property
    def is_current(self) -> bool:
        """Whether the case would be judged in the same way today; never, if its mutant or rung is no more."""
        try:
            return self.fingerprint == self.case.fingerprint
        except (ValueError, LookupError):
            return False


class Archive:
    """A folder with two files a verdict: netCDF with all draws and ranks, and a record as JSON.

    Parameters
    ----------
    folder : Path
        Made when something is put in.
    """

    def __init__(self, folder: Path):
        self.folder = folder

    def records(self) -> Iterator[Record]:
        """All records, in alphabetical order of their files."""
        for path in sorted(self.folder.glob("*.json")):
            yield _record(path)

    def find(self, case: Case) -> Record | None:
        """Record of a case, unless there is none that is current."""
        path = self._path(case, "json")
        if not path.exists() or not self._path(case, "nc").exists():
            return None
        record = _record(path)
        return record if record.case == case and record.is_current else None

    def verdict(self, case: Case) -> Verdict:
        """Read the verdict on a case."""
        with xr.open_datatree(self._path(case, "nc"), engine="h5netcdf") as tree:
            tree = tree.load()
        groups = {name: node.to_dataset() for name, node in tree.children.items()}
        attrs = {str(name): value for name, value in tree.attrs.items()}
        return Verdict(
            attrs["rung"],
            attrs["subject"],
            attrs["status"],
            attrs["message"],
            float(attrs["false_alarm_rate"]),
            groups.pop("table"),
            {name.removeprefix(FIGURE): float(attrs[name]) for name in attrs if name.startswith(FIGURE)},
            groups,
        )

    def put(self, case: Case, verdict: Verdict, seconds: float) -> Record:
        """Write a verdict, and drop what was kept for the case while it was judged."""
        record = Record(
            case,
            verdict.status,
            verdict.message,
            {name: float(value) for name, value in verdict.figures.items()},
            datetime.now(UTC).isoformat(timespec="seconds"),
            round(seconds, 1),
            __version__,
            case.fingerprint,
        )
        self.folder.mkdir(parents=True, exist_ok=True)
        save(verdict.tree(), self._path(case, "nc"))
        with replace_on_success(self._path(case, "json")) as temporary:
            temporary.write_text(json.dumps(asdict(record), indent=1), encoding="utf-8")
        shutil.rmtree(self.unfinished(case), ignore_errors=True)
        return record

    def take_in(self, files: Mapping[str, bytes]) -> None:
        """Add files that an archive on another machine has written, by their names; the record last."""
        for name in sorted(files, key=lambda name: name.endswith(".json")):
            self.folder.mkdir(parents=True, exist_ok=True)
            with replace_on_success(self.folder / name) as temporary:
                temporary.write_bytes(files[name])

    def unfinished(self, case: Case) -> Path:
        """Folder for what a rung keeps while it judges a case."""
        return self.folder / f"{case.stem}.{case.fingerprint}"

    def _path(self, case: Case, suffix: str) -> Path:
        return self.folder / f"{case.stem}.{suffix}"


def _record(path: Path) -> Record:
    return _parsed(path.read_text(encoding="utf-8"), path)


def _parsed(text: str, path: Path) -> Record:
    try:
        found = json.loads(text)
        return Record(**found | {"case": Case(**found["case"])})
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path}: expected the record of a verdict: {error}") from None


class Books:
    """Records that are kept for long, without draws: those of the package, in `BOOKS`, are part of it.

    Parameters
    ----------
    folder : Path, optional
        Has a file ``<model>.jsonl`` for each model that has records; a line a record.
    """

    def __init__(self, folder: Path | None = None):
        self.folder = folder or BOOKS

    def records(self, model_id: str = "*") -> list[Record]:
        """Read the records of a model, or of all; in alphabetical order of their cases."""
        return [
            _parsed(line, path)
            for path in sorted(self.folder.glob(f"{model_id}.jsonl"))
            for line in path.read_text(encoding="utf-8").splitlines()
        ]

    def enter(self, records: Iterable[Record]) -> None:
        """Add records, each for an older one of its case, and drop those of mutants that are no more."""
        known = {mutant.id for mutant in MUTANTS} | {""}
        kept = {record.case.stem: record for record in self.records()}
        kept |= {record.case.stem: record for record in records}
        of_model: dict[str, list[str]] = {}
        for _, record in sorted(kept.items()):
            if record.case.mutant in known:
                of_model.setdefault(record.case.model, []).append(json.dumps(asdict(record)))
        self.folder.mkdir(parents=True, exist_ok=True)
        for model_id, lines in of_model.items():
            with replace_on_success(self.folder / f"{model_id}.jsonl") as temporary:
                temporary.write_text("\n".join(lines) + "\n", encoding="utf-8")


def strongest(records: Iterable[Record]) -> dict[tuple[str, str, str], Record]:
    """Find the current verdicts on right samplers by model, variant and rung; of the largest budget."""
    right = [record for record in records if not record.case.mutant and record.is_current]
    right.sort(key=lambda record: [*BUDGETS].index(record.case.budget))
    return {(r.case.name_of_model, r.case.variant, r.case.rung): r for r in right}


def kill_matrix(records: Sequence[Record]) -> list[dict[str, Any]]:
    """One row a mutant and model: its ``about``, and the status on each rung that it was put before."""
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    about = {mutant.id: mutant.about for mutant in MUTANTS}
    order = list(about)
    for record in records:
        case = record.case
        row = rows.setdefault(
            (case.name_of_model, case.mutant),
            {
                "model": case.name_of_model,
                "variant": case.variant,
                "mutant": case.mutant,
                "about": about[case.mutant],
                "status": {},
            },
        )
        row["status"][case.rung] = record.status
    for row in rows.values():
        row["killed"] = any(status != "passed" for status in row["status"].values())
    return sorted(rows.values(), key=lambda row: (row["model"], order.index(row["mutant"])))
