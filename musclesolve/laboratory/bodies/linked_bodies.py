"""The bodies of a recording or model with their muscles as one set of equations of motion.

For induced accelerations, speeds are the speeds of joints and base of the recorded human, or of the coordinates of a
model that are neither locked nor driven by a coupler. Axes of the laboratory: forward, left, up.

`full_problem` has the arrays of the full formulation (Silva 2003, 6.22). On the model itself there are as many
equations of motion as natural coordinates, 141 for the whole body. Bodies that share points have no rows for their
joints, so joint reactions are read on the expanded model, where every body has its own points and the joints are rows
(dynamics/inverse/joint_reactions.py); the muscles then pull at the copies of the bodies to which they are attached.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import singledispatch
from typing import Any

import numpy as np

from musclesolve._util.arrays import AnyArray, Array
from musclesolve._util.messages import as_text, check_known
from musclesolve.dynamics.inverse.induced_accelerations import Footing, LinkedBodies, LoadedJoint
from musclesolve.dynamics.inverse.inverse_dynamics import required_force
from musclesolve.dynamics.inverse.joint_reactions import ExpandedModel, reactions_of
from musclesolve.dynamics.inverse.lagrange_multipliers import couple_rows
from musclesolve.dynamics.kinematics.joint_drivers import driver_rows
from musclesolve.dynamics.kinematics.motion_derivatives import Motion
from musclesolve.dynamics.model.model import Model
from musclesolve.dynamics.model.rigid_body import Wrench
from musclesolve.errors import input_error
from musclesolve.laboratory.bodies.measured_body import MeasuredAnalysis
from musclesolve.laboratory.bodies.recorded_body import RecordedBody
from musclesolve.models.body import Body
from musclesolve.models.muscle_pulls import MuscleJoints
from musclesolve.models.opensim.inverse_dynamics import (
    body_masses,
    carried_by_joints,
    center_accelerations,
    distal_reactions,
    momentum_rates,
    require_masses,
)
from musclesolve.models.opensim.kinematics import body_motion
from musclesolve.models.opensim.model import TO_GLOBAL
from musclesolve.models.opensim.model_body import ModelBody, shared_joints
from musclesolve.models.opensim.segments import segments
from musclesolve.models.opensim.shared_choice import geometry_along
from musclesolve.muscles.muscle_state import ScaledState
from musclesolve.muscles.paths.paths import muscle_rows
from musclesolve.sharing.arguments import members
from musclesolve.sharing.full_formulation import FullProblem


@dataclass(frozen=True, eq=False)
class Linked:
    """Linked bodies of a recording or model along T frames, for induced accelerations.

    speeds: names of the K speeds. feet, foot_bodies: the bodies on the ground, and their names; joints, joint_names:
    the joints that muscles cross; sense (J,): -1 where the bodies beyond are proximal. forces:
    generalized force (T, K) of each muscle [N m, N].
    """

    bodies: LinkedBodies
    speeds: tuple[str, ...]
    feet: tuple[Footing, ...]
    foot_bodies: tuple[str, ...]
    joints: tuple[LoadedJoint, ...]
    joint_names: tuple[str, ...]
    sense: Array
    forces: dict[str, Array]


def linked(analysis: MeasuredAnalysis) -> Linked:
    """The equations of the body of an analysis, and its muscle forces in them; zero in frames without a solution."""
    return linked_body(analysis.body, analysis)


@singledispatch
def linked_body(body: Body, analysis: MeasuredAnalysis) -> Linked:
    """The equations of a body, one function for each kind of body."""
    raise TypeError(f"no equations of a {type(body).__name__}")


@linked_body.register
def _(body: RecordedBody, analysis: MeasuredAnalysis) -> Linked:
    model, motion, reactions = body.mechanics.model, body.mechanics.motion, body.mechanics.reactions
    wrenches, heights = body.mechanics.wrenches, [one.center_of_pressure[:, 2] for one in reactions]
    bodies = LinkedBodies.from_motion(model, motion)
    forces: dict[str, Array] = {}
    joints: dict[str, LoadedJoint] = {}
    for part, muscles in zip(analysis.parts, body.placed, strict=True):
        rows = [model.dof(dof) for dof in part.part.dofs]
        for k, name in enumerate(part.state.parameters.names):
            forces[name] = np.zeros(bodies.rates.shape)
            forces[name][:, rows] = (
                part.state.moment_arm[:, :, k] * np.nan_to_num(part.tension[:, k])[:, None]
            )
        for name, dofs in MuscleJoints(model, muscles).served.items():
            beyond = np.zeros(len(bodies.mass), bool)
            beyond[model.distal_bodies(dofs[0])] = True
            joints[name] = LoadedJoint(beyond, motion.q[:, model.slot(name)])
    return Linked(
        bodies,
        tuple(model.topology.dof_names),
        tuple(
            Footing.from_wrench(model, motion, wrench, height)
            for wrench, height in zip(wrenches, heights, strict=True)
        ),
        tuple(wrench.body for wrench in wrenches),
        tuple(joints.values()),
        tuple(joints),
        np.ones(len(joints)),
        forces,
    )


@linked_body.register
def _(body: ModelBody, analysis: MeasuredAnalysis) -> Linked:
    model, loads = body.model, body.dynamics
    if loads is None:
        raise input_error(
            "missing_argument",
            where="contributions",
            problem=f"no external loads are given for the model {model.name}, so the ground reactions are not known",
            expected="external loads instead of joint moments",
            remedy='name a file of ground reactions: --loads grf.mot, or loads = "grf.mot" under [files]',
        )
    coupled = {coupler.dependent for coupler in model.couplers}
    speeds = tuple(
        name
        for name, coordinate in model.coordinates.items()
        if not coordinate.locked and name not in coupled
    )
    columns = [model.coordinate_number[name] for name in speeds]
    require_masses(model, speeds, loads.dynamics.force[:, columns])
    moved = loads.dynamics.bodies
    mass, center, inertia = body_masses(model, moved.pose)
    twist = body_motion(model, loads.motion.value, speeds).twist.swapaxes(1, 2)  # (T, B, K, 6)
    reach = twist[..., 3:] + np.cross(twist[..., :3], center[:, :, None])
    moving = {name for joint in model.roots for name in model.independent(joint.moved_by)}
    usable = ~np.isnan(mass)
    bodies = LinkedBodies(
        np.where(usable, mass, 0.0),
        center @ TO_GLOBAL.T,
        TO_GLOBAL @ inertia @ TO_GLOBAL.T,
        twist[..., :3] @ TO_GLOBAL.T,
        reach @ TO_GLOBAL.T,
        center_accelerations(moved, center) @ TO_GLOBAL.T,
        momentum_rates(moved, inertia) @ TO_GLOBAL.T,
        loads.motion.speed[:, columns],
        loads.motion.acceleration[:, columns],
        np.array([name in moving for name in speeds]),
        TO_GLOBAL @ model.gravity,
    )
    parts = segments(model)
    acting = loads.body_wrench
    borne = np.flatnonzero(np.abs(acting).max(axis=(0, 2)) > 0.0)
    feet = tuple(
        Footing(
            int(number),
            acting[:, number, 3:] @ TO_GLOBAL.T,
            acting[:, number, :3] @ TO_GLOBAL.T,
            parts.axes(moved.pose.rotation, model.bodies[number])[:, :, 0] @ TO_GLOBAL.T,
        )
        for number in borne
    )
    crossed = shared_joints(model, body.dofs)
    beyond = carried_by_joints(model, np.eye(len(model.bodies))[:, :, None])[:, :, 0].T > 0.0
    reactions = distal_reactions(model, loads.dynamics)
    joints = tuple(
        LoadedJoint(
            beyond[model.body_number[joint.outboard.body]],
            reactions.point[:, model.joints.index(joint)] @ TO_GLOBAL.T,
        )
        for joint in crossed
    )
    geometry, _ = geometry_along(model, body.choice, body.motion)
    rows = [(k, speeds.index(name)) for k, name in enumerate(geometry.coordinates) if name in speeds]
    forces = {}
    for part, numbers in zip(analysis.parts, analysis.columns, strict=True):
        for k, number in enumerate(numbers):
            force = np.zeros(bodies.rates.shape)
            tension = np.nan_to_num(part.tension[:, k])
            for row, speed in rows:
                force[:, speed] = geometry.moment_arm[:, row, number] * tension
            forces[body.muscles[number]] = force
    return Linked(
        bodies,
        speeds,
        feet,
        tuple(model.bodies[number] for number in borne),
        joints,
        tuple(joint.name for joint in crossed),
        np.array([1.0 if parts.is_outward(joint) else -1.0 for joint in crossed]),
        forces,
    )


def full_problem(
    model: Model,
    motion: Motion,
    wrenches: list[Wrench],
    states: Sequence[ScaledState],
    dofs: Sequence[str],
    reserve_weight: AnyArray | float | None = None,
    data: Mapping[str, AnyArray] | None = None,
) -> FullProblem:
    """Make the equations of motion with multipliers of all constraints and drivers, and muscles on the shared dofs.

    Args:
        model: of the subject, expanded or not; motion and muscles belong to the unexpanded model in either case.
        motion: T frames.
        wrenches: of the ground on the subject.
        states: muscles of one group or of several along the motion; n muscles in all.
        dofs: names of the m degrees of freedom that the muscles serve; all others have drivers.
        reserve_weight: see FullProblem.
        data: further fields of Problem that some costs need and the muscles do not supply.
    """
    dofs, states = _some(dofs, "dofs"), _some(states, "states")
    names = model.topology.dof_names[: model.tree.joint_count]
    check_known(dofs, "degree of freedom", names, " in the joints of the model")
    shared = np.array([model.dof(dof) for dof in dofs])
    moved = model.motion(motion) if isinstance(model, ExpandedModel) else motion
    drivers = np.delete(driver_rows(model, moved).jacobian, shared, axis=1)
    jacobian = np.concatenate([model.constraints.jacobian(moved.q), drivers], axis=1)
    rows = np.concatenate([_flat(_rows(model, moved, state)) for state in states], axis=1)
    muscles = [state.muscles.parameters for state in states]
    fibers = {name: _joined(states, name) for name in ("fiber_velocity", "fiber_force_capacity")}
    fibers |= {name: _joined(muscles, name) for name in ("optimal_fiber_length", "joints_crossed")}
    required = required_force(model, moved.q, moved.qd, moved.qdd, wrenches).reshape(len(moved.q), -1)
    return FullProblem(
        jacobian=_flat(jacobian),
        muscle_rows=rows,
        moment_rows=_flat(couple_rows(model, moved)[:, shared]),
        needed=required + np.einsum("tn,tnq->tq", _joined(states, "passive_force"), rows),
        force_capacity=_joined(states, "force_capacity"),
        max_isometric_force=_joined(muscles, "max_isometric_force"),
        reserve_weight=reserve_weight,
        muscle=tuple(name for group in muscles for name in group.names),
        dof=tuple(dofs),
        data=fibers | dict(data or {}),
    )


def _joined(parts: Sequence[object], name: str) -> AnyArray:
    return np.concatenate([getattr(part, name) for part in parts], axis=-1)


def contact_forces(
    expanded: ExpandedModel, motion: Motion, multiplier: AnyArray
) -> dict[tuple[str, str], AnyArray]:
    """Force on the far body of every joint from the near one, muscles included, (T, 3) [N], by (far, near).

    The quadriceps pulls at the points of its path here, while `JointLoads` has the patellar ligament pull at the shank.

    Args:
        expanded: the model of the problem.
        motion: of the subject.
        multiplier: (T, c + drivers), from `solve_full`; multipliers of the drivers are ignored.
    """
    q, rows = expanded.motion(motion).q, len(expanded.constraints.names)
    force = reactions_of(expanded, q, multiplier[:, :rows])[1]
    return {joint: force[:, k] for k, joint in enumerate(expanded.joint_rows)}


def _some(argument: object, name: str) -> list[Any]:
    listed = members(argument)
    if not listed:
        raise input_error(
            "missing_argument",
            where=f"full_problem, {name}",
            problem=f"{name} is {as_text(argument)}",
            expected="a list of one or more",
        )
    return listed


def _rows(model: Model, moved: Motion, state: ScaledState) -> AnyArray:
    """Muscle rows dL_MT/dq (T, n, N, 3) in the coordinates of a model, which may be expanded."""
    if not isinstance(model, ExpandedModel):
        return muscle_rows(model, moved, state.path)
    paths = replace(state.muscles.paths, rigid_bodies=model.rigid_bodies)
    return muscle_rows(model, moved, paths.evaluate(moved.q, moved.coordinates))


def _flat(rows: AnyArray) -> AnyArray:
    return rows.reshape(*rows.shape[:-2], -1)
