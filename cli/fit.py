"""``bnpzoo fit``: sample a posterior."""

import json
import math
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .announce import announce, say_of_idle_threads, say_what_is_known
from .console import err, fail, print_json, say
from .inputs import SPLIT, read_corpus, text_options
from .options import (
    Cool,
    CorpusFile,
    Dask,
    Delimiter,
    Encoding,
    Groups,
    Grow,
    Json,
    MaxDf,
    MaxFeatures,
    MinDf,
    ModelName,
    Seed,
    Seeds,
    Sentences,
    Settings,
    Start,
    StopWords,
    TextColumn,
    TokenPattern,
    Topics,
    Until,
    Verbose,
    Within,
)
from .settings import fits_to_start_from, make_model, seconds_of, with_n_topics_of
from .summary import print_summary, say_if_not_converged, say_if_stopped, say_what_is_next, summary_of

if TYPE_CHECKING:
    from xarray import DataTree

    from ..diagnostics.heldout import HeldOut
    from ..zoo.corpus import Corpus


def fit(
    name: ModelName,
    corpus_file: CorpusFile,
    topics: Topics = None,
    seeds: Seeds = None,
    settings: Settings = [],  # noqa: B006 (typer copies it)
    backend: Annotated[
        str,
        typer.Option(
            help="kernel (fast, exact), numpyro or stan (truncated references), vi (an approximation)."
        ),
    ] = "kernel",
    variant: Annotated[str | None, typer.Option(help="Which kernel; `bnpzoo show MODEL` lists them.")] = None,
    chains: Annotated[
        int, typer.Option(min=1, help="Independent chains; several show whether they agree.")
    ] = 4,
    tune: Annotated[
        int,
        typer.Option(min=0, help="Sweeps of each chain that are thrown away; of vi, its iterations at most."),
    ] = 500,
    draws: Annotated[int, typer.Option(min=1, help="Draws of each chain that are kept.")] = 500,
    thin: Annotated[int, typer.Option(min=1, help="Sweeps for each draw that is kept.")] = 1,
    keep: Annotated[
        int,
        typer.Option(
            min=0,
            help="Draws of each chain that are kept whole, evenly spaced: topics and new documents are told "
            "by these; of the others test quantities are kept.",
        ),
    ] = 10,
    threads: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Threads within a sweep of the variants that are called parallel; the draws stay the same. "
            "Default: BNPZOO_THREADS, or 1.",
            show_default=False,
        ),
    ] = None,
    truncation: Annotated[
        int | None, typer.Option(min=2, help="Most topics that numpyro, stan and vi may use.")
    ] = None,
    start: Start = None,
    parts: Grow = None,
    cooling: Cool = None,
    until: Until = None,
    within: Within = None,
    seed: Seed = 0,
    groups: Groups = None,
    stop_words: StopWords = "english",
    min_df: MinDf = "2",
    max_df: MaxDf = "1.0",
    max_features: MaxFeatures = None,
    token_pattern: TokenPattern = None,
    text_column: TextColumn = "text",
    encoding: Encoding = "utf-8",
    delimiter: Delimiter = None,
    sentences: Sentences = "none",
    split: Annotated[
        str | None,
        typer.Option(
            metavar="COVARIATE",
            help=f"Hold out the documents where this covariate is 1. Default: {SPLIT} where there is one.",
            show_default=False,
        ),
    ] = None,
    out_file: Annotated[
        Path | None,
        typer.Option(
            "--out", help="Where to write the fit: .nc; or .zarr, a new folder that draws go to as they come."
        ),
    ] = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Save the chains' state here now and then (kernels only)."),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on from --checkpoint, to the same bits.")
    ] = False,
    dask: Dask = None,
    verbose: Verbose = False,
    as_json: Json = False,
) -> None:
    """Sample the posterior of a model given a corpus.

    Ctrl-C, or SIGTERM, ends the run and keeps what was drawn by the chains that were furthest. After it:
    whether the chains agree, with R-hat (near 1 is good) and effective sample size (ESS) of the test
    quantities, the topics, and the perplexity of held-out documents (lower is better).
    """
    from ..diagnostics.compare import compare, labelled
    from ..kernels.toolbox.threads import threads_a_sweep
    from ..zoo.formats import is_text
    from ..zoo.inference import (
        ClusterError,
        check,
        check_address,
        check_cooling,
        check_growth,
        cool,
        expected_size,
        grow,
        held_signals,
        sample,
        stream,
    )  # fmt: skip
    from ..zoo.inference.convergence import ESS_LIMIT

    if dask is not None:
        check_address(dask)
        if backend != "kernel":
            raise ValueError(f"--dask: expected a kernel; backend {backend!r} runs on this machine")
    model = make_model(name, with_n_topics_of(start, name, settings), topics, seeds)
    options = text_options(
        stop_words=stop_words, min_df=min_df, max_df=max_df, max_features=max_features,
        token_pattern=token_pattern, text_column=text_column, encoding=encoding, delimiter=delimiter,
        sentences=sentences,
    )  # fmt: skip
    corpus, test = _parts(read_corpus(corpus_file, groups, options), split)
    seconds = seconds_of(within)
    check(
        model, corpus, backend, variant=variant, truncation=truncation, chains=chains, draws=draws,
        start=start, until=until, within=seconds, checkpoint=checkpoint, resume=resume,
    )  # fmt: skip
    burn_ins = [flag for flag, is_set in (("--grow", parts), ("--cool", cooling)) if is_set]
    if burn_ins and backend != "kernel":
        raise ValueError(f"{burn_ins[0]}: expected a kernel; backend {backend!r} takes no start")
    if len(burn_ins) > 1:
        raise ValueError("--cool: expected no --grow beside it; a chain burns in one way or the other")
    if resume and checkpoint is not None:
        _check_resumed(checkpoint, burn_ins)
    if parts is not None:
        check_growth(model, corpus, parts)
    if cooling is not None:
        check_cooling(model)
    streamed = None
    if out_file is not None:
        fixed = backend == "kernel" and until is None and within is None
        streamed = _checked_folder(out_file, fixed, expected_size(corpus, chains, draws, keep))
    announce(model, corpus)
    say_of_idle_threads(model, variant if backend == "kernel" else None, threads)
    say_what_is_known(fits_to_start_from(start), corpus)
    # new documents are to be split as these were
    notes: dict[str, Any] = {"text_options": json.dumps(asdict(options))} if is_text(corpus_file) else {}
    if out_file is None:
        say("The draws will not be kept, only their summary printed: there is no --out.", "yellow", err)
    burn_in: dict[str, Any] = {
        "variant": variant, "chains": chains, "seed": seed, "start": start, "progress": True,
        "checkpoint": checkpoint, "resume": resume, "cluster": dask,
    }  # fmt: skip
    run: dict[str, Any] = burn_in | {"tune": tune, "draws": draws, "thin": thin, "keep": keep}
    how_on = "" if checkpoint is None else f"; --resume goes on from {checkpoint}"
    tree = None
    with held_signals(), threads_a_sweep(threads):
        try:
            if parts is not None:
                run["start"] = grow(model, corpus, parts, sweeps=max(tune, 1), **burn_in)
                notes |= {"grow": parts, "start": run["start"].attrs["start"]}
                say(f"All documents: {corpus.n_tokens:,} tokens", console=err)
            if cooling is not None:
                run["start"] = cool(model, corpus, cooling, **burn_in)
                notes |= {"cool": cooling, "start": run["start"].attrs["start"]}
                say("eta as the model has it", console=err)
            if streamed is not None:
                stream(streamed, model, corpus, **run, notes=notes)
                say(f"Wrote {streamed}", console=err)
            else:
                tree = sample(
                    model, corpus, backend, **run, until=until, within=seconds, truncation=truncation
                )
        except KeyboardInterrupt as interrupt:
            raise KeyboardInterrupt(str(interrupt) or "nothing was drawn") from None
        except ClusterError as error:
            raise ClusterError(f"{error}{how_on}") from None
        if tree is not None:
            tree.attrs |= notes
        if tree is not None and out_file is not None:
            _write(tree, out_file, how_on)
    if streamed is not None:
        tree = _read_back(streamed)
    if tree is None:
        if as_json:
            print_json({"model": model.card.id, "fit": out_file})
        return
    say_if_stopped(tree, how_on)
    say_if_not_converged(tree)
    comparison = compare(labelled([tree]))
    held_out = None if test is None else _score(tree, test, seed)
    if as_json:
        print_json(summary_of(tree, model, comparison, held_out) | {"fit": out_file})
    else:
        print_summary(tree, comparison, held_out, out_file, verbose)
        if out_file is not None:
            without = burn_ins + ["--resume"] * resume
            enough = max(draws, math.ceil(ESS_LIMIT / chains))
            more = "" if enough == draws else f" --draws {enough}"
            say_what_is_next(tree, comparison, out_file, checkpoint, more, without)


def _check_resumed(checkpoint: Path, burn_ins: list[str]) -> None:
    """See that a run to go on with has a burn-in if it is asked for one; say so where there is no run.

    A run whose burn-in was stopped has left nothing else, and would begin anew without it.
    """
    had_burn_in = any(checkpoint.glob("*/run.json"))
    if not had_burn_in and not (checkpoint / "run.json").exists():
        say(f"{checkpoint}: there is nothing to resume; a new run begins.", "yellow", err)
    elif had_burn_in and not burn_ins:
        raise ValueError(f"--resume: expected the --grow or --cool with which the run in {checkpoint} began")
    elif burn_ins and not had_burn_in:
        raise ValueError(f"{burn_ins[0]}: expected none, as the run in {checkpoint} began without")


def _checked_folder(out_file: Path, fixed: bool, size: int) -> Path | None:
    """Check `--out`, and return it if it is a folder that draws go to as they come.

    `fixed` tells whether a kernel makes a number of draws that is known before; there should be room for
    `size` bytes.
    """
    from ..zoo.files import check_writable
    from ..zoo.folders import checked_new

    if out_file.suffix == ".nc":
        check_writable(out_file, size)
        return None
    if out_file.suffix != ".zarr":
        raise ValueError(f"--out {out_file}: expected a name that ends in .nc or .zarr")
    checked_new(out_file, size)
    if not fixed:
        raise ValueError(f"--out {out_file}: expected a kernel and a fixed number of draws; else write .nc")
    return out_file


def _score(tree: "DataTree", test: "Corpus", seed: int) -> "HeldOut | None":
    """Score the documents that were held out, or say why not."""
    from ..diagnostics.heldout.usual import usual_score

    if not tree["latents"].dataset.sizes.get("kept", 0):
        say("Documents that were held out are not scored: no draw is kept whole (--keep)", "yellow", err)
        return None
    return usual_score(tree, test, seed=seed)


def _read_back(out_file: Path) -> "DataTree | None":
    """Read the draws that went to disk, for the summary; or say why not."""
    from ..zoo.inference import ResultsError, load

    try:
        return load(out_file)
    except ResultsError as error:  # a disk holds more than fits into memory
        say(f"No summary: {error}", "yellow", err)
        return None


def _write(tree: "DataTree", out_file: Path, how_on: str) -> None:
    """Write draws to `out_file` or, where that fails, somewhere else, and say where."""
    from ..zoo.inference import rescue, save

    try:
        save(tree, out_file)
    except OSError as error:
        reason = f"{out_file}: cannot be written: {error.strerror or error}"
        try:
            fail(f"{reason}; the draws are in {rescue(tree)}")
        except OSError:
            fail(f"{reason}; nor is there another place for the draws{how_on}")
    say(f"Wrote {out_file}", console=err)


def _parts(corpus: "Corpus", split: str | None) -> "tuple[Corpus, Corpus | None]":
    """Training and test part; without the latter unless it is asked for or the corpus has one."""
    if split is None and SPLIT not in corpus.covariates:
        return corpus, None
    if split is not None and split not in corpus.covariates:
        raise ValueError(f"--split {split}: the covariates are {', '.join(corpus.covariates) or 'none'}")
    train, test = corpus.split(split or SPLIT)
    return train, test if split or test.n_documents else None
