"""Feasible ranges: the least and greatest force of every muscle with which the moments are met.

For each frame and muscle two linear programs, minimize and maximize a_i subject to A a = b, lower <= a <= upper, by a
compiled simplex method. Each end has a side that is found, with activations that produce the moments to round-off, and
a side that is proved: by weak duality any lambda bounds the least value from below,

    min a_i  >=  lambda . b + sum_j min(d_j lower_j, d_j upper_j),    d = e_i - A^T lambda,

here as a proof that the moments are impossible with a_i held at a smaller value (linear_program.py). The gap between
the two is stated.

Near-optimal ranges: least and greatest force among the activations that cost little more than the optimum. With the
activation of one muscle held at v, let h(v) be the least cost of all others. h is convex with its minimum at the
optimum, so the ends of the range are where h(v) = (1 + within) h(a*), one on either side, or the ends of the feasible
range. Certified solutions enclose them from both sides, by false position on sqrt(h - h*), which is close to a straight
line. All frames and both sides of one muscle are solved at once.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import partial

import numpy as np
from numpy.typing import NDArray

from musclesolve._util.arrays import Array
from musclesolve._util.checks import check_number
from musclesolve._util.messages import as_text, unknown_name, with_sizes
from musclesolve.constants import USUAL_COST, USUAL_SOLVER
from musclesolve.errors import input_error
from musclesolve.sharing.analysis.linear_program import Ends, Optimum, blocks, ends_of, minimize_several
from musclesolve.sharing.arguments import check_problem, check_smooth_cost, members
from musclesolve.sharing.certificate import within_domain
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.kernel.constants import UNIT_ROUNDING
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.problem_scale import reserve_cost
from musclesolve.sharing.solver.solver_registry import Solver
from musclesolve.sharing.solving import solve
from musclesolve.sharing.status import Status


@dataclass(frozen=True, eq=False)
class ForceRange:
    """Ranges of muscle forces, (T, n) [N] each; NaN for frames and muscles without a solution.

    Attributes:
        least: smallest force that is found: activations within their bounds attain it.
        greatest: largest force that is found.
        gap_least: how far below `least` the true end of the range could be at most; less is proved to be impossible.
        gap_greatest: how far above `greatest` the true end could be at most.
    """

    least: Array
    greatest: Array
    gap_least: Array
    gap_greatest: Array

    __repr__ = with_sizes

    @property
    def width(self) -> Array:
        """The difference of greatest and least force, (T, n) [N]."""
        return self.greatest - self.least

    def drop_frame_axis(self) -> "ForceRange":
        """The ranges of a single frame, whose arrays are (n,)."""
        return ForceRange(*(getattr(self, f.name)[0] for f in fields(self)))


def _feasible_range(problem: Problem, muscles: Sequence[str] | None) -> ForceRange:
    """The range at any cost, without reserves."""
    numbers = chosen_muscles(check_problem(problem), muscles)
    span = ForceRange(*(np.full(problem.force_capacity.shape, np.nan) for _ in range(4)))
    sides = (1.0, span.least, span.gap_least), (-1.0, span.greatest, span.gap_greatest)
    # all least ends, then all greatest: from an end to one on the same side there are fewer steps
    signs = np.array([sign * np.eye(problem.n_muscles)[muscle] for sign, *_ in sides for muscle in numbers])
    for which in blocks(np.flatnonzero(problem.valid), max(MOST_NUMBERS // max(signs.size, 1), 1)):
        part = problem.frames(which)
        program = part.moment_matrix, part.moment, part.lower, part.upper
        optima = minimize_several(*program, signs[:, None])
        for sign, end, gap in sides:
            for muscle in numbers:
                capacity = part.force_capacity[:, muscle]
                ends = _least_activation(part, muscle, sign, next(optima))
                force = sign * capacity * ends.found
                end[which, muscle] = force
                gap[which, muscle] = capacity * (ends.found - ends.proved) + 4.0 * UNIT_ROUNDING * np.abs(
                    force
                )
    return span.drop_frame_axis() if problem.single_frame else span


MOST_NUMBERS = 4_000_000
"""Largest size of the variables of all programs of a block of frames, which are in memory at once."""


def _least_activation(problem: Problem, muscle: int, sign: float, optimum: Optimum) -> Ends:
    """The least activation of a muscle times a sign, for valid frames, from the optimum of its program."""
    bounds = [sign * bound[:, muscle] for bound in (problem.lower, problem.upper)]

    def held(number: Array) -> Problem:
        lower, upper = problem.lower.copy(), problem.upper.copy()
        lower[:, muscle] = upper[:, muscle] = sign * number
        return problem.with_arrays(lower=lower, upper=upper)

    number = sign * optimum.x[:, muscle]
    return ends_of(held, optimum, optimum.x, number, np.minimum(*bounds), np.maximum(*bounds))


def chosen_muscles(problem: Problem, names: Sequence[str] | None) -> list[int]:
    """Indices of the muscles with these names; of all muscles without names."""
    available = problem.muscle or ()
    if names is None:
        return list(range(len(available)))
    requested = [names] if isinstance(names, str) else members(names)
    if not requested:
        fault, expected = f"muscles is {as_text(names)}", "one name or more; None stands for all"
        raise input_error("missing_argument", where="muscles", problem=fault, expected=expected)
    for name in requested:
        if not isinstance(name, str) or name not in available:
            raise unknown_name(name, "muscle", available)
    return [available.index(name) for name in requested]


_ROUNDS = 60


def force_range(
    problem: Problem,
    muscles: Sequence[str] | None = None,
    *,
    within: float | None = None,
    cost: str | Cost | None = None,
    solver: str | Solver | None = None,
    accuracy: float | None = None,
) -> ForceRange:
    """Least and greatest force of each muscle that produces the moments, at any cost or near the least.

    Args:
        problem: at any cost its reserves are ignored; near the least cost their cost counts as well.
        muscles: names of the muscles to compute, all unless given; the other ranges are NaN.
        within: only activations of at most (1 + within) times the least cost; None: of any cost.
        cost: a name or a Cost, convex; the usual one unless given. cost, solver, accuracy: only with `within`.
        solver: a name or a Solver; the usual one unless given.
        accuracy: how closely the ends near the least cost are enclosed, in activation; 1e-4 unless given.

    Raises:
        InputError: unknown cost, solver or muscle; a cost that is not convex or has levels; a cost whose least value
            is below zero, so that a share of it is undefined; a share or an accuracy that is not positive.
    """
    if within is None:
        if (cost, solver, accuracy) != (None, None, None):
            fault = "a cost, a solver or an accuracy is given for a range at any cost"
            expected = "with them `within`, the share by which the cost may exceed its least value"
            raise input_error("conflict", where="force_range", problem=fault, expected=expected)
        return _feasible_range(problem, muscles)
    problem = check_problem(problem)
    action = "used for ranges near its least value"
    chosen = check_smooth_cost(USUAL_COST if cost is None else cost, problem, action, convex=True)
    solver, accuracy = USUAL_SOLVER if solver is None else solver, 1e-4 if accuracy is None else accuracy
    numbers = chosen_muscles(problem, muscles)
    within, accuracy = (
        check_number(value, name, "a positive number", above=0.0)
        for name, value in (("within", within), ("accuracy", accuracy))
    )
    framed = problem.with_arrays(single_frame=False)
    best = solve(framed, chosen, solver)
    frames = np.flatnonzero(best.solved)
    ends = [np.full(problem.force_capacity.shape, np.nan) for _ in range(4)]
    if frames.size:
        part = framed.frames(frames)
        least = best.cost[frames] + reserve_cost(part, best.reserve[frames])
        level = (1.0 + within) * least
        for k in np.flatnonzero(least < 0)[:1]:
            fault = f"the least cost of {chosen.name} in frame {frames[k]} is {least[k]:g}"
            expected = "a cost of zero or more, of which `within` is a share"
            remedy = "add a constant to the cost, so that it is never negative"
            raise input_error(
                "bad_cost", where="force_range", problem=fault, expected=expected, remedy=remedy
            )

        def excess(muscle: int, value: Array, which: NDArray[np.intp]) -> Array:
            """sqrt((h(v) - h*) / (level - h*)) - 1 of values v (t,) of a muscle in some of the frames.

            Negative inside the range; infinite if impossible, NaN if not known.
            """
            here = part.frames(which)
            lower, upper = here.lower.copy(), here.upper.copy()
            lower[:, muscle] = upper[:, muscle] = value
            held = here.with_arrays(lower=lower, upper=upper)
            solution = solve(held, chosen, solver)
            allowed = (level - least)[which]
            total = solution.cost + reserve_cost(held, solution.reserve)
            more = np.maximum(total - least[which], 0.0)
            ratio = np.divide(more, allowed, out=np.where(more > 0, np.inf, 0.0), where=allowed > 0)
            beyond = np.where(solution.solved, np.sqrt(ratio) - 1.0, np.nan)
            return np.where(solution.status == Status.INFEASIBLE, np.inf, beyond)

        # activations that no muscle can exceed in any case
        domain, names = within_domain(part, chosen), [(problem.muscle or ())[i] for i in numbers]
        lower, upper = domain.lower.copy(), domain.upper.copy()
        if part.reserve_weight is None:
            reach, capacity = _feasible_range(domain, names), part.force_capacity
            outer = (lower, reach.least - reach.gap_least), (upper, reach.greatest + reach.gap_greatest)
            for bound, force in outer:
                bounded = np.isfinite(force) & (capacity > 0)
                bound[bounded] = force[bounded] / capacity[bounded]
        lower, upper = np.maximum(lower, domain.lower), np.minimum(upper, domain.upper)
        for muscle in numbers:
            start = best.activation[frames, muscle]
            enclosed = _enclosed(partial(excess, muscle), start, lower[:, muscle], upper[:, muscle], accuracy)
            for array, end in zip(ends, enclosed, strict=True):
                array[frames, muscle] = part.force_capacity[:, muscle] * end
    span = ForceRange(*ends)
    return span.drop_frame_axis() if problem.single_frame else span


def _enclosed(
    excess_of: Callable[[Array, NDArray[np.intp]], Array],
    start: Array,
    lower: Array,
    upper: Array,
    accuracy: float,
) -> tuple[Array, Array, Array, Array]:
    """Least and greatest activation (t,) and how much farther out the ends may be.

    For every frame and side, 2 t brackets: an activation inside the range, `inner`, and one outside, `outer`, with
    their excess; `proved` is the nearest activation that is proved to be outside.
    """
    count = len(lower)
    frames = np.tile(np.arange(count), 2)
    inner = np.tile(start, 2)
    outer = np.concatenate([np.minimum(lower, inner[:count]), np.maximum(upper, inner[count:])])
    proved = outer.copy()
    inner_excess, outer_excess = -np.ones(2 * count), np.full(2 * count, np.inf)
    finished, side = np.zeros(2 * count, dtype=bool), np.zeros(2 * count, np.int8)
    for number in range(_ROUNDS):
        active = np.flatnonzero(~finished & (np.abs(outer - inner) > accuracy))
        if not active.size:
            break
        tried = outer[active]
        if number > 0:  # false position, or the middle where the outer excess is not finite
            low, high = inner_excess[active], outer_excess[active]
            finite = np.isfinite(high)
            share = np.where(finite, -low / np.where(finite, high - low, 1.0), 0.5)
            tried = inner[active] + np.clip(share, 0.01, 0.99) * (outer[active] - inner[active])
        excess = excess_of(tried, frames[active])
        # one end of each bracket moves; the excess of an end that stays twice is halved (Illinois)
        within = excess <= 0
        inside, outside = active[within], active[~within]
        outer_excess[inside[side[inside] == -1]] *= 0.5
        inner_excess[outside[side[outside] == 1]] *= 0.5
        inner[inside], inner_excess[inside], side[inside] = tried[within], excess[within], -1
        outer[outside], side[outside] = tried[~within], 1
        outer_excess[outside] = np.where(np.isfinite(excess[~within]), excess[~within], np.inf)
        decided = ~within & ~np.isnan(excess)
        proved[active[decided]] = tried[decided]
        if number == 0:  # the outermost activations are within the range: nothing lies beyond
            finished[inside] = True
    gap = np.abs(proved - inner)
    return inner[:count], inner[count:], gap[:count], gap[count:]
