"""Moment arms of all muscles about all degrees of freedom, without their many zeros in memory."""

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from xarray.backends import BackendArray
from xarray.core import indexing

from musclesolve._util.arrays import Array, Indices


class BlockArray(BackendArray):
    """An array (T, m, n) that is zero outside of blocks, each (T, r, c) at rows (r,) and columns (c,) of its own.

    xarray reads a selection and fills in the zeros then, like the variables of a file that is read lazily.
    The blocks are not copied.
    """

    def __init__(self, shape: tuple[int, int, int], blocks: Sequence[tuple[Indices, Indices, Array]]) -> None:
        self.shape = shape
        self.dtype = np.dtype(float)
        self.blocks = tuple(block for block in blocks if block[2].size)

    def variable_data(self) -> Any:
        """Make the data of a variable of xarray, like data of a file that is opened lazily.

        Access to all values makes one array that is kept, so that a value set in this array is set in the variable. A
        value that is set in the variable makes a full copy first.
        """
        lazy = indexing.CopyOnWriteArray(cast(Any, indexing.LazilyIndexedArray(self)))
        return indexing.MemoryCachedArray(lazy)

    def __getitem__(self, key: indexing.ExplicitIndexer) -> Any:
        return indexing.explicit_indexing_adapter(
            key, self.shape, indexing.IndexingSupport.OUTER, self._selected
        )

    def _selected(self, key: tuple[Any, ...]) -> Array:
        """The part that an integer, a slice or an array of integers for each axis selects."""
        frames, rows, columns = (
            np.atleast_1d(np.arange(size)[part]) for size, part in zip(self.shape, key, strict=True)
        )
        whole = slice(None) if len(frames) == self.shape[0] and isinstance(key[0], slice) else frames
        values = np.zeros((len(frames), len(rows), len(columns)))
        for own_rows, own_columns, block in self.blocks:
            row, of_row = _places(own_rows, rows)
            column, of_column = _places(own_columns, columns)
            if len(row) and len(column):
                chosen = block[whole][:, of_row[:, None], of_column]
                values[:, row[:, None], column] = chosen
        scalar = tuple(0 if isinstance(part, int | np.integer) else slice(None) for part in key)
        return np.asarray(values[scalar])


def _places(own: Indices, wanted: Indices) -> tuple[Indices, Indices]:
    """Positions in `wanted` of the numbers that a block has, and the positions of these numbers in the block."""
    order = np.argsort(own)
    at = np.minimum(np.searchsorted(own, wanted, sorter=order), len(own) - 1)
    (present,) = np.nonzero(own[order[at]] == wanted)
    return present, order[at[present]]
