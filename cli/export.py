"""``bnpzoo export``: a fit for other programs."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .console import as_json_text, err, say
from .options import FitFile

if TYPE_CHECKING:
    from xarray import DataTree


class Form(StrEnum):
    """Choices of ``--to``."""

    POSTERIORDB = "posteriordb"
    GROUND_TRUTH = "ground-truth"
    PYLDAVIS = "pyldavis"
    GENSIM = "gensim"


def export(
    fit: FitFile,
    to: Annotated[
        Form,
        typer.Option(
            help="posteriordb: an entry, in a folder that may be a copy of the database. ground-truth: means "
            "and standard deviations with their errors, as the Inference Gym has them (.json). pyldavis: the "
            "arguments of pyLDAvis.prepare (.json). gensim: posterior means as an LdaModel, saved by gensim."
        ),
    ],
    out_file: Annotated[Path, typer.Option("--out", metavar="PATH", help="Where to write it.")],
    name: Annotated[
        str | None,
        typer.Option(help="posteriordb: what the data are called; that of the fit's file unless given."),
    ] = None,
    truncation: Annotated[
        int | None,
        typer.Option(min=2, help="posteriordb: topics of the Stan program where their number is free."),
    ] = None,
) -> None:
    """Write a fit in the form of another program.

    In Python `bnpzoo.diagnostics.exports.to_sklearn(fit)` and `to_gensim(fit)` return objects of these
    packages. What scikit-learn saves is a pickle, which this package neither writes nor reads.
    """
    from ..zoo.inference import load

    if to in (Form.GROUND_TRUTH, Form.PYLDAVIS) and out_file.suffix.lower() != ".json":
        raise ValueError(f"--out {out_file}: expected a name that ends in .json")
    tree = load(fit)
    if to is Form.POSTERIORDB:
        _posteriordb(tree, out_file, name or fit.stem.replace("-", "_"), truncation)
        return
    if name is not None or truncation is not None:
        raise ValueError("--name and --truncation are for --to posteriordb")
    with err.status("matching topics"):
        if to is Form.GENSIM:
            _gensim(tree, out_file)
        else:
            _json(tree, to, out_file)
    say(f"Wrote {out_file}", console=err)
    if to is Form.GROUND_TRUTH:
        _say_if_not_true(tree)


def _posteriordb(tree: "DataTree", folder: Path, name: str, truncation: int | None) -> None:
    from ..diagnostics.exports import write_posteriordb

    failed = write_posteriordb(tree, folder, name, truncation=truncation)
    say(f"Wrote an entry of posteriordb to {folder}", console=err)
    if failed:
        say(
            f"These are no reference draws as posteriordb wants them: not {', '.join(failed)}. It asks for "
            "10,000 draws that are nearly independent: fit with --chains 10 --draws 1000 and --thin.",
            "yellow",
            err,
        )


def _say_if_not_true(tree: "DataTree") -> None:
    """Say that means are no ground truth where the chains have not met, or are too short to tell."""
    from ..diagnostics.compare import compare, labelled

    found = compare(labelled([tree]))
    if found.verdict != "agree":
        say(f"This is no ground truth yet. {found.headline()}", "yellow", err)


def _gensim(tree: "DataTree", path: Path) -> None:
    from ..diagnostics.exports import to_gensim
    from ..zoo.files import check_writable

    check_writable(path)
    to_gensim(tree).save(str(path))


def _json(tree: "DataTree", to: Form, path: Path) -> None:
    from ..diagnostics.exports import ground_truth, to_pyldavis
    from ..zoo.files import replace_on_success

    value: Any = ground_truth(tree) if to is Form.GROUND_TRUTH else to_pyldavis(tree)
    with replace_on_success(path) as temporary:
        temporary.write_text(as_json_text(value), encoding="utf-8")
