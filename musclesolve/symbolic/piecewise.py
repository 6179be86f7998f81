"""Functions of one number as expressions: pieces of polynomials, and splines through many samples."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

import casadi as ca
import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.muscles.curves.millard_2013 import Tabulated
from musclesolve.muscles.elastic.elastic_muscles import SampledCurves
from musclesolve.muscles.paths.paths import NaturalSpline
from musclesolve.opensim import functions

_NUMBER = count()


def of_coordinates(function: functions.Function, x: list[Any]) -> Any:
    """A function of coordinates of an OpenSim model, for expressions of the coordinates."""
    match function:
        case functions.Constant():
            return function.constant
        case functions.LinearFunction():
            return (
                sum(slope * each for slope, each in zip(function.slopes, x, strict=True)) + function.intercept
            )
        case functions.Polynomial():
            terms = zip(function.coefficients, function.powers, strict=True)
            return sum(
                c * _product([v ** int(n) for v, n in zip(x, powers, strict=True) if n])
                for c, powers in terms
            )
        case functions.Sine():
            return function.amplitude * ca.sin(function.omega * x[0] + function.phase) + function.offset
        case functions.PiecewisePolynomial():
            return piecewise(x[0], function.knots, function.coefficients)
        case functions.Scaled():
            return function.scale * of_coordinates(function.function, x)
    raise TypeError(f"{type(function).__name__} has no expression")


def _product(factors: list[Any]) -> Any:
    total: Any = 1.0
    for factor in factors:
        total = total * factor
    return total


def piecewise(x: Any, knots: Array, coefficients: Array) -> Any:
    """sum_n c_pn (x - start_p)^n in the piece p of x, with coefficients (k + 1, N) as in `PiecewisePolynomial`."""
    start, row = float(knots[0]), list(coefficients[-1].astype(float))
    for knot, piece in zip(knots, coefficients, strict=False):
        begun = x >= knot
        start = ca.if_else(begun, knot, start)
        row = [ca.if_else(begun, new, old) for new, old in zip(piece.astype(float), row, strict=True)]
    value: Any = 0.0
    for factor in reversed(row):
        value = value * (x - start) + factor
    return value


def natural_spline(spline: NaturalSpline, x: Any) -> list[Any]:
    """The components of a natural spline: of the motion of a moving frame."""
    h, values, bend = np.diff(spline.knots)[:, None], spline.values, spline.curvatures
    rise = np.diff(values, axis=0) / h
    slope = rise - h * (2.0 * bend[:-1] + bend[1:]) / 6.0
    inner = np.stack([values[:-1], slope, 0.5 * bend[:-1], np.diff(bend, axis=0) / (6.0 * h)])
    zero, last = np.zeros_like(values[0]), rise[-1] + h[-1] * (bend[-2] + 2.0 * bend[-1]) / 6.0
    ends = np.stack([[values[-1], last, zero, zero], [values[0], slope[0], zero, zero]], axis=1)
    pieces = np.concatenate([inner, ends], axis=1)
    return [
        piecewise(x, spline.knots, column) if column.any() else 0.0 for column in pieces.transpose(2, 1, 0)
    ]


def hermite(first: float, last: float, height: Array, slope: Array) -> Callable[[Any], Any]:
    """Cubic spline through heights and slopes at equal steps (N,), straight beyond its ends: a map of columns.

    As a B-spline it has double knots; its coefficients are the inner Bezier points of the pieces.
    """
    nodes, step = np.linspace(first, last, len(height)), (last - first) / (len(height) - 1)
    inner = np.stack([height[:-1] + slope[:-1] * step / 3.0, height[1:] - slope[1:] * step / 3.0], axis=1)
    knots = np.concatenate([[first] * 4, np.repeat(nodes[1:-1], 2), [last] * 4])
    numbers = np.concatenate([height[:1], inner.ravel(), height[-1:]])
    spline = ca.Function.bspline(f"spline_{next(_NUMBER)}", [knots.tolist()], numbers.tolist(), [3], 1, {})

    def value(x: Any) -> Any:
        inside = ca.fmin(ca.fmax(x, first), last)
        beyond = slope[0] * ca.fmin(x - first, 0.0) + slope[-1] * ca.fmax(x - last, 0.0)
        return spline.map(x.numel())(inside.T).T + beyond

    return value


def tabulated(curve: Tabulated) -> Callable[[Any], Any]:
    """A tabulated curve, constant beyond its ends."""
    slope = curve.slope.copy()
    spline = hermite(curve.first, curve.last, curve.height, slope)
    return lambda x: spline(ca.fmin(ca.fmax(x, curve.first), curve.last))


def sampled(curves: SampledCurves) -> Callable[[Any], Any]:
    """The curves of n muscles for a column (n, 1) of arguments; muscles with equal curves share one spline."""
    grid, step = curves.grid, curves.grid.step
    _, c1, c2, c3 = curves.coefficient[:, :, curves.column]
    height = curves.value[:, curves.column]
    slope = np.concatenate([c1, (c1 + step * (2.0 * c2 + 3.0 * step * c3))[-1:]])
    alike: dict[bytes, list[int]] = {}
    for k in range(height.shape[1]):
        alike.setdefault(np.round(height[:, k], 14).tobytes(), []).append(k)
    splines = [
        (members, hermite(grid.first, grid.last, height[:, members[0]], slope[:, members[0]]))
        for members in alike.values()
    ]

    def value(x: Any) -> Any:
        return in_order([(members, spline(x[members])) for members, spline in splines])

    return value


def in_order(parts: list[tuple[list[int], Any]]) -> Any:
    """Rows of parts with these numbers, joined in the order of the numbers."""
    numbers = np.concatenate([members for members, _ in parts])
    joined = ca.vertcat(*(part for _, part in parts))
    return joined if (np.diff(numbers) > 0).all() else joined[np.argsort(numbers).tolist(), :]
