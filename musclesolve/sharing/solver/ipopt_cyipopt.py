"""Ipopt through cyipopt: exact gradients and Hessians, computed by the costs themselves."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, ClassVar

import cyipopt
import numpy as np

from musclesolve._util.arrays import Array, Indices
from musclesolve._util.locks import CASADI
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.solver.frame_program import CLAIMS, ENDED, Claim, Reduced, frame_by_frame
from musclesolve.sharing.solver.ipopt_options import IpoptOptions, bad_option
from musclesolve.sharing.solver.solver_registry import Attempt
from musclesolve.sharing.status import Status


@dataclass(frozen=True)
class Cyipopt(IpoptOptions):
    """Ipopt without symbolic expressions, for any cost with derivatives.

    Each frame starts from the previous one unless there is a warm start. Only one thread runs at a time. `IpoptOptions`
    lists the options.
    """

    name: ClassVar[str] = "cyipopt"

    def solve(self, problem: Problem, cost: Cost, warm_start: Array | None = None) -> Attempt:
        """See Solver."""
        with CASADI:
            return frame_by_frame(problem, cost, warm_start, self._call)

    def _call(self, program: Reduced, guess: Array) -> Claim:
        # the lower triangle of the Hessian, or the diagonal alone where muscles do not meet in the cost
        diagonal = np.arange(guess.size)
        places = np.tril_indices(guess.size) if program.coupled else (diagonal, diagonal)
        functions: dict[str, Callable[..., Any]] = {
            "objective": program.value,
            "gradient": program.gradient,
            "constraints": lambda x: program.matrix @ x,
            "jacobian": lambda x: program.matrix.ravel(),
            "hessian": lambda x, multiplier, factor: factor * program.hessian(x)[places],
        }
        bounds = {"lbx": program.lower, "ubx": program.upper, "lbg": program.moment, "ubg": program.moment}
        x, multiplier, iterations, ended = call_ipopt(
            functions, places, self, guess, jac_c_constant="yes", **bounds
        )
        # Ipopt adds multiplier times constraint to the cost; here it is subtracted
        return Claim(x, -multiplier, iterations, CLAIMS.get(ended, Status.SOLVER_FAILED))


def call_ipopt(
    functions: Mapping[str, Callable[..., Any]],
    places: tuple[Indices, Indices],
    method: IpoptOptions,
    x0: Array,
    lbx: Array,
    ubx: Array,
    lbg: Array,
    ubg: Array,
    **further: Any,
) -> tuple[Array, Array, int, str]:
    """Return unknowns, multipliers, iterations and the final message of Ipopt.

    Args:
        functions: objective, gradient, constraints, jacobian and hessian, by the names that cyipopt looks for.
        places: rows and columns of the elements that the hessian returns.
        method: with the options of Ipopt.
        x0: (k,) start.
        lbx, ubx: (k,) bounds of the unknowns.
        lbg, ubg: (c,) bounds of the constraints.
        further: options of Ipopt that `method` may override.
    """
    iterations = 0

    def count(*report: Any) -> bool:
        nonlocal iterations
        iterations = int(report[1])
        return method.callback is None or not method.callback(iterations, float(report[2]))

    called = SimpleNamespace(**functions, hessianstructure=lambda: places, intermediate=count)
    ipopt = cyipopt.Problem(n=x0.size, m=lbg.size, problem_obj=called, lb=lbx, ub=ubx, cl=lbg, cu=ubg)
    for option, value in (further | method.ipopt()).items():
        try:
            ipopt.add_option(option, value)
        except TypeError as error:
            raise bad_option(f"{option} = {value!r}") from error
    x, report = ipopt.solve(x0)
    return np.asarray(x), np.asarray(report["mult_g"]), iterations, ENDED.get(report["status"], "failed")
