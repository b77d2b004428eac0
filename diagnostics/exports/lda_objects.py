"""Topics of a fit as a fitted LDA of scikit-learn or gensim: posterior means, without their uncertainty."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import xarray as xr
from scipy.special import digamma
from sklearn.decomposition import LatentDirichletAllocation

from ...zoo.inference.results import latents_of
from ...zoo.memory import require_memory
from ..topics import MatchedTopics, match_topics

if TYPE_CHECKING:
    from gensim.models import LdaModel


class _Means(NamedTuple):
    """Posterior means.

    Attributes
    ----------
    counts : float (K, V)
        Tokens of each word in each topic.
    eta : float
        Dirichlet parameter of a topic, a word; 1 / V where topics are not Dirichlet.
    alpha : float (K,)
        Prior weight of each topic in a document; the mean over groups where these differ.
    """

    counts: np.ndarray
    eta: float
    alpha: np.ndarray


def to_sklearn(fit: xr.DataTree | MatchedTopics) -> LatentDirichletAllocation:
    """Topics of a fit as scikit-learn's estimator, as if it had been fitted.

    Its ``components_`` are pseudo-counts, expected counts and eta; its prior of documents has one parameter
    for all topics, their mean. What it does with new documents is its own variational approximation;
    `bnpzoo.sklearn` has estimators that draw.
    """
    matched = match_topics(fit)
    means = _means(matched)
    n_topics, n_words = means.counts.shape
    # What its own `fit` would have set; a single document makes all of it, and is then forgotten.
    lda = LatentDirichletAllocation(n_topics, max_iter=1, random_state=0).fit(np.ones((1, n_words)))
    alpha = float(means.alpha.mean())  # which `fit` would refuse above 1, as it would an eta
    lda.set_params(max_iter=10, doc_topic_prior=alpha, topic_word_prior=means.eta)
    lda.doc_topic_prior_, lda.topic_word_prior_ = alpha, means.eta
    lda.components_ = means.counts + means.eta
    lda.exp_dirichlet_component_ = np.exp(_dirichlet_expectation(lda.components_))
    return lda


def to_gensim(fit: xr.DataTree | MatchedTopics) -> "LdaModel":
    """Topics of a fit as gensim's model, as if it had been trained.

    Raises
    ------
    ValueError
        gensim is not installed.
    """
    try:
        from gensim.models import LdaModel
    except ImportError:
        raise ValueError("expected gensim, which is not installed: pip install gensim") from None
    matched = match_topics(fit)
    means = _means(matched)
    make: Any = LdaModel  # its annotations are narrower than what it takes
    lda = make(
        id2word=dict(enumerate(matched.corpus.vocabulary.tolist())),
        num_topics=len(means.counts),
        alpha=means.alpha,
        eta=means.eta,
        dtype=np.float64,
        random_state=0,
    )
    lda.state.sstats = means.counts
    lda.sync_state()
    return lda


def _means(matched: MatchedTopics) -> _Means:
    shape = (matched.n_topics, matched.corpus.n_words)
    require_memory(8 * int(np.prod(shape)), f"{shape[0]:,} topics of {shape[1]:,} words")
    counts = np.zeros(shape)
    for z in matched.assigned:
        known = z >= 0
        np.add.at(counts, (z[known], matched.corpus.words[known]), 1.0)
    alpha, found = np.zeros(shape[0]), np.zeros(shape[0])
    for labels, _, frozen in matched.frozen():
        is_known = labels >= 0
        alpha[labels[is_known]] += frozen.prior[:, : labels.size].mean(axis=0)[is_known]
        found[labels[is_known]] += 1.0
    etas = [latents["eta"] for _, _, latents in latents_of(matched.fit) if "eta" in latents]
    eta = float(np.mean(etas)) if etas else 1.0 / shape[1]
    least = np.finfo(float).tiny
    return _Means(counts / len(matched.assigned), eta, np.maximum(alpha / np.maximum(found, 1.0), least))


def _dirichlet_expectation(parameters: np.ndarray) -> np.ndarray:
    """Mean logarithm of Dirichlet weights, a row each."""
    return digamma(parameters) - digamma(parameters.sum(axis=1, keepdims=True))
