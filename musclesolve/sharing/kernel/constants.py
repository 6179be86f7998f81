"""Every constant that compiled code shares with numpy code. Needs no numba.

Compiled code imports constants from here and from its own folder only, and numpy code imports them from here: the
folder alone then decides whether compiled code that is cached on disk is still valid (entry.py).
"""

from typing import NamedTuple

import numpy as np

from musclesolve._util.arrays import AnyArray, Array

# Status of a frame; the members of `Status` have these values.
SOLVED, SOLVED_WITH_RESERVE, INFEASIBLE, MAX_ITERATIONS, INVALID_INPUT, SOLVER_FAILED = range(6)
UNRESOLVED = -1  # a frame without certificate or proof; another method has to solve it
ONWARD, ONWARD_RESERVED = -2, -3  # a frame that the interior point has to solve, without and with reserves
HUGE = 1e100  # numbers of a problem from here on make a frame invalid

# Certificate (certificate.py, problem_scale.py)
GAP = 1e-9  # of a solved frame, without unit
TOLERANCE = 1e-6  # miss of a moment over max(1 N m, |b|), and cost of the misses over W, of a solved frame
UNIT_ROUNDING = 2.0**-53
LEAST_NORMAL = float(np.finfo(np.float64).tiny)
NEAR_BOUND = 1e-6  # share of the distance of the bounds within which a muscle may rest on one
OF_TARGETS = 1e-9  # least W of resting muscles that targets draw, over their falling slopes and ranges
ROUNDED = 8.0 * UNIT_ROUNDING  # share by which a product of two rounded numbers may miss a third one
LEAST_REACH = 1e-3
BESIDE_ROWS = 1e-3
LEAST_CHANGE = 1e-10  # share of the change of a level from which it may decide a muscle; less is round-off

# Reserves (problem_scale.py)
FALLBACK = 100.0
AT_EDGE = (1e8, 1e11)
"""Cost at the edge of reach of a reserve as large as the moment, or 1 N m, in costs of full activation.

The second value serves muscles of very different strength: a moment of strong muscles costs little, so that a reserve
with the first value may bear more of the moment than the certificate allows.
"""

IDLE = 1e-20  # largest entry of an idle muscle, as a share of the largest entry of the matrix

# Interior-point methods
NO_ROOM = 1e-12  # distance between the bounds at which a muscle counts as fixed
TO_BOUNDARY, TO_BOUNDARY_LATER = 0.99, 0.9  # share of the way to the nearest bound that a step may go
LONG = 25  # number of iterations after which the second share holds
PATIENCE = 40  # number of iterations after which a tenfold tolerance is enough
END_WEIGHTS, PATIENT_END_WEIGHTS = (1e4, 1e2), (10.0, 1e-3)
"""Weights of the gap and of the cost of missed moments beside the miss of the moments, before PATIENCE and after it.

With the tolerance 1e-9 a frame ends at a gap of 1e-13, which leaves activations an error of about its root, and at a
cost of the misses of 1e-11 W; with patience at what the certificate allows. A missed moment with a reserve above
TOLERANCE may count by the change of the reserve that closes it, as in the certificate.
"""
FLAT_FROM, FLAT_END_WEIGHTS = 6.0, (10.0, 1.0)
"""Power above which costs are so flat that a smaller gap does not bring activations nearer; the weights there."""
OF_LOWER = 1e-3
"""Least W at which a frame ends, over sum_i |f_i'(lower_i)| a_i: marginal costs vanish where targets are met."""
FIRST = (0.02, 0.3)  # least and largest start, as a share of the way from the lower to the upper bound
FIRST_MU = 0.1
NOTHING_MISSING = 1e-12
LEAST_OMEGA = 1e-12
DIVERGED = 1e9
"""Size of A^T lambda over the largest omega, beyond which the moments will never be met exactly.

Round-off then hides the marginal costs of other muscles (certificate.py); solving.py gives such frames stiff reserves.
"""

# Cholesky factors of matrices with unit diagonal
RIDGE = 1e-14
EMPTY_ROW = 1e-30
EMPTY_PIVOT = 1e-8
POOR = 1e5  # inverse pivot that has lost too many digits
DEPENDENT = 1e-24  # pivot of a row that depends on others, as far as numbers tell

# Kinds of terms of a cost (cost_terms.py)
TERM_POWER, TERM_SATURATION, TERM_TARGET = 0, 1, 2

# Calls of the compiled function
CHAIN = 64
"""Length of a chain of frames that start from the multipliers of the frame before; the next chain starts cold."""
SOLVE, CERTIFY, IN_ORDER, ALONE = 0, 1, 2, 3  # ALONE: solve, each frame from a cold start


# Layout of the work arrays of a frame. `w` is one array of rows of STRIDE numbers, a row for each quantity of the
# muscles; `w[Z_L + i]` is z_l of muscle i. Offsets are compile-time constants, so that no run-time check for overlap
# precedes a vectorized loop, and numpy integers, because numba would compile a function once for each Python integer.
# `s` (SMALL_ROWS, R) has the quantities of moments and soft rows. Rows are padded to a multiple of LANES with muscles
# that move nothing and cost a^2 / 2, so that loops have no remainder; maxima and sums over muscles leave them out.
STRIDE = 65_544
MAX_MUSCLES = 65_536
LANES = 16
PADDING_WIDTH = 1e-3  # distance between the bounds of a padding muscle; no more than LEAST_REACH
(
    # of the free muscles
    LOWER, UPPER, P0, P1, P2, ROW_CURVATURE, A,
    BELOW, ABOVE, Z_L, Z_U, OMEGA, BEST, AT_LOWER,
    SLOPE, CURVATURE, PULL, INVERSE, RIGHT, D_A, D_L,
    D_U, INVERSE_BELOW, INVERSE_ABOVE, RATIO_L, RATIO_U, OWN, MIDDLE, WEIGHTS, SECANT,
    # of all muscles
    ALL_LOWER, ALL_UPPER, FREE_UPPER, INSIDE, MARGINAL, WHOLE_SLOPE, ALL_PULL,
    HALF, PULL_ERROR, RISE,
    # of the terms of the cost
    LEVEL,
    # from here on c of each term of the cost that is no polynomial
    OTHER_TERMS,
) = np.arange(42) * STRIDE  # fmt: skip

(
    TARGET, COMPLIANCE, SCALE, MULTIPLIER, GUESS, BEST_MULTIPLIER, RESIDUAL, OF_ROWS,
    RHS, DIAGONAL, WEIGHT, RESERVE_WEIGHT, TRIAL, PREVIOUS,
    SMALL_ROWS,
) = np.arange(15)  # fmt: skip


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
        np.empty((2 * rows, muscles + LANES)),
        np.empty((rows, rows)),
        np.empty(muscles, np.int64),
    )
