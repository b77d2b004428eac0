"""``bnpzoo mixing``: how long chains take to the posterior, on a corpus whose topics are known."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .announce import say_settings
from .console import err, one_bar, print_json, print_table, say
from .options import Cool, Json, ModelName, Seed, Settings, Topics
from .settings import make_model

if TYPE_CHECKING:
    from ..zoo.contract import Design, Model


def mixing(
    name: ModelName,
    topics: Topics = None,
    settings: Settings = [],  # noqa: B006 (typer copies it)
    like: Annotated[
        Path | None,
        typer.Option(
            metavar="FIT",
            help="Simulate a corpus of the size of this fit's, with the hyperparameters of its last draw.",
            show_default=False,
        ),
    ] = None,
    documents: Annotated[int, typer.Option(min=1, help="Documents, where there is no --like.")] = 200,
    length: Annotated[int, typer.Option(min=1, help="Tokens of a document.")] = 50,
    words: Annotated[int, typer.Option(min=1, help="Words of the vocabulary.")] = 1000,
    variant: Annotated[
        str | None, typer.Option(help="Which kernel; the default one unless given.", show_default=False)
    ] = None,
    sweeps: Annotated[int, typer.Option(min=10, help="Sweeps of each chain.")] = 300,
    cooling: Cool = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Simulate a corpus, and see when chains from either side come to where its true topics are.

    A chain that starts at the topics which made the corpus is in the posterior from its first sweep. Its
    mean, give or take four standard deviations, is the band that a chain from one topic, and one from a topic
    a document, have to enter. No convergence needs to be judged for that. Hyperparameters are fixed: at
    values that suit benchmarks, unless --set or --like say others.
    """
    from functools import partial

    import numpy as np

    from ..diagnostics.laboratory.mixing import mixing as run
    from ..zoo.contract import Design
    from ..zoo.inference import check_cooling, cool

    model = make_model(name, settings, topics)
    if like is None:
        values = model.set_to("benchmark").hyperparameters()
        model = model.replaced(**{key: values[key] for key in model.sampled()})
        design = Design(np.full(documents, length), words, group=np.arange(documents) % 2)
    else:
        model, design = _like(like, model)
    if cooling is not None:
        check_cooling(model)
    say(f"{model.card.title}: {design.doc_lengths.size:,} documents", "bold", err)
    say_settings(model)
    with one_bar() as move:
        found = run(
            model,
            design,
            variant=variant,
            sweeps=sweeps,
            seed=seed,
            burn_in=None if cooling is None else partial(cool, sweeps=cooling),
            progress=lambda start, done, total: move(done, total, f"from {start}"),
        )
    corpus = found.corpus
    if as_json:
        sizes = {"documents": corpus.n_documents, "tokens": corpus.n_tokens, "words": corpus.n_words}
        print_json({"corpus": sizes, "headline": found.headline(), "entries": found.records()})
        return
    print_table(
        f"When chains enter the band of the true one, {corpus.n_tokens:,} tokens, {sweeps:,} sweeps",
        ["start", "quantity", "band from", "to", "at the end", "sweeps", "CPU seconds"],
        [["–" if value is None else value for value in entry.values()] for entry in found.records()],
    )
    say(f"{found.headline()[0].upper()}{found.headline()[1:]}")


def _like(fit: Path, model: "Model") -> "tuple[Model, Design]":
    """Return the model with the hyperparameters of a fit's last draw, and the design of the fit's corpus."""
    import numpy as np

    from ..zoo.contract import Design
    from ..zoo.inference import corpus_of, latents_of, load

    tree = load(fit)
    if tree.attrs["model"] != model.card.id:
        raise ValueError(f"{fit}: expected a fit of {model.card.id}, found one of {tree.attrs['model']}")
    draws = [latents for _, _, latents in latents_of(tree)]
    if not draws:
        raise ValueError(f"{fit}: expected a fit that holds latents, found none")
    values = {k: float(np.mean(draws[-1][k])) for k in model.sampled()}
    return model.replaced(**values), Design.of(corpus_of(tree))
