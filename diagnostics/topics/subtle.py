"""Sentences that are about a topic which is rare in their document."""

import numpy as np
import pandas as pd
import xarray as xr

from .documents import document_names
from .matching import MatchedTopics, match_topics
from .sentences import Sentences, sentence_topics
from .summaries import tails


def subtle(
    fit: xr.DataTree | MatchedTopics, *, least: float = 0.5, most: float = 0.2, interval: float = 0.9
) -> pd.DataFrame:
    """Sentences that carry a subtle topic, which the rest of their document hardly mentions [1]_ [2]_.

    The score of topic k in sentence s of document d is ``n_sk log((n_sk / n_s) / (n_dk / n_d))``, in nats,
    where n counts tokens; those of a topic are means over kept draws. So much likelier are its tokens under
    the sentence's own share of the topic than under the document's. It is high where many tokens are of a
    topic that the rest of the document lacks, and low for a sentence of one word. The papers have no score:
    this one is ours, and so are the two limits.

    Parameters
    ----------
    fit : DataTree or MatchedTopics
        Of any model, to a corpus with sentences.
    least : float
        Least share of the sentence that its topic has.
    most : float
        Largest share of the document that a subtle topic has.
    interval : float
        Posterior probability of the intervals.

    Returns
    -------
    DataFrame
        A row a sentence and topic, by falling score; the index has the sentence's number in the corpus.
        Columns ``document``; ``sentence``, its number there from 1; ``topic``; ``share`` of the sentence,
        with interval ``low`` to ``high``; ``of_document``, its share there; ``score``; ``tokens`` of the
        sentence, and its ``words``.

    Raises
    ------
    CorpusError
        The corpus has no sentences.
    ValueError
        A limit is not a share.

    References
    ----------
    .. [1] M. Das, S. Bhattacharya, C. Bhattacharyya, K. Gopinath (2013). Subtle topic models and discovering
       subtly manifested software concerns automatically. ICML.
    .. [2] M. Das, C. Bhattacharyya. Weight-agnostic hierarchical stick-breaking process. Section IV,
       Figure 3.
    """
    for name, value in (("least", least), ("most", most)):
        if not 0.0 <= value <= 1.0:
            raise ValueError(f"{name}: expected a share from 0 to 1, found {value}")
    matched = match_topics(fit)
    corpus = matched.corpus
    sentences, counts = Sentences.of(corpus), sentence_topics(matched)
    in_document = np.zeros((corpus.n_documents, matched.n_topics))
    np.add.at(in_document, sentences.document, counts)
    share = counts / sentences.lengths[:, None]
    of_document = (in_document / np.maximum(corpus.doc_lengths, 1)[:, None])[sentences.document]
    s, k = np.nonzero((counts > 0) & (share >= least) & (of_document <= most))
    score = counts[s, k] * np.log(share[s, k] / of_document[s, k])
    order = np.argsort(-score, kind="stable")
    s, k, score = s[order], k[order], score[order]
    drawn = [(matched.assigned[:, sentences.tokens(i)] == j).mean(axis=1) for i, j in zip(s, k, strict=True)]
    low, high = np.quantile(np.reshape(drawn, (s.size, len(matched.labels))), tails(interval), axis=1)
    return pd.DataFrame(
        {
            "document": document_names(corpus).to_numpy()[sentences.document[s]],
            "sentence": sentences.number[s],
            "topic": k,
            "share": share[s, k],
            "low": low,
            "high": high,
            "of_document": of_document[s, k],
            "score": score,
            "tokens": sentences.lengths[s],
            "words": [sentences.words(i) for i in s],
        },
        index=pd.Index(s, name="sentence of the corpus"),
    )
