"""Checks of a cost that is not built in, at a few points between the bounds, once for every solve.

The gradient is compared with central differences of the value,

    d_h = (f(a + h e_i) - f(a - h e_i)) / (2 h),   h = 1e-3 of the way between the bounds,

and counts as wrong only if it is off by more than 1e-4 of the two, ten times the largest h |d_h - d_2h| of the point
(visible curvature and noise), and 1e5 roundings of the value. Second derivatives count as wrong if they are off by more
than a twentieth from differences of the gradient. Between the bounds all three are finite. A cost that does
not state `nonconvex` must not bend downward: differences of the gradient show it for a sum over muscles, eigenvalues of
the Hessian for other costs, tangents for expressions.
"""

import numpy as np

from musclesolve._util.arrays import Array, Mask
from musclesolve.errors import input_error
from musclesolve.sharing.cost.casadi_expression import SLACK, ExpressionCost
from musclesolve.sharing.cost.cost_base import Cost, single_costs
from musclesolve.sharing.cost.cost_parameters import arrays_of, flat, parameter_symbols, shapes_of
from musclesolve.sharing.problem import Problem

POINTS = 4
DIFFERENCE_STEP = 1e-3
DERIVATIVE_TOLERANCE = 1e-4
CURVATURE_TOLERANCE = 0.05
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
        if not isinstance(part, ExpressionCost):
            _check_derivatives(few, part, activation)
        elif part.convex:
            _check_tangents(few, part, activation)
    check_solution(few, cost, activation)


def check_solution(problem: Problem, cost: Cost, activation: Array) -> Array:
    """Check that a cost has a value, and is convex if it says so, at activations (T, n); return the value (T,)."""
    value = cost.value(problem, activation)
    if cost.built_in:
        return value
    _check_finite(cost, "its value", value, ~np.isfinite(value), activation)
    for part in single_costs(cost):
        if isinstance(part, ExpressionCost):
            part.check_convexity(problem, activation)
        elif not part.built_in and part.needs <= {"separable", "coupled", "rows"}:
            _check_convexity(problem, part, activation)
    return value


def _check_tangents(problem: Problem, cost: ExpressionCost, activation: Array) -> None:
    """Check that tangents at activations (T, n) lie below the cost at the bounds, of each muscle and of all together.

    f(b) >= f(a) + f'(a) (b - a) is what convex means; kinks and jumps, which have no second derivative, break it too.
    """
    frames, muscles = activation.shape
    moved = np.vstack([np.eye(muscles), np.ones(muscles)])
    many = problem.frames(np.repeat(np.arange(frames), len(moved)))
    middle = np.repeat(activation, len(moved), axis=0)
    with np.errstate(all="ignore"):
        value, slope = cost.term_value(many, middle), cost.term_gradient(many, middle)
        for bound in (many.lower, many.upper):
            step = np.tile(moved, (frames, 1)) * (bound - middle)
            end, rise = cost.term_value(many, middle + step), (slope * step).sum(axis=1)
            below = value + rise - end > SLACK * (np.abs(value) + np.abs(rise) + np.abs(end))
            for place in np.flatnonzero(below)[:1]:
                reason = f"it is {end[place]:g} where a tangent to it has {value[place] + rise[place]:g}"
                raise input_error("sharing.cost_not_convex", cost=cost.name, reason=reason)


def check_expression(problem: Problem, cost: Cost) -> None:
    """Check that the expressions of costs of methods are their values, within the bounds of the first frame."""
    import casadi

    for part in single_costs(cost):
        if part.built_in or isinstance(part, ExpressionCost):
            continue
        first = problem.frames(slice(0, 1))
        activation = first.lower + 0.37 * (first.upper - first.lower)
        numbers = part.term_parameters(first)
        a, p = casadi.SX.sym("a", first.n_muscles), parameter_symbols(casadi.SX.sym, shapes_of(numbers))
        try:
            symbol = casadi.SX(part.term_expression(casadi, a, p))
        except (NotImplementedError, TypeError) as error:
            raise input_error(
                "bad_cost",
                where=f"the cost {part.name}",
                problem="term_expression gives no expression of CasADi",
                expected="the value of term_value in one frame, made of activation and parameters",
            ) from error
        stated = float(part.term_value(first, activation)[0])
        if symbol.numel() == 1:
            f = casadi.Function("f", [a, casadi.veccat(*arrays_of(p))], [symbol])
            given = float(f(activation[0], flat(numbers, 1)[0]))
            if abs(given - stated) <= DERIVATIVE_TOLERANCE * (abs(given) + abs(stated)):
                continue
        shown = f"is {given:g}" if symbol.numel() == 1 else f"has the shape {symbol.shape}"
        raise input_error(
            "bad_cost",
            where=f"the cost {part.name}",
            problem=f"term_expression {shown} where term_value is {stated:g}",
            expected="the value of term_value in one frame, as an expression of CasADi",
            remedy="sum over the muscles" if symbol.numel() != 1 else None,
        )


def _check_convexity(problem: Problem, cost: Cost, activation: Array) -> None:
    """Refuse a cost of methods that bends downward at activations (T, n) and does not say so."""
    if "coupled" in cost.needs:
        hessian = cost.term_hessian(problem, activation)
        curvature = np.linalg.eigvalsh(hessian[np.isfinite(hessian).all(axis=(1, 2))])
    else:
        width = problem.upper - problem.lower
        ends = [
            np.clip(activation + sign * DIFFERENCE_STEP * width, problem.lower, problem.upper)
            for sign in (1, -1)
        ]
        with np.errstate(all="ignore"):
            stated = np.asarray(cost.term_hessian_diagonal(problem, activation))
            ahead, middle, behind = (cost.term_gradient(problem, at) for at in (ends[0], activation, ends[1]))
            curvature = ahead - behind
            rounding = ROUNDING * (np.abs(ahead) + np.abs(behind)) + np.finfo(float).tiny
            curvature[np.abs(curvature) < rounding] = 0.0
            sides = (ahead - middle) / (ends[0] - activation), (middle - behind) / (activation - ends[1])
            near = np.clip(stated, np.minimum(*sides), np.maximum(*sides))  # the slope may have a kink
            away = np.abs(stated - near) > CURVATURE_TOLERANCE * (np.abs(stated) + np.abs(near))
            inside = np.minimum(activation - problem.lower, problem.upper - activation) > 0.05 * width
        for place in np.argwhere(away & inside & (curvature != 0.0))[:1]:
            at = tuple(place)
            raise input_error(
                "bad_cost",
                where=f"the cost {cost.name}",
                problem=f"term_hessian_diagonal is {stated[at]:g} for {(problem.muscle or ())[at[1]]} at "
                f"{activation[at]:.3g}, where differences of term_gradient give {near[at]:g}",
                expected="the second derivatives of the terms",
            )
    curvature = curvature[np.isfinite(curvature).all(axis=1)]
    if (curvature < -SLACK * np.abs(curvature).max(axis=1, keepdims=True, initial=0.0)).any():
        raise input_error(
            "bad_cost",
            where=f"the cost {cost.name}",
            problem="its gradient falls as an activation grows: the cost is not convex, and does not say so",
            expected="a convex cost, whose solved frames have the least cost",
            remedy='state needs = frozenset({"separable", "nonconvex"}), and choose a solver for such costs',
        )


def _check_finite(cost: Cost, what: str, numbers: Array, unknown: Mask, activation: Array) -> None:
    """Refuse numbers (T, ...) of a cost at activations (T, n) where one of them is unknown."""
    if unknown.any():
        point = tuple(np.argwhere(unknown)[0])
        low, high = activation[point[0]].min(), activation[point[0]].max()
        raise input_error(
            "bad_cost",
            where=f"the cost {cost.name}",
            problem=f"{what} is {numbers[point]:g} at activations of {low:.3g} to {high:.3g}",
            expected="finite numbers between the bounds",
            remedy="look at logarithms, roots and quotients in `term_value` or the expression",
        )


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
    held = problem.upper <= problem.lower  # perhaps at the end of the domain
    for method, numbers in at.items():
        unknown = ~np.isfinite(numbers) & (True if numbers.ndim == 1 else ~held)
        _check_finite(cost, method, numbers, unknown, activation)
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
    bad &= np.isfinite(slope) & np.isfinite(once) & np.isfinite(twice)  # a step may leave the domain
    for point, muscle in np.argwhere(bad)[:1]:
        raise input_error(
            "bad_cost",
            where=place,
            problem=f"gradient is {slope[point, muscle]:g} by the activation of "
            f"{(problem.muscle or ())[muscle]} at {activation[point, muscle]:.3g}, where "
            f"differences of value give {once[point, muscle]:g}",
            expected="the gradient of value",
        )
