"""Layout of the work arrays of a frame.

`w` is one array of rows of STRIDE numbers, a row for each quantity of the muscles; `w[Z_L + i]` is z_l of muscle i.
Offsets are compile-time constants, so that no run-time check for overlap precedes a vectorized loop, and numpy
integers, because numba would compile a function once for each Python integer. `s` (SMALL_ROWS, R) has the quantities
of moments and soft rows.

Rows are padded to a multiple of LANES with muscles that move nothing and cost a^2 / 2, so that loops have no remainder;
maxima and sums over muscles leave them out.
"""

from typing import NamedTuple

import numpy as np

from musclesolve._util.arrays import AnyArray, Array

STRIDE = 4104
MAX_MUSCLES = 4096
LANES = 16
PADDING_WIDTH = 1e-3  # distance between the bounds of a padding muscle; no more than LEAST_REACH
(
    # of the free muscles
    LOWER, UPPER, P0, P1, P2, ROW_CURVATURE, A,
    BELOW, ABOVE, Z_L, Z_U, OMEGA, BEST, AT_LOWER,
    SLOPE, CURVATURE, PULL, INVERSE, RIGHT, D_A, D_L,
    D_U, INVERSE_BELOW, INVERSE_ABOVE, RATIO_L, RATIO_U, OWN, MIDDLE, WEIGHTS, SECANT,
    # of all muscles
    ALL_LOWER, ALL_UPPER, FREE_UPPER, INSIDE, MARGINAL, THETA, ALL_PULL,
    HALF, PULL_ERROR,
    # from here on c of each term of the cost that is no polynomial
    OTHER_TERMS,
) = np.arange(40) * STRIDE  # fmt: skip

(
    TARGET, COMPLIANCE, SCALE, MULTIPLIER, GUESS, BEST_MULTIPLIER, RESIDUAL,
    RHS, DIAGONAL, WEIGHT, RESERVE_WEIGHT, TRIAL, PREVIOUS,
    SMALL_ROWS,
) = np.arange(14)  # fmt: skip


class RateBounds(NamedTuple):
    """Limits on the change of activations from frame to frame (rate_limits.py); no limits where `time` is empty."""

    time: Array  # (T,) [s]
    activation_time: float  # time constant [s]
    deactivation_time: float  # time constant [s]
    before: Array  # (n,) activations of the last frame that was solved, updated in place
    since: Array  # (1,) its time [s], updated in place; NaN before the first one


def workspace_arrays(rows: int, muscles: int, terms: int) -> tuple[AnyArray, ...]:
    """The arrays of a Workspace for problems of this size."""
    return (
        np.empty(int(OTHER_TERMS) + (terms + 1) * STRIDE),
        np.empty((int(SMALL_ROWS), rows)),
        np.zeros((rows, muscles + LANES)),
        np.empty((rows, muscles + LANES)),
        np.empty((rows, rows)),
        np.empty(muscles, np.int64),
    )
