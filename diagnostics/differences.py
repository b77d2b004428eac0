"""What collections have in common, topic by topic, and what each of them says in its own words."""

from typing import NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from ..zoo.contract import Latents
from ..zoo.corpus import Corpus
from ..zoo.inference.results import ResultsError, corpus_of, latents_of, model_of


class Word(NamedTuple):
    """A word and its probability under a topic."""

    word: str
    probability: float


class Association(NamedTuple):
    """A word of a shared topic that became another one in a group.

    Attributes
    ----------
    source, word : str
    tables : int
        How often, for tables of the topic in the group.
    share : float
        Of all that the source became there, in [0, 1].
    """

    source: str
    word: str
    tables: int
    share: float


class Version(NamedTuple):
    """A topic as one group has it.

    Attributes
    ----------
    group : str
    share : float
        Of the group's tokens.
    words : tuple of Word
        The most probable ones, in falling order.
    divergent : tuple of str
        Words that the group has more of than the others: those that add most to the divergence.
    associations : tuple of Association
        The most frequent ones first; empty where a model has none.
    """

    group: str
    share: float
    words: tuple[Word, ...]
    divergent: tuple[str, ...]
    associations: tuple[Association, ...]


class AlignedTopic(NamedTuple):
    """A topic that groups share, in the version of each.

    Attributes
    ----------
    topic : int
    share : float
        Of all tokens.
    concentration : float
        b_k of the Pitman-Yor models: the larger, the more alike are the versions. NaN elsewhere.
    likeness : float
        One minus the Jensen-Shannon divergence of the versions as a part of its maximum: 1 where they are the
        same, 0 where no word is in two of them.
    pairwise : float (G, G)
        Likeness of the versions of two groups.
    shared : tuple of str
        Words whose smallest probability in any version is largest.
    versions : tuple of Version
        One a group.
    """

    topic: int
    share: float
    concentration: float
    likeness: float
    pairwise: np.ndarray
    shared: tuple[str, ...]
    versions: tuple[Version, ...]


def aligned_topics(tree: xr.DataTree, n_words: int = 10, chain: int = 0) -> list[AlignedTopic]:
    """Topics of a fit side by side in all groups, at the last kept draw of one chain, largest topic first.

    Parameters
    ----------
    tree : DataTree
        As `sample` returns it, with group ``latents``.
    n_words : int
        Most words, and associations, of each list.
    chain : int

    Raises
    ------
    ResultsError
        Groups do not have versions of the same topics, or the fit has no kept draw of this chain.
    """
    model, corpus = model_of(tree), corpus_of(tree)
    if not model.has_versions:
        raise ResultsError(f"{model.card.id}: expected a model whose groups have versions of the same topics")
    if corpus.n_groups == 1:
        raise ResultsError("expected a fit to a corpus of several groups, found one")
    draws = [latents for c, _, latents in latents_of(tree) if c == chain]
    if not draws:
        raise ResultsError(f"chain {chain}: expected a fit with a kept draw of it, found none")
    latents = draws[-1]
    words = model.frozen_topics(latents, corpus).words
    n_groups, n_topics = words.shape[:2]
    tokens = np.zeros((n_groups, n_topics))
    np.add.at(tokens, (corpus.group_of_doc[corpus.doc_of], latents["z"]), 1)
    concentration = latents.get("b", np.full(n_topics, np.nan))
    return [
        AlignedTopic(
            topic=int(k),
            share=float(tokens[:, k].sum() / corpus.n_tokens),
            concentration=float(concentration[k]),
            likeness=likeness(words[:, k]),
            pairwise=np.array(
                [[likeness(words[[g, h], k]) for h in range(n_groups)] for g in range(n_groups)]
            ),
            shared=_names(corpus, words[:, k].min(axis=0), n_words),
            versions=_versions(words[:, k], tokens, int(k), latents, corpus, n_words),
        )
        for k in np.argsort(-tokens.sum(axis=0), kind="stable")
        if tokens[:, k].any()
    ]


def _versions(
    words: np.ndarray, tokens: np.ndarray, topic: int, latents: Latents, corpus: Corpus, n_words: int
) -> tuple[Version, ...]:
    share = tokens[:, topic] / np.maximum(tokens.sum(axis=1), 1.0)
    divergence, group_names = _divergence(words), corpus.group_names
    assert group_names is not None
    return tuple(
        Version(
            group=str(group_names[g]),
            share=float(share[g]),
            words=tuple(
                Word(str(corpus.vocabulary[w]), float(words[g, w])) for w in _largest(words[g], n_words)
            ),
            divergent=_names(corpus, divergence[g], n_words),
            associations=_associations(latents, corpus, g, topic, n_words),
        )
        for g in range(len(words))
    )


def _associations(
    latents: Latents, corpus: Corpus, group: int, topic: int, most: int
) -> tuple[Association, ...]:
    """Pairs of different words at the tables of a topic in a group."""
    if "association" not in latents:
        return ()
    source = latents["association"]
    mine = (corpus.group_of_doc[corpus.doc_of] == group) & (latents["z"] == topic) & (source >= 0)
    pairs, tables = np.unique(np.column_stack([source[mine], corpus.words[mine]]), axis=0, return_counts=True)
    of_source = np.bincount(source[mine], minlength=corpus.n_words)
    chosen = [j for j in np.argsort(-tables, kind="stable") if pairs[j, 0] != pairs[j, 1]]
    return tuple(
        Association(
            str(corpus.vocabulary[v]),
            str(corpus.vocabulary[w]),
            int(tables[j]),
            float(tables[j] / of_source[v]),
        )
        for j in chosen[:most]
        for v, w in [pairs[j]]
    )


def likeness(versions: np.ndarray) -> float:
    """One minus the Jensen-Shannon divergence of distributions (G, V), as a part of its maximum log G."""
    return float(1.0 - np.mean(_divergence(versions).sum(axis=1)) / np.log(len(versions)))


def _divergence(versions: np.ndarray) -> np.ndarray:
    """Part of each word in the divergence of each version from their mean, float (G, V)."""
    mean = versions.mean(axis=0)
    ratio = np.divide(versions, mean, out=np.ones_like(versions), where=versions > 0)
    return versions * np.log(ratio)


def _largest(values: np.ndarray, n: int) -> np.ndarray:
    """Ids of the `n` largest positive values, in falling order."""
    order = np.argsort(-values, kind="stable")[:n]
    return order[values[order] > 0]


def _names(corpus: Corpus, values: np.ndarray, n: int) -> tuple[str, ...]:
    return tuple(corpus.vocabulary[_largest(values, n)].tolist())


def as_table(topics: list[AlignedTopic]) -> pd.DataFrame:
    """Table of aligned topics, a row a topic and group; words are separated by spaces.

    Columns: ``topic``, ``group``, ``share`` of the group's tokens, ``concentration``, ``likeness``,
    ``words``, ``shared``, ``divergent``, and ``associations`` as ``source>word``.
    """
    return pd.DataFrame(
        [
            {
                "topic": topic.topic,
                "group": version.group,
                "share": version.share,
                "concentration": topic.concentration,
                "likeness": topic.likeness,
                "words": " ".join(word.word for word in version.words),
                "shared": " ".join(topic.shared),
                "divergent": " ".join(version.divergent),
                "associations": " ".join(f"{a.source}>{a.word}" for a in version.associations),
            }
            for topic in topics
            for version in topic.versions
        ]
    )
