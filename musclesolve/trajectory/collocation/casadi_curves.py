"""Sampled curves as CasADi expressions: the same splines, with derivatives of every order that CasADi makes."""

from __future__ import annotations

from typing import Any

import casadi
import numpy as np

from musclesolve._util.arrays import AnyArray
from musclesolve.muscles.elastic.sampled_curves import SampledCurves


def columns(values: AnyArray, rows: int) -> Any:
    """Numbers of n muscles, or of P times and n muscles (P, n), as a column of P n numbers, muscle by muscle."""
    values = np.asarray(values, dtype=float)
    return casadi.DM(np.broadcast_to(values, (rows, values.shape[-1])).ravel())


def spline(curves: SampledCurves, x: Any, rows: int) -> Any:
    """The curves at x, a column of P n symbols (casadi.MX), P = rows; straight beyond the ends of the grid.

    In the piece of x, with the distance u from the sample before it,

        c0 + u c1 + u^2 c2 + u^3 c3.

    The number of the piece has no derivative, and the splines are twice continuously differentiable: first and second
    derivatives of the expression are those of the curve everywhere.
    """
    grid, kinds = curves.grid, curves.coefficient.shape[2]
    inside = casadi.fmin(casadi.fmax(x, grid.first), grid.last)
    piece = casadi.fmin(casadi.floor((inside - grid.first) / grid.step), grid.steps - 1)
    u = inside - (grid.first + piece * grid.step)
    place = piece * kinds + columns(curves.column, rows)
    c0, c1, c2, c3 = (casadi.MX(casadi.DM(table.ravel()))[place] for table in curves.coefficient)
    value = c0 + u * (c1 + u * (c2 + u * c3))
    slope = c1 + u * (2.0 * c2 + 3.0 * u * c3)
    return value + slope * (x - inside)
