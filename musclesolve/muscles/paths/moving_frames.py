"""Moving frames: carriers of path points and wrap objects that move on bodies with joint angles."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from musclesolve._util.arrays import Array, Indices, contiguous
from musclesolve.muscles.paths.kernel.arrays import FrameMotion


@dataclass(frozen=True, eq=False)
class WrapObjects:
    """Wrap objects (O) in standing: body (O,), center (O, 3) [m], axes (O, 3, 3), own axes as columns.

    frame (O,): the moving frame that carries each object, -1 for none; the object's body is the frame's body.
    """

    body: Indices = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    center: Array = field(default_factory=lambda: np.zeros((0, 3)))
    axes: Array = field(default_factory=lambda: np.zeros((0, 3, 3)))
    frame: Indices = field(default_factory=lambda: np.zeros(0, dtype=np.intp))


@dataclass(frozen=True, eq=False)
class MovingFrames:
    """Frames (F) that move on bodies: they move a standing point from s to o + t + R (s - o).

    body (F,): index of the body; dof (F,): index of the angle among the coordinates; pivot o (F, 3): a standing
    position [m]; motion: for each frame the translation t [m] and the rotation vector of R [rad] as six functions of
    the angle [rad], along forward, left, up in standing.
    """

    body: Indices = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    dof: Indices = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    pivot: Array = field(default_factory=lambda: np.zeros((0, 3)))
    motion: tuple[NaturalSpline, ...] = ()

    def __len__(self) -> int:
        return len(self.motion)

    @cached_property
    def _tables(self) -> tuple[Indices, Array, Array, Array, Array]:
        """First knot of each spline (F+1,), all knots (k,), values and curvatures there (k, 6), pivots."""
        first = np.cumsum([0, *(len(spline.knots) for spline in self.motion)])
        knots, values, curvatures = (
            np.concatenate([getattr(spline, name) for spline in self.motion])
            for name in ("knots", "values", "curvatures")
        )
        of_all = (contiguous(table) for table in (knots, values, curvatures, self.pivot))
        return contiguous(first, np.intp), *of_all  # type: ignore[return-value]

    def at(self, coordinates: Array) -> FrameMotion:
        """The frames relative to their bodies in standing, at joint coordinates (T, K+6)."""
        out = FrameMotion.allocate(len(coordinates), len(self))
        if len(self):
            from musclesolve.muscles.paths.kernel.entry import FRAMES

            FRAMES.load()(*self._tables, contiguous(coordinates[:, self.dof]), np.empty((2, 6)), out)
        return out

    def bend(self, coordinates: Array) -> tuple[Array, Array]:
        """Derivatives by the angle of `FrameMotion.velocity` and `FrameMotion.spin` in `at`, (T, F, 3) each.

        With the rotation vector r and x = r . r, the spin is r' + B r x r' + C r x (r x r'), where
        B = (1 - cos |r|) / x and C = (|r| - sin |r|) / |r|^3 (see `set_turn`), and its derivative is
        r'' + B' r x r' + B r x r'' + C' r x (r x r') + C (r' x (r x r') + r x (r x r'')).
        """
        second, turned = np.zeros((2, len(coordinates), len(self), 3))
        for f, spline in enumerate(self.motion):
            angle = coordinates[:, self.dof[f]]
            (value, slope), curvature = spline.at(angle), spline.curvature(angle)
            r, r1, r2 = value[:, 3:], slope[:, 3:], curvature[:, 3:]
            b, c, b_x, c_x = _turning((r * r).sum(axis=1, keepdims=True))
            x_rate = 2.0 * (r * r1).sum(axis=1, keepdims=True)
            across, bent = np.cross(r, r1), np.cross(r, r2)
            second[:, f] = curvature[:, :3]
            turned[:, f] = r2 + b_x * x_rate * across + b * bent + c_x * x_rate * np.cross(r, across)
            turned[:, f] += c * (np.cross(r1, across) + np.cross(r, bent))
        return second, turned


def _turning(x: Array) -> tuple[Array, Array, Array, Array]:
    """B and C of `MovingFrames.bend` and their derivatives by x; below 0.1 rad by series, where they would cancel."""
    near = x < 0.01
    size = np.sqrt(np.where(near, 1.0, x))
    sine, cosine, square = np.sin(size), np.cos(size), size * size
    b = np.where(near, 1 / 2 - x / 24 + x**2 / 720 - x**3 / 40320, (1.0 - cosine) / square)
    c = np.where(near, 1 / 6 - x / 120 + x**2 / 5040 - x**3 / 362880, (size - sine) / (square * size))
    b_x = np.where(near, -1 / 24 + x / 360 - x**2 / 13440 + x**3 / 907200, (0.5 * sine / size - b) / square)
    c_x = np.where(near, -1 / 120 + x / 2520 - x**2 / 120960 + x**3 / 9979200, (0.5 * b - 1.5 * c) / square)
    return b, c, b_x, c_x


@dataclass(frozen=True, eq=False)
class NaturalSpline:
    """C functions of one variable: knots (K,), increasing, two or more; values (K, C) at the knots.

    Between the knots cubic with continuous second derivatives, which are zero at both ends (de Boor, A Practical Guide
    to Splines, IV); beyond the ends straight.
    """

    knots: Array
    values: Array

    @cached_property
    def curvatures(self) -> Array:
        """Second derivatives at the knots (K, C): h_k m_k + 2 (h_k + h_k+1) m_k+1 + h_k+1 m_k+2 = 6 (s_k+1 - s_k)."""
        gap = np.diff(self.knots)
        slope = np.diff(self.values, axis=0) / gap[:, None]
        curvature = np.zeros_like(self.values)
        if len(gap) > 1:
            matrix = np.diag(2.0 * (gap[:-1] + gap[1:])) + np.diag(gap[1:-1], 1) + np.diag(gap[1:-1], -1)
            curvature[1:-1] = np.linalg.solve(matrix, 6.0 * np.diff(slope, axis=0))
        return curvature

    def mapped(self, matrix: Array, shift: Array) -> NaturalSpline:
        """The spline through values matrix^T + shift: matrix (D, C), shift (D,); second derivatives follow values."""
        other = NaturalSpline(self.knots, self.values @ matrix.T + shift)
        vars(other)["curvatures"] = self.curvatures @ matrix.T
        return other

    def at(self, x: Array) -> tuple[Array, Array]:
        """Values and slopes (T, C) at x (T,)."""
        inside = np.clip(x, self.knots[0], self.knots[-1])
        k = np.clip(np.searchsorted(self.knots, inside, side="right") - 1, 0, len(self.knots) - 2)
        gap = (self.knots[k + 1] - self.knots[k])[:, None]
        b = (inside - self.knots[k])[:, None] / gap
        a = 1.0 - b
        low, high = self.values[k], self.values[k + 1]
        bent_low, bent_high = self.curvatures[k] * gap**2 / 6.0, self.curvatures[k + 1] * gap**2 / 6.0
        value = a * low + b * high + (a**3 - a) * bent_low + (b**3 - b) * bent_high
        slope = (high - low + (1.0 - 3.0 * a**2) * bent_low + (3.0 * b**2 - 1.0) * bent_high) / gap
        return value + slope * (x - inside)[:, None], slope

    def curvature(self, x: Array) -> Array:
        """Second derivatives (T, C) at x (T,): linear between the knots, zero beyond."""
        return np.stack([np.interp(x, self.knots, each, 0.0, 0.0) for each in self.curvatures.T], axis=1)
