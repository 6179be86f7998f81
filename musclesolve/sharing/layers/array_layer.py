"""The common part of the layers of PyTorch and JAX, on arrays of numpy: the solution, and one reverse product.

A loss L has the derivatives g = dL/da by activations and h = dL/dF by the forces F = c a, with the force capacities c.
Its gradient by the arrays of the problem is one product with the derivatives of the solution, of the weights g + c h
(`SolutionDerivatives.gradient_of`), and by the capacities h a more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from musclesolve._util.arrays import AnyArray, Array
from musclesolve._util.checks import check_choice
from musclesolve._util.names import unknown_name
from musclesolve.sharing.arguments import check_smooth_cost
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.problem_arrays import ARRAY_AXES
from musclesolve.sharing.solution import Solution
from musclesolve.sharing.solution_derivatives import solution_derivatives
from musclesolve.sharing.solver.solver_registry import Solver, find_solver
from musclesolve.sharing.solving import ON_INFEASIBLE, solve


class LayerSolution(NamedTuple):
    """The solution that a layer returns, as arrays of its library. A single frame has no frame axis.

    Attributes:
        activation: (T, n), NaN in a frame without a certified solution.
        force: (T, n) [N], force capacity times activation.
        status: (T,) members of Status, as integers.
        valid: (T,) mask of the frames with a certified solution.
    """

    activation: Any
    force: Any
    status: Any
    valid: Any


@dataclass(frozen=True)
class ArrayLayer:
    """Solves problems that come as arrays by name, and returns the gradient of a loss by these arrays."""

    cost: Cost
    solver: Solver
    on_infeasible: str
    dof: tuple[str, ...] | None

    @classmethod
    def from_options(
        cls, cost: str | Cost, solver: str | Solver, on_infeasible: str, dof: Sequence[str] | None, where: str
    ) -> ArrayLayer:
        """Check the options of `solve` that a layer takes; `where` names the layer in messages."""
        check_choice(on_infeasible, "on_infeasible", ON_INFEASIBLE, where=where)
        chosen = check_smooth_cost(cost, None, "differentiated", f"{where}(cost=...)", convex=True)
        return cls(chosen, find_solver(solver), on_infeasible, None if dof is None else tuple(dof))

    def named(self, *required: Any, **others: Any) -> dict[str, Any]:
        """The arrays by name, the four required ones first, without those that are None."""
        for name in set(others) - set(ARRAY_AXES):
            raise unknown_name(name, "array of a Problem", ARRAY_AXES, where="layer")
        arrays = dict(zip(ARRAY_AXES, required, strict=False)) | others
        return {name: array for name, array in arrays.items() if array is not None}

    def solve(self, arrays: Mapping[str, AnyArray]) -> tuple[Problem, Solution]:
        """Solve and certify the problem with these arrays."""
        plain: dict[str, Any] = {name: np.asarray(array, np.float64) for name, array in arrays.items()}
        problem = Problem(**plain, dof=self.dof)
        return problem, solve(problem, self.cost, self.solver, self.on_infeasible)

    def gradient(
        self,
        arrays: Mapping[str, AnyArray],
        problem: Problem,
        solution: Solution,
        by_activation: AnyArray,
        by_force: AnyArray,
    ) -> dict[str, Array]:
        """Return the gradient of a loss by every array, in its shape.

        The weights are dL/da (T, n) and dL/dF (T, n) [per N]. An array by which solutions are not differentiated, such
        as `time`, has the gradient NaN.
        """
        by_activation, by_force = (np.asarray(x, np.float64) for x in (by_activation, by_force))
        capacity = problem.force_capacity[0] if problem.single_frame else problem.force_capacity
        derivatives = solution_derivatives(problem, self.cost, solution)
        gradient = derivatives.gradient_of(by_activation + capacity * by_force)
        # the activation is NaN in a frame without a solution, which the loss may leave out
        gradient["force_capacity"] += np.where(by_force == 0.0, 0.0, by_force * solution.activation)
        found = {}
        for name, array in arrays.items():
            full = gradient.get(name, np.full(array.shape, np.nan))
            shared = tuple(range(full.ndim - array.ndim))  # axes along which the array holds for all frames
            found[name] = full.sum(axis=shared)
        return found
