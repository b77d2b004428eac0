"""A report of a blind audit as one HTML file: the score, what noticed what, and the survivors."""

from pathlib import Path

from ..._version import __version__
from ..laboratory.blind.audit import Audit, Outcome
from .fits import write_page


def write_blind_report(path: str | Path, found: Audit) -> None:
    """Write what became of the mutants of an audit, survivors first.

    Parameters
    ----------
    path : path
        The HTML file; replaced where it exists.
    found : Audit
    """
    order = ("survived", "killed", "crashed", "equivalent")
    write_page(
        path,
        "blind.html",
        audit=found,
        summary=summary_of(found),
        counts={status: len(found.of(status)) for status in order},
        outcomes=sorted(found.outcomes, key=lambda outcome: order.index(outcome.status)),
        version=__version__,
    )


def summary_of(found: Audit) -> str:
    """Return the result in a sentence or two."""
    counts = {status: len(found.of(status)) for status in ("killed", "crashed", "survived", "equivalent")}
    running = counts["killed"] + counts["survived"]
    if not running:
        return f"None of {len(found.outcomes)} mutants runs and changes a law: nothing can be said."
    low, high = found.interval
    more = [f"{counts['crashed']} crashed"] if counts["crashed"] else []
    more += [f"{counts['equivalent']} are argued to be equivalent"] if counts["equivalent"] else []
    names = ", ".join(found.left_out)
    without = f" Left out, as they take too long or do not run: {names}." if names else ""
    if found.untried:
        without += f" Nothing is known of {len(found.untried)} more, which only these look at."
    return (
        f"{counts['killed']} of {running} mutants that run were killed, {found.score_of_running:.0%} (95% "
        f"interval {low:.0%} to {high:.0%}){''.join(f'; {told}' for told in more)}.{without}"
    )


def told_of(outcome: Outcome) -> str:
    """Return where a mutant is, and what was changed."""
    at = outcome.mutation
    return f"{at.file}:{at.line} {at.definition}: {at.before} → {at.after}, in: {at.text}"
