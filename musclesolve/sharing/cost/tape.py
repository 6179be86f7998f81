"""CasADi functions that compiled code evaluates in many frames at once (kernel/tape.py)."""

from typing import Any, Self

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.sharing.cost.cost_terms import columns
from musclesolve.sharing.kernel.tape import CONST, INPUT, LANES, NAMES, OUTPUT, PLAY


class Tape:
    """The instructions of a function of several arguments with one result."""

    def __init__(self, function: Any, codes: list[int]) -> None:
        kept, self.width = function.sparsity_out(0), function.numel_out(0)
        dense = np.asarray(kept.row()) + np.asarray(kept.get_col()) * kept.size1()
        row = np.zeros(
            function.sz_w() + 1, np.int64
        )  # of two rows for each number of the machine, the current one
        rows, numbers = np.zeros((4, len(codes)), np.int64), np.zeros(len(codes))
        for k, code in enumerate(codes):
            read, written = function.instruction_input(k), function.instruction_output(k)
            rows[0, k], rows[3, k] = code, dense[written[1]] if code == OUTPUT else 0
            if code == INPUT:
                rows[1:3, k] = read
            elif code == CONST:
                numbers[k] = function.instruction_constant(k)
            else:  # a single row is read twice
                rows[1:3, k] = [2 * read[0] + row[read[0]], 2 * read[-1] + row[read[-1]]]
            if code != OUTPUT:  # never the row that is read: loops on rows apart are vectorized
                row[written[0]] = 1 - row[written[0]]
                rows[3, k] = 2 * written[0] + row[written[0]]
        self._full = len(dense) == self.width
        self._rows, self._numbers, self._work = rows, numbers, (2 * row.size, LANES)
        self._inputs = np.flatnonzero(rows[0] == INPUT)
        self._arguments = rows[1:3, self._inputs]
        self._used = np.isin(np.arange(function.n_in()), self._arguments[0])

    @classmethod
    def of(cls, casadi: Any, function: Any) -> Self | None:
        """The tape of a function; None where an operation is none of NAMES."""
        known = {getattr(casadi, f"OP_{name}"): code for code, name in enumerate(NAMES)}
        codes = [known.get(function.instruction_id(k), -1) for k in range(function.n_instructions())]
        return None if -1 in codes else cls(function, codes)

    def __call__(self, *arrays: Array) -> Array:
        """Values (T, v) at arrays (T, ...), which take the places of the arguments."""
        frames = len(arrays[0])
        varies = np.array([bool(array.strides[0]) for array in arrays])
        parts: dict[bool, list[Array]] = {False: [np.zeros((1, 0))], True: [np.zeros((frames, 0))]}
        begin = np.zeros(len(arrays), np.int64)
        for k in np.flatnonzero(self._used):
            own = parts[bool(varies[k])]
            begin[k] = sum(part.shape[1] for part in own)
            own.append(columns(arrays[k] if varies[k] else arrays[k][:1]))
        argument, place = self._arguments
        rows = self._rows.copy()
        rows[1, self._inputs], rows[2, self._inputs] = begin[argument] + place, varies[argument]
        values = (np.empty if self._full else np.zeros)((frames, self.width))
        alike, varied = (np.concatenate(parts[which], axis=1) for which in (False, True))
        PLAY.load()(*rows, self._numbers, alike[0], varied, values, np.zeros(self._work))
        return values
