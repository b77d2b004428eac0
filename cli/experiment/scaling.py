"""Experiments of Kim & Oh: scaling processes."""

from dataclasses import replace
from typing import Annotated

import typer

from ..options import Dask, Json, Seed
from .options import (
    Corpus,
    Documents,
    Jobs,
    Out,
    Replicates,
    Size,
    SizeOption,
    Splits,
    experiment,
    run,
    sized,
)


@experiment.command("scaling-synthetic")
def scaling_synthetic(
    size: SizeOption = Size.SMALL,
    replicates: Replicates = 3,
    jobs: Jobs = 2,
    dask: Dask = None,
    out: Out = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Recover how labels scale topics, from simulated documents of several lengths.

    Figures 3 and 4 of Kim & Oh: rank correlation and error of the centred log scales; and held-out
    perplexity, with that of HDP.
    """
    from ...diagnostics.experiments import scaling, scaling_synthetic

    small = scaling_synthetic.SyntheticExperiment(scaling.SMALL, seed=seed)
    paper = replace(small, sampling=scaling.PAPER, lengths=(20, 50, 100, 200), n_documents=1000)
    run(sized(size, small, paper, replicates), out, jobs, as_json, dask)


@experiment.command("scaling-labels")
def scaling_labels(
    corpus: Corpus,
    label: Annotated[
        str, typer.Option(metavar="NAME", help="A covariate of categories or of sets.")
    ] = "label",
    size: SizeOption = Size.SMALL,
    documents: Documents = 600,
    replicates: Splits = 2,
    jobs: Jobs = 2,
    dask: Dask = None,
    out: Out = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Held-out perplexity given labels, with the share of the training labels that are kept.

    Figure 8 of Kim & Oh; where documents have one label each, also how often it is told from the words.
    """
    from ...diagnostics.experiments import scaling, scaling_labels

    small = scaling_labels.LabelsExperiment(
        scaling.SMALL, seed=seed, corpus=corpus, label=label, most_documents=documents
    )
    shares = tuple(n / 10 for n in range(1, 11))
    paper = replace(small, sampling=scaling.PAPER, shares=shares, most_documents=10**9, most_tokens=10**9)
    run(sized(size, small, paper, replicates), out, jobs, as_json, dask)


@experiment.command("scaling-ratings")
def scaling_ratings(
    corpus: Corpus,
    label: Annotated[str, typer.Option(metavar="NAME", help="A covariate that is a number.")] = "rating",
    size: SizeOption = Size.SMALL,
    documents: Documents = 300,
    replicates: Splits = 2,
    jobs: Jobs = 2,
    dask: Dask = None,
    out: Out = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Tell ratings, binned to five, from words: macro and micro F1.

    Section 5.3 of Kim & Oh, with and without the groups of the corpus as labels, and by classifiers.
    """
    from ...diagnostics.experiments import scaling, scaling_ratings

    small = scaling_ratings.RatingsExperiment(
        scaling.SMALL, seed=seed, corpus=corpus, label=label, document_counts=(documents,)
    )
    paper = replace(small, sampling=scaling.PAPER, document_counts=(10**9,), most_tokens=10**9)
    run(sized(size, small, paper, replicates), out, jobs, as_json, dask)
