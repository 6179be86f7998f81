"""Where the numbers of a frame lie while it is at work.

`w` is one array of rows of STRIDE numbers, a row for each quantity of the muscles; `w[Z_L + i]` is z_l of muscle i.
Distances between rows are numbers that the compiler knows, so that it need not ask at run time whether two rows
overlap before it takes several muscles at once. (They are integers of numpy's, not of Python's, for which numba would
compile a function once for each number.) `s` (SMALL_ROWS, R) has the quantities of moments and soft rows.

Rows are filled up to a multiple of LANES, with muscles that move nothing and cost a^2 / 2, so that no rest of a row
goes through the processor one by one; whatever asks for a largest value or a sum over muscles leaves them out.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

STRIDE = 1032
MOST_MUSCLES = 1024
LANES = 16
WIDTH_OF_NONE = 1e-3
"""Between the bounds of a muscle that only fills up a row; no more than scale.LEAST_REACH."""

(
    # of the muscles that have room between their bounds
    LOWER, UPPER, P0, P1, P2, ROWS_BENT, A,
    BELOW, ABOVE, Z_L, Z_U, OMEGA, BEST, AT_LOWER,
    SLOPE, BENT, PULL, INVERSE, RIGHT, D_A, D_L,
    D_U, OVER_L, OVER_U, RATIO_L, RATIO_U, OWN, MIDDLE, WEIGHTS, SECANT,
    # of all muscles
    ALL_LOWER, ALL_UPPER, TOP, INSIDE, MARGINAL, THETA, PAID,
    HALF, BLUR,
    # and from here on c of each term of the cost that is no polynomial
    OTHER,
) = np.arange(40) * STRIDE  # fmt: skip

(
    TARGET, COMPLIANCE, SCALE, PRICE, GUESS, ANSWER, SHORT,
    RHS, DIAGONAL, WEIGHT, RESERVE_WEIGHT, TRIAL, LAST,
    SMALL_ROWS,
) = np.arange(14)  # fmt: skip


def room_for(rows: int, muscles: int, terms: int) -> tuple[NDArray[Any], ...]:
    """The arrays for work of problems of this size: w, s, moments and soft rows of all muscles and of some, and others.

    Args:
        rows: R, moments and soft rows.
        muscles: n.
        terms: K, those of the cost.
    """
    return (
        np.empty(int(OTHER) + (terms + 1) * STRIDE),
        np.empty((int(SMALL_ROWS), rows)),
        np.zeros((rows, muscles + LANES)),
        np.empty((rows, muscles + LANES)),
        np.empty((rows, rows)),
        np.empty(muscles, np.int64),
    )
