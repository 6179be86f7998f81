"""Ipopt through cyipopt: exact gradients and Hessians, computed by the costs themselves."""

from dataclasses import dataclass
from typing import Any, ClassVar

import cyipopt
import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.locks import CASADI
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.solver.frame_program import Claim, Reduced, frame_by_frame, ipopt_options
from musclesolve.sharing.solver.solver_registry import Attempt
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

    def _call(self, program: Reduced, guess: Array) -> Claim:
        # the lower triangle of the Hessian, or the diagonal alone where muscles do not meet in the cost
        diagonal, iterations = np.arange(guess.size), [0]
        places = np.tril_indices(guess.size) if program.coupled else (diagonal, diagonal)

        class Functions:
            """Functions that cyipopt calls, by the names that it looks for; the constraints are linear."""

            objective = staticmethod(program.value)
            gradient = staticmethod(program.gradient)

            def constraints(self, x: Array) -> Array:
                return program.matrix @ x

            def jacobian(self, x: Array) -> Array:
                return program.matrix.ravel()

            def hessianstructure(self) -> Any:
                return places

            def hessian(self, x: Array, multiplier: Array, factor: float) -> Array:
                return factor * program.hessian(x)[places]

            def intermediate(self, *report: Any) -> bool:
                iterations[0] = int(report[1])
                return True

        ipopt = cyipopt.Problem(
            n=guess.size,
            m=program.moment.size,
            problem_obj=Functions(),
            lb=program.lower,
            ub=program.upper,
            cl=program.moment,
            cu=program.moment,
        )
        for option, value in ipopt_options(self.tolerance, self.max_iterations).items():
            ipopt.add_option(option, value)
        ipopt.add_option("jac_c_constant", "yes")
        x, report = ipopt.solve(guess)
        claim = CLAIMS.get(report["status"], Status.SOLVER_FAILED)
        # Ipopt adds multiplier times constraint to the cost; here it is subtracted
        return Claim(np.asarray(x), -np.asarray(report["mult_g"]), iterations[0], claim)
