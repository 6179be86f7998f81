"""Loads on the feet of an OpenSim model that its motion predicts, where no force plate measured them.

The program is the one of recordings (`dynamics.inverse.predicted_reactions`). What the whole body needs of the ground
is the sum of what its bodies need; the soles are placed on the bodies of the foot by the proportions of a foot.
"""

from collections.abc import Callable

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.center_of_pressure import center_of_pressure
from musclesolve._util.sides import SIDES
from musclesolve.dynamics.inverse.predicted_reactions import SOLE, reactions_of_soles
from musclesolve.errors import input_error
from musclesolve.opensim.external_loads import ExternalLoad, foot_of_side, toes_of_side
from musclesolve.opensim.inverse_dynamics import BodyDynamics, ModelMotion, body_dynamics, inertial_wrench
from musclesolve.opensim.model import GROUND, TO_GLOBAL, OpenSimModel
from musclesolve.pipeline.opensim.load_dynamics import foot_bodies

FOOT_LENGTH, TO_TOES = 0.268, 0.130
"""Length of the foot of the skeleton of gait2392 and Rajagopal (2016), and from its ankle forward to its toe joint [m].

Of the length 0.179 m from the origin of the calcaneus to the joint of the toes, 0.049 m lie behind the ankle; a foot is
0.152 statures long (Winter 2009, figure 4.1) and the skeleton about 1.76 m tall.
"""
HEEL, SOLE_DEPTH = 0.069, 0.068
"""How far the heel lies behind the ankle of this skeleton, and the sole below it [m]: 0.039 statures (Winter 2009)."""
TIP = 0.9
"""Points of a sole farther forward than this share of its length move with the toes."""
_FREE = 6


def predicted_loads(
    model: OpenSimModel, motion: ModelMotion, errors: Callable[[Array, float], Array] | None = None
) -> tuple[ExternalLoad, ...]:
    """Predict the loads on the right and the left foot of a model that touches nothing but the ground.

    Args:
        model: whose bodies move freely, with feet of the usual names and mass properties of all bodies.
        motion: of T frames, evenly spaced in time.
        errors: returns force [N] and moment [N m] about the global origin of both feet, (T, 2, 6), z up, with errors,
            from these and the height of the ground [m].

    Returns:
        A load on each foot at the times of the motion: force [N], center of pressure [m] and free moment [N m].
    """
    feet = [foot_of_side(model, side) for side in SIDES]
    roots = [joint for joint in model.joints if joint.inboard.body == GROUND]
    if not all(feet):
        raise input_error("pipeline.no_feet_to_load", file=model.file, bodies=model.bodies[1:])
    if any(len(joint.coordinates) < _FREE for joint in roots) or not model.gravity.any():
        raise input_error("pipeline.ground_carries_model", file=model.file, joint=roots[0].name)
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
    loads = []
    for k, foot in enumerate(feet):
        acting, about_origin = wrenches[:, k, :3], wrenches[:, k, 3:]
        pressed = center_of_pressure(acting, about_origin, predicted.level)
        # a foot that carries nothing has no center of pressure: its small force acts at the middle of its sole
        point = np.where(np.isnan(pressed), points[:, k].mean(axis=1), pressed)
        free = about_origin - np.cross(point, acting)
        force, at, moment = (each @ TO_GLOBAL for each in (acting, point, free))
        name = f"predicted_{SIDES[k]}"
        loads.append(ExternalLoad(name, foot, motion.time, force, at, moment, predicted=True))
    return tuple(loads)


def sole_points(model: OpenSimModel, bodies: BodyDynamics, side: str) -> Array:
    """Points (T, P, 3) of the sole of a side in the ground [m], placed from its ankle along its foot.

    A foot with toes has the size that the joint of the toes shows; without toes it has the size of the skeleton.
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
