"""Solve a whole motion within rate limits, as one convex problem or frame by frame, and certify it.

The limits G a >= h (sharing/rate_limits.py) are linear constraints between frames. With their multipliers eta >= 0
the pull on the muscles is A^T lambda + G^T eta, and the gap of the motion is the sum of the G of all frames
(sharing/certificate.py) and of eta . (G a - h)^+, over the sum of their W: the whole motion costs at most so much more
than the least possible, relative, and nothing is proved of the cost of a frame alone. Violations of limits are at most
1e-6, and with the cost eta . (h - G a)^+ they count beside missed moments.

Whether a motion can be produced within its limits at all is a linear program: the least total reserve
sum |s_k| / max(1, |b_k|) subject to A a + s = b, the bounds and the limits. Its dual gives a combination y of the
moments and multipliers v >= 0 of the limits. The motion is infeasible (Farkas) if

    y . b  >  max over lower <= a <= upper of (A^T y + G^T v) . a  -  v . h,

which is checked independently of the source of y and v. It is a proof where the margin is above its own round-off.

The motion is solved by the interior point of sharing/solver/linked_frames.py, for every cost of single muscles, with or
without squares of linear combinations.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from musclesolve._util.arrays import Array
from musclesolve._util.checks import check_choice, check_increasing, check_type
from musclesolve._util.messages import with_sizes
from musclesolve.constants import USUAL_COST, USUAL_SOLVER
from musclesolve.errors import input_error
from musclesolve.sharing.arguments import check_problem, check_smooth_cost
from musclesolve.sharing.certificate import (
    Certificate,
    ConstraintParts,
    certify,
    empty_box,
    needs_reserve,
    within_domain,
)
from musclesolve.sharing.cost.cost_base import NEEDS, Cost
from musclesolve.sharing.kernel.constants import AT_EDGE, TOLERANCE, UNIT_ROUNDING, RateBounds
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.problem_arrays import refuse_numbers
from musclesolve.sharing.problem_scale import edge_weight, fallback_weight
from musclesolve.sharing.rate_limits import ActivationLimits, RateLimits
from musclesolve.sharing.solution import Solution, SolutionArrays
from musclesolve.sharing.solver.linked_frames import LinkedAttempt, LinkedFrames, minimize
from musclesolve.sharing.solver.solver_registry import Solver, find_solver
from musclesolve.sharing.solving import ON_INFEASIBLE, solve
from musclesolve.sharing.status import Status

if TYPE_CHECKING:
    from scipy import sparse


METHODS = ("together", "frame_by_frame")
KEPT = 1e-9


@dataclass(frozen=True, eq=False)
class RateLimited:
    """A motion shared within rate limits.

    Attributes:
        solution: of the T frames. For the method "together" `gap` belongs to the whole motion, the same number in every
            frame, and `cost_bound` is NaN; for "frame_by_frame" both belong to each frame within the activations
            reachable from the frame before.
        limits: the time constants.
        falling_multiplier: (T-1, n) how much less the motion would cost if the activation could fall by one unit more
            between two frames; zero where the limit is not met, NaN if not solved and for "frame_by_frame".
        rising_multiplier: (T-1, n) the same for rising.
        shortage: (T, m) [N m] for an infeasible motion the reserves of least sum that would make it feasible; NaN where
            they were not computed.
        method: "together" or "frame_by_frame".
        cost_bound: the least cost of the usable frames together, reserves included, is proved to be no lower; NaN if
            not solved and for "frame_by_frame".
    """

    solution: Solution
    limits: RateLimits
    falling_multiplier: Array
    rising_multiplier: Array
    shortage: Array
    method: str
    cost_bound: float = np.nan

    __repr__ = with_sizes


def solve_rate_limited(
    problem: Problem,
    time: ArrayLike,
    cost: str | Cost = USUAL_COST,
    limits: RateLimits | None = None,
    method: str = "together",
    solver: str | Solver = USUAL_SOLVER,
    on_infeasible: str = "report",
) -> RateLimited:
    """The activations of least cost for a whole motion that change no faster than activation dynamics allows.

    Args:
        problem: T frames; no upper bound above 1, where excitation ends. Frames that are not finite are left out, and
            the limits hold across them.
        time: (T,) [s], increasing.
        cost: a name or a Cost, smooth and convex; its sum over the frames is minimized. "together" takes sums over
            muscles and squares of linear combinations (soft rows), no terms that join muscles otherwise.
        limits: the time constants; 10 and 40 ms unless given.
        method: "together": all frames as one convex problem, which anticipates later frames. "frame_by_frame": each
            frame within its limits from the frame before; not optimal, and it may end in infeasible frames. A frame
            whose bounds are disjoint from those limits is INFEASIBLE, with reserves as well; the next one follows the
            last one solved.
        solver: for single frames.
        on_infeasible: "report": an infeasible motion is not solved; where that is proved, every frame is INFEASIBLE.
            "reserve": it is solved with reserves, weighted so that 1 N m costs a tenth of all muscles at full
            activation in the frames of `shortage`, and ten thousand times as much in the others.

    Raises:
        InputError: times or limits that do not fit, an upper bound above 1, a cost that is not smooth and convex, an
            unknown method, or any fault that `solve` refuses.

    Examples:
        >>> result = ms.run(ms.data.reference_stride())
        >>> limited = ms.trajectory.solve_rate_limited(ms.leg_problem(result, "r"), result["time"].values)
        >>> bool(limited.solution.solved.all())
        True
    """
    check_choice(method, "the method", METHODS, where="method")
    if check_problem(problem).single_frame:
        single = "the problem is a single frame without a frame axis"
        raise input_error("bad_shape", where="problem", problem=single, expected="the frames of a motion")
    chosen = check_smooth_cost(cost, problem, "shared within rate limits", convex=True)
    if method == "together" and "coupled" in chosen.needs:
        raise input_error(
            "bad_cost",
            where="cost",
            problem=f"the cost {chosen.name} cannot be shared together within rate limits: it has {NEEDS['coupled']}",
            expected="a sum over muscles, with or without squares of linear combinations",
            remedy='method="frame_by_frame"',
        )
    beyond, expected = problem.upper > 1.0, "at most 1: rate limits hold for excitations between 0 and 1"
    refuse_numbers(problem.upper, beyond, "upper", problem.muscle or (), expected, "Problem.upper")
    expected = "a RateLimits, for instance RateLimits(0.010, 0.040)"
    limits = RateLimits() if limits is None else check_type(limits, RateLimits, "limits", expected)
    check_choice(on_infeasible, "on_infeasible", ON_INFEASIBLE)
    instant = check_increasing(time, least=0, where="time")
    if len(instant) != problem.n_frames:
        several = f"there are {len(instant)} times"
        raise input_error("bad_shape", where="time", problem=several, expected=f"{problem.n_frames} [s]")
    solved_by, of_frames = _together if method == "together" else _frame_by_frame, find_solver(solver)
    result = solved_by(problem, instant, chosen, limits, of_frames, on_infeasible)
    infeasible = np.flatnonzero(result.solution.status == Status.INFEASIBLE)
    alone = solve(problem.frames(infeasible), chosen, of_frames).solved.sum() if infeasible.size else 0
    if not alone:
        return result
    note = (
        f"{alone} of the {infeasible.size} infeasible frames are possible without rate limits: with the time constants "
        f"{limits.activation_time:g} s and {limits.deactivation_time:g} s activations change too slowly."
    )
    return replace(result, solution=replace(result.solution, notes=(*result.solution.notes, note)))


def _together(
    problem: Problem, time: Array, cost: Cost, limits: RateLimits, solver: Solver, on_infeasible: str
) -> RateLimited:
    """The usable frames as one problem: as single frames if these keep the limits, or exactly, or with reserves."""
    single = solve(problem, cost, solver)
    problem = within_domain(problem, cost)
    usable = problem.valid & ~empty_box(problem)
    if not usable.any():
        return _without_multipliers(single, limits, problem, "together")
    numbers = np.flatnonzero(usable)
    motion = CoupledMotion.from_problem(problem.frames(numbers), time[numbers], cost, limits)
    activation, steps, best = single.activation[numbers], int(single.iterations[numbers].max()), None
    if single.solved[numbers].all() and (limits.excess(activation, time[numbers]) <= KEPT).all():
        best = motion.without_limits(activation, single.multiplier[numbers], steps)
    if best is None or not best.arrays.solved.all():
        best = motion.exact(bool((single.status[numbers] == Status.INFEASIBLE).any()))
        if on_infeasible == "reserve" and not best.arrays.solved.all() and problem.reserve_weight is None:
            best = motion.with_reserves(best.shortage)
    arrays = SolutionArrays.empty(problem)
    arrays.status[:], arrays.reserve_weight[:] = single.status, np.inf
    arrays.store(usable, best.arrays)
    solution = replace(single, **vars(arrays), solver="rate_limited")
    result = _without_multipliers(solution, limits, problem, "together")
    result.shortage[usable] = best.shortage
    near = np.flatnonzero(np.diff(numbers) == 1)  # NaN between two frames of which one was left out
    result.falling_multiplier[numbers[near]], result.rising_multiplier[numbers[near]] = best.limit_multiplier[
        :, near
    ]
    return replace(result, cost_bound=best.cost_bound)


def _frame_by_frame(
    problem: Problem, time: Array, cost: Cost, limits: RateLimits, solver: Solver, on_infeasible: str
) -> RateLimited:
    """Each frame within its limits from the frame before; no room at all where that ends outside its bounds."""
    allow_reserve = on_infeasible == "reserve"
    arrays, before, since = SolutionArrays.empty(problem), np.zeros(problem.n_muscles), np.array([np.nan])
    rate = RateBounds(time, float(limits.activation_time), float(limits.deactivation_time), before, since)
    sequence = getattr(solver, "sequence", None)
    run = None if sequence is None else sequence(problem, cost, rate, allow_reserve)
    t = 0
    while t < problem.n_frames:
        if run is not None:
            t = run(t, arrays)
            if t == problem.n_frames:
                break
        frame = problem.frames(np.array([t]))
        if np.isfinite(since[0]):
            low, high = limits.reach(before, time[t] - since[0])
            lower, upper = np.maximum(frame.lower, low), np.minimum(frame.upper, high)
            touching = (lower > upper) & (lower <= upper + TOLERANCE)
            lower = np.where(touching, np.minimum(lower, frame.upper), lower)
            frame = frame.with_arrays(lower=lower, upper=np.where(touching, lower, upper))
        part = solve(frame, cost, solver, on_infeasible)
        arrays.store(np.arange(problem.n_frames) == t, SolutionArrays.from_solution(part))
        if part.solved[0]:
            before[:], since[0] = part.activation[0], time[t]
        t += 1
    return _without_multipliers(arrays.to_solution(cost, solver, problem), limits, problem, "frame_by_frame")


def _without_multipliers(
    solution: Solution, limits: RateLimits, problem: Problem, method: str
) -> RateLimited:
    fall, rise = np.full((2, max(problem.n_frames - 1, 0), problem.n_muscles), np.nan)
    return RateLimited(solution, limits, fall, rise, np.full_like(problem.moment, np.nan), method)


@dataclass(frozen=True, eq=False)
class MotionCertifier:
    """Certifies attempts by activations, multipliers of moments and of limits alone; the problem has its reserves."""

    problem: Problem
    limits: ActivationLimits
    cost: Cost

    def certificate(self, attempt: LinkedAttempt) -> Certificate:
        """The certificate of the motion, the same gap in every frame."""
        return self.of_frames(attempt).joined()

    def of_frames(self, attempt: LinkedAttempt) -> Certificate:
        """The parts of the certificate by frame; a limit between two frames counts in the first one."""
        multiplier = attempt.multiplier[:, : self.problem.n_dof]
        reserve = multiplier * _compliance(self.problem)
        eta = np.maximum(attempt.limit_multiplier, 0.0)
        slack = self.limits.slack(attempt.activation)
        room, beyond = np.maximum(slack, 0.0), np.maximum(-slack, 0.0)
        worst = beyond.max(axis=(0, 2), initial=0.0)
        parts = ConstraintParts(
            pull=self.limits.pull(eta),
            slope=0.0,
            size=self.limits.size_of_pull(eta),
            excess=np.append((eta * room).sum(axis=(0, 2)), 0.0),
            miss_cost=np.append((eta * beyond).sum(axis=(0, 2)), 0.0),
            miss=np.maximum(np.append(worst, 0.0), np.append(0.0, worst)),
        )
        return certify(
            self.problem, self.cost, attempt.activation, reserve, multiplier, constraint_parts=parts
        )


def _compliance(problem: Problem) -> Array:
    """One over the weights of reserves, (T, m); zero without a reserve."""
    return 1.0 / np.broadcast_to(
        np.inf if problem.reserve_weight is None else problem.reserve_weight, problem.moment.shape
    )


RESERVE = 1e-3
STIFF = 1e4
START_SHARE = 0.3  # start of activations, as a share of the distance from lower to upper bound


def solve_coupled(
    problem: Problem, limits: ActivationLimits, cost: Cost, reserve_weight: Array
) -> LinkedAttempt:
    """The activations of least total cost; weights (T, m) are infinite without reserves.

    The attempt has the multipliers of the moments, not of soft rows.
    """
    certifier = MotionCertifier(problem.with_arrays(reserve_weight=reserve_weight), limits, cost)
    linked = LinkedFrames.from_problem(problem, cost, reserve_weight, limits)
    first = problem.lower + START_SHARE * (problem.upper - problem.lower)
    attempt = minimize(linked, certifier.certificate, first)
    return replace(attempt, multiplier=attempt.multiplier[:, : problem.n_dof])


@dataclass(frozen=True, eq=False)
class CoupledResult:
    """The result for the usable frames: limit multipliers (2, T-1, n), of falling and of rising, shortage (T, m).

    cost_bound: proved lower bound of the least cost of all frames together.
    """

    arrays: SolutionArrays
    limit_multiplier: Array
    shortage: Array
    cost_bound: float = np.nan


@dataclass(frozen=True, eq=False)
class CoupledMotion:
    """Frames of a motion with their limits."""

    problem: Problem
    limits: ActivationLimits
    cost: Cost

    @classmethod
    def from_problem(cls, problem: Problem, time: Array, cost: Cost, limits: RateLimits) -> CoupledMotion:
        """The frames of a problem at times (T,) [s]."""
        return cls(problem, ActivationLimits.from_rate_limits(limits, time), cost)

    def exact(self, infeasible_frames: bool) -> CoupledResult:
        """The result with the reserves of the problem, if any; for single infeasible frames with a proof first.

        A motion at the edge of reach, or with moments that repeat others, is solved as in solving.py: with reserves so
        stiff that the certificate holds without them.
        """
        weight = self.problem.reserve_weight
        if weight is not None:
            return self._solved(weight)
        none = np.full_like(self.problem.moment, np.inf)
        result = None if infeasible_frames else self._solved(none)
        if result is not None and result.arrays.solved.all():
            return result
        shortage, direction, proved = least_reserves(self.problem, self.limits)
        if proved:
            result = self._unsolved(Status.INFEASIBLE, shortage)
            result.arrays.infeasibility_proof[:] = direction
            return result
        result = self._solved(none) if result is None else result
        for stiff in AT_EDGE:
            if not result.arrays.solved.all():
                weight = edge_weight(self.problem, self.cost, stiff)
                result = self._certified(solve_coupled(self.problem, self.limits, self.cost, weight), none)
        return result

    def with_reserves(self, shortage: Array) -> CoupledResult:
        """The result with soft reserves where the muscles lack moments (T, m) [N m], and stiff ones elsewhere."""
        lacking = needs_reserve(np.nan_to_num(shortage), self.problem.moment).any(axis=1)
        soft = RESERVE * fallback_weight(self.problem, self.cost)
        weight = soft * np.where(lacking, 1.0, STIFF)[:, None]
        return replace(self._solved(weight), shortage=shortage)

    def without_limits(self, activation: Array, multiplier: Array, iterations: int) -> CoupledResult:
        """The result from activations (T, n) and multipliers (T, m) of single frames, certified with the limits."""
        weight, free = self.problem.reserve_weight, np.zeros((2, *activation[1:].shape))
        attempt = LinkedAttempt(activation, multiplier, free, iterations)
        return self._certified(
            attempt, np.full_like(self.problem.moment, np.inf) if weight is None else weight
        )

    def _solved(self, weight: Array) -> CoupledResult:
        return self._certified(solve_coupled(self.problem, self.limits, self.cost, weight), weight)

    def _certified(self, attempt: LinkedAttempt, weight: Array) -> CoupledResult:
        """The result with weights of reserves (T, m); solved if the certificate of every frame holds."""
        problem = self.problem.with_arrays(reserve_weight=weight)
        of_frames = MotionCertifier(problem, self.limits, self.cost).of_frames(attempt)
        certificate = of_frames.joined()
        result = self._unsolved(Status.SOLVER_FAILED, np.full_like(problem.moment, np.nan))
        arrays, activation = result.arrays, attempt.activation
        arrays.gap[:], arrays.moment_error[:] = certificate.gap, certificate.moment_error
        arrays.reserve_weight = weight
        arrays.iterations.fill(attempt.iterations)
        if not certificate.holds.all():
            return result
        arrays.activation, arrays.multiplier = activation, attempt.multiplier
        arrays.reserve = attempt.multiplier * _compliance(problem)
        helped = needs_reserve(arrays.reserve, problem.moment).any(axis=1)
        arrays.status = np.where(helped, Status.SOLVED_WITH_RESERVE, Status.SOLVED).astype(np.int8)
        arrays.force = activation * problem.force_capacity
        arrays.cost = self.cost.value(problem, activation)
        bound = float(of_frames.cost_bound.sum())
        return replace(result, limit_multiplier=attempt.limit_multiplier, cost_bound=bound)

    def _unsolved(self, status: Status, shortage: Array) -> CoupledResult:
        arrays = SolutionArrays.empty(self.problem)
        arrays.status.fill(status)
        frames, muscles = arrays.activation.shape
        return CoupledResult(arrays, np.full((2, frames - 1, muscles), np.nan), shortage)


def least_reserves(problem: Problem, limits: ActivationLimits) -> tuple[Array, Array, bool]:
    """The least reserves with which a motion can be produced within its limits.

    Returns:
        Moments (T, m) [N m] that the muscles cannot produce, signed like the moments, zero where they can and NaN where
        the program was not solved; y (T, m); whether y and v prove that the motion is out of reach.
    """
    from scipy import sparse
    from scipy.optimize import linprog

    frames, dofs, muscles = problem.moment_arm.shape
    scale = np.maximum(1.0, np.abs(problem.moment))
    moments = sparse.block_diag(list(problem.moment_matrix / scale[:, :, None]), format="csr")
    one = sparse.identity(frames * dofs, format="csr")
    rows = limit_rows(limits, (frames, muscles))
    nothing = sparse.csr_matrix((rows.shape[0], 2 * frames * dofs))
    program = linprog(
        np.append(np.zeros(frames * muscles), np.ones(2 * frames * dofs)),
        A_ub=-sparse.hstack([rows, nothing], format="csr"),
        b_ub=limits.slack(np.zeros((frames, muscles))).reshape(-1),
        A_eq=sparse.hstack([moments, one, -one], format="csr"),
        b_eq=(problem.moment / scale).reshape(-1),
        bounds=np.concatenate(
            [
                np.stack([problem.lower.reshape(-1), problem.upper.reshape(-1)], axis=1),
                np.tile([0.0, np.inf], (2 * frames * dofs, 1)),
            ]
        ),
        method="highs",
    )
    if program.status != 0:
        lost = np.full_like(problem.moment, np.nan)
        return lost, lost, False
    more, less = program.x[frames * muscles :].reshape(2, frames, dofs)
    direction = program.eqlin.marginals.reshape(frames, dofs) / scale
    limit_multiplier = np.maximum(-program.ineqlin.marginals, 0.0).reshape(2, frames - 1, muscles)
    return (more - less) * scale, direction, farkas_margin(problem, limits, direction, limit_multiplier) > 0.0


def farkas_margin(
    problem: Problem, limits: ActivationLimits, direction: Array, limit_multiplier: Array
) -> float:
    """The Farkas margin of a motion less its round-off; above zero it proves that the motion is infeasible.

    The direction is y, (T, m), the limit multiplier v, (2, T-1, n), never negative; reserves are ignored.
    """
    pull = problem.pull(direction) + limits.pull(limit_multiplier)
    largest = np.maximum(np.abs(problem.lower), np.abs(problem.upper))
    room = limits.slack(np.zeros_like(problem.lower))
    sizes = np.abs(direction)
    terms = (
        direction * problem.moment,
        -np.maximum(problem.lower * pull, problem.upper * pull),
        -limit_multiplier * room,
    )
    size_of_pull = np.einsum("tm,tmn->tn", sizes, np.abs(problem.moment_matrix))
    size_of_pull += limits.size_of_pull(limit_multiplier)
    size = (sizes * np.abs(problem.moment)).sum() + (size_of_pull * largest).sum()
    size += (limit_multiplier * np.abs(room)).sum()
    count = problem.n_dof + 7.0 + sum(term.size for term in terms)
    return float(sum(term.sum() for term in terms) - count * UNIT_ROUNDING * size)


def limit_rows(limits: ActivationLimits, shape: tuple[int, int]) -> sparse.csr_matrix:
    """The limits of (T, n) activations as a sparse matrix G, (2 (T-1) n, T n)."""
    from scipy import sparse

    frames, muscles = shape
    one = np.ones((frames - 1, 1))
    pairs = (-limits.e_d, one), (limits.e_a, -one)
    columns = ([present[:, 0], after[:, 0]] for present, after in pairs)
    rows = [sparse.diags(pair, [0, 1], shape=(frames - 1, frames)) for pair in columns]
    return sparse.kron(sparse.vstack(rows), sparse.identity(muscles), format="csr")
