"""Exact derivatives of lengths, their rates and moment arms (paths_and_moment_arms.py) by the path points.

Over the segments from s to e of a path, with the unit vector u, the length L and P = (1 - u u^T) / L,

    L_MT = sum L                  dL_MT = sum u . (dr_e - dr_s)
    V_MT = sum u . (v_e - v_s)    dV_MT = sum P (v_e - v_s) . (dr_e - dr_s) + u . (dv_e - dv_s)
    r = -sum u . (w_e - w_s)      dr = -sum P (w_e - w_s) . (dr_e - dr_s) + u . (dw_e - dw_s)

where w is the velocity of a point for a unit rate of the degree of freedom: a x (r - c) on the bodies distal to it, for
the axis a through c, and zero on the others. A point that stands at s in the frame of its body stands at r in space,
dr = R ds and dv = (dR/dt) ds. A conditional point that is not on the path moves nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array, Indices, Mask
from musclesolve.dynamics.kinematics.motion_derivatives import Motion
from musclesolve.dynamics.model.model import Model
from musclesolve.muscles.leg_muscle_state import MuscleState
from musclesolve.muscles.paths_and_moment_arms import Paths


@dataclass(frozen=True, eq=False)
class PointDerivatives:
    """Derivatives by the place of each path point (P) in the frame of its body, along forward, left, up in standing.

    muscle (P,): whose point it is, the only muscle that it moves. musculotendon_length (T, P, 3),
    musculotendon_velocity (T, P, 3) [1/s], moment_arm (T, 7, P, 3).
    """

    muscle: Indices
    musculotendon_length: Array
    musculotendon_velocity: Array
    moment_arm: Array
    _body: Indices
    _segments: _Segments
    _rotation: Array

    def pull(self, bodies: Indices) -> Array:
        """Of the force of `PathState.pull` on some bodies, the part of the muscle of each point, (T, 3, P, 3) [1/m]."""
        on = np.isin(self._body, bodies).astype(float)[:, None]
        shape = self.musculotendon_length.shape
        bent = [self._segments.bend(np.broadcast_to(on * axis, shape)) for axis in np.eye(3)]
        return np.stack([_on_standing(each, self._rotation) for each in bent], axis=1)


def point_derivatives(model: Model, motion: Motion, state: MuscleState) -> PointDerivatives:
    """Differentiate the paths of the muscles of one leg along a motion, given their `muscle_state`.

    Conditional points stay on the path, or off it, as they are; the angles at which they switch count as given.
    """
    paths, places = state.muscles.paths, state.path
    segments = _Segments.of(paths, places.position, _on_path(paths, motion.coordinates))
    own = paths.rigid_bodies.subset(paths.body)
    rotation = own.rotation(motion.q)
    # the rotation is made of the columns of the basic body, and so is its rate
    rates = own.basic_velocity(motion.q, motion.qd)
    rotation_rate = (
        np.stack([rates[:, :, 1] - rates[:, :, 0], rates[:, :, 2], rates[:, :, 3]], -1) @ own.inverse
    )
    coordinates = own.coordinates(paths.standing)
    velocity = np.einsum("pc,tpcx->tpx", coordinates, rates)

    pull = segments.pull()
    arms = []
    axes = model.tree.axes(motion.q)
    for dof in state.muscles.dof_names:
        k = model.dof(dof)
        distal = np.isin(paths.body, model.distal_bodies(dof)).astype(float)[:, None]
        axis, pivot = axes[:, k, None], motion.q[:, model.tree.pivot[k]][:, None]
        rotated = segments.bend(distal * np.cross(axis, places.position - pivot))
        arms.append(-_on_standing(rotated + distal * np.cross(pull, axis), rotation))
    return PointDerivatives(
        paths.muscle,
        _on_standing(pull, rotation),
        _on_standing(segments.bend(velocity), rotation) + _on_standing(pull, rotation_rate),
        np.stack(arms, axis=1),
        paths.body,
        segments,
        rotation,
    )


def _on_standing(force: Array, rotation: Array) -> Array:
    """Derivatives by the place in space as those by the place in the body, (T, P, 3)."""
    return np.einsum("tpxs,tpx->tps", rotation, force)


def _on_path(paths: Paths, coordinates: Array) -> Mask:
    """(T, P) which points belong to the path."""
    angle = coordinates[:, paths.switch_dof]
    on = np.ones((len(coordinates), len(paths.muscle)), dtype=bool)
    on[:, paths.switched] = (angle >= paths.switch_lower) & (angle <= paths.switch_upper)
    return on


@dataclass(frozen=True, eq=False)
class _Segments:
    """Segments (S) between neighbors in the table; one that ends at an absent point has no length.

    first (S,) and before (T, P): the first point, and the point that stands for each, itself unless it is absent.
    """

    first: Indices
    before: Indices
    unit: Array
    per_length: Array

    @classmethod
    def of(cls, paths: Paths, position: Array, on: Mask) -> _Segments:
        first = np.flatnonzero(paths.muscle[:-1] == paths.muscle[1:])
        number = np.where(on, np.arange(on.shape[1]), 0)
        before = np.maximum.accumulate(number, axis=1)
        step = position[:, first + 1] - position[:, first]
        length = np.linalg.norm(step, axis=2, keepdims=True)
        per_length = np.divide(1.0, length, out=np.zeros_like(length), where=length > 0.0)
        return cls(first, before, step * per_length, per_length)

    def pull(self) -> Array:
        """dL_MT / dr, (T, P, 3)."""
        return self._gathered(self.unit)

    def bend(self, velocity: Array) -> Array:
        """The derivative by r of sum u . (v_e - v_s) for given velocities (T, P, 3), (T, P, 3)."""
        moving = np.take_along_axis(velocity, self.before[..., None], axis=1)
        step = moving[:, self.first + 1] - moving[:, self.first]
        along = (step * self.unit).sum(axis=2, keepdims=True)
        return self._gathered((step - along * self.unit) * self.per_length)

    def _gathered(self, each: Array) -> Array:
        """The sum of +each at the ends and -each at the starts of segments, for the points that stand there."""
        frames, points = self.before.shape
        total = np.zeros((frames, points, 3))
        row = np.arange(frames)[:, None]
        np.add.at(total, (row, self.before[:, self.first + 1]), each)
        np.add.at(total, (row, self.before[:, self.first]), -each)
        return total
