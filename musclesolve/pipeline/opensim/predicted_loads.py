"""Loads on the feet of an OpenSim model, predicted from its motion where no force plate measured them.

The method is the one for recordings (`dynamics.inverse.predicted_reactions`). The load of the ground on the whole body
is the sum of the loads that its bodies need; the soles are placed on the bodies of the foot by the proportions of a
foot.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.center_of_pressure import center_of_pressure
from musclesolve._util.sides import SIDES
from musclesolve.dynamics.inverse.predicted_reactions import SOLE, reactions_of_soles
from musclesolve.errors import input_error
from musclesolve.opensim.external_loads import ExternalLoad, foot_of_side, toes_of_side
from musclesolve.opensim.inverse_dynamics import BodyDynamics, ModelMotion, body_dynamics, inertial_wrench
from musclesolve.opensim.model import GROUND, TO_GLOBAL, OpenSimModel
from musclesolve.pipeline.opensim.load_dynamics import FREE, foot_bodies
from musclesolve.recording.data import Side

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
    feet = [foot_of_side(model, side) for side in SIDES]
    roots = [joint for joint in model.joints if joint.inboard.body == GROUND]
    if not all(feet):
        raise input_error(
            "unknown_name",
            file=model.file,
            problem="the model has no feet that ground reactions could be predicted for; its bodies "
            f"are {', '.join(map(str, model.bodies[1:]))}",
            expected="bodies of both feet, such as calcn_r and calcn_l",
            remedy="give measured loads or moments, or name the bodies of the feet as OpenSim's models do",
        )
    if any(len(joint.coordinates) < FREE for joint in roots) or not model.gravity.any():
        raise input_error(
            "conflict",
            file=model.file,
            problem=f"the ground reactions cannot be predicted: {roots[0].name} fixes the model to "
            "the ground, or gravity is zero",
            expected="a body that moves freely in six coordinates under gravity, and touches nothing "
            "but the ground",
            remedy="give moments, or loads that were measured",
        )
    if model.mass_faults or not model.mass > 0.0:
        faults = model.mass_faults.values() or ["no body has a mass"]
        raise input_error("opensim.impossible_mass", file=model.file, where="ground reactions", faults=faults)
    bodies = body_dynamics(model, motion)
    wrench = inertial_wrench(model, bodies).sum(axis=1)
    required = np.concatenate([wrench[:, 3:] @ TO_GLOBAL.T, wrench[:, :3] @ TO_GLOBAL.T], axis=1)
    points = np.stack([sole_points(model, bodies, side) for side in SIDES], axis=1) @ TO_GLOBAL.T
    weight = model.mass * float(np.linalg.norm(model.gravity))
    predicted = reactions_of_soles(
        motion.time, weight, required, _mass_center(model, bodies) @ TO_GLOBAL.T, points
    )
    wrenches = np.stack(
        [np.concatenate([each.force, each.moment], axis=1) for each in predicted.wrenches], axis=1
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
        force, at, moment = (each @ TO_GLOBAL for each in (acting, point, free))
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


def _mass_center(model: OpenSimModel, bodies: BodyDynamics) -> Array:
    """Center of mass (T, 3) of all bodies [m], in the axes of the model."""
    total = np.zeros_like(bodies.pose.position[:, 0])
    for name, body in model.masses.items():
        k = model.body_number[name]
        total += body.mass * (bodies.pose.rotation[:, k] @ body.center + bodies.pose.position[:, k])
    return np.asarray(total / model.mass)
