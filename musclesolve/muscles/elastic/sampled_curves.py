"""Curves as cubic splines over equal steps: value, slope and curvature of many muscles at once, all continuous.

Newton's method needs second derivatives, which families of Hill curves do not offer, and which some of them do not
have. A spline through samples of a curve has them everywhere; between samples 1e-3 apart it differs from a smooth curve
by less than 1e-10.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from musclesolve._util.arrays import Array, Indices


class Curved(NamedTuple):
    """A quantity with its first and second derivative by its one argument."""

    value: Array
    slope: Array
    curvature: Array


@dataclass(frozen=True, eq=False)
class Grid:
    """Equal steps: the first and the last argument, and the number of steps."""

    first: float
    last: float
    steps: int

    @property
    def points(self) -> Array:
        """(steps + 1,) the arguments of the samples."""
        return np.linspace(self.first, self.last, self.steps + 1)

    @property
    def step(self) -> float:
        """Between samples."""
        return (self.last - self.first) / self.steps


@dataclass(frozen=True, eq=False)
class SampledCurves:
    """Cubic splines (k) over one grid, straight beyond its ends.

    coefficient (4, steps, k): of the powers 0 to 3 of the distance from the sample before; column (n,): the curve of
    each muscle; value (steps + 1, k): the samples.
    """

    grid: Grid
    coefficient: Array
    value: Array
    column: Indices

    @classmethod
    def of(cls, grid: Grid, curves: Sequence[Callable[[Array], Array]], column: Indices) -> SampledCurves:
        """Splines through samples of some functions; column: the function of each muscle, by number."""
        samples = np.stack([np.asarray(curve(grid.points), dtype=float) for curve in curves], axis=1)
        return cls.through(grid, samples, column)

    @classmethod
    def through(cls, grid: Grid, samples: Array, column: Indices) -> SampledCurves:
        """Splines through samples (steps + 1, k), with the third derivative continuous next to the ends."""
        from scipy.interpolate import CubicSpline

        coefficient = np.ascontiguousarray(CubicSpline(grid.points, samples).c[::-1])
        return cls(grid, coefficient, samples, np.asarray(column, dtype=np.intp))

    def __call__(self, x: Array) -> Curved:
        """At arguments (..., n), a column for each muscle."""
        grid = self.grid
        inside = np.clip(x, grid.first, grid.last)
        place, u = self.place(inside)
        c0, c1, c2, c3 = self.coefficient[:, place, self.column]
        value = c0 + u * (c1 + u * (c2 + u * c3))
        slope = c1 + u * (2.0 * c2 + 3.0 * u * c3)
        curvature = np.where(x == inside, 2.0 * c2 + 6.0 * u * c3, 0.0)
        return Curved(value + slope * (x - inside), slope, curvature)

    def inverse(self, y: Array) -> Array:
        """The arguments (T, n) of values (T, n) of curves that increase, by their samples; within the grid."""
        found = [np.interp(y[:, i], self.value[:, k], self.grid.points) for i, k in enumerate(self.column)]
        return np.stack(found, axis=1)

    def place(self, inside: Array) -> tuple[Indices, Array]:
        """Number of the interval, and distance from its beginning."""
        grid = self.grid
        # fmin: an argument that is no number has a value that is none, not an interval
        place = np.fmin((inside - grid.first) / grid.step, grid.steps - 1).astype(np.intp)
        return place, inside - (grid.first + place * grid.step)

    def muscles(self, which: Indices) -> SampledCurves:
        """The curves of some of the muscles."""
        return SampledCurves(self.grid, self.coefficient, self.value, self.column[which])


def positive_part(x: Array, width: float | Array) -> Array:
    """(x + sqrt(x^2 + width^2)) / 2: x where it is large, 0 where it is very negative, width / 2 at zero."""
    # for negative x in a form without cancellation
    root = np.hypot(x, width)
    return np.where(x > 0.0, 0.5 * (x + root), 0.5 * width**2 / (root - np.minimum(x, 0.0)))
