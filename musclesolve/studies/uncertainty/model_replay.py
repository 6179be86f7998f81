"""An OpenSim model along its coordinates with errors: of muscles, of angles, and of moments or loads.

Angles are off by a constant along the trial: they change lengths, moment arms and, where loads are given, the moments
by inverse dynamics. Given moments are unchanged, and have a factor of their own. Loads that the motion predicts are
predicted again with these angles, and have errors of the prediction (`with_prediction_errors`). A change of the motion
for a smaller residual is computed again, too.

With loads, a foot stands on its plate. Independent errors of angles would move the foot: 2 degrees at the hip move the
load of a foot by 3 cm relative to the hip, 25 N m under the weight of the body, a larger error than markers allow. With
the places p of the loaded bodies, each averaged over the motion by the size of its load, only the part of the errors e
of the angles remains that does not move them,

    e - J^+ J e,    J = dp / dangles,

in which an error of the pelvis is taken up by the hips, and one of a hip by knee and ankle.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.constants import RIGID
from musclesolve.laboratory.bodies.measured_body import MeasuredModel
from musclesolve.models.body import JointLoads, SharingGroup
from musclesolve.models.body_sharing import refuse_actuators
from musclesolve.models.opensim.coordinate_motion import CoordinateMotion
from musclesolve.models.opensim.external_loads import ExternalLoad, load_in_ground
from musclesolve.models.opensim.geometry import fiber_path_lengths
from musclesolve.models.opensim.kinematics import body_motion, coordinate_values
from musclesolve.models.opensim.load_dynamics import LoadDynamics, load_dynamics, whole_motion
from musclesolve.models.opensim.loads_without_plates import predicted_loads
from musclesolve.models.opensim.model import TO_GLOBAL, OpenSimModel
from musclesolve.models.opensim.reduced_residual import LoadedModel
from musclesolve.models.opensim.shared_choice import geometry_along
from musclesolve.muscles.muscle_state import MuscleState
from musclesolve.studies.uncertainty import replay
from musclesolve.studies.uncertainty.replay import prediction_shapes, with_prediction_errors

DIFFERENCE_TURN = 1e-4
"""Half the step of the differences of the places of loaded bodies [rad]."""


@dataclass(frozen=True, eq=False)
class MovedLoads:
    """The loads of joints by muscles, by their names; other processes take it, as they take no local function.

    ligament: factor of the forces of ligaments; factor: of the forces and moments without muscles.
    """

    model: OpenSimModel
    acted: LoadDynamics
    ligament: float
    factor: float

    def __call__(self, joints: Sequence[str], muscles: Sequence[str]) -> JointLoads:
        """The loads of the joints."""
        moving = [joint for joint in self.model.joints if joint.name in joints]
        loads = self.acted.joint_loads(moving, muscles, self.ligament)
        return replace(loads, net=self.factor * loads.net, net_moment=self.factor * loads.net_moment)


@dataclass(frozen=True, eq=False)
class MovedModel:
    """A model along its coordinates with errors.

    angle, moment (T, m) of the shared coordinates; length [m], velocity [m/s] (T, n) and arm [m] (T, m, n) of the
    muscles; loads: of the joints by muscles, by their names, None where moments are given.
    """

    angle: Array
    moment: Array
    length: Array
    velocity: Array
    arm: Array
    loads: MovedLoads | None


@dataclass(frozen=True, eq=False)
class ModelReplay(replay.Replay):
    """An OpenSim model ready to be run again with errors in its inputs.

    angles: names of the A coordinates that have errors; kept (A, A): projection on the remaining part of their errors.
    """

    moves_ground = False
    prepared: MeasuredModel
    angles: tuple[str, ...]
    kept: Array

    @classmethod
    def from_body(cls, prepared: MeasuredModel, sd: Mapping[str, float]) -> Self:
        """Keep what the samples need of a body without errors; sd: source -> standard deviation, SI."""
        refuse_actuators(prepared.parts, "the uncertainty of a result")
        # the free rotational coordinates: all of them with loads, else those that the muscles depend on
        model = prepared.model
        free = set(model.independent(prepared.motion.names))
        if prepared.dynamics is None:
            free &= {*prepared.choice.needed, *prepared.dofs}
        known = {name: model.coordinates[name] for name in prepared.motion.names if name in free}
        angles = tuple(name for name, q in known.items() if q.rotational and not q.locked)
        shapes = replay.muscle_shapes(len(prepared.muscles))
        if prepared.dynamics is not None:
            predicted = prepared.dynamics.predicted
            shapes["center_of_pressure"] = (0 if predicted else len(prepared.dynamics.loads), 2)
            shapes |= prediction_shapes() if predicted else {}
        shapes["joint_angle"] = (len(angles),)
        if prepared.dynamics is None:
            shapes["joint_moment"] = (len(prepared.dofs),)
        shapes |= replay.sharing_shapes(len(prepared.muscles), len(prepared.joints))
        return cls(
            **replay.fields_of(prepared, prepared.dofs, shapes, sd),
            weight=0.0 if prepared.dynamics is None else prepared.model.weight,
            phase=_phase(prepared, prepared.time),
            prepared=prepared,
            angles=angles,
            kept=_without_moving_loads(prepared, angles),
        )

    def body(self, errors: replay.Errors) -> MovedModel:
        """The model with errors of its angles, of its moments or the places of its loads, and of the ligaments."""
        body, offset = self.prepared, self.kept @ errors["joint_angle"]
        state, moment, acted = body.whole.state, body.moment, body.dynamics
        length, velocity, arm = state.musculotendon_length, state.musculotendon_velocity, state.moment_arm
        motion, moved = body.motion, dict(zip(self.angles, offset, strict=True))
        sources = ("center_of_pressure", "predicted_force", "predicted_pressure")
        loaded = body.dynamics is not None and any(errors[name].any() for name in sources if name in errors)
        if offset.any() or loaded:
            motion = _turned(body.measured.motion, moved)
            acting = () if body.dynamics is None else self._loads(moved, errors)
            if body.change is not None:
                motion = body.change.reduction.reduced(LoadedModel(body.model, motion, acting)).body.motion
            geometry, velocity = geometry_along(body.model, body.choice, motion, reported=False)
            length, arm = geometry.length, geometry.moment_arm
            if body.settings.muscles.tendon == RIGID:
                length = fiber_path_lengths(body.model, geometry)
        if body.dynamics is None:
            moment = moment * np.exp(errors["joint_moment"])
        elif offset.any() or loaded or self.ligament(errors) != 1.0:
            acted = load_dynamics(body.model, motion, acting) if offset.any() or loaded else body.dynamics
            columns = np.stack([acted.dynamics.column(name) for name in body.dofs], axis=1)
            moment = np.where(np.isnan(moment), np.nan, columns)
        # predicted loads, and the moments and forces of the joints with them, are in proportion to the mass
        factor = float(np.exp(errors["body_mass"][0])) if "body_mass" in errors and acted is not None else 1.0
        angle = body.angle + np.array([moved.get(name, 0.0) for name in body.dofs])
        loads = None if acted is None else MovedLoads(body.model, acted, self.ligament(errors), factor)
        return MovedModel(angle, factor * moment, length, velocity, arm, loads)

    def _loads(self, moved: Mapping[str, float], errors: replay.Errors) -> Sequence[ExternalLoad]:
        """Loads that act elsewhere, or are predicted from the motion with errors; moved: offsets of angles [rad]."""
        body = self.prepared
        assert body.dynamics is not None
        if not body.dynamics.predicted:
            # by (loads, 2) [m] forward and to the left
            shift = np.insert(errors["center_of_pressure"], 2, 0.0, axis=1) @ TO_GLOBAL
            return [replace(x, point=x.point + by) for x, by in zip(body.dynamics.loads, shift, strict=True)]
        motion = _turned(body.every_motion, moved)

        def with_errors(wrenches: Array, level: float) -> Array:
            every, phase = np.ones(wrenches.shape[:2], bool), _phase(body, motion.time)
            curves = errors["predicted_force"], errors["predicted_pressure"]
            return with_prediction_errors(wrenches, every, motion.time, phase, self.weight, level, *curves)

        return predicted_loads(body.model, whole_motion(body.model, motion), with_errors)

    def part(self, body: MovedModel, errors: replay.Errors, number: int) -> SharingGroup:
        """One group of coordinates and muscles, by its number, with errors of its muscles."""
        part, columns = self.nominal[number], self.layout.muscles[number]
        rows = [self.prepared.dofs.index(name) for name in part.dofs]
        state = MuscleState.from_lengths(
            replay.parameters_with_errors(part.state.parameters, errors, columns, self.person),
            body.length[:, columns],
            body.velocity[:, columns],
            body.arm[:, rows][:, :, columns],
        )
        loads = part.loads
        if body.loads is not None and loads is not None:
            loads = body.loads(loads.joints, part.state.parameters.names)
        return replace(part, state=state, moment=body.moment[:, rows], loads=loads)


def _phase(body: MeasuredModel, time: Array) -> Array:
    """Phase (T,) of times [s], which runs from 0 to 2 pi over the frames of a body."""
    length = max(float(body.time[-1] - body.time[0]), 1e-9)
    return np.asarray(2.0 * np.pi * (time - body.time[0]) / length)


def _turned(motion: CoordinateMotion, offset: Mapping[str, float]) -> CoordinateMotion:
    """The motion with constant offsets [rad] of some coordinates, by name."""
    return replace(motion, value=motion.value + np.array([offset.get(name, 0.0) for name in motion.names]))


def _without_moving_loads(body: MeasuredModel, angles: Sequence[str]) -> Array:
    """I - J^+ J, (A, A); the identity where moments are given."""
    if body.dynamics is None or not body.dynamics.loads:
        return np.eye(len(angles))
    model, motion = body.model, body.motion
    pose, weights, loaded = body.dynamics.dynamics.bodies.pose, [], []
    for load in body.dynamics.loads:
        size = np.nan_to_num(np.linalg.norm(load_in_ground(model, load, motion.time, pose)[0], axis=1))
        if size.any():
            weights.append(size / size.sum())
            loaded.append(model.body_number[load.body])

    def places(name: str, turn: float) -> Array:
        turned = _turned(motion, {name: turn})
        position = body_motion(model, coordinate_values(model, turned.by_name(turned.value))).position
        return np.einsum("bt,tbx->bx", np.array(weights), position[:, loaded]).ravel()

    if not loaded:
        return np.eye(len(angles))
    step = DIFFERENCE_TURN
    rates = [(places(name, step) - places(name, -step)) / (2.0 * step) for name in angles]
    jacobian = np.stack(rates, axis=1)
    return np.eye(len(angles)) - np.linalg.pinv(jacobian, rcond=1e-6) @ jacobian
