"""Topics of a fit as pyLDAvis takes them."""

from typing import Any

import numpy as np
import xarray as xr

from ..topics import MatchedTopics, documents, match_topics
from ..topics.summaries import word_probabilities


def to_pyldavis(fit: xr.DataTree | MatchedTopics) -> dict[str, Any]:
    """Arguments of ``pyLDAvis.prepare``, by name: posterior means of topics and documents, and the counts.

    Topics keep their numbers by ``pyLDAvis.prepare(**arguments, sort_topics=False, start_index=0)``.
    With NumPy 2.5 and later pyLDAvis 3.4.1 needs ``mds="mmds"`` as well: its default layout is complex there.
    Proportions of a document are scaled to a sum of 1, and documents without tokens are left out.
    """
    matched = match_topics(fit)
    corpus = matched.corpus
    filled = corpus.doc_lengths > 0
    proportions = documents(matched).mean.to_numpy()[filled]
    return {
        "topic_term_dists": word_probabilities(matched),
        "doc_topic_dists": proportions / proportions.sum(axis=1, keepdims=True),
        "doc_lengths": corpus.doc_lengths[filled],
        "vocab": corpus.vocabulary,
        "term_frequency": np.bincount(corpus.words, minlength=corpus.n_words),
    }
