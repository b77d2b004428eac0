"""``bnpzoo fit``: sample a posterior."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .console import VERDICTS, ExitCode, err, fail, print_json, print_table, say, with_error
from .evaluate import record
from .inputs import (
    CorpusFile,
    Groups,
    Json,
    ModelName,
    Seed,
    Settings,
    Start,
    Topics,
    Until,
    Within,
    make_model,
    read_corpus,
    seconds_of,
)

if TYPE_CHECKING:
    from xarray import DataTree

    from ..diagnostics.compare import Comparison
    from ..diagnostics.heldout import HeldOut
    from ..zoo.contract import Model
    from ..zoo.corpus import Corpus

SPLIT = "is_test"


def fit(
    name: ModelName,
    corpus_file: CorpusFile,
    topics: Topics = None,
    settings: Settings = [],  # noqa: B006 (typer copies it)
    backend: Annotated[
        str, typer.Option(help="kernel (fast, exact), numpyro or stan (truncated references).")
    ] = "kernel",
    variant: Annotated[str | None, typer.Option(help="Which kernel; `bnpzoo show MODEL` lists them.")] = None,
    chains: Annotated[
        int, typer.Option(min=1, help="Independent chains; several show whether they agree.")
    ] = 4,
    tune: Annotated[int, typer.Option(min=0, help="Sweeps of each chain that are thrown away.")] = 500,
    draws: Annotated[int, typer.Option(min=1, help="Draws of each chain that are kept.")] = 500,
    thin: Annotated[int, typer.Option(min=1, help="Sweeps for each draw that is kept.")] = 1,
    truncation: Annotated[
        int | None, typer.Option(min=2, help="Most topics that numpyro and stan may use.")
    ] = None,
    start: Start = None,
    until: Until = None,
    within: Within = None,
    seed: Seed = 0,
    groups: Groups = None,
    split: Annotated[
        str | None,
        typer.Option(
            metavar="COVARIATE",
            help=f"Hold out the documents where this covariate is 1. Default: {SPLIT} where there is one.",
            show_default=False,
        ),
    ] = None,
    out_file: Annotated[Path | None, typer.Option("--out", help="Where to write the fit (.nc).")] = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Save the chains' state here now and then (kernels only)."),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on from --checkpoint, to the same bits.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Sample the posterior of a model given a corpus.

    Ctrl-C, or SIGTERM, ends the run and keeps what was drawn. After it: occupied topics, R-hat (near 1 is
    good) and effective sample size (ESS) of each test quantity, and the perplexity of held-out documents
    (lower is better).
    """
    from ..diagnostics.compare import compare, labelled
    from ..diagnostics.heldout import document_completion, posterior_predictives
    from ..zoo.files import check_writable
    from ..zoo.inference import check, expected_size, held_signals, sample

    model = make_model(name, settings, topics)
    corpus, test = _parts(read_corpus(corpus_file, groups=groups), split)
    seconds = seconds_of(within)
    check(
        model, corpus, backend, variant=variant, truncation=truncation, start=start, until=until,
        within=seconds, checkpoint=checkpoint, resume=resume,
    )  # fmt: skip
    if out_file is not None:
        check_writable(out_file, expected_size(corpus, chains, draws))
    announce(model, corpus)
    if out_file is None:
        say("The draws will not be kept, only their summary printed: there is no --out.", "yellow", err)
    with held_signals():
        try:
            tree = sample(
                model, corpus, backend, variant=variant, chains=chains, tune=tune, draws=draws, thin=thin,
                seed=seed, start=start, until=until, within=seconds, truncation=truncation, progress=True,
                checkpoint=checkpoint, resume=resume,
            )  # fmt: skip
        except KeyboardInterrupt as interrupt:
            say(f"Interrupted: {str(interrupt) or 'nothing was drawn'}.", "yellow", err)
            raise typer.Exit(ExitCode.INTERRUPTED) from None
        if out_file is not None:
            _write(tree, out_file)
    if tree.attrs["interrupted"]:
        stopped = f"Interrupted after {tree['posterior'].sizes['draw']} draws a chain"
        how_on = "" if checkpoint is None else f"; --resume goes on from {checkpoint}"
        say(f"{stopped}{how_on}", "yellow", err)
    comparison = compare(labelled([tree]))
    held_out = (
        None if test is None else document_completion(posterior_predictives(tree, test), test, seed=seed)
    )
    if as_json:
        print_json(_summary(model, comparison, held_out) | {"fit": out_file})
    else:
        _print_summary(comparison, held_out)


def _write(tree: "DataTree", out_file: Path) -> None:
    """Write draws to `out_file` or, where that fails, somewhere else, and say where."""
    from ..zoo.inference import rescue, save

    try:
        save(tree, out_file)
    except (OSError, RuntimeError) as error:
        fail(f"{out_file}: cannot be written: {error}; the draws are in {rescue(tree)}")
    say(f"Wrote {out_file}", console=err)


def _parts(corpus: "Corpus", split: str | None) -> "tuple[Corpus, Corpus | None]":
    """Training and test part."""
    if split is None and SPLIT not in corpus.covariates:
        return corpus, None
    return corpus.split(split or SPLIT)


def announce(model: "Model", corpus: "Corpus") -> None:
    """Say on standard error what is about to be sampled, and how the model is set."""
    sizes = f"{corpus.n_documents:,} documents, {corpus.n_tokens:,} tokens, {corpus.n_words:,} words"
    say(f"{model.card.title}: {sizes}", "bold", err)
    for name, how in model.settings().items():
        say(f"  {name}: {how}", console=err)


def _summary(model: "Model", comparison: "Comparison", held_out: "HeldOut | None") -> dict[str, Any]:
    return {
        "model": model.card.id,
        "hyperparameters": {name: str(value) for name, value in model.spelled().items()},
        "sampled": model.sampled(),
        "verdict": comparison.verdict,
        "quantities": comparison.records(),
        "trouble": next((asdict(found) for found in comparison.trouble.values()), None),
        "held_out": None if held_out is None else record(held_out),
    }


def _print_summary(comparison: "Comparison", held_out: "HeldOut | None") -> None:
    (label,) = comparison.labels
    print_table(
        f"Test quantities, {label}",
        ["quantity", "mean", "MCSE", "ESS", "R-hat", "chains"],
        [
            (row.quantity, row.mean[label], row.mcse[label], row.ess[label], row.rhat, row.verdict)
            for row in comparison.rows
        ],
    )
    say(comparison.headline(), VERDICTS[comparison.verdict])
    occupied = next(row for row in comparison.rows if row.quantity == "n_topics")
    say(f"Occupied topics: {occupied.mean[label]:.1f} on average")
    if held_out is not None:
        score = with_error(held_out.perplexity, held_out.standard_error, ".1f")
        say(f"Held-out perplexity ({held_out.method}, {held_out.n_scored.sum():,} tokens): {score}")
