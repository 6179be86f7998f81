"""The gradient of a number made of activations by every array of the problem at once (a vector-Jacobian product).

For weights w on the activations, one solution (y, mu) of the same linear system with w in the place of the slopes and
no change of moments gives, with the u and v of solution_derivatives.py,

    sum w da = sum y u - sum mu v + sum_held (w - H y + A^T mu) d bound,

because the system is symmetric but for a sign. The part of each array in u and v is read off: dA^T lambda - df' and
db - dA a - d(1/w) lambda.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.derivatives.active_set import Optimum
from musclesolve.sharing.derivatives.optimality_system import OptimalitySystem
from musclesolve.sharing.problem import PER_FRAME, Problem
from musclesolve.sharing.problem_change import OF_COSTS, ProblemChange

BOUNDING = ("force_capacity", "max_isometric_force")  # arrays that the end of the domain of a cost depends on


@dataclass(frozen=True, eq=False)
class Reverse:
    """One pass backwards, for solved frames.

    y (T, n) and multiplier (T, m): the solution of the system; held (T, n): the weight on the movement of bounds.
    """

    problem: Problem
    cost: Cost
    optimum: Optimum
    system: OptimalitySystem
    y: Array
    multiplier: Array
    held: Array

    @classmethod
    def of(
        cls, problem: Problem, cost: Cost, optimum: Optimum, system: OptimalitySystem, weight: Array
    ) -> Reverse:
        """Solve once, for weights (T, n)."""
        frames, muscles = weight.shape
        slope = (weight * system.free)[..., None]
        nothing = np.zeros((frames, system.hard, 1))
        y, multiplier = (x[..., 0] for x in system.solve(slope, nothing, np.zeros((frames, muscles, 1))))
        rows = cost.soft_rows(problem)
        bent = np.zeros_like(y)
        if not cost.needs <= {"separable", "rows"}:
            bent = np.matmul(cost.hessian(problem, optimum.activation), y[..., None])[..., 0]
        elif rows is not None:
            pulled = rows.weight * np.matmul(rows.matrix, y[..., None])[..., 0]
            bent = np.matmul(pulled[:, None, :], rows.matrix)[:, 0, :]
        pull = np.matmul(multiplier[:, None, :], problem.moment_matrix)[:, 0, :]
        held = np.where(system.free, 0.0, weight - bent + pull)
        return cls(problem, cost, optimum, system, y, multiplier, held)

    def gradient(self) -> dict[str, Array]:
        """By the name of each array that the problem has, with a first axis of frames throughout."""
        problem, optimum, multiplier = self.problem, self.optimum, self.optimum.multiplier
        both = multiplier[:, :, None] * self.y[:, None, :]
        both = both + self.multiplier[:, :, None] * optimum.activation[:, None, :]
        at_domain_end = self.cost.largest_activation(problem) <= problem.upper
        above = self.held * optimum.above
        found = {
            "moment": -self.multiplier,
            "moment_arm": problem.force_capacity[:, None, :] * both,
            "force_capacity": (problem.moment_arm * both).sum(axis=1),
            "lower": self.held * optimum.below,
            "upper": np.where(at_domain_end, 0.0, above),
        }
        if problem.reserve_weight is not None:
            softer = np.square(self.system.compliance[:, : self.system.hard])
            found["reserve_weight"] = -self.multiplier * softer * multiplier
        for name in OF_COSTS:
            if getattr(problem, name) is not None:
                found[name] = found.get(name, 0.0) - self._by_cost(name)
        for name in BOUNDING if (at_domain_end & optimum.above).any() else ():
            ends = self.cost.largest_activation_change(problem, _ones(problem, name))[0]
            found[name] = found[name] + np.where(at_domain_end, above * ends, 0.0)
        order = [field.name for field in fields(ProblemChange)]
        return {name: found[name] for name in order if name in found}

    def _by_cost(self, name: str) -> Array:
        """Sum y df' by each number of an array, as if each frame had an array of its own."""
        problem, shape = self.problem, _shape(self.problem, name)
        local = self.cost.needs <= {"separable"} and self.cost.built_in
        total = np.zeros(shape)
        some = ProblemChange(**{name: np.random.default_rng(0).normal(size=(1, 1, *shape[1:]))})
        if not self.cost.gradient_change(problem, self.optimum.activation, some).any():
            return total  # a linear map that is zero along a random direction is zero
        for index in _each(shape[1:], local):
            unit = np.zeros((1, 1, *shape[1:]))
            unit[(0, 0, *index)] = 1.0
            change = ProblemChange(**{name: unit})
            moved = self.cost.gradient_change(problem, self.optimum.activation, change)
            slope = self.y * (moved[0] if moved.ndim == 3 else moved)
            total[(slice(None), *index)] = slope if local else slope.sum(axis=1)
        return total


def _shape(problem: Problem, name: str) -> tuple[int, ...]:
    shape: tuple[int, ...] = getattr(problem, name).shape
    return shape if name in PER_FRAME else (problem.n_frames, *shape)


def _each(shape: tuple[int, ...], local: bool) -> Iterator[tuple[int | slice, ...]]:
    """Every number of a frame; or all muscles at once, if each depends on its own numbers alone."""
    for index in np.ndindex(shape[:-1] if local else shape):
        yield (*index, slice(None)) if local else index


def _ones(problem: Problem, name: str) -> ProblemChange:
    return ProblemChange(**{name: np.ones((1, 1, problem.n_muscles))})
