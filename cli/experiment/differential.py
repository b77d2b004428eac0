"""Experiments of Chen et al. (2015): differential topic models."""

from dataclasses import replace

from ..options import Dask, Groups, Json, Seed
from .options import Corpus, Documents, Jobs, Out, Size, SizeOption, Splits, experiment, run, sized


@experiment.command("differential")
def differential(
    corpus: Corpus,
    groups: Groups = None,
    size: SizeOption = Size.SMALL,
    documents: Documents = 300,
    replicates: Splits = 6,
    jobs: Jobs = 2,
    dask: Dask = None,
    out: Out = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Held-out perplexity of differential topic models with the number of topics.

    Figure 6 of Chen et al. (2015). Methods: tpyp, three samplers of hpyp, pyp, cclda, and LDA of each group.
    """
    from ...diagnostics.experiments import differential

    paper = differential.PerplexityExperiment(
        differential.PAPER, corpus, groups, topic_counts=(10, 20, 40, 60, 80, 100), seed=seed
    )
    small = replace(paper, sampling=differential.SMALL, topic_counts=(10, 30), most_documents=documents)
    run(sized(size, small, paper, replicates), out, jobs, as_json, dask)


@experiment.command("differential-classes")
def differential_classes(
    corpus: Corpus,
    groups: Groups = None,
    size: SizeOption = Size.SMALL,
    documents: Documents = 600,
    replicates: Splits = 2,
    jobs: Jobs = 2,
    dask: Dask = None,
    out: Out = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """How many test documents are told to be of their group, by topic models and by support vector machines.

    Table 2 of Chen et al. (2015), with five topics.
    """
    from ...diagnostics.experiments import differential

    paper = differential.ClassificationExperiment(differential.PAPER_CLASSES, corpus, groups, seed=seed)
    small = replace(paper, sampling=differential.SMALL, most_documents=documents)
    run(sized(size, small, paper, replicates), out, jobs, as_json, dask)
