"""A stride on a curved path: the whole straight walk is carried along it, and leans into the curve.

At time t the subject has gone s = v t. What lies at x in the straight walk lies at P(s) + R(s) (x - (s, 0, 0)): R is
the heading phi(s) = phi_0 + curvature * s about the vertical and a lean of atan(v^2 curvature / g) about the path, so
that gravity and the force that bends the path act together along the body's long axis. Joint angles stay as they are;
the ground forces follow from the laws of motion again, nothing being left for the pelvis to be held by. The feet on the
ground rotate with the subject, by some degrees in a stance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.dynamics.inverse.external_wrenches import Wrench
from musclesolve.dynamics.kinematics.motion_derivatives import Motion, motion_from, motion_with
from musclesolve.dynamics.rotations import from_cardan, rotation_about, to_cardan
from musclesolve.recording.data import SIDES
from musclesolve.synthetic.reference_stride import MIRROR, Stride

_FORWARD, _, _UP = np.eye(3)


@dataclass(frozen=True)
class CurvedStride(Stride):
    """A stride whose path is an arc of a circle, or straight in any direction."""

    heading: float = 0.0  # direction of walking at time 0, to the left of x [rad]
    curvature: float = 0.0  # one over the radius, positive to the left [1/m]

    @classmethod
    def of(cls, stride: Stride, heading: float = 0.0, curvature: float = 0.0) -> CurvedStride:
        """Another stride on such a path."""
        return cls(stride.layout, stride.coefficients, heading, curvature)

    @property
    def angular_velocity(self) -> float:
        """Angular velocity about the vertical [rad/s]."""
        return self.curvature * self.speed

    def frame(self, time: Array) -> tuple[Array, Array]:
        """R (T, 3, 3) and P (T, 3) [m] at times (T,) [s]."""
        angle = self.heading + self.angular_velocity * time
        lean = np.arctan(self.curvature * self.speed**2 / STANDARD_GRAVITY)
        rotation = rotation_about(_UP, angle) @ rotation_about(_FORWARD, np.array(-lean))
        # A chord of the arc: its length, and the direction half-way.
        chord = self.speed * time * np.sinc(0.5 * self.angular_velocity * time / np.pi)
        middle = self.heading + 0.5 * self.angular_velocity * time
        return rotation, chord[:, None] * np.stack([np.cos(middle), np.sin(middle), 0.0 * time], axis=1)

    def coordinates(self, time: Array, order: int = 0) -> Array:
        """Joint and base coordinates (T, 44) at times (T,) [s]; of their derivatives only those of the joint angles."""
        time = np.asarray(time, float)
        found = super().coordinates(time, order)
        base = slice(self.model.tree.joint_count, None)
        if order == 0:
            rotation, place = self.frame(time)
            found[:, base] = _carried(found[:, base], rotation, place, self.speed * time)
        return found

    def motion(self, time: Array) -> Motion:
        """The motion at times (T,) [s], derivatives exact."""
        time = np.asarray(time, float)
        straight = motion_from(
            self.model, time, *(super(CurvedStride, self).coordinates(time, k) for k in range(3))
        )
        rotation, place = self.frame(time)
        point = (np.arange(straight.q.shape[1]) < self.model.topology.point_count).astype(float)[:, None]
        gone, speed = (self.speed * time)[:, None, None] * _FORWARD, self.speed * _FORWARD
        # y = x - (s, 0, 0), points lie at P + R y and vectors along R y; dR/dt = S R with the constant S.
        y, yd, ydd = (
            np.einsum("txy,tny->tnx", rotation, part)
            for part in (straight.q - point * gone, straight.qd - point * speed, straight.qdd)
        )
        spin = self.angular_velocity * np.cross(_UP, np.eye(3))
        velocity = self.speed * rotation[:, None, :, 0]
        q = y + point * place[:, None]
        qd = yd + y @ spin + point * velocity
        qdd = ydd + 2.0 * yd @ spin + y @ spin @ spin + point * (velocity @ spin)
        return motion_with(self.model, time, self.coordinates(time), q, qd, qdd)

    def fitted(self, motion: Motion, side: int) -> Wrench:
        """The wrench of the splines on a foot on the straight path, carried along the curve."""
        rotation, _ = self.frame(motion.time)
        phase = motion.time / self.period + 0.5 * side
        wrench = self.person.weight * self.layout.wrench(self.coefficients, phase) * (MIRROR if side else 1.0)
        force, moment = (np.einsum("txy,ty->tx", rotation, part) for part in (wrench[:, :3], wrench[:, 3:]))
        ball = motion.q[:, self.person.slot(f"toe_{SIDES[side]}")]
        return Wrench(f"foot_{SIDES[side]}", force, np.cross(ball, force) + moment)


def _carried(base: Array, rotation: Array, place: Array, gone: Array) -> Array:
    """Position and Cardan angles (T, 6) of the base, carried from the straight path."""
    position = base[:, :3] - gone[:, None] * _FORWARD
    rotated = rotation @ from_cardan(*base[:, 3:].T)
    return np.column_stack([place + np.einsum("txy,ty->tx", rotation, position), *to_cardan(rotated)])
