"""Force-sharing problems of any size that have a solution, with the structure of real ones."""

from __future__ import annotations

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.errors import InputError
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.solving import solve

JOINT = (3, 1, 2)
"""Moments of one joint after the other, repeated: like hip, knee and ankle."""
PERIOD = 100
"""Frames of a cycle of a random problem: 1 s at 100 Hz."""


def random_problem(frames: int, dofs: int = 7, muscles: int = 43, seed: int = 0) -> Problem:
    """Muscles that cross one joint or two neighboring ones, moving smoothly from frame to frame.

    Moment arms of up to 6 cm, maximum isometric forces from 100 to 2500 N, capacities around them, and the moments
    that activations up to about a half produce: b = A a, so that every frame has a solution, with at most nine
    tenths of the maximum isometric force of each muscle. There are at least as many muscles as moments, which are
    those of joints with three, one and two.
    """
    if frames < 1 or dofs < 1 or muscles < dofs:
        raise InputError(
            f"{frames} frames, {dofs} moments and {muscles} muscles make no problem",
            code="bad_number",
            expected="at least one of each, and no more moments than muscles",
        )
    random = np.random.default_rng(seed)
    crossed, joints_crossed = _crossed(dofs, muscles, random)
    arm = random.uniform(-0.06, 0.06, (dofs, muscles)) * crossed
    strongest = np.exp(random.uniform(np.log(100.0), np.log(2500.0), muscles))
    angle = 2.0 * np.pi * np.arange(frames)[:, None] / PERIOD

    def wave(low: float, high: float) -> Array:
        """A sine between two numbers for each muscle, (T, n)."""
        phase = random.uniform(0.0, 2.0 * np.pi, muscles)
        return low + (high - low) * (0.5 + 0.5 * np.sin(angle + phase))

    capacity = strongest * wave(0.3, 1.2)
    activation = np.minimum(
        np.maximum(wave(-0.4, 0.6), 0.0) * random.random(muscles), 0.9 * strongest / capacity
    )
    arms = wave(0.8, 1.2)[:, None, :] * arm
    return Problem(
        moment_arm=arms,
        moment=np.matmul(arms, (capacity * activation)[:, :, None])[:, :, 0],
        force_capacity=capacity,
        max_isometric_force=strongest,
        fiber_velocity=wave(-0.5, 0.5),
        optimal_fiber_length=random.uniform(0.03, 0.2, muscles),
        joints_crossed=joints_crossed,
        emg=np.where(np.arange(muscles) % 2, activation, np.nan),
    )


def _crossed(dofs: int, muscles: int, random: np.random.Generator) -> tuple[Array, Array]:
    """The moments to which each muscle contributes, (m, n), and of how many joints, (n,); every moment gets muscles."""
    joint = np.repeat(np.arange(dofs), np.resize(JOINT, dofs))[:dofs]
    last = joint[-1]
    # As many muscles for a joint as it has moments, the others at random joints.
    first = np.concatenate([joint, random.integers(last + 1, size=muscles - dofs)])
    second = np.minimum(first + (random.random(muscles) < 0.5), last)
    crossed: Array = ((joint[:, None] == first) | (joint[:, None] == second)).astype(np.float64)
    return crossed, 1.0 + (second > first)


def varied(problem: Problem, frames: int, seed: int = 0) -> Problem:
    """Return frames after the pattern of a recorded problem, each a little different.

    The frames that can be solved without reserves are repeated, their moment arms changed by two per cent, their
    capacities and activations by ten (standard deviations); the moments are those of the changed activations.
    """
    solution = solve(problem.frames(problem.valid), "stress_cubed")
    good = np.flatnonzero(solution.status == 0)
    if not good.size:
        raise InputError("no frame of the recording can be solved without reserves", code="bad_result")
    random = np.random.default_rng(seed)
    which = good[np.arange(frames) % good.size]

    def changed(array: Array, by: float) -> Array:
        return array * (1.0 + by * random.standard_normal(array.shape))

    pattern = problem.frames(np.flatnonzero(problem.valid)[which])
    strongest, arms = problem.max_isometric_force, changed(pattern.moment_arm, 0.02)
    capacity = np.maximum(changed(pattern.force_capacity, 0.1), 0.0)
    activation = np.clip(changed(solution.activation[which], 0.1), 0.0, 1.0)
    # Soft saturation ends at the maximum isometric force.
    force = np.minimum(capacity * activation, 0.999 * strongest)
    return Problem(
        moment_arm=arms,
        moment=np.matmul(arms, force[:, :, None])[:, :, 0],
        force_capacity=capacity,
        max_isometric_force=strongest,
        muscle=problem.muscle,
        dof=problem.dof,
        fiber_velocity=pattern.fiber_velocity,
        optimal_fiber_length=problem.optimal_fiber_length,
        joints_crossed=problem.joints_crossed,
        emg=np.where(np.arange(problem.n_muscles) % 2, activation, np.nan),
    )
