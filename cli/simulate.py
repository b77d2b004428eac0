"""``bnpzoo simulate``: a corpus drawn from a model."""

from pathlib import Path
from typing import Annotated

import typer

from .console import say
from .inputs import ModelName, Seed, Settings, Topics, make_model

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
    draw = model.simulate_lengths if length is None else model.simulate
    latents, corpus = draw(design, np.random.default_rng(seed))
    write_corpus(corpus, out_file)
    say(
        f"Wrote {out_file}: {corpus.n_documents:,} documents, {corpus.n_tokens:,} tokens, "
        f"{np.unique(latents['z']).size} topics in use."
    )
