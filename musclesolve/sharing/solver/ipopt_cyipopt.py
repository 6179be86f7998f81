"""Ipopt through cyipopt: exact gradients and Hessians, computed by the costs themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import cyipopt
import numpy as np
from numpy.typing import NDArray

from musclesolve._util.arrays import Array
from musclesolve._util.locks import CASADI
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.solver.frame_programme import Outcome, Reduced, frame_by_frame, ipopt_options
from musclesolve.sharing.solver.solver_base import Attempt
from musclesolve.sharing.status import Status

# the return codes of Ipopt (IpReturnCodes_inc.h)
CLAIMS = {0: Status.SOLVED, 1: Status.SOLVED, 2: Status.INFEASIBLE, -1: Status.MAX_ITERATIONS}


@dataclass(frozen=True)
class Cyipopt:
    """Ipopt without symbolic expressions: a cost that has none can be solved as well.

    Each frame starts from the previous one unless a warm start is given. Threads wait for each other.
    """

    tolerance: float = 1e-13  # Ipopt's `tol`, on the scaled problem
    max_iterations: int = 300  # for each frame

    name: ClassVar[str] = "cyipopt"

    def solve(self, problem: Problem, cost: Cost, warm_start: Array | None = None) -> Attempt:
        """See Solver."""
        with CASADI:
            return frame_by_frame(problem, cost, warm_start, self._call)

    def _call(self, programme: Reduced, guess: Array) -> Outcome:
        functions = _Functions(programme)
        ipopt = cyipopt.Problem(
            n=len(guess),
            m=len(programme.moment),
            problem_obj=functions,
            lb=programme.lower,
            ub=programme.upper,
            cl=programme.moment,
            cu=programme.moment,
        )
        for option, value in ipopt_options(self.tolerance, self.max_iterations).items():
            ipopt.add_option(option, value)
        ipopt.add_option("jac_c_constant", "yes")
        x, report = ipopt.solve(guess)
        claim = CLAIMS.get(report["status"], Status.SOLVER_FAILED)
        # Ipopt adds multiplier times constraint to the cost; here it is subtracted
        return Outcome(np.asarray(x), -np.asarray(report["mult_g"]), functions.iterations, claim)


class _Functions:
    """What cyipopt calls, by the names that it looks for."""

    def __init__(self, programme: Reduced) -> None:
        self.programme, self.iterations = programme, 0
        size = len(programme.lower)
        # the lower triangle, or the diagonal alone where muscles do not meet in the cost
        diagonal = np.arange(size), np.arange(size)
        self.places = np.tril_indices(size) if programme.coupled else diagonal
        self.objective, self.gradient = programme.value, programme.gradient

    def constraints(self, x: Array) -> Array:
        """A a + s over the scale of its rows."""
        return self.programme.matrix @ x

    def jacobian(self, x: Array) -> Array:
        """The matrix, row after row."""
        return self.programme.matrix.ravel()

    def hessianstructure(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Where the Hessian has entries."""
        return self.places

    def hessian(self, x: Array, multiplier: Array, factor: float) -> Array:
        """Those entries; the constraints are linear and have none."""
        return factor * self.programme.hessian(x)[self.places]

    def intermediate(self, *report: Any) -> bool:
        """Count the iterations, and go on."""
        self.iterations = int(report[1])
        return True
