"""Newton's method for convex costs that are no data of the kernel, on all frames of a block at once.

At activations a the cost is replaced by its gradient g and its second derivatives H. The program

    minimize  g . d + 1/2 d . H d + 1/2 sum_k w_k s_k^2   subject to   A (a + d) + s = b,  lower <= a + d <= upper

is solved by compiled code, from the optimum of squared activations at first: by the kernel where no muscle is coupled
to another, else by the method for dense matrices (kernel/dense_quadratic.py). With its multipliers slopes are off by

    e = g(a + d) - g(a) - H d,

which vanishes for a quadratic cost, and otherwise quadratically as d becomes shorter. A frame ends where e moves the
duality gap by no more than ENOUGH. All steps stay within bounds and moments, so that a step that is too long is cut
where the slope along d is zero by its secant.
"""

from typing import Any, NamedTuple, Protocol, Self

import numpy as np

from musclesolve._util.arrays import Array, Indices, Mask
from musclesolve.sharing.certificate import certify
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.cost.cost_terms import Power, Term
from musclesolve.sharing.cost.named.muscle_sums import ActivationPower
from musclesolve.sharing.kernel.constants import ALONE, GAP, TOLERANCE
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.problem_scale import reserve_terms, row_size
from musclesolve.sharing.solver.kernel_problem import KernelOptions, KernelProblem, claimed
from musclesolve.sharing.solver.solver_registry import Attempt
from musclesolve.sharing.status import Status

EASE = 1e-12
"""Least curvature of a muscle, as a share of the largest one of the frame: it decides where the cost does not."""
LEAST_CURVATURE = 1e-12  # of a frame, over its largest slope
ENOUGH = 1e-11  # sum of |e_i| over the range of activations, over the sum of |g_i| a_i, at the end
NOISE = 1e-14  # slope along a step, and e, that are round-off, as a share of the terms of the slopes
MOST_ROUNDS, MOST_STEPS = 40, 250  # programs of a frame, and steps of the kernel in each
LOOSE = 1e-9  # tolerance of the first activations
BY_FAR = 0.1  # share of the limits of a certificate that the linearized cost must meet
WITHIN = 0.01  # share of the limits of constraints at the end
TOO_LONG, SHORTEST, MOST_CUTS = 0.5, 0.1, 8
BLOCK, MOST_DENSE, MOST_NUMBERS = 256, 500, 2_000_000
"""Frames at a time, muscles up to which dense matrices are factored, and second derivatives in memory at once."""


def _dense_block(muscles: int) -> int:
    """The number of frames whose second derivatives are in memory at once."""
    return max(min(BLOCK, MOST_NUMBERS // muscles**2), 1)


def newton(problem: Problem, cost: Cost, tolerance: float) -> Attempt:
    """Minimize a cost; frames that do not end are SOLVER_FAILED, INFEASIBLE with a proof.

    `tolerance` belongs to the kernel.
    """
    options = KernelOptions(tolerance, MOST_STEPS, False)
    attempt, block = Attempt.blank(problem), BLOCK
    if cost.needs != {"separable"}:
        if problem.n_muscles > MOST_DENSE:
            return attempt
        block = _dense_block(problem.n_muscles)
    for first in range(0, problem.n_frames, block):
        which = np.arange(first, min(first + block, problem.n_frames))
        part = problem.frames(slice(first, first + block))
        squares = KernelProblem.from_problem(part, ActivationPower())
        if squares is None:  # numba compiles nothing, or there are too many muscles
            return attempt
        start = claimed(squares.solve(options, BLOCK, 1))
        attempt.store(which, start)
        possible = start.claim != Status.INFEASIBLE
        with np.errstate(all="ignore"):
            found = _minimize(part.frames(possible), cost, start.activation[possible], options)
        attempt.store(which[possible], found)
    return attempt


def _minimize(problem: Problem, cost: Cost, start: Array, options: KernelOptions) -> Attempt:
    """Minimize from activations (T, n) that produce the moments."""
    attempt, part, number = Attempt.blank(problem), problem, np.arange(problem.n_frames)
    middle = 0.5 * (problem.lower + np.minimum(problem.upper, problem.lower + 1.0))
    a = np.clip(np.where(np.isfinite(start), start, middle), problem.lower, problem.upper)
    model: type[_Diagonal] | type[_Dense] = _Diagonal if cost.needs == {"separable"} else _Dense
    slope, s = cost.gradient(part, a), _borne(part, a)
    for round_ in range(1, MOST_ROUNDS + 1):
        bend = model.of(part, cost, a, slope)
        bent = bend.times(a)
        step = bend.minimize(part, slope - bent, a, options)
        x, borne_ahead, width = step.activation, _borne(part, step.activation), part.upper - part.lower
        d, ahead, length = x - a, cost.gradient(part, x), np.ones(len(x))
        terms, moved = np.abs(slope) + np.abs(ahead) + np.abs(bent), borne_ahead - s
        noise = NOISE * _dot(terms, width)
        weight, _ = reserve_terms(part)
        before = _dot(slope, d) + _dot(weight * s, moved)
        for _ in range(MOST_CUTS):
            along = _dot(ahead, d) + _dot(weight * (s + length[:, None] * moved), moved)
            cut = ~(along <= TOO_LONG * np.abs(before) + noise)
            if not cut.any():
                break
            share = np.where(np.isfinite(along), np.abs(before) / (np.abs(before) + along), 0.0)
            length = np.where(cut, length * np.clip(share, SHORTEST, 1.0), length)
            x = np.where(cut[:, None], np.clip(a + length[:, None] * d, part.lower, part.upper), x)
            ahead = cost.gradient(part, x)
        error = _dot(np.abs(ahead - slope - bend.times(d)), width)
        enough = np.maximum(ENOUGH * _dot(np.abs(ahead), x), noise)
        solved = step.claim == Status.SOLVED
        done = solved & (length == 1.0) & (error <= enough)
        if done.any():
            step.iterations[:] = round_
            doubt = np.flatnonzero(done & ~_surely_certified(part, ahead, step))
            if doubt.size:
                ends = (getattr(step, name)[doubt] for name in ("activation", "reserve", "multiplier"))
                missed = ~certify(part.frames(doubt), cost, *ends).holds
                step.claim[doubt[missed]] = Status.SOLVER_FAILED
            for name in ("activation", "reserve", "multiplier", "iterations", "claim"):
                getattr(attempt, name)[number[done]] = getattr(step, name)[done]
        going = solved & ~done & np.isfinite(ahead).all(axis=1)
        if not going.any():
            break
        which = np.flatnonzero(going)
        part = part.frames(which)
        number, a, slope = number[which], x[which], ahead[which]
        s = _borne(part, a)
    return attempt


def _surely_certified(problem: Problem, slope: Array, step: Attempt) -> Mask:
    """Return where the certificate holds by far, (T,), by slopes (T, n) at the result alone.

    A sufficient condition, for which Newton's method has all numbers: `certify` would evaluate the cost at further
    points. The excess is the fall of the linearized cost, which is no less than phi of certificate.py; excess and
    misses contain their round-off.
    """
    if problem.reserve_weight is not None:
        return np.zeros(len(slope), bool)
    x, size, multiplier = step.activation, np.abs(problem.moment_matrix), np.abs(step.multiplier)
    off = slope - problem.pull(step.multiplier)
    of_row = np.matmul(size, x[:, :, None])[:, :, 0] + np.abs(problem.moment)
    of_muscle = np.matmul(multiplier[:, None, :], size)[:, 0, :] + np.abs(slope)
    rounded = (problem.n_muscles + problem.n_dof) * np.finfo(float).eps
    excess = np.where(off > 0.0, off * (x - problem.lower), -off * (problem.upper - x))
    excess += rounded * of_muscle * (problem.upper - problem.lower)
    miss = np.abs(problem.produced(x) - problem.moment) + rounded * of_row
    unit = BY_FAR * _dot(np.abs(slope), x)
    near = (miss <= BY_FAR * TOLERANCE * np.maximum(1.0, np.abs(problem.moment))).all(axis=1)
    sure = near & (excess.sum(axis=1) <= GAP * unit) & (_dot(multiplier, miss) <= TOLERANCE * unit)
    return np.asarray(sure)


class ConstrainedFrames(Protocol):
    """Frames of a problem with a cost and constraints that have expressions (constrained.py)."""

    @property
    def problem(self) -> Problem:
        """The problem of the frames."""

    @property
    def cost(self) -> Cost:
        """Its cost."""

    @property
    def constraints(self) -> tuple[Any, ...]:
        """The constraints, j of them."""

    def frames(self, which: Indices) -> Self:
        """Some frames, by number."""

    def value(self, activation: Array) -> Array:
        """Values of the constraints (T, j)."""

    def jacobian(self, activation: Array) -> Array:
        """Their derivatives (T, j, n)."""

    def as_moments(self, at: Array, jacobian: Array, value: Array) -> tuple[Problem, Array]:
        """The problem with the tangents of the constraints as further moments, and their sizes (T, j)."""

    def violation(self, activation: Array, value: Array, jacobian: Array) -> tuple[Array, Array]:
        """How far values are beyond their bounds, and the limits of it, (T, j) each."""


def newton_within(frames: ConstrainedFrames) -> tuple[Attempt, Array]:
    """Minimize within constraints that allow convex sets: the attempt, and the multipliers mu of the constraints.

    In each program tangents stand in the place of the constraints, as further moments of further muscles
    (linear_constraints.py), and - sum_j mu_j c_j'' is added to the second derivatives of the cost.
    """
    problem, count = frames.problem, frames.problem.n_muscles
    attempt, further = Attempt.blank(problem), np.zeros((problem.n_frames, len(frames.constraints)))
    squares = KernelProblem.from_problem(problem, ActivationPower())
    if squares is None or count > MOST_DENSE:
        return attempt, further
    start = claimed(squares.solve(KernelOptions(LOOSE, MOST_STEPS, False), BLOCK, 1))
    number, block, a = np.flatnonzero(start.claim == Status.SOLVED), _dense_block(count), start.activation
    for round_ in range(1, MOST_ROUNDS + 1):
        left = []
        for first in range(0, number.size, block):
            which = number[first : first + block]
            with np.errstate(all="ignore"):
                step, further[which], done = _step_within(frames.frames(which), a[which], further[which])
            a[which], step.iterations[:] = step.activation, round_
            going = (step.claim == Status.SOLVED) & ~done
            step.claim[~done] = Status.SOLVER_FAILED
            attempt.store(which, step)
            left.append(which[going])
        number = np.concatenate([number[:0], *left])
        if not number.size:
            break
    return attempt, further


def _step_within(frames: ConstrainedFrames, a: Array, mu: Array) -> tuple[Attempt, Array, Mask]:
    """A step of `newton_within` from activations (T, n) and multipliers (T, j): the attempt, mu, and where it ends."""
    part, (count, moments) = frames.problem, (a.shape[1], frames.problem.n_dof)
    slope, jacobian, value = frames.cost.gradient(part, a), frames.jacobian(a), frames.value(a)
    wide, size = frames.as_moments(a, jacobian, value)
    hessian = np.zeros((len(a), wide.n_muscles, wide.n_muscles))
    hessian[:, :count, :count] = frames.cost.hessian(part, a)
    for constraint, multiplier in zip(frames.constraints, mu.T, strict=True):
        if multiplier.any():
            hessian[:, :count, :count] -= multiplier[:, None, None] * constraint.body.term_hessian(part, a)
    wide_slope = np.zeros((len(a), wide.n_muscles))
    wide_slope[:, :count] = slope
    matrix = wide.moment_matrix[:, moments:]
    remaining = wide.moment[:, moments:] - np.matmul(matrix[:, :, :count], a[:, :, None])[..., 0]
    room = np.einsum("tjj->tj", matrix[:, :, count:])
    place = np.clip(np.divide(remaining, room, out=np.zeros_like(remaining), where=room != 0.0), 0.0, 1.0)
    start = np.concatenate([a, place], axis=1)
    model = _Dense.eased(hessian, wide_slope)
    step = model.minimize(wide, wide_slope - model.times(start), start, None)
    x = np.clip(step.activation[:, :count], part.lower, part.upper)
    mu = step.multiplier[:, moments:] / size
    ahead, steep = frames.cost.gradient(part, x), frames.jacobian(x)
    move = np.zeros_like(start)
    move[:, :count] = x - a
    predicted = slope + model.times(move)[:, :count]
    turned = np.einsum("tj,tjn->tn", mu, steep - jacobian)
    width = part.upper - part.lower
    terms = np.abs(slope) + np.abs(ahead) + np.einsum("tj,tjn->tn", np.abs(mu), np.abs(steep))
    error = _dot(np.abs(ahead - turned - predicted), width)
    enough = np.maximum(ENOUGH * _dot(np.abs(ahead), x), NOISE * _dot(terms, width))
    beyond, limit = frames.violation(x, frames.value(x), steep)
    solved = (step.claim == Status.SOLVED) & np.isfinite(x).all(axis=1) & np.isfinite(ahead).all(axis=1)
    done = solved & (error <= enough) & (beyond <= WITHIN * limit).all(axis=1)
    claim = np.where(solved, step.claim, Status.SOLVER_FAILED).astype(np.int8)
    ends = Attempt(x, step.reserve[:, :moments], step.multiplier[:, :moments], step.iterations, claim)
    return ends, mu, done


class _Diagonal(NamedTuple):
    """Second derivatives of a cost without coupled muscles, (T, n)."""

    bend: Array

    @classmethod
    def of(cls, problem: Problem, cost: Cost, a: Array, slope: Array) -> "_Diagonal":
        bend = cost.term_hessian_diagonal(problem, a)
        return cls(np.maximum(bend, EASE * _largest(bend, slope)[:, None]))

    def times(self, d: Array) -> Array:
        return self.bend * d

    def minimize(self, problem: Problem, linear: Array, a: Array, options: KernelOptions) -> Attempt:
        """The optimum of the program with a linear term (T, n) beside the second derivatives, by the kernel."""
        size: Array | float = (
            1.0 if problem.reserve_weight is not None else self.bend.max(axis=1, keepdims=True)
        )
        tangent = Term(Power(2.0), np.sqrt(0.5 * self.bend / size), -linear / self.bend)
        program = KernelProblem.from_problem(problem, ActivationPower(), (tangent,))
        assert program is not None  # squared activations were a program already
        attempt = claimed(program.solve(options, BLOCK, 1, ALONE))
        attempt.multiplier[:] *= size
        return attempt


class _Dense(NamedTuple):
    """Second derivatives of a cost with coupled muscles, (T, n, n) or (1, n, n), and what raises them, (T,)."""

    hessian: Array
    ease: Array

    @classmethod
    def of(cls, problem: Problem, cost: Cost, a: Array, slope: Array) -> "_Dense":
        return cls.eased(cost.hessian(problem, a), slope)

    @classmethod
    def eased(cls, hessian: Array, slope: Array) -> "_Dense":
        """Second derivatives (T, n, n) of a cost with slopes (T, n)."""
        hessian = hessian if hessian.strides[0] else hessian[:1]
        return cls(hessian, EASE * _largest(np.einsum("tii->ti", hessian), slope))

    def times(self, d: Array) -> Array:
        alike = len(self.hessian) == 1
        bent = d @ self.hessian[0] if alike else np.matmul(self.hessian, d[:, :, None])[:, :, 0]
        return bent + self.ease[:, None] * d

    def minimize(self, problem: Problem, linear: Array, a: Array, options: KernelOptions | None) -> Attempt:
        """Minimum by the method for dense matrices, from activations (T, n) that produce the moments."""
        row = row_size(problem)
        weight, allowed = reserve_terms(problem)
        compliance = np.zeros_like(row)
        if weight.shape[1]:
            compliance = np.where(allowed > 0.0, 1.0 / (weight * row**2), 0.0)
        matrix, right = problem.moment_matrix / row[:, :, None], problem.moment / row
        bounds = problem.lower, problem.upper
        x, multiplier, steps = solve_quadratic(
            self.hessian, self.ease, linear, matrix, right, compliance, *bounds, a
        )
        claim = np.where(steps > 0, Status.SOLVED, Status.SOLVER_FAILED).astype(np.int8)
        return Attempt(x, compliance * multiplier * row, multiplier / row, steps, claim)


def _dot(x: Array, y: Array) -> Array:
    """The products of vectors x and y, (T, n) each, (T,)."""
    return np.asarray(np.einsum("tn,tn->t", x, y))


def _largest(curvature: Array, slope: Array) -> Array:
    """The largest curvature of each frame, (T,), or a small share of its largest slope."""
    size = np.maximum(curvature.max(axis=1), LEAST_CURVATURE * np.abs(slope).max(axis=1))
    return np.where(size > 0.0, size, 1.0)


def _borne(problem: Problem, a: Array) -> Array:
    """The moments that activations (T, n) leave to reserves, (T, m); (T, 0) without reserves."""
    if problem.reserve_weight is None:
        return problem.moment[:, :0]
    return problem.moment - problem.produced(a)


def solve_quadratic(
    hessian: Array,
    ease: Array,
    linear: Array,
    matrix: Array,
    right: Array,
    compliance: Array,
    lower: Array,
    upper: Array,
    start: Array,
) -> tuple[Array, Array, Indices]:
    """Activations (T, n), multipliers (T, m) and steps (T,), -1 without a result, of the programs of all frames."""
    from musclesolve.sharing.kernel.dense_quadratic import QUADRATIC

    (frames, rows, n), solve = matrix.shape, QUADRATIC.load()
    x, multiplier = np.array(start), np.zeros((frames, rows))
    steps = np.zeros(frames, np.int64)
    (state, free), (place, u, v, size) = np.empty((2, n), np.int64), np.empty((4, n))
    factor, along, schur, left = (np.empty(shape) for shape in ((n, n), (rows, n), (rows, rows), rows))
    arrays = (
        np.ascontiguousarray(array)
        for array in (hessian, ease, linear, matrix, right, compliance, lower, upper)
    )
    solve(*arrays, x, multiplier, steps, state, place, free, factor, along, schur, u, v, left, size)
    return x, multiplier, steps
