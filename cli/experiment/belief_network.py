"""Experiments of Zhao, Du, Buntine & Zhou (2018): topics under a belief network."""

from dataclasses import replace
from typing import Annotated

import typer

from ..options import Dask, Json, Seed
from .options import Jobs, Out, Size, SizeOption, Splits, experiment, run, sized


@experiment.command("belief-network")
def belief_network(
    corpora: Annotated[
        list[str], typer.Argument(metavar="CORPUS...", help="Corpus files.", show_default=False)
    ],
    size: SizeOption = Size.SMALL,
    shares: Annotated[
        list[float],
        typer.Option(
            "--share",
            min=0.0,
            max=1.0,
            help="Share of the words of training documents; 0.2 and 1 if left out. Repeat for more.",
            show_default=False,
        ),
    ] = [],  # noqa: B006 (typer copies it)
    n_topics: Annotated[int, typer.Option(min=1, help="Topics of every layer.")] = 100,
    methods: Annotated[
        list[str],
        typer.Option(
            "--method", help="A method; all but pfa_mallet if left out. Repeat for more.", show_default=False
        ),
    ] = [],  # noqa: B006 (typer copies it)
    replicates: Splits = 1,
    jobs: Jobs = 2,
    dask: Dask = None,
    out: Out = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Topics under a belief network on short texts: perplexity, coherence and classification.

    Table 1, Figure 3 and the supplement's Table 1 of Zhao, Du, Buntine & Zhou (2018), with HDP, and LDA of
    tomotopy where it is installed.
    """  # fmt: skip
    from importlib.util import find_spec

    from ...diagnostics.experiments import belief_network as design

    usual = design.METHODS + ((design.PEER,) if find_spec("tomotopy") else ())
    known = (*usual, design.MALLET)
    for method in methods:
        if method not in known:
            raise typer.BadParameter(f"--method: expected one of {', '.join(known)}, found {method!r}")
    small = design.BeliefNetworkExperiment(
        design.SMALL, tuple(corpora), n_topics=n_topics, seed=seed, methods=tuple(methods) or usual
    )
    paper = replace(small, sampling=design.PAPER, shares=(0.2, 0.4, 0.6, 0.8, 1.0))
    chosen = sized(size, small, paper, replicates)
    run(replace(chosen, shares=tuple(sorted({*shares})) or chosen.shares), out, jobs, as_json, dask)
