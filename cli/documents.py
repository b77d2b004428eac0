"""``bnpzoo documents`` and ``bnpzoo transform``: topic proportions of a fit's documents, and of new ones."""

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .console import check_csv, csv_in_parts, err, print_json, print_table, say
from .inputs import fit_to_show, known_part, read_new_documents
from .options import (
    CorpusFile,
    Coverage,
    Csv,
    FitFile,
    Groups,
    Json,
    NewDelimiter,
    NewEncoding,
    NewTextColumn,
    Seed,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pandas import DataFrame

    from ..diagnostics.topics import Summary

Documents = Annotated[int, typer.Option("--documents", min=1, help="Documents that are shown.")]
SHOWN_TOPICS, LEAST_SHOWN = 3, 0.05


def documents(
    fit: FitFile, n_documents: Documents = 20, seed: Seed = 0, csv: Csv = None, as_json: Json = False
) -> None:
    """Show what the documents of a fit are about: the proportions of their topics, with 90% intervals.

    The three largest topics of a document are shown, down to 5%; --csv and --json have all of them. Topics
    are numbered as by `bnpzoo topics`. What all of them leave to 100% is of topics that only some draws have.
    """
    from ..diagnostics.topics import document_blocks

    check_csv(csv)
    with err.status("averaging over draws"):
        _print(
            f"Documents of {fit.name}",
            document_blocks(fit_to_show(fit), seed=seed),
            n_documents,
            csv,
            as_json,
        )


def transform(
    fit: FitFile,
    corpus_file: CorpusFile,
    groups: Groups = None,
    coverage: Coverage = 0.5,
    sweeps: Annotated[
        int, typer.Option(min=1, help="Gibbs sweeps that are averaged, for each document and draw.")
    ] = 5,
    burn_in: Annotated[int, typer.Option(min=0, help="Gibbs sweeps before these.")] = 20,
    n_documents: Documents = 20,
    seed: Seed = 0,
    csv: Csv = None,
    text_column: NewTextColumn = None,
    encoding: NewEncoding = None,
    delimiter: NewDelimiter = None,
    as_json: Json = False,
) -> None:
    """Show what new documents are about: the proportions of a fit's topics in them, with 90% intervals.

    The three largest topics of a document are shown, down to 5%; --csv and --json have all of them. A
    document gets the same proportions whatever stands beside it. Text is split as that of the fit was; words
    that the fit does not know are left out.
    """
    from ..diagnostics.topics import transform_blocks
    from ..zoo.inference import corpus_of

    check_csv(csv)
    tree = fit_to_show(fit)
    new = read_new_documents(
        tree, corpus_file, groups, text_column=text_column, encoding=encoding, delimiter=delimiter
    )
    _, known = known_part(new, corpus_of(tree), corpus_file, coverage)
    say(f"{corpus_file}: {known}", console=err)
    with err.status("drawing topics of the new documents"):
        blocks = transform_blocks(tree, new, burn_in=burn_in, sweeps=sweeps, seed=seed)
        _print(f"Documents of {corpus_file.name}, by {fit.name}", blocks, n_documents, csv, as_json)


def _print(
    title: str, blocks: "Iterator[Summary]", n_documents: int, csv: Path | None, as_json: bool
) -> None:
    """Print the first documents, or all as JSON; the table gets all, and is never in memory."""
    rows, records, n_found = [], [], 0
    with nullcontext() if csv is None else csv_in_parts(csv) as write:
        for found in blocks:
            if write is not None:
                write(_as_table(found))
            if as_json:
                records += _records(found)
            for d in range(max(0, min(n_documents - n_found, len(found.mean)))):
                rows.append((str(found.mean.index[d]), _in_words(found, d)))
            n_found += len(found.mean)
    if as_json:
        print_json(records)
        return
    print_table(title, ["document", "topics, with 90% intervals"], rows)
    if n_found > len(rows):
        say(f"… and {n_found - len(rows):,} more: --csv FILE has all of them")


def _records(found: "Summary") -> list[dict[str, Any]]:
    tables = (table.to_numpy() for table in found)
    return [
        {"document": name, "mean": mean, "low": low, "high": high}
        for name, mean, low, high in zip(found.mean.index, *tables, strict=True)
    ]


def _in_words(found: "Summary", document: int) -> str:
    """Largest topics of a document, and dots where there are more."""
    mean, low, high = (table.to_numpy()[document] for table in found)
    shown = [
        f"{k}: {mean[k]:.0%} ({low[k]:.0%} to {high[k]:.0%})"
        for rank, k in enumerate((-mean).argsort(kind="stable")[:SHOWN_TOPICS])
        if rank == 0 or mean[k] >= LEAST_SHOWN
    ]
    return "; ".join(shown + ["…"] * (len(shown) < mean.size))


def _as_table(found: "Summary") -> "DataFrame":
    """One row a document: proportion of each topic, and its interval, to six decimals."""
    import pandas as pd

    parts = {"": found.mean, " low": found.low, " high": found.high}
    columns = {f"topic {k}{end}": part[k] for k in found.mean.columns for end, part in parts.items()}
    return pd.DataFrame(columns).round(6).reset_index()
