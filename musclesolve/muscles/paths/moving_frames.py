"""Frames that move on a body with a joint angle, as the patella does on the tibia."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from musclesolve._util.arrays import Array, Indices
from musclesolve.muscles.paths.natural_spline import NaturalSpline

NEARLY_ZERO = 1e-4
"""Rotations below this are expanded in a series [rad]."""


_CROSS = np.cross(np.eye(3)[:, None], np.eye(3)[None])
"""Cross products of the unit vectors, (3, 3, 3): (r x s)_x = sum of c_yzx r_y s_z."""


class FramePoses(NamedTuple):
    """Frames (F) at T angles, each relative to its body in standing.

    origin (T, F, 3): where the pivot goes [m]; rotation (T, F, 3, 3); velocity (T, F, 3) of the origin and spin
    (T, F, 3) per unit rate of the angle [m/rad, rad/rad].
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

    def at(self, coordinates: Array) -> FramePoses:
        """The frames at joint coordinates (T, K+6)."""
        frames = len(coordinates)
        value, slope = np.zeros((2, frames, len(self), 6))
        for f, spline in enumerate(self.motion):
            value[:, f], slope[:, f] = spline.at(coordinates[:, self.dof[f]])
        rotation, spin = rotation_and_spin(value[..., 3:], slope[..., 3:])
        return FramePoses(self.pivot + value[..., :3], rotation, slope[..., :3], spin)


def rotation_and_spin(vector: Array, rate: Array) -> tuple[Array, Array]:
    """Rotation matrices (..., 3, 3) of rotation vectors r (..., 3), and their angular velocities for rates of r.

    With phi = |r| and S = [r]x: R = 1 + sin(phi)/phi S + (1 - cos(phi))/phi^2 S^2 (Rodrigues' formula),
    omega = r' + (1 - cos(phi))/phi^2 r x r' + (phi - sin(phi))/phi^3 r x (r x r').
    """
    square = (vector**2).sum(axis=-1)
    small = square < NEARLY_ZERO**2
    safe = np.where(small, 1.0, square)
    phi = np.sqrt(safe)
    first = np.where(small, 1.0 - square / 6.0, np.sin(phi) / phi)[..., None]
    second = np.where(small, 0.5 - square / 24.0, (1.0 - np.cos(phi)) / safe)[..., None]
    third = np.where(small, 1.0 / 6.0 - square / 120.0, (phi - np.sin(phi)) / (phi * safe))[..., None]
    crossed = np.cross(vector, rate)
    spin = rate + second * crossed + third * np.cross(vector, crossed)
    skew = np.einsum("yzx,...y->...xz", _CROSS, vector)
    rotation = np.eye(3) + first[..., None] * skew + second[..., None] * (skew @ skew)
    return rotation, spin
