"""Quadratic costs as quadratic programmes, for solvers that take nothing else, one frame after the other.

With d the curvatures and q the slopes at zero of the terms, soft rows G, t, v, and reserves of weight w,

    minimise 1/2 sum_i d_i a_i^2 + sum_i q_i a_i + 1/2 sum_k w_k s_k^2 + 1/2 sum_k v_k r_k^2
    subject to A a + s = b, G a + r = t, lower <= a <= upper

has a diagonal Hessian whatever the cost, because what soft rows and reserves miss, r and s, is unknown as well. All
numbers are made to be of order one: with h_i = d_i + sum_k v_k G_ki^2 and c = max_i h_i the cost is divided by c, the
unknowns are a_i sqrt(h_i / c), s_k sqrt(w_k / c) and r_k sqrt(v_k / c), and each row is divided by its largest entry.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from musclesolve._util.arrays import Array, Mask
from musclesolve.sharing.certificate import kkt_residual
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.kernel.constants import NO_ROOM
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.solver.polish import polished
from musclesolve.sharing.solver.programme import INCONSISTENT, independent_rows
from musclesolve.sharing.solver.solver_base import Attempt
from musclesolve.sharing.status import Status

FLAT = 1e-10  # the least curvature of an unknown, so that the optimum is unique
SURELY_INDEPENDENT = 1e-9  # least eigenvalue of the rows times their transpose, beside the largest
GOOD_ENOUGH, NEAR = 1e-9, 0.1  # certificates between which Newton's method has a try at the last digits


class Frame(NamedTuple):
    """1/2 sum_j P_j y_j^2 + q.y is to be minimised with A y = b and lower <= y <= upper, infinite for no bound."""

    curvature: Array  # P, (k,), positive
    slope: Array  # q, (k,)
    matrix: Array  # A, (r, k), independent rows
    moment: Array  # b, (r,)
    lower: Array  # (k,)
    upper: Array  # (k,)

    def gradient(self, y: Array) -> Array:
        """P y + q."""
        return self.curvature * y + self.slope

    def hessian(self, y: Array) -> Array:
        """The whole matrix."""
        return np.diag(self.curvature)


class Found(NamedTuple):
    """What a backend says: y, the multipliers p of P y + q = A^T p + those of the bounds, and its claim."""

    x: Array
    price: Array
    iterations: int
    claim: Status


Ask = Callable[[Frame], Found]
"""A backend that is set up for frames of one shape; what it keeps from one to the next is its own affair."""


@dataclass(frozen=True)
class QuadraticSolver(ABC):
    """A solver of quadratic programmes; a subclass opens its backend.

    An answer whose certificate is between 1e-9 and 0.1 goes through Newton's method on the bounds at which it has
    arrived (polish.py), as the answers of the other solvers for one frame do.

    Args:
        tolerance: of the backend, on the scaled problem.
        max_iterations: for each frame.
    """

    tolerance: float = 1e-10
    max_iterations: int = 10000

    name: ClassVar[str]

    @abstractmethod
    def open(self, frame: Frame) -> Ask:
        """Set up whatever stays as it is in frames of the same shape as this one."""

    def solve(self, problem: Problem, cost: Cost, warm_start: Array | None = None) -> Attempt:
        """See Solver. A warm start is ignored; some backends start from the frame before by themselves."""
        scaled = ScaledFrames.of(problem, cost)
        found = _Answers.blank(scaled)
        opened: dict[tuple[int, ...], Ask] = {}

        def ask(frame: Frame) -> Found:
            if frame.matrix.shape not in opened:
                opened[frame.matrix.shape] = self.open(frame)
            return opened[frame.matrix.shape](frame)

        for t in range(problem.n_frames):
            found.enter(t, scaled.ask(t, ask))
        attempt = scaled.attempt(found)
        residual = kkt_residual(problem, cost, attempt.activation, attempt.reserve, attempt.multiplier)
        rough = np.flatnonzero((residual > GOOD_ENOUGH) & (residual <= NEAR))
        for t in rough.tolist():
            found.x[t], found.price[t] = polished(scaled.frame(t), found.x[t], found.price[t])
        return scaled.attempt(found) if rough.size else attempt


@dataclass(frozen=True)
class _Answers:
    """The answers to all frames, scaled."""

    x: Array  # (T, k)
    price: Array  # (T, r)
    iterations: NDArray[np.int64]
    claim: NDArray[np.int8]

    @classmethod
    def blank(cls, scaled: ScaledFrames) -> _Answers:
        frames = len(scaled.row)
        claim = np.full(frames, Status.SOLVER_FAILED, np.int8)
        x, price = np.full_like(scaled.unit, np.nan), np.full_like(scaled.row, np.nan)
        return cls(x, price, np.zeros(frames, np.int64), claim)

    def enter(self, t: int, found: Found) -> None:
        self.x[t], self.price[t], self.iterations[t], self.claim[t] = found


@dataclass(frozen=True)
class ScaledFrames:
    """All frames in the scale of this file, with every unknown and every row."""

    frames: Frame  # arrays with the frame axis first
    unit: Array  # (T, k): activation, reserve or miss of a row per unknown
    row: Array  # (T, r): the first m are those of the moments
    cost: Array  # (T, 1)
    lower: Array  # (T, n), of the activations
    upper: Array  # (T, n)
    dofs: int
    reserves: bool
    clean: Mask  # (T,) whether all unknowns are free and all rows independent

    @classmethod
    def of(cls, problem: Problem, cost: Cost) -> ScaledFrames:
        """Of a problem under a quadratic cost."""
        rows, dofs, muscles = cost.soft_rows(problem), problem.n_dof, problem.n_muscles
        bent = cost.hessian_diagonal(problem, problem.lower)
        slope = cost.gradient(problem, problem.lower) - bent * problem.lower
        whole = bent if rows is None else bent + rows.hessian_diagonal()
        size = whole.max(axis=1)
        size = np.where(size > 0, size, 1.0)[:, None]
        whole = np.maximum(whole, FLAT * size)
        hard, right, weights = [problem.moment_matrix], [problem.moment], []
        if problem.reserve_weight is not None:
            weights.append(problem.reserve_weight)
        if rows is not None:
            hard, right = [*hard, rows.matrix], [*right, rows.target]
            weights.append(rows.weight)
        weight = np.concatenate([whole, *weights], axis=1)
        unit = np.sqrt(size / weight)
        missing = weight.shape[1] - muscles
        matrix, moment = np.concatenate(hard, axis=1), np.concatenate(right, axis=1)
        identity = np.eye(matrix.shape[1])[:, matrix.shape[1] - missing :]
        extended = np.concatenate([matrix, np.broadcast_to(identity, (len(matrix), *identity.shape))], axis=2)
        extended = extended * unit[:, None, :]
        row = np.abs(extended).max(axis=2, initial=0.0)
        row = np.where(row > 0, row, 1.0)
        no_bound = np.full((len(matrix), missing), np.inf)
        frames = Frame(
            curvature=np.concatenate([np.maximum(bent / whole, FLAT), np.ones_like(no_bound)], axis=1),
            slope=np.concatenate([slope / size, np.zeros_like(no_bound)], axis=1) * unit,
            matrix=extended / row[:, :, None],
            moment=moment / row,
            lower=np.concatenate([problem.lower, -no_bound], axis=1) / unit,
            upper=np.concatenate([problem.upper, no_bound], axis=1) / unit,
        )
        free = (problem.upper - problem.lower > NO_ROOM).all(axis=1)
        clean = free & _independent(frames.matrix)
        reserves = problem.reserve_weight is not None
        return cls(frames, unit, row, size, problem.lower, problem.upper, dofs, reserves, clean)

    def frame(self, t: int) -> Frame:
        """One frame, with every unknown and every row."""
        return Frame(*(array[t] for array in self.frames))

    def ask(self, t: int, ask: Ask) -> Found:
        """The answer of a backend to one frame."""
        return ask(self.frame(t)) if self.clean[t] else _reduced(self.frame(t), self.unit[t], ask)

    def attempt(self, found: _Answers) -> Attempt:
        """The answers in the units of the problem."""
        x, price = found.x * self.unit, found.price * self.cost / self.row
        muscles = self.lower.shape[1]
        return Attempt(
            activation=np.clip(x[:, :muscles], self.lower, self.upper),
            reserve=x[:, muscles : muscles + self.dofs] if self.reserves else np.zeros((len(x), self.dofs)),
            multiplier=price[:, : self.dofs],
            iterations=found.iterations,
            claim=found.claim,
        )


def _independent(matrix: Array) -> Mask:
    """Which frames have rows (T, r, k) that are beyond doubt independent of each other, (T,)."""
    if matrix.shape[1] == 0:
        return np.ones(len(matrix), bool)
    size = np.linalg.eigvalsh(matrix @ matrix.transpose(0, 2, 1))
    surely: Mask = size[:, 0] > SURELY_INDEPENDENT * size[:, -1]
    return surely


def _reduced(whole: Frame, unit: Array, ask: Ask) -> Found:
    """The same without the unknowns that their bounds fix and without the rows that repeat others.

    As in programme.Reduced: multipliers p of combinations U of the rows are multipliers U p of all rows.
    """
    free = (whole.upper - whole.lower) * unit > NO_ROOM
    rest = whole.moment - whole.matrix[:, ~free] @ whole.lower[~free]
    matrix = whole.matrix[:, free]
    combination = independent_rows(matrix) if free.any() else np.zeros((len(rest), 0))
    rows, moment = combination.T @ matrix, combination.T @ rest
    x, price = whole.lower.copy(), np.zeros_like(rest)
    if np.abs(combination @ moment - rest).max(initial=0.0) > INCONSISTENT:
        return Found(np.clip(0.0, whole.lower, whole.upper), price, 0, Status.INFEASIBLE)
    if not free.any():
        return Found(x, price, 0, Status.SOLVED)
    part = Frame(
        whole.curvature[free],
        whole.slope[free],
        np.ascontiguousarray(rows),
        moment,
        whole.lower[free],
        whole.upper[free],
    )
    found = ask(part)
    x[free] = found.x
    return found._replace(x=x, price=combination @ found.price)
