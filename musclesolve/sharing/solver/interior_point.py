"""A primal-dual interior-point method for many small problems at once, for any separable cost.

kernel/compiled_interior_point.py is the same method compiled, with the same constants, for costs described as data.
This one takes costs that are Python functions, and frames that the compiled one leaves. trajectory/structured.py,
for whole motions, has another Newton system: scalars, blocks and bands have only the formulas of a step in common.

Per frame, with C = diag(1/w) (zero without reserves) and s = C lambda,

    f'(a) - A^T lambda - z_l + z_u = 0      A a + C lambda = b
    (a - lower)_i z_l,i = mu omega_i        (upper - a)_i z_u,i = mu omega_i        mu -> 0

omega_i is the muscle's own scale of marginal cost: muscles whose costs differ by many orders of magnitude then reach
their bounds in the same iterations. A Newton step eliminates everything but lambda,

    D = f'' + z_l / (a - lower) + z_u / (upper - a),      (A D^-1 A^T + C) dlambda = r_b - A D^-1 r_a,

m equations for each frame. Soft rows 1/2 sum_k w_k (t_k - (G a)_k)^2 of the cost are further rows of A with a
compliance 1/w_k of their own, as if they were moments with reserves; their lambda is w (t - G a).

D is positive even where f'' is zero, because the barrier is there. Each step is
Mehrotra's pair of a predictor (mu = 0) and a centered corrector on the same factors. A frame leaves as soon as
its certificate holds, or as soon as its own lambda proves that the moments are out of reach.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from musclesolve._util.arrays import Array, Mask
from musclesolve.sharing.certificate import stationarity_miss
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.infeasibility_proof import farkas_ratio_of_pull, is_proof
from musclesolve.sharing.kernel.constants import (
    DIVERGED,
    EMPTY_PIVOT,
    EMPTY_ROW,
    FIRST,
    FIRST_MU,
    LEAST_OMEGA,
    LEAST_REACH,
    LONG,
    NO_ROOM,
    NOTHING_MISSING,
    PATIENCE,
    RIDGE,
    TO_BOUNDARY,
    TO_BOUNDARY_LATER,
)
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.problem_scale import load, slope_scale, slope_size
from musclesolve.sharing.solver.solver_base import Attempt
from musclesolve.sharing.status import Status


@dataclass
class _Frames:
    """The frames still at work; every array has them first."""

    number: NDArray[np.int64]
    matrix: Array  # A and below it the soft rows, (T, m + k, n)
    target: Array  # b and the targets of the soft rows, (T, m + k)
    compliance: Array  # C, (T, m + k)
    row_curvature: Array  # second derivatives of the soft rows by each activation, (T, n)
    free: Array  # 1 where the activation may move, else 0, (T, n)
    omega: Array
    a: Array
    below: Array  # a - lower
    above: Array  # upper - a
    z_l: Array
    z_u: Array
    multiplier: Array

    def select(self, which: Mask) -> _Frames:
        return _Frames(*(getattr(self, f.name)[which] for f in fields(self)))


@dataclass(frozen=True)
class InteriorPoint:
    """The iteration on one block of frames."""

    tolerance: float  # certificate at which a frame is done; a hundred times as much after 40 iterations
    max_iterations: int  # after which it is given up
    seek_proof: bool  # also end a frame with a proof of infeasibility, or with negligible reserves

    def solve(self, problem: Problem, cost: Cost, multiplier: Array | None = None) -> Attempt:
        """Minimise; bounds are within the domain of the cost and lower <= upper everywhere.

        The multiplier (T, m) is a guess that gives the right order of magnitude.
        """
        guess = np.zeros_like(problem.moment) if multiplier is None else multiplier
        # a frame that breaks down turns into NaN and leaves; it must not disturb the others
        with np.errstate(all="ignore"):
            return self._iterate(problem, cost, guess)

    def _iterate(self, problem: Problem, cost: Cost, guess: Array) -> Attempt:
        frames, best = _start(problem, cost, guess), _Best(problem)
        here = problem
        for iteration in range(self.max_iterations + 1):
            claim = self._examine(here, cost, frames, best, iteration)
            going = claim == Status.MAX_ITERATIONS
            if not going.any() or iteration == self.max_iterations:
                break
            if not going.all():
                frames, here = frames.select(going), here.frames(going)
            # a frame that takes long is one whose muscles hit their bounds too early: keep them further off
            _step(here, cost, frames, TO_BOUNDARY if iteration < LONG else TO_BOUNDARY_LATER)
        return best.attempt(problem)

    def _examine(
        self, problem: Problem, cost: Cost, frames: _Frames, best: _Best, iteration: int
    ) -> NDArray[np.int8]:
        hard = problem.n_dof
        pull = _pull(frames.matrix[:, :hard], frames.multiplier[:, :hard])
        scale = np.maximum(1.0, np.abs(problem.moment))
        miss = (np.abs(_short(frames)[:, :hard]) / scale).max(axis=1)
        claim = np.full(len(miss), Status.MAX_ITERATIONS, np.int8)
        near = miss <= 1e3 * self.tolerance  # the costlier part only where it can matter
        if near.any():
            slope = _slope(problem, cost, frames)
            free_of_charge = (slope == 0).all(axis=1) & near & (frames.compliance[:, :hard] == 0).all(axis=1)
            # no activation costs anything: multipliers are zero, however small they were
            frames.multiplier[free_of_charge, :hard] = pull[free_of_charge] = 0.0
            miss = np.maximum(miss, _stationarity(problem, cost, frames, slope, pull))
            enough = self.tolerance if iteration < PATIENCE else 100.0 * self.tolerance
            claim[near & (miss <= enough)] = Status.SOLVED
        claim[~np.isfinite(miss)] = Status.SOLVER_FAILED
        exact = (frames.compliance[:, :hard] == 0).all(axis=1)
        diverged = exact & (np.abs(pull * frames.free).max(axis=1) > DIVERGED * frames.omega.max(axis=1))
        claim[diverged & (claim != Status.SOLVED)] = Status.SOLVER_FAILED
        better = best.take(frames, miss, near, iteration)
        if self.seek_proof:
            direction = frames.multiplier[:, :hard]
            margin = farkas_ratio_of_pull(direction, pull, problem.moment, problem.lower, problem.upper)
            proved = is_proof(margin) & (claim != Status.SOLVED)
            claim[proved] = Status.INFEASIBLE
            better |= proved
            if problem.reserve_weight is not None:
                missing = (np.abs(frames.compliance * frames.multiplier) / scale).max(axis=1)
                claim[near & (missing <= NOTHING_MISSING)] = Status.SOLVED
        best.record(frames, better, claim, iteration)
        return claim


class _Best:
    """The best iterate of every frame so far: the last digits of an interior-point method come and go."""

    def __init__(self, problem: Problem) -> None:
        frames, dofs, muscles = problem.moment_arm.shape
        self.miss = np.full(frames, np.inf)
        self.activation = np.zeros((frames, muscles))
        self.multiplier = np.zeros((frames, dofs))
        self.compliance = np.zeros((frames, dofs))
        self.iterations = np.zeros(frames, np.int64)
        self.claim = np.full(frames, Status.MAX_ITERATIONS, np.int8)

    def take(self, frames: _Frames, miss: Array, near: Mask, iteration: int) -> Mask:
        better = (near & (miss < self.miss[frames.number])) | (iteration == 0)
        self.miss[frames.number[better & near]] = miss[better & near]
        return better

    def record(self, frames: _Frames, better: Mask, claim: NDArray[np.int8], iteration: int) -> None:
        where = frames.number[better]
        self.activation[where] = frames.a[better]
        hard = self.multiplier.shape[1]
        self.multiplier[where] = frames.multiplier[better, :hard]
        self.compliance[where] = frames.compliance[better, :hard]
        self.iterations[frames.number] = iteration
        self.claim[frames.number] = claim

    def attempt(self, problem: Problem) -> Attempt:
        activation = np.clip(self.activation, problem.lower, problem.upper)
        reserve = self.compliance * self.multiplier
        return Attempt(activation, reserve, self.multiplier, self.iterations, self.claim)


def _start(problem: Problem, cost: Cost, guess: Array) -> _Frames:
    lower, upper = problem.lower, problem.upper
    free = (upper - lower > NO_ROOM).astype(np.float64)
    first = np.clip(load(problem), *FIRST)[:, None]
    width = np.where(free > 0, upper - lower, 1.0)
    a = np.where(free > 0, lower + first * width, lower)
    matrix, target, compliance, curvature = _rows(problem, cost)
    soft = slice(problem.n_dof, None)
    soft_guess = (target - _product(matrix, a))[:, soft] / compliance[:, soft]
    guess = np.concatenate([guess, soft_guess], axis=1)
    pull = _pull(matrix, guess)
    omega = _weights(problem, cost, pull, free, curvature)
    slope = (cost.gradient(problem, a) - pull) * free * np.any(guess != 0, axis=1, keepdims=True)
    return _Frames(
        number=np.arange(len(a)),
        matrix=matrix,
        target=target,
        compliance=compliance,
        row_curvature=curvature,
        free=free,
        omega=omega,
        a=a,
        below=first * width,
        above=(1.0 - first) * width,
        z_l=FIRST_MU * omega / (first * width) + np.maximum(slope, 0.0),
        z_u=FIRST_MU * omega / ((1.0 - first) * width) + np.maximum(-slope, 0.0),
        multiplier=guess,
    )


def _rows(problem: Problem, cost: Cost) -> tuple[Array, Array, Array, Array]:
    """Moments and soft rows: matrix, target and compliance; and the second derivatives of the soft ones."""
    weight, rows = problem.reserve_weight, cost.soft_rows(problem)
    compliance = np.zeros_like(problem.moment) if weight is None else 1.0 / weight
    if rows is None:
        return problem.moment_matrix, problem.moment, compliance, np.zeros_like(problem.lower)
    return (
        np.concatenate([problem.moment_matrix, rows.matrix], axis=1),
        np.concatenate([problem.moment, rows.target], axis=1),
        np.concatenate([compliance, 1.0 / rows.weight], axis=1),
        rows.hessian_diagonal(),
    )


def _weights(problem: Problem, cost: Cost, pull: Array, free: Array, row_curvature: Array) -> Array:
    """omega, (T, n), for muscles that are free to move (1) or not (0).

    A muscle's scale is that of its own marginal cost, or of A^T lambda for a typical multiplier: for a
    muscle that is almost powerless in this frame the two differ by orders of magnitude.
    """
    arms = np.abs(problem.moment_matrix).max(axis=1)
    scale = slope_size(problem, cost, load(problem), row_curvature)
    total, strength = (scale * free).sum(axis=1, keepdims=True), (arms * free).sum(axis=1, keepdims=True)
    moment = np.maximum(1.0, np.abs(problem.moment)).max(axis=1, keepdims=True)
    typical = np.divide(total, strength, out=moment, where=(total > 0) & (strength > 0))
    scale = np.maximum(np.maximum(scale, typical * arms), np.abs(pull))
    largest = scale.max(axis=1, keepdims=True)
    return np.maximum(scale, LEAST_OMEGA * np.where(largest > 0, largest, 1.0))


def _pull(matrix: Array, multiplier: Array) -> Array:
    return np.matmul(multiplier[:, None, :], matrix)[:, 0, :]


def _product(matrix: Array, activation: Array) -> Array:
    return np.matmul(matrix, activation[:, :, None])[:, :, 0]


def _short(x: _Frames) -> Array:
    return x.target - _product(x.matrix, x.a) - x.compliance * x.multiplier


def _slope(problem: Problem, cost: Cost, x: _Frames) -> Array:
    """The marginal cost of each muscle, that of soft rows included, (T, n)."""
    hard, slope = problem.n_dof, cost.gradient(problem, x.a)
    if x.matrix.shape[1] > hard:
        soft = x.matrix[:, hard:]
        slope = slope - _pull(soft, (x.target[:, hard:] - _product(soft, x.a)) / x.compliance[:, hard:])
    return slope


def _stationarity(problem: Problem, cost: Cost, x: _Frames, slope: Array, pull: Array) -> Array:
    """The first line of the certificate, as it will be recomputed."""
    reach = np.maximum(LEAST_REACH, (x.a - problem.lower).max(axis=1))
    own = slope_scale(problem, cost, reach, x.row_curvature)
    return stationarity_miss(problem, x.a, slope, pull, own)


def _step(problem: Problem, cost: Cost, x: _Frames, share: float) -> None:
    """One predictor-corrector step, in place, at most that share of the way to the nearest bound."""
    matrix = x.matrix
    ratio_l, ratio_u = x.z_l / x.below, x.z_u / x.above
    pull, slope = _pull(matrix, x.multiplier), cost.gradient(problem, x.a)
    inverse = x.free / (cost.hessian_diagonal(problem, x.a) + ratio_l + ratio_u)
    schur = np.matmul(matrix * inverse[:, None, :], matrix.transpose(0, 2, 1))
    np.einsum("tkk->tk", schur)[...] += x.compliance
    factors = BatchCholesky(schur)
    short = _short(x)

    def direction(push_l: Array | float, push_u: Array | float) -> tuple[Array, Array, Array, Array]:
        right = pull - slope + push_l - push_u
        d_multiplier = factors.solve(short - _product(matrix, inverse * right))
        d_a = inverse * (right + _pull(matrix, d_multiplier))
        d_l = (push_l - x.z_l - ratio_l * d_a) * x.free
        d_u = (push_u - x.z_u + ratio_u * d_a) * x.free
        return d_multiplier, d_a, d_l, d_u

    _, d_a, d_l, d_u = direction(0.0, 0.0)
    reach = _length(x, d_a, d_l, d_u, 1.0)
    target = _centering(x, reach, d_a, d_l, d_u)[:, None] * x.omega
    # the second-order term counts only as far as the predictor could go, or Mehrotra's method may cycle
    bent = np.square(reach)[:, None] * d_a
    d_multiplier, d_a, d_l, d_u = direction((target - bent * d_l) / x.below, (target + bent * d_u) / x.above)
    length = _length(x, d_a, d_l, d_u, share)[:, None]
    x.multiplier = x.multiplier + length * d_multiplier
    x.z_l, x.z_u = x.z_l + length * d_l, x.z_u + length * d_u
    x.below, x.above = x.below + length * d_a, x.above - length * d_a
    lowest = 1e-15 * (problem.upper - problem.lower)
    x.a = np.where(
        x.free > 0, np.clip(x.a + length * d_a, problem.lower + lowest, problem.upper - lowest), x.a
    )


def _gap(x: _Frames, below: Array, above: Array, z_l: Array, z_u: Array) -> Array:
    weight = x.free / x.omega
    return ((below * z_l + above * z_u) * weight).sum(axis=1) / np.maximum(2.0 * x.free.sum(axis=1), 1.0)


def _centering(x: _Frames, length: Array, d_a: Array, d_l: Array, d_u: Array) -> Array:
    """Sigma mu, (T,), from what the predictor achieves (Mehrotra's rule)."""
    t = length[:, None]
    now = _gap(x, x.below, x.above, x.z_l, x.z_u)
    then = _gap(x, x.below + t * d_a, x.above - t * d_a, x.z_l + t * d_l, x.z_u + t * d_u)
    return (then / np.maximum(now, 1e-300)) ** 3 * now


def _length(x: _Frames, d_a: Array, d_l: Array, d_u: Array, share: float) -> Array:
    """The longest step, (T,), at most 1, that keeps that share of the way to the nearest bound."""
    shrink = np.maximum(-d_a / x.below, d_a / x.above)
    shrink = np.maximum(shrink, np.maximum(-d_l / x.z_l, -d_u / x.z_u)).max(axis=1)
    return share / np.maximum(shrink, share)


class BatchCholesky:
    """Solves S x = r for T symmetric positive semidefinite matrices S, (T, m, m), of a few rows each.

    The matrices are first brought to a unit diagonal. A ridge of 1e-14 keeps rows that depend on each other
    harmless: in an iteration that works on the true residual it slows the step, it does not move the solution.
    Arithmetic runs over rows and columns in Python and over the frames in numpy.
    """

    def __init__(self, matrices: Array) -> None:
        rows = np.ascontiguousarray(matrices.transpose(1, 2, 0))
        self.size = rows.shape[0]
        diagonal = np.einsum("kkt->kt", rows)
        largest = diagonal.max(axis=0)
        # a row without muscles: any pivot will do; a small one shows at once that its moment is out of reach
        diagonal = np.where(
            diagonal > EMPTY_ROW * largest, diagonal, np.where(largest > 0, EMPTY_PIVOT * largest, 1.0)
        )
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
        """x, (T, m), for right-hand sides (T, m)."""
        x = right.T * self.scale
        for j in range(self.size):
            x[j] /= self.factor[j, j]
            x[j + 1 :] -= self.factor[j + 1 :, j] * x[j]
        for j in reversed(range(self.size)):
            x[j] /= self.factor[j, j]
            x[:j] -= self.factor[j, :j] * x[j]
        return (x * self.scale).T
