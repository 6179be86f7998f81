"""Checks of a cost that is not built in, at a few points between the bounds, once for every solve.

The gradient is compared with central differences of the value,

    d_h = (f(a + h e_i) - f(a - h e_i)) / (2 h),   h = 1e-3 of the way between the bounds,

and counts as wrong only if it is off by more than 1e-4 of the two, ten times the largest h |d_h - d_2h| of the point
(visible curvature and noise), and 1e5 roundings of the value. Second derivatives, of pairs of muscles too, count as
wrong if they are off by more than a twentieth from differences of the gradient to either side. Between the bounds all
three are finite.

A cost that does not state `nonconvex` must not bend downward (`bends_down`). One rule holds for expressions and
classes: tangents lie below the cost at the bounds, at a few points for every muscle and at every solution for one of
them, and there no curvature is negative: of a sum over muscles in each muscle, of other costs along any direction. The
derivatives of an expression are exact; of a class the gradient alone counts, by differences in each muscle, or along
the direction in which the stated Hessian is least and along one drawn direction. On the straight lines from a solution
to all lower and to all upper bounds the slope does not fall: at nine points of each line, of up to 16 frames.
"""

import numpy as np

from musclesolve._util.arrays import Array, Mask
from musclesolve.errors import InputError, input_error
from musclesolve.sharing.cost.casadi_expression import ExpressionCost
from musclesolve.sharing.cost.cost_base import SLACK, Cost, bends_down, single_costs
from musclesolve.sharing.cost.cost_terms import arrays_of, flat, parameter_symbols, shapes_of
from musclesolve.sharing.problem import Problem

POINTS = 4
BLOCK = 256
"""Frames whose second derivatives are in memory at once."""
LINES, PARTS = 16, 8
"""Largest number of frames whose lines to the bounds are looked at, and number of parts of a line."""
DIFFERENCE_STEP = 1e-3
DERIVATIVE_TOLERANCE = 1e-4
CURVATURE_TOLERANCE = 0.05
NOISE = 10.0
ROUNDING = 1e5 * np.finfo(np.float64).eps
TINY_SHARE = 1e2 * np.finfo(np.float64).eps
"""Share of the larger value at the bounds below which a value is rounding, such as that of exp(a) - 1 - a at rest."""


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
        if _says_convex(part):
            moved = np.vstack([np.eye(few.n_muscles), np.ones(few.n_muscles)])
            which = np.repeat(np.arange(POINTS), len(moved))
            slope = part.term_gradient(few, activation)[which]
            _check_tangents(few.frames(which), part, activation[which], slope, np.tile(moved, (POINTS, 1)))
    check_solution(few, cost, activation, "a point")


def check_solution(problem: Problem, cost: Cost, activation: Array, point: str = "the solution") -> Array:
    """Check that a cost has a value, and is convex if it says so, at activations (T, n); return the value (T,).

    `point` is what the activations are, for the error.
    """
    value = cost.value(problem, activation)
    if cost.built_in:
        return value
    _check_finite(cost, "its value", value, ~np.isfinite(value), activation)
    for part in single_costs(cost):
        if _says_convex(part):
            with np.errstate(all="ignore"):
                slope = part.term_gradient(problem, activation)
            _check_curvature(problem, part, activation, slope)
            # another muscle in each frame: all of them would cost more than the solution
            moved = np.eye(problem.n_muscles)[np.arange(len(activation)) % problem.n_muscles]
            _check_tangents(problem, part, activation, slope, moved)
            _check_lines(problem, part, activation, point)
    return value


def _says_convex(part: Cost) -> bool:
    """Return whether a cost is not built in and does not state that it may be non-convex."""
    return not part.built_in and not part.needs & {"linear_program", "nonconvex"}


def _not_convex(cost: Cost, reason: str) -> InputError:
    """The error of a cost that bends downward."""
    if isinstance(cost, ExpressionCost):
        return input_error("sharing.cost_not_convex", cost=cost.name, reason=reason)
    kind = "coupled" if "coupled" in cost.needs else "separable"
    return input_error(
        "bad_cost",
        where=f"the cost {cost.name}",
        problem=f"{reason}: the cost is not convex, and does not say so",
        expected="a convex cost, whose solved frames have the least cost",
        remedy=f'state needs = frozenset({{"{kind}", "nonconvex"}}), and choose a solver for such costs',
    )


def _check_tangents(problem: Problem, cost: Cost, activation: Array, slope: Array, moved: Array) -> None:
    """Check that tangents at activations (T, n) lie below the cost at the bounds of the muscles `moved` (T, n), 1 or 0.

    f(b) >= f(a) + f'(a) (b - a) is what convex means; kinks and jumps, which have no second derivative, break it too.
    """
    with np.errstate(all="ignore"):
        value = cost.term_value(problem, activation)
        steps = [moved * (bound - activation) for bound in (problem.lower, problem.upper)]
        ends = [cost.term_value(problem, activation + step) for step in steps]
        rounding = TINY_SHARE * np.fmax(np.abs(ends[0]), np.abs(ends[1])) + np.finfo(float).tiny
        for step, end in zip(steps, ends, strict=True):
            rise = (slope * step).sum(axis=1)
            below = value + rise - end > SLACK * (np.abs(value) + np.abs(rise) + np.abs(end)) + rounding
            for place in np.flatnonzero(below)[:1]:
                reason = f"it is {end[place]:g} where a tangent to it has {value[place] + rise[place]:g}"
                raise _not_convex(cost, reason)


def _check_lines(problem: Problem, cost: Cost, activation: Array, point: str) -> None:
    """Check that the slope of a cost does not fall on the lines from activations (T, n) to all bounds of a frame."""
    if not len(activation):
        return
    number = np.unique(np.linspace(0, len(activation) - 1, LINES).astype(np.int64))
    few, start = problem.frames(number), activation[number]
    way = np.linspace(0.0, 1.0, PARTS + 1)
    for name in ("lower", "upper"):
        bound = getattr(few, name)
        points = [start + share * (bound - start) for share in way[:-1]] + [bound]
        with np.errstate(all="ignore"):
            pieces = (
                np.stack([cost.term_gradient(few, at) for at in points], axis=1) * (bound - start)[:, None]
            )
            slope, size = pieces.sum(axis=2), np.abs(pieces).sum(axis=2)
            known = np.where(np.isfinite(slope), slope, -np.inf)
            before = np.maximum.accumulate(known, axis=1)
            fall = (
                before - slope - SLACK * (np.maximum.accumulate(size, axis=1) + size) - np.finfo(float).tiny
            )
        for line, end in np.argwhere(fall > 0.0)[:1]:
            first = int(known[line, :end].argmax())
            frame = few.frame_number[line]
            raise _not_convex(
                cost,
                f"on the line from {point} of frame {frame} to its {name} bounds its slope falls from "
                f"{slope[line, first]:g} after {100 * way[first]:g} % of the way to {slope[line, end]:g} after "
                f"{100 * way[end]:g} %",
            )


def check_expression(problem: Problem, cost: Cost) -> None:
    """Check that the expressions of costs of methods are their values, within the bounds of the first frame."""
    from musclesolve._util.casadi_module import casadi

    for part in single_costs(cost):
        if part.built_in or isinstance(part, ExpressionCost):
            continue
        first, where = problem.frames(slice(0, 1)), f"the cost {part.name}"
        activation = first.lower + 0.37 * (first.upper - first.lower)
        numbers = part.term_parameters(first)
        a, p = casadi.SX.sym("a", first.n_muscles), parameter_symbols(casadi.SX.sym, shapes_of(numbers))
        try:
            symbol = casadi.SX(part.term_expression(casadi, a, p))
        except (NotImplementedError, TypeError) as error:
            batch = "" if "nonconvex" in cost.needs else "batch, "
            fault = "term_expression gives no expression of CasADi"
            expected = "the value of term_value in one frame, made of activation and parameters"
            remedy = f"or ms.solve with {batch}cyipopt or slsqp, which need no expression"
            raise input_error(
                "bad_cost", where=where, problem=fault, expected=expected, remedy=remedy
            ) from error
        stated = float(part.term_value(first, activation)[0])
        if symbol.numel() == 1:
            f = casadi.Function("f", [a, casadi.veccat(*arrays_of(p))], [symbol])
            given = float(f(activation[0], flat(numbers, 1)[0]))
            if abs(given - stated) <= DERIVATIVE_TOLERANCE * (abs(given) + abs(stated)):
                continue
        shown = f"is {given:g}" if symbol.numel() == 1 else f"has the shape {symbol.shape}"
        fault = f"term_expression {shown} where term_value is {stated:g}"
        expected = "the value of term_value in one frame, as an expression of CasADi"
        remedy = "sum over the muscles" if symbol.numel() != 1 else ""
        raise input_error("bad_cost", where=where, problem=fault, expected=expected, remedy=remedy)


def _check_curvature(problem: Problem, cost: Cost, activation: Array, slope: Array) -> None:
    """Refuse a cost that bends downward at activations (T, n), in a muscle or along some direction."""
    exact, width = isinstance(cost, ExpressionCost), problem.upper - problem.lower
    curvatures, moves = [], [width]
    if "coupled" in cost.needs:
        if exact and _surely_convex(problem, cost, activation, slope):
            return
        hessian = cost.term_hessian(problem, activation)
        known = np.isfinite(hessian).all(axis=(1, 2), keepdims=True)
        values, vectors = np.linalg.eigh(np.where(known, hessian, 0.0))
        curvatures.append(values)
        drawn = np.random.default_rng(0).normal(size=activation.shape)
        moves = [width.max(axis=1, keepdims=True) * direction for direction in (vectors[:, :, 0], drawn)]
    elif exact:
        cost.term_hessian_diagonal(problem, activation)  # refuses a negative one
    for move in () if exact else moves:
        ends = [
            np.clip(activation + step * move, problem.lower, problem.upper)
            for step in (DIFFERENCE_STEP, -DIFFERENCE_STEP)
        ]
        along = ends[0] - ends[1]
        with np.errstate(all="ignore"):
            ahead, behind = (cost.term_gradient(problem, end) for end in ends)
            rise = (ahead - behind) * along
            noise = (ROUNDING * (np.abs(ahead) + np.abs(behind)) + np.finfo(float).tiny) * np.abs(along)
            if "coupled" in cost.needs:
                rise, noise, along = (part.sum(axis=1, keepdims=True) for part in (rise, noise, along**2))
            else:
                along = along**2
            bent = np.where(np.abs(rise) > noise, rise / along, 0.0)
        curvatures.append(np.where(np.isfinite(bent), bent, 0.0))
    shown = (
        "second derivative along some activations is" if exact else "gradient falls as activation grows by"
    )
    for curvature in curvatures:
        if (bad := bends_down(slope, curvature)).any():
            raise _not_convex(cost, f"its {shown} {curvature[bad].min():g}")


def _surely_convex(problem: Problem, cost: Cost, activation: Array, slope: Array) -> bool:
    """Return whether no direction bends downward by `bends_down` at activations (T, n).

    No eigenvalue is negative where the diagonal outweighs its row (Gershgorin), or where Cholesky factors exist:
    eigenvalues themselves take thirty times as long. None is smaller than the largest entry of the diagonal in size.
    """
    for first in range(0, len(activation), BLOCK):
        block = slice(first, first + BLOCK)
        hessian = cost.term_hessian(problem.frames(block), activation[block])
        diagonal, steep = np.einsum("tii->ti", hessian), np.abs(slope[block]).max(axis=1)
        raised = SLACK * np.fmax(np.abs(diagonal).max(axis=1), np.where(np.isfinite(steep), steep, 0.0))
        rows = np.abs(hessian).sum(axis=2)
        if not (np.isfinite(rows).all() and (raised > 0.0).all()):
            return False
        left = np.flatnonzero((rows > diagonal + np.abs(diagonal)).any(axis=1))
        if hessian.strides[0] == 0:
            left, raised = left[:1], raised.min(keepdims=True)
        matrix = hessian[left]
        np.einsum("tii->ti", matrix)[:] += raised[left, None]
        try:
            np.linalg.cholesky(matrix)
        except np.linalg.LinAlgError:
            return False
    return True


def _check_finite(cost: Cost, what: str, numbers: Array, unknown: Mask, activation: Array) -> None:
    """Refuse numbers (T, ...) of a cost at activations (T, n) where one of them is unknown."""
    if unknown.any():
        point = tuple(np.argwhere(unknown)[0])
        low, high = activation[point[0]].min(), activation[point[0]].max()
        fault = f"{what} is {numbers[point]:g} at activations of {low:.3g} to {high:.3g}"
        expected = "finite numbers between the bounds"
        remedy = "look at logarithms, roots and quotients in `term_value` or the expression"
        raise input_error(
            "bad_cost", where=f"the cost {cost.name}", problem=fault, expected=expected, remedy=remedy
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
    at = {}
    for method, shape in methods.items():  # differences of the gradient need its shape
        try:
            with np.errstate(all="ignore"):
                answer = getattr(cost, method)(problem, activation)
        except Exception as error:
            whole = f"an array w ({problem.whole_frames}, ...)"
            by_frame = f"where the cost holds {whole} itself, take w[problem.frame_number]"
            error.add_note(f"{method} has {frames} frames here; {by_frame}.")
            raise
        fault, remedy = f"{method} returns an object of type {type(answer).__name__}", None
        if hasattr(answer, "shape"):
            fault = f"{method} has the shape {answer.shape} for {frames} frames and {muscles} muscles"
            remedy = "sum over the muscles only: axis=1" if method == "term_value" else None
        if getattr(answer, "shape", None) != shape:
            expected = f"an array {shape}"
            raise input_error("bad_cost", where=place, problem=fault, expected=expected, remedy=remedy)
        at[method] = np.asarray(answer)
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
    with np.errstate(all="ignore"):
        _check_hessian(problem, cost, activation, many, step)


def _check_hessian(problem: Problem, cost: Cost, activation: Array, many: Problem, step: Array) -> None:
    """Check second derivatives at activations (T, n) by differences of the gradient to either side, over steps (T, n).

    `many` are the frames of the problem, each repeated for every muscle.
    """
    frames, muscles = activation.shape
    middle, shift = np.repeat(activation, muscles, axis=0), step[:, :, None] * np.eye(muscles)
    slopes = [cost.term_gradient(many, middle + sign * shift.reshape(-1, muscles)) for sign in (1, 0, -1)]
    ahead, here, behind = (np.reshape(slope, (frames, muscles, muscles)) for slope in slopes)
    stated = cost.term_hessian(problem, activation)
    shape = (frames, muscles, muscles)
    if getattr(stated, "shape", None) != shape:
        fault = f"term_hessian returns an object of type {type(stated).__name__}"
        if hasattr(stated, "shape"):
            fault = f"term_hessian has the shape {stated.shape} for {frames} frames and {muscles} muscles"
        place, expected = f"the cost {cost.name}", f"an array {shape}"
        raise input_error("bad_cost", where=place, problem=fault, expected=expected)
    sides = (ahead - here) / step[:, :, None], (here - behind) / step[:, :, None]
    near = np.clip(stated, np.minimum(*sides), np.maximum(*sides))  # the slope may have a kink
    largest = np.abs(near).max(axis=(1, 2), keepdims=True, initial=0.0)
    allowed = CURVATURE_TOLERANCE * (np.abs(stated) + np.abs(near)) + DERIVATIVE_TOLERANCE * largest
    allowed += (ROUNDING * (np.abs(ahead) + np.abs(behind)) + np.finfo(float).tiny) / step[:, :, None]
    for frame, i, j in np.argwhere(np.abs(stated - near) > allowed)[:1]:
        names = problem.muscle or ()
        raise input_error(
            "bad_cost",
            where=f"the cost {cost.name}",
            problem=f"the second derivative by {names[i]} and {names[j]} is {stated[frame, i, j]:g} at activations of "
            f"{activation[frame, i]:.3g} and {activation[frame, j]:.3g}, where differences of term_gradient give "
            f"{near[frame, i, j]:g}",
            expected="the second derivatives of the terms: term_hessian_diagonal, and term_hessian where they couple",
            remedy=None
            if "coupled" in cost.needs or i == j
            else 'needs = frozenset({"coupled"}) and term_hessian',
        )
