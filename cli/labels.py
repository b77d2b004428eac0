"""``bnpzoo labels``: topics of a fit by label, and regression coefficients with their intervals."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .console import check_csv, err, print_json, print_table, say, write_csv
from .inputs import fit_to_show
from .options import Csv, FitFile, Json

if TYPE_CHECKING:
    import pandas as pd


def labels(
    fit: FitFile,
    n_words: Annotated[int, typer.Option("--words", min=1, help="Words of each topic.")] = 8,
    n_topics: Annotated[
        int, typer.Option("--topics", min=1, help="Topics of each label that are shown, largest first.")
    ] = 5,
    figure: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Draw a forest plot of these topics here (.png, .svg, .pdf): coefficients of a regression, "
            "else shares.",
            show_default=False,
        ),
    ] = None,
    csv: Csv = None,
    as_json: Json = False,
) -> None:
    """Show the topics of each label side by side, and in a regression what belongs to what.

    For models whose documents have labels, or responses. A share is that of the tokens of all documents with
    the label. A coefficient of `dmr` is what the label adds to the logarithm of a topic's weight, one of
    `slda`, `shdp` or `medlda` what the topic adds to a number, to log odds or to a margin. Intervals are of
    90%.
    """
    from ..diagnostics.reports.differences import check_picture
    from ..diagnostics.topics import topics_by_label

    check_csv(csv)
    if figure is not None:
        check_picture(figure)
    table = topics_by_label(fit_to_show(fit), n_words)
    if csv is not None:
        write_csv(table, csv)
    if figure is not None:
        _draw(table, n_topics, figure)
    if as_json:
        print_json(table.to_dict("records"))
        return
    is_regression = "coefficient" in table
    for label, own in table.groupby("label", sort=False):
        has_share = bool(own["share"].notna().any())  # a number is no label that tokens could be under
        of_share = ["share", "90% interval"] if has_share else []
        columns = ["topic", *of_share, *(["coefficient"] if is_regression else []), "words"]
        rows = [
            (
                row["topic"],
                *(_share_with_ends(row) if has_share else ()),
                *([_with_ends(row)] if is_regression else []),
                row["words"],
            )
            for row in own.head(n_topics).to_dict("records")
        ]
        print_table(str(label), columns, rows)
    if figure is not None:
        say(f"Wrote {figure}", console=err)


def _draw(table: "pd.DataFrame", n_topics: int, path: Path) -> None:
    """Draw the topics that are among the first `n_topics` of any label."""
    from ..diagnostics.reports.forest import Panel, plot_forest

    what = "coefficient" if "coefficient" in table else "share"
    shown = table.groupby("label", sort=False).head(n_topics)["topic"]
    ordered = table.sort_values("topic", kind="stable")
    ordered = ordered.loc[ordered["topic"].isin(shown)]
    ends = (what, f"{what}_low", f"{what}_high")
    panels = [
        Panel(label, *(ordered.loc[ordered["label"] == label, name].to_numpy() for name in ends))
        for label in table["label"].unique()
    ]
    topics = ordered.drop_duplicates("topic")
    rows = [
        f"{k}: {' '.join(words.split()[:3])}"
        for k, words in zip(topics["topic"], topics["words"], strict=True)
    ]
    plot_forest(panels, rows, path, what)


def _share_with_ends(row: dict[Any, Any]) -> tuple[str, str]:
    return f"{row['share']:.1%}", f"{row['share_low']:.1%} to {row['share_high']:.1%}"


def _with_ends(row: dict[Any, Any]) -> str:
    mean, low, high = (row[f"coefficient{end}"] for end in ("", "_low", "_high"))
    return f"{mean:+.2f} ({low:+.2f} to {high:+.2f})"
