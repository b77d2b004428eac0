"""``bnpzoo compare``: whether fits of one posterior agree."""

from typing import TYPE_CHECKING, Annotated

import typer

from .console import VERDICTS, ExitCode, print_json, print_table, say
from .inputs import FitFiles, Json, read_fits

if TYPE_CHECKING:
    from ..diagnostics.compare import Comparison


def compare(
    fits: FitFiles,
    threshold: Annotated[
        float, typer.Option(help="Means further apart than this many standard errors (MCSE) disagree.")
    ] = 4.0,
    as_json: Json = False,
) -> None:
    """Compare fits of one model to one corpus, test quantity by test quantity.

    The fits may come from different back ends, samplers or truncations. Exit code 1: they disagree; 3: the
    chains are too short to tell.
    """
    from ..diagnostics.compare import compare as compare_fits
    from ..diagnostics.compare import refuse_copies

    trees = read_fits(fits)
    refuse_copies(trees)
    comparison = compare_fits(trees, threshold)
    if as_json:
        print_json(
            {"verdict": comparison.verdict, "headline": comparison.headline(), "rows": comparison.records()}
        )
    else:
        print_comparison(comparison)
    raise typer.Exit(exit_code(comparison))


def exit_code(comparison: "Comparison") -> ExitCode:
    """Exit code that says what came of a comparison."""
    return {
        "agree": ExitCode.OK,
        "disagree": ExitCode.DISAGREEMENT,
        "inconclusive": ExitCode.INCONCLUSIVE,
    }[comparison.verdict]


def print_comparison(comparison: "Comparison") -> None:
    """Print the verdict on each test quantity of several fits, and the headline."""
    labels = comparison.labels
    print_table(
        "Mean (effective sample size) of each test quantity",
        ["quantity", *labels, "difference / MCSE", "R-hat", "verdict"],
        [
            [
                row.quantity,
                *(f"{row.mean[label]:.4g} ({row.ess[label]:,.0f})".replace("(nan)", "") for label in labels),
                row.largest_difference,
                row.rhat,
                row.verdict,
            ]
            for row in comparison.rows
        ],
    )
    say(comparison.headline(), VERDICTS[comparison.verdict])
