"""``bnpzoo subtle`` and ``bnpzoo specific``: what the sentences of a fit's documents are about."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .console import check_csv, err, print_json, print_table, say, write_csv
from .inputs import fit_to_show
from .options import Csv, FitFile, Json

if TYPE_CHECKING:
    from pandas import DataFrame

    from ..diagnostics.topics import MatchedTopics

Page = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Write a page here (.html) with the sentences in their documents, coloured by topic.",
        show_default=False,
    ),
]


def subtle(
    fit: FitFile,
    least: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Least share of the sentence that its topic has.")
    ] = 0.5,
    most: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Largest share of the document that it has.")
    ] = 0.2,
    sentences: Annotated[int, typer.Option(min=1, help="Sentences that are shown.")] = 20,
    page: Page = None,
    csv: Csv = None,
    as_json: Json = False,
) -> None:
    """Show which sentences carry a subtle topic, which the rest of their document hardly mentions.

    The score is n log(p / q): n tokens of the sentence have the topic, which is the share p of the sentence
    and the share q of the document. It is high where many tokens are of a topic that is rare elsewhere in
    the document. The fit may be of any model; its corpus must have sentences (`bnpzoo fit --sentences`). They
    are numbered in each document from 1, without those of which no word is in the vocabulary.
    """
    from ..diagnostics.reports.sentences import write_subtle
    from ..diagnostics.topics import subtle as subtle_sentences

    matched = _matched(fit, csv, page)
    found = subtle_sentences(matched, least=least, most=most)
    if page is not None:
        write_subtle(page, matched, least=least, most=most)
        say(f"Wrote {page}", console=err)
    if _keep(found, csv, as_json):
        return
    if found.empty:
        say(f"No topic has {least:.0%} of a sentence or more, and {most:.0%} of its document or less.")
        return
    rows = [
        (
            str(row["document"]),
            row["sentence"],
            row["topic"],
            f"{row['share']:.0%}",
            f"{row['of_document']:.1%}",
            row["score"],
            row["words"],
        )
        for row in found.head(sentences).to_dict("records")
    ]
    print_table(
        f"Sentences of {fit.name} with a subtle topic",
        ["document", "sentence", "topic", "of sentence", "of document", "score", "words"],
        rows,
    )
    _say_more(found, len(rows), "sentences")


def specific(
    fit: FitFile,
    article: Annotated[
        str,
        typer.Option(metavar="COVARIATE", help="What an article and the comments on it have in common."),
    ] = "article",
    comment: Annotated[
        str, typer.Option(metavar="COVARIATE", help="Whether a document is a comment: 1 or 0.")
    ] = "is_comment",
    comments: Annotated[int, typer.Option(min=1, help="Comments that are shown.")] = 20,
    page: Page = None,
    csv: Csv = None,
    as_json: Json = False,
) -> None:
    """Show which comments are specific to a part of their article, and to which sentence.

    Each token of a comment is put to the tokens of the article with its topic. Specificity is how much
    narrower than the article the places are where they meet (Kullback-Leibler divergence, in nats, times
    the share of the comment that meets any): 0 where they are spread as the words of the article are, log 20
    where all is in one sentence of twenty. Articles and comments are documents of one corpus, which must
    have sentences. These are numbered from 1, without those of which no word is in the vocabulary.
    """
    from ..diagnostics.reports.sentences import write_specific
    from ..diagnostics.topics import specific as specific_comments

    matched = _matched(fit, csv, page)
    found = specific_comments(matched, article=article, comment=comment)
    if page is not None:
        write_specific(page, matched, article=article, comment=comment)
        say(f"Wrote {page}", console=err)
    if _keep(found, csv, as_json):
        return
    rows = [
        (
            str(row["comment"]),
            str(row["article"]),
            row["specificity"],
            f"{row['covered']:.0%}",
            row["sentence"],
            f"{row['part']:.0%}",
            row["words"],
        )
        for row in found.head(comments).to_dict("records")
    ]
    print_table(
        f"Comments of {fit.name}, by how specific they are",
        ["comment", "article", "specificity", "covered", "sentence", "part", "words of the sentence"],
        rows,
    )
    _say_more(found, len(rows), "comments")


def _matched(fit: Path, csv: Path | None, page: Path | None) -> "MatchedTopics":
    """Topics of a fit; ValueError for what is not the name of a table or page."""
    from ..diagnostics.reports.fits import check_page
    from ..diagnostics.topics import match_topics

    check_csv(csv)
    if page is not None:
        check_page(page)
    with err.status("matching topics"):
        return match_topics(fit_to_show(fit))


def _keep(found: "DataFrame", csv: Path | None, as_json: bool) -> bool:
    """Write a table, and print it as JSON; return whether that was asked for."""
    if csv is not None:
        write_csv(found, csv)
    if as_json:
        print_json(found.to_dict("records"))
    return as_json


def _say_more(found: "DataFrame", n_shown: int, what: str) -> None:
    if len(found) > n_shown:
        say(f"… and {len(found) - n_shown:,} more {what}: --csv FILE has all of them")
