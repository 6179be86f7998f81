"""A primal-dual interior-point method for many small problems at once, for any separable cost.

kernel/compiled_interior_point.py derives the method, and compiles it for costs described as data, with the same
constants. This module solves costs that are Python functions, and frames that compiled code leaves unresolved.

omega_i is the muscle's own scale of marginal cost: muscles whose costs differ by many orders of magnitude then reach
their bounds in the same iterations. Soft rows 1/2 sum_k w_k (t_k - (G a)_k)^2 of the cost are further rows of A with a
compliance 1/w_k of their own, like moments with reserves; their lambda is w (t - G a). D is positive even where f'' is
zero, because of the barrier terms. A frame leaves as soon as its certificate holds, or as soon as its own lambda proves
that the moments are out of reach.

Mehrotra's pair of predictor and corrector serves any Newton system of a program. Each bound of a program has a distance
x > 0 from it and a multiplier k > 0. On the path to the optimum their products are

    x_i k_i = sigma omega_i,      sigma -> 0,

with a scale omega_i for each muscle. A Newton step toward products sigma omega gives, where dx is the change of the
distance with the step of the unknowns,

    dk = push - k - (k / x) dx,      push = sigma omega / x,

so that a program only has to supply its Newton step for given pushes. The predictor, push = 0, shows to
which value, `then`, the mean product `now` would fall in the longest possible step t. The corrector includes the
second-order term of the predictor up to this step; without this limit the method may cycle:

    sigma = (then / now)^3 now,       push = (sigma omega - t^2 dx dk) / x.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from musclesolve._util.arrays import Array, Mask
from musclesolve.sharing.certificate import farkas_ratio
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.cost.named.muscle_sums import ActivationPower
from musclesolve.sharing.cost.sum_of_terms import SumOfTerms
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.problem_scale import load, slope_size
from musclesolve.sharing.solver.solver_registry import Attempt
from musclesolve.sharing.status import Status

from musclesolve.sharing.kernel.constants import (  # isort: skip
    DIVERGED, EMPTY_PIVOT, EMPTY_ROW, END_WEIGHTS, FIRST, FIRST_MU, LEAST_OMEGA, LONG, NO_ROOM, NOTHING_MISSING,
    OF_LOWER, PATIENCE, PATIENT_END_WEIGHTS, RIDGE, TOLERANCE, TO_BOUNDARY, TO_BOUNDARY_LATER,
)  # fmt: skip

Changes = Sequence[tuple[Array, Array]]
"""(dx, dk) of each barrier."""


class Barrier(NamedTuple):
    """The bounds of one kind: distances x > 0 from them and multipliers k > 0, of any shape."""

    x: Array
    k: Array

    def change(self, dx: Array, push: Array | float) -> tuple[Array, Array]:
        """Changes dx of the distances and dk of the multipliers for a push."""
        return dx, push - self.k - self.k / self.x * dx

    def select(self, which: Mask) -> "Barrier":
        """Select the bounds of some rows, where every row is a program by itself."""
        return Barrier(self.x[which], self.k[which])


def mehrotra_step(
    barriers: Sequence[Barrier],
    direction: Callable[..., tuple[Any, Changes]],
    omega: Array,
    share: float,
    least: float = 0.0,
    free: Array | float = 1.0,
    axis: int | None = None,
) -> tuple[Any, tuple[Barrier, ...], Any, Any]:
    """Take one step of at most a share of the distance to the nearest bound.

    Args:
        barriers: of all bounds.
        direction: the Newton step of the program for one push for each barrier: a move of its unknowns, of any
            type, and the changes (dx, dk) of each barrier.
        omega: scales of the products, broadcast to each barrier.
        share: largest step, as a share of the distance to the nearest bound.
        least: the least sigma.
        free: 1 where a muscle may move, else 0, broadcast to each barrier; products of fixed muscles do not count.
        axis: 1 where every row of arrays (T, n) is a program by itself, of which length and sigma are (T, 1); None
            for one program.

    Returns:
        The move of the program by the corrector, the barriers after it, its length and sigma.
    """
    apart = axis is not None
    weight = free / omega
    count = sum(np.broadcast_to(free, barrier.x.shape).sum(axis=axis, keepdims=apart) for barrier in barriers)

    def longest(changes: Changes, share: float) -> Any:
        shares = [
            (change / size).min(axis=axis, keepdims=apart, initial=-share)
            for barrier, changed in zip(barriers, changes, strict=True)
            for size, change in zip(barrier, changed, strict=True)
        ]
        return -share / np.minimum.reduce(shares)

    def mean_product(pairs: Sequence[tuple[Array, Array]]) -> Any:
        sums = ((x * k * weight).sum(axis=axis, keepdims=apart) for x, k in pairs)
        return sum(sums) / np.maximum(count, 1.0)

    def moved(t: Any, changes: Changes) -> tuple[Barrier, ...]:
        pairs = zip(barriers, changes, strict=True)
        return tuple(Barrier(x + t * dx, k + t * dk) for (x, k), (dx, dk) in pairs)

    _, guess = direction(*(0.0 for _ in barriers))
    reach = longest(guess, 1.0)
    now, then = mean_product(barriers), mean_product(moved(reach, guess))
    sigma = np.maximum((then / np.maximum(now, 1e-300)) ** 3 * now, least)
    target, bent = sigma * omega, np.square(reach)
    pairs = zip(barriers, guess, strict=True)
    move, changes = direction(*((target - bent * dx * dk) / x for (x, _), (dx, dk) in pairs))
    length = longest(changes, share)
    return move, moved(length, changes), length, sigma


@dataclass
class _Frames:
    """The frames that are not finished; the first axis of every array."""

    number: NDArray[np.int64]
    matrix: Array  # A and below it the soft rows, (T, m + k, n)
    target: Array  # b and the targets of the soft rows, (T, m + k)
    compliance: Array  # C, (T, m + k)
    row_curvature: Array  # second derivatives of the soft rows by each activation, (T, n)
    free: Array  # 1 where the activation may move, else 0, (T, n)
    at_lower: Array  # sizes of the marginal costs at the lower bounds, zero where not finite, (T, n)
    omega: Array  # (T, n)
    a: Array  # (T, n)
    multiplier: Array  # (T, m + k)
    low: Barrier  # a - lower and z_l, (T, n)
    high: Barrier  # upper - a and z_u

    def select(self, which: Mask) -> "_Frames":
        arrays: dict[str, Any] = {
            name: part[which] for name, part in vars(self).items() if name not in ("low", "high")
        }
        return _Frames(**arrays, low=self.low.select(which), high=self.high.select(which))

    def short(self) -> Array:
        """The residual b - A a - C lambda of the moments and soft rows, (T, m + k)."""
        return self.target - _product(self.matrix, self.a) - self.compliance * self.multiplier


@dataclass(frozen=True)
class FramesInteriorPoint:
    """The iteration on one block of frames."""

    tolerance: (
        float  # ten times the gap, and miss of the moments, of a finished frame; more after 40 iterations
    )
    max_iterations: int  # after which a frame ends as MAX_ITERATIONS
    seek_proof: bool  # also end a frame with a proof of infeasibility, or with negligible reserves

    def solve(self, problem: Problem, cost: Cost, multiplier: Array | None = None) -> Attempt:
        """Minimize; bounds are within the domain of the cost and lower <= upper everywhere.

        The multiplier (T, m) is a guess that gives the right order of magnitude. The best iterate of every frame is
        kept, because the last digits of an interior-point method vary.
        """
        guess = np.zeros_like(problem.moment) if multiplier is None else multiplier
        best, least = Attempt.blank(problem), np.full(problem.n_frames, np.inf)
        hard, here = problem.n_dof, problem
        # a frame that breaks down becomes NaN and leaves, so that it does not disturb the others
        with np.errstate(all="ignore"):
            x = _start(problem, cost, guess)
            for iteration in range(self.max_iterations + 1):
                miss, claim = self._examine(here, cost, x, iteration)
                better = (miss < least[x.number]) | (claim == Status.INFEASIBLE) | (iteration == 0)
                least[x.number] = np.fmin(miss, least[x.number])
                where, multiplier = x.number[better], x.multiplier[better, :hard]
                below, above = x.low.x[better], x.high.x[better]  # exact where the activation is rounded
                nearer = np.where(below < above, here.lower[better] + below, here.upper[better] - above)
                best.activation[where] = np.where(x.free[better] > 0.0, nearer, x.a[better])
                best.multiplier[where] = multiplier
                best.reserve[where] = x.compliance[better, :hard] * multiplier
                best.iterations[x.number], best.claim[x.number] = iteration, claim
                going = claim == Status.MAX_ITERATIONS
                if not going.any() or iteration == self.max_iterations:
                    break
                if not going.all():
                    x, here = x.select(going), here.frames(going)
                # in a frame that takes long, muscles have hit their bounds too early: keep them further off
                _step(here, cost, x, TO_BOUNDARY if iteration < LONG else TO_BOUNDARY_LATER)
        np.clip(best.activation, problem.lower, problem.upper, out=best.activation)
        return self._where_nothing_costs(problem, cost, best)

    def _where_nothing_costs(self, problem: Problem, cost: Cost, best: Attempt) -> Attempt:
        """Solve failed frames of a flat cost by squared activations: whatever carries the moments costs the least."""
        failed = (best.claim != Status.SOLVED) & (best.claim != Status.INFEASIBLE)
        if not failed.any() or problem.reserve_weight is not None or isinstance(cost, ActivationPower):
            return best
        with np.errstate(all="ignore"):
            failed &= (cost.term_gradient(problem, best.activation) == 0.0).all(axis=1)
        if not failed.any() or cost.soft_rows(problem) is not None:
            return best
        part = problem.frames(failed)
        carried = self.solve(part, ActivationPower())
        flat = (cost.term_gradient(part, carried.activation) == 0.0).all(axis=1)
        flat &= carried.claim == Status.SOLVED
        frames = np.flatnonzero(failed)[flat]
        best.activation[frames], best.claim[frames] = carried.activation[flat], Status.SOLVED
        best.multiplier[frames] = best.reserve[frames] = 0.0
        return best

    def _examine(
        self, problem: Problem, cost: Cost, x: _Frames, iteration: int
    ) -> tuple[Array, NDArray[np.int8]]:
        """The certificate where the moments are nearly met, else infinity, and the claims, (T,) each."""
        hard = problem.n_dof
        compliance, pull = x.compliance[:, :hard], _pull(x.matrix[:, :hard], x.multiplier[:, :hard])
        scale = np.maximum(1.0, np.abs(problem.moment))
        miss = (np.abs(x.short()[:, :hard]) / scale).max(axis=1)
        claim, broken = np.full(len(miss), Status.MAX_ITERATIONS, np.int8), ~np.isfinite(miss)
        exact = (compliance == 0).all(axis=1)
        near = miss <= 1e3 * self.tolerance  # the costly part only for frames near the end
        if near.any():
            slope = cost.term_gradient(problem, x.a)
            if x.matrix.shape[1] > hard:
                soft, compliance_of_soft = x.matrix[:, hard:], x.compliance[:, hard:]
                slope = slope - _pull(soft, (x.target[:, hard:] - _product(soft, x.a)) / compliance_of_soft)
            carried = exact
            # no activation costs anything, and muscles alone carry the moments: the exact multipliers are zero
            if not isinstance(cost, NoCost):  # the multipliers of this one are the proof of infeasibility
                lacking = np.abs(x.short() + x.compliance * x.multiplier)[:, :hard] / scale
                carried = exact | (lacking.max(axis=1) <= self.tolerance)
            free_of_charge = (slope == 0).all(axis=1) & near & carried
            x.multiplier[free_of_charge, :hard] = pull[free_of_charge] = 0.0
            # the duality gap of the linearized cost, and the cost of missed moments, in its unit (certificate.py)
            excess = (slope - pull) * x.free
            room = np.where(excess > 0.0, x.low.x, -x.high.x)
            gap, unit = (excess * room).sum(axis=1), (np.abs(slope) * x.a * x.free).sum(axis=1)
            unit = np.maximum(unit, OF_LOWER * (x.at_lower * x.a).sum(axis=1))
            if isinstance(cost, NoCost):  # the squares of the reserves are the cost
                unit = unit + (compliance * np.square(x.multiplier[:, :hard])).sum(axis=1)
            short, worth = x.short()[:, :hard], x.multiplier[:, :hard] * x.short()[:, :hard]
            counts = compliance * np.abs(x.multiplier[:, :hard]) > TOLERANCE * scale
            met = np.where(counts, 0.5 * np.square(short) / compliance, np.inf)
            by_reserve = met < np.abs(worth)
            gap = gap + np.where(by_reserve, met, 0.0).sum(axis=1)
            miss_cost = np.abs(np.where(by_reserve, 0.0, worth).sum(axis=1))
            of_gap, of_misses = END_WEIGHTS if iteration < PATIENCE else PATIENT_END_WEIGHTS
            level = np.maximum(of_gap * gap, of_misses * miss_cost)
            miss = np.maximum(miss, np.where(level > 0.0, level / unit, level))
            enough = self.tolerance if iteration < PATIENCE else 10.0 * self.tolerance
            claim[near & (miss <= enough)] = Status.SOLVED
        claim[broken | np.isnan(miss)] = Status.SOLVER_FAILED
        diverged = exact & (np.abs(pull * x.free).max(axis=1) > DIVERGED * x.omega.max(axis=1))
        claim[diverged & (claim != Status.SOLVED)] = Status.SOLVER_FAILED
        if self.seek_proof:
            margin = farkas_ratio(problem, x.multiplier[:, :hard], pull)
            claim[(margin > TOLERANCE) & (claim != Status.SOLVED)] = Status.INFEASIBLE
            if problem.reserve_weight is not None:
                missing = (np.abs(x.compliance * x.multiplier) / scale).max(axis=1)
                claim[near & (missing <= NOTHING_MISSING)] = Status.SOLVED
        return np.where(near, miss, np.inf), claim


def _start(problem: Problem, cost: Cost, guess: Array) -> _Frames:
    """The start: activations according to the load, products of distances and multipliers FIRST_MU omega."""
    lower, upper, hard = problem.lower, problem.upper, problem.n_dof
    free = (upper - lower > NO_ROOM).astype(np.float64)
    share = load(problem)
    first, width = np.clip(share, *FIRST)[:, None], np.where(free > 0, upper - lower, 1.0)
    a = np.where(free > 0, lower + first * width, lower)
    # moments and below them the soft rows
    weight, rows = problem.reserve_weight, cost.soft_rows(problem)
    matrix, target, curvature = problem.moment_matrix, problem.moment, np.zeros_like(lower)
    compliance = np.zeros_like(target) if weight is None else 1.0 / weight
    if rows is not None:
        matrix = np.concatenate([matrix, rows.matrix], axis=1)
        target = np.concatenate([target, rows.target], axis=1)
        compliance = np.concatenate([compliance, 1.0 / rows.weight], axis=1)
        curvature = rows.hessian_diagonal()
    soft_guess = (target - _product(matrix, a))[:, hard:] / compliance[:, hard:]
    guess = np.concatenate([guess, soft_guess], axis=1)
    pull = _pull(matrix, guess)
    # omega: the scale of the muscle's own marginal cost, or of A^T lambda for a typical multiplier: for a muscle that
    # is almost powerless in this frame the two differ by orders of magnitude
    arms = np.abs(problem.moment_matrix).max(axis=1)
    scale = slope_size(problem, cost, share, curvature)
    total, strength = (scale * free).sum(axis=1, keepdims=True), (arms * free).sum(axis=1, keepdims=True)
    moment = np.maximum(1.0, np.abs(problem.moment)).max(axis=1, keepdims=True)
    typical = np.divide(total, strength, out=moment, where=(total > 0) & (strength > 0))
    scale = np.maximum(np.maximum(scale, typical * arms), np.abs(pull))
    largest = scale.max(axis=1, keepdims=True)
    omega = np.maximum(scale, LEAST_OMEGA * np.where(largest > 0, largest, 1.0))
    slope = (cost.term_gradient(problem, a) - pull) * free * np.any(guess != 0, axis=1, keepdims=True)
    below, above = first * width, (1.0 - first) * width
    low = Barrier(below, FIRST_MU * omega / below + np.maximum(slope, 0.0))
    high = Barrier(above, FIRST_MU * omega / above + np.maximum(-slope, 0.0))
    number, at_lower = np.arange(len(a)), np.abs(cost.term_gradient(problem, lower)) * free
    at_lower = np.where(np.isfinite(at_lower), at_lower, 0.0)
    return _Frames(number, matrix, target, compliance, curvature, free, at_lower, omega, a, guess, low, high)


def _step(problem: Problem, cost: Cost, x: _Frames, share: float) -> None:
    """Take one predictor-corrector step in place, at most a share of the distance to the nearest bound."""
    matrix, free = x.matrix, x.free
    ratio_l, ratio_u = x.low.k / x.low.x, x.high.k / x.high.x
    excess = _pull(matrix, x.multiplier) - cost.term_gradient(problem, x.a)
    inverse = free / (cost.term_hessian_diagonal(problem, x.a) + ratio_l + ratio_u)
    schur = np.matmul(matrix * inverse[:, None, :], matrix.transpose(0, 2, 1))
    np.einsum("tkk->tk", schur)[...] += x.compliance
    factors, short = BatchCholesky(schur), x.short()

    def direction(push_l: Array | float, push_u: Array | float) -> tuple[tuple[Array, Array], Changes]:
        right = excess + push_l - push_u
        d_multiplier = factors.solve(short - _product(matrix, inverse * right))
        d_a = inverse * (right + _pull(matrix, d_multiplier))
        d_l = (push_l - x.low.k - ratio_l * d_a) * free
        d_u = (push_u - x.high.k + ratio_u * d_a) * free
        return (d_a, d_multiplier), ((d_a, d_l), (-d_a, d_u))

    move, (x.low, x.high), length, _ = mehrotra_step(
        (x.low, x.high), direction, x.omega, share, free=free, axis=1
    )
    d_a, d_multiplier = move
    x.multiplier = x.multiplier + length * d_multiplier
    edge = 1e-15 * (problem.upper - problem.lower)
    moved = np.clip(x.a + length * d_a, problem.lower + edge, problem.upper - edge)
    x.a = np.where(free > 0, moved, x.a)


def _pull(matrix: Array, multiplier: Array) -> Array:
    """The pull A^T lambda, (T, n), of multipliers (T, m + k)."""
    return np.matmul(multiplier[:, None, :], matrix)[:, 0, :]


def _product(matrix: Array, activation: Array) -> Array:
    """The product A a, (T, m + k), of activations (T, n)."""
    return np.matmul(matrix, activation[:, :, None])[:, :, 0]


class BatchCholesky:
    """Solves S x = r for T symmetric positive semidefinite matrices S, (T, m, m), of a few rows each.

    The matrices are first brought to a unit diagonal. A ridge of 1e-14 keeps rows that depend on each other
    harmless: in an iteration on the true residual the ridge slows the step and does not move the solution.
    Arithmetic runs over rows and columns in Python and over the frames in numpy.
    """

    def __init__(self, matrices: Array) -> None:
        rows = np.ascontiguousarray(matrices.transpose(1, 2, 0))
        self.size = rows.shape[0]
        diagonal = np.einsum("kkt->kt", rows)
        largest = diagonal.max(axis=0)
        # a row without muscles: any pivot is possible; a small one shows at once that its moment is out of reach
        pivot = np.where(largest > 0, EMPTY_PIVOT * largest, 1.0)
        diagonal = np.where(diagonal > EMPTY_ROW * largest, diagonal, pivot)
        self.scale = 1.0 / np.sqrt(diagonal)
        factor = rows * self.scale[:, None] * self.scale[None]
        for j in range(self.size):
            pivot = np.maximum(factor[j, j], 0.0) + RIDGE
            factor[j:, j] /= np.sqrt(pivot)
            factor[j, j] = np.sqrt(pivot)
            for i in range(j + 1, self.size):
                factor[i:, i] -= factor[i:, j] * factor[i, j]
        self.factor = factor

    def solve(self, right: Array) -> Array:
        """The solution x, (T, m), for right-hand sides (T, m)."""
        x = right.T * self.scale
        for j in range(self.size):
            x[j] /= self.factor[j, j]
            x[j + 1 :] -= self.factor[j + 1 :, j] * x[j]
        for j in reversed(range(self.size)):
            x[j] /= self.factor[j, j]
            x[:j] -= self.factor[j, :j] * x[j]
        return (x * self.scale).T


@dataclass(frozen=True)
class NoCost(SumOfTerms):
    """A cost of zero, with which only the squares of the reserves are minimized."""

    name = "no_cost"

    def coefficient(self, problem: Problem) -> Array:
        """The coefficients: zeros, (T, n)."""
        return np.zeros_like(problem.force_capacity)


def nearest_moments(problem: Problem) -> Attempt:
    """Minimize |b - A a|^2 over the bounds; `reserve` (= `multiplier`) is the residual b - A a, (T, m) [N m].

    The residual of an infeasible frame proves infeasibility: its half-space touches the set within reach at A a and
    excludes b. Such a frame ends as soon as its residual is a proof, before it is the smallest one.
    """
    soft = problem.with_arrays(reserve_weight=np.ones_like(problem.moment))
    method = FramesInteriorPoint(tolerance=1e-9, max_iterations=250, seek_proof=True)
    return method.solve(soft, NoCost())
