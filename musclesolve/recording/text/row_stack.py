"""Rows that arrive in blocks, put below each other in one array."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from musclesolve._util.arrays import Array
from musclesolve.recording.text.number_rows import Block, RowReader

Number = TypeVar("Number", bound=np.generic)


class Stack(Generic[Number]):
    """Blocks of rows in a single array that grows in place: nothing is held twice."""

    def __init__(self, dtype: type[Number]) -> None:
        self._dtype = dtype
        self._array: NDArray[Number] | None = None
        self._count = 0

    def append(self, block: NDArray[Number], share: float) -> None:
        """Add rows (r, ...), given the share of all rows that is known once they are added, 0 to 1."""
        if self._array is None:
            self._array = np.empty((0, *block.shape[1:]), dtype=self._dtype)
        count = self._count + len(block)
        if count > len(self._array):
            # One hundredth of slack: the rows that follow may be a little shorter than those before.
            expected = int(1.01 * count / share) + 1 if share > 0.0 else 2 * count
            self._array.resize((max(count, expected), *block.shape[1:]), refcheck=False)
        self._array[self._count : count] = block
        self._count = count

    def finished(self) -> NDArray[Number]:
        """Return all rows in one array; nothing can be added afterwards."""
        if self._array is None:
            return np.empty(0, dtype=self._dtype)
        self._array.resize((self._count, *self._array.shape[1:]), refcheck=False)
        return self._array


def stacked(
    reader: RowReader, blocks: Iterable[Block], parts: Callable[[Array], tuple[Array, Array]]
) -> tuple[Array, Array, NDArray[np.int64]]:
    """Return times (T,), values (T, ...) and lines (T,) of all rows; `parts` gives times and values of a block."""
    times, values, lines = Stack(np.float64), Stack(np.float64), Stack(np.int64)
    for block in blocks:
        time, own = parts(block.values)
        times.append(time, reader.share_read)
        values.append(own, reader.share_read)
        lines.append(block.lines, reader.share_read)
    return times.finished(), values.finished(), lines.finished()
