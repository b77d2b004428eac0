"""Responses of documents: which covariates they are, and their values as numbers."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ...contract import Design
from ...corpus import Corpus, CorpusError
from ...corpus.labels import FORMS, GROUP, NOTHING, Labelled, asked_for, refuse_repeats

LEAST_SPREAD = 1e-10
"""By how much numbers have to differ, as a share of their size."""


class Hinge(NamedTuple):
    """A loss in the place of a likelihood of categories; see `law`.

    Attributes
    ----------
    cost : float
        c, above 0.
    margin : float
        By how much a predictor has to be on the right side of 0, above 0.
    """

    cost: float
    margin: float


class Response(NamedTuple):
    """A response.

    Attributes
    ----------
    name : str
        As the model is told it; a covariate, perhaps with the form in which it is taken.
    values : tuple of str
        The categories; none for a number.
    hinge : Hinge, optional
        Of categories that are told apart by a margin; unless given, by their odds against the first.
    """

    name: str
    values: tuple[str, ...] = ()
    hinge: Hinge | None = None

    @property
    def is_number(self) -> bool:
        """Whether it is one, and no category."""
        return not self.values

    @property
    def n_predictors(self) -> int:
        """How many linear predictors it has."""
        if self.is_number:
            return 1
        return len(self.values) - (self.hinge is None or len(self.values) == 2)

    @property
    def predicted(self) -> tuple[str, ...]:
        """Categories that have a linear predictor, in its order."""
        return self.values[len(self.values) - self.n_predictors :] if self.values else ()


def responses_of(asked: str, corpus: Labelled, model: str) -> tuple[Response, ...]:
    """Responses that documents of a corpus, or a design, can have.

    Parameters
    ----------
    asked : str
        Names of covariates with commas between them, each as it is or with ``:category`` or ``:number`` after
        it; "none"; or "", for all that hold named categories or numbers that are not whole, and the groups.
    corpus : corpus or design
    model : str
        What errors call the model.

    Raises
    ------
    CorpusError
        There is none, no such covariate, or one that is of no use as a response.
    """
    if asked == NOTHING:
        return ()
    if asked:
        names = [name.strip() for name in asked.split(",")]
    else:
        found = (name for name, _ in asked_for("", corpus, has_numbers=True))
        names = [name for name in found if not sparse.issparse(corpus.covariates.get(name))]
    if not names:
        raise CorpusError(f"{model}: response: expected a covariate of the corpus, found none")
    found = tuple(_response(name, corpus, model) for name in names)
    refuse_repeats(((covariate_of(one, corpus), one.is_number) for one in found), f"{model}: response")
    return found


def _response(name: str, corpus: Labelled, model: str) -> Response:
    covariate, form = _split(name, corpus)
    values = _values(covariate, corpus, model)
    if form == "number" or (form == "" and _is_number(values)):
        _numbers(name, values, model)
        return Response(name)
    named = _names(covariate, corpus)
    if named is None:
        named = np.array([False, True]) if values.dtype.kind == "b" else np.unique(values)
    categories = tuple(str(value) for value in named if str(value))
    if len(categories) < 2:
        raise CorpusError(
            f"{model}: response: expected two categories or more in {name!r}, found {len(categories)}"
        )
    return Response(name, categories)


def _split(name: str, corpus: Labelled) -> tuple[str, str]:
    """Covariate, and the form in which it is taken; one that is called so altogether goes first."""
    head, _, form = name.rpartition(":")
    if form not in FORMS:
        return name, ""
    return (name if name in corpus.covariates else head), form


def _values(covariate: str, corpus: Labelled, model: str) -> np.ndarray:
    """Values of a covariate, or the groups."""
    if covariate in corpus.covariates:
        values = corpus.covariates[covariate]
    elif covariate == GROUP and corpus.group is not None:
        values = np.asarray(corpus.group)
    else:
        known = ", ".join([*corpus.covariates, *([GROUP] if corpus.group is not None else [])])
        raise CorpusError(
            f"{model}: response: expected a covariate, found {covariate!r}; there are {known or 'none'}"
        )
    if sparse.issparse(values) or values.ndim != 1:
        raise CorpusError(
            f"{model}: response: expected one value a document in {covariate!r}, found "
            f"{'a set of labels' if sparse.issparse(values) else f'shape {values.shape}'}"
        )
    return values


def _names(covariate: str, corpus: Labelled) -> Any:
    """Names of the values, where these are whole numbers that stand for names; else None."""
    if covariate in corpus.covariates:
        return corpus.covariate_names.get(covariate)
    return np.arange(corpus.n_groups) if corpus.group_names is None else corpus.group_names


def _is_number(values: np.ndarray) -> bool:
    """Whether values are numbers, not all of them whole; in text some may be missing."""
    if values.dtype.kind != "U":
        return values.dtype.kind == "f"
    try:
        return any(not float(text).is_integer() for text in values if text.strip())
    except ValueError:
        return False


def _numbers(name: str, values: np.ndarray, model: str) -> np.ndarray:
    """Values as floats; an empty text, or one that says nan, is a missing number."""
    if values.dtype.kind in "biuf":
        return values.astype(float)
    out = np.full(values.shape, np.nan)
    for d, text in enumerate(values):
        try:
            out[d] = float(text) if text.strip() else np.nan
        except ValueError:
            raise CorpusError(
                f"{model}: response: expected numbers in {name!r}, found {str(text)!r} in document {d}"
            ) from None
    if np.any(np.isinf(out)):
        raise CorpusError(f"{model}: response: expected finite numbers in {name!r}, found inf")
    return out


def response_matrix(
    responses: tuple[Response, ...], corpus: Labelled, model: str, n_documents: int
) -> np.ndarray:
    """Responses of the documents, float (D, R): numbers, and places of categories; NaN where there is none.

    Raises
    ------
    CorpusError
        A covariate is missing.
    """
    out = np.full((n_documents, len(responses)), np.nan)
    for r, response in enumerate(responses):
        covariate, _ = _split(response.name, corpus)
        values = _values(covariate, corpus, model)
        if response.is_number:
            out[:, r] = _numbers(response.name, values, model)
            continue
        place = {value: c for c, value in enumerate(response.values)}
        names = _names(covariate, corpus)
        for d, value in enumerate(values):
            out[d, r] = place.get(str(value if names is None else names[value]), np.nan)
    return out


def check_spread(responses: tuple[Response, ...], values: np.ndarray, model: str) -> None:
    """Raise CorpusError for numbers, float (D, R) as in `response_matrix`, that hardly differ.

    Predictors have as many digits as the numbers, of which a sampler needs some below the errors.
    """
    for response, column in zip(responses, values.T, strict=True):
        known = column[~np.isnan(column)]
        if not response.is_number or known.size == 0:
            continue
        middle = float(np.median(known))
        spread, size = float(np.abs(known - middle).max()), float(np.abs(known).max())
        if 0.0 < spread < LEAST_SPREAD * size:
            raise CorpusError(
                f"{model}: response: expected numbers in {response.name!r} that differ by at least "
                f"{LEAST_SPREAD:g} of their size, found {spread:.2g} of {size:.2g}; subtract {middle:.12g}"
            )


def with_responses(corpus: Corpus, responses: tuple[Response, ...], values: np.ndarray) -> Corpus:
    """Corpus with other responses.

    They are covariates with the names of the responses; groups stay what they are, since topics may depend on
    them, and a covariate called so goes before them.

    Parameters
    ----------
    corpus : Corpus
    responses : tuple of Response
    values : float (D, R)
        As `response_matrix` has them.
    """
    covariates, names = dict(corpus.covariates), dict(corpus.covariate_names)
    for response, column in zip(responses, values.T, strict=True):
        known = ~np.isnan(column)
        if response.is_number:
            text = [repr(float(y)) if has else "" for y, has in zip(column, known, strict=True)]
            covariates[response.name] = column if known.all() else np.array(text)
            names.pop(response.name, None)
            continue
        code = np.where(known, column, len(response.values)).astype(np.int64)
        covariates[response.name] = code
        names[response.name] = np.array([*response.values] + [""] * (not known.all()))
    changed = replace(Design.of(corpus), covariates=covariates, covariate_names=names)
    return changed.corpus(corpus.words)


def is_known(response: Response, corpus: Labelled) -> bool:
    """Whether a corpus has the covariate of a response."""
    covariate, _ = _split(response.name, corpus)
    return covariate in corpus.covariates or (covariate == GROUP and corpus.group is not None)


def covariate_of(response: Response, corpus: Labelled) -> str:
    """Name of the covariate of a response, without the form in which it is taken."""
    return _split(response.name, corpus)[0]
