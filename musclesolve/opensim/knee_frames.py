"""A knee that glides, on a skeleton whose knee is a hinge: its center, and the frames that make up the difference.

The hinge H(theta) turns the shank about the left axis through a fixed knee center. Where the tibia of the model moves
by D(theta) relative to the femur, muscles that come from above the knee have their tibial points on a frame that moves
on the shank by G = H^-1 D, and muscles from the femur to the foot have their femoral points on a frame that moves on
the thigh by H D^-1 = H G^-1 H^-1. Lengths are then those of the model.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.spatial.transform import Rotation

from musclesolve._util.arrays import Array
from musclesolve.opensim.neutral_leg import NeutralLeg

CENTER_RANGE = np.deg2rad(np.arange(0.0, 100.1, 2.5))
"""Flexion over which the knee center is chosen [rad]."""
SAMPLED_DEG = (-20.0, 150.0)
STEP_DEG = 5.0
TOLERANCE = 2e-6
"""Largest distance of the spline from the model [m]."""
_LEVER = 0.1
"""Distance at which an error of rotation counts [m]."""
_ROUNDS = 4


@dataclass(frozen=True, eq=False)
class GlidingKnee:
    """The knee of a leg about a fixed center."""

    leg: NeutralLeg

    @cached_property
    def center(self) -> Array:
        """The knee center in the neutral pose (3,).

        In the sagittal plane it is the point c that the tibia moves least from, sum |D(theta) c - c|^2 least over
        0 to 100 deg; laterally it is where the model has the origin of its knee joint.
        """
        rotation, shift = self.leg.displacement(self.leg.bodies.tibia, CENTER_RANGE)
        lateral = self.leg.joint_center(self.leg.bodies.tibia)[1]
        plane = np.ix_(range(len(rotation)), [0, 2], [0, 2])
        matrix = rotation[plane] - np.eye(2)
        right = -(shift + rotation[:, :, 1] * lateral)[:, [0, 2]]
        forward, up = np.linalg.lstsq(matrix.reshape(-1, 2), right.reshape(-1), rcond=None)[0]
        return np.array([forward, lateral, up])

    @cached_property
    def largest_glide(self) -> float:
        """How far the tibia moves at the knee center between 0 and 100 deg [m]."""
        shift = self.gliding(self.leg.bodies.tibia, CENTER_RANGE)[1]
        return float(np.linalg.norm(shift, axis=1).max())

    def gliding(self, body: str, flexion: Array) -> tuple[Array, Array]:
        """G = H^-1 D of a body in the frame of the shank, from the knee center: (T, 3, 3), (T, 3) [m]."""
        rotation, shift = self.leg.displacement(body, flexion)
        back = Rotation.from_rotvec(-flexion[:, None] * [0.0, 1.0, 0.0]).as_matrix()
        along = rotation @ self.center + shift - self.center
        return back @ rotation, (back @ along[:, :, None])[:, :, 0]

    def femoral(self, flexion: Array) -> tuple[Array, Array]:
        """H G^-1 H^-1 in the frame of the thigh, from the hip center."""
        rotation, shift = self.gliding(self.leg.bodies.tibia, flexion)
        hinge = Rotation.from_rotvec(flexion[:, None] * [0.0, 1.0, 0.0]).as_matrix()
        inverse = rotation.transpose(0, 2, 1)
        rotated = hinge @ inverse @ hinge.transpose(0, 2, 1)
        moved = -(hinge @ inverse @ shift[:, :, None])[:, :, 0]
        knee = self.center - self.leg.hip
        return rotated, moved + knee - rotated @ knee

    @cached_property
    def is_hinge(self) -> bool:
        """Whether the knee of the model is a hinge already."""
        rotation, shift = self.gliding(self.leg.bodies.tibia, CENTER_RANGE)
        return bool(np.abs(rotation - np.eye(3)).max() < 1e-6 and np.abs(shift).max() < 1e-6)


Motion = Callable[[Array], tuple[Array, Array]]
"""Rotation (T, 3, 3) and shift (T, 3) [m] of a frame at angles (T,) [rad]."""
Sampled = Callable[[Array], Array]
"""Components (T, c) [m] of what depends on an angle (T,) [rad]."""


def sample(function: Sampled, decimals: int = 6) -> tuple[Array, Array]:
    """Angles (k,) [deg] and rounded values (k, c) whose natural cubic spline follows a function within `TOLERANCE`.

    Every 5 degrees, and closer where that is not enough.
    """
    degrees = np.arange(SAMPLED_DEG[0], SAMPLED_DEG[1] + 0.5 * STEP_DEG, STEP_DEG)
    for _ in range(_ROUNDS):
        middle = 0.5 * (degrees[1:] + degrees[:-1])
        values = np.round(function(np.deg2rad(degrees)), decimals)
        spline = CubicSpline(degrees, values, bc_type="natural")
        error = np.abs(spline(middle) - function(np.deg2rad(middle))).max(axis=1)
        if (error <= TOLERANCE).all():
            break
        degrees = np.sort(np.concatenate([degrees, middle[error > TOLERANCE]]))
    return degrees, np.round(function(np.deg2rad(degrees)), decimals)


def sample_motion(motion: Motion) -> tuple[Array, Array, Array]:
    """Angles (k,) [deg], translations (k, 3) [m] and rotation vectors (k, 3) [deg] of a moving frame, rounded."""

    def components(angle: Array) -> Array:
        rotation, shift = motion(angle)
        return np.concatenate([shift, _LEVER * Rotation.from_matrix(rotation).as_rotvec()], axis=1)

    degrees, values = sample(components, decimals=7)
    turn: Array = np.round(values[:, 3:] / np.deg2rad(_LEVER), 5)
    return degrees, values[:, :3], turn
