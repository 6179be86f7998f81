"""Loads on the feet of an OpenSim model without a force plate: predicted from its motion, or found in its moments.

The prediction has the method for recordings (`dynamics.inverse.predicted_reactions`). The load of the ground on the
whole body is the sum of the loads that its bodies need; the soles are placed on the bodies of the foot by the
proportions of a foot.

A file of moments contains the loads of its inverse dynamics. Inverse dynamics gives tau = tau_0 - J_r^T w_r - J_l^T
w_l: the forces tau_0 that the motion needs under gravity, less the forces of the ground by wrenches w on the feet. A
file with the forces of the root and the moments of both legs has more of them than the twelve unknowns of a frame, so
that the wrenches follow by least squares. What remains shows whether moments, model and motion belong together: it is
zero for moments of this model, motion and filter.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from musclesolve._util.arrays import Array, at_times, slices
from musclesolve._util.center_of_pressure import center_of_pressure
from musclesolve._util.sides import SIDES, Side
from musclesolve.dynamics.inverse.predicted_reactions import SOLE, reactions_of_soles
from musclesolve.dynamics.kinematics.motion_derivatives import BLOCK
from musclesolve.errors import InputError, file_error, input_error
from musclesolve.models.opensim.coordinate_motion import CoordinateMotion
from musclesolve.models.opensim.external_loads import ExternalLoad, feet_of, foot_of_side, toes_of_side
from musclesolve.models.opensim.inverse_dynamics import (
    BodyDynamics,
    ModelMotion,
    body_dynamics,
    body_masses,
    inertial_wrench,
    joint_forces,
)
from musclesolve.models.opensim.kinematics import BodyMotion
from musclesolve.models.opensim.load_dynamics import COLUMN_ENDINGS, FREE, foot_bodies, whole_motion
from musclesolve.models.opensim.model import TO_GLOBAL, OpenSimModel
from musclesolve.tables.sampled import Table

FOOT_LENGTH, TO_TOES = 0.268, 0.130
"""Length of the foot of the skeleton of gait2392 and Rajagopal (2016), and from its ankle forward to its toe joint [m].

The origin of the calcaneus lies 0.179 m behind the joint of the toes and 0.049 m behind the ankle; a foot is 0.152
statures long (Winter 2009, figure 4.1) and the skeleton about 1.76 m tall.
"""
HEEL, SOLE_DEPTH = 0.069, 0.068
"""Distance of the heel behind the ankle of this skeleton, and of the sole below it [m]: 0.039 statures (Winter
2009).
"""
TIP = 0.9
"""Share of the length of a sole beyond which its points move with the toes."""


def predicted_loads(
    model: OpenSimModel, motion: ModelMotion, errors: Callable[[Array, float], Array] | None = None
) -> tuple[ExternalLoad, ...]:
    """Predict the loads on the right and the left foot of a model that touches nothing but the ground.

    Args:
        model: whose bodies move freely, with feet of the usual names and mass properties of all bodies.
        motion: of T frames, evenly spaced in time.
        errors: adds errors to force [N] and moment [N m] about the global origin of both feet, (T, 2, 6), z up; its
            second argument is the height of the ground [m].

    Returns:
        A load on each foot at the times of the motion: force [N], center of pressure [m] and free moment [N m].
    """
    feet, roots = [foot_of_side(model, side) for side in SIDES], model.roots
    if not all(feet):
        raise file_error(
            "unknown_name",
            model.file,
            "the model has no feet that ground reactions could be predicted for; its bodies "
            f"are {', '.join(map(str, model.bodies[1:]))}",
            "bodies of both feet, such as calcn_r and calcn_l",
            "give measured loads or moments, or name the bodies of the feet as OpenSim's models do",
        )
    if any(len(joint.coordinates) < FREE for joint in roots) or not model.gravity.any():
        raise file_error(
            "conflict",
            model.file,
            f"the ground reactions cannot be predicted: {roots[0].name} fixes the model to "
            "the ground, or gravity is zero",
            "a body that moves freely in six coordinates under gravity, and touches nothing but the ground",
            "give moments, or loads that were measured",
        )
    if model.mass_faults or not model.mass > 0.0:
        faults = model.mass_faults.values() or ["no body has a mass"]
        raise input_error(
            "models.opensim.impossible_mass", file=model.file, where="ground reactions", faults=faults
        )
    bodies = body_dynamics(model, motion)
    wrench = inertial_wrench(model, bodies).sum(axis=1)
    required = np.concatenate([wrench[:, 3:] @ TO_GLOBAL.T, wrench[:, :3] @ TO_GLOBAL.T], axis=1)
    points = np.stack([sole_points(model, bodies, side) for side in SIDES], axis=1) @ TO_GLOBAL.T
    mass, center, _ = body_masses(model, bodies.pose)
    mass_center = mass @ center / model.mass @ TO_GLOBAL.T
    predicted = reactions_of_soles(motion.time, model.weight, required, mass_center, points)
    wrenches = np.stack(
        [np.concatenate([part.force, part.moment], axis=1) for part in predicted.wrenches], axis=1
    )
    if errors is not None:
        wrenches = errors(wrenches, predicted.level)
    loads = foot_loads(motion.time, dict(zip(SIDES, feet, strict=True)), wrenches, points, predicted.level)
    return tuple(replace(load, predicted=True) for load in loads)


def foot_loads(
    time: Array, feet: Mapping[Side, str], wrenches: Array, points: Array, level: float
) -> tuple[ExternalLoad, ...]:
    """Loads on F feet from their forces and moments about the global origin (T, F, 6), z up, at a level of the ground.

    points: of the soles (T, F, P, 3) [m].
    """
    loads = []
    for k, (side, foot) in enumerate(feet.items()):
        acting, about_origin = wrenches[:, k, :3], wrenches[:, k, 3:]
        pressed = center_of_pressure(acting, about_origin, level)
        # a foot without load has no center of pressure: its small force acts at the middle of its sole
        point = np.where(np.isnan(pressed), points[:, k].mean(axis=1), pressed)
        free = about_origin - np.cross(point, acting)
        force, at, moment = (array @ TO_GLOBAL for array in (acting, point, free))
        loads.append(ExternalLoad(f"predicted_{side}", foot, time, force, at, moment))
    return tuple(loads)


def sole_points(model: OpenSimModel, bodies: BodyDynamics, side: str) -> Array:
    """Points (T, P, 3) of the sole of a side in the ground [m], placed from its ankle along its foot.

    The joint of the toes determines the size of a foot; a foot without toes has the size of the skeleton's foot.
    """
    foot, toes = foot_of_side(model, side), toes_of_side(model, side)
    ankle = model.body_number[foot_bodies(model, foot)[0]]
    pose, heel = bodies.pose, model.body_number[foot]
    standing = np.swapaxes(pose.rotation[:, heel], 1, 2)

    def in_foot(point: Array) -> Array:
        return np.asarray((standing @ (point - pose.position[:, heel])[..., None])[..., 0])

    at_ankle, scale = np.median(in_foot(pose.position[:, ankle]), axis=0), 1.0
    if toes:
        at_toes = in_foot(pose.position[:, model.body_number[toes]])[0]
        scale = float(at_toes[0] - at_ankle[0]) / TO_TOES
    base = at_ankle - scale * np.array([HEEL, SOLE_DEPTH, 0.0])
    base[2] = at_toes[2] if toes else at_ankle[2]
    length = scale * FOOT_LENGTH
    points = []
    for along, across in SOLE:
        point, body = base + length * np.array([along, 0.0, across]), heel
        if toes and along > TIP:
            point, body = point - at_toes, model.body_number[toes]
        points.append((pose.rotation[:, body] @ point) + pose.position[:, body])
    return np.stack(points, axis=1)


REMAINS = 0.15
"""Most that may remain of the moments, as a share of their rms; public files leave 0 to 0.1."""
SINGULAR = 1e-3
"""Ratio of the singular values from which the wrenches on both feet are determined."""


def foot_pushes(model: OpenSimModel, pose: BodyMotion, feet: Sequence[str]) -> Array:
    """Generalized forces (T, K, 6 F) of a unit of each component of a wrench on F feet, about their origins."""
    pushes = []
    for foot in feet:
        number = model.body_number[foot]
        for component in np.eye(6):
            wrench = np.zeros((len(pose.position), len(model.bodies), 6))
            wrench[:, number] = -component
            wrench[:, number, :3] -= np.cross(pose.position[:, number], component[3:])
            pushes.append(joint_forces(model, pose, wrench))
    return np.stack(pushes, axis=2)


def coordinate_columns(model: OpenSimModel, table: Table) -> dict[str, int]:
    """Coordinate -> its column of forces, without those that show no load of a foot as a whole.

    Forces of angles that belong to angular velocities, and of the joints beyond a foot, which carry its load or not.
    """
    feet = feet_of(model).values()
    without = {name for joint in model.joints if joint.speeds_are_angular for name in joint.coordinates[:3]}
    without |= {name for joint in model.joints if joint.inboard.body in feet for name in joint.coordinates}
    return {
        name: table.names.index(f"{name}{ending}")
        for name in model.coordinates
        for ending in COLUMN_ENDINGS
        if f"{name}{ending}" in table.names and name not in without
    }


def _without_noise(model: OpenSimModel, wrench: Array, push: Array, needed: Array, noise: float) -> Array:
    """Wrenches (T, 2, 2, 3) in which a foot with less upward force than the noise, a share of the weight, has none."""
    both = wrench.reshape(len(wrench), len(SIDES), 2, 3).copy()
    least = noise * model.weight
    light = both[:, :, 1] @ model.up < least
    both[light] = 0.0
    for number, columns in enumerate((slice(0, 6), slice(6, 12))):
        alone = ~light[:, number] & light[:, 1 - number]
        carried = np.einsum("tcn,tn->tc", np.linalg.pinv(push[alone, :, columns]), needed[alone])
        both[alone, number] = carried.reshape(-1, 2, 3)
    return both


def found_loads(
    model: OpenSimModel, motion: CoordinateMotion, table: Table
) -> tuple[tuple[ExternalLoad, ...], str]:
    """Loads on both feet at the times of the motion; none, and why, where the file does not determine them.

    It does not where forces of the root or of a leg are missing or unknown at a time, or do not belong to this model
    and motion.
    """
    feet, roots = feet_of(model), model.roots
    columns = coordinate_columns(model, table)
    names = [name for name in columns if not model.coordinates[name].locked]
    forces = table.values[:, [columns[name] for name in names]]
    if len(feet) < len(SIDES):
        return (), "the model does not have both feet"
    if len(roots) != 1 or len(set(roots[0].coordinates) & set(names)) < FREE:
        return (), "the file has no forces and moments of a free joint at the root of the model"
    if model.mass_faults or not model.mass > 0.0:
        return (), "mass properties of the model are unknown"
    if not np.isfinite(forces).all():
        return (), "the file has gaps"
    try:
        whole = whole_motion(model, motion)
    except InputError as error:
        return (), f"the motion is not known ({error.problem})"
    numbers = [model.coordinate_number[name] for name in names]
    forces = at_times(table.time, forces, motion.time)
    acting, rest, soles = [], [], []
    for block in slices(len(motion.time), BLOCK):
        bodies = body_dynamics(model, whole.frames(block))
        push = foot_pushes(model, bodies.pose, list(feet.values()))[:, numbers]
        left, sizes, right = np.linalg.svd(push, full_matrices=False)
        if (sizes[:, -1] < SINGULAR * sizes[:, 0]).any():
            return (), "its columns do not determine the loads on both feet"
        needed = forces[block] - joint_forces(model, bodies.pose, inertial_wrench(model, bodies))[:, numbers]
        inverse = np.swapaxes(right, 1, 2) @ (np.swapaxes(left, 1, 2) / sizes[..., None])
        wrench = np.einsum("tcn,tn->tc", inverse, needed)
        rest.append(needed - np.einsum("tnc,tc->tn", push, wrench))
        noise = float(np.linalg.norm(rest[-1]) / np.linalg.norm(forces[block]))
        both = _without_noise(model, wrench, push, needed, noise)
        place = bodies.pose.position[:, [model.body_number[foot] for foot in feet.values()]]
        both[:, :, 0] += np.cross(place, both[:, :, 1])  # about the origin of the ground
        acting.append(both[:, :, ::-1] @ TO_GLOBAL.T)
        soles.append(np.stack([sole_points(model, bodies, side) for side in feet], axis=1) @ TO_GLOBAL.T)
    remains = float(np.linalg.norm(np.concatenate(rest)) / np.linalg.norm(forces))
    if remains > REMAINS:
        why = f"with the best ones {remains:.0%} of the moments remain (at most {REMAINS:.0%}). The moments belong to "
        why += "another model, motion or filter"
        unfiltered = (
            ". Accelerations of coordinates that are not filtered are noise: give the cut-off of inverse "
        )
        return (), why + (unfiltered + "dynamics, such as --cutoff-hz 6") * (motion.cutoff_hz is None)
    points, wrenches = np.concatenate(soles), np.concatenate(acting).reshape(-1, len(feet), 6)
    loads = foot_loads(motion.time, feet, wrenches, points, float(points[..., 2].min()))
    file = table.path if table.path.name else None
    return tuple(replace(load, name=f"ground_{load.body}", file=file) for load in loads), ""
