"""Derivatives of the optimum of a motion by parameters of muscles, as central differences of the reference method.

The reference method (trajectory/collocation) shares nothing but the curves with the solver of the package, and exact
derivatives of the optimum can be held against its differences. With a factor e^x on a number of a muscle,

    d/dx = (optimum at e^h - optimum at e^-h) / 2 h + O(h^2),

where no activation or limit of it begins or ceases to be at a bound between the two.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from motion_cases import attempt_cost, small_motion, weak_start

from musclesolve.muscles import ElasticMuscles
from musclesolve.trajectory import MotionProblem
from musclesolve.trajectory.collocation import Collocation
from musclesolve.trajectory.motion_problem import MotionCost, equilibrium

QUANTITIES = ("optimal_fiber_length", "tendon_slack_length", "tendon_strain", "max_isometric_force")
COST = "activation_power"
FRAMES = 25


@cache
def three_muscles() -> MotionProblem:
    """Two flexors and an extensor with elastic tendons about one joint, 25 frames of 10 ms.

    The moment flexes throughout: flexors are active within their bounds, and the extensor rests at its lower one.
    """
    whole, which = small_motion(FRAMES), np.arange(3)
    arm, muscles = whole.moment_arm[:, :, which], whole.muscles.muscles(which)
    lengths = whole.musculotendon_length[:, which], whole.musculotendon_velocity[:, which]
    wave = 0.5 - 0.5 * np.cos(2.0 * np.pi * np.arange(FRAMES) / (FRAMES - 1))
    activation = np.stack([0.45 + 0.05 * wave, 0.3 + 0.1 * wave, np.zeros(FRAMES)], axis=1)
    still = np.zeros_like(activation)
    state = equilibrium(
        muscles, lengths[0] - 0.03 * muscles.parameters.tendon_slack_length, lengths[1], still, still
    )
    force = muscles.parameters.max_isometric_force * (activation * state.capacity.value + state.passive.value)
    moment = np.einsum("tkn,tn->tk", arm, force)
    return MotionProblem(whole.time, arm, moment, *lengths, muscles, whole.dof)


def with_factor(problem: MotionProblem, quantity: str, muscle: int, factor: float) -> MotionProblem:
    """The problem with one number of a muscle times a factor; the passive force stays as it is."""
    parameters = problem.muscles.parameters
    numbers = getattr(parameters, quantity).copy()
    numbers[muscle] *= factor
    return replace(
        problem, muscles=ElasticMuscles.from_parameters(replace(parameters, **{quantity: numbers}))
    )


def reference_optimum(problem: MotionProblem, start: tuple[np.ndarray, np.ndarray] | None = None):
    """The optimum of the reference method, from states near it where there are any."""
    attempt = Collocation().solve(problem, MotionCost.from_cost(problem, COST), start or weak_start(problem))
    assert not attempt.message, attempt.message
    return attempt


@dataclass(frozen=True, eq=False)
class OptimumDerivative:
    """Derivatives by x: of activation (T, n), fiber length (T, n) [m], and the cost over the whole motion."""

    activation: np.ndarray
    fiber_length: np.ndarray
    cost: float


def optimum_difference(problem: MotionProblem, quantity: str, muscle: int, step: float) -> OptimumDerivative:
    """Central differences of the optimum by the logarithm x of the factor on a number of one muscle.

    Args:
        problem: with all activations within their bounds, or at them on both sides.
        quantity: of `QUANTITIES`.
        muscle: its number.
        step: h.
    """
    base = reference_optimum(problem)
    ends = []
    for sign in (1.0, -1.0):
        changed = with_factor(problem, quantity, muscle, np.exp(sign * step))
        found = reference_optimum(changed, (base.coordinate, base.activation))
        rate = changed.basis.rates(changed.basis.coefficients(found.coordinate))
        length = changed.state(found.coordinate, rate).fiber_length
        ends.append(
            (found.activation, length, attempt_cost(changed, MotionCost.from_cost(changed, COST), found))
        )
    return OptimumDerivative(*((high - low) / (2.0 * step) for high, low in zip(*ends, strict=True)))
