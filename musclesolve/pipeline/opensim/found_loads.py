"""The loads on the feet of an OpenSim model that a file of moments contains.

Inverse dynamics gives tau = tau_0 - J_r^T w_r - J_l^T w_l: the forces tau_0 that the motion needs under gravity, less
the forces of the ground by wrenches w on the feet. A file with the forces of the root and the moments of both legs has
more of them than the twelve unknowns of a frame, so that the wrenches follow by least squares. What remains shows
whether moments, model and motion belong together: it is zero for moments of this model, motion and filter.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from musclesolve._util.arrays import Array, at_times
from musclesolve._util.long_arrays import blocks
from musclesolve._util.sides import SIDES
from musclesolve.errors import InputError
from musclesolve.opensim.external_loads import ExternalLoad, feet_of
from musclesolve.opensim.inverse_dynamics import ModelMotion, body_dynamics, inertial_wrench, joint_forces
from musclesolve.opensim.kinematics import BodyMotion
from musclesolve.opensim.model import GROUND, TO_GLOBAL, OpenSimModel
from musclesolve.pipeline.opensim.coordinate_motion import CoordinateMotion
from musclesolve.pipeline.opensim.load_dynamics import COLUMN_ENDINGS, FREE, whole_motion
from musclesolve.pipeline.opensim.predicted_loads import foot_loads, sole_points
from musclesolve.recording.data import Table

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
    least = noise * model.mass * float(np.linalg.norm(model.gravity))
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
    feet = feet_of(model)
    roots = [joint for joint in model.joints if joint.inboard.body == GROUND]
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
    forces = at_times(table.time, forces, np.clip(motion.time, table.time[0], table.time[-1]))
    acting, rest, soles = [], [], []
    for block in blocks(len(motion.time)):
        kept = ("time", "value", "speed", "acceleration")
        bodies = body_dynamics(model, ModelMotion(*(getattr(whole, name)[block] for name in kept)))
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
