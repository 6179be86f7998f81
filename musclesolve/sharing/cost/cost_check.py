"""Checks of a cost that is not built in, at a few points between the bounds, once for every solve.

The gradient is compared with central differences of the value,

    d_h = (f(a + h e_i) - f(a - h e_i)) / (2 h),   h = 1e-3 of the way between the bounds,

and counts as wrong only if it is off by more than a hundredth of the two, ten times the largest h |d_h - d_2h| of the
point (visible curvature and noise), and 1e5 roundings of the value. Numbers that are not finite are passed over.
"""

from __future__ import annotations

import numpy as np

from musclesolve._util.arrays import Array, Mask
from musclesolve.errors import InputError
from musclesolve.sharing.cost.casadi_expression import ExpressionCost
from musclesolve.sharing.cost.cost_base import Cost, single_costs
from musclesolve.sharing.problem import Problem

POINTS = 4
STEP = 1e-3
ALIKE = 1e-2
NOISE = 10.0
ROUNDING = 1e5 * np.finfo(np.float64).eps


def check_cost(problem: Problem, cost: Cost, which: Mask | None = None) -> None:
    """See that costs that are not built in have the shapes, the gradient and the convexity that they declare.

    Of a weighted sum every part is checked. The bounds of the problem are within the domain of the cost; `which` (T,)
    are frames that are valid and have lower <= upper everywhere, all unless given.
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
            _check_shapes(few, part, activation)
            _check_gradient(few, part, activation)


def check_convexity(problem: Problem, cost: Cost, activation: Array) -> None:
    """See that expressions declared convex are so at the solution, activations (T, n)."""
    for part in single_costs(cost):
        if isinstance(part, ExpressionCost):
            part.check_convexity(problem, activation)


def _check_shapes(problem: Problem, cost: Cost, activation: Array) -> None:
    frames, muscles = activation.shape
    methods = {"value": (frames,), "gradient": (frames, muscles), "hessian_diagonal": (frames, muscles)}
    with np.errstate(all="ignore"):
        for method, shape in methods.items():
            found = np.shape(getattr(cost, method)(problem, activation))
            if found != shape:
                raise InputError(
                    f"{method} has the shape {found} for {frames} frames and {muscles} muscles",
                    code="bad_cost",
                    where=f"the cost {cost.name}",
                    expected=f"{shape}",
                    remedy="sum over the muscles only: axis=1" if method == "value" else None,
                )


def _check_gradient(problem: Problem, cost: Cost, activation: Array) -> None:
    if cost.needs & {"linear_programme", "nonsmooth"}:
        return
    step = STEP * (problem.upper - problem.lower)
    with np.errstate(all="ignore"):
        slope = np.asarray(cost.gradient(problem, activation), dtype=np.float64)
        size = np.abs(np.asarray(cost.value(problem, activation), dtype=np.float64))[:, None]
        once, twice = (_difference(problem, cost, activation, factor * step) for factor in (1, 2))
        noise = np.nan_to_num(step * np.abs(once - twice)).max(axis=1, keepdims=True)
        # Below the smallest normal number differences of value resolve nothing.
        floor = NOISE * noise + ROUNDING * size + np.finfo(np.float64).tiny
        allowed = ALIKE * (np.abs(slope) + np.abs(once)) + floor / step
        bad = np.abs(slope - once) > allowed
    bad &= np.isfinite(slope) & np.isfinite(once) & np.isfinite(twice)
    if bad.any():
        point, muscle = np.argwhere(bad)[0]
        name = (problem.muscle or ())[muscle]
        raise InputError(
            f"gradient is {slope[point, muscle]:g} by the activation of {name} at {activation[point, muscle]:.3g}, "
            f"where differences of value give {once[point, muscle]:g}",
            code="bad_cost",
            where=f"the cost {cost.name}",
            expected="the gradient of value",
        )


def _difference(problem: Problem, cost: Cost, activation: Array, step: Array) -> Array:
    """Central differences of the value by each activation, (T, n)."""
    frames, muscles = activation.shape
    many = problem.frames(np.repeat(np.arange(frames), muscles))
    shift = (step[:, :, None] * np.eye(muscles)).reshape(-1, muscles)
    middle = np.repeat(activation, muscles, axis=0)
    ahead, behind = (np.asarray(cost.value(many, middle + sign * shift)) for sign in (1, -1))
    return (ahead - behind).reshape(frames, muscles) / (2 * step)
