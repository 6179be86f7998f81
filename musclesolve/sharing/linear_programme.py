"""Linear programmes by HiGHS (SciPy)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from musclesolve._util.arrays import Array


def minimise(
    cost: Array,
    rows: Array,
    right: Array,
    bounds: Sequence[tuple[float, float | None]],
    limits: Array | None = None,
    at_most: Array | None = None,
) -> tuple[Array, Array] | None:
    """Solution and multipliers of minimise cost . x, rows x = right, limits x <= at_most; None if there is none.

    `at_most` is zero unless given.
    """
    from scipy.optimize import linprog

    if limits is not None and at_most is None:
        at_most = np.zeros(len(limits))
    found = linprog(cost, A_ub=limits, b_ub=at_most, A_eq=rows, b_eq=right, bounds=bounds)
    return (found.x, found.eqlin.marginals) if found.status == 0 else None
