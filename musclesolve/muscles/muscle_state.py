"""What muscles can do along a motion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from musclesolve._util.arrays import Array, Indices, Mask
from musclesolve.dynamics.kinematics.motion_derivatives import Motion
from musclesolve.dynamics.model.model import Model
from musclesolve.muscles.muscle_parameters import MuscleParameters
from musclesolve.muscles.paths.paths import PathState
from musclesolve.muscles.placing.place_muscles import JoinedLegs, LegMuscles


@dataclass(frozen=True, kw_only=True, eq=False)
class MuscleState:
    """Muscles (n) over T frames.

    musculotendon_length [m], musculotendon_velocity [m/s], fiber_length [m], fiber_velocity [m/s],
    force_capacity: tendon force of the contractile element at activation 1 [N], passive_force at the tendon [N],
    all (T, n); moment_arm (T, m, n) [m; 1 of a translation], positive when tension increases the degree of freedom;
    slack (T, n): the tendon is slack.
    """

    parameters: MuscleParameters
    musculotendon_length: Array
    musculotendon_velocity: Array
    fiber_length: Array
    fiber_velocity: Array
    force_capacity: Array
    passive_force: Array
    moment_arm: Array
    slack: Mask

    @staticmethod
    def of(parameters: MuscleParameters, length: Array, velocity: Array, moment_arm: Array) -> MuscleState:
        """Evaluate the Hill model behind rigid tendons; musculotendon lengths (T, n) [m] and their rates [m/s]."""
        fiber = parameters.fibers(length, velocity)
        force = parameters.forces(fiber)
        return MuscleState(
            parameters=parameters,
            musculotendon_length=length,
            musculotendon_velocity=velocity,
            fiber_length=fiber.length,
            fiber_velocity=fiber.velocity,
            force_capacity=force.capacity,
            passive_force=force.passive,
            moment_arm=moment_arm,
            slack=fiber.slack,
        )

    def part(self, dofs: Sequence[int], muscles: Indices) -> MuscleState:
        """Some of the muscles about some degrees of freedom, by number."""
        columns = {name: getattr(self, name)[:, muscles] for name in _BY_MUSCLE}
        arm = self.moment_arm[:, dofs][:, :, muscles]
        return MuscleState(parameters=self.parameters.muscles(muscles), moment_arm=arm, **columns)

    def legs(self, parameters: MuscleParameters, count: int, dofs: slice, muscles: slice) -> MuscleState:
        """Some of `count` legs with equally many muscles, in one frame, as frames: each about its own joints.

        dofs, muscles: of these legs, one leg after the other; parameters: of one of them.
        """
        columns = {name: getattr(self, name)[0, muscles].reshape(count, -1) for name in _BY_MUSCLE}
        arm = leg_blocks(self.moment_arm[:, dofs, muscles], count)
        return MuscleState(parameters=parameters, moment_arm=arm, **columns)


_BY_MUSCLE = [each.name for each in fields(MuscleState) if each.name not in ("parameters", "moment_arm")]


def leg_blocks(values: Array, count: int) -> Array:
    """What the n muscles of each leg do at its own m rows, (count, m, n, ...), of values (1, count m, count n, ...)."""
    _, rows, muscles, *rest = values.shape
    blocks = values.reshape(count, rows // count, count, muscles // count, *rest)
    return np.asarray(np.einsum("lrlm...->lrm...", blocks))


@dataclass(frozen=True, kw_only=True, eq=False)
class LegState(MuscleState):
    """State of n muscles that were placed on a leg; moment_arm (T, 7, n) [m] over its degrees of freedom."""

    muscles: LegMuscles
    path: PathState


@dataclass(frozen=True, kw_only=True, eq=False)
class JoinedState(MuscleState):
    """State of the n muscles of several legs; moment_arm (T, 7 legs, n) [m]."""

    muscles: JoinedLegs
    path: PathState


def muscle_state(model: Model, muscles: LegMuscles, motion: Motion) -> LegState:
    """Evaluate paths and Hill model along a motion.

    dL/dt = (dL_MT/dq) qd; moment arm r = -(dL_MT/dq) D for the allowed directions D of the leg.
    """
    path, state = _evaluated(model, muscles, motion)
    return LegState(**vars(state), muscles=muscles, path=path)


def joined_state(model: Model, legs: JoinedLegs, motion: Motion) -> JoinedState:
    """The same of several legs at once; a muscle has no moment arm about the joints of another leg."""
    path, state = _evaluated(model, legs, motion)
    return JoinedState(**vars(state), muscles=legs, path=path)


def _evaluated(
    model: Model, muscles: LegMuscles | JoinedLegs, motion: Motion
) -> tuple[PathState, MuscleState]:
    path = muscles.paths.evaluate(motion.q, motion.coordinates)
    velocity = path.rate(motion.qd, motion.rates)
    joints = np.array([model.dof(dof) for dof in muscles.dof_names])
    arm = path.moment_arms(joints, model.tree, motion.axes(model.tree))
    return path, MuscleState.of(muscles.parameters, path.length, velocity, arm)
