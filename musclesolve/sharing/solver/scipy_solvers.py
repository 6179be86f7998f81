"""Solvers of SciPy: sequential least-squares programming, and the trust-region interior-point method."""

import warnings
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, linprog, minimize

from musclesolve._util.arrays import Array
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.solver.frame_program import LARGE, Claim, Reduced, frame_by_frame
from musclesolve.sharing.solver.solver_registry import Attempt
from musclesolve.sharing.status import Status

ITERATION_LIMIT, INCOMPATIBLE = 9, 4  # SciPy's codes of SLSQP
SLOPE_MET, NO_WAY_LEFT = 1, 2  # SciPy's codes of trust-constr
FIRST_BARRIER, DECAY, LOW_BARRIER = 0.1, 0.2, 1e-9
START_INSIDE = 1e-6  # least distance of a start from a bound, as a share of the distance between the bounds


@dataclass(frozen=True)
class Slsqp:
    """SLSQP (Kraft 1988) with exact gradients; the curvature is estimated from the iterates of each frame.

    Multipliers follow from the result by least squares. Each frame starts from the previous one.
    """

    tolerance: float = 1e-16  # SciPy's `ftol`, on the scaled cost
    max_iterations: int = 500  # for each frame

    name: ClassVar[str] = "slsqp"

    def solve(self, problem: Problem, cost: Cost, warm_start: Array | None = None) -> Attempt:
        """See Solver."""
        return frame_by_frame(problem, cost, warm_start, self._call)

    def _call(self, program: Reduced, guess: Array) -> Claim:
        matrix, moment = program.matrix, program.moment
        bounds = np.stack([program.lower, program.upper], axis=1)
        bounds[program.upper >= LARGE] = (-np.inf, np.inf)
        met = {"type": "eq", "fun": lambda x: matrix @ x - moment, "jac": lambda x: matrix}
        options = {"ftol": self.tolerance, "maxiter": self.max_iterations}
        result = minimize(
            program.value,
            guess,
            jac=program.gradient,
            method="SLSQP",
            bounds=bounds,
            constraints=met,
            options=options,
        )
        claims = {0: Status.SOLVED, ITERATION_LIMIT: Status.MAX_ITERATIONS, INCOMPATIBLE: Status.INFEASIBLE}
        claim = claims.get(result.status, Status.SOLVER_FAILED)
        return Claim(result.x, None, result.nit, claim, result.message)


@dataclass(frozen=True)
class TrustConstr:
    """The method of Byrd, Hribar and Nocedal (1999), `trust-constr` of SciPy, with exact gradients and Hessians.

    Each frame starts far from its bounds, where the moments are met: near a bound this method hardly moves.
    Where SciPy stops, the method is started again until the barrier at the bounds is low.
    """

    tolerance: float = 1e-12  # SciPy's `gtol`, `xtol` and `barrier_tol`, on the scaled problem
    max_iterations: int = 1000  # for each frame

    name: ClassVar[str] = "trust-constr"

    def solve(self, problem: Problem, cost: Cost, warm_start: Array | None = None) -> Attempt:
        """See Solver."""
        with warnings.catch_warnings():
            # SciPy then uses a singular value decomposition; the certificate decides on the result
            warnings.filterwarnings("ignore", "Singular Jacobian matrix")
            return frame_by_frame(problem, cost, warm_start, self._call)

    def _call(self, program: Reduced, guess: Array) -> Claim:
        reserves, moment = program.upper >= LARGE, program.moment
        bounds = Bounds(
            np.where(reserves, -np.inf, program.lower),
            np.where(reserves, np.inf, program.upper),
            keep_feasible=True,
        )
        rows = LinearConstraint(program.matrix, moment, moment) if moment.size else ()
        x, barrier, iterations = _inner(program), FIRST_BARRIER, 0
        while True:
            result = minimize(
                program.value,
                x,
                jac=program.gradient,
                hess=program.hessian,
                method="trust-constr",
                bounds=bounds,
                constraints=rows,
                options={
                    **dict.fromkeys(("gtol", "xtol", "barrier_tol"), self.tolerance),
                    "initial_barrier_parameter": barrier,
                    "initial_barrier_tolerance": barrier,
                    "maxiter": self.max_iterations - iterations,
                },
            )
            x, iterations = result.x, iterations + result.nit
            # SciPy's `gtol` tests the slope of the Lagrangian alone, which may be small while the barrier is still
            # high; with nothing but reserves to find there is no barrier
            if result.status != SLOPE_MET or result.get("barrier_parameter", 0.0) <= LOW_BARRIER:
                break
            barrier = DECAY * result.barrier_parameter
        claim = Status.SOLVED if result.status in (SLOPE_MET, NO_WAY_LEFT) else Status.MAX_ITERATIONS
        multiplier = -result.v[0] if moment.size else np.zeros(0)
        return Claim(x, multiplier, iterations, claim, result.message)


def _inner(program: Reduced) -> Array:
    """Find the point farthest from all bounds, relative to their distance, that meets the moments: a linear program.

    From a start that does not meet the moments, the method may shrink its steps to zero too early. With reserves
    the start is the middle of the bounds: reserves bear the remaining moments. The middle is also the start of a
    frame that cannot meet its moments.
    """
    lower, upper, matrix, moment = program.lower, program.upper, program.matrix, program.moment
    reserves = upper >= LARGE
    start = np.where(reserves, 0.0, 0.5 * (lower + upper))
    if reserves.any():
        start[reserves] = np.linalg.lstsq(matrix[:, reserves], moment - matrix @ start, rcond=None)[0]
        return start
    width, unit = upper - lower, np.eye(len(start))
    result = linprog(
        np.append(np.zeros(len(width)), -1.0),
        np.hstack([np.vstack([-unit, unit]), np.tile(width, 2)[:, None]]),
        np.concatenate([-lower, upper]),
        np.hstack([matrix, np.zeros((len(moment), 1))]),
        moment,
        [(None, None)] * len(width) + [(0.0, 0.5)],
    )
    inside = START_INSIDE * width
    return start if result.x is None else np.clip(result.x[:-1], lower + inside, upper - inside)
