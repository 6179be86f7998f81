"""Solve a whole motion within rate limits and certify the answer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from musclesolve._util.arrays import Array, Mask
from musclesolve._util.checks import check_choice, check_real_array
from musclesolve.errors import InputError
from musclesolve.sharing.arguments import check_problem, check_smooth_convex_cost
from musclesolve.sharing.certificate import needs_reserve, within_domain
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.kernel.constants import TOLERANCE
from musclesolve.sharing.kernel.workspace_layout import RateBounds
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.rate.rate_certificate import Coupling, coupled_residual
from musclesolve.sharing.rate.rate_interior_point import solve_coupled
from musclesolve.sharing.rate.rate_limits import RateLimits
from musclesolve.sharing.rate.rate_reach import least_reserves
from musclesolve.sharing.reserve_weight import fallback_weight
from musclesolve.sharing.solution import Solution
from musclesolve.sharing.solution_arrays import SolutionArrays
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
            between two frames; zero where the limit is not met, NaN without answer and for "frame_by_frame".
        rising_multiplier: (T-1, n) the same for rising.
        shortage: (T, m) [N m] for a motion out of reach the reserves of least sum with which it would be within reach;
            NaN where that was not asked.
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
    """The cheapest activations of a whole motion that change no faster than activation dynamics allows.

    Args:
        problem: T frames; no upper bound above 1, where excitation ends. Frames that are not finite are left out, and
            the limits hold across them.
        time: (T,) [s], rising.
        cost: a name or a Cost, smooth and convex; its sum over the frames is minimised.
        limits: the time constants; 10 and 40 ms unless given.
        method: "together": all frames as one convex problem, which foresees what is coming. "frame_by_frame": each
            frame within what the frame before leaves it; not optimal, and it may end in frames out of reach. A frame
            whose bounds end before them is INFEASIBLE, with reserves as well; the next one follows the last one solved.
        solver: for single frames.
        on_infeasible: "report": a motion out of reach has no answer; where that is proved, every frame is INFEASIBLE.
            "reserve": it is solved with reserves, weighted so that 1 N m costs a tenth of all muscles at full
            activation in the frames of `shortage`, and ten thousand times as much in the others.

    Raises:
        InputError: times or limits that do not fit, an upper bound above 1, a cost that is not smooth and convex, an
            unknown method, or what `solve` refuses.
    """
    chosen, limits = _suitable(problem, cost), RateLimits() if limits is None else limits
    if not isinstance(limits, RateLimits):
        raise InputError(
            f"limits is {limits!r}",
            where="limits",
            expected="a RateLimits, for instance RateLimits(0.010, 0.040)",
        )
    check_choice(method, "the method", METHODS, where="method")
    check_choice(on_infeasible, "on_infeasible", ON_INFEASIBLE)
    instant = _times(problem, time)
    if method == "frame_by_frame" and problem.n_frames:
        return _frame_by_frame(problem, instant, chosen, limits, solver, on_infeasible)
    single = solve(problem, chosen, solver)
    problem = within_domain(problem, chosen)
    usable = problem.valid & ~np.any(problem.lower > problem.upper, axis=1)
    if not usable.any():
        return _answer(single, limits, problem, method)
    part, coupling = problem.frames(usable), Coupling.of(limits, instant[usable])
    motion = _Motion(part, coupling, chosen)
    found = _kept(motion, _part(single, usable), limits, instant[usable])
    if found is None:
        found = motion.exact(bool(np.isin(single.status[usable], Status.INFEASIBLE).any()))
        if on_infeasible == "reserve" and found.status.max() > Status.SOLVED_WITH_RESERVE:
            if part.reserve_weight is None:
                found = motion.with_reserves(found.shortage)
    return _enter(single, problem, found, usable, limits, chosen)


@dataclass(frozen=True, eq=False)
class _Found:
    """An answer for the frames that are numbers."""

    activation: Array
    reserve: Array
    multiplier: Array
    price: Array
    residual: Array
    status: NDArray[np.int8]
    iterations: int
    weight: Array
    shortage: Array
    direction: Array


@dataclass(frozen=True, eq=False)
class _Motion:
    problem: Problem
    coupling: Coupling
    cost: Cost

    def exact(self, hopeless: bool) -> _Found:
        """With the reserves of the problem, if it has any; a motion that is hopeless is not tried before the proof."""
        weight = self.problem.reserve_weight
        if weight is not None:
            return self._attempt(weight, weight.max(axis=1))
        found = None if hopeless else self._attempt(np.full_like(self.problem.moment, np.inf), None)
        if found is not None and (found.status == Status.SOLVED).all():
            return found
        reach = least_reserves(self.problem, self.coupling)
        if reach.proved:
            return self._nothing(Status.INFEASIBLE, reach.shortage, reach.direction)
        if found is None:
            found = self._attempt(np.full_like(self.problem.moment, np.inf), None)
        return found

    def with_reserves(self, shortage: Array) -> _Found:
        """Soft where the muscles lack something, stiff elsewhere."""
        lacking = needs_reserve(np.nan_to_num(shortage), self.problem.moment).any(axis=1)
        soft = RESERVE * fallback_weight(self.problem, self.cost)
        weight = soft * np.where(lacking, 1.0, STIFF)[:, None]
        return replace(self._attempt(weight, soft.max(axis=1)), shortage=shortage)

    def certified(
        self, activation: Array, multiplier: Array, price: Array, weight: Array, count: int
    ) -> _Found:
        compliance = 1.0 / weight
        reserve = compliance * multiplier
        given = (self.problem, self.coupling, self.cost, activation, reserve, multiplier, price, compliance)
        residual = coupled_residual(*given)
        good = bool((residual <= TOLERANCE).all())
        status = np.full(len(residual), Status.SOLVED if good else Status.SOLVER_FAILED, np.int8)
        helped = needs_reserve(reserve, self.problem.moment).any(axis=1)
        status[good & helped] = Status.SOLVED_WITH_RESERVE
        blank = np.full_like(multiplier, np.nan)
        values = (activation, reserve, multiplier, price)
        if not good:
            values = tuple(np.full_like(x, np.nan) for x in values)  # type: ignore[assignment]
        return _Found(*values, residual, status, count, weight, blank, blank)

    def _attempt(self, weight: Array, price: Array | None) -> _Found:
        attempt = solve_coupled(self.problem, self.coupling, self.cost, 1.0 / weight, price)
        return self.certified(
            attempt.activation, attempt.multiplier, attempt.price, weight, attempt.iterations
        )

    def _nothing(self, status: Status, shortage: Array, direction: Array) -> _Found:
        frames, dofs, muscles = self.problem.moment_arm.shape
        row = np.full((frames, dofs), np.nan)
        price = np.full((2, frames - 1, muscles), np.nan)
        activation, verdict = np.full((frames, muscles), np.nan), np.full(frames, status, np.int8)
        weight = np.full_like(row, np.inf)
        return _Found(
            activation, row, row, price, np.full(frames, np.nan), verdict, 0, weight, shortage, direction
        )


def _kept(motion: _Motion, single: Solution, limits: RateLimits, time: Array) -> _Found | None:
    """The answer for single frames, where it keeps the limits by itself."""
    if not single.solved.all() or (limits.excess(single.activation, time) > KEPT).any():
        return None
    frames, _, muscles = motion.problem.moment_arm.shape
    price = np.zeros((2, frames - 1, muscles))
    weight = motion.problem.reserve_weight
    weight = np.full_like(motion.problem.moment, np.inf) if weight is None else weight
    count = int(single.iterations.max())
    found = motion.certified(single.activation, single.multiplier, price, weight, count)
    return found if (found.residual <= TOLERANCE).all() else None


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
    return _answer(found.to_solution(cost, chosen), limits, problem, "frame_by_frame")


def _within_reach(frame: Problem, low: Array, high: Array) -> Problem:
    """A frame within what the frame before leaves it; where that ends outside its own bounds it has no room at all."""
    lower, upper = np.maximum(frame.lower, low), np.minimum(frame.upper, high)
    touching = (lower > upper) & (lower <= upper + TOLERANCE)
    lower = np.where(touching, np.minimum(lower, frame.upper), lower)
    return frame._changed(lower=lower, upper=np.where(touching, lower, upper))


def _answer(
    solution: Solution, limits: RateLimits, problem: Problem, method: str = "together"
) -> RateLimited:
    blank = np.full((max(problem.n_frames - 1, 0), problem.n_muscles), np.nan)
    return RateLimited(solution, limits, blank, blank, np.full_like(problem.moment, np.nan), method)


def _enter(
    single: Solution,
    problem: Problem,
    found: _Found,
    usable: Mask,
    limits: RateLimits,
    cost: Cost,
) -> RateLimited:
    """The answer for the frames that are numbers, among the others."""
    solution = _entered(single, problem, found, usable, _values(problem.frames(usable), found, cost))
    fall, rise = (_between(price, usable) for price in found.price)
    return RateLimited(solution, limits, fall, rise, _among(found.shortage, usable), "together")


def _entered(single: Solution, problem: Problem, found: _Found, usable: Mask, value: Array) -> Solution:
    """The answer for single frames with what was found, and its cost, in place of it."""
    activation, status = _among(found.activation, usable), single.status.copy()
    status[usable] = found.status
    return replace(
        single,
        activation=activation,
        force=activation * problem.force_capacity,
        reserve=_among(found.reserve, usable),
        multiplier=_among(found.multiplier, usable),
        status=status,
        kkt_residual=_among(found.residual, usable),
        cost=_among(value, usable),
        iterations=np.where(usable, found.iterations, 0),
        infeasibility_proof=_among(found.direction, usable),
        reserve_weight=_among(found.weight, usable, np.inf),
        solver="rate_limited",
    )


def _values(problem: Problem, found: _Found, cost: Cost) -> Array:
    """Cost of every frame, NaN without answer."""
    if not np.isfinite(found.activation).all(axis=1).any():
        return np.full(problem.n_frames, np.nan)
    return cost.total_value(problem, found.activation)


def _among(values: Array, usable: Mask, others: float = np.nan) -> Array:
    """Values of the usable frames among all."""
    whole = np.full((len(usable), *values.shape[1:]), others)
    whole[usable] = values
    return whole


def _between(price: Array, usable: Mask) -> Array:
    """Prices between usable frames among those between all; none between two of which one was left out."""
    whole = np.full((len(usable) - 1, price.shape[1]), np.nan)
    numbers = np.flatnonzero(usable)
    near = np.diff(numbers) == 1
    whole[numbers[:-1][near]] = price[near]
    return whole


def _part(solution: Solution, which: Mask) -> Solution:
    arrays: dict[str, Any] = {
        name: x[which] for name, x in vars(solution).items() if isinstance(x, np.ndarray)
    }
    return replace(solution, **arrays)


def _suitable(problem: Problem, cost: str | Cost) -> Cost:
    if check_problem(problem).single_frame:
        raise InputError(
            "the problem is a single frame without a frame axis",
            where="problem",
            expected="the frames of a motion",
        )
    chosen = check_smooth_convex_cost(cost, problem, "shared within rate limits", "cost")
    high = np.argwhere(np.nan_to_num(problem.upper) > 1.0)
    if high.size:
        t, i = (int(index) for index in high[0])
        raise InputError(
            f"upper is {problem.upper[t, i]:g} for {(problem.muscle or ())[i]} in frame {t}",
            where="Problem.upper",
            expected="at most 1: rate limits are those of excitations between 0 and 1",
        )
    return chosen


def _times(problem: Problem, time: ArrayLike) -> Array:
    expected = f"({problem.n_frames},) seconds, each frame later than the one before"
    instant = check_real_array(time, "time", expected)
    if instant.shape != (problem.n_frames,):
        raise InputError(f"the times have the shape {instant.shape}", where="time", expected=expected)
    wrong = np.flatnonzero(~(np.diff(instant) > 0))
    if wrong.size or not np.isfinite(instant).all():
        t = int(wrong[0]) + 1 if wrong.size else 0
        raise InputError(f"the time of frame {t} is {instant[t]:g} s", where="time", expected=expected)
    return instant
