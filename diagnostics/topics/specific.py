"""Comments that are about some part of an article."""

from typing import NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from ...zoo.corpus import Corpus, CorpusError
from .documents import document_names
from .matching import MatchedTopics, match_topics
from .sentences import Sentences


class Comment(NamedTuple):
    """A comment, and where in its article its topics stand.

    Attributes
    ----------
    document, article : int
        Documents of the corpus.
    parts : float (S,)
        For each sentence of the article: the probability that a token of the comment, at random, meets there
        when it is put to a token of the article with its topic, at random. What is missing from a sum of 1 is
        of topics that the article lacks.
    contributions : float (S,)
        Terms of the specificity.
    """

    document: int
    article: int
    parts: np.ndarray
    contributions: np.ndarray

    @property
    def specificity(self) -> float:
        """Specificity of the comment, in nats; 0 where its topics stand evenly all over the article."""
        return max(0.0, float(self.contributions.sum()))  # which rounding may leave below 0

    @property
    def sentence(self) -> int:
        """Sentence that it is about first of all: that of the largest contribution, from 0."""
        return int(self.contributions.argmax())


def comments(
    fit: xr.DataTree | MatchedTopics, *, article: str = "article", comment: str = "is_comment"
) -> list[Comment]:
    """Comments, and what parts of their articles they are about [1]_ [2]_.

    The specificity of a comment is ``sum_s m_s log(m_s / (m l_s))``, where m_s are its `Comment.parts`, means
    over kept draws, m is their sum, and l_s is the share of the article's tokens that sentence s has: m times
    the Kullback-Leibler divergence of where its topics stand from where any token stands. A comment of which
    all is about one sentence of twenty of equal lengths has log 20, one about all of them alike 0. No
    matching of topics between draws is needed. The papers do not say how they score comments: this is ours.

    Parameters
    ----------
    fit : DataTree or MatchedTopics
        Of any model, to a corpus with sentences in which articles and comments are documents.
    article : str
        Covariate, of whole numbers or text, that an article and the comments on it have in common.
    comment : str
        Covariate that says whether a document is a comment.

    Returns
    -------
    list of Comment
        In the order of the corpus, without those that have no token, or whose article has none.

    Raises
    ------
    CorpusError
        The corpus has no sentences or no such covariates, or a comment has no article, or several.

    References
    ----------
    .. [1] M. Das, T. Bansal, C. Bhattacharyya (2014). Going beyond Corr-LDA for detecting specific comments
       on news & blogs. WSDM.
    .. [2] M. Das, C. Bhattacharyya. Weight-agnostic hierarchical stick-breaking process. Section IV,
       Table III.
    """
    matched = match_topics(fit)
    corpus = matched.corpus
    sentences = Sentences.of(corpus)
    pairs = [pair for pair in _pairs(corpus, article, comment) if np.all(corpus.doc_lengths[list(pair)] > 0)]
    total = [np.zeros(sentences.first[a + 1] - sentences.first[a]) for _, a in pairs]
    for _, z in matched.draws():
        for parts, (c, a) in zip(total, pairs, strict=True):
            parts += _parts(corpus, z, c, a)
    found = []
    for parts, (c, a) in zip(total, pairs, strict=True):
        parts /= len(matched.labels)
        lengths = sentences.lengths[sentences.first[a] : sentences.first[a + 1]]
        evenly = parts.sum() * lengths / lengths.sum()
        lift = np.divide(parts, evenly, out=np.ones(parts.size), where=parts > 0)
        found.append(Comment(c, a, parts, parts * np.log(lift)))
    return found


def _pairs(corpus: Corpus, article: str, comment: str) -> list[tuple[int, int]]:
    """Comments, each with its article."""
    is_comment = corpus.flag(comment)
    grouped = corpus.grouped(article)
    of_article = grouped.group_of_doc
    articles: dict[int, list[int]] = {}
    for d in np.flatnonzero(~is_comment).tolist():
        articles.setdefault(int(of_article[d]), []).append(d)
    pairs = []
    for c in np.flatnonzero(is_comment).tolist():
        own = articles.get(int(of_article[c]), [])
        if len(own) != 1:
            name = grouped.group_names[of_article[c]]  # type: ignore[index]
            raise CorpusError(
                f"covariates[{article!r}]: {name}: expected one document that is no comment, found {len(own)}"
            )
        pairs.append((c, own[0]))
    return pairs


def _parts(corpus: Corpus, z: np.ndarray, comment: int, article: int) -> np.ndarray:
    """`Comment.parts` at one draw of topics (N,)."""
    here = slice(corpus.doc_ptr[comment], corpus.doc_ptr[comment + 1])
    there = slice(corpus.doc_ptr[article], corpus.doc_ptr[article + 1])
    n_topics = int(max(z[here].max(), z[there].max())) + 1
    wanted = np.bincount(z[here], minlength=n_topics) / (here.stop - here.start)
    held = np.bincount(z[there], minlength=n_topics)
    sentence = corpus.segment_of[there]
    return np.bincount(sentence - sentence[0], weights=(wanted / np.maximum(held, 1))[z[there]])


def specific(
    fit: xr.DataTree | MatchedTopics, *, article: str = "article", comment: str = "is_comment"
) -> pd.DataFrame:
    """Comments, those that are most specific to a part of their article first; see `comments`.

    Returns
    -------
    DataFrame
        A row a comment, by falling ``specificity``: ``comment`` and ``article``; ``covered``, the share of
        the comment whose topics the article has; ``sentence``, from 1, that it is about first of all, and
        ``part`` of the comment that goes there; ``tokens`` of the comment; and ``words`` of the sentence.
    """
    matched = match_topics(fit)
    sentences, names = Sentences.of(matched.corpus), document_names(matched.corpus)
    found = sorted(comments(matched, article=article, comment=comment), key=lambda each: -each.specificity)
    rows = [
        {
            "comment": names[each.document],
            "article": names[each.article],
            "specificity": each.specificity,
            "covered": each.parts.sum(),
            "sentence": each.sentence + 1,
            "part": each.parts[each.sentence],
            "tokens": matched.corpus.doc_lengths[each.document],
            "words": sentences.words(sentences.first[each.article] + each.sentence),
        }
        for each in found
    ]
    columns = ["comment", "article", "specificity", "covered", "sentence", "part", "tokens", "words"]
    return pd.DataFrame(rows, columns=columns)
