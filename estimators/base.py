"""The estimator behind those of all models."""

import tempfile
from collections.abc import Mapping
from numbers import Integral
from pathlib import Path
from typing import Any, override

import numpy as np
import pandas as pd
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from ..diagnostics.heldout import HeldOut
from ..diagnostics.heldout.usual import usual_score
from ..diagnostics.topics import match_topics, transform
from ..diagnostics.topics.summaries import Summary, word_probabilities
from ..zoo.arguments import whole_number
from ..zoo.contract import Model
from ..zoo.corpus import Corpus
from ..zoo.formats import from_counts
from ..zoo.inference import load, sample, save
from ..zoo.models import get


class TopicModel(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """A model of the zoo as an estimator: counts of words in, proportions of topics out.

    Parameters
    ----------
    model : str
        A model of the registry.
    settings : mapping of str to value, optional
        Its settings, as `bnpzoo.get` takes them.
    chains, tune, draws, thin, keep, variant
        As `bnpzoo.sample` takes them.
    n_jobs : int, optional
        Threads that chains run in; as many as cores by default, and for -1, and one fewer for -2, as in
        scikit-learn. It does not change the draws.
    random_state : int, RandomState or None
        An int gives the same draws each time, to the last bit: those of ``bnpzoo.sample(seed=...)``.

    Attributes
    ----------
    fit_ : DataTree
        The draws, for everything else that the package does with a fit; `bnpzoo.save` writes them.
    matched_ : MatchedTopics
        Topics under one numbering over all chains and kept draws, the largest first.
    components_ : float (K, V)
        Posterior mean word distribution of each topic. Rows add up to 1: they are probabilities, where
        scikit-learn's own LDA has pseudo-counts.
    n_features_in_ : int
    feature_names_in_ : str (V,)
        Where the counts were a DataFrame.

    Notes
    -----
    `y` is ignored throughout. Groups of documents are metadata: ``fit(X, groups=...)``, and in a `Pipeline`
    or a search ``set_fit_request(groups=True)`` with metadata routing on.

    A pickle of a fitted estimator holds its draws as netCDF, which is checked on its way back as every fit
    from a file is. The package itself never unpickles anything; prefer
    ``bnpzoo.save(estimator.fit_, "fit.nc")``.
    """

    def __init__(
        self,
        model: str = "hdp",
        *,
        settings: Mapping[str, Any] | None = None,
        chains: int = 4,
        tune: int = 500,
        draws: int = 500,
        thin: int = 1,
        keep: int = 10,
        variant: str | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ):
        self.model = model
        self.settings = settings
        self.chains = chains
        self.tune = tune
        self.draws = draws
        self.thin = thin
        self.keep = keep
        self.variant = variant
        self.n_jobs = n_jobs
        self.random_state = random_state

    def make_model(self) -> Model:
        """Return the model that it fits."""
        return get(self.model, **(self.settings or {}))

    def fit(self, X: Any, y: Any = None, *, groups: Any = None) -> "TopicModel":
        """Draw from the posterior.

        Parameters
        ----------
        X : array or sparse matrix (D, V)
            How often each document has each word: whole numbers, of any dtype but bool.
        y : ignored
        groups : sequence (D,), optional
            Group of each document, by any labels; for models of several groups, and for those of labels or
            responses, to which the groups are categories.

        Raises
        ------
        ValueError
            Counts that are negative or no whole numbers, a document without a group, or an argument out of
            range.
        """
        whole_number("keep", self.keep, 1)
        model = self.make_model()
        for of_earlier_fit in ("fit_", "matched_"):  # this one may fail after the features are counted anew
            vars(self).pop(of_earlier_fit, None)
        corpus = self._corpus(X, groups, reset=True)
        self.fit_ = sample(
            model, corpus, variant=self.variant, chains=self.chains, tune=self.tune,
            draws=self.draws, thin=self.thin, keep=self.keep, seed=self._seed(), partial=False,
            workers=None if self.n_jobs is None else effective_n_jobs(self.n_jobs),
        )  # fmt: skip
        self.matched_ = match_topics(self.fit_)
        return self

    def transform(self, X: Any, *, groups: Any = None) -> np.ndarray:
        """Topic proportions of documents, posterior means, float (D, K).

        A document gets the same proportions whatever stands beside it. A row adds up to less than 1 by the
        probability of topics that the fit has not seen, or not often enough to number them.
        """
        return self.proportions(X, groups=groups).mean.to_numpy()

    @override
    def fit_transform(self, X: Any, y: Any = None, *, groups: Any = None) -> np.ndarray:  # type: ignore[override]
        """Fit, and return the topic proportions of the same documents as `transform` has them."""
        return self.fit(X, y, groups=groups).transform(X, groups=groups)

    def proportions(self, X: Any, *, groups: Any = None, interval: float = 0.9) -> Summary:
        """Topic proportions of documents with intervals: three tables, ``mean``, ``low`` and ``high``.

        Parameters
        ----------
        X : array or sparse matrix (D, V)
        groups : sequence (D,), optional
        interval : float
            Posterior probability of the intervals.
        """
        check_is_fitted(self)
        return transform(self.matched_, self._corpus(X, groups), interval=interval)

    def score(self, X: Any, y: Any = None, *, groups: Any = None) -> float:
        """Mean log probability of a token, minus the logarithm of `perplexity`; higher is better."""
        return -float(np.log(self.perplexity(X, groups=groups)))

    def perplexity(self, X: Any, *, groups: Any = None) -> float:
        """Perplexity of documents by document completion: half of each document predicts the other half.

        Averaged over posterior draws before the logarithm; lower is better, and V is that of guessing. See
        `document_completion`. Where a document has some topics only, by empirical likelihood instead, which
        is of whole documents; see `usual_score`.
        """
        return self._held_out(X, groups).perplexity

    @property
    def components_(self) -> np.ndarray:
        """Posterior mean word distribution of each topic, float (K, V)."""
        check_is_fitted(self)
        return word_probabilities(self.matched_)

    @property
    def _n_features_out(self) -> int:
        return self.matched_.n_topics

    def _held_out(self, X: Any, groups: Any) -> HeldOut:
        check_is_fitted(self)
        corpus = self._corpus(X, groups).with_groups_of(self.matched_.corpus)
        return usual_score(self.fit_, corpus)

    def _seed(self) -> int:
        if isinstance(self.random_state, Integral):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _corpus(self, X: Any, groups: Any, *, reset: bool = False) -> Corpus:
        """Corpus of counts, which are checked as scikit-learn does; its words are the features' names."""
        counts: Any = validate_data(
            self, X, reset=reset, accept_sparse="csr", dtype="numeric", ensure_non_negative=True
        )
        names = getattr(self, "feature_names_in_", None)
        words = [f"x{w}" for w in range(counts.shape[1])] if names is None else [str(name) for name in names]
        corpus = from_counts(counts, words)
        if groups is None:
            return corpus
        told = np.asarray(groups, dtype=object)
        gaps = np.flatnonzero(pd.isna(told))
        if gaps.size:  # as text, it would be a group called nan
            raise ValueError(f"groups[{gaps[0]}]: expected a label, found {told[gaps[0]]}")
        labels, group = np.unique(told.astype(str), return_inverse=True)
        return corpus.with_groups(group, labels)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "matched_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.input_tags.categorical = True  # what scikit-learn's checks know of whole numbers
        return tags

    @override
    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = dict(super().__getstate__())  # type: ignore[misc]
        state.pop("matched_", None)
        if "fit_" in state:
            with tempfile.TemporaryDirectory() as folder:
                save(state["fit_"], path := Path(folder) / "fit.nc")
                state["fit_"] = path.read_bytes()
        return state

    @override
    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        if "fit_" in state:
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "fit.nc"
                path.write_bytes(state["fit_"])
                state["fit_"] = load(path)
            state["matched_"] = match_topics(state["fit_"])
        super().__setstate__(state)  # type: ignore[misc]
