"""Functions of coordinates that joints, couplers and moving points are made of: value and derivative."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from musclesolve._util.arrays import Array


class Function(Protocol):
    """A number that depends on c coordinates x (T, c)."""

    def value(self, x: Array) -> Array:
        """f(x), (T,)."""
        ...

    def derivative(self, x: Array) -> Array:
        """df/dx, (T, c)."""
        ...

    def curvature(self, x: Array) -> Array:
        """d2f/dx_i2, (T, c); of every function here the mixed second derivatives are zero."""
        ...


@dataclass(frozen=True, eq=False)
class Constant:
    """f = value."""

    constant: float

    def value(self, x: Array) -> Array:
        """See Function."""
        return np.full(len(x), self.constant)

    def derivative(self, x: Array) -> Array:
        """See Function."""
        return np.zeros_like(x)

    def curvature(self, x: Array) -> Array:
        """See Function."""
        return np.zeros_like(x)


@dataclass(frozen=True, eq=False)
class Linear:
    """f = sum_i slopes_i x_i + intercept."""

    slopes: Array
    intercept: float

    def value(self, x: Array) -> Array:
        """See Function."""
        return x @ self.slopes + self.intercept

    def derivative(self, x: Array) -> Array:
        """See Function."""
        return np.broadcast_to(self.slopes, x.shape)

    def curvature(self, x: Array) -> Array:
        """See Function."""
        return np.zeros_like(x)


@dataclass(frozen=True, eq=False)
class Polynomial:
    """f = c_0 x^n + ... + c_n, the highest power first."""

    coefficients: Array

    def value(self, x: Array) -> Array:
        """See Function."""
        return np.asarray(np.polyval(self.coefficients, x[:, 0]), dtype=float)

    def derivative(self, x: Array) -> Array:
        """See Function."""
        return np.asarray(np.polyval(np.polyder(self.coefficients), x), dtype=float)

    def curvature(self, x: Array) -> Array:
        """See Function."""
        return np.asarray(np.polyval(np.polyder(self.coefficients, 2), x), dtype=float)


@dataclass(frozen=True, eq=False)
class PiecewiseCubic:
    """Through knots (k,), with slopes and half second derivatives there, cubic between; straight beyond the ends."""

    knots: Array
    values: Array
    slopes: Array
    bends: Array
    twists: Array

    def value(self, x: Array) -> Array:
        """See Function."""
        k, s = self._place(x[:, 0])
        return self.values[k] + s * (self.slopes[k] + s * (self.bends[k] + s * self.twists[k]))

    def derivative(self, x: Array) -> Array:
        """See Function."""
        k, s = self._place(x[:, 0])
        return (self.slopes[k] + s * (2.0 * self.bends[k] + 3.0 * s * self.twists[k]))[:, None]

    def curvature(self, x: Array) -> Array:
        """See Function."""
        k, s = self._place(x[:, 0])
        return (2.0 * self.bends[k] + 6.0 * s * self.twists[k])[:, None]

    def _place(self, x: Array) -> tuple[Array, Array]:
        k = np.searchsorted(self.knots, x, side="right") - 1
        at = np.maximum(k, 0)
        return np.where(k < 0, len(self.values) - 1, at), x - self.knots[at]


def _with_ends(knots: Array, values: Array, slopes: Array, bends: Array, twists: Array) -> PiecewiseCubic:
    """Pieces (k-1) with a straight one after the last knot and, as the last piece, one before the first knot."""
    step = knots[-1] - knots[-2]
    last = slopes[-1] + step * (2.0 * bends[-1] + 3.0 * step * twists[-1])
    return PiecewiseCubic(
        knots,
        np.concatenate([values, values[:1]]),
        np.concatenate([slopes, [last, slopes[0]]]),
        np.concatenate([bends, [0.0, 0.0]]),
        np.concatenate([twists, [0.0, 0.0]]),
    )


def simm_spline(knots: Array, values: Array) -> PiecewiseCubic:
    """The cubic spline of SIMM and OpenSim (class SimmSpline).

    Second derivatives are continuous; in the first and the last interval the third derivative is that of the cubic
    through the four knots at that end (Forsythe, Malcolm and Moler 1977, Computer methods for mathematical
    computations, 4.4), zero where there are only three.
    """
    if len(knots) == 2:
        return piecewise_linear(knots, values)
    step = np.diff(knots)
    rise = np.diff(values) / step
    count = len(knots)
    matrix, right = np.zeros((count, count)), np.zeros(count)
    inner = np.arange(1, count - 1)
    matrix[inner, inner - 1], matrix[inner, inner + 1] = step[:-1], step[1:]
    matrix[inner, inner] = 2.0 * (step[:-1] + step[1:])
    right[1:-1] = np.diff(rise)
    matrix[0, :2] = matrix[-1, -2:] = (
        -1.0,
        1.0,
    )  # sigma = f'' / 6, so its slope is the third divided difference
    if count > 3:
        right[0] = step[0] * _third_difference(knots[:4], rise[:3])
        right[-1] = step[-1] * _third_difference(knots[-4:], rise[-3:])
    sigma = np.asarray(np.linalg.solve(matrix, right), dtype=float)
    slopes = rise - step * (2.0 * sigma[:-1] + sigma[1:])
    return _with_ends(knots, values, slopes, 3.0 * sigma[:-1], np.diff(sigma) / step)


def _third_difference(knots: Array, rise: Array) -> float:
    """f[x0, x1, x2, x3] from the first divided differences."""
    second = np.diff(rise) / (knots[2:] - knots[:-2])
    return float((second[1] - second[0]) / (knots[3] - knots[0]))


def piecewise_linear(knots: Array, values: Array) -> PiecewiseCubic:
    """Straight between the knots, and beyond the ends as in the last interval."""
    rise = np.diff(values) / np.diff(knots)
    return _with_ends(knots, values, rise, np.zeros_like(rise), np.zeros_like(rise))


@dataclass(frozen=True, eq=False)
class Scaled:
    """f = scale g."""

    function: Function
    scale: float

    def value(self, x: Array) -> Array:
        """See Function."""
        return self.scale * self.function.value(x)

    def derivative(self, x: Array) -> Array:
        """See Function."""
        return self.scale * self.function.derivative(x)

    def curvature(self, x: Array) -> Array:
        """See Function."""
        return self.scale * self.function.curvature(x)


KNOTTED: dict[str, Callable[[Array, Array], Function]] = {
    "SimmSpline": simm_spline,
    "NaturalCubicSpline": simm_spline,
    "natCubicSpline": simm_spline,
    "PiecewiseLinearFunction": piecewise_linear,
}
"""Functions given by knots <x> and values <y>; the cubic spline by its names in older files too."""
