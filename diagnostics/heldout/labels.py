"""Which label a new document has, by how likely its words are under each; for models with labels."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import xarray as xr
from scipy import sparse

from ...zoo.contract import Model
from ...zoo.corpus import Corpus
from ...zoo.corpus.labels import Column, label_matrix, require_numbers
from ...zoo.families.labelled import GivenLabels, LabelledModel
from ...zoo.families.scaling.family import ScalingFamily
from ...zoo.inference import corpus_of, model_of
from ...zoo.models import MODELS
from ...zoo.wording import shortest
from .scores import posterior_predictives

MOST_VALUES = 20
"""Of a number; more are not told apart."""

PRIORS = ("uniform", "empirical")

TRUTH_VALUES = ("False", "True")

NO_VALUE, OTHER_VALUE = -1, -2
"""Of a document that has none, or several, and of one whose value no document of the fit has."""


@dataclass(frozen=True)
class PredictedLabels:
    """Probabilities of the values of one label.

    Attributes
    ----------
    values : tuple of str
        C of them.
    log_p : float (D, C)
        Log probability of each document's words under each value, averaged over posterior draws.
    probability : float (D, C)
        Of the values, given the words.
    truth : int (D,)
        Value that the document is known to have; `NO_VALUE` where that is none, or more than one, and
        `OTHER_VALUE` where the fit does not know it.
    n_draws : int
        Posterior draws.
    """

    values: tuple[str, ...]
    log_p: np.ndarray
    probability: np.ndarray
    truth: np.ndarray
    n_draws: int

    @property
    def predicted(self) -> np.ndarray:
        """Most probable value of each document, int (D,)."""
        return self.probability.argmax(axis=1)

    @property
    def hit(self) -> np.ndarray:
        """Whether the value of each document is more probable than any other, bool (D,)."""
        best = self.probability.max(axis=1, keepdims=True)
        return (self.predicted == self.truth) & (np.sum(self.probability == best, axis=1) == 1)

    @property
    def confusion(self) -> np.ndarray:
        """How many documents of each value (rows) are predicted to have each (columns), int (C, C)."""
        known = self.truth >= 0
        out = np.zeros((len(self.values), len(self.values)), np.int64)
        np.add.at(out, (self.truth[known], self.predicted[known]), 1)
        return out


def require_labels(model: Model) -> LabelledModel:
    """Return a model whose documents have labels; ValueError where it is another."""
    if not isinstance(model, LabelledModel):
        known = ", ".join(name for name, cls in MODELS.items() if issubclass(cls, LabelledModel))
        raise ValueError(f"expected a fit of a model with labels ({known}), found one of {model.card.id}")
    return model


def predict_labels(
    tree: xr.DataTree,
    documents: Corpus,
    name: str,
    *,
    prior: str = "uniform",
    particles: int = 10,
    seed: int = 0,
    progress: Callable[[int], None] | None = None,
) -> PredictedLabels:
    """Probability of each value of a label of new documents, given their words and all other labels.

    By Bayes' rule from the probability of the words under each value, which particles estimate without
    bias at each kept draw. A set of labels is taken to hold one label.

    Parameters
    ----------
    tree : DataTree
        Fit of a model with labels, with group ``latents``.
    documents : Corpus
        In terms of the vocabulary of the fit. Whatever they have of the label is not looked at.
    name : str
        Of the covariate.
    prior : {"uniform", "empirical"}
        Of the values: all alike, or as often as in the corpus of the fit.
    particles : int
    seed : int
    progress : (draws) -> None, optional
        Called after each posterior draw.

    Raises
    ------
    ValueError
        The fit is of another model, does not know the label, holds no latents, or, where shares are asked
        for, has no document with a single value of the label.
    """
    if prior not in PRIORS:
        raise ValueError(f"prior: expected {' or '.join(PRIORS)}, found {prior!r}")
    training, model = corpus_of(tree), require_labels(model_of(tree))
    columns = model.columns(training)
    values, rows = _values(columns, training, name, model.label)
    others = _without(columns, documents, name, model.label)
    labels = [others + sparse.csr_array(np.tile(row, (documents.n_documents, 1))) for row in rows]
    log_prior = np.zeros(len(values))
    if prior == "empirical":
        log_prior = _log_shares(_truth(columns, training, name, rows, model.label), len(values), name)
    truth, missing = np.full(documents.n_documents, NO_VALUE), ""
    if isinstance(model, ScalingFamily):
        missing = model.missing
    if name in documents.covariates or (name == "group" and documents.group is not None):
        truth = _truth(columns, documents, name, rows, model.label, missing)
    rng, n_draws = np.random.default_rng(seed), 0
    log_p = np.full((documents.n_documents, len(values)), -np.inf)
    for predictive in posterior_predictives(tree, documents):
        assert isinstance(predictive, GivenLabels)
        each = [predictive.log_labelled(documents, given, rng, particles=particles) for given in labels]
        log_p = np.logaddexp(log_p, np.stack(each, axis=1))
        n_draws += 1
        if progress is not None:
            progress(n_draws)
    if n_draws == 0:
        raise ValueError("expected a fit that holds latents, found none (keep=0)")
    log_p -= np.log(n_draws)
    log_posterior = log_p + log_prior
    probability = np.exp(log_posterior - np.logaddexp.reduce(log_posterior, axis=1)[:, None])
    return PredictedLabels(values, log_p, probability, truth, n_draws)


def _log_shares(truth: np.ndarray, n_values: int, name: str) -> np.ndarray:
    """Log share of each value among the documents that have one, float (C,)."""
    count = np.bincount(truth[truth >= 0], minlength=n_values)
    if not count.any():
        raise ValueError(f"{name}: expected a document of the fit with one value of it, found none")
    with np.errstate(divide="ignore"):
        return np.log(count / count.sum())


def _values(
    columns: tuple[Column, ...], training: Corpus, name: str, label: str
) -> tuple[tuple[str, ...], np.ndarray]:
    """Values of a label, and the row of labels (C, J) of a document that has only this one."""
    own = [j for j, column in enumerate(columns) if column.covariate == name]
    if not own:
        known = ", ".join(dict.fromkeys(column.covariate for column in columns)) or "none"
        raise ValueError(f"expected a label of the fit, found {name!r}; there are {known}")
    matrix = label_matrix(columns, training, label, training.n_documents).toarray()
    categories = [j for j in own if not columns[j].is_number]
    values = training.covariates.get(name, training.group)
    assert values is not None  # it has columns
    if values.dtype.kind == "b" and not sparse.issparse(values):
        return TRUTH_VALUES, np.vstack([np.zeros(len(columns)), np.eye(len(columns))[own[0]]])
    if categories:
        rows = np.eye(len(columns))[categories]
        for j in set(own) - set(categories):  # the same covariate as a number, which its category tells
            rows[:, j] = [matrix[matrix[:, c] > 0.0, j][:1].sum() for c in categories]
        return tuple(columns[c].value for c in categories), rows
    standard, first = np.unique(matrix[:, own[0]], return_index=True)
    if standard.size > MOST_VALUES:
        raise ValueError(
            f"{name}: expected at most {MOST_VALUES} values to tell apart, found {standard.size} in the fit; "
            "round it before the fit"
        )
    rows = np.zeros((standard.size, len(columns)))
    rows[:, own[0]] = standard
    return tuple(shortest(float(values[d])) for d in first), rows


def _truth(
    columns: tuple[Column, ...],
    documents: Corpus,
    name: str,
    rows: np.ndarray,
    label: str,
    missing: str = "",
) -> np.ndarray:
    """Value of each document, as in `PredictedLabels`; `missing` is that of one whose value is not known."""
    own = tuple(j for j, column in enumerate(columns) if column.covariate == name)
    its_columns = tuple(columns[j] for j in own)
    given, is_known = documents.covariates.get(name), np.ones(documents.n_documents, bool)
    if isinstance(given, np.ndarray) and given.dtype.kind == "U":  # there may be gaps
        has_false = not rows[0].any() and not its_columns[0].is_number
        is_known = np.isin(given, TRUTH_VALUES) if has_false else given != ""
    read = documents.take(np.flatnonzero(is_known))
    require_numbers(its_columns, read, label)
    matrix = label_matrix(its_columns, read, label, read.n_documents).toarray()
    is_value = np.all(np.abs(matrix[:, None] - rows[None, :, own]) < 1e-9, axis=2)
    out = np.where(tells_value(documents, name, missing), OTHER_VALUE, NO_VALUE)
    out[np.flatnonzero(is_known)[np.count_nonzero(matrix, axis=1) > 1]] = NO_VALUE
    out[np.flatnonzero(is_known)[is_value.any(axis=1)]] = is_value[is_value.any(axis=1)].argmax(axis=1)
    return out


def tells_value(documents: Corpus, name: str, missing: str = "") -> np.ndarray:
    """Whether each document has one value of a label, whether or not the fit knows it; bool (D,).

    What is empty, or `missing`, is none.
    """
    given = documents.covariates.get(name)
    if given is None:  # the groups
        return np.ones(documents.n_documents, bool)
    if not isinstance(given, np.ndarray) or given.ndim != 1:  # a set may hold what the fit does not know
        return np.zeros(documents.n_documents, bool)
    names = documents.covariate_names.get(name)
    values = given if names is None else names[given]
    is_text = values.dtype.kind == "U"
    return (values != "") & (values != missing) if is_text else ~np.isnan(values.astype(float))


def _without(columns: tuple[Column, ...], documents: Corpus, name: str, label: str) -> sparse.csr_array:
    """Labels of the documents, sparse (D, J), all but one absent as they would be."""
    others = [j for j, column in enumerate(columns) if column.covariate != name]
    their_columns = tuple(columns[j] for j in others)
    require_numbers(their_columns, documents, label)
    matrix = label_matrix(their_columns, documents, label, documents.n_documents)
    place = sparse.csr_array(
        (np.ones(len(others)), (np.arange(len(others)), others)), shape=(len(others), len(columns))
    )
    return sparse.csr_array(matrix @ place)
