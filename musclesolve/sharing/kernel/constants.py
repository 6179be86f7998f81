"""Every constant that compiled code shares with numpy code. Needs no numba.

Compiled code imports constants from here and from its own folder only, and numpy code imports them from here: the
folder alone then decides whether compiled code that is cached on disk is still valid (entry.py).
"""

import numpy as np

# Status of a frame; the members of `Status` have these values.
SOLVED, SOLVED_WITH_RESERVE, INFEASIBLE, MAX_ITERATIONS, INVALID_INPUT, SOLVER_FAILED = range(6)
UNRESOLVED = -1  # a frame without certificate or proof; another method has to solve it
ONWARD, ONWARD_RESERVED = -2, -3  # a frame that the interior point has to solve, without and with reserves
HUGE = 1e100  # numbers of a problem from here on make a frame invalid

# Certificate (certificate.py, problem_scale.py)
TOLERANCE = 1e-6
LEAST_SIZE = 1e-9
ROUNDING = float(np.finfo(np.float64).eps)
LEAST_NORMAL = float(np.finfo(np.float64).tiny)
UNCERTAIN, UNCERTAIN_WITH_RESERVES = TOLERANCE, 1e-3
"""Share of S_i that round-off in p_i may reach before it counts as a miss."""
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
PATIENCE = 40  # number of iterations after which a hundredfold tolerance is enough
FIRST = (0.02, 0.3)  # least and largest start, as a share of the way from the lower to the upper bound
FIRST_MU = 0.1
NOTHING_MISSING = 1e-7
LEAST_OMEGA = 1e-12
DIVERGED = 1e9
"""Size of A^T lambda over the largest omega, beyond which the moments will never be met exactly.

Round-off then hides the marginal costs of other muscles (certificate.py); solving.py gives such frames stiff reserves.
"""

# Cholesky factors of matrices with unit diagonal
RIDGE = 1e-14
EMPTY_ROW = 1e-30
EMPTY_PIVOT = 1e-8

# Kinds of terms of a cost (cost_terms.py)
TERM_POWER, TERM_SATURATION, TERM_TARGET = 0, 1, 2

# Calls of the compiled function
CHAIN = 64
"""Length of a chain of frames that start from the multipliers of the frame before; the next chain starts cold."""
SOLVE, CERTIFY, IN_ORDER = 0, 1, 2
