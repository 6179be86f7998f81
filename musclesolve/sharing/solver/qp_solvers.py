"""Quadratic costs as quadratic programmes, through the package qpsolvers, one frame after the other.

With d the curvatures and q the slopes at zero of the terms, soft rows G, t, v, and reserves of weight w,

    minimise 1/2 sum_i d_i a_i^2 + sum_i q_i a_i + 1/2 sum_k w_k s_k^2 + 1/2 sum_k v_k r_k^2
    subject to A a + s = b, G a + r = t, lower <= a <= upper

has a diagonal Hessian whatever the cost, because the residuals r of soft rows and s of moments are unknowns as well.
All numbers are scaled to order one: with h_i = d_i + sum_k v_k G_ki^2 and c = max_i h_i the cost is divided by c, the
unknowns are a_i sqrt(h_i / c), s_k sqrt(w_k / c) and r_k sqrt(v_k / c), and each row is divided by its largest entry.
The scaling is done for all frames at once: frame by frame it would take ten times as long as the fastest backend.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csc_matrix

from musclesolve._util.arrays import Array, Mask
from musclesolve.sharing.certificate import kkt_residual
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.kernel.constants import NO_ROOM
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.solver.frame_programme import INCONSISTENT, independent_rows
from musclesolve.sharing.solver.polish import polished
from musclesolve.sharing.solver.solver_base import Attempt
from musclesolve.sharing.status import Status

FLAT = 1e-10  # the least curvature of an unknown, so that the optimum is unique
SURELY_INDEPENDENT = 1e-9  # least eigenvalue of the rows times their transpose, beside the largest
GOOD_ENOUGH, NEAR = 1e-9, 0.1  # certificates between which the result is polished
BOUNDS_AS_ROWS = ("quadprog", "clarabel")
"""Backends for which qpsolvers turns infinite bounds into rows: they get the finite ones only."""


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
    """What a backend claims: y, the multipliers p of P y + q = A^T p + those of the bounds, iterations and status."""

    x: Array
    multiplier: Array
    iterations: int
    claim: Status


@dataclass(frozen=True)
class QuadraticProgramme:
    """A backend of qpsolvers, set up anew for each frame.

    A result whose certificate is between 1e-9 and 0.1 goes through Newton's method on the bounds at which it has
    arrived (polish.py), as the results of the other solvers for one frame do.
    """

    name: str  # of the backend
    tolerance: float = 1e-10  # of the backend, on the scaled problem
    max_iterations: int = 10000  # for each frame

    def solve(self, problem: Problem, cost: Cost, warm_start: Array | None = None) -> Attempt:
        """See Solver. A warm start is ignored."""
        scaled, attempt = ScaledFrames.of(problem, cost), Attempt.blank(problem)
        x, multiplier = np.full_like(scaled.unit, np.nan), np.full_like(scaled.row, np.nan)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a frame without result; the certificate decides
            for t in range(problem.n_frames):
                x[t], multiplier[t], attempt.iterations[t], attempt.claim[t] = scaled.solve(t, self.call)
        scaled.store(x, multiplier, attempt)
        residual = kkt_residual(problem, cost, attempt.activation, attempt.reserve, attempt.multiplier)
        rough = np.flatnonzero((residual > GOOD_ENOUGH) & (residual <= NEAR))
        for t in rough.tolist():
            x[t], multiplier[t] = polished(scaled.frame(t), x[t], multiplier[t])
        if rough.size:
            scaled.store(x, multiplier, attempt)
        return attempt

    def call(self, frame: Frame) -> Found:
        """The result of the backend for one frame."""
        import qpsolvers

        rows, size = frame.matrix.shape
        given: dict[str, Any] = {"A": frame.matrix, "b": frame.moment} if rows else {}
        if self.name in BOUNDS_AS_ROWS:
            one = np.eye(size)
            low, high = np.isfinite(frame.lower), np.isfinite(frame.upper)
            given["G"] = np.vstack([-one[low], one[high]])
            given["h"] = np.concatenate([-frame.lower[low], frame.upper[high]])
        else:
            given |= {"lb": frame.lower, "ub": frame.upper}
        if self.name in qpsolvers.dense_solvers:
            hessian: Any = np.diag(frame.curvature)
        else:
            hessian = csc_matrix((frame.curvature, np.arange(size), np.arange(size + 1)))
            given |= {name: csc_matrix(given[name]) for name in ("A", "G") if name in given}
        programme = qpsolvers.Problem(hessian, frame.slope, **given)
        found = qpsolvers.solve_problem(programme, self.name, **self._options())
        claim = Status.SOLVED if found.found else Status.SOLVER_FAILED
        x = np.full(size, np.nan) if found.x is None else np.array(found.x)
        # qpsolvers adds multiplier times constraint to the cost; here it is subtracted
        multiplier = np.full(rows, np.nan) if found.y is None else -np.array(found.y)
        return Found(x, multiplier, _iterations(found.extras), claim)

    def _options(self) -> dict[str, Any]:
        """Tolerance and iterations by the names of the backend; quadprog has neither."""
        both = {"eps_abs": self.tolerance, "eps_rel": self.tolerance, "max_iter": self.max_iterations}
        gap = {"eps_duality_gap_abs": self.tolerance, "eps_duality_gap_rel": self.tolerance}
        least = max(self.tolerance, 1e-10)  # HiGHS refuses smaller ones
        return {
            "daqp": {"primal_tol": self.tolerance, "iter_limit": self.max_iterations},
            "osqp": both | {"polishing": True, "raise_error": False},
            "piqp": both | gap,
            "proxqp": both,
            "clarabel": {
                **dict.fromkeys(("tol_feas", "tol_gap_abs", "tol_gap_rel"), self.tolerance),
                "max_iter": self.max_iterations,
            },
            "highs": {
                "output_flag": False,
                "primal_feasibility_tolerance": least,
                "dual_feasibility_tolerance": least,
                "qp_regularization_value": 0.0,
                "qp_iteration_limit": self.max_iterations,
            },
        }.get(self.name, {})


@dataclass(frozen=True)
class ScaledFrames:
    """All frames in the scale of this file, with every unknown and every row."""

    frames: Frame  # arrays with the frame axis first
    unit: Array  # (T, k): activation, reserve or residual of a soft row per unknown
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

    def solve(self, t: int, call: Callable[[Frame], Found]) -> Found:
        """The result of a backend for one frame."""
        return call(self.frame(t)) if self.clean[t] else _reduced(self.frame(t), self.unit[t], call)

    def store(self, x: Array, multiplier: Array, attempt: Attempt) -> None:
        """Store scaled results in the units of the problem."""
        x, muscles = x * self.unit, self.lower.shape[1]
        attempt.activation[:] = np.clip(x[:, :muscles], self.lower, self.upper)
        if self.reserves:
            attempt.reserve[:] = x[:, muscles : muscles + self.dofs]
        attempt.multiplier[:] = (multiplier * self.cost / self.row)[:, : self.dofs]


def _independent(matrix: Array) -> Mask:
    """Which frames have rows (T, r, k) that are certainly independent of each other, (T,)."""
    if matrix.shape[1] == 0:
        return np.ones(len(matrix), bool)
    size = np.linalg.eigvalsh(matrix @ matrix.transpose(0, 2, 1))
    surely: Mask = size[:, 0] > SURELY_INDEPENDENT * size[:, -1]
    return surely


def _reduced(whole: Frame, unit: Array, call: Callable[[Frame], Found]) -> Found:
    """The same without the unknowns that their bounds fix and without the rows that repeat others.

    As in programme.Reduced: multipliers p of combinations U of the rows are multipliers U p of all rows.
    """
    free = (whole.upper - whole.lower) * unit > NO_ROOM
    rest = whole.moment - whole.matrix[:, ~free] @ whole.lower[~free]
    matrix = whole.matrix[:, free]
    combination = independent_rows(matrix) if free.any() else np.zeros((len(rest), 0))
    rows, moment = combination.T @ matrix, combination.T @ rest
    x, multiplier = whole.lower.copy(), np.zeros_like(rest)
    if np.abs(combination @ moment - rest).max(initial=0.0) > INCONSISTENT:
        return Found(np.clip(0.0, whole.lower, whole.upper), multiplier, 0, Status.INFEASIBLE)
    if not free.any():
        return Found(x, multiplier, 0, Status.SOLVED)
    part = Frame(
        whole.curvature[free],
        whole.slope[free],
        np.ascontiguousarray(rows),
        moment,
        whole.lower[free],
        whole.upper[free],
    )
    found = call(part)
    x[free] = found.x
    return found._replace(x=x, multiplier=combination @ found.multiplier)


def _iterations(extras: dict[str, Any]) -> int:
    """Those that the backend reports, zero where it reports none."""
    if "iterations" in extras:
        return int(extras["iterations"][0])
    return int(getattr(extras.get("info"), "iter", 0))
