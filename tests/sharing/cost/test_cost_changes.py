"""The dependence of costs on the problem, against differences of their gradients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from sharing_cases import SMOOTH, pennate

from musclesolve import costs
from musclesolve.sharing.cost import (
    ActivationPower,
    ActivationVolume,
    ForceMomentSquared,
    JointReactionSquared,
    NormalizedForceSquared,
    SoftSaturation,
)
from musclesolve.sharing.problem_change import ProblemChange, derivative

COSTS = [
    *(costs()[name]() for name in SMOOTH),
    ActivationPower(exponent=1.0),
    ActivationVolume(exponent=3.0),
    SoftSaturation(exponent=1.5),
    ForceMomentSquared(least_arm=0.1),
    JointReactionSquared({"knee": 2.0}, effort=10.0),
    2.0 * costs()["soft_saturation"]() + costs()["emg_tracking"]() + costs()["stress_cubed"](),
]
NAMES = (
    *("moment_arm", "force_capacity", "max_isometric_force", "fiber_velocity", "optimal_fiber_length"),
    *("reaction_matrix", "reaction_offset", "emg", "fiber_force_capacity"),
)


def directions(problem, count=3):
    random = np.random.default_rng(7)
    found = {}
    for name in NAMES:
        own = getattr(problem, name)
        found[f"d_{name}"] = 0.1 * own * random.normal(size=(count, *own.shape))
    return ProblemChange.from_changes(problem, found)


@pytest.mark.parametrize("cost", COSTS, ids=lambda cost: cost.label)
def test_it_agrees_with_differences_of_the_gradient(cost, make_leg):
    problem, random = pennate(make_leg(5)), np.random.default_rng(6)
    change = directions(problem)
    most = np.minimum(0.9 * cost.largest_activation(problem), 1.0)
    activation = random.uniform(0.05, 0.9, problem.lower.shape) * most
    exact = np.broadcast_to(cost.gradient_change(problem, activation, change), (3, *activation.shape))
    found = derivative(lambda moved: cost.gradient(moved, activation), problem, change, of_library=False)
    np.testing.assert_allclose(found, exact, rtol=0, atol=1e-8 * max(np.abs(exact).max(), 1e-9))


@pytest.mark.parametrize("cost", [SoftSaturation(), COSTS[-1]], ids=lambda cost: cost.label)
def test_so_does_the_end_of_the_domain(cost, make_leg):
    problem = pennate(make_leg(5))
    change = directions(problem)
    exact = cost.largest_activation_change(problem, change)
    found = derivative(cost.largest_activation, problem, change, of_library=False)
    np.testing.assert_allclose(found, exact, rtol=1e-7, atol=1e-9 * np.abs(exact).max())


@dataclass(frozen=True)
class Heavier(NormalizedForceSquared):
    """Another weight than that of the library, by an operation that complex numbers do not have."""

    name: ClassVar[str] = "heavier"

    def coefficient(self, problem):
        return np.sqrt(np.abs(problem.force_capacity) / problem.max_isometric_force)


def test_a_cost_of_a_user_is_differentiated_by_differences_whatever_it_inherits(make_leg):
    problem = make_leg(2)
    activation = np.full((2, 43), 0.5)
    unit = problem.force_capacity
    change = ProblemChange.from_changes(problem, {"d_force_capacity": unit})
    # f' = 2 c^2 a = 2 a capacity / F0, which grows as the capacity
    np.testing.assert_allclose(
        Heavier().gradient_change(problem, activation, change)[0],
        unit / problem.max_isometric_force,
        rtol=1e-9,
    )
