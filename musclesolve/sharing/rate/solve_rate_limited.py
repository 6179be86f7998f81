"""Solve a whole motion within rate limits and certify the result."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from musclesolve._util.arrays import Array, Mask
from musclesolve._util.checks import check_choice, check_increasing
from musclesolve.errors import InputError
from musclesolve.sharing.arguments import check_problem, check_smooth_convex_cost
from musclesolve.sharing.certificate import needs_reserve, within_domain
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.infeasibility_proof import empty_box
from musclesolve.sharing.kernel.constants import TOLERANCE
from musclesolve.sharing.kernel.workspace_layout import RateBounds
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.problem_scale import fallback_weight
from musclesolve.sharing.rate.rate_certificate import Coupling, coupled_residual, least_reserves
from musclesolve.sharing.rate.rate_interior_point import solve_coupled
from musclesolve.sharing.rate.rate_limits import RateLimits
from musclesolve.sharing.solution import Solution, SolutionArrays
from musclesolve.sharing.solver.solver_base import Solver
from musclesolve.sharing.solver.solver_registry import find_solver
from musclesolve.sharing.solving import ON_INFEASIBLE, solve
from musclesolve.sharing.status import Status

METHODS = ("together", "frame_by_frame")
KEPT = 1e-9
RESERVE = 1e-3
STIFF = 1e4


@dataclass(frozen=True, eq=False)
class RateLimited:
    """A motion shared within rate limits.

    Attributes:
        solution: of the T frames; `kkt_residual` is the certificate of the coupled motion for the method "together",
            that of each frame within what the frame before leaves it for "frame_by_frame".
        limits: the time constants.
        falling_multiplier: (T-1, n) how much less the motion would cost if the activation could fall by one unit more
            between two frames; zero where the limit is not met, NaN if not solved and for "frame_by_frame".
        rising_multiplier: (T-1, n) the same for rising.
        shortage: (T, m) [N m] for an infeasible motion the reserves of least sum that would make it feasible; NaN where
            they were not computed.
        method: "together" or "frame_by_frame".
    """

    solution: Solution
    limits: RateLimits
    falling_multiplier: Array
    rising_multiplier: Array
    shortage: Array
    method: str


def solve_rate_limited(
    problem: Problem,
    time: ArrayLike,
    cost: str | Cost = "stress_cubed",
    limits: RateLimits | None = None,
    method: str = "together",
    solver: str | Solver = "batch",
    on_infeasible: str = "report",
) -> RateLimited:
    """The activations of least cost for a whole motion that change no faster than activation dynamics allows.

    Args:
        problem: T frames; no upper bound above 1, where excitation ends. Frames that are not finite are left out, and
            the limits hold across them.
        time: (T,) [s], increasing.
        cost: a name or a Cost, smooth and convex; its sum over the frames is minimised.
        limits: the time constants; 10 and 40 ms unless given.
        method: "together": all frames as one convex problem, which anticipates later frames. "frame_by_frame": each
            frame within what the frame before leaves it; not optimal, and it may end in infeasible frames. A frame
            whose bounds are disjoint from those limits is INFEASIBLE, with reserves as well; the next one follows the
            last one solved.
        solver: for single frames.
        on_infeasible: "report": an infeasible motion is not solved; where that is proved, every frame is INFEASIBLE.
            "reserve": it is solved with reserves, weighted so that 1 N m costs a tenth of all muscles at full
            activation in the frames of `shortage`, and ten thousand times as much in the others.

    Raises:
        InputError: times or limits that do not fit, an upper bound above 1, a cost that is not smooth and convex, an
            unknown method, or what `solve` refuses.
    """
    chosen, limits = _suitable(problem, cost), RateLimits() if limits is None else limits
    if not isinstance(limits, RateLimits):
        fault = f"limits is {limits!r}"
        expected = "a RateLimits, for instance RateLimits(0.010, 0.040)"
        raise InputError(fault, code="bad_type", where="limits", expected=expected)
    check_choice(method, "the method", METHODS, where="method")
    check_choice(on_infeasible, "on_infeasible", ON_INFEASIBLE)
    instant = _times(problem, time)
    if method == "frame_by_frame":
        return _frame_by_frame(problem, instant, chosen, limits, solver, on_infeasible)
    return _together(problem, instant, chosen, limits, solver, on_infeasible)


def _together(
    problem: Problem, time: Array, cost: Cost, limits: RateLimits, solver: str | Solver, on_infeasible: str
) -> RateLimited:
    single = solve(problem, cost, solver)
    problem = within_domain(problem, cost)
    usable = problem.valid & ~empty_box(problem)
    if not usable.any():
        return _without_multipliers(single, limits, problem, "together")
    part = problem.frames(usable)
    motion = _Motion(part, Coupling.of(limits, time[usable]), cost)
    found = _within_limits(motion, single, usable, limits, time[usable])
    if found is None:
        found = motion.exact(bool(np.isin(single.status[usable], Status.INFEASIBLE).any()))
        if on_infeasible == "reserve" and not found.arrays.solved.all() and part.reserve_weight is None:
            found = motion.with_reserves(found.shortage)
    arrays = SolutionArrays.empty(problem)
    arrays.status[:], arrays.reserve_weight[:] = single.status, np.inf
    arrays.store(usable, found.arrays)
    solution = replace(single, **vars(arrays), solver="rate_limited")
    fall, rise = (_between(multiplier, usable) for multiplier in found.limit_multiplier)
    shortage = np.full_like(problem.moment, np.nan)
    shortage[usable] = found.shortage
    return RateLimited(solution, limits, fall, rise, shortage, "together")


@dataclass(frozen=True, eq=False)
class _Found:
    """The result for the usable frames."""

    arrays: SolutionArrays
    limit_multiplier: Array  # (2, T-1, n) of falling and of rising
    shortage: Array


@dataclass(frozen=True, eq=False)
class _Motion:
    problem: Problem
    coupling: Coupling
    cost: Cost

    def exact(self, infeasible_frames: bool) -> _Found:
        """With the reserves of the problem, if it has any; where a frame alone is infeasible the proof comes first."""
        weight = self.problem.reserve_weight
        if weight is not None:
            return self._attempt(weight, weight.max(axis=1))
        none = np.full_like(self.problem.moment, np.inf)
        found = None if infeasible_frames else self._attempt(none, None)
        if found is not None and found.arrays.solved.all():
            return found
        reach = least_reserves(self.problem, self.coupling)
        if reach.proved:
            found = self._unsolved(Status.INFEASIBLE, reach.shortage)
            found.arrays.infeasibility_proof[:] = reach.direction
        return self._attempt(none, None) if found is None else found

    def with_reserves(self, shortage: Array) -> _Found:
        """Soft where the muscles lack something, stiff elsewhere."""
        lacking = needs_reserve(np.nan_to_num(shortage), self.problem.moment).any(axis=1)
        soft = RESERVE * fallback_weight(self.problem, self.cost)
        weight = soft * np.where(lacking, 1.0, STIFF)[:, None]
        return replace(self._attempt(weight, soft.max(axis=1)), shortage=shortage)

    def certified(
        self, activation: Array, multiplier: Array, limit_multiplier: Array, weight: Array, count: int
    ) -> _Found:
        """The result, if the certificate of every frame holds."""
        problem, compliance = self.problem, 1.0 / weight
        reserve = compliance * multiplier
        given = (activation, reserve, multiplier, limit_multiplier, compliance)
        residual = coupled_residual(problem, self.coupling, self.cost, *given)
        found = self._unsolved(Status.SOLVER_FAILED, np.full_like(multiplier, np.nan))
        arrays = found.arrays
        arrays.kkt_residual, arrays.reserve_weight = residual, weight
        arrays.iterations.fill(count)
        if not (residual <= TOLERANCE).all():
            return found
        helped = needs_reserve(reserve, problem.moment).any(axis=1)
        arrays.status = np.where(helped, Status.SOLVED_WITH_RESERVE, Status.SOLVED).astype(np.int8)
        arrays.activation, arrays.reserve, arrays.multiplier = activation, reserve, multiplier
        arrays.force = activation * problem.force_capacity
        arrays.cost = self.cost.total_value(problem, activation)
        return replace(found, limit_multiplier=limit_multiplier)

    def _attempt(self, weight: Array, size: Array | None) -> _Found:
        attempt = solve_coupled(self.problem, self.coupling, self.cost, 1.0 / weight, size)
        given = (attempt.activation, attempt.multiplier, attempt.limit_multiplier)
        return self.certified(*given, weight, attempt.iterations)

    def _unsolved(self, status: Status, shortage: Array) -> _Found:
        arrays = SolutionArrays.empty(self.problem)
        arrays.status.fill(status)
        frames, muscles = arrays.activation.shape
        return _Found(arrays, np.full((2, frames - 1, muscles), np.nan), shortage)


def _within_limits(
    motion: _Motion, single: Solution, usable: Mask, limits: RateLimits, time: Array
) -> _Found | None:
    """The solution of single frames, where it is within the limits by itself."""
    activation, multiplier = single.activation[usable], single.multiplier[usable]
    if not single.solved[usable].all() or (limits.excess(activation, time) > KEPT).any():
        return None
    weight = motion.problem.reserve_weight
    weight = np.full_like(multiplier, np.inf) if weight is None else weight
    none = np.zeros((2, len(activation) - 1, activation.shape[1]))
    found = motion.certified(activation, multiplier, none, weight, int(single.iterations[usable].max()))
    return found if found.arrays.solved.all() else None


def _frame_by_frame(
    problem: Problem, time: Array, cost: Cost, limits: RateLimits, solver: str | Solver, on_infeasible: str
) -> RateLimited:
    chosen, allow_reserve = find_solver(solver), on_infeasible == "reserve"
    found, before, since = SolutionArrays.empty(problem), np.zeros(problem.n_muscles), np.array([np.nan])
    rate = RateBounds(time, float(limits.activation_time), float(limits.deactivation_time), before, since)
    sequence = getattr(chosen, "sequence", None)
    run = None if sequence is None else sequence(problem, cost, rate, allow_reserve)
    t = 0
    while t < problem.n_frames:
        if run is not None:
            t = run(t, found)
            if t == problem.n_frames:
                break
        frame = problem.frames(np.array([t]))
        if np.isfinite(since[0]):
            frame = _within_reach(frame, *limits.reach(before, time[t] - since[0]))
        part = solve(frame, cost, chosen, on_infeasible)
        found.store(np.arange(problem.n_frames) == t, SolutionArrays.of(part))
        if part.solved[0]:
            before[:], since[0] = part.activation[0], time[t]
        t += 1
    return _without_multipliers(found.to_solution(cost, chosen), limits, problem, "frame_by_frame")


def _within_reach(frame: Problem, low: Array, high: Array) -> Problem:
    """A frame within what the frame before leaves it; where that ends outside its own bounds it has no room at all."""
    lower, upper = np.maximum(frame.lower, low), np.minimum(frame.upper, high)
    touching = (lower > upper) & (lower <= upper + TOLERANCE)
    lower = np.where(touching, np.minimum(lower, frame.upper), lower)
    return frame._changed(lower=lower, upper=np.where(touching, lower, upper))


def _without_multipliers(
    solution: Solution, limits: RateLimits, problem: Problem, method: str
) -> RateLimited:
    blank = np.full((max(problem.n_frames - 1, 0), problem.n_muscles), np.nan)
    return RateLimited(solution, limits, blank, blank, np.full_like(problem.moment, np.nan), method)


def _between(multiplier: Array, usable: Mask) -> Array:
    """Multipliers between usable frames among those between all; NaN between two of which one was left out."""
    whole = np.full((len(usable) - 1, multiplier.shape[1]), np.nan)
    numbers = np.flatnonzero(usable)
    near = np.diff(numbers) == 1
    whole[numbers[:-1][near]] = multiplier[near]
    return whole


def _suitable(problem: Problem, cost: str | Cost) -> Cost:
    if check_problem(problem).single_frame:
        fault = "the problem is a single frame without a frame axis"
        raise InputError(fault, code="bad_shape", where="problem", expected="the frames of a motion")
    chosen = check_smooth_convex_cost(cost, problem, "shared within rate limits", "cost")
    high = np.argwhere(np.nan_to_num(problem.upper) > 1.0)
    if high.size:
        t, i = (int(index) for index in high[0])
        fault = f"upper is {problem.upper[t, i]:g} for {(problem.muscle or ())[i]} in frame {t}"
        expected = "at most 1: rate limits are those of excitations between 0 and 1"
        raise InputError(fault, code="bad_number", where="Problem.upper", expected=expected)
    return chosen


def _times(problem: Problem, time: ArrayLike) -> Array:
    instant = check_increasing(time, least=0, where="time")
    if len(instant) != problem.n_frames:
        fault = f"there are {len(instant)} times"
        raise InputError(fault, code="bad_shape", where="time", expected=f"{problem.n_frames} [s]")
    return instant
