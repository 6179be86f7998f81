"""Variables of a result that are made when they are read: moment arms without their many zeros in memory, and the
picture of a long motion.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
from xarray.backends import BackendArray
from xarray.core import indexing

from musclesolve._util.arrays import AnyArray, Array, Indices
from musclesolve.dynamics.vectors import in_blocks


class LaterArray(BackendArray):
    """An array, frames first, that xarray reads as a variable of a file that is opened lazily."""

    def __init__(self, shape: tuple[int, ...], dtype: type) -> None:
        self.shape = shape
        self.dtype = np.dtype(dtype)

    def variable_data(self) -> Any:
        """The data of a variable of xarray.

        Access to all values makes one array that is kept, so that a value set in this array is set in the variable. A
        value that is set in the variable makes a full copy first.
        """
        lazy = indexing.CopyOnWriteArray(cast(Any, indexing.LazilyIndexedArray(self)))
        return indexing.MemoryCachedArray(lazy)

    def __getitem__(self, key: indexing.ExplicitIndexer) -> Any:
        return indexing.explicit_indexing_adapter(
            key, self.shape, indexing.IndexingSupport.OUTER, self._selected
        )

    def _selected(self, key: tuple[Any, ...]) -> AnyArray:
        """The part that an integer, a slice or an array of integers for each axis selects."""
        places = (np.atleast_1d(np.arange(size)[part]) for size, part in zip(self.shape, key, strict=True))
        scalar = tuple(0 if isinstance(part, int | np.integer) else slice(None) for part in key)
        return np.asarray(self._values(*places)[scalar])

    @abstractmethod
    def _values(self, *places: Indices) -> AnyArray:
        """The values at some places along each axis, such as frames (k,), rows (r,) and columns (c,): (k, r, c)."""


class BlockArray(LaterArray):
    """An array (T, m, n) that is zero outside of blocks, each (T, r, c) at rows (r,) and columns (c,) of its own.

    The blocks are not copied.
    """

    def __init__(self, shape: tuple[int, int, int], blocks: Sequence[tuple[Indices, Indices, Array]]) -> None:
        super().__init__(shape, float)
        self.blocks = tuple(block for block in blocks if block[2].size)

    def _values(self, *places: Indices) -> AnyArray:
        """See LaterArray."""
        frames, rows, columns = places
        whole = slice(None) if np.array_equal(frames, np.arange(self.shape[0])) else frames
        values = np.zeros((len(frames), len(rows), len(columns)))
        for own_rows, own_columns, block in self.blocks:
            row, of_row = _places(own_rows, rows)
            column, of_column = _places(own_columns, columns)
            if len(row) and len(column):
                chosen = block[whole][:, of_row[:, None], of_column]
                values[:, row[:, None], column] = chosen
        return values


class MotionArray(LaterArray):
    """Values (T, ...) in single precision that follow from a long motion frame by frame, computed when they are read.

    function: of arrays (T, ...) of the motion; it can be pickled.
    """

    def __init__(self, function: Callable[..., AnyArray], *motion: Array) -> None:
        first = function(*(array[:1] for array in motion))
        super().__init__((len(motion[0]), *first.shape[1:]), np.float32)
        self.function, self.motion = function, motion

    def _values(self, *places: Indices) -> AnyArray:
        """See LaterArray."""
        frames, *rest = places
        values = in_blocks(self.function, *(array[frames] for array in self.motion)).astype(self.dtype)
        return values[np.ix_(np.arange(len(frames)), *rest)]


def _places(own: Indices, wanted: Indices) -> tuple[Indices, Indices]:
    """Positions in `wanted` of the numbers that a block has, and the positions of these numbers in the block."""
    order = np.argsort(own)
    at = np.minimum(np.searchsorted(own, wanted, sorter=order), len(own) - 1)
    (present,) = np.nonzero(own[order[at]] == wanted)
    return present, order[at[present]]
