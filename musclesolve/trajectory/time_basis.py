"""The tendon coordinate through time: a cubic spline with knots at the frames, twice continuously differentiable.

    z(t) = sum_j c_j B_j(t),     z_t = (Z c)_t,     dz/dt_t = (Y c)_t

with as many coefficients as frames: the third derivative is zero in the first and in the last interval. Each frame
depends on three coefficients. Rates of a smooth motion are exact to the fourth order of the time between frames; a
trapezoid rule would be exact to the second, and would allow rates to alternate from frame to frame. Here, alternating
values have nearly no rate in the frames: only their forces keep them small (docs/elastic_tendons.md).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array, Indices

ROW = 3
"""Number of coefficients on which a frame depends."""


@dataclass(frozen=True, eq=False)
class TimeBasis:
    """The rows of Z and Y.

    first (T,): the first of the three coefficients of a frame; value, rate (T, 3): their factors in z_t and in dz/dt_t
    [1/s]; knots and ends (2, T): of the spline, whose first and last coefficient the others determine; empty without a
    spline.
    """

    first: Indices
    value: Array
    rate: Array
    knots: Array
    ends: Array

    @classmethod
    def from_times(cls, time: Array) -> TimeBasis:
        """The basis of frames at times (T,) [s], four or more."""
        from scipy.interpolate import BSpline

        count = len(time)
        # the frames, with three more knots on either side at the distance of the nearest two
        beyond = np.arange(1, 4)
        before = time[0] - beyond[::-1] * (time[1] - time[0])
        after = time[-1] + beyond * (time[-1] - time[-2])
        knots = np.concatenate([before, time, after])
        rows = np.arange(count)
        spline = BSpline(knots, np.eye(count + 2), 3)
        third = spline.derivative(3)(0.5 * (time[[0, -2]] + time[[1, -1]]))
        inner = np.zeros((count + 2, count))
        inner[1:-1] = np.eye(count)
        inner[0], inner[-1] = -third[0, 1:-1] / third[0, 0], -third[1, 1:-1] / third[1, -1]
        first = np.clip(rows - 1, 0, count - ROW)
        columns = first[:, None] + np.arange(ROW)
        value, rate = (
            (matrix @ inner)[rows[:, None], columns] for matrix in (spline(time), spline.derivative()(time))
        )
        return cls(first.astype(np.intp), value, rate, knots, inner[[0, -1]])

    @classmethod
    def from_frame_count(cls, count: int) -> TimeBasis:
        """The basis of three or more frames without a spline: z_t = c_t, without rates."""
        rows = np.arange(count)
        first = np.clip(rows - 1, 0, count - ROW)
        value = (first[:, None] + np.arange(ROW) == rows[:, None]).astype(np.float64)
        return cls(first.astype(np.intp), value, np.zeros_like(value), np.zeros(0), np.zeros((2, 0)))

    def values(self, coefficient: Array) -> Array:
        """The values Z c, (T, n), of coefficients (T, n)."""
        return self._times(self.value, coefficient)

    def rates(self, coefficient: Array) -> Array:
        """The rates Y c, (T, n) [1/s], of coefficients (T, n)."""
        return self._times(self.rate, coefficient)

    def gather(self, of_value: Array, of_rate: Array) -> Array:
        """The sum Z^T p + Y^T q, (T, n), of p and q (T, n)."""
        total = np.zeros_like(of_value)
        for k in range(ROW):
            part = self.value[:, k, None] * of_value + self.rate[:, k, None] * of_rate
            # frames but the first and the last begin one after the other
            total[k : k + len(part) - 2] += part[1:-1]
            total[k] += part[0]
            total[len(part) - ROW + k] += part[-1]
        return total

    def coefficients(self, value: Array) -> Array:
        """The coefficients c with Z c = value, both (T, n)."""
        from scipy.linalg import solve_banded

        count = len(self.first)
        band = np.zeros((2 * ROW - 1, count))
        for k in range(ROW):
            column = self.first + k
            band[ROW - 1 + np.arange(count) - column, column] = self.value[:, k]
        return np.asarray(solve_banded((ROW - 1, ROW - 1), band, value, check_finite=False))

    def between(self, coefficient: Array, time: Array) -> tuple[Array, Array]:
        """The values z and rates dz/dt [1/s] at other times (k,) [s], (k, n) each."""
        from scipy.interpolate import BSpline

        first, last = self.ends @ coefficient
        spline = BSpline(self.knots, np.vstack([first, coefficient, last]), 3)
        return spline(time), spline.derivative()(time)

    def _times(self, row: Array, coefficient: Array) -> Array:
        total = row[:, :1] * coefficient[self.first]
        for k in range(1, ROW):
            total = total + row[:, k, None] * coefficient[self.first + k]
        return np.asarray(total)
