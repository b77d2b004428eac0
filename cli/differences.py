"""``bnpzoo differences``: topics of a fit side by side in all groups."""

from pathlib import Path
from typing import Annotated

import typer

from .console import check_csv, err, print_json, print_table, say, write_csv
from .options import FitFile, Json


def differences(
    fit: FitFile,
    n_words: Annotated[int, typer.Option("--words", min=1, help="Words of each list.")] = 10,
    n_topics: Annotated[
        int, typer.Option("--topics", min=1, help="Topics that are shown, largest first.")
    ] = 10,
    chain: Annotated[
        int, typer.Option(min=0, help="Which chain; topics of different chains do not match up.")
    ] = 0,
    csv: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the whole table here.")] = None,
    figure: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw the topics here (.png, .svg, .pdf).")
    ] = None,
    as_json: Json = False,
) -> None:
    """Show what groups have made of the topics that they share, at the last kept draw of a chain.

    For models such as cclda, hpyp and tpyp: words that all groups have, words that one has more of, and what
    words of a shared topic became in a group.
    """
    from ..diagnostics.differences import aligned_topics, as_table
    from ..diagnostics.reports.differences import check_picture, plot_differences
    from ..zoo.inference import load

    if figure is not None:
        check_picture(figure)
    check_csv(csv)
    found = aligned_topics(load(fit), n_words, chain)
    table = as_table(found)
    if csv is not None:
        write_csv(table, csv)
    if figure is not None:
        plot_differences(found[:n_topics], figure)
    if as_json:
        print_json(table.to_dict("records"))
        return
    columns = ["group", "share", "words", "divergent", "associations"]
    if not any(version.associations for topic in found for version in topic.versions):
        columns.pop()  # the model has none
    for topic in found[:n_topics]:
        strength = "" if topic.concentration != topic.concentration else f", b {topic.concentration:,.3g}"
        print_table(
            f"{topic.share:.1%} of the tokens, likeness {topic.likeness:.2f}{strength}; "
            f"in all: {' '.join(topic.shared)}",
            columns,
            [
                (
                    version.group,
                    f"{version.share:.1%}",
                    " ".join(word.word for word in version.words),
                    " ".join(version.divergent),
                    " ".join(f"{a.source}>{a.word}" for a in version.associations),
                )[: len(columns)]
                for version in topic.versions
            ],
        )
    if figure is not None:
        say(f"Wrote {figure}", console=err)
