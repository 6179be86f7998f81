"""What the muscles of one leg can do along a motion."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array, Mask
from musclesolve.dynamics.kinematics.motion_derivatives import Motion
from musclesolve.dynamics.model.model import Model
from musclesolve.muscles.paths.paths import PathState
from musclesolve.muscles.placing.place_muscles import LegMuscles


@dataclass(frozen=True)
class MuscleState:
    """Muscles (n) of one leg over T frames.

    musculotendon_length [m], musculotendon_velocity [m/s], fiber_length [m], fiber_velocity [m/s],
    force_capacity: tendon force of the contractile element at activation 1 [N], passive_force at the tendon [N],
    all (T, n); moment_arm (T, 7, n) [m], positive when tension increases the angle; slack (T, n): the tendon is slack.
    """

    muscles: LegMuscles
    path: PathState
    musculotendon_length: Array
    musculotendon_velocity: Array
    fiber_length: Array
    fiber_velocity: Array
    force_capacity: Array
    passive_force: Array
    moment_arm: Array
    slack: Mask


def muscle_state(model: Model, muscles: LegMuscles, motion: Motion) -> MuscleState:
    """Evaluate paths and Hill model along a motion.

    dL/dt = (dL_MT/dq) qd; moment arm r = -(dL_MT/dq) D for the allowed directions D of the leg.
    """
    path = muscles.paths.evaluate(motion.q, motion.coordinates)
    velocity = path.rate(motion.qd, motion.rates)
    tree, joints = model.tree, np.array([model.dof(dof) for dof in muscles.dof_names])
    moved = tree.distal_frames[muscles.paths.body][:, joints].T
    arm = path.moment_arms(joints, moved, tree.axes(motion.q)[:, joints], motion.q[:, tree.pivot[joints]])
    fiber = muscles.parameters.fibers(path.length, velocity)
    force = muscles.parameters.forces(fiber)
    return MuscleState(muscles, path, path.length, velocity, *fiber[:2], *force, arm, fiber.slack)
