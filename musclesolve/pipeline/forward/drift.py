"""How far a simulated motion is from a recorded one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.dynamics.forward.simulate import Simulation
from musclesolve.dynamics.kinematics.joint_coordinates import joint_angles
from musclesolve.dynamics.kinematics.motion_derivatives import Motion
from musclesolve.dynamics.rotations import angle_between


@dataclass(frozen=True)
class Drift:
    """Simulated less recorded at times (T,) [s], over joints (K) and points (P) of the model.

    angle (T, K) [rad]; tilt (T,) [rad]: angle between both orientations of the pelvis; distance (T, P) [m].
    """

    time: Array
    dofs: tuple[str, ...]
    points: tuple[str, ...]
    angle: Array
    tilt: Array
    distance: Array

    @property
    def largest_angle(self) -> Array:
        """Of all joints, (T,) [rad]."""
        return np.asarray(np.abs(self.angle).max(axis=1))

    @property
    def largest_distance(self) -> Array:
        """Of all points, (T,) [m]."""
        return np.asarray(self.distance.max(axis=1))


def drift_of(simulation: Simulation, motion: Motion) -> Drift:
    """The drift of a simulation from the motion in the frames of its output, which are frames of the motion."""
    model = simulation.model
    frames = np.searchsorted(motion.time, simulation.time - 1e-9)
    tree, count, rigid = model.tree, model.topology.point_count, model.rigid_bodies
    recorded = motion.q[frames]
    here, there = rigid.rotation(simulation.q), rigid.rotation(recorded)
    off = joint_angles(model, here) - joint_angles(model, there)
    return Drift(
        simulation.time,
        tuple(model.topology.dof_names[: tree.joint_count]),
        tuple(model.topology.coordinate_names[:count]),
        (off + np.pi) % (2.0 * np.pi) - np.pi,
        angle_between(here[:, tree.root], there[:, tree.root]),
        np.linalg.norm(simulation.q[:, :count] - recorded[:, :count], axis=2),
    )
