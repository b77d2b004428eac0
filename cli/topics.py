"""``bnpzoo topics``: what the topics of a fit are about."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .console import check_csv, err, print_json, print_table, say, write_csv
from .inputs import fit_to_show
from .options import Csv, FitFile, Json

if TYPE_CHECKING:
    from ..diagnostics.topics import MatchedTopics


class Order(StrEnum):
    """Choices of ``--by``."""

    PROBABILITY = "probability"
    RELEVANCE = "relevance"
    LIFT = "lift"


def topics(
    fit: FitFile,
    n_words: Annotated[int, typer.Option("--words", min=1, help="Words of each topic.")] = 10,
    n_topics: Annotated[
        int, typer.Option("--topics", min=1, help="Topics that are shown, largest first.")
    ] = 20,
    by: Annotated[
        Order,
        typer.Option(
            help="What ranks the words: their probability in the topic; their lift, which is that over their "
            "probability in the corpus; or relevance, between the two."
        ),
    ] = Order.PROBABILITY,
    csv: Csv = None,
    as_json: Json = False,
) -> None:
    """Show the topics of a fit, largest first, and how sure they are.

    Topics are matched across chains and draws by the tokens that they share. Stability says what part of
    its words a topic has in common in two chains: near 1, the chains found the same topic; near 0, they did
    not. Where labels have topics of their own, each topic is shown with its label. With --csv and --json
    come the probabilities of the words, with intervals.
    """
    from ..diagnostics.topics import match_topics, ranked_words

    check_csv(csv)
    with err.status("matching topics"):
        matched = match_topics(fit_to_show(fit))
        words = ranked_words(matched, n_words, by=str(by))
    if csv is not None:
        write_csv(words, csv)
    if as_json:
        print_json(_records(matched, n_words, by))
    else:
        print_topics(f"Topics of {fit.name}", matched, n_words, n_topics, by, more="--topics")


def print_topics(
    title: str,
    matched: "MatchedTopics",
    n_words: int,
    n_topics: int,
    by: str = Order.PROBABILITY,
    more: str = "",
) -> None:
    """Print the largest topics that have tokens, one a row; `more` and a number shows as many."""
    from ..diagnostics.topics import topics as topics_of

    found = topics_of(matched, n_words, by=str(by)).query("tokens > 0")
    found = found.sort_values("share", ascending=False, kind="stable")
    labelled = ["label"] if "label" in found else []
    rows = [
        (
            topic["topic"],
            *(topic[name] for name in labelled),
            f"{topic['share']:.1%}",
            f"{topic['share_low']:.1%} to {topic['share_high']:.1%}",
            f"{topic['stability']:.2f}".replace("nan", "–"),
            topic["words"],
        )
        for topic in found.reset_index().to_dict("records")
    ]
    print_table(title, ["topic", *labelled, "share", "90% interval", "stability", "words"], rows[:n_topics])
    if len(rows) > n_topics:
        how = f": {more} {len(rows)}" if more else ""
        say(f"… and {len(rows) - n_topics} smaller ones{how}")


def _records(matched: "MatchedTopics", n_words: int, by: str) -> list[dict[str, Any]]:
    """Topics with tokens, each with its words."""
    from ..diagnostics.topics import ranked_words
    from ..diagnostics.topics import topics as topics_of

    found = topics_of(matched, n_words, by=str(by)).drop(columns="words")
    words: dict[int, list[dict[str, Any]]] = {}
    for word in ranked_words(matched, n_words, by=str(by)).to_dict("records"):
        words.setdefault(word.pop("topic"), []).append({str(name): value for name, value in word.items()})
    return [
        {str(name): value for name, value in topic.items()} | {"words": words[topic["topic"]]}
        for topic in found.reset_index().to_dict("records")
        if topic["tokens"] > 0
    ]
