"""Hill curves of Millard et al. (2013), J Biomech Eng 135:021005, as OpenSim builds them from quintic Bezier corners.

A corner goes from (x0, y0) with slope s0 to (x1, y1) with slope s1. Its tangents meet at (xc, yc); the six control
points are the ends and, twice each, points between an end and (xc, yc) at the share c of the way:

    x(u) = x0 (1-u)^5 + xa (5 u (1-u)^4 + 10 u^2 (1-u)^3) + xb (10 u^3 (1-u)^2 + 5 u^4 (1-u)) + x1 u^5,

with xa = x0 + c (xc - x0), xb = x1 + c (xc - x1); y likewise. x(u) increases, so that y is a function of x.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from musclesolve._util.arrays import Array
from musclesolve._util.bundled_toml import bundled_toml

_ITERATIONS = 25  # a safeguarded Newton step each; 6 suffice nearly everywhere
_CONVERGED = 1e-13  # step of u
_ROUNDING = 1e-12  # of slopes, so that a control value of a curve that ends at zero is not below it


class CurvePoint(NamedTuple):
    """A point of a curve and its slope there; numbers, or arrays of one shape."""

    x: float | Array
    y: float | Array
    slope: float | Array


class Corner(NamedTuple):
    """Control values (x0, xa, xb, x1) and (y0, ya, yb, y1), (..., 4) each."""

    x: Array
    y: Array

    def at(self, x: Array) -> tuple[Array, Array]:
        """Height and slope at x (...), within the corner."""
        # Newton steps for x(u) = x that stay between the numbers known to be below and above
        low, high = np.zeros_like(x), np.ones_like(x)
        u = np.clip((x - self.x[..., 0]) / (self.x[..., 3] - self.x[..., 0]), 0.0, 1.0)
        for _ in range(_ITERATIONS):
            miss = _value(self.x, u) - x
            low, high = np.where(miss < 0.0, u, low), np.where(miss > 0.0, u, high)
            step = u - miss / _rate(self.x, u)
            better = np.where((step >= low) & (step <= high), step, 0.5 * (low + high))
            done = np.abs(better - u) < _CONVERGED
            u = better
            if done.all():
                break
        return _value(self.y, u), _rate(self.y, u) / _rate(self.x, u)


def corner(start: CurvePoint, end: CurvePoint, curviness: float) -> Corner:
    """The corner between two points; curviness from 0, nearly straight, to 1."""
    share = 0.1 + 0.8 * curviness
    x0, y0, s0 = (np.asarray(value, dtype=float) for value in start)
    x1, y1, s1 = (np.asarray(value, dtype=float) for value in end)
    xc = (y1 - y0 - x1 * s1 + x0 * s0) / (s0 - s1)
    # by the flatter tangent: a level end is met exactly, and the corner stays between its ends
    yc = np.where(np.abs(s0) < np.abs(s1), y0 + (xc - x0) * s0, y1 + (xc - x1) * s1)
    return Corner(_controls(x0, xc, x1, share), _controls(y0, yc, y1, share))


def _controls(first: Array, middle: Array, last: Array, share: float) -> Array:
    inner = first + share * (middle - first), last + share * (middle - last)
    return np.stack(np.broadcast_arrays(first, *inner, last), axis=-1)


def _value(points: Array, u: Array) -> Array:
    v = 1.0 - u
    first, second = 5.0 * u * v**4 + 10.0 * u**2 * v**3, 10.0 * u**3 * v**2 + 5.0 * u**4 * v
    return np.asarray(
        points[..., 0] * v**5 + points[..., 1] * first + points[..., 2] * second + points[..., 3] * u**5
    )


def _rate(points: Array, u: Array) -> Array:
    """Derivative by u: a quartic Bezier curve of 5 times the differences, two of which are zero."""
    v = 1.0 - u
    before, between, after = (points[..., k + 1] - points[..., k] for k in range(3))
    return np.asarray(5.0 * (before * v**4 + 6.0 * between * u**2 * v**2 + after * u**4))


@dataclass(frozen=True, eq=False)
class Tabulated:
    """A curve of corners as a cubic Hermite spline over equal steps; constant beyond its ends."""

    first: float
    last: float
    height: Array  # (nodes,)
    slope: Array  # (nodes,)

    @classmethod
    def from_points(cls, points: Sequence[CurvePoint], curviness: Sequence[float], nodes: int = 4097) -> Self:
        """The curve through points, with the curviness of each corner between them."""
        first, last = float(points[0].x), float(points[-1].x)
        grid = np.linspace(first, last, nodes)
        height, slope = np.empty(nodes), np.empty(nodes)
        for start, end, bend in zip(points[:-1], points[1:], curviness, strict=True):
            inside = (grid >= start.x) & (grid <= end.x)
            height[inside], slope[inside] = corner(start, end, bend).at(grid[inside])
        # a cubic is monotonic up to three times the chords beside a node (Fritsch & Carlson 1980, SIAM J Numer Anal 17)
        most = (3.0 - _ROUNDING) * (nodes - 1) / (last - first) * np.abs(np.diff(height))
        most = np.minimum(np.append(most, np.inf), np.append(np.inf, most))
        return cls(first, last, height, np.clip(slope, -most, most))

    def value(self, x: Array) -> Array:
        """Height of the spline at x, of any shape."""
        k, t, step = self._place(x)
        v, before, after = 1.0 - t, self.height[k], self.height[k + 1]
        # in Bernstein's form: nonnegative control values leave no negative height by rounding
        inner = v * (before + step / 3.0 * self.slope[k]) + t * (after - step / 3.0 * self.slope[k + 1])
        return np.asarray(v**3 * before + 3.0 * t * v * inner + t**3 * after)

    def derivative(self, x: Array) -> Array:
        """Slope of the spline at x; zero beyond its ends."""
        k, t, step = self._place(x)
        chord = (self.height[k + 1] - self.height[k]) / step
        first, second = self.slope[k] - chord, self.slope[k + 1] - chord
        slope = chord + (1.0 - t) * (1.0 - 3.0 * t) * first + t * (3.0 * t - 2.0) * second
        return np.where((x > self.first) & (x < self.last), slope, np.where(np.isnan(x), np.nan, 0.0))

    def _place(self, x: Array) -> tuple[Array, Array, float]:
        """Number of the interval of x, place within it from 0 to 1, and length of an interval."""
        step = (self.last - self.first) / (len(self.height) - 1)
        place = (np.clip(x, self.first, self.last) - self.first) / step
        k = np.minimum(np.nan_to_num(place).astype(int), len(self.height) - 2)
        return k, np.minimum(place - k, 1.0), step


@dataclass(frozen=True)
class Millard2013:
    """Curves of quintic Bezier corners.

    name: the name of a table of ``millard_2013.toml`` with their parameters; table: such a table instead.
    """

    name: str = "millard_2013"
    table: Mapping[str, Mapping[str, float]] | None = field(default=None, compare=False)
    passive_strain: ClassVar[tuple[float, float]] = (0.0, 0.7)

    def active(self, l_norm: ArrayLike) -> Array:
        """1 at l = L0; a steep and a shallow ascending limb, a plateau, a descending limb."""
        return self._active.value(np.asarray(l_norm, dtype=float))

    def active_slope(self, l_norm: ArrayLike) -> Array:
        """Derivative of `active` by the length over L0."""
        return self._active.derivative(np.asarray(l_norm, dtype=float))

    def velocity(self, v_norm: ArrayLike) -> Array:
        """0 at v = -1, 1 at rest, 1.4 at v = 1; constant beyond."""
        return self._velocity.value(np.asarray(v_norm, dtype=float))

    def velocity_slope(self, v_norm: ArrayLike) -> Array:
        """Derivative of `velocity` by the velocity over v_max."""
        return self._velocity.derivative(np.asarray(v_norm, dtype=float))

    def passive(self, l_norm: ArrayLike, at_zero: ArrayLike = 0.0, at_one: ArrayLike = 0.7) -> Array:
        """0 up to the strain e0, 1 at e1, with the slope 2 / (e1 - e0) there and beyond."""
        return self._passive(l_norm, at_zero, at_one)[0]

    def passive_slope(self, l_norm: ArrayLike, at_zero: ArrayLike = 0.0, at_one: ArrayLike = 0.7) -> Array:
        """Derivative of `passive` by the length."""
        return self._passive(l_norm, at_zero, at_one)[1]

    @cached_property
    def _parameters(self) -> Mapping[str, Mapping[str, float]]:
        return bundled_toml(__package__, "millard_2013.toml")[self.name] if self.table is None else self.table

    @cached_property
    def _active(self) -> Tabulated:
        shape = self._parameters["active"]
        low, transition, high = shape["min_length"], shape["transition_length"], shape["max_length"]
        least, shallow = shape["minimum"], shape["shallow_slope"]
        half = 0.05  # half of the plateau
        plateau = 1.0 - half
        limb = 1.0 - shallow * (plateau - transition)  # height of the limbs' meeting point
        steep = 1.25 * limb / (transition - low)
        points = (
            CurvePoint(low, least, 0.0),
            CurvePoint(0.5 * (low + transition), 0.5 * limb, steep),
            CurvePoint(0.5 * (transition + plateau), 0.5 * (limb + 1.0), shallow),
            CurvePoint(1.0, 1.0, 0.0),
            CurvePoint(0.5 * (1.0 + half + high), 0.5, -1.0 / (high - 1.0 - 2.0 * half)),
            CurvePoint(high, least, 0.0),
        )
        return Tabulated.from_points(points, [1.0] * 5)

    @cached_property
    def _velocity(self) -> Tabulated:
        shape = self._parameters["velocity"]
        slow, fast = shape["concentric_slope_near_vmax"], shape["eccentric_slope_near_vmax"]
        most, near = shape["max_eccentric_force"], 0.9
        points = (
            CurvePoint(-1.0, 0.0, 0.0),
            CurvePoint(-near, 0.5 * slow * (1.0 - near), slow),
            CurvePoint(0.0, 1.0, shape["isometric_slope"]),
            CurvePoint(near, most - 0.5 * fast * (1.0 - near), fast),
            CurvePoint(1.0, most, 0.0),
        )
        shortening, lengthening = shape["concentric_curviness"], shape["eccentric_curviness"]
        return Tabulated.from_points(points, [shortening, shortening, lengthening, lengthening])

    def _passive(self, l_norm: ArrayLike, at_zero: ArrayLike, at_one: ArrayLike) -> tuple[Array, Array]:
        """Passive force and its slope."""
        strain, zero, one = np.broadcast_arrays(np.asarray(l_norm, dtype=float) - 1.0, at_zero, at_one)
        shape = self._parameters["passive"]
        stated = shape.get("stiffness_at_one_norm_force")
        stiff = 2.0 / (one - zero) if stated is None else np.full(np.shape(one), stated)
        beyond = strain >= one
        force = np.where(beyond, 1.0 + stiff * (strain - one), np.where(np.isnan(strain), np.nan, 0.0))
        slope = np.where(beyond, stiff, np.where(np.isnan(strain), np.nan, 0.0))
        # corners between the two strains: one at low force, then one to norm force 1
        inside = (strain > zero) & ~beyond
        strain, zero, one, stiff = strain[inside], zero[inside], one[inside], stiff[inside]
        width, none = 0.1 * np.minimum(1.0 / stiff, one - zero), np.zeros_like(zero)
        low = shape["stiffness_at_low_force"]
        start, bend = CurvePoint(zero, none, none), CurvePoint(zero + width, 0.5 * low * width, none + low)
        end = CurvePoint(one, none + 1.0, stiff)
        first, second = (corner(*ends, shape["curviness"]) for ends in ((start, bend), (bend, end)))
        early = (strain < bend.x)[:, None]
        between = Corner(np.where(early, first.x, second.x), np.where(early, first.y, second.y))
        force[inside], slope[inside] = between.at(strain)
        return force, slope
