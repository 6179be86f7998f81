"""A solver of one's own: one class, which `ms.solve` scales for, certifies, and refuses for costs it cannot take.

One learns what such a class states: a `name`, the kinds of costs that it can minimize, and `solve`, which returns
claims. In the profiles of the benchmark: python -m benchmarks.profiles -o OUT --solver examples.own_solver:LeastSquares
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.optimize import lsq_linear

import musclesolve as ms
from musclesolve.data import reference_stride
from musclesolve.sharing.solver.frame_program import Claim, frame_by_frame


@dataclass(frozen=True)
class LeastSquares:
    """Bounded least squares of SciPy for quadratic costs: the rows of the moments weigh more than the cost."""

    weight: float = 1e4

    name: ClassVar[str] = "least squares"
    can: ClassVar[frozenset[str]] = frozenset({"quadratic_program"})

    def solve(self, problem, cost, warm_start=None):
        """Solve frame by frame; the last digits come from Newton's method on the active bounds."""
        return frame_by_frame(problem, cost, warm_start, self.call)

    def call(self, program, guess):
        """Minimize |root y + slope / root|^2 + |weight (A y - b)|^2 within the bounds, in one frame."""
        root = np.sqrt(np.maximum(np.diag(program.hessian(guess)), 1e-12))
        matrix = np.vstack([self.weight * program.matrix, np.diag(root)])
        slope = program.gradient(np.zeros_like(guess)) / root
        right = np.concatenate([self.weight * program.moment, -slope])
        found = lsq_linear(matrix, right, (program.lower, program.upper), method="bvls", tol=1e-14)
        return Claim(found.x, None, found.nit, ms.Status.SOLVED)


if __name__ == "__main__":
    problem = ms.leg_problem(ms.run(reference_stride(), side="r"), "r").frames(range(5))
    for solver in (LeastSquares(), "batch"):
        solution = ms.solve(problem, "force_squared", solver)
        print(f"{solution.solver}: {solution.solved.sum()} solved, gap {solution.gap.max():.0e}")
    try:
        ms.solve(problem, "stress_cubed", LeastSquares())
    except ms.InputError as error:
        print(f"stress_cubed: {error.code}")
