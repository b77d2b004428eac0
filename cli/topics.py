"""``bnpzoo topics``: what the topics of a fit are about."""

from typing import Annotated

import typer

from .console import print_json, print_table
from .inputs import FitFile, Json

Words = Annotated[int, typer.Option("--words", min=1, help="Words of each topic.")]


def topics(
    fit: FitFile,
    n_words: Words = 10,
    chain: Annotated[
        int, typer.Option(min=0, help="Which chain; topics of different chains do not match up.")
    ] = 0,
    as_json: Json = False,
) -> None:
    """Print the most probable words of each topic, largest topic first, at the last kept draw of a chain."""
    from ..diagnostics.topics import topics_of
    from ..zoo.inference import load

    found = topics_of(load(fit), n_words, chain)
    if as_json:
        print_json([{"tokens": t.n_tokens, "share": t.share, "words": t.words} for t in found])
    else:
        print_table(
            f"Topics of {fit.name}",
            ["tokens", "share", "words"],
            [(topic.n_tokens, f"{topic.share:.1%}", " ".join(topic.words)) for topic in found],
        )
