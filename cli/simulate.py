"""``bnpzoo simulate``: a corpus drawn from a model."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .console import say
from .inputs import say_left_out
from .options import ModelName, Seed, Settings, Topics
from .settings import make_model

if TYPE_CHECKING:
    from ..zoo.contract import Model
    from ..zoo.corpus import Corpus

OutFile = Annotated[Path, typer.Option("--out", help="Where to write the corpus (.npz).")]


def simulate(
    name: ModelName,
    out_file: OutFile = Path("corpus.npz"),
    documents: Annotated[int, typer.Option(min=1, help="Number of documents.")] = 100,
    length: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Tokens of each document; if left out, drawn by models that can, 50 for others.",
        ),
    ] = None,
    words: Annotated[int, typer.Option(min=1, help="Size of the vocabulary.")] = 200,
    groups: Annotated[
        int | None, typer.Option(min=1, help="Number of groups of documents (tasks); none if left out.")
    ] = None,
    topics: Topics = None,
    settings: Settings = [],  # noqa: B006 (typer copies it)
    seed: Seed = 0,
) -> None:
    """Draw a synthetic corpus from a model, to see whether a sampler finds its way back.

    Hyperparameters that have a prior are drawn from it; fix them with --set. In some models they also decide
    how long documents are. Such a model can keep to --length only if it makes that length likely for all
    documents at once, which suits a few short ones.
    """
    import numpy as np

    from ..zoo.contract import Design
    from ..zoo.formats import write_corpus
    from ..zoo.memory import require_memory

    n_tokens = 50 if length is None else length
    require_memory(
        {"documents": 64 * documents, "tokens": 64 * documents * n_tokens, "groups": 64 * (groups or 0)},
        f"{documents:,} documents of {n_tokens:,} tokens in {groups or 0:,} groups",
    )
    group = None if groups is None else np.arange(documents) % groups
    design = Design(np.full(documents, n_tokens), words, group)
    model = make_model(name, settings, topics)
    _check_design(model, groups)
    draw = model.simulate_lengths if length is None else model.simulate
    with np.errstate(all="ignore"):  # what vague priors draw is looked at by the models
        try:
            latents, corpus = draw(design, np.random.default_rng(seed))
        except ValueError as error:
            if length is None and "length_shape" in model.arguments():
                raise ValueError(f"{error}; such as --set length_shape=5 --set gamma=2 --set c=0.1") from None
            raise
    written = _as_written(corpus)
    write_corpus(written, out_file)
    say(
        f"Wrote {out_file}: {corpus.n_documents:,} documents, {corpus.n_tokens:,} tokens, "
        f"{np.unique(latents['z']).size} topics in use."
    )
    say_left_out(written, out_file)


def _check_design(model: "Model", groups: int | None) -> None:
    """Say which options give simulated documents what a model asks of them."""
    arguments = model.arguments()
    if arguments.get("response") == "" and (groups or 0) < 2:
        raise ValueError(f"{model.card.id}: expected --groups 2 or more: each is a category of the response")
    if arguments.get("window") == 0:
        raise ValueError(f"{model.card.id}: expected sentences; --set window=10 makes them of 10 tokens each")


def _as_written(corpus: "Corpus") -> "Corpus":
    """Corpus whose responses, which were drawn in place of groups, have a name that files can take."""
    covariates, names = dict(corpus.covariates), dict(corpus.covariate_names)
    if "group" not in covariates:
        return corpus
    covariates["response"], names["response"] = covariates.pop("group"), names.pop("group")
    return replace(corpus, group=None, group_names=None, covariates=covariates, covariate_names=names)
