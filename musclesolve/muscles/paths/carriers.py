"""Where path points and wrap objects are: on bodies, or on frames that move on bodies.

A carrier moves what stands at s to x = r + R (s - o): r, R for a body its pose, for a moving frame that of the frame,
and o the standing place of r.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from musclesolve._util.arrays import Array, Indices
from musclesolve.dynamics.model.rigid_body import RigidBodies


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
    """Moving frames (F) in space in T poses: origin r (T, F, 3), rotation R (T, F, 3, 3).

    velocity and spin (T, F, 3): of the origin and angular, relative to the body, per unit rate of the angle.
    """

    origin: Array
    rotation: Array
    velocity: Array
    spin: Array


@dataclass(frozen=True, eq=False)
class Carriers:
    """Bodies of a model, frames that move on them, and what they carry: points (P, 3) and wrap objects.

    point_body and point_frame (P,): as in `WrapObjects`.
    """

    rigid_bodies: RigidBodies
    frames: MovingFrames
    objects: WrapObjects
    point_body: Indices
    point_frame: Indices
    standing: Array

    @cached_property
    def _bodies(self) -> tuple[Indices, Indices]:
        """Bodies that carry anything, and which of them each point, object and frame is on."""
        every = np.concatenate([self.point_body, self.objects.body, self.frames.body])
        return np.unique(every, return_inverse=True)

    @cached_property
    def _own(self) -> RigidBodies:
        return self.rigid_bodies.subset(self._bodies[0])

    @cached_property
    def _coefficients(self) -> Array:
        """(4 b, P + 4 O): coefficients of r_i, r_j, u and v of the bodies (b) in points, centers and axes."""
        bodies, place = self._bodies
        points, objects = len(self.point_body), len(self.objects.body)
        on = self.rigid_bodies.subset(np.concatenate([self.point_body, np.repeat(self.objects.body, 4)]))
        stand = self.objects.center[:, None] + np.concatenate(
            [np.zeros((objects, 1, 3)), np.swapaxes(self.objects.axes, 1, 2)], axis=1
        )
        coefficients = on.coordinates(np.concatenate([self.standing, stand.reshape(-1, 3)]))
        # an axis is the difference of two points
        of_objects = coefficients[points:].reshape(objects, 4, 4)
        of_objects[:, 1:] -= of_objects[:, :1]
        where = np.concatenate([place[:points], np.repeat(place[points : points + objects], 4)])
        matrix = np.zeros((len(bodies), 4, len(where)))
        matrix[where, :, np.arange(len(where))] = coefficients
        return matrix.reshape(-1, len(where))

    def place(self, q: Array, coordinates: Array) -> tuple[Array, Array, Array, FrameMotion]:
        """Points (T, P, 3), centers (T, O, 3) and axes (T, O, 3, 3) of objects, and the frames."""
        points, objects, frames = len(self.point_body), len(self.objects.body), len(q)
        basic = self._own.basic(q)
        flat = basic.reshape(frames, -1, 3).transpose(2, 0, 1).reshape(3 * frames, -1) @ self._coefficients
        placed = flat.reshape(3, frames, -1)
        position = np.ascontiguousarray(placed[..., :points].transpose(1, 2, 0))
        rest = placed[..., points:].reshape(3, frames, objects, 4)
        center = np.ascontiguousarray(rest[..., 0].transpose(1, 2, 0))
        axes = np.ascontiguousarray(rest[..., 1:].transpose(1, 2, 0, 3))
        motion = self._frames(basic, coordinates)
        if len(self.frames):
            self._carry(position, center, axes, motion)
        return position, center, axes, motion

    def _frames(self, basic: Array, coordinates: Array) -> FrameMotion:
        """The moving frames in space."""
        own = self._bodies[1][len(self.point_body) + len(self.objects.body) :]
        body = self.rigid_bodies.subset(self.frames.body)
        basic = basic[:, own]
        columns = np.stack([basic[:, :, 1] - basic[:, :, 0], basic[:, :, 2], basic[:, :, 3]], axis=-1)
        rotation = columns @ body.inverse
        local = self.frames.at(coordinates)

        def in_space(vectors: Array) -> Array:
            return np.einsum("tfxy,tfy->tfx", rotation, vectors)

        return FrameMotion(
            basic[:, :, 0] + in_space(local.origin - body.origin),
            rotation @ local.rotation,
            in_space(local.velocity),
            in_space(local.spin),
        )

    def point_rotation(self, q: Array, coordinates: Array) -> Array:
        """Rotation of the carrier of each point from standing, (T, P, 3, 3)."""
        rotation = self.rigid_bodies.subset(self.point_body).rotation(q)
        (on,) = np.nonzero(self.point_frame >= 0)
        if on.size:
            motion = self._frames(self._own.basic(q), coordinates)
            rotation[:, on] = motion.rotation[:, self.point_frame[on]]
        return rotation

    def _carry(self, position: Array, center: Array, axes: Array, motion: FrameMotion) -> None:
        """Put what is on moving frames where they are."""
        for stand, frame, place in (
            (self.standing, self.point_frame, position),
            (self.objects.center, self.objects.frame, center),
        ):
            (on,) = np.nonzero(frame >= 0)
            carrier = frame[on]
            lever = stand[on] - self.frames.pivot[carrier]
            place[:, on] = motion.origin[:, carrier] + np.einsum(
                "tfxy,fy->tfx", motion.rotation[:, carrier], lever
            )
        (on,) = np.nonzero(self.objects.frame >= 0)
        axes[:, on] = motion.rotation[:, self.objects.frame[on]] @ self.objects.axes[on]


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


@dataclass(frozen=True, eq=False)
class NaturalSpline:
    """C functions of one variable: knots (K,), increasing, two or more; values (K, C) at the knots.

    Between the knots cubic with continuous second derivatives, which are zero at both ends (de Boor, A Practical Guide
    to Splines, IV); beyond the ends straight.
    """

    knots: Array
    values: Array

    @cached_property
    def _curvatures(self) -> Array:
        """Second derivatives at the knots (K, C): h_k m_k + 2 (h_k + h_k+1) m_k+1 + h_k+1 m_k+2 = 6 (s_k+1 - s_k)."""
        gap = np.diff(self.knots)
        slope = np.diff(self.values, axis=0) / gap[:, None]
        found = np.zeros_like(self.values)
        if len(gap) > 1:
            matrix = np.diag(2.0 * (gap[:-1] + gap[1:])) + np.diag(gap[1:-1], 1) + np.diag(gap[1:-1], -1)
            found[1:-1] = np.linalg.solve(matrix, 6.0 * np.diff(slope, axis=0))
        return found

    def at(self, x: Array) -> tuple[Array, Array]:
        """Values and slopes (T, C) at x (T,)."""
        inside = np.clip(x, self.knots[0], self.knots[-1])
        k = np.clip(np.searchsorted(self.knots, inside, side="right") - 1, 0, len(self.knots) - 2)
        gap = (self.knots[k + 1] - self.knots[k])[:, None]
        b = (inside - self.knots[k])[:, None] / gap
        a = 1.0 - b
        low, high = self.values[k], self.values[k + 1]
        bent_low, bent_high = self._curvatures[k] * gap**2 / 6.0, self._curvatures[k + 1] * gap**2 / 6.0
        value = a * low + b * high + (a**3 - a) * bent_low + (b**3 - b) * bent_high
        slope = (high - low + (1.0 - 3.0 * a**2) * bent_low + (3.0 * b**2 - 1.0) * bent_high) / gap
        return value + slope * (x - inside)[:, None], slope
