"""Which words of a topic that several groups share become which words of each group, and how often."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from ..memory import require_memory
from .fields import CorpusError, as_array, as_integers, as_pointers, frozen, sound_coo

ROUNDING = 1e-9
"""How far from 1 the sum of a column may be."""


@dataclass(frozen=True, eq=False)
class Associations:
    """One sparse V x V matrix P^g a group, whose columns sum to 1, stored by rows.

    Entry ``p_wv`` is the probability that word v of a shared topic becomes word w in the group. Row
    ``g * n_words + w`` lists the words v from which w may come. All arrays are read-only copies.

    Parameters
    ----------
    row_ptr : int64 (G V + 1,)
        Row r is ``column[row_ptr[r]:row_ptr[r + 1]]``, with its `weight`.
    column : int32 (nnz,)
    weight : float64 (nnz,)
        Positive.
    n_words : int
        V.

    Raises
    ------
    CorpusError
        Names the field, or the group and word, that is wrong, and what was expected.
    """

    row_ptr: np.ndarray
    column: np.ndarray
    weight: np.ndarray
    n_words: int

    def __post_init__(self):
        column = as_integers("associations.column", self.column, np.int32)
        row_ptr = as_pointers("associations.row_ptr", self.row_ptr, column.size)
        n_words = int(self.n_words)
        if n_words < 1 or row_ptr.size == 1 or (row_ptr.size - 1) % n_words:
            raise CorpusError(
                f"associations.row_ptr: expected {n_words} rows for each group, found {row_ptr.size - 1}"
            )
        weight = _as_weights(self.weight, column.size)
        outside = np.flatnonzero((column < 0) | (column >= n_words))
        if outside.size:
            raise CorpusError(
                f"associations.column[{outside[0]}]: expected a word in 0..{n_words - 1}, "
                f"found {column[outside[0]]}"
            )
        for name, value in (("row_ptr", row_ptr), ("column", column), ("weight", weight)):
            object.__setattr__(self, name, value)
        object.__setattr__(self, "n_words", n_words)
        for g in range(self.n_groups):
            _check_columns(g, _column_sums(self.matrix(g)))

    @property
    def n_groups(self) -> int:
        """Number of groups, G."""
        return (self.row_ptr.size - 1) // self.n_words

    def matrix(self, group: int) -> sparse.csr_array:
        """P^g, float (V, V); entry (w, v) is the probability that v becomes w."""
        return self._matrices[group]

    @cached_property
    def _matrices(self) -> list[sparse.csr_array]:
        shape, out = (self.n_words, self.n_words), []
        for g in range(self.n_groups):
            rows = self.row_ptr[g * self.n_words : (g + 1) * self.n_words + 1]
            cells = slice(rows[0], rows[-1])
            out.append(
                sparse.csr_array((self.weight[cells], self.column[cells], rows - rows[0]), shape=shape)
            )
        return out

    @cached_property
    def _columns(self) -> list[sparse.csc_array]:
        return [matrix.tocsc() for matrix in self._matrices]

    def draw(self, group: int, sources: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw what words `sources` (n,) of a shared topic become in a group, int (n,)."""
        columns = self._columns[group]
        edges = np.concatenate([[0.0], np.cumsum(columns.data)])
        first, end = columns.indptr[sources], columns.indptr[sources + 1]
        u = edges[first] + rng.random(sources.size) * (edges[end] - edges[first])
        place = np.searchsorted(edges, u, side="right") - 1
        return columns.indices[np.clip(place, first, end - 1)]

    @classmethod
    def identity(cls, n_groups: int, n_words: int) -> "Associations":
        """Every word stays what it is, in all groups."""
        n = n_groups * n_words
        return cls(np.arange(n + 1), np.tile(np.arange(n_words), n_groups), np.ones(n), n_words)

    @classmethod
    def of(cls, matrices: Sequence[Any], normalise: bool = False) -> "Associations":
        """Associations of dense or sparse matrices, one a group.

        Parameters
        ----------
        matrices : sequence of array or sparse matrix (V, V)
            Finite and not negative; row w is a word of the group, column v one of the shared topics.
        normalise : bool
            Divide each column by its sum, which otherwise has to be 1.

        Raises
        ------
        CorpusError
            Names the group, and the word, of the matrix that is wrong.
        """
        if len(matrices) == 0:
            raise CorpusError("associations: expected a matrix for each group, found none")
        n_words = np.shape(matrices[0])[0] if np.ndim(matrices[0]) or sparse.issparse(matrices[0]) else 0
        require_memory(64 * n_words * len(matrices), f"associations of {n_words:,} words")
        rows = [_as_rows(g, matrix, n_words, normalise) for g, matrix in enumerate(matrices)]
        stacked = sparse.csr_array(sparse.vstack(rows, format="csr"))
        return cls(stacked.indptr, stacked.indices, stacked.data, n_words)


def _as_weights(values: Any, size: int) -> np.ndarray:
    weight = as_array("associations.weight", values)
    if weight.shape != (size,) or weight.dtype.kind not in "iuf":
        raise CorpusError(
            f"associations.weight: expected {size} numbers, found {weight.dtype} of shape {weight.shape}"
        )
    weight = weight.astype(np.float64)
    bad = np.flatnonzero(~(np.isfinite(weight) & (weight > 0)))
    if bad.size:
        raise CorpusError(
            f"associations.weight[{bad[0]}]: expected a positive number, found {weight[bad[0]]}"
        )
    return frozen(weight)


def _as_rows(group: int, matrix: Any, n_words: int, normalise: bool) -> sparse.csr_array:
    name = f"associations[{group}]"
    cells = sound_coo(name, matrix if sparse.issparse(matrix) else as_array(name, matrix))
    if cells.shape != (n_words, n_words):
        raise CorpusError(f"{name}: expected a square matrix of {n_words} words, found shape {cells.shape}")
    bad = np.flatnonzero(~(np.isfinite(cells.data) & (cells.data >= 0)))
    if bad.size:
        at = bad[0]
        raise CorpusError(
            f"{name}[{cells.row[at]}, {cells.col[at]}]: expected a finite number, 0 or more, "
            f"found {cells.data[at]}"
        )
    rows = sparse.csr_array(cells, dtype=np.float64)
    rows.sum_duplicates()
    rows.eliminate_zeros()
    if normalise:
        sums = _column_sums(rows)
        _check_columns(group, np.where(sums > 0, 1.0, 0.0))
        rows.data /= sums[rows.indices]
    return rows


def _column_sums(matrix: sparse.csr_array) -> np.ndarray:
    return np.bincount(matrix.indices, weights=matrix.data, minlength=matrix.shape[1])  # type: ignore[index]


def _check_columns(group: int, sums: np.ndarray) -> None:
    bad = np.flatnonzero(np.abs(sums - 1.0) > ROUNDING)
    if bad.size:
        v = bad[0]
        found = f"{sums[v]:g}" if sums[v] else "an empty column"
        raise CorpusError(
            f"associations[{group}]: expected column {v} (what word {v} may become) to sum to 1, "
            f"found {found}"
        )
