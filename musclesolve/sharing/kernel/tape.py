"""Instructions of a CasADi function of one frame, compiled: each works on LANES frames at once.

CasADi's own machine reads every instruction again for every frame, which takes ten times as long as the arithmetic.
"""

from pathlib import Path

import numpy as np

from musclesolve._util.compiled_code import OPTIONS, on_disk

LANES = 32
NAMES = (
    "INPUT OUTPUT CONST ASSIGN ADD SUB MUL DIV NEG SQ TWICE INV SQRT EXP LOG POW CONSTPOW FABS SIN COS TANH "
    "LOG1P EXPM1 NOT LT LE EQ NE AND OR IF_ELSE_ZERO"
).split()
"""Operations of CasADi that are compiled, by name; their places are their codes."""
INPUT, OUTPUT, CONST, ASSIGN, ADD, SUB, MUL, DIV, NEG, SQ, TWICE, INV, SQRT, EXP = range(14)
LOG, POW, CONSTPOW, FABS, SIN, COS, TANH, LOG1P, EXPM1, NOT, LT, LE, EQ, NE, AND, OR, IF_ELSE_ZERO = range(
    14, len(NAMES)
)


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
