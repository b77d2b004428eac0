"""Experiments of Faisal et al. (2013): sparse transfer topic models."""

from dataclasses import replace
from typing import Annotated

import typer

from ..options import Dask, Json, Seed
from .options import Eta, Jobs, Out, Replicates, Size, SizeOption, experiment, positive, run, sized


@experiment.command("transfer-continuum")
def transfer_continuum(
    size: SizeOption = Size.SMALL,
    replicates: Replicates = 10,
    eta: Eta = 0.05,
    jobs: Jobs = 2,
    dask: Dask = None,
    out: Out = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Held-out likelihood from tasks that share a topic to tasks with topics at random.

    Experiment 1 of Faisal et al. (2013). Methods: the sparse transfer topic model by its exact sampler and by
    the published one, the three-level HDP, and an HDP of the task of interest alone.
    """
    from ...diagnostics.experiments import transfer
    from ...zoo.designs import DOMAINS

    small = transfer.ContinuumExperiment(transfer.SMALL, transfer.TransferPrior(eta=eta), seed=seed)
    paper = replace(small, sampling=transfer.PAPER, mixings=tuple(DOMAINS.tolist()))
    run(sized(size, small, paper, replicates), out, jobs, as_json, dask)


@experiment.command("transfer-tasks")
def transfer_tasks(
    size: SizeOption = Size.SMALL,
    replicates: Replicates = 10,
    eta: Eta = 0.05,
    jobs: Jobs = 2,
    dask: Dask = None,
    out: Out = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Held-out likelihood with the number of tasks, at three positions on the continuum.

    Experiment 2 of Faisal et al. (2013).
    """
    from ...diagnostics.experiments import transfer

    small = transfer.TasksExperiment(
        transfer.SMALL,
        transfer.TransferPrior(eta=eta),
        mixings=(0.25, 0.5, 1.0),
        task_counts=(5, 10, 20),
        seed=seed,
    )
    paper = replace(small, sampling=transfer.PAPER, task_counts=(5, 10, 15, 20, 25, 30))
    run(sized(size, small, paper, replicates), out, jobs, as_json, dask)


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
        typer.Option(callback=positive, help="Dirichlet parameter of topics; the default is the paper's."),
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
    dask: Dask = None,
    out: Out = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Held-out likelihood with few documents of the task of interest, on real text, cross-validated.

    The design of Experiment 3 of Faisal et al. (2013): from 5 to 40 documents of one task, 50 of each other.
    """
    from ...diagnostics.experiments import transfer

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
    chosen = sized(size, small, paper, replicates)
    if documents:
        chosen = replace(chosen, document_counts=tuple(sorted({*documents})))
    run(chosen, out, jobs, as_json, dask)
