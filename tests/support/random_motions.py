"""Random muscles with elastic tendons, and moments of a motion that they can make."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from muscle_db.model import CURVES
from musclesolve.muscles import ElasticMuscles, MuscleParameters
from musclesolve.trajectory import MotionProblem
from musclesolve.trajectory.motion_problem import TimeBasis, equilibrium

TRIALS = 60
"""Tendon motions that are tried for each muscle, calmer and calmer."""


def random_muscles(random: np.random.Generator, count: int, family: str) -> ElasticMuscles:
    """Return muscles of all sizes, some without a tendon, some without passive force."""
    strongest = random.uniform(100.0, 3000.0, count)
    slack = random.uniform(0.02, 0.4, count) * (random.random(count) > 0.1)
    passive = strongest * (random.random(count) > 0.3)
    muscles = MuscleParameters.from_values(
        [f"muscle_{k}" for k in range(count)],
        family,
        max_isometric_force=strongest,
        optimal_fiber_length=random.uniform(0.03, 0.15, count),
        tendon_slack_length=slack,
        pennation_angle=random.uniform(0.0, 0.5, count),
        passive=(passive, 0.0, 0.6),
        tendon_strain=random.uniform(0.02, 0.09, count),
    )
    return ElasticMuscles.from_parameters(muscles)


def random_motion(seed: int) -> MotionProblem:
    """A motion whose moments are those of tendon forces that activations within all limits give."""
    random = np.random.default_rng(seed)
    count, frames = int(random.integers(6, 13)), int(random.integers(6, 60))
    moments = int(random.integers(1, 4))
    muscles = random_muscles(random, count, sorted(CURVES)[seed % len(CURVES)])
    time = random.choice([0.004, 0.01, 0.02]) * np.arange(frames)
    pace, phase = 2.0 * np.pi * random.uniform(0.3, 1.5, moments), random.uniform(0.0, 6.0, moments)
    swing = random.uniform(0.1, 0.6, moments)
    angle, speed = (
        swing * np.sin(pace * time[:, None] + phase),
        swing * pace * np.cos(pace * time[:, None] + phase),
    )
    arm = random.uniform(-0.06, 0.06, (moments, count)) * (random.random((moments, count)) < 0.7)
    sizes = muscles.parameters
    neutral = sizes.optimal_fiber_length * np.cos(sizes.pennation_angle)
    neutral = neutral + sizes.tendon_slack_length * (1.0 + 0.5 * muscles.strain_by_coordinate)
    problem = MotionProblem(
        time=time,
        moment_arm=np.broadcast_to(arm, (frames, moments, count)),
        moment=np.zeros((frames, moments)),
        musculotendon_length=random.uniform(0.97, 1.03, count) * neutral - angle @ arm,
        musculotendon_velocity=-speed @ arm,
        muscles=muscles,
        dof=tuple(f"joint_{k}" for k in range(moments)),
    )
    return _with_moments(problem, random)


def _with_moments(problem: MotionProblem, random: np.random.Generator) -> MotionProblem:
    """Return the problem with the moments of random tendon motions, without muscles that can make none of them."""
    found = np.zeros_like(problem.musculotendon_length)
    able = np.zeros(found.shape[1], dtype=bool)
    for calm in 0.9 ** np.arange(TRIALS):
        z = _tendon_motion(problem, random, calm)
        good = _possible(problem, z)
        found[:, good] = z[:, good]
        able |= good
    moments = problem.moment.shape[1]
    which = np.flatnonzero(able)
    assert len(which) > moments
    part = replace(
        problem,
        muscles=problem.muscles.muscles(which),
        moment_arm=problem.moment_arm[:, :, which],
        musculotendon_length=problem.musculotendon_length[:, which],
        musculotendon_velocity=problem.musculotendon_velocity[:, which],
        lower=0.0,
        upper=1.0,
    )
    force = part.muscles.curves.tendon(found[:, which]).value
    return replace(part, moment=np.einsum("tkn,tn->tk", part.lever, force))


def _tendon_motion(problem: MotionProblem, random: np.random.Generator, calm: float) -> np.ndarray:
    count = problem.musculotendon_length.shape[1]
    middle, pace = random.uniform(0.05, 0.7, count), 2.0 * np.pi * random.uniform(0.2, 1.5, count)
    wave = np.sin(pace * problem.time[:, None] + random.uniform(0.0, 6.0, count))
    return np.maximum(problem.muscles.start, 0.0) + middle * (1.0 + 0.8 * calm * wave)


def _possible(problem: MotionProblem, z: np.ndarray) -> np.ndarray:
    """Select the muscles whose activation lies and changes within its limits."""
    basis = TimeBasis.from_times(problem.time)
    rate = basis.rates(basis.coefficients(z))
    path = problem.musculotendon_length, problem.musculotendon_velocity
    state = equilibrium(problem.muscles, *path, z, rate)
    a = state.active.value / state.capacity.value
    inside = ((a > 0.005) & (a < 0.98)).all(axis=0)
    return inside & (problem.limits.excess(a, problem.time) <= 0.0).all(axis=0)
