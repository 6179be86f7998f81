"""Checks of a cost that is not built in, at a few points between the bounds, once for every solve.

The gradient is compared with central differences of the value,

    d_h = (f(a + h e_i) - f(a - h e_i)) / (2 h),   h = 1e-3 of the way between the bounds,

and counts as wrong only if it is off by more than a hundredth of the two, ten times the largest h |d_h - d_2h| of the
point (visible curvature and noise), and 1e5 roundings of the value. Numbers that are not finite are not compared.
"""

import numpy as np

from musclesolve._util.arrays import Array, Mask
from musclesolve.errors import input_error
from musclesolve.sharing.cost.casadi_expression import ExpressionCost
from musclesolve.sharing.cost.cost_base import Cost, single_costs
from musclesolve.sharing.problem import Problem

POINTS = 4
DIFFERENCE_STEP = 1e-3
DERIVATIVE_TOLERANCE = 1e-2
NOISE = 10.0
ROUNDING = 1e5 * np.finfo(np.float64).eps


def check_cost(problem: Problem, cost: Cost, which: Mask | None = None) -> None:
    """Check that costs that are not built in have the shapes, the gradient and the convexity that they declare.

    Every part of a weighted sum is checked. The bounds of the problem are within the domain of the cost; `which` (T,)
    selects frames that are valid and have lower <= upper everywhere, all unless given.
    """
    custom = [part for part in single_costs(cost) if not part.built_in]
    frames = np.arange(problem.n_frames) if which is None else np.flatnonzero(which)
    if not custom or frames.size == 0:
        return
    few = problem.frames(frames[np.linspace(0, frames.size - 1, POINTS).astype(np.int64)])
    share = np.random.default_rng(0).uniform(0.1, 0.9, few.lower.shape)
    activation = few.lower + share * (few.upper - few.lower)
    for part in custom:
        if isinstance(part, ExpressionCost):
            part.check_convexity(few, activation)
        else:
            _check_derivatives(few, part, activation)


def check_convexity(problem: Problem, cost: Cost, activation: Array) -> None:
    """Check that expressions declared convex are convex at the solution, activations (T, n)."""
    for part in single_costs(cost):
        if isinstance(part, ExpressionCost):
            part.check_convexity(problem, activation)


def _check_derivatives(problem: Problem, cost: Cost, activation: Array) -> None:
    """Check the shapes of value and derivatives at activations (T, n), and the gradient by differences of the value."""
    frames, muscles = activation.shape
    place = f"the cost {cost.name}"
    methods = {
        "term_value": (frames,),
        "term_gradient": (frames, muscles),
        "term_hessian_diagonal": (frames, muscles),
    }
    with np.errstate(all="ignore"):
        at = {method: np.asarray(getattr(cost, method)(problem, activation)) for method in methods}
    for method, shape in methods.items():
        if at[method].shape != shape:
            raise input_error(
                "bad_cost",
                where=place,
                problem=f"{method} has the shape {at[method].shape} for {frames} frames and {muscles} "
                "muscles",
                expected=f"{shape}",
                remedy="sum over the muscles only: axis=1" if method == "term_value" else None,
            )
    if cost.needs & {"linear_program", "nonsmooth"}:
        return
    slope, size = at["term_gradient"].astype(np.float64), np.abs(at["term_value"].astype(np.float64))[:, None]
    step = DIFFERENCE_STEP * (problem.upper - problem.lower)
    many = problem.frames(np.repeat(np.arange(frames), muscles))
    middle = np.repeat(activation, muscles, axis=0)
    differences = []
    with np.errstate(all="ignore"):
        for width in (step, 2 * step):
            shift = (width[:, :, None] * np.eye(muscles)).reshape(-1, muscles)
            ahead, behind = (np.asarray(cost.term_value(many, middle + sign * shift)) for sign in (1, -1))
            differences.append((ahead - behind).reshape(frames, muscles) / (2 * width))
        once, twice = differences
        noise = np.nan_to_num(step * np.abs(once - twice)).max(axis=1, keepdims=True)
        # Below the smallest normal number differences of value resolve nothing.
        floor = NOISE * noise + ROUNDING * size + np.finfo(np.float64).tiny
        allowed = DERIVATIVE_TOLERANCE * (np.abs(slope) + np.abs(once)) + floor / step
        bad = np.abs(slope - once) > allowed
    bad &= np.isfinite(slope) & np.isfinite(once) & np.isfinite(twice)
    for point, muscle in np.argwhere(bad)[:1]:
        raise input_error(
            "bad_cost",
            where=place,
            problem=f"gradient is {slope[point, muscle]:g} by the activation of "
            f"{(problem.muscle or ())[muscle]} at {activation[point, muscle]:.3g}, where "
            f"differences of value give {once[point, muscle]:g}",
            expected="the gradient of value",
        )
