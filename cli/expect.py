"""``bnpzoo expect``: topics that are expected under labels."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .console import check_csv, err, print_json, print_table, say, write_csv
from .inputs import fit_to_show
from .options import Csv, FitFile, Json

if TYPE_CHECKING:
    from ..diagnostics.topics.expected import TopicsUnderLabels


def expect(
    fit: FitFile,
    given: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="A label of the documents whose topics are asked for, such as section=sports or rating=4.5. "
            "Repeat for more; unless given, each label alone.",
            show_default=False,
        ),
    ] = None,
    n_words: Annotated[int, typer.Option("--words", min=1, help="Words of each topic.")] = 5,
    n_topics: Annotated[int, typer.Option("--topics", min=1, help="Topics that are shown.")] = 10,
    csv: Csv = None,
    figure: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Draw a map of all labels and the largest topics here (.png, .svg, .pdf): a label is near "
            "the topics that it makes likely.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show the topics that are expected in documents with chosen labels, or with each label alone.

    For models with labels, such as hdsp and dmr. Shares are posterior means with 90% intervals, before any
    word is seen. The lift of a topic is how many times as much of it there is as in documents without labels.
    """
    from ..diagnostics.reports.differences import check_picture
    from ..diagnostics.reports.label_map import draw_map
    from ..diagnostics.topics import match_topics
    from ..diagnostics.topics.expected import topics_under_labels

    check_csv(csv)
    if figure is not None:
        check_picture(figure)
    with err.status("matching topics"):
        matched = match_topics(fit_to_show(fit))
        found = topics_under_labels(matched, given or (), n_words)
        if figure is not None:
            draw_map(topics_under_labels(matched, (), n_words), figure)
            say(f"Wrote {figure}", console=err)
    table = found.table()
    if csv is not None:
        write_csv(table, csv)
    if as_json:
        print_json(table.to_dict("records"))
    elif given:
        _print_given(found, n_topics)
    else:
        _print_each(found, n_topics)


def _print_given(found: "TopicsUnderLabels", n_topics: int) -> None:
    """Print the topics under one row of labels, the most likely first."""
    _, chosen = (part for _, part in found.table().groupby("label", sort=False))
    rows = [
        (
            f"{row['share']:.1%}",
            f"{row['share_low']:.1%} to {row['share_high']:.1%}",
            f"{row['lift']:.2f}",
            row["words"],
        )
        for row in chosen.sort_values("share", ascending=False).head(n_topics).to_dict("records")
    ]
    print_table(f"Topics expected given {found.rows[1]}", ["share", "90%", "lift", "words"], rows)


def _print_each(found: "TopicsUnderLabels", n_topics: int) -> None:
    """Print, of each label, the topics that it makes most of."""
    lift, mean = found.lift, found.share.mean(axis=0)
    for r, name in enumerate(found.rows[1:], 1):
        best = (-lift[r]).argsort(kind="stable")[:n_topics]
        print_table(
            name,
            ["lift", "share", "without", "words"],
            [(f"{lift[r, k]:.2f}", f"{mean[r, k]:.1%}", f"{mean[0, k]:.1%}", found.words[k]) for k in best],
        )
