"""``bnpzoo experiment``: experiments of the papers, done again."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .console import err, print_json, print_table, say, with_error
from .inputs import Groups, Json, Seed

if TYPE_CHECKING:
    from ..diagnostics.experiments.runner import Experiment

experiment = typer.Typer(
    no_args_is_help=True,
    help="Do an experiment of a paper again: all methods over all settings, with figure and numbers.\n\n"
    "Each finished run is kept in the folder, so that the same command goes on where it was stopped.",
)


class Size(StrEnum):
    """Choices of ``--size``."""

    SMALL = "small"
    PAPER = "paper"


def _positive(value: float) -> float:
    if not 0.0 < value < math.inf:
        raise typer.BadParameter(f"expected a positive number, found {value}")
    return value


SizeOption = Annotated[Size, typer.Option(help="small: minutes; paper: the paper's sizes, hours.")]
Replicates = Annotated[int, typer.Option(min=1, max=10_000, help="Data sets for each setting.")]
Eta = Annotated[
    float,
    typer.Option(
        callback=_positive,
        help="Dirichlet parameter of topics. The paper's, 5e-5, does not mix: see the docs.",
    ),
]
Jobs = Annotated[int, typer.Option(min=1, help="Processes; results do not depend on it.")]
Out = Annotated[Path | None, typer.Option(metavar="DIR", help="Folder of results; out/NAME by default.")]


@experiment.command("transfer-continuum")
def transfer_continuum(
    size: SizeOption = Size.SMALL,
    replicates: Replicates = 10,
    eta: Eta = 0.05,
    jobs: Jobs = 2,
    out: Out = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Held-out likelihood from tasks that share a topic to tasks with topics at random.

    Experiment 1 of Faisal et al. (2013). Methods: the sparse transfer topic model by its exact sampler and by
    the published one, the three-level HDP, and an HDP of the task of interest alone.
    """
    from ..diagnostics.experiments import transfer
    from ..zoo.designs import DOMAINS

    small = transfer.ContinuumExperiment(transfer.SMALL, transfer.TransferPrior(eta=eta), seed=seed)
    paper = replace(small, sampling=transfer.PAPER, mixings=tuple(DOMAINS.tolist()))
    _run(_sized(size, small, paper, replicates), out, jobs, as_json)


@experiment.command("transfer-tasks")
def transfer_tasks(
    size: SizeOption = Size.SMALL,
    replicates: Replicates = 10,
    eta: Eta = 0.05,
    jobs: Jobs = 2,
    out: Out = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Held-out likelihood with the number of tasks, at three positions on the continuum.

    Experiment 2 of Faisal et al. (2013).
    """
    from ..diagnostics.experiments import transfer

    small = transfer.TasksExperiment(
        transfer.SMALL,
        transfer.TransferPrior(eta=eta),
        mixings=(0.25, 0.5, 1.0),
        task_counts=(5, 10, 20),
        seed=seed,
    )
    paper = replace(small, sampling=transfer.PAPER, task_counts=(5, 10, 15, 20, 25, 30))
    _run(_sized(size, small, paper, replicates), out, jobs, as_json)


@experiment.command("transfer-documents")
def transfer_documents(
    corpus: Annotated[
        str,
        typer.Argument(
            metavar="CORPUS",
            help="A corpus file, or 20newsgroups, which scikit-learn fetches.",
            show_default=False,
        ),
    ],
    tasks: Annotated[
        str,
        typer.Option(metavar="COVARIATE", help="Which covariate holds the tasks; the groups if left out."),
    ] = "",
    task_of_interest: Annotated[int, typer.Option(help="Number of the task whose documents are scored.")] = 0,
    size: SizeOption = Size.SMALL,
    replicates: Annotated[int, typer.Option(min=1, max=5, help="Folds of the five.")] = 5,
    eta: Annotated[
        float,
        typer.Option(callback=_positive, help="Dirichlet parameter of topics; the default is the paper's."),
    ] = 0.5,
    documents: Annotated[
        list[int],
        typer.Option(
            min=1,
            help="Number of training documents of the task of interest; from 5 to 40 if left out. "
            "Repeat for more.",
            show_default=False,
        ),
    ] = [],  # noqa: B006 (typer copies it)
    jobs: Jobs = 2,
    out: Out = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Held-out likelihood with few documents of the task of interest, on real text, cross-validated.

    The design of Experiment 3 of Faisal et al. (2013): from 5 to 40 documents of one task, 50 of each other.
    """
    from ..diagnostics.experiments import transfer

    small = transfer.DocumentsExperiment(
        transfer.SMALL,
        transfer.TransferPrior(epsilon=1e-4, eta=eta),
        corpus=corpus,
        tasks=tasks,
        task_of_interest=task_of_interest,
        seed=seed,
    )
    paper = replace(
        small,
        sampling=transfer.PAPER_DOCUMENTS,
        document_counts=(5, 10, 15, 20, 25, 30, 35, 40),
        most_test_documents=10_000,
    )
    chosen = _sized(size, small, paper, replicates)
    if documents:
        chosen = replace(chosen, document_counts=tuple(sorted({*documents})))
    _run(chosen, out, jobs, as_json)


CorpusWithGroups = Annotated[str, typer.Argument(metavar="CORPUS", help="A corpus file.", show_default=False)]
Documents = Annotated[
    int, typer.Option(min=5, help="Documents taken at random, at size small; all at size paper.")
]
Splits = Annotated[int, typer.Option(min=1, max=10_000, help="Splits into training and test documents.")]


@experiment.command("differential")
def differential(
    corpus: CorpusWithGroups,
    groups: Groups = None,
    size: SizeOption = Size.SMALL,
    documents: Documents = 300,
    replicates: Splits = 6,
    jobs: Jobs = 2,
    out: Out = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Held-out perplexity of differential topic models with the number of topics.

    Figure 6 of Chen et al. (2015). Methods: tpyp, three samplers of hpyp, pyp, cclda, and LDA of each group.
    """
    from ..diagnostics.experiments import differential

    paper = differential.PerplexityExperiment(
        differential.PAPER, corpus, groups, topic_counts=(10, 20, 40, 60, 80, 100), seed=seed
    )
    small = replace(paper, sampling=differential.SMALL, topic_counts=(10, 30), most_documents=documents)
    _run(_sized(size, small, paper, replicates), out, jobs, as_json)


@experiment.command("differential-classes")
def differential_classes(
    corpus: CorpusWithGroups,
    groups: Groups = None,
    size: SizeOption = Size.SMALL,
    documents: Documents = 600,
    replicates: Splits = 2,
    jobs: Jobs = 2,
    out: Out = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """How many test documents are told to be of their group, by topic models and by support vector machines.

    Table 2 of Chen et al. (2015), with five topics.
    """
    from ..diagnostics.experiments import differential

    paper = differential.ClassificationExperiment(differential.PAPER_CLASSES, corpus, groups, seed=seed)
    small = replace(paper, sampling=differential.SMALL, most_documents=documents)
    _run(_sized(size, small, paper, replicates), out, jobs, as_json)


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
        typer.Option(callback=_positive, help="Dirichlet parameter of topic vectors; the paper's is 1."),
    ] = 1.0,
    eta: Annotated[
        float, typer.Option(callback=_positive, help="Dirichlet parameter of topics; the paper's is 1.")
    ] = 1.0,
    jobs: Jobs = 2,
    out: Out = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Topics of sentences: held-out perplexity, coherence, and how much is found of what was planted.

    Tables I to III of Das & Bhattacharyya, by their methods, and by two more: MQR-HDP and LDA.
    """
    from ..diagnostics.experiments import weight_agnostic

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
    chosen = _sized(size, small, paper, replicates)
    if n_topics:
        chosen = replace(chosen, topic_counts=tuple(sorted({*n_topics})))
    _run(chosen, out, jobs, as_json)


@experiment.command("scaling-synthetic")
def scaling_synthetic(
    size: SizeOption = Size.SMALL,
    replicates: Replicates = 3,
    jobs: Jobs = 2,
    out: Out = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Recover how labels scale topics, from simulated documents of several lengths.

    Figures 3 and 4 of Kim & Oh: rank correlation and error of the centred log scales; and held-out
    perplexity, with that of HDP.
    """
    from ..diagnostics.experiments import scaling, scaling_synthetic

    small = scaling_synthetic.SyntheticExperiment(scaling.SMALL, seed=seed)
    paper = replace(small, sampling=scaling.PAPER, lengths=(20, 50, 100, 200), n_documents=1000)
    _run(_sized(size, small, paper, replicates), out, jobs, as_json)


@experiment.command("scaling-labels")
def scaling_labels(
    corpus: Annotated[str, typer.Argument(metavar="CORPUS", help="A corpus file.", show_default=False)],
    label: Annotated[
        str, typer.Option(metavar="NAME", help="A covariate of categories or of sets.")
    ] = "label",
    size: SizeOption = Size.SMALL,
    documents: Documents = 600,
    replicates: Splits = 2,
    jobs: Jobs = 2,
    out: Out = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Held-out perplexity given labels, with the share of the training labels that are kept.

    Figure 8 of Kim & Oh; where documents have one label each, also how often it is told from the words.
    """
    from ..diagnostics.experiments import scaling, scaling_labels

    small = scaling_labels.LabelsExperiment(
        scaling.SMALL, seed=seed, corpus=corpus, label=label, most_documents=documents
    )
    shares = tuple(n / 10 for n in range(1, 11))
    paper = replace(small, sampling=scaling.PAPER, shares=shares, most_documents=10**9, most_tokens=10**9)
    _run(_sized(size, small, paper, replicates), out, jobs, as_json)


@experiment.command("scaling-ratings")
def scaling_ratings(
    corpus: Annotated[str, typer.Argument(metavar="CORPUS", help="A corpus file.", show_default=False)],
    label: Annotated[str, typer.Option(metavar="NAME", help="A covariate that is a number.")] = "rating",
    size: SizeOption = Size.SMALL,
    documents: Documents = 300,
    replicates: Splits = 2,
    jobs: Jobs = 2,
    out: Out = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Tell ratings, binned to five, from words: macro and micro F1.

    Section 5.3 of Kim & Oh, with and without the groups of the corpus as labels, and by classifiers.
    """
    from ..diagnostics.experiments import scaling, scaling_ratings

    small = scaling_ratings.RatingsExperiment(
        scaling.SMALL, seed=seed, corpus=corpus, label=label, document_counts=(documents,)
    )
    paper = replace(small, sampling=scaling.PAPER, document_counts=(10**9,), most_tokens=10**9)
    _run(_sized(size, small, paper, replicates), out, jobs, as_json)


def _sized(size: Size, small: Any, paper: Any, replicates: int) -> Any:
    return replace(paper if size is Size.PAPER else small, replicates=replicates)


def _run(chosen: "Experiment", out: Path | None, jobs: int, as_json: bool) -> None:
    """Run an experiment; write and print what it found."""
    from ..diagnostics.experiments.runner import plot_experiment, run_experiment, summary

    folder = out or Path("out") / chosen.name
    try:
        with _bar(chosen.name) as progress:
            results = run_experiment(chosen, folder, jobs, progress)
    except KeyboardInterrupt:
        say(f"Stopped. Finished runs are in {folder}; the same command goes on from there.", console=err)
        raise
    table = summary(chosen, results)
    figure = folder / f"{chosen.name}.png"
    plot_experiment(chosen, results, figure)
    if as_json:
        print_json({"experiment": chosen.name, "summary": table.to_dict("records"), "figure": figure})
        return
    gain = [
        with_error(mean, se, "+.3f") for mean, se in zip(table["gain_mean"], table["gain_se"], strict=True)
    ]
    means = [name for name in table.columns if name.endswith("_mean") and name != "gain_mean"]
    kept = table[[*chosen.settings_shown, "method", *means]].round(4).assign(gain=gain)
    print_table(
        f"{chosen.name}: {chosen.labels[chosen.measure]}; gain over {chosen.baseline} ± standard error",
        [name.removeprefix(f"{chosen.measure}_").removesuffix("_mean") for name in kept.columns],
        kept.to_numpy(object).tolist(),
    )
    say(f"Numbers: {folder / 'results.csv'}. Figure: {figure}.")


@contextmanager
def _bar(name: str) -> Iterator[Any]:
    """Draw a bar of finished runs on standard error."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = [
        TextColumn("{task.description}"),
        BarColumn(bar_width=28),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    ]
    with Progress(*columns, console=err, transient=True) as bars:
        task = bars.add_task(name, total=None)
        yield lambda done, total: bars.update(task, completed=done, total=total)
