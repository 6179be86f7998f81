"""Variables of a result that are made when they are read: moment arms without their many zeros in memory, and paths of
muscles along a long motion.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from xarray.backends import BackendArray
from xarray.core import indexing

from musclesolve._util.arrays import AnyArray, Array, Indices
from musclesolve.muscles.paths.paths import Paths
from musclesolve.pipeline.body import KeptArms


class LaterArray(BackendArray):
    """An array of three axes, frames first, that xarray reads as a variable of a file that is opened lazily."""

    def __init__(self, shape: tuple[int, int, int], dtype: type) -> None:
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
    def _values(self, frames: Indices, rows: Indices, columns: Indices) -> AnyArray:
        """The values in some frames (k,) at some rows (r,) and columns (c,), (k, r, c)."""


class BlockArray(LaterArray):
    """An array (T, m, n) that is zero outside of blocks, each (T, r, c) at rows (r,) and columns (c,) of its own.

    The blocks are not copied.
    """

    def __init__(
        self, shape: tuple[int, int, int], blocks: Sequence[tuple[Indices, Indices, Array | KeptArms]]
    ) -> None:
        super().__init__(shape, float)
        self.blocks = tuple(block for block in blocks if block[2].size)

    def _values(self, frames: Indices, rows: Indices, columns: Indices) -> AnyArray:
        """See LaterArray."""
        whole = slice(None) if np.array_equal(frames, np.arange(self.shape[0])) else frames
        values = np.zeros((len(frames), len(rows), len(columns)))
        for own_rows, own_columns, block in self.blocks:
            row, of_row = _places(own_rows, rows)
            column, of_column = _places(own_columns, columns)
            if len(row) and len(column):
                chosen = block[whole][:, of_row[:, None], of_column]
                values[:, row[:, None], column] = chosen
        return values


class PathArray(LaterArray):
    """Lines of muscle paths along a long motion (T, S, 3) [m] in single precision, traced when they are read.

    paths: of groups of muscles, one after the other, each with the number of points of each muscle (n,); q (T, N, 3)
    and coordinates (T, K+6) of the motion.
    """

    def __init__(self, paths: Sequence[tuple[Paths, Indices]], q: Array, coordinates: Array) -> None:
        super().__init__((len(q), sum(int(most.sum()) for _, most in paths), 3), np.float32)
        self.paths, self.q, self.coordinates = tuple(paths), q, coordinates

    def _values(self, frames: Indices, rows: Indices, columns: Indices) -> AnyArray:
        """See LaterArray."""
        q, coordinates = self.q[frames], self.coordinates[frames]
        lines = [paths.lines_of(q, coordinates, most) for paths, most in self.paths]
        return np.concatenate(lines, axis=1)[:, rows[:, None], columns]


def _places(own: Indices, wanted: Indices) -> tuple[Indices, Indices]:
    """Positions in `wanted` of the numbers that a block has, and the positions of these numbers in the block."""
    order = np.argsort(own)
    at = np.minimum(np.searchsorted(own, wanted, sorter=order), len(own) - 1)
    (present,) = np.nonzero(own[order[at]] == wanted)
    return present, order[at[present]]
