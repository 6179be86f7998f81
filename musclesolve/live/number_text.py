"""Numbers as text with a fixed count of decimals, compiled: rows of 300 in some microseconds each.

A recording that is appended to while the subject moves must not hold up the frames. Python needs a quarter of a
microsecond for each number, and holds its other threads meanwhile; this needs a tenth of it and holds none.
"""

from pathlib import Path

import numpy as np
from numba import types
from numpy.typing import NDArray

from musclesolve._util.arrays import Array
from musclesolve._util.compiled_code import OPTIONS, CompiledFunction, source_version

MOST_BYTES = 40
"""No number takes more bytes."""


def write_numbers(values, decimals, separator, missing, more, buffer):  # type: ignore[no-untyped-def]
    """Write values (T, k) with decimals (k,), a row in each line; return how many bytes of the buffer are used.

    What is not finite becomes the bytes of `missing`; a row that ends so gets `more` separators behind it.
    """
    used = 0
    digits = np.int64(0)
    rows, columns = values.shape
    for row in range(rows):
        for k in range(columns):
            if k > 0:
                buffer[used] = separator
                used += 1
            value, places = values[row, k], decimals[k]
            if not np.isfinite(value) or abs(value) >= 9e17:
                for byte in missing:
                    buffer[used] = byte
                    used += 1
                if k == columns - 1:
                    for _ in range(more):
                        buffer[used] = separator
                        used += 1
                continue
            scaled = abs(value)
            for _ in range(places):
                scaled *= 10.0
            while scaled >= 9e17:
                scaled *= 0.1
                places -= 1
            digits = np.int64(np.floor(scaled + 0.5))
            if value < 0.0 and digits > 0:
                buffer[used] = 45  # -
                used += 1
            length, rest = 1, digits // 10
            while rest > 0:
                length, rest = length + 1, rest // 10
            length = max(length, places + 1)
            end = used + length + (1 if places > 0 else 0)
            at = end - 1
            for place in range(length):
                if place == places and places > 0:
                    buffer[at] = 46  # .
                    at -= 1
                buffer[at] = 48 + digits % 10
                digits //= 10
                at -= 1
            used = end
        buffer[used] = 10
        used += 1
    return used


_ROWS = types.Array(types.float64, 2, "C")
_BYTES = types.Array(types.uint8, 1, "C")
WRITE = CompiledFunction(
    write_numbers,
    (_ROWS, types.Array(types.int64, 1, "C"), types.int64, _BYTES, types.int64, _BYTES),
    OPTIONS | {"fastmath": False},
    source_version(Path(__file__)),
    "compiling the writing of numbers, once on this machine",
)


class NumberRows:
    """Rows of k numbers as text.

    Args:
        decimals: (k,) of each number.
        separator: between two numbers, one character.
        missing: what stands for a number that is not finite.
        more: how many separators follow a row that ends with such a number: OpenSim does not count an empty cell that
            ends a line, a tab behind it makes it count.
    """

    def __init__(self, decimals: NDArray[np.int64], separator: str, missing: str = "", more: int = 0) -> None:
        self._decimals = np.ascontiguousarray(decimals, np.int64)
        self._separator = np.int64(ord(separator))
        self._more = np.int64(more)
        self._missing = np.frombuffer(missing.encode(), np.uint8).copy()
        self._write = WRITE.load()

    def text(self, values: Array) -> bytes:
        """Rows (T, k) as text, rounded to their decimals, each with the end of its line."""
        values = np.ascontiguousarray(values, float)
        buffer = np.empty((MOST_BYTES * values.shape[1] + 1 + self._more) * len(values), np.uint8)
        used = self._write(values, self._decimals, self._separator, self._missing, self._more, buffer)
        return buffer[:used].tobytes()
