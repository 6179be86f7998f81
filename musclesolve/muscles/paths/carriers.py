"""What carries path points and wrap objects beside the bodies: frames that move on bodies with joint angles."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from musclesolve._util.arrays import Array, Indices
from musclesolve.dynamics.vectors import vector_product
from musclesolve.muscles.paths.kernel.arrays import contiguous


@dataclass(frozen=True, eq=False)
class WrapObjects:
    """Wrap objects (O) in standing: body (O,), center (O, 3) [m], axes (O, 3, 3), own axes as columns.

    frame (O,): the moving frame that carries it, -1 for none; its body is then that of the frame.
    """

    body: Indices = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    center: Array = field(default_factory=lambda: np.zeros((0, 3)))
    axes: Array = field(default_factory=lambda: np.zeros((0, 3, 3)))
    frame: Indices = field(default_factory=lambda: np.zeros(0, dtype=np.intp))


class FrameMotion(NamedTuple):
    """Moving frames (F) in T poses, in space or relative to their bodies in standing.

    origin r (T, F, 3): where the pivot goes [m]; rotation R (T, F, 3, 3); velocity of the origin and spin, (T, F, 3),
    relative to the body, per unit rate of the angle [m/rad, rad/rad].
    """

    origin: Array
    rotation: Array
    velocity: Array
    spin: Array


@dataclass(frozen=True, eq=False)
class MovingFrames:
    """Frames (F) on bodies: a point that stands at s without the frame stands at o + t + R (s - o).

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
    def _tables(self) -> tuple[Indices, Array, Array, Array]:
        """Where the knots of each spline begin (F+1,), all knots (k,), and values and curvatures there (k, 6)."""
        first = np.cumsum([0, *(len(spline.knots) for spline in self.motion)])
        knots, values, curvatures = (
            np.concatenate([getattr(spline, name) for spline in self.motion])
            for name in ("knots", "values", "curvatures")
        )
        return contiguous(first, np.intp), contiguous(knots), contiguous(values), contiguous(curvatures)

    def at(self, coordinates: Array) -> FrameMotion:
        """The frames relative to their bodies in standing, at joint coordinates (T, K+6)."""
        value, slope = np.empty((2, len(coordinates), len(self), 6))
        if len(self):
            from musclesolve.muscles.paths.kernel.entry import SPLINES

            SPLINES.load()(*self._tables, contiguous(coordinates[:, self.dof]), value, slope)
        rotation, spin = rotation_and_spin(value[..., 3:], slope[..., 3:])
        return FrameMotion(self.pivot + value[..., :3], rotation, slope[..., :3], spin)


NEARLY_ZERO = 1e-4
"""Rotations below this are expanded in a series [rad]."""


_CROSS = np.cross(np.eye(3)[:, None], np.eye(3)[None])
"""Cross products of the unit vectors, (3, 3, 3): (r x s)_x = sum of c_yzx r_y s_z."""


def rotation_and_spin(vector: Array, rate: Array) -> tuple[Array, Array]:
    """Rotation matrices (..., 3, 3) of rotation vectors r (..., 3), and their angular velocities for rates of r.

    With phi = |r| and S = [r]x: R = 1 + sin(phi)/phi S + (1 - cos(phi))/phi^2 S^2 (Rodrigues' formula),
    omega = r' + (1 - cos(phi))/phi^2 r x r' + (phi - sin(phi))/phi^3 r x (r x r'). Both at once take a third
    of the time of `dynamics.rotations`, which a simulation spends at every step.
    """
    square = (vector**2).sum(axis=-1)
    small = square < NEARLY_ZERO**2
    safe = np.where(small, 1.0, square)
    phi = np.sqrt(safe)
    first = np.where(small, 1.0 - square / 6.0, np.sin(phi) / phi)[..., None]
    second = np.where(small, 0.5 - square / 24.0, (1.0 - np.cos(phi)) / safe)[..., None]
    third = np.where(small, 1.0 / 6.0 - square / 120.0, (phi - np.sin(phi)) / (phi * safe))[..., None]
    crossed = vector_product(vector, rate)
    spin = rate + second * crossed + third * vector_product(vector, crossed)
    skew = np.einsum("yzx,...y->...xz", _CROSS, vector)
    rotation = np.eye(3) + first[..., None] * skew + second[..., None] * (skew @ skew)
    return rotation, spin


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
