"""The smallest change of the coordinates of an OpenSim model that reduces the residual at its root.

`dynamics.inverse.residual_reduction` has the equations. The unknowns are the free coordinates of the model, so
that a change adds to values, speeds and accelerations. Loads stay as they are. Moments, paths and joint forces follow
from the changed motion.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.sides import SIDES, side_of
from musclesolve.constants import WALKING_CUTOFF_HZ
from musclesolve.dynamics.inverse.residual_reduction import (
    BodyState,
    MotionChange,
    MovingSegments,
    ResidualReduction,
)
from musclesolve.errors import InputError, input_error
from musclesolve.models.opensim.coordinate_motion import CoordinateMotion
from musclesolve.models.opensim.external_loads import ExternalLoad, foot_of_side
from musclesolve.models.opensim.inverse_dynamics import body_masses
from musclesolve.models.opensim.kinematics import body_motion
from musclesolve.models.opensim.load_dynamics import LoadDynamics, foot_bodies, load_dynamics
from musclesolve.models.opensim.model import OpenSimModel
from musclesolve.models.opensim.segments import segments
from musclesolve.models.settings import ModelConsistencySettings


@dataclass(frozen=True, eq=False)
class LoadedModel:
    """A model along its coordinates under external loads, as a `ChangingBody` of `residual_reduction`."""

    model: OpenSimModel
    motion: CoordinateMotion
    loads: Sequence[ExternalLoad]

    @cached_property
    def dynamics(self) -> LoadDynamics:
        """Inverse dynamics under the loads."""
        return load_dynamics(self.model, self.motion, self.loads)

    @cached_property
    def free(self) -> list[str]:
        """Names of the K coordinates that change."""
        coupled = {coupler.dependent for coupler in self.model.couplers}
        coordinates = self.model.coordinates
        return [name for name in self.motion.names if not coordinates[name].locked and name not in coupled]

    @cached_property
    def massive(self) -> list[str]:
        """Names of the B bodies with mass."""
        return [
            name for name in self.model.bodies if name in self.model.masses and self.model.masses[name].mass
        ]

    @property
    def state(self) -> BodyState:
        """See ChangingBody; the points are the centers of mass of the bodies with mass."""
        dynamics = self.dynamics
        _, center, _ = body_masses(self.model, dynamics.dynamics.bodies.pose)
        points = np.asarray(center[:, [self.model.body_number[name] for name in self.massive]])
        gravity = np.asarray(self.model.gravity)
        return BodyState(self.motion.time, dynamics.model.weight, gravity, dynamics.root_origin, points)

    def segments(self, frames: slice) -> MovingSegments:
        """See ChangingBody."""
        model, number = self.model, [self.model.body_number[name] for name in self.massive]
        pose = body_motion(model, self.dynamics.motion.value[frames], self.free)
        mass, center, inertia = (np.asarray(array) for array in body_masses(model, pose))
        center, twist = center[:, number], self.dynamics.dynamics.bodies.twist[frames][:, number]
        rates = np.moveaxis(pose.twist[:, :, number], 1, 2)
        omega, spin = twist[..., :3], rates[..., :3]
        return MovingSegments(
            names=[_segments(model).get(name, name) for name in self.massive],
            mass=mass[number],
            center=center,
            velocity=twist[..., 3:] + np.cross(omega, center),
            omega=omega,
            inertia=inertia[:, number],
            spin=spin,
            reach=rates[..., 3:] + np.cross(spin, center[:, :, None]),
        )

    def needed(self) -> Array:
        """See ChangingBody."""
        return self.dynamics.about_root(self.dynamics.body_wrench.sum(axis=1)) + self.lacking()

    def lacking(self) -> Array:
        """See ChangingBody."""
        assert self.dynamics.root_wrench is not None
        return self.dynamics.about_root(self.dynamics.root_wrench)

    def changed(self, change: Array, rate: Array, second: Array) -> Self:
        """See ChangingBody."""
        columns = [self.motion.names.index(name) for name in self.free]
        moved = {}
        for name, by in {"value": change, "speed": rate, "acceleration": second}.items():
            moved[name] = getattr(self.motion, name).copy()
            moved[name][:, columns] += by
        return replace(self, motion=replace(self.motion, **moved))


def reduced_residual(
    model: OpenSimModel,
    motion: CoordinateMotion,
    loads: Sequence[ExternalLoad],
    consistency: ModelConsistencySettings,
) -> tuple[LoadedModel, MotionChange[LoadedModel]]:
    """Find the model along its changed coordinates, and the change."""
    loaded = LoadedModel(model, motion, loads)
    balanced, size = loaded.dynamics.balanced, loaded.dynamics.root_residual
    if balanced is None or size is None or not (usable := balanced & np.isfinite(size)).any():
        raise input_error("dynamics.residual_not_known", where="residual")
    try:
        prepared = ResidualReduction.at(loaded, usable, motion.cutoff_hz or WALKING_CUTOFF_HZ)
        reduction, result = prepared.bounded(loaded, 1e-3 * consistency.largest_change_mm)
    except InputError as error:
        raise error.moved(None, "residual") from None
    return result.body, MotionChange(loaded, result.change, result.mass * model.mass, reduction)


def _segments(model: OpenSimModel) -> dict[str, str]:
    """Body -> segment that contains the body, for feet and shanks."""
    part_of = dict[str, str]()
    for side in SIDES:
        if foot := foot_of_side(model, side):
            part_of |= dict.fromkeys(foot_bodies(model, foot), f"foot_{side}")
    parts = segments(model)
    for joint in parts.knees:
        shank = {parts.distal(joint).body, *parts.rigid(parts.distal_segment(joint)), *parts.patella(joint)}
        part_of |= dict.fromkeys(shank - part_of.keys(), f"shank_{side_of(joint.name)}")
    return part_of
