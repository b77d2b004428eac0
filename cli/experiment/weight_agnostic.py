"""Experiments of Das & Bhattacharyya: topics of sentences."""

from dataclasses import replace
from typing import Annotated

import typer

from ..options import Dask, Json, Seed
from .options import Jobs, Out, Size, SizeOption, Splits, experiment, positive, run, sized


@experiment.command("weight-agnostic")
def weight_agnostic(
    corpora: Annotated[
        list[str],
        typer.Argument(
            metavar="[CORPUS]...",
            help="Corpus files to use beside the synthetic corpus and the standard library, with sentences.",
            show_default=False,
        ),
    ] = [],  # noqa: B006 (typer copies it)
    window: Annotated[
        int, typer.Option(min=1, help="Words of a run that stands for a sentence where a corpus has none.")
    ] = 10,
    n_topics: Annotated[
        list[int],
        typer.Option(
            min=1,
            help="Number of topics; 10 and 20 if left out, and 50 at size paper. Repeat for more.",
            show_default=False,
        ),
    ] = [],  # noqa: B006 (typer copies it)
    size: SizeOption = Size.SMALL,
    replicates: Splits = 3,
    kappa: Annotated[
        float,
        typer.Option(callback=positive, help="Dirichlet parameter of topic vectors; the paper's is 1."),
    ] = 1.0,
    eta: Annotated[
        float, typer.Option(callback=positive, help="Dirichlet parameter of topics; the paper's is 1.")
    ] = 1.0,
    jobs: Jobs = 2,
    dask: Dask = None,
    out: Out = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Topics of sentences: held-out perplexity, coherence, and how much is found of what was planted.

    Tables I to III of Das & Bhattacharyya, by their methods, and by three more: MQR-HDP, ICD without
    dishes, and LDA.
    """
    from ...diagnostics.experiments import weight_agnostic

    small = weight_agnostic.WeightAgnosticExperiment(
        weight_agnostic.SMALL, tuple(corpora), (10, 20), kappa, eta, window, seed=seed
    )
    paper = replace(
        small,
        sampling=weight_agnostic.PAPER,
        topic_counts=(10, 20, 50),
        most_documents=10_000,
        most_sentences=10_000,
    )
    chosen = sized(size, small, paper, replicates)
    if n_topics:
        chosen = replace(chosen, topic_counts=tuple(sorted({*n_topics})))
    run(chosen, out, jobs, as_json, dask)
