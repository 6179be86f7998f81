"""The cost of a motion: its terms in what stays meaningful when the force capacity is a part of the solution.

With an elastic tendon the force capacity of a muscle depends on the solution. A cost is a function of

    the active tendon force a * capacity   (force_squared, stress_cubed, soft_saturation, ...), or of
    the activation a itself                (activation_power, activation_volume, emg_tracking, ...),

which shows when the capacity of a problem is doubled: the first keeps its value at half the activation, the second at
the same one. A sum of costs is taken apart into both. A cost of neither kind (muscle power, which needs the velocity
of fibers; joint reactions) is refused.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.errors import InputError
from musclesolve.sharing.arguments import check_smooth_convex_cost
from musclesolve.sharing.cost.cost_base import Cost, WeightedSum, bad_cost
from musclesolve.sharing.cost.cost_registry import find_cost
from musclesolve.sharing.problem import Problem
from musclesolve.trajectory.motion_problem import MotionProblem

_SAME = 1e-9
_REMEDY = 'choose a cost of forces or of activations, or use rigid tendons (tendon = "rigid")'


@dataclass(frozen=True, eq=False)
class MotionCost:
    """Costs with their factors: those of the active force x = F / F0 (T, n), and those of the activation a (T, n).

    isometric: the problem with F0 for the capacity.
    """

    cost: Cost
    isometric: Problem
    of_force: tuple[tuple[float, Cost], ...]
    of_activation: tuple[tuple[float, Cost], ...]

    @classmethod
    def of(cls, problem: MotionProblem, cost: str | Cost) -> MotionCost:
        """Take a cost apart.

        Raises:
            InputError: a cost that is not smooth, convex and a sum over muscles, or of neither kind.
        """
        isometric = problem.isometric
        for _, single in _singles(find_cost(cost)):
            _check_kind(single)
        chosen = check_smooth_convex_cost(cost, isometric, "used with elastic tendons", "cost")
        parts: dict[str, list[tuple[float, Cost]]] = {"force": [], "activation": []}
        for factor, single in _singles(chosen):
            parts[_kind(single, isometric)].append((factor, single))
        return cls(chosen, isometric, tuple(parts["force"]), tuple(parts["activation"]))

    def value(self, force: Array, activation: Array) -> Array:
        """Of each frame, (T,)."""
        total = np.zeros(len(activation))
        for costs, at in ((self.of_force, np.maximum(force, 0.0)), (self.of_activation, activation)):
            for factor, cost in costs:
                total = total + factor * cost.value(self.isometric, at)
        return total

    def slopes(self, force: Array, activation: Array) -> tuple[Array, Array, Array, Array]:
        """First and second derivatives (T, n) by the active force, then by the activation."""
        return (
            *self._derivatives(self.of_force, np.maximum(force, 0.0)),
            *self._derivatives(self.of_activation, activation),
        )

    def largest_force(self) -> Array:
        """The active force over F0 (T, n) where the domain of the cost ends; infinite for most costs."""
        ends = [cost.largest_activation(self.isometric) for _, cost in self.of_force]
        return np.minimum.reduce([np.full_like(self.isometric.force_capacity, np.inf), *ends])

    def _derivatives(self, costs: tuple[tuple[float, Cost], ...], at: Array) -> tuple[Array, Array]:
        slope, bend = np.zeros_like(at), np.zeros_like(at)
        for factor, cost in costs:
            slope = slope + factor * cost.gradient(self.isometric, at)
            bend = bend + factor * cost.hessian_diagonal(self.isometric, at)
        return slope, bend


def _singles(cost: Cost, factor: float = 1.0) -> list[tuple[float, Cost]]:
    """The costs that a sum of sums is made of, with their factors."""
    if not isinstance(cost, WeightedSum):
        return [(factor, cost)]
    return [found for own, part in cost.summands for found in _singles(part, factor * own)]


def _check_kind(cost: Cost) -> None:
    """Refuse costs that are no sum over muscles, and those that need the velocity of fibers."""
    if cost.needs != {"separable"} or "fiber_velocity" in cost.data:
        raise bad_cost(cost, "cannot be used with elastic tendons", "a sum over muscles", remedy=_REMEDY)


def _kind(cost: Cost, isometric: Problem) -> str:
    """Whether a cost is one of "force" or of "activation"."""
    few = isometric.frames(np.arange(1))
    at = 0.2 + 0.3 * np.linspace(0.0, 1.0, isometric.n_muscles)[None, :]
    twice = few.with_arrays(force_capacity=2.0 * few.force_capacity)
    first = cost.value(few, at)
    if np.allclose(cost.value(twice, 0.5 * at), first, rtol=_SAME):
        return "force"
    if np.allclose(cost.value(twice, at), first, rtol=_SAME):
        return "activation"
    raise InputError(
        f"the cost {cost.name} depends on the force capacity otherwise than through forces",
        code="bad_cost",
        where="cost",
        expected="a function of forces, or of activations",
        remedy=_REMEDY,
    )
