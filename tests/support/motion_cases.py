"""Small motions with elastic tendons: four muscles about one or two joints."""

from __future__ import annotations

import numpy as np

from musclesolve.muscles import ElasticMuscles, MuscleParameters
from musclesolve.trajectory import MotionProblem
from musclesolve.trajectory.certificate import Certifier, MotionAttempt
from musclesolve.trajectory.motion_problem import MotionCost, equilibrium


def small_muscles(
    family: str = "de_groote_2016", strain: float = 0.05, elastic: bool = True
) -> ElasticMuscles:
    """Four muscles: two long tendons, one short, one stiff."""
    muscles = MuscleParameters.from_values(
        ("flexor", "long_flexor", "extensor", "short_extensor"),
        family,
        max_isometric_force=[1200.0, 900.0, 1500.0, 600.0],
        optimal_fiber_length=[0.08, 0.05, 0.07, 0.10],
        tendon_slack_length=[0.20, 0.30, 0.25, 0.05],
        pennation_angle=[0.10, 0.30, 0.40, 0.0],
        tendon_strain=[strain, 1.2 * strain, strain, 0.6 * strain],
        passive=([1200.0, 900.0, 1500.0, 0.0], 0.0, 0.6),
    )
    return ElasticMuscles.from_parameters(muscles, elastic)


def small_motion(
    frames: int = 20, moments: int = 1, load: float = 1.0, step: float = 0.01, family: str = "de_groote_2016"
) -> MotionProblem:
    """Half a swing: lengths follow the joint angles, and moments are those of smooth activations at rest times load."""
    muscles, time = small_muscles(family), step * np.arange(frames)
    phase = np.pi * time / time[-1]
    angle = np.stack([0.5 * np.sin(phase), 0.3 * np.cos(2.0 * phase)], axis=1)[:, :moments]
    speed = (
        np.stack([0.5 * np.cos(phase), -0.6 * np.sin(2.0 * phase)], axis=1)[:, :moments] * np.pi / time[-1]
    )
    arm = np.array([[0.04, 0.03, -0.05, -0.03], [0.02, -0.03, 0.02, -0.02]])[:moments]
    sizes = muscles.parameters
    neutral = sizes.optimal_fiber_length * np.cos(sizes.pennation_angle) + sizes.tendon_slack_length
    length, velocity = 1.02 * neutral - angle @ arm, -speed @ arm
    wave = 0.5 - 0.5 * np.cos(2.0 * phase)
    activation = np.stack([0.1 + 0.4 * wave, 0.15 + 0.3 * wave, 0.3 - 0.2 * wave, 0.1 + 0.0 * wave], axis=1)
    still = np.zeros_like(length)
    state = equilibrium(muscles, length - 0.03 * sizes.tendon_slack_length, velocity, still, still)
    force = sizes.max_isometric_force * (activation * state.capacity.value + state.passive.value)
    arms = np.broadcast_to(arm, (frames, *arm.shape))
    moment = load * np.einsum("tkn,tn->tk", arms, force)
    return MotionProblem(time, arms, moment, length, velocity, muscles, ("knee", "hip")[:moments])


def attempt_cost(problem: MotionProblem, cost: MotionCost, attempt: MotionAttempt) -> float:
    """The integral of the cost over time at the states of an attempt, over the mean time between frames."""
    state = Certifier(problem, cost).state(attempt.coordinate)
    return float(problem.weight @ cost.value(cost.load(state).value, attempt.activation))


def weak_start(problem: MotionProblem) -> tuple[np.ndarray, np.ndarray]:
    """A first guess that knows nothing of the moments: a tenth of activation, and of the force of tendons."""
    tenth = np.full(problem.musculotendon_length.shape, 0.1)
    return problem.muscles.curves.tendon.inverse(tenth), np.clip(tenth, problem.lower, problem.upper)
