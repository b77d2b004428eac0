"""Where chains start: with few topics, with many, or where an earlier fit ended.

Chains that start at one place can agree long before they are anywhere near the posterior. Where the number of
topics is free, they start with few and with many by default, so that R-hat says something.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import numpy as np
import xarray as xr

from ..contract import Latents, Model
from ..corpus import Corpus
from .checkpoint import digest_of
from .fits import SUFFIXES, load
from .results import corpus_of, latents_of, model_of

type Start = str | PathLike[str] | xr.DataTree
"""What `sample` takes: ``"seated"``, ``"one"``, ``"documents"``, ``"random:K"``, or a fit or its file."""

MOST_TOPICS = 2000
"""Of a start with a topic a document; where there are more documents, neighbours share one."""

EXPECTED = "seated, one, documents, random:K or the file of a fit"


@dataclass(frozen=True)
class StartingPoint:
    """A start, ready for chains of one model and corpus.

    Attributes
    ----------
    name : str
        The same for the same start.
    latents : (rng, chain) -> Latents
    """

    name: str
    latents: Callable[[np.random.Generator, int], Latents]


def starting_points(
    start: Start | Sequence[Start] | None, model: Model, corpus: Corpus
) -> list[StartingPoint]:
    """Find the starting points that the chains take in turn.

    Parameters
    ----------
    start : Start or sequence of Start, optional
        A text may name several, with commas between them; those of the model unless given.
    model : Model
    corpus : Corpus

    Raises
    ------
    ValueError
        There is no such start, the model's chains cannot start there, or a fit is of no use for it.
    """
    chosen = model.default_starts if start is None else start
    if isinstance(chosen, str):
        chosen = names_of(chosen)
    elif not isinstance(chosen, Sequence):
        chosen = [chosen]
    if not chosen:
        raise ValueError(f"start: expected {EXPECTED}, found nothing")
    return [_starting_point(one, model, corpus) for one in chosen]


def names_of(text: str) -> list[str]:
    """Find the starts that a text names, with commas between them; a fit's own name may have one."""
    is_one = Path(text).suffix in SUFFIXES and Path(text).exists()
    return [text] if is_one else [name.strip() for name in text.split(",")]


def _starting_point(start: Start, model: Model, corpus: Corpus) -> StartingPoint:
    if isinstance(start, xr.DataTree):
        return _warm(start, "the fit", model, corpus)
    if not isinstance(start, str | PathLike):
        raise ValueError(f"start: expected {EXPECTED}, found {start!r}")
    text = os.fspath(start).strip()
    if text == "seated":
        return StartingPoint(text, lambda rng, chain: model.initial_latents(corpus, rng))
    if text == "one":
        return _at(text, lambda rng: np.zeros(corpus.n_tokens, np.int64), model, corpus)
    if text == "documents":
        return _at(text, lambda rng: _topic_a_document(corpus), model, corpus)
    kind, _, n_topics = text.partition(":")
    if kind == "random":
        if not (n_topics.isdecimal() and 1 <= int(n_topics) <= corpus.n_tokens):
            raise ValueError(
                f"start: random:K: expected a number of topics from 1 to {corpus.n_tokens:,}, found {text!r}"
            )
        k = int(n_topics)
        return _at(text, lambda rng: rng.integers(k, size=corpus.n_tokens), model, corpus)
    if Path(text).suffix not in SUFFIXES:
        raise ValueError(f"start: expected {EXPECTED}, found {text!r}")
    return _warm(load(text), text, model, corpus)


def _at(
    name: str, labels: Callable[[np.random.Generator], np.ndarray], model: Model, corpus: Corpus
) -> StartingPoint:
    model.check_start()
    return StartingPoint(name, lambda rng, chain: model.start_at(labels(rng), corpus, rng))


def _topic_a_document(corpus: Corpus) -> np.ndarray:
    """Label of each token, int (N,): its document's, among those that are not empty."""
    filled = corpus.doc_lengths > 0
    number, n_filled = np.cumsum(filled) - 1, np.count_nonzero(filled)
    return (number * min(n_filled, MOST_TOPICS) // n_filled)[corpus.doc_of]


def _warm(tree: xr.DataTree, name: str, model: Model, corpus: Corpus) -> StartingPoint:
    """Start at the last latents that a fit has kept, of one of its chains a chain.

    Of another model's fit only the topics of the tokens are taken, the largest first.
    """
    earlier, hyper = model_of(tree), model.hyperparameters()
    is_other = earlier.card.id != model.card.id
    if is_other:
        model.check_start()
    else:
        there = earlier.spelled()
        for what, here in model.spelled().items():
            if what not in hyper and there.get(what) != here:
                raise ValueError(f"start: {name}: expected a fit with {what} {here}, found {there.get(what)}")
    by_chain: dict[int, list[Latents]] = {}
    for number, _, kept in latents_of(tree):
        by_chain.setdefault(number, []).insert(0, kept)
    if not by_chain:
        raise ValueError(f"start: {name}: expected a fit that holds latents, found none (keep=0)")
    before = corpus_of(tree)  # its digest says nothing of groups without documents
    same = tree.attrs["corpus_sha256"] == corpus.digest() and before.n_groups == corpus.n_groups
    place = np.arange(corpus.n_tokens) if same else _tokens_found(before, corpus, name)
    chains = list(by_chain.values())

    def latents(rng: np.random.Generator, chain: int) -> Latents:
        kept = chains[chain % len(chains)]
        found = kept[min(chain // len(chains), len(kept) - 1)]
        if is_other:
            labels = _largest_first(found["z"])
            labels = labels if same else _grown_labels(labels, place, corpus, rng)
            return model.start_at(labels, corpus, rng)
        found = found if same else _grown(found, place, model, corpus, rng)
        fixed = {k: v for k, v in model.hyperparameters().items() if k not in model.sampled()}
        return found | {k: np.full(np.shape(found[k]), v, float) for k, v in fixed.items()}

    used = {
        f"{c}.{j}.{what}": value
        for c, of in enumerate(chains)
        for j, one in enumerate(of)
        for what, value in one.items()
    } | {"corpus": np.array([earlier.card.id, before.digest(), str(before.n_groups)])}
    return StartingPoint(f"fit {digest_of(used)[:12]}", latents)


def _tokens_found(old: Corpus, new: Corpus, name: str) -> np.ndarray:
    """Token of the old corpus for each token of the new one, int (N,); -1 where its document is new.

    Documents are told by their words, whatever their order.
    """
    number = {word: w for w, word in enumerate(new.vocabulary.tolist())}
    words = np.array([number.get(word, -1) for word in old.vocabulary.tolist()], np.int64)[old.words]
    known: dict[bytes, list[np.ndarray]] = {}
    for d in range(old.n_documents):
        tokens = np.arange(old.doc_ptr[d], old.doc_ptr[d + 1])
        tokens = tokens[np.argsort(words[tokens], kind="stable")]
        known.setdefault(words[tokens].tobytes(), []).append(tokens)
    out = np.full(new.n_tokens, -1)
    for d in range(new.n_documents):
        tokens = np.arange(new.doc_ptr[d], new.doc_ptr[d + 1])
        tokens = tokens[np.argsort(new.words[tokens], kind="stable")]
        same = known.get(new.words[tokens].astype(np.int64).tobytes())
        if same and tokens.size:
            out[tokens] = same.pop()
    if np.all(out < 0):
        raise ValueError(
            f"start: {name}: expected a fit of this corpus, or of some of its documents; it has none of them"
        )
    return out


def _grown(
    old: Latents, place: np.ndarray, model: Model, corpus: Corpus, rng: np.random.Generator
) -> Latents:
    """Latents of a corpus that has grown."""
    latents = model.start_at(_grown_labels(old["z"], place, corpus, rng), corpus, rng)
    kept = {k for k in model.hyperparameters() if np.shape(old[k]) == np.shape(latents[k])}
    return latents | {k: np.array(old[k]) for k in kept}


def _grown_labels(z: np.ndarray, place: np.ndarray, corpus: Corpus, rng: np.random.Generator) -> np.ndarray:
    """Topics of a corpus that has grown: new tokens take those of old ones, of their word if there are."""
    is_old = place >= 0
    labels = np.empty(corpus.n_tokens, np.int64)
    labels[is_old] = z[place[is_old]]
    by_word = np.flatnonzero(is_old)[np.argsort(corpus.words[is_old], kind="stable")]
    count = np.bincount(corpus.words[is_old], minlength=corpus.n_words)
    begin = np.cumsum(count) - count
    word = corpus.words[~is_old]
    begin, count = np.where(count > 0, [begin, count], [[0], [by_word.size]])[:, word]
    labels[~is_old] = labels[by_word[begin + (rng.random(word.size) * count).astype(np.int64)]]
    return labels


def _largest_first(z: np.ndarray) -> np.ndarray:
    """Renumber topics by their tokens."""
    rank = np.argsort(np.argsort(-np.bincount(z), kind="stable"), kind="stable")
    return rank[z]


def n_tokens_known(tree: xr.DataTree, corpus: Corpus) -> int:
    """Return how many tokens of a corpus are in documents of a fit, whose topics they begin with.

    Raises
    ------
    ValueError
        None is.
    """
    old = corpus_of(tree)
    same = old.digest() == corpus.digest()
    return corpus.n_tokens if same else int(np.count_nonzero(_tokens_found(old, corpus, "the fit") >= 0))


def n_topics_of_fit(tree: xr.DataTree) -> int:
    """Return the number of topics of a fit: that of its model, or the median of those with tokens.

    Raises
    ------
    ValueError
        It holds no latents.
    """
    given = model_of(tree).spelled().get("n_topics")
    if given:  # not where 0 stands for no limit
        return int(given)
    found = [np.unique(latents["z"]).size for _, _, latents in latents_of(tree)]
    if not found:
        raise ValueError("expected a fit that holds latents, found none (keep=0)")
    return int(np.median(found))
