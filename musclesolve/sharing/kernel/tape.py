"""Instructions of a CasADi function of one frame, compiled: each works on LANES frames at once.

CasADi's own machine reads every instruction again for every frame, which takes ten times as long as the arithmetic.
"""

from pathlib import Path
from typing import Any, Self

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.compiled_code import OPTIONS, on_disk
from musclesolve.sharing.cost.cost_terms import columns

LANES = 32
NAMES = (
    "INPUT OUTPUT CONST ASSIGN ADD SUB MUL DIV NEG SQ TWICE INV SQRT EXP LOG POW CONSTPOW FABS SIN COS TANH "
    "LOG1P EXPM1 NOT LT LE EQ NE AND OR IF_ELSE_ZERO"
).split()
"""Operations of CasADi that are compiled, by name; their places are their codes."""
INPUT, OUTPUT, CONST, ASSIGN, ADD, SUB, MUL, DIV, NEG, SQ, TWICE, INV, SQRT, EXP, LOG, POW, CONSTPOW = range(
    17
)
FABS, SIN, COS, TANH, LOG1P, EXPM1, NOT, LT, LE, EQ, NE, AND, OR, IF_ELSE_ZERO = range(17, len(NAMES))


def play(code, first, second, place, number, alike, varied, values, work):  # type: ignore[no-untyped-def]
    """Fill values (T, v) from numbers that are alike in all frames (p,) and others (T, q); work is (w, LANES).

    Instructions have a code, rows `first` and `second` of work that they read, a row or a value `place` that they write
    and a number. Inputs read the number `first` of `varied`, or of `alike` where `second` is zero.
    """
    for start in range(0, values.shape[0], LANES):
        count = min(LANES, values.shape[0] - start)
        for k in range(code.size):
            what, i, j, o = code[k], first[k], second[k], place[k]
            if what == INPUT:
                z = work[o]
                if j == 0:
                    for t in range(LANES):
                        z[t] = alike[i]
                else:
                    for t in range(count):
                        z[t] = varied[start + t, i]
                continue
            if what == OUTPUT:
                x = work[i]
                for t in range(count):
                    values[start + t, o] = x[t]
                continue
            x, y, z = work[i], work[j], work[o]
            if what == CONST:
                for t in range(LANES):
                    z[t] = number[k]
            elif what == ASSIGN:
                for t in range(LANES):
                    z[t] = x[t]
            elif what == ADD:
                for t in range(LANES):
                    z[t] = x[t] + y[t]
            elif what == SUB:
                for t in range(LANES):
                    z[t] = x[t] - y[t]
            elif what == MUL:
                for t in range(LANES):
                    z[t] = x[t] * y[t]
            elif what == DIV:
                for t in range(LANES):
                    z[t] = x[t] / y[t]
            elif what == NEG:
                for t in range(LANES):
                    z[t] = -x[t]
            elif what == SQ:
                for t in range(LANES):
                    z[t] = x[t] * x[t]
            elif what == TWICE:
                for t in range(LANES):
                    z[t] = 2.0 * x[t]
            elif what == INV:
                for t in range(LANES):
                    z[t] = 1.0 / x[t]
            elif what == SQRT:
                for t in range(LANES):
                    z[t] = np.sqrt(x[t])
            elif what == EXP:
                for t in range(LANES):
                    z[t] = np.exp(x[t])
            elif what == LOG:
                for t in range(LANES):
                    z[t] = np.log(x[t])
            elif what in (POW, CONSTPOW):
                for t in range(LANES):
                    z[t] = x[t] ** y[t]
            elif what == FABS:
                for t in range(LANES):
                    z[t] = abs(x[t])
            elif what == SIN:
                for t in range(LANES):
                    z[t] = np.sin(x[t])
            elif what == COS:
                for t in range(LANES):
                    z[t] = np.cos(x[t])
            elif what == TANH:
                for t in range(LANES):
                    z[t] = np.tanh(x[t])
            elif what == LOG1P:
                for t in range(LANES):
                    z[t] = np.log1p(x[t])
            elif what == EXPM1:
                for t in range(LANES):
                    z[t] = np.expm1(x[t])
            elif what == NOT:
                for t in range(LANES):
                    z[t] = 1.0 if x[t] == 0.0 else 0.0
            elif what == LT:
                for t in range(LANES):
                    z[t] = 1.0 if x[t] < y[t] else 0.0
            elif what == LE:
                for t in range(LANES):
                    z[t] = 1.0 if x[t] <= y[t] else 0.0
            elif what == EQ:
                for t in range(LANES):
                    z[t] = 1.0 if x[t] == y[t] else 0.0
            elif what == NE:
                for t in range(LANES):
                    z[t] = 1.0 if x[t] != y[t] else 0.0
            elif what == AND:
                for t in range(LANES):
                    z[t] = 1.0 if x[t] != 0.0 and y[t] != 0.0 else 0.0
            elif what == OR:
                for t in range(LANES):
                    z[t] = 1.0 if x[t] != 0.0 or y[t] != 0.0 else 0.0
            else:  # IF_ELSE_ZERO
                for t in range(LANES):
                    z[t] = y[t] if x[t] != 0.0 else 0.0


MESSAGE = "compiling the arithmetic of expressions for this machine, once (a few seconds)"
PLAY = on_disk(MESSAGE, Path(__file__), options=OPTIONS | {"fastmath": False})(
    play, "i1? i1? i1? i1? r1? r1? r2? r2 r2"
)


class Tape:
    """The instructions of a function of several arguments with one result."""

    def __init__(self, casadi: Any, function: Any, codes: list[int]) -> None:
        kept, self.width = function.sparsity_out(0), function.numel_out(0)
        dense = np.asarray(kept.row()) + np.asarray(kept.get_col()) * kept.size1()
        row = np.zeros(
            function.sz_w() + 1, np.int64
        )  # of each number of the machine, the second of its two rows or not
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
        return None if -1 in codes else cls(casadi, function, codes)

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
