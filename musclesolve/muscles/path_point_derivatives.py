"""Derivatives of lengths, their rates and moment arms by the path points.

The derivative of a length by a point is the gradient of the path there, in closed form; a point that stands at s in the
frame of its body stands at r in space, dr = R ds. The derivatives of the rate and of the moment arms, dV_MT and -dr,
are central differences of this gradient along the motion and along the degrees of freedom: by symmetry of second
derivatives, the change of the length's rate with a point equals the change of the gradient by this point along the
motion. Motions are followed in natural coordinates: the second-order error of the constraints is equal on both sides
and cancels in the difference. Where a path lifts off within the step, the two sides differ and the result is their
mean. With a step of 5 micrometers, errors are some 1e-6 of the largest second derivative. A conditional point that is
not on the path has no effect.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array, Indices, Mask
from musclesolve.dynamics.kinematics.motion_derivatives import Motion
from musclesolve.dynamics.model.model import Model
from musclesolve.muscles.muscle_state import ScaledState
from musclesolve.muscles.paths.engine import solve_paths
from musclesolve.muscles.paths.paths import Paths


@dataclass(frozen=True, eq=False)
class PointDerivatives:
    """Derivatives by the place of each path point (P) in the frame of its body, along forward, left, up in standing.

    muscle (P,): the muscle of each point, the only one that changes with it. musculotendon_length (T, P, 3),
    musculotendon_velocity (T, P, 3) [1/s], moment_arm (T, 7, P, 3).
    """

    muscle: Indices
    musculotendon_length: Array
    musculotendon_velocity: Array
    moment_arm: Array
    _differences: GradientDifferences

    def pull(self, bodies: Indices) -> Array:
        """Derivatives (T, 3, P, 3) [1/m] of `PathState.pull` on some bodies, of the muscle of each point."""
        return self._differences.of_pull(bodies)


def point_derivatives(model: Model, motion: Motion, state: ScaledState) -> PointDerivatives:
    """Differentiate the paths of placed muscles along a motion, given their `muscle_state`.

    Conditional points stay on or off the path; the angles at which they switch are constant.
    """
    paths = state.muscles.paths
    rotation = paths.point_rotation(motion.q, motion.coordinates)
    length = on_standing(state.path.nodes.gradient[:, : len(paths.standing)], rotation)
    on = paths.on_path(motion.coordinates)
    differences = GradientDifferences(paths, motion.q, motion.coordinates, on)
    directions, arms = model.tree.allowed(motion.q, motion.origin), []
    for dof in (model.dof(name) for name in state.muscles.dof_names):
        unit = np.zeros_like(motion.rates)
        unit[:, dof] = 1.0
        arms.append(-differences.along(directions[..., dof], unit))
    rate = differences.along(motion.qd, motion.rates)
    return PointDerivatives(paths.layout.point_muscle, length, rate, np.stack(arms, axis=1), differences)


COORDINATE_STEP = 5e-6
"""Largest movement of a natural coordinate [m]."""


@dataclass(frozen=True, eq=False)
class GradientDifferences:
    """Paths (P points) in T poses q (T, N, 3), coordinates (T, K+6), with given points on them (T, P)."""

    paths: Paths
    q: Array
    coordinates: Array
    on: Mask

    def along(self, qd: Array, rates: Array) -> Array:
        """Derivative of dL_MT/ds (T, P, 3), s the standing places, along a motion: qd (T, N, 3), rates (T, K+6)."""
        largest = np.abs(qd).max(axis=(1, 2))
        step = COORDINATE_STEP / np.where(largest > 0.0, largest, 1.0)
        ahead, behind = (
            self._by_place(self.q + h[:, None, None] * qd, self.coordinates + h[:, None] * rates)
            for h in (step, -step)
        )
        return (ahead - behind) / (2.0 * step[:, None, None])

    def _by_place(self, q: Array, coordinates: Array) -> Array:
        """Gradient dL_MT/ds (T, P, 3) by the standing places of the path points."""
        gradient = self.paths.nodes(q, coordinates, self.on).gradient[:, : len(self.paths.standing)]
        return on_standing(gradient, self.paths.point_rotation(q, coordinates))

    def of_pull(self, bodies: Indices) -> Array:
        """Derivative by s of the sum of dL_MT/dr over the nodes on some bodies, (T, 3, P, 3) [1/m]."""
        (position, _, center, axes), _ = self.paths.place(self.q, self.coordinates)
        rotation = self.paths.point_rotation(self.q, self.coordinates)
        points, objects = (
            np.isin(carriers, bodies)[:, None]
            for carriers in (self.paths.point_body, self.paths.objects.body)
        )
        pulls = []
        for axis in np.eye(3):
            shifted = [
                (position + h * points * axis, center + h * objects * axis)
                for h in (COORDINATE_STEP, -COORDINATE_STEP)
            ]
            ahead, behind = (
                solve_paths(self.paths.layout, place, self.on, middle, axes).gradient
                for place, middle in shifted
            )
            change = (ahead - behind)[:, : position.shape[1]] / (2.0 * COORDINATE_STEP)
            pulls.append(on_standing(change, rotation))
        return np.stack(pulls, axis=1)


def on_standing(force: Array, rotation: Array) -> Array:
    """Derivatives (T, P, 3) by the standing position, from derivatives by the position in space."""
    return np.einsum("tpxs,tpx->tps", rotation, force)
