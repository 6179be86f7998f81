"""Feedback that holds a simulation to a recorded motion: small moments at the joints."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.checks import check_number
from musclesolve.dynamics.inverse.joint_couples import Couples
from musclesolve.dynamics.kinematics.joint_coordinates import joint_angles
from musclesolve.dynamics.kinematics.motion_derivatives import Motion
from musclesolve.dynamics.model.mass_matrix import mass_matrix
from musclesolve.dynamics.model.model import Model
from musclesolve.errors import InputError


@dataclass(frozen=True, eq=False)
class Tracking:
    """Moments stiffness (theta_ref - theta) + damping (rate_ref - rate) at the joints, (K,) [N m/rad, N m s/rad].

    reference: joint angles and rates (2, T, K) at times (T,) [s].
    """

    model: Model
    couples: Couples
    reference: Callable[[Array], tuple[Array, Array]]
    stiffness: Array
    damping: Array

    @classmethod
    def build(cls, model: Model, motion: Motion, frequency: float, damping_ratio: float = 1.0) -> Tracking:
        """Gains from a frequency w [rad/s]: w^2 I and 2 z w I, I the inertia of each joint in the first pose.

        1 / I = ((D^T M D)^-1)_kk: what a moment at the joint accelerates while all others, and the base, are free. So
        no joint answers faster than w, and the feedback does not make the equations stiff.

        Raises:
            InputError: a frequency or damping ratio that is no positive number; a model with spherical joints.
        """
        from scipy.interpolate import make_interp_spline

        frequency = check_number(frequency, "frequency", "a positive number [rad/s]", above=0.0)
        ratio = check_number(damping_ratio, "damping_ratio", "a number from 0", least=0.0)
        if len(model.tree.spherical):
            raise InputError(
                f"the model {model.topology.name!r} has spherical joints",
                code="unsupported",
                expected="revolute and universal joints",
            )
        joints = model.tree.joint_count
        spline = make_interp_spline(motion.time, motion.coordinates[:, :joints], k=5)
        inertia = joint_inertia(model, motion)
        stiffness, damping = frequency**2 * inertia, 2.0 * ratio * frequency * inertia
        return cls(model, Couples.build(model), lambda t: (spline(t), spline(t, 1)), stiffness, damping)

    def moments(self, time: Array, q: Array, qd: Array) -> Array:
        """What the feedback adds at each joint, (T, K) [N m]."""
        wanted, wanted_rate = self.reference(time)
        off = wanted - joint_angles(self.model, self.model.rigid_bodies.rotation(q))
        off = (off + np.pi) % (2.0 * np.pi) - np.pi
        return self.stiffness * off + self.damping * (wanted_rate - self.couples.rates(q, qd))

    def __call__(self, time: Array, q: Array, qd: Array) -> Array:
        """Generalized force (T, N, 3)."""
        return self.couples.force(q, self.moments(time, q, qd))


def joint_inertia(model: Model, motion: Motion) -> Array:
    """1 / ((D^T M D)^-1)_kk of the joints (K,) in the first pose of a motion [kg m2]."""
    q = motion.q[:1]
    directions = model.tree.allowed(q, motion.origin[:1])[0].reshape(3 * q.shape[1], -1)
    mass = mass_matrix(model.rigid_bodies, model.basic_mass, q)[0]
    mobility = np.linalg.inv(directions.T @ mass @ directions)
    return np.asarray(1.0 / np.diag(mobility)[: model.tree.joint_count])
