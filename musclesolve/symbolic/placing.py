"""Path points and wrap objects in a pose, as expressions of the joint coordinates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import casadi as ca
import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.dynamics.model.model import Model
from musclesolve.muscles.paths.kernel.placing import NEARLY_ZERO
from musclesolve.muscles.paths.paths import Paths
from musclesolve.opensim.geometry import PathSystem
from musclesolve.opensim.model import Joint, OpenSimModel
from musclesolve.symbolic.path_length import Places
from musclesolve.symbolic.piecewise import natural_spline, of_coordinates

Pose = tuple[Any, Any]
"""Rotation (3, 3) and translation (3,) [m] of a body."""


def rotation_about(axis: Array, angle: Any) -> Any:
    """Rotation about a unit axis (Rodrigues)."""
    skew = np.cross(np.eye(3), axis)
    return np.eye(3) + ca.sin(angle) * ca.SX(skew) + (1.0 - ca.cos(angle)) * ca.SX(skew @ skew)


def places_of_set(model: Model, paths: Paths, coordinates: Mapping[int, Any]) -> Places:
    """Points and objects of a set on a subject whose base stands still; coordinates: by number of the joint [rad].

    A body moves its points by x = t + R s from standing; a joint holds its pivot (`Tree.frames`).
    """
    tree, standing = model.tree, model.standing
    axes, poses = tree.axes(standing[None])[0], {tree.root: (ca.SX.eye(3), ca.SX.zeros(3))}
    for k, (parent, child) in enumerate(zip(tree.parent.tolist(), tree.child.tolist(), strict=True)):
        rotation, shift = poses[parent]
        if k in coordinates:
            turned = rotation @ rotation_about(axes[k], coordinates[k])
            poses[child] = turned, shift + (rotation - turned) @ standing[tree.pivot[k]]
        else:
            poses[child] = rotation, shift
    carriers: dict[int, Pose] = {}
    for f, spline in enumerate(paths.frames.motion):
        rotation, shift = poses[int(paths.frames.body[f])]
        motion, pivot = natural_spline(spline, coordinates[int(paths.frames.dof[f])]), paths.frames.pivot[f]
        turned = rotation @ _from_vector(motion[3:])
        carriers[f] = turned, shift + rotation @ (pivot + ca.vertcat(*motion[:3])) - turned @ pivot

    def carried(body: int, frame: int) -> Pose:
        return carriers[frame] if frame >= 0 else poses[body]

    on: list[Any] = [1.0] * len(paths.standing)
    switches = paths.switched, paths.switch_dof, paths.switch_lower, paths.switch_upper
    for p, dof, lower, upper in zip(*(each.tolist() for each in switches), strict=True):
        on[p] = ca.logic_and(coordinates[dof] >= lower, coordinates[dof] <= upper)
    objects = paths.objects
    of_points = map(carried, paths.point_body.tolist(), paths.point_frame.tolist())
    of_objects = list(map(carried, objects.body.tolist(), objects.frame.tolist()))
    return Places(
        [shift + rotation @ s for (rotation, shift), s in zip(of_points, paths.standing, strict=True)],
        on,
        [shift + rotation @ c for (rotation, shift), c in zip(of_objects, objects.center, strict=True)],
        [rotation @ own for (rotation, _), own in zip(of_objects, objects.axes, strict=True)],
    )


def _from_vector(vector: list[Any]) -> Any:
    """Rotation of a rotation vector [rad]: `set_turn` of the kernel."""
    if all(isinstance(part, float) for part in vector):
        return ca.SX.eye(3)
    column = ca.vertcat(*vector)
    square = ca.sumsqr(column)
    small = square < NEARLY_ZERO**2
    safe = ca.if_else(small, 1.0, square)
    first = ca.if_else(small, 1.0 - square / 6.0, ca.sin(ca.sqrt(safe)) / ca.sqrt(safe))
    second = ca.if_else(small, 0.5 - square / 24.0, (1.0 - ca.cos(ca.sqrt(safe))) / safe)
    skew = ca.skew(column)
    return ca.SX.eye(3) + first * skew + second * (skew @ skew)


def all_coordinates(model: OpenSimModel, chosen: Mapping[str, Any]) -> dict[str, Any]:
    """Every coordinate of an OpenSim model: chosen, at its default, or by its coupler (`coordinate_values`)."""
    values = {name: chosen.get(name, each.default) for name, each in model.coordinates.items()}
    for coupler in model.couplers:
        values[coupler.dependent] = of_coordinates(
            coupler.function, [values[name] for name in coupler.independent]
        )
    return values


def places_of_model(system: PathSystem, values: Mapping[str, Any]) -> Places:
    """Points and objects of an OpenSim model in the ground, for expressions of all coordinates [rad or m]."""
    model = system.model
    poses: dict[str, Pose] = {model.bodies[0]: (ca.SX.eye(3), ca.SX.zeros(3))}
    for joint in model.joints:
        rotation, shift = poses[joint.inboard.body]
        turned, moved = _joint_pose(joint, values)
        if joint.is_reversed:
            turned, moved = turned.T, -turned.T @ moved
        moved = shift + rotation @ (joint.inboard.position + joint.inboard.rotation @ moved)
        turned = rotation @ joint.inboard.rotation @ turned @ joint.outboard.rotation.T
        poses[joint.outboard.body] = turned, moved - turned @ joint.outboard.position
    names, position, on = tuple(model.coordinates), [], list[Any]()
    places = [ca.SX(place) for place in system.local]
    for p in {p for p, *_ in system.moving}:
        components = {
            axis: of_coordinates(f, [values[names[k]]]) for q, axis, k, f in system.moving if q == p
        }
        places[p] = system.points[p].frame.position + system.points[p].frame.rotation @ ca.vertcat(
            *(components[axis] for axis in range(3))
        )
    for point, place in zip(system.points, places, strict=True):
        rotation, shift = poses[point.frame.body]
        position.append(shift + rotation @ place)
        on.append(1.0)
        if point.condition is not None:
            name, lower, upper = point.condition
            on[-1] = ca.logic_and(values[name] >= lower, values[name] <= upper)
    bodies = [poses[model.bodies[body]] for body in system.object_body]
    centers = [shift + rotation @ c for (rotation, shift), c in zip(bodies, system.center, strict=True)]
    axes = [rotation @ own for (rotation, _), own in zip(bodies, system.axes, strict=True)]
    return Places(position, on, centers, axes)


def _joint_pose(joint: Joint, values: Mapping[str, Any]) -> Pose:
    """Pose of the child frame of a joint in its parent frame."""
    rotation, shift = ca.SX.eye(3), ca.SX.zeros(3)
    for axis in joint.translations:
        shift = shift + of_coordinates(axis.function, [values[name] for name in axis.coordinates]) * axis.axis
    for axis in joint.rotations:
        angle = of_coordinates(axis.function, [values[name] for name in axis.coordinates])
        rotation = rotation @ rotation_about(axis.axis, angle)
    return rotation, shift
