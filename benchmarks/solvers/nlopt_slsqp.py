"""SLSQP of NLopt as a solver of one's own, which needs no entry in the registry.

python -m benchmarks.profiles -o OUT --solver benchmarks.solvers.nlopt_slsqp:NloptSlsqp
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.solver.frame_program import Claim, Reduced, frame_by_frame
from musclesolve.sharing.solver.solver_registry import Attempt
from musclesolve.sharing.status import Status


@dataclass(frozen=True)
class NloptSlsqp:
    """SLSQP (Kraft 1988) of NLopt, with the moments as equations; multipliers follow from the result."""

    tolerance: float = 1e-16  # relative, of the scaled cost

    name: ClassVar[str] = "nlopt slsqp"

    def solve(self, problem: Problem, cost: Cost, warm_start: Array | None = None) -> Attempt:
        """See Solver."""
        return frame_by_frame(problem, cost, warm_start, self._call)

    def _call(self, program: Reduced, guess: Array) -> Claim:
        import nlopt

        def objective(y: Array, slope: Array) -> float:
            if slope.size:
                slope[:] = program.gradient(y)
            return program.value(y)

        def rows(result: Array, y: Array, slope: Array) -> None:
            if slope.size:
                slope[:] = program.matrix
            result[:] = program.matrix @ y - program.moment

        method = nlopt.opt(nlopt.LD_SLSQP, guess.size)
        method.set_min_objective(objective)
        method.set_lower_bounds(program.lower)
        method.set_upper_bounds(program.upper)
        if program.moment.size:
            method.add_equality_mconstraint(rows, np.full(program.moment.size, 1e-10))
        method.set_ftol_rel(self.tolerance)
        method.set_maxeval(500)
        try:
            y, claim = method.optimize(np.clip(guess, program.lower, program.upper)), Status.SOLVED
        except (RuntimeError, ValueError, nlopt.RoundoffLimited):
            y, claim = guess, Status.SOLVER_FAILED
        return Claim(y, None, method.get_numevals(), claim)
