"""``bnpzoo documents`` and ``bnpzoo transform``: topic proportions of a fit's documents, and of new ones."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .console import check_csv, err, print_json, print_table, say, write_csv
from .inputs import CorpusFile, Coverage, Csv, FitFile, Groups, Json, Seed, known_part, read_new_documents

if TYPE_CHECKING:
    from pandas import DataFrame

    from ..diagnostics.topics import Summary

Documents = Annotated[int, typer.Option("--documents", min=1, help="Documents that are shown.")]
SHOWN_TOPICS, LEAST_SHOWN = 3, 0.05


def documents(
    fit: FitFile, n_documents: Documents = 20, seed: Seed = 0, csv: Csv = None, as_json: Json = False
) -> None:
    """Show what the documents of a fit are about: the proportions of their topics, with 90% intervals.

    Topics are numbered as by `bnpzoo topics`. What is missing from 100% is of topics that only some draws
    have.
    """
    from ..diagnostics.topics import documents as documents_of
    from ..zoo.inference import load

    check_csv(csv)
    with err.status("averaging over draws"):
        found = documents_of(load(fit), seed=seed)
    _print(f"Documents of {fit.name}", found, n_documents, csv, as_json)


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
    as_json: Json = False,
) -> None:
    """Show what new documents are about: the proportions of a fit's topics in them, with 90% intervals.

    A document gets the same proportions whatever stands beside it. Text is split as that of the fit was;
    words that the fit does not know are left out.
    """
    from ..diagnostics.topics import transform as transform_by
    from ..zoo.inference import corpus_of, load

    check_csv(csv)
    tree = load(fit)
    new = read_new_documents(tree, corpus_file, groups)
    _, known = known_part(new, corpus_of(tree), corpus_file, coverage)
    say(f"{corpus_file}: {known}", console=err)
    with err.status("drawing topics of the new documents"):
        found = transform_by(tree, new, burn_in=burn_in, sweeps=sweeps, seed=seed)
    _print(f"Documents of {corpus_file.name}, by {fit.name}", found, n_documents, csv, as_json)


def _print(title: str, found: "Summary", n_documents: int, csv: Path | None, as_json: bool) -> None:
    if csv is not None:
        write_csv(_as_table(found), csv)
    if as_json:
        print_json(
            [
                {"document": name, "mean": mean, "low": low, "high": high}
                for name, mean, low, high in zip(
                    found.mean.index, *(table.to_numpy() for table in found), strict=True
                )
            ]
        )
        return
    rows = [(str(name), _in_words(found, d)) for d, name in enumerate(found.mean.index[:n_documents])]
    print_table(title, ["document", "topics, with 90% intervals"], rows)
    n_more = len(found.mean) - len(rows)
    if n_more > 0:
        say(f"… and {n_more:,} more: --csv FILE has all of them")


def _in_words(found: "Summary", document: int) -> str:
    """Largest topics of a document."""
    mean, low, high = (table.to_numpy()[document] for table in found)
    return "; ".join(
        f"{k}: {mean[k]:.0%} ({low[k]:.0%} to {high[k]:.0%})"
        for rank, k in enumerate((-mean).argsort(kind="stable")[:SHOWN_TOPICS])
        if rank == 0 or mean[k] >= LEAST_SHOWN
    )


def _as_table(found: "Summary") -> "DataFrame":
    """One row a document: proportion of each topic, and its interval."""
    import pandas as pd

    parts = {"": found.mean, " low": found.low, " high": found.high}
    columns = {f"topic {k}{end}": part[k] for k in found.mean.columns for end, part in parts.items()}
    return pd.DataFrame(columns).reset_index()
