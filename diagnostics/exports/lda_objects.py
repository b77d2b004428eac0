"""Topics of a fit as a fitted LDA of scikit-learn or gensim: posterior means, without their uncertainty."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import xarray as xr
from scipy.special import digamma
from sklearn.decomposition import LatentDirichletAllocation

from ...zoo.inference.results import latents_of
from ...zoo.memory import require_memory
from ..topics import MatchedTopics, match_topics
from ..topics.summaries import word_probabilities

if TYPE_CHECKING:
    from gensim.models import LdaModel


class _Means(NamedTuple):
    """Posterior means.

    Attributes
    ----------
    parameters : float (K, V)
        Of Dirichlet distributions of words whose means are those of the topics: tokens, and what the prior
        adds to them.
    eta : float
        What the prior adds to all words of all topics.
    alpha : float (K,)
        Prior weight of each topic in a document; the mean over groups where these differ.
    """

    parameters: np.ndarray
    eta: float
    alpha: np.ndarray


def to_sklearn(fit: xr.DataTree | MatchedTopics) -> LatentDirichletAllocation:
    """Topics of a fit as scikit-learn's estimator, as if it had been fitted.

    Its ``components_`` are pseudo-counts, tokens and what the prior adds to them; its prior of documents has
    one parameter for all topics, their mean. What it does with new documents is its own variational
    approximation; `bnpzoo.sklearn` has estimators that draw.
    """
    matched = match_topics(fit)
    means = _means(matched)
    n_topics, n_words = means.parameters.shape
    # What its own `fit` would have set; a single document makes all of it, and is then forgotten.
    lda = LatentDirichletAllocation(n_topics, max_iter=1, random_state=0).fit(np.ones((1, n_words)))
    alpha = float(means.alpha.mean())  # which `fit` would refuse above 1, as it would an eta
    lda.set_params(max_iter=10, doc_topic_prior=alpha, topic_word_prior=means.eta)
    lda.doc_topic_prior_, lda.topic_word_prior_ = alpha, means.eta
    lda.components_ = means.parameters
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
        num_topics=len(means.parameters),
        alpha=means.alpha,
        eta=means.eta,
        dtype=np.float64,
        random_state=0,
    )
    lda.state.sstats = means.parameters - means.eta
    lda.sync_state()
    return lda


def _means(matched: MatchedTopics) -> _Means:
    n_topics, n_words = matched.n_topics, matched.corpus.n_words
    require_memory(8 * n_topics * n_words, f"{n_topics:,} topics of {n_words:,} words")
    etas = [float(latents.get("eta", 1.0 / n_words)) for _, _, latents in latents_of(matched.fit)]
    alpha, total = np.zeros(n_topics), np.zeros(n_topics)
    for sizes, eta, (labels, _, frozen) in zip(matched.sizes, etas, matched.frozen(), strict=True):
        is_known = labels >= 0
        own = labels[is_known]
        alpha[own] += frozen.prior[:, : labels.size].mean(axis=0)[is_known]
        if frozen.concentration is None:
            total[own] += sizes[own] + n_words * eta
        else:
            total[own] += frozen.concentration[: labels.size][is_known]
    n_found, least = matched.found.sum(axis=0), np.finfo(float).tiny
    parameters = np.maximum(word_probabilities(matched) * (total / n_found)[:, None], least)
    return _Means(parameters, float(min(np.mean(etas), parameters.min())), np.maximum(alpha / n_found, least))


def _dirichlet_expectation(parameters: np.ndarray) -> np.ndarray:
    """Mean logarithm of Dirichlet weights, a row each."""
    return digamma(parameters) - digamma(parameters.sum(axis=1, keepdims=True))
