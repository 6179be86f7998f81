"""How fast a disturbance of a recorded motion grows: the linearised equations of motion in one frame."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.dynamics.forward.applied_forces import Force
from musclesolve.dynamics.forward.ode_system import System
from musclesolve.dynamics.kinematics.joint_coordinates import motion_with
from musclesolve.dynamics.kinematics.motion_derivatives import Motion, motion_from
from musclesolve.dynamics.model.model import Model

_STEP = 1e-6
"""Half width of the central differences [rad, m, rad/s, m/s]."""


@dataclass(frozen=True)
class Growth:
    """Rates [1/s] at which disturbances grow in one frame, fastest first, and the coordinates that take part.

    shape (r, K+6): size of every coordinate in the disturbance of each rate, 1 for the largest.
    """

    rate: Array
    shape: Array
    dofs: tuple[str, ...]

    @property
    def e_folding(self) -> float:
        """Time in which the fastest disturbance grows e-fold [s]; infinite if none grows."""
        return 1.0 / self.rate[0] if self.rate.size and self.rate[0] > 0.0 else np.inf

    def leading(self, count: int = 2) -> tuple[str, ...]:
        """The coordinates that the fastest disturbance moves most."""
        return tuple(self.dofs[k] for k in np.argsort(-self.shape[0])[:count])


def growth(model: Model, forces: tuple[Force, ...], motion: Motion, frame: int) -> Growth:
    """The growth rates about one frame of a motion: real parts of the eigenvalues of the linearised equations.

    The motion goes on meanwhile, so that the rates are those of the moment, not of a whole step.
    """
    system = System(model, model.constraints, forces, "augmented_lagrangian")
    time, count = motion.time[frame : frame + 1], motion.coordinates.shape[1]

    def second(state: Array) -> Array:
        coordinates, rates = state[None, :count], state[None, count:]
        at = motion_from(model, time, coordinates, rates, np.zeros_like(rates))
        qdd = system.accelerations(float(time[0]), at.q[0], at.qd[0]).qdd.reshape(at.q.shape)
        return motion_with(model, time, coordinates, at.q, at.qd, qdd).second[0]

    here = np.concatenate([motion.coordinates[frame], motion.rates[frame]])
    steps = _STEP * np.eye(2 * count)
    slopes = [(second(here + step) - second(here - step)) / (2.0 * _STEP) for step in steps]
    matrix = np.vstack([np.eye(count, 2 * count, count), np.stack(slopes, axis=1)])
    values, vectors = np.linalg.eig(matrix)
    order = np.argsort(-values.real)
    shape = np.abs(vectors[:count, order]).T
    return Growth(values.real[order], shape / shape.max(axis=1, keepdims=True), model.topology.dof_names)
