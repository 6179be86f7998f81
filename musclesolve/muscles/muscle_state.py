"""Lengths, forces and capacities of muscles along a motion."""

from dataclasses import dataclass, fields, replace
from typing import Self

import numpy as np

from musclesolve._util.arrays import Array, Indices, Mask, stretch
from musclesolve._util.checks import check_type
from musclesolve.dynamics.kinematics.motion_derivatives import Motion, check_fits
from musclesolve.dynamics.model.model import Model
from musclesolve.muscles.hill_model import along_fibers
from musclesolve.muscles.muscle_parameters import MuscleParameters
from musclesolve.muscles.paths.paths import PathState
from musclesolve.muscles.scaling.scale_muscles import ScaledMuscles

MOST_TOGETHER = 1024
"""Largest number of frames whose moment arms lie together in memory."""


def zero_arms(frames: int, dofs: int, muscles: int) -> Array:
    """Moment arms (T, m, n), zero until they are set.

    Frames are last where there are more than `MOST_TOGETHER`: most muscles cross few degrees of freedom of a body, and
    what is never written takes no memory.
    """
    if frames <= MOST_TOGETHER or not dofs * muscles:
        return np.zeros((frames, dofs, muscles))
    return np.zeros((dofs, muscles, frames)).transpose(2, 0, 1)


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
    def from_lengths(
        parameters: MuscleParameters, length: Array, velocity: Array, moment_arm: Array
    ) -> "MuscleState":
        """Evaluate the Hill model behind rigid tendons; musculotendon lengths (T, n) [m] and their rates [m/s]."""
        fiber = parameters.fibers(length, velocity)
        capacity, passive = parameters.forces(fiber)
        return MuscleState(
            parameters=parameters,
            musculotendon_length=length,
            musculotendon_velocity=velocity,
            fiber_length=fiber.length,
            fiber_velocity=fiber.velocity,
            force_capacity=capacity,
            passive_force=passive,
            moment_arm=moment_arm,
            slack=fiber.slack,
        )

    @property
    def fiber_force_capacity(self) -> Array:
        """Force of the contractile element along the fibers at activation 1, (T, n) [N]: F0 f_l f_v (Silva 2003, eq.
        6.9), and 0 where the tendon is slack.
        """
        return along_fibers(self.force_capacity, self.fiber_length, self.parameters.thickness)

    def part(self, dofs: Indices, muscles: Indices) -> "MuscleState":
        """Some of the muscles about some degrees of freedom, by number."""
        some = stretch(muscles)
        columns = {name: getattr(self, name)[:, some] for name in _BY_MUSCLE}
        frames_last = self.moment_arm.strides[0] < self.moment_arm.strides[1]  # then a part shares the memory
        arm = self.moment_arm[:, stretch(dofs) if frames_last else dofs][
            :, :, some if frames_last else muscles
        ]
        return MuscleState(parameters=self.parameters.muscles(muscles), moment_arm=arm, **columns)

    def frames(self, which: slice | Indices) -> Self:
        """The muscles in some frames."""
        arrays = {name: getattr(self, name)[which] for name in _BY_MUSCLE}
        return replace(self, moment_arm=np.ascontiguousarray(self.moment_arm[which]), **arrays)

    def alike(self, parameters: MuscleParameters, count: int, dofs: slice, muscles: slice) -> "MuscleState":
        """State of one frame with `count` similar groups of muscles, as a state of one group with `count` frames.

        dofs, muscles: numbers of these groups, one after the other; parameters: of one group.
        """
        columns = {name: getattr(self, name)[0, muscles].reshape(count, -1) for name in _BY_MUSCLE}
        arm = group_blocks(self.moment_arm[:, dofs, muscles], count)
        return MuscleState(parameters=parameters, moment_arm=arm, **columns)


_BY_MUSCLE = [field.name for field in fields(MuscleState) if field.name not in ("parameters", "moment_arm")]


def group_blocks(values: Array, count: int) -> Array:
    """Values (1, count m, count n, ...) of the n muscles of each group at its own m rows, (count, m, n, ...)."""
    _, rows, muscles, *rest = values.shape
    blocks = values.reshape(count, rows // count, count, muscles // count, *rest)
    return np.asarray(np.einsum("lrlm...->lrm...", blocks))


@dataclass(frozen=True, kw_only=True, eq=False)
class ScaledState(MuscleState):
    """State of n muscles on a subject; moment_arm (T, m, n) [m] over the degrees of freedom that they serve."""

    muscles: ScaledMuscles
    path: PathState

    @classmethod
    def from_paths(cls, muscles: ScaledMuscles, path: PathState, velocity: Array, arm: Array) -> Self:
        """Evaluate the Hill model on paths; velocity (T, n) [m/s] and moment arms (T, m, n) [m] of their lengths."""
        state = MuscleState.from_lengths(muscles.parameters, path.length, velocity, arm)
        return cls(**vars(state), muscles=muscles, path=path)

    def with_parameters(self, muscles: ScaledMuscles) -> Self:
        """The state of muscles on the same paths with other parameters."""
        return self.from_paths(muscles, self.path, self.musculotendon_velocity, self.moment_arm)


def muscle_state(model: Model, muscles: ScaledMuscles, motion: Motion) -> ScaledState:
    """Evaluate paths and Hill model along a motion.

    dL/dt = (dL_MT/dq) qd; moment arm r = -(dL_MT/dq) D for the allowed directions D of their degrees of freedom.
    """
    check_fits(model, motion)
    check_type(muscles, ScaledMuscles, "muscles", "the muscles of a side, from scale_muscles()")
    path = muscles.paths.evaluate(motion.q, motion.coordinates)
    velocity = path.rate(motion.qd, motion.rates)
    joints = np.array([model.dof(dof) for dof in muscles.dof_names])
    arm = path.moment_arms(joints, model.tree, motion.axes(model.tree))
    return ScaledState.from_paths(muscles, path, velocity, arm)
