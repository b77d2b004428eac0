"""What ``bnpzoo fit`` says of draws: whether chains agree, their topics, and what to do next."""

import shlex
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .compare import N_WORST
from .console import VERDICTS, err, print_table, say, with_error
from .evaluate import record
from .inputs import is_approximation
from .topics import print_topics

if TYPE_CHECKING:
    from xarray import DataTree

    from ..diagnostics.compare import Comparison
    from ..diagnostics.heldout import HeldOut
    from ..zoo.contract import Model

N_TOP_TOPICS, N_TOP_WORDS = 8, 8


def say_if_stopped(tree: "DataTree", how_on: str) -> None:
    """Say after how many draws a run was stopped, if it was, and how it goes on."""
    left_out = tree.attrs.get("left_out", "")
    if tree.attrs["interrupted"] or left_out:
        when = "Interrupted" if tree.attrs["interrupted"] else "Time was up"
        without = f"; left out, since they had fewer: chains {left_out}" if left_out else ""
        say(f"{when} after {tree['posterior'].sizes['draw']} draws a chain{without}{how_on}", "yellow", err)


def say_if_not_converged(tree: "DataTree") -> None:
    """Say which starts of variational inference had not converged where they ended."""
    stats = tree["sample_stats"].dataset
    if "converged" not in stats:  # of another back end
        return
    converged, iterations = (stats[name].to_numpy()[:, 0] for name in ("converged", "iterations"))
    chains = (~converged).nonzero()[0]
    if chains.size:
        after = ", ".join(f"{chain} (after {iterations[chain]} iterations)" for chain in chains)
        more = "; a larger --tune lets them go on" if iterations.max() >= tree.attrs["tune"] else ""
        say(f"Drawn from where they were, not converged: chains {after}{more}", "yellow", err)


def summary_of(
    tree: "DataTree", model: "Model", comparison: "Comparison", held_out: "HeldOut | None"
) -> dict[str, Any]:
    """Summary for a script."""
    return {
        "model": model.card.id,
        "chains": tree["posterior"].sizes["chain"],
        "draws": tree["posterior"].sizes["draw"],
        "interrupted": bool(tree.attrs["interrupted"]),
        "hyperparameters": {name: str(value) for name, value in model.spelled().items()},
        "sampled": model.sampled(),
        "verdict": comparison.verdict,
        "quantities": comparison.records(),
        "trouble": next((asdict(found) for found in comparison.trouble.values()), None),
        "held_out": None if held_out is None else record(held_out),
    }


def print_summary(
    tree: "DataTree",
    comparison: "Comparison",
    held_out: "HeldOut | None",
    out_file: Path | None,
    verbose: bool,
) -> None:
    """Print the verdict, the quantities to look at first or all of them, the topics, and what to do next."""
    from ..diagnostics.topics import match_topics

    (label,) = comparison.labels
    say(comparison.headline(), VERDICTS[comparison.verdict])
    shown = comparison.rows if verbose else comparison.worst(N_WORST)
    print_table(
        f"Test quantities, {label}" + ("" if verbose else f": the {len(shown)} to look at first"),
        ["quantity", "mean", "MCSE", "ESS", "R-hat", "verdict"],
        [
            (row.quantity, row.mean[label], row.mcse[label], row.ess[label], row.rhat, row.verdict)
            for row in shown
        ],
    )
    if is_approximation(tree):
        bounds = ", ".join(f"{value:,.1f}" for value in tree["sample_stats"]["bound"].to_numpy()[:, 0])
        say(f"An approximation. Its objective, points included, where each start led: {bounds}", "yellow")
    if tree["latents"].dataset.sizes.get("kept", 0):
        more = f"bnpzoo topics {out_file} --topics" if out_file is not None else ""
        print_topics("Topics", match_topics(tree), N_TOP_WORDS, N_TOP_TOPICS, more=more)
    occupied = next(row for row in comparison.rows if row.quantity == "n_topics")
    say(f"Occupied topics: {occupied.mean[label]:.1f} on average")
    if held_out is not None:
        score = with_error(held_out.perplexity, held_out.standard_error, ".1f")
        say(f"Held-out perplexity ({held_out.method}, {held_out.n_scored.sum():,} tokens): {score}")


def say_what_is_next(
    tree: "DataTree",
    comparison: "Comparison",
    out_file: Path,
    checkpoint: Path | None,
    more: str,
    without: list[str],
) -> None:
    """Say how to go on, by the same command with `more` and `without` some options, and what to look at."""
    name = shlex.quote(str(out_file))
    if not tree["latents"].dataset.sizes.get("kept", 0):
        say(f"Next: bnpzoo report {name}")
        return
    could_go_on = tree.attrs["backend"] == "kernel" and tree["posterior"].sizes["chain"] > 1
    if comparison.verdict == "inconclusive" and could_go_on:
        more = f"--start {name} --until 1.05 --within 30m{more}"
        if out_file.suffix != ".nc":  # a folder cannot tell how many draws there will be
            more += f" --out {shlex.quote(str(out_file.with_suffix('.nc')))}"
        if checkpoint is not None:
            more += f" --checkpoint {shlex.quote(f'{checkpoint}-2')}"
        less = f" without {' and '.join(without)}" if without else ""
        say(f"To go on from here: the same command{less} with {more}")
    say(f"Next: bnpzoo topics {name}; bnpzoo documents {name}; bnpzoo browse {name}")
