"""Labels of documents as columns of numbers: which covariates a model sees, and how."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy import sparse

from .corpus import CorpusError

GROUP, NOTHING = "group", "none"
FORMS = ("category", "number")


class Labelled(Protocol):
    """What is asked of a corpus, or of a design."""

    @property
    def group(self) -> np.ndarray | None: ...  # noqa: D102
    @property
    def n_groups(self) -> int: ...  # noqa: D102
    @property
    def group_names(self) -> np.ndarray | None: ...  # noqa: D102
    @property
    def covariates(self) -> Mapping[str, Any]: ...  # noqa: D102
    @property
    def covariate_names(self) -> Mapping[str, np.ndarray]: ...  # noqa: D102


class Column(NamedTuple):
    """A label.

    Attributes
    ----------
    covariate : str
    value : str
        The category, or "" for a number.
    mean, deviation : float
        What is taken off a number, and what it is then divided by; infinity for one that never changes.
    """

    covariate: str
    value: str
    mean: float = 0.0
    deviation: float = 1.0

    @property
    def is_number(self) -> bool:
        """Whether it is one, and no category; a covariate may be both."""
        return self.value == ""

    @property
    def name(self) -> str:
        """As users see it."""
        return f"{self.covariate}: {self.value}" if self.value else self.covariate


def asked_for(labels: str, corpus: Labelled, *, has_numbers: bool) -> list[tuple[str, str]]:
    """Names of the covariates that a model sees, and the form of each where it is told.

    Parameters
    ----------
    labels : str
        Names with commas between them, each as it is or with ``:category`` or ``:number`` after it; "none";
        or "", for all that hold categories, the groups among them, and, where `has_numbers`, all numbers that
        are not whole.
    corpus : corpus or design
    has_numbers : bool
    """
    if labels == NOTHING:
        return []
    if labels:
        return [_split(entry.strip()) for entry in labels.split(",")]
    found = [(name, "") for name in corpus.covariates if _is_default(corpus, name, has_numbers)]
    named = [corpus.covariate_names[name] for name, _ in found if name in corpus.covariate_names]
    groups = [] if corpus.group_names is None else corpus.group_names
    is_new = not any(np.array_equal(names, groups) for names in named)  # else they were made of a covariate
    return found + ([(GROUP, "")] if corpus.group is not None and is_new else [])


def _split(entry: str) -> tuple[str, str]:
    name, _, form = entry.rpartition(":")
    return (name, form) if form in FORMS else (entry, "")


def _is_default(corpus: Labelled, name: str, has_numbers: bool) -> bool:
    covariate = corpus.covariates[name]
    if sparse.issparse(covariate):
        return True
    is_plain = covariate.ndim == 1
    is_named = covariate.dtype.kind in "iu" and name in corpus.covariate_names
    return is_plain and (is_named or (has_numbers and covariate.dtype.kind == "f"))


def columns_of(labels: str, corpus: Labelled, model: str, *, has_numbers: bool) -> tuple[Column, ...]:
    """Labels that the documents of a corpus can have.

    Raises
    ------
    CorpusError
        The corpus has no such covariate, or one that is of no use as a label.
    """
    out: list[Column] = []
    for name, form in asked_for(labels, corpus, has_numbers=has_numbers):
        values = _values(corpus, name, model)
        if sparse.issparse(values):
            if form == "number":
                raise CorpusError(f"{model}: labels: expected numbers in {name!r}, found a set of labels")
            out += [Column(name, value) for value in filter(None, map(str, corpus.covariate_names[name]))]
        elif form == "number" or (form == "" and has_numbers and _is_number(corpus, name, values)):
            out.append(_number(name, values, model, has_numbers))
        elif values.dtype.kind == "f" and form == "":
            raise CorpusError(
                f"{model}: labels: expected categories in {name!r}, found numbers; whdsp takes these, or "
                f"name it {name}:category"
            )
        else:
            out += [Column(name, value) for value in _categories(corpus, name, values)]
    refuse_repeats(((column.covariate, column.value) for column in out), f"{model}: labels")
    return tuple(out)


def refuse_repeats(named: Iterable[tuple[str, Any]], where: str) -> None:
    """Raise CorpusError where a covariate is named twice in the same form: a topic would tell it twice."""
    seen: set[tuple[str, Any]] = set()
    for one in named:
        if one in seen:
            raise CorpusError(f"{where}: expected each covariate once, found {one[0]!r} twice")
        seen.add(one)


def _values(corpus: Labelled, name: str, model: str) -> Any:
    """Covariate, or the groups; CorpusError where there is none, or where it has more than one axis."""
    if name in corpus.covariates:
        values = corpus.covariates[name]
    elif name == GROUP and corpus.group is not None:
        values = np.asarray(corpus.group)
    else:
        known = ", ".join([*corpus.covariates, *([GROUP] if corpus.group is not None else [])])
        raise CorpusError(
            f"{model}: labels: expected a covariate, found {name!r}; there are {known or 'none'}"
        )
    if not sparse.issparse(values) and values.ndim != 1:
        raise CorpusError(
            f"{model}: labels: expected one value a document in {name!r}, found shape {values.shape}"
        )
    return values


def _is_number(corpus: Labelled, name: str, values: np.ndarray) -> bool:
    """Whether values are numbers unless told otherwise: whole ones that have no names are."""
    is_whole = values.dtype.kind in "iu" and name not in corpus.covariate_names
    return values.dtype.kind == "f" or (is_whole and name in corpus.covariates)


def _number(name: str, values: np.ndarray, model: str, has_numbers: bool) -> Column:
    if not has_numbers:
        raise CorpusError(f"{model}: labels: expected categories, found {name}:number; whdsp takes numbers")
    if values.dtype.kind not in "iuf":
        raise CorpusError(f"{model}: labels: expected numbers in {name!r}, found {values.dtype}")
    if not values.size:
        return Column(name, "")
    values = values.astype(float)
    deviation = float(values.std())
    is_constant = deviation <= 1e-12 * np.abs(values).max()  # by rounding, it need not be zero
    return Column(name, "", float(values.mean()), np.inf if is_constant else deviation)


def _categories(corpus: Labelled, name: str, values: np.ndarray) -> Iterator[str]:
    """Categories that there are; an empty text is none."""
    if name in corpus.covariate_names:
        yield from filter(None, map(str, corpus.covariate_names[name]))
    elif name == GROUP and name not in corpus.covariates:
        yield from _group_names(corpus)
    elif values.dtype.kind == "b":
        yield str(True)
    else:
        yield from (str(value) for value in np.unique(values) if str(value))


def _group_names(corpus: Labelled) -> list[str]:
    """Names of the groups; of a design, which may lack them, those that its corpora will have."""
    names = corpus.group_names
    return [f"group {g}" for g in range(corpus.n_groups)] if names is None else list(map(str, names))


def label_matrix(columns: tuple[Column, ...], corpus: Labelled, model: str, n_documents: int) -> Any:
    """Labels of the documents, sparse float (D, J); those that are not among `columns` are absent.

    Raises
    ------
    CorpusError
        A covariate is missing.
    """
    rows, places, values = [], [], []
    for name, is_number in dict.fromkeys((column.covariate, column.is_number) for column in columns):
        place = {c.value: j for j, c in enumerate(columns) if (c.covariate, c.is_number) == (name, is_number)}
        for d, value, number in _cells(corpus, name, columns[min(place.values())], model):
            if value in place:
                rows.append(d)
                places.append(place[value])
                values.append(number)
    shape = (n_documents, len(columns))
    out = sparse.csr_array((np.array(values, float), (rows, places)), shape=shape)
    out.eliminate_zeros()
    return out


def require_numbers(columns: tuple[Column, ...], corpus: Labelled, model: str) -> None:
    """Raise CorpusError for a document that has text, or nothing, where a column is a number."""
    for name in dict.fromkeys(column.covariate for column in columns if column.is_number):
        values = _values(corpus, name, model)
        for d, cell in enumerate(values if values.dtype.kind == "U" else ()):
            try:
                float(cell)
            except ValueError:
                raise CorpusError(
                    f"{model}: labels: expected numbers in {name!r}, found {str(cell)!r} in document {d}"
                ) from None


def _cells(corpus: Labelled, name: str, first: Column, model: str) -> Iterator[tuple[int, str, float]]:
    """Document, category and value of each label that a covariate gives."""
    values = _values(corpus, name, model)
    if sparse.issparse(values):
        names, cells = corpus.covariate_names[name], values.tocoo()
        yield from ((int(d), str(names[j]), 1.0) for d, j in zip(cells.row, cells.col, strict=True))
    elif first.is_number:
        standard = (values.astype(float) - first.mean) / first.deviation
        yield from ((d, "", float(x)) for d, x in enumerate(standard))
    else:
        names = corpus.covariate_names.get(name)
        if name == GROUP and name not in corpus.covariates:
            names = _group_names(corpus)
        yield from ((d, str(x if names is None else names[x]), 1.0) for d, x in enumerate(values))


def distinct_rows(matrix: Any) -> tuple[Any, np.ndarray]:
    """Distinct rows of a sparse matrix, by first appearance, and which of them each row is."""
    matrix.sort_indices()
    known: dict[tuple[bytes, bytes], int] = {}
    of_row, first = np.zeros(matrix.shape[0], np.int64), []
    for d, (start, end) in enumerate(zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True)):
        key = matrix.indices[start:end].tobytes(), matrix.data[start:end].tobytes()
        if key not in known:
            known[key] = len(known)
            first.append(d)
        of_row[d] = known[key]
    return matrix[np.array(first, np.int64)], of_row
