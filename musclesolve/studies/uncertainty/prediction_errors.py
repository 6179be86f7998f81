"""Errors of predicted ground reactions: smooth curves over the stride, of the force on a foot and of where it acts.

The force of a predicted foot is off by

    e_k = sd r_k W s (1 + g) w_k(phase),    w = (z_0 + z_1 cos + z_2 sin + z_3 cos 2 + z_4 sin 2) / sqrt(3)

along each axis k, with the body weight W and standard normal z, so that w has the standard deviation 1 in every frame.
s rises from 0 to 1 with the first tenth of W on the foot; g does where two predicted feet divide the load between them,
which no law of motion determines. The point where the force acts moves forward and to the left by such curves. A wrong
mass of the body changes all predicted forces in proportion.
"""

import numpy as np

from musclesolve._util.arrays import Array, Mask, vector_product
from musclesolve._util.center_of_pressure import center_of_pressure
from musclesolve._util.sides import SIDES
from musclesolve.dynamics.inverse.predicted_reactions import predicted_reactions
from musclesolve.dynamics.kinematics.motion_derivatives import Motion
from musclesolve.dynamics.model.model import Model

RATIO = np.array([0.35, 0.25, 1.0])
"""Errors of the horizontal forces, forward and to the left, over the vertical one: of five walks with hidden plates."""
LATERAL = 0.5
"""Error of the point of force across the foot over the error along it."""
CONTACT, EARLY = 0.1, 0.03
"""Body weights from which a foot is in contact; possible delay of the beginning and advance of the end of contacts
[s].
"""
WAVES = 5
"""Numbers of a curve over the stride."""


def prediction_shapes() -> dict[str, tuple[int, ...]]:
    """Source -> shape of the errors that predicted ground reactions have."""
    feet = len(SIDES)
    return {"body_mass": (1,), "predicted_force": (feet, 3, WAVES), "predicted_pressure": (feet, 2, WAVES)}


def predicted_with_errors(
    model: Model,
    motion: Motion,
    measured: Array,
    predicted: Mask,
    inside: Mask,
    phase: Array,
    weight: float,
    force: Array,
    pressure: Array,
) -> Array:
    """Ground reactions (F, 2, 6) in the frames `inside` of a motion, predicted with errors where they are unmeasured.

    measured (T, 2, 6) as the wrenches of `with_prediction_errors`, whose arguments the others are.
    """
    reactions = predicted_reactions(model, motion, np.where(predicted[:, :, None], np.nan, measured))
    whole = np.stack(
        [np.concatenate([foot.force, foot.moment], axis=1) for foot in reactions.wrenches], axis=1
    )
    of_frames = predicted[inside], motion.time[inside], phase, weight, reactions.level
    return with_prediction_errors(whole[inside], *of_frames, force, pressure)


def with_prediction_errors(
    wrenches: Array,
    predicted: Mask,
    time: Array,
    phase: Array,
    weight: float,
    level: float,
    force: Array,
    pressure: Array,
) -> Array:
    """Ground reactions with errors of their prediction.

    Args:
        wrenches: (T, 2, 6) force [N] and moment about the global origin [N m] of the right and the left foot.
        predicted: (T, 2) where these are predicted; others stay as they are.
        time: (T,) [s].
        phase: (T,) of the stride [rad].
        weight: of the body [N].
        level: height of the ground [m].
        force: (2, 3, 5) the numbers z of each foot and axis, times sd [body weights].
        pressure: (2, 2, 5) of each foot, forward and to the left, times sd [m].

    Returns:
        (T, 2, 6); no foot pulls at the ground.
    """
    harmonics = [np.ones_like(phase)]
    for order in (1, 2):
        harmonics += [np.cos(order * phase), np.sin(order * phase)]
    waves = np.stack(harmonics) / np.sqrt(3.0)
    reach = round(EARLY / float(np.mean(np.diff(time)))) if len(time) > 1 else 0
    vertical = np.pad(wrenches[:, :, 2], ((reach, reach), (0, 0)))
    nearby = np.lib.stride_tricks.sliding_window_view(vertical, 2 * reach + 1, axis=0).max(axis=-1)
    contact = np.clip(nearby / (CONTACT * weight), 0.0, 1.0)
    divided = contact.min(axis=1) * predicted.all(axis=1)
    moved = wrenches.copy()
    for foot in range(2):
        strength = weight * contact[:, foot] * (1.0 + divided)
        change = RATIO * strength[:, None] * (force[foot] @ waves).T
        change[:, 2] = np.maximum(change[:, 2], -wrenches[:, foot, 2])
        point = _held(center_of_pressure(wrenches[:, foot, :3], wrenches[:, foot, 3:], level))
        away = np.zeros_like(point)
        away[:, :2] = np.array([1.0, LATERAL]) * (pressure[foot] @ waves).T
        total = wrenches[:, foot, :3] + change
        moment = wrenches[:, foot, 3:] + vector_product(point, change) + vector_product(away, total)
        own = predicted[:, foot]
        moved[own, foot] = np.concatenate([total, moment], axis=1)[own]
    return moved


def _held(point: Array) -> Array:
    """Fill unknown points (T, 3) by the nearest known one; by the origin without any."""
    known = np.flatnonzero(np.isfinite(point).all(axis=1))
    if not known.size:
        return np.zeros_like(point)
    nearest = np.abs(np.arange(len(point))[:, None] - known).argmin(axis=1)
    return np.asarray(point[known[nearest]])
