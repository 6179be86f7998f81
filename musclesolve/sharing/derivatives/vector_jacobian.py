"""The gradient of a number made of activations by every array of the problem at once (a vector-Jacobian product).

For weights w on the activations, one solution (y, mu) of the same linear system with w in the place of the slopes and
no change of moments gives, with the u and v of solution_derivatives.py,

    sum w da = sum y u - sum mu v + sum_held (w - H y + A^T mu) d bound,

because the system is symmetric but for a sign. The part of each array in u and v is read off: dA^T lambda - df' and
db - dA a - d(1/w) lambda.
"""

from __future__ import annotations

from dataclasses import fields

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.derivatives.active_set import Optimum
from musclesolve.sharing.derivatives.optimality_system import OptimalitySystem
from musclesolve.sharing.problem import PER_FRAME, Problem
from musclesolve.sharing.problem_change import OF_COSTS, ProblemChange

BOUNDING = ("force_capacity", "max_isometric_force")  # arrays that the end of the domain of a cost depends on


def gradient_by_arrays(
    problem: Problem, cost: Cost, optimum: Optimum, system: OptimalitySystem, weight: Array
) -> dict[str, Array]:
    """The gradient of sum(weight * activation) for solved frames, weights (T, n).

    By the name of each array that the problem has, with a first axis of frames throughout.
    """
    a, multiplier = optimum.activation, optimum.multiplier
    nothing = np.zeros((len(a), system.hard, 1))
    slope = (weight * system.free)[..., None]
    y, mu = (x[..., 0] for x in system.solve(slope, nothing, np.zeros_like(slope)))
    bent, rows = (
        np.zeros_like(y),
        cost.soft_rows(problem),
    )  # H y of held muscles, whose own curvature does not count
    if not cost.needs <= {"separable", "rows"}:
        bent = np.matmul(cost.hessian(problem, a), y[..., None])[..., 0]
    elif rows is not None:
        pulled = rows.weight * np.matmul(rows.matrix, y[..., None])[..., 0]
        bent = np.matmul(pulled[:, None, :], rows.matrix)[:, 0, :]
    pull = np.matmul(mu[:, None, :], problem.moment_matrix)[:, 0, :]
    held = np.where(system.free, 0.0, weight - bent + pull)  # the weight on the movement of bounds

    both = multiplier[:, :, None] * y[:, None, :] + mu[:, :, None] * a[:, None, :]
    at_domain_end, above = cost.largest_activation(problem) <= problem.upper, held * optimum.above
    gradient = {
        "moment": -mu,
        "moment_arm": problem.force_capacity[:, None, :] * both,
        "force_capacity": (problem.moment_arm * both).sum(axis=1),
        "lower": held * optimum.below,
        "upper": np.where(at_domain_end, 0.0, above),
    }
    if problem.reserve_weight is not None:
        gradient["reserve_weight"] = -mu * np.square(system.compliance[:, : system.hard]) * multiplier
    for name in OF_COSTS:
        if getattr(problem, name) is not None:
            gradient[name] = gradient.get(name, 0.0) - _by_slopes(problem, cost, name, a, y)
    for name in BOUNDING if (at_domain_end & optimum.above).any() else ():
        ones = ProblemChange(**{name: np.ones((1, 1, problem.n_muscles))})
        ends = cost.largest_activation_change(problem, ones)[0]
        gradient[name] = gradient[name] + np.where(at_domain_end, above * ends, 0.0)
    return {field.name: gradient[field.name] for field in fields(ProblemChange) if field.name in gradient}


def _by_slopes(problem: Problem, cost: Cost, name: str, activation: Array, y: Array) -> Array:
    """Sum y df' by each number of an array, as if each frame had an array of its own."""
    array = getattr(problem, name)
    shape = array.shape[1:] if name in PER_FRAME else array.shape
    total = np.zeros((problem.n_frames, *shape))

    def change_along(direction: Array) -> Array:
        change = ProblemChange(**{name: direction[None, None]})
        return cost.gradient_change(problem, activation, change)[0]

    if cost.built_in and not change_along(np.random.default_rng(0).normal(size=shape)).any():
        return total  # a linear map that is zero along a random direction is zero
    # all muscles at once, if each depends on its own numbers alone
    local = cost.built_in and cost.needs <= {"separable"}
    for index in np.ndindex(shape[:-1] if local else shape):
        unit = np.zeros(shape)
        unit[index] = 1.0
        slope = y * change_along(unit)
        total[(slice(None), *index)] = slope if local else slope.sum(axis=1)
    return total
