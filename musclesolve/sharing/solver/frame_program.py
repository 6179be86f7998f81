"""One frame as a nonlinear program, for solvers that take one frame after the other.

With x = (a, s / (row unit)), row_k the largest entry of row k of A, and f the whole cost of the muscles,

    minimize f(a) / steepest + 1/2 sum_k w_k s_k^2 / steepest    subject to (A a + s)_k / row_k = b_k / row_k

so that slopes, moments and unknowns are all of order one; unit_k makes the curvature along a stiff reserve 1.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from musclesolve._util.arrays import Array, Mask
from musclesolve.sharing.certificate import certify
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.kernel.constants import NO_ROOM
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.problem_scale import load, reserve_terms
from musclesolve.sharing.solver.solver_registry import Attempt
from musclesolve.sharing.status import Status

LARGE = 1e20  # a bound that solvers treat as infinite
DEPENDENT, INCONSISTENT = 1e-10, 1e-7
GOOD_ENOUGH = 1e-3  # share of the limits of the certificate up to which a result is refined
AT_BOUND = 1e-3  # distance from a bound at which the slope may keep an unknown there
LEAST_SIZE = 1e-6
STEPS, LAST = 4, 1e-13  # largest number of steps of Newton's method, and the size of the last one


@dataclass(frozen=True)
class Claim:
    """Result that a backend claims for a frame: unknowns, multipliers of the rows (None: to estimate), status."""

    x: Array  # (k,)
    multiplier: Array | None  # (r,)
    iterations: int
    claim: Status
    message: str = ""  # the backend's own words at its end


class FrameProgram:
    """The functions of one frame and their exact derivatives."""

    def __init__(self, problem: Problem, cost: Cost) -> None:
        self.problem, self.cost, self.muscles = problem, cost, problem.n_muscles
        self.coupled = not cost.needs <= {"separable", "nonconvex"}
        low, high = problem.lower[0], problem.upper[0]
        weight, free = (of_reserves[0] for of_reserves in reserve_terms(problem))
        middle = low + 0.5 * np.minimum(high - low, load(problem))
        slope = self._slope(middle)
        slopes = np.append(slope, slope - self._slope(low))
        steepest = np.abs(slopes[np.isfinite(slopes)]).max(initial=0.0)
        self.scale = steepest if steepest > 0 else 1.0

        matrix = problem.moment_matrix[0]
        row = np.abs(matrix).max(axis=1)
        self.row = np.where(row > 0, row, 1.0)
        stiffness = weight * self.row[: weight.size] ** 2 / self.scale
        self.unit = 1.0 / np.sqrt(np.maximum(stiffness, 1.0))
        self.weight = stiffness * self.unit**2
        self.moment = problem.moment[0] / self.row
        self.matrix = np.hstack(
            [matrix / self.row[:, None], np.eye(problem.n_dof)[:, : self.unit.size] * self.unit]
        )
        free = np.minimum(free, LARGE)
        self.lower, self.upper = np.concatenate([low, -free]), np.concatenate([high, free])

    def _slope(self, activation: Array) -> Array:
        slope: Array = self.cost.gradient(self.problem, activation[None])[0]
        return slope

    def value(self, x: Array) -> float:
        """The scaled cost with the cost of the reserves, at scaled unknowns x (n,), or (n + m,) with reserves."""
        a, s = x[: self.muscles], x[self.muscles :]
        total = float(self.cost.value(self.problem, a[None])[0])
        return total / self.scale + 0.5 * float(self.weight @ np.square(s))

    def gradient(self, x: Array) -> Array:
        """The gradient by the scaled unknowns x, both (n,), or (n + m,) with reserves."""
        a, s = x[: self.muscles], x[self.muscles :]
        return np.concatenate([self._slope(a) / self.scale, self.weight * s])

    def hessian(self, x: Array) -> Array:
        """The full matrix of second derivatives by the scaled unknowns x."""
        full = np.diag(np.concatenate([np.zeros(self.muscles), self.weight]))
        curvature = self.cost.hessian(self.problem, x[None, : self.muscles])[0]
        full[: self.muscles, : self.muscles] = curvature / self.scale
        return full

    def store(self, attempt: Attempt, t: int, x: Array, multiplier: Array) -> None:
        """Store scaled unknowns x and multipliers (m,) as frame t of an attempt."""
        attempt.activation[t] = x[: self.muscles]
        if self.unit.size:
            attempt.reserve[t] = x[self.muscles :] * self.unit * self.row
        attempt.multiplier[t] = multiplier * self.scale / self.row


def polish(problem: Problem, cost: Cost, attempt: Attempt, good: float = GOOD_ENOUGH) -> None:
    """Refine, in place, frames whose certificate is above `good` of its limits by Newton's method (`polished`).

    A refined result is kept where its certificate is the better one.
    """
    found = certify(problem, cost, attempt.activation, attempt.reserve, attempt.multiplier)
    finite = np.isfinite(attempt.activation).all(axis=1) & np.isfinite(attempt.multiplier).all(axis=1)
    possible = finite & (attempt.claim != Status.INFEASIBLE)
    which = np.flatnonzero((found.worst > good) & possible)
    if not which.size:
        return
    part, refined = problem.frames(which), Attempt.blank(problem.frames(which))
    for k, t in enumerate(which.tolist()):
        program = FrameProgram(problem.frames(np.array([t])), cost)
        reserve = attempt.reserve[t, : program.unit.size] / (program.unit * program.row[: program.unit.size])
        x, multiplier = np.append(attempt.activation[t], reserve), attempt.multiplier[t]
        program.store(refined, k, *polished(program, x, multiplier * program.row / program.scale))
    again = certify(part, cost, refined.activation, refined.reserve, refined.multiplier)
    better = again.worst < found.frames(which).worst
    for name in ("activation", "reserve", "multiplier"):
        getattr(attempt, name)[which[better]] = getattr(refined, name)[better]


class Reduced:
    """A program without the unknowns that their bounds fix and without the rows that repeat others.

    With A_y the columns of the free unknowns y, and U the left singular vectors of its singular values that are not
    zero, its rows are U^T A_y y = U^T (b - A_fixed x_fixed). Multipliers p of these rows are multipliers U p of all
    rows.
    """

    def __init__(self, program: Any, free: Mask) -> None:
        self.program, self.free = program, free
        self.lower, self.upper = program.lower[free], program.upper[free]
        rest = program.moment - program.matrix[:, ~free] @ program.lower[~free]
        matrix = program.matrix[:, free]
        self.combination = independent_rows(matrix)
        self.matrix, self.moment = self.combination.T @ matrix, self.combination.T @ rest
        self.consistent = bool(np.abs(self.combination @ self.moment - rest).max(initial=0.0) <= INCONSISTENT)

    @property
    def coupled(self) -> bool:
        """Return whether the Hessian has entries beside its diagonal."""
        return bool(self.program.coupled)

    def unknowns(self, y: Array) -> Array:
        """Insert the free unknowns y (k,) among the fixed ones; the vector of all unknowns."""
        x = np.array(self.program.lower)
        x[self.free] = y
        return x

    def value(self, y: Array) -> float:
        """The value at free unknowns y (k,)."""
        return float(self.program.value(self.unknowns(y)))

    def gradient(self, y: Array) -> Array:
        """The gradient by the free unknowns y, both (k,)."""
        return np.asarray(self.program.gradient(self.unknowns(y))[self.free])

    def hessian(self, y: Array) -> Array:
        """The second derivatives by the free unknowns y (k,), (k, k)."""
        return np.asarray(self.program.hessian(self.unknowns(y))[np.ix_(self.free, self.free)])


def independent_rows(matrix: Array) -> Array:
    """Orthonormal combinations of rows that stand for all of them: (m, n) to (m, rank)."""
    left, value, _ = np.linalg.svd(matrix, full_matrices=False)
    independent: Array = left[:, value > DEPENDENT * value.max(initial=0.0)]
    return independent


def solve_reduced(program: Any, free: Mask, guess: Array, call: Callable[[Reduced, Array], Claim]) -> Claim:
    """Solve a program (lower, upper, matrix, moment) by `call`, without fixed unknowns and repeated rows.

    `free` (k,) marks the unknowns that their bounds leave free; `guess` (k,) is returned for a frame whose rows
    contradict each other.
    """
    if not free.any():
        return Claim(np.array(program.lower), None, 0, Status.SOLVED)
    reduced = Reduced(program, free)
    if not reduced.consistent:
        return Claim(guess, None, 0, Status.INFEASIBLE)
    claimed = call(reduced, guess[free])
    multiplier = None if claimed.multiplier is None else reduced.combination @ claimed.multiplier
    return replace(claimed, x=reduced.unknowns(claimed.x), multiplier=multiplier)


@threadpool_limits.wrap(limits=1, user_api="blas")
def frame_by_frame(
    problem: Problem, cost: Cost, warm_start: Array | None, call: Callable[[Reduced, Array], Claim]
) -> Attempt:
    """Solve every frame by `call(program, first guess)`, and the last digits by Newton's method (`polish`).

    Without a warm start each frame starts from the one before it. BLAS has one thread here: the matrices of a frame are
    so small that several threads would wait for each other ten times as long as one computes.
    """
    attempt = Attempt.blank(problem)
    previous = 0.5 * (problem.lower[:1] + problem.upper[:1])
    for t in range(problem.n_frames):
        program = FrameProgram(problem.frames(np.array([t])), cost)
        guess = previous[0] if warm_start is None else warm_start[t]
        guess = np.append(np.clip(guess, problem.lower[t], problem.upper[t]), np.zeros_like(program.unit))
        free = program.upper - program.lower > NO_ROOM
        claimed = solve_reduced(program, free, guess, call)

        x, multiplier = np.clip(claimed.x, program.lower, program.upper), claimed.multiplier
        if multiplier is None:
            slope = program.gradient(x)
            multiplier = least_squares_multiplier(program.matrix, slope, x, program.lower, program.upper)
        program.store(attempt, t, x, multiplier)
        attempt.iterations[t], attempt.claim[t] = claimed.iterations, claimed.claim
        attempt.message[t] = claimed.message
        if claimed.claim == Status.SOLVED:
            previous = attempt.activation[t : t + 1]
    polish(problem, cost, attempt)
    return attempt


_CLAIMS = {
    "Solve_Succeeded": Status.SOLVED,
    "Solved_To_Acceptable_Level": Status.SOLVED,
    "Infeasible_Problem_Detected": Status.INFEASIBLE,
}
"""The final message of Ipopt -> the status that it claims."""
_RAN_OUT = ("max_iter", "maxiter", "maximum", "iteration limit", "ret_limited", "user_requested_stop")
"""Words of the final messages after a limit of iterations or time, or after a callback that ends the frame."""


def claim_of(message: str, otherwise: Status = Status.SOLVER_FAILED) -> Status:
    """The status that a solver claims by its final message, in the words of CasADi."""
    ran_out = any(words in message.lower() for words in _RAN_OUT)
    return _CLAIMS.get(message, Status.MAX_ITERATIONS if ran_out else otherwise)


def least_squares_multiplier(matrix: Array, slope: Array, x: Array, lower: Array, upper: Array) -> Array:
    """Find the lambda whose remainder slope - matrix^T lambda violates the signs that the bounds allow least.

    The remainder may be positive where x is at its lower bound, negative at its upper one, and should be zero in
    between. Every unknown counts relative to its own slope.

    The matrix (m, n) has the rows of the constraints, the slope (n,) is the gradient of the cost. NaN where the slope
    is not finite.
    """
    from scipy.optimize import lsq_linear

    if not (np.isfinite(slope).all() and np.isfinite(x).all()):
        return np.full(len(matrix), np.nan)
    size = np.maximum(np.abs(slope), LEAST_SIZE * max(float(np.abs(slope).max()), 1e-300))
    low, high = x - lower <= AT_BOUND, upper - x <= AT_BOUND
    unit = np.eye(len(x))
    columns = np.hstack([matrix.T, unit[:, low], -unit[:, high]]) / size[:, None]
    floor = np.concatenate([np.full(len(matrix), -np.inf), np.zeros(low.sum() + high.sum())])
    result = lsq_linear(columns, slope / size, (floor, np.inf), method="bvls", tol=1e-14, max_iter=500)
    return np.asarray(result.x[: len(matrix)])


def polished(program: Any, x: Array, multiplier: Array) -> tuple[Array, Array]:
    """Refine a result and its multipliers by steps of Newton's method; unchanged if the steps leave the bounds.

    The program has bounds `lower` and `upper` (n,) on its unknowns x (n,), rows `matrix` (m, n) of which
    matrix x = moment, with multipliers (m,), and the methods `gradient` and `hessian`.

    An unknown is held at a bound if its slope toward the bound, |g - A^T lambda|, exceeds its distance. For the other
    unknowns each step solves H dx - A^T lambda = -g together with A (x + dx) = b.
    """
    first, best = (x, multiplier), x
    for _ in range(STEPS):
        if not np.isfinite(best).all():
            return first
        force = program.gradient(best) - program.matrix.T @ multiplier
        low, high = best - program.lower < force, program.upper - best < -force
        best = np.where(low, program.lower, np.where(high, program.upper, best))
        free = ~(low | high)
        matrix, rows = program.matrix[:, free], len(program.moment)
        hessian = program.hessian(best)[np.ix_(free, free)]
        system = np.block([[hessian, -matrix.T], [matrix, np.zeros((rows, rows))]])
        right = np.concatenate([-program.gradient(best)[free], program.moment - program.matrix @ best])
        if not (np.isfinite(system).all() and np.isfinite(right).all()):
            return first
        step = np.linalg.lstsq(system, right, rcond=1e-14)[0]
        best[free] += step[: free.sum()]
        multiplier = step[free.sum() :]
        if (best < program.lower).any() or (best > program.upper).any():
            best = np.clip(best, program.lower, program.upper)
        elif np.abs(step[: free.sum()]).max(initial=0.0) <= LAST:
            break
    if not program.gradient(best).any():  # where the cost is flat, multipliers are zero but for round-off
        multiplier = np.zeros_like(multiplier)
    missed, largest = np.abs(program.matrix @ best - program.moment).max(), np.abs(program.moment).max()
    met = missed <= 1e-9 * (1.0 + largest)
    return (best, multiplier) if met and np.isfinite(multiplier).all() else first
