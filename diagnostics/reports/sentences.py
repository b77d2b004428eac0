"""Pages of documents whose sentences are coloured by topic: subtle topics, and comments on articles."""

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from ...zoo.wording import counted
from ..topics import MatchedTopics, Sentences, comments, match_topics, rank_words, sentence_topics, subtle
from ..topics.documents import document_names
from .fits import check_page
from .pages import WordNumbers, inert_json, rounded, write_explorer

_MOST_FOUND, _TOKENS, _LONGEST, _WORDS, _TOPICS = 400, 60_000, 30_000, 8, 3


class _Find(NamedTuple):
    """Something to look at: a sentence, by its number in the corpus, and perhaps a comment on it."""

    sentence: int
    topic: int | None
    score: float
    about: str
    comment: int | None = None
    parts: np.ndarray | None = None


def write_subtle(
    path: str | Path, fit: xr.DataTree | MatchedTopics, *, least: float = 0.5, most: float = 0.2
) -> None:
    """Write a page on which sentences with a subtle topic can be looked at in their documents.

    As the topic browser, it is at most 500 kB and loads nothing; documents for which there is no room are
    left out with what was found in them, the lowest scores first.

    Parameters
    ----------
    path : path
        The HTML file; replaced where it exists.
    fit : DataTree or MatchedTopics
    least, most : float
        See `subtle`.

    Raises
    ------
    ValueError
        As `subtle` does, or `path` is not the name of a page.
    """
    check_page(path)
    matched = match_topics(fit)
    sentences = Sentences.of(matched.corpus)
    table = subtle(matched, least=least, most=most)
    finds = [
        _Find(
            sentence,
            int(row["topic"]),
            row["score"],
            f"{row['share']:.0%} of the sentence ({row['low']:.0%} to {row['high']:.0%}), "
            f"{row['of_document']:.1%} of the document",
        )
        for sentence, row in zip(table.index, table.to_dict("records"), strict=True)
    ]
    _write(
        path,
        matched,
        sentences,
        finds,
        kind="Subtle topics",
        heading=counted(
            len(finds), "sentence that carries a subtle topic", "sentences that carry a subtle topic"
        ),
        note=f"At least {least:.0%} of the sentence, at most {most:.0%} of its document. The score is how "
        "much likelier the topic is in the sentence than in the document, summed over its tokens (nats).",
    )


def write_specific(
    path: str | Path,
    fit: xr.DataTree | MatchedTopics,
    *,
    article: str = "article",
    comment: str = "is_comment",
) -> None:
    """Write a page on which comments can be looked at beside the parts of the article that they are about.

    Parameters
    ----------
    path : path
        The HTML file; replaced where it exists.
    fit : DataTree or MatchedTopics
    article, comment : str
        Covariates; see `comments`.

    Raises
    ------
    ValueError
        As `comments` does, or `path` is not the name of a page.
    """
    check_page(path)
    matched = match_topics(fit)
    sentences = Sentences.of(matched.corpus)
    found = sorted(comments(matched, article=article, comment=comment), key=lambda each: -each.specificity)
    finds = [
        _Find(
            sentences.first[each.article] + each.sentence,
            None,
            each.specificity,
            f"{each.parts[each.sentence]:.0%} of it goes to this sentence, "
            f"{each.parts.sum():.0%} to the article",
            each.document,
            each.parts,
        )
        for each in found
    ]
    _write(
        path,
        matched,
        sentences,
        finds,
        kind="Specific comments",
        heading=f"{counted(len(finds), 'comment')}, the most specific first",
        note="Specificity is how much narrower than the article the places of a comment's topics are (nats): "
        "0 where they are spread as its words are. Bars beside sentences show how much of the comment goes "
        "there.",
    )


def _write(
    path: str | Path,
    matched: MatchedTopics,
    sentences: Sentences,
    finds: Sequence[_Find],
    *,
    kind: str,
    heading: str,
    note: str,
) -> None:
    corpus = matched.corpus
    shown = _Shown(matched, sentences, finds)
    write_explorer(
        path,
        "sentences",
        matched,
        shown.content,
        styles=("report", "browser", "sentences"),
        kind=kind,
        heading=heading,
        note=note,
        facts={
            "documents": f"{corpus.n_documents:,}",
            "sentences": f"{corpus.n_segments:,}",
            "topics": f"{matched.n_topics:,}",
            "draws matched": f"{len(matched.labels):,}",
        },
    )


class _Shown:
    """What a page can show; `content` chooses from it what it has room for."""

    def __init__(self, matched: MatchedTopics, sentences: Sentences, finds: Sequence[_Find]):
        self.corpus, self.sentences, self.finds = matched.corpus, sentences, finds
        self.names = document_names(matched.corpus)
        self.shares = sentence_topics(matched) / sentences.lengths[:, None]
        self.top = rank_words(matched, _WORDS, by="relevance")

    def content(self, scale: float) -> str:
        """JSON of the page's data, of a size that goes with `scale`."""
        words = WordNumbers()
        documents: dict[int, int] = {}
        chosen = [
            self._find(find, documents, words)
            for find in islice(self._within(scale), int(scale * _MOST_FOUND))
        ]
        content = {
            "finds": chosen,
            "documents": [self._document(d, words) for d in documents],
            "topics": [[words[w] for w in own] for own in self.top],
            "omitted": len(self.finds) - len(chosen),
        }
        return inert_json(content | {"words": self.corpus.vocabulary[words.ids].tolist()})

    def _within(self, scale: float) -> Iterator[_Find]:
        """Yield what was found in documents for which there is room."""
        room, seen = scale * _TOKENS, set()
        for find in self.finds:
            new = {d for d in (self._document_of(find), find.comment) if d is not None} - seen
            length = sum(int(self.corpus.doc_lengths[d]) for d in new)
            if length <= min(room, scale * _LONGEST):
                room -= length
                seen |= new
                yield find

    def _document_of(self, find: _Find) -> int:
        return int(self.sentences.document[find.sentence])

    def _find(self, find: _Find, documents: dict[int, int], words: WordNumbers) -> dict[str, Any]:
        document = self._document_of(find)
        topic = find.topic if find.topic is not None else self._main_topics(find.sentence)[0][0]
        return {
            "document": documents.setdefault(document, len(documents)),
            "sentence": int(self.sentences.number[find.sentence]) - 1,
            "topic": topic,
            "score": rounded(find.score),
            "about": find.about,
            "comment": None if find.comment is None else self._document(find.comment, words),
            "parts": None if find.parts is None else rounded(find.parts),
        }

    def _document(self, d: int, words: WordNumbers) -> dict[str, Any]:
        name = self.names[d]
        here = range(self.sentences.first[d], self.sentences.first[d + 1])
        return {
            "name": name if isinstance(name, str) else f"document {name}",
            "sentences": [
                [[words[w] for w in self.corpus.words[self.sentences.tokens(s)]], self._main_topics(s)]
                for s in here
            ],
        }

    def _main_topics(self, sentence: int) -> list[list[float]]:
        """Largest topics of a sentence and their shares; topic -1 where none is matched."""
        shares = self.shares[sentence]
        large = [k for k in np.argsort(-shares, kind="stable")[:_TOPICS] if shares[k] >= 0.05]
        return [[int(k), rounded(shares[k])] for k in large] or [[-1, 0.0]]
