"""Quadratic costs as quadratic programs, through the package qpsolvers, one frame after the other.

With d the curvatures and q the slopes at zero of the terms, soft rows G, t, v, and reserves of weight w,

    minimize 1/2 sum_i d_i a_i^2 + sum_i q_i a_i + 1/2 sum_k w_k s_k^2 + 1/2 sum_k v_k r_k^2
    subject to A a + s = b, G a + r = t, lower <= a <= upper

has a diagonal Hessian for every cost, because the residuals r of soft rows and s of moments are unknowns as well.
All numbers are scaled to order one: with h_i = d_i + sum_k v_k G_ki^2 and c = max_i h_i the cost is divided by c, the
unknowns are a_i sqrt(h_i / c), s_k sqrt(w_k / c) and r_k sqrt(v_k / c), and each row is divided by its largest entry.
The scaling is done for all frames at once: frame by frame it would take ten times as long as the fastest backend.
"""

import os
import sys
import warnings
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.sparse import csc_matrix

from musclesolve._util.arrays import Array, Mask
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.kernel.constants import NO_ROOM
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.problem_scale import reserve_terms
from musclesolve.sharing.solver.frame_program import Claim, Reduced, polish, solve_reduced
from musclesolve.sharing.solver.solver_registry import Attempt
from musclesolve.sharing.status import Status

LEAST_CURVATURE = 1e-10  # the least curvature of an unknown, so that the optimum is unique
SURELY_INDEPENDENT = 1e-9  # least eigenvalue of the rows times their transpose, beside the largest
BOUNDS_AS_ROWS = ("quadprog", "clarabel")
"""Backends for which qpsolvers turns infinite bounds into rows: they receive only the finite bounds."""


class QuadraticFrame(NamedTuple):
    """The program: minimize 1/2 sum_j P_j y_j^2 + q.y with A y = b and lower <= y <= upper, infinite for no bound."""

    curvature: Array  # P, (k,), positive
    slope: Array  # q, (k,)
    matrix: Array  # A, (r, k), independent rows
    moment: Array  # b, (r,)
    lower: Array  # (k,)
    upper: Array  # (k,)

    @classmethod
    def from_program(cls, part: Reduced) -> Self:
        """Return the quadratic program of a frame without fixed unknowns and repeated rows."""
        whole, matrix = part.program, np.ascontiguousarray(part.matrix)
        terms = whole.curvature[part.free], whole.slope[part.free]
        return cls(*terms, matrix, part.moment, part.lower, part.upper)

    def at(self, t: int) -> "QuadraticFrame":
        """Frame t, where the arrays have the frame axis first."""
        return QuadraticFrame(*(array[t] for array in self))


@dataclass(frozen=True)
class QuadraticProgram:
    """A backend of qpsolvers, set up again for each frame.

    A result whose certificate is above 1e-9 is refined by Newton's method on its active bounds
    (`polished`), like the results of the other solvers for one frame.
    """

    name: str  # of the backend
    tolerance: float = 1e-10  # of the backend, on the scaled problem
    max_iterations: int = 10000  # for each frame

    def solve(self, problem: Problem, cost: Cost, warm_start: Array | None = None) -> Attempt:
        """See Solver. A warm start is ignored."""
        frames, size, unit, row = scaled_frames(problem, cost)
        muscles, dofs, attempt = problem.n_muscles, problem.n_dof, Attempt.blank(problem)
        x, multiplier = np.full_like(unit, np.nan), np.full_like(row, np.nan)
        free: Mask = (frames.upper - frames.lower) * unit > NO_ROOM
        gram = np.linalg.eigvalsh(frames.matrix @ frames.matrix.transpose(0, 2, 1))
        clean = np.asarray(free.all(axis=1))  # and all rows are independent
        if gram.shape[1]:
            clean &= gram[:, 0] > SURELY_INDEPENDENT * gram[:, -1]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a frame without result; the certificate decides
            for t in range(problem.n_frames):
                frame = frames.at(t)
                if clean[t]:
                    claimed = self.call(frame)
                else:
                    rest = np.clip(0.0, frame.lower, frame.upper)
                    claimed = solve_reduced(
                        frame, free[t], rest, lambda part, _: self.call(QuadraticFrame.from_program(part))
                    )
                x[t], attempt.iterations[t], attempt.claim[t] = claimed.x, claimed.iterations, claimed.claim
                multiplier[t] = 0.0 if claimed.multiplier is None else claimed.multiplier
        whole = x * unit
        attempt.activation[:] = np.clip(whole[:, :muscles], problem.lower, problem.upper)
        if problem.reserve_weight is not None:
            attempt.reserve[:] = whole[:, muscles : muscles + dofs]
        attempt.multiplier[:] = (multiplier * size / row)[:, :dofs]
        polish(problem, cost, attempt)
        return attempt

    def call(self, frame: QuadraticFrame) -> Claim:
        """The result of the backend for one frame: y, and the multipliers of its rows."""
        import qpsolvers

        if self.name == "highs":
            _greeted()
        rows, size = frame.matrix.shape
        arguments: dict[str, Any] = {"A": frame.matrix, "b": frame.moment} if rows else {}
        if self.name in BOUNDS_AS_ROWS:
            identity, low, high = np.eye(size), np.isfinite(frame.lower), np.isfinite(frame.upper)
            arguments["G"] = np.vstack([-identity[low], identity[high]])
            arguments["h"] = np.concatenate([-frame.lower[low], frame.upper[high]])
        else:
            arguments |= {"lb": frame.lower, "ub": frame.upper}
        if self.name in qpsolvers.dense_solvers:
            hessian: Any = np.diag(frame.curvature)
        else:
            hessian = csc_matrix((frame.curvature, np.arange(size), np.arange(size + 1)))
            arguments |= {name: csc_matrix(arguments[name]) for name in ("A", "G") if name in arguments}
        program = qpsolvers.Problem(hessian, frame.slope, **arguments)
        # tolerance and iterations by the names of the backend; quadprog has neither
        both = {"eps_abs": self.tolerance, "eps_rel": self.tolerance, "max_iter": self.max_iterations}
        gap = {"eps_duality_gap_abs": self.tolerance, "eps_duality_gap_rel": self.tolerance}
        least = max(self.tolerance, 1e-10)  # HiGHS refuses smaller ones
        options: dict[str, dict[str, Any]] = {
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
        }
        result = qpsolvers.solve_problem(program, self.name, **options.get(self.name, {}))
        x = np.full(size, np.nan) if result.x is None else np.array(result.x)
        # qpsolvers adds multiplier times constraint to the cost; here it is subtracted
        multiplier = np.full(rows, np.nan) if result.y is None else -np.array(result.y)
        extras = result.extras  # some backends report their iterations
        count = extras["iterations"][0] if "iterations" in extras else getattr(extras.get("info"), "iter", 0)
        return Claim(x, multiplier, int(count), Status.SOLVED if result.found else Status.SOLVER_FAILED)


@cache
def _greeted() -> None:
    """Keep the banner of HiGHS, printed once in a process, from standard output, where `--json` prints a document."""
    import highspy

    sys.stdout.flush()
    with suppress(OSError), open(os.devnull, "w") as nowhere:  # there may be no standard output
        kept = os.dup(1)
        try:
            os.dup2(nowhere.fileno(), 1)
            highspy.Highs()
        finally:
            os.dup2(kept, 1)
            os.close(kept)


def scaled_frames(problem: Problem, cost: Cost) -> tuple[QuadraticFrame, Array, Array, Array]:
    """Scale the quadratic program of every frame (module docstring), with every unknown and every row.

    Returns:
        the frames as one QuadraticFrame, whose arrays have the frame axis first; c, (T, 1); the units of the unknowns,
        (T, k); the largest entries of the rows, (T, r), of which the first m belong to the moments.
    """
    rows, muscles, zero = cost.soft_rows(problem), problem.n_muscles, problem.lower
    bent = cost.term_hessian_diagonal(problem, zero)
    slope = cost.term_gradient(problem, zero) - bent * zero
    whole = bent if rows is None else bent + rows.hessian_diagonal()
    size = whole.max(axis=1)
    size = np.where(size > 0, size, 1.0)[:, None]
    whole = np.maximum(whole, LEAST_CURVATURE * size)
    weight, free = reserve_terms(problem)
    weights = [whole, np.where(free > 0.0, weight, size)]
    matrices, moments = [problem.moment_matrix], [problem.moment]
    if rows is not None:
        weights, matrices = [*weights, rows.weight], [*matrices, rows.matrix]
        moments.append(rows.target)
    unit = np.sqrt(size / np.concatenate(weights, axis=1))
    matrix, residuals = np.concatenate(matrices, axis=1), unit.shape[1] - muscles
    count = matrix.shape[1]
    identity = np.broadcast_to(np.eye(count)[:, count - residuals :], (len(matrix), count, residuals))
    matrix = np.concatenate([matrix, identity], axis=2) * unit[:, None, :]
    row = np.abs(matrix).max(axis=2, initial=0.0)
    row = np.where(row > 0, row, 1.0)
    no_bound = np.full((len(matrix), residuals), np.inf)
    no_bound[:, : free.shape[1]] = free
    frames = QuadraticFrame(
        curvature=np.concatenate([np.maximum(bent / whole, LEAST_CURVATURE), np.ones_like(no_bound)], axis=1),
        slope=np.concatenate([slope / size, np.zeros_like(no_bound)], axis=1) * unit,
        matrix=matrix / row[:, :, None],
        moment=np.concatenate(moments, axis=1) / row,
        lower=np.concatenate([problem.lower, -no_bound], axis=1) / unit,
        upper=np.concatenate([problem.upper, no_bound], axis=1) / unit,
    )
    return frames, size, unit, row
