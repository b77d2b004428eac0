"""``bnpzoo compare``: whether fits of one posterior agree."""

from typing import TYPE_CHECKING, Annotated

import typer

from .console import VERDICTS, ExitCode, print_json, print_table, say
from .inputs import read_fits
from .options import FitFiles, Json, Verbose

if TYPE_CHECKING:
    from ..diagnostics.compare import Comparison


N_WORST = 5


def compare(
    fits: FitFiles,
    threshold: Annotated[
        float, typer.Option(help="Means further apart than this many standard errors (MCSE) disagree.")
    ] = 4.0,
    verbose: Verbose = False,
    as_json: Json = False,
) -> None:
    """Compare fits of one model to one corpus, test quantity by test quantity.

    The fits may come from different back ends, samplers or truncations. Exit code 1: they disagree; 3: the
    chains are too short to tell.
    """
    from ..diagnostics.compare import compare as compare_fits
    from ..diagnostics.copies import refuse_copies

    trees = read_fits(fits)
    refuse_copies(trees)
    comparison = compare_fits(trees, threshold)
    if as_json:
        print_json(
            {"verdict": comparison.verdict, "headline": comparison.headline(), "rows": comparison.records()}
        )
    else:
        print_comparison(comparison, verbose)
    raise typer.Exit(exit_code(comparison))


def exit_code(comparison: "Comparison") -> ExitCode:
    """Exit code that says what came of a comparison."""
    return {
        "agree": ExitCode.OK,
        "disagree": ExitCode.DISAGREEMENT,
        "inconclusive": ExitCode.INCONCLUSIVE,
    }[comparison.verdict]


def print_comparison(comparison: "Comparison", verbose: bool = False) -> None:
    """Print the headline, and the means of the test quantities that differ most, or of all of them."""
    labels = comparison.labels
    say(comparison.headline(), VERDICTS[comparison.verdict])
    shown = comparison.rows if verbose else comparison.worst(N_WORST)
    is_narrow = len(labels) <= 2  # else there is no room for more
    print_table(
        "Means of the test quantities" if verbose else f"The {len(shown)} quantities to look at first",
        ["quantity", *labels, "apart (MCSE)", "R-hat", *(["ESS"] if is_narrow else []), "verdict"],
        [
            [
                row.quantity,
                *(row.mean[label] for label in labels),
                row.largest_difference,
                row.rhat,
                *([f"{min(row.ess.values()):,.0f}".replace("nan", "–")] if is_narrow else []),
                row.verdict,
            ]
            for row in shown
        ],
    )
    if len(shown) < len(comparison.rows):
        say(f"All {len(comparison.rows)} test quantities: --verbose")
