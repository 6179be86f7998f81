"""The reference method for a motion: direct collocation, a program of CasADi that Ipopt solves.

The problem is the problem of certificate.py itself. First and second derivatives are exact, by CasADi from the
expressions. The method shares only the curves with the other methods.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.checks import check_array, check_integer, check_number
from musclesolve._util.locks import CASADI
from musclesolve.errors import input_error
from musclesolve.sharing.solver.ipopt_casadi import casadi_ipopt
from musclesolve.sharing.solver.ipopt_options import IpoptOptions
from musclesolve.trajectory.certificate import MotionAttempt
from musclesolve.trajectory.collocation.program import Program, split
from musclesolve.trajectory.motion_problem import MotionCost, MotionProblem

COMPLEMENTARITY = 1e-6
"""Tolerance of the products of multipliers and distances from bounds, over that of Ipopt.

Where a cost is flat both may be small at once, and their ratio decides whether a muscle is at rest.
"""


@dataclass(frozen=True)
class Collocation:
    """Options of the method.

    Args:
        tolerance: Ipopt's `tol`, on the scaled program.
        max_iterations: of Ipopt.
        max_seconds: time limit of Ipopt.

    Raises:
        InputError: an option out of its range.
    """

    tolerance: float = 1e-12
    max_iterations: int = 500
    max_seconds: float = 1e6

    name: ClassVar[str] = "collocation"

    def __post_init__(self) -> None:
        check_integer(self.max_iterations, "max_iterations", 1, where="Collocation.max_iterations")
        for option, expected, below in (
            ("max_seconds", "a positive number of seconds", np.inf),
            ("tolerance", "a positive number below 1e-2", 1e-2),
        ):
            where = f"Collocation.{option}"
            check_number(getattr(self, option), option, expected, above=0.0, below=below, where=where)

    def solve(self, problem: MotionProblem, cost: MotionCost, start: tuple[Array, Array]) -> MotionAttempt:
        """Solve a motion and report states and multipliers of its frames.

        Args:
            start: tendon coordinate and activation (T, n) of a first guess.

        Raises:
            InputError: a start that does not fit; more moments than muscles.
        """
        with CASADI:
            program, dofs, muscles = Program.from_problem(problem, cost), *problem.moment_arm.shape[1:]
            if problem.reserve_weight is None and dofs > muscles:
                raise input_error(
                    "conflict",
                    where="Collocation",
                    problem=f"{dofs} moments, and {muscles} forces to choose",
                    expected="no more moments than forces",
                    remedy="share fewer moments or set a reserve_weight",
                )
            settings = IpoptOptions(self.tolerance, self.max_iterations).ipopt() | {
                # the barrier as in sharing/full_formulation.py
                **{"mu_strategy": "adaptive", "mu_min": 1e-22, "acceptable_iter": 0},
                # PORD eliminates the muscles one by one and the moments last; the order that MUMPS chooses by itself
                # cuts the motion in time, with twenty times the work
                "mumps_pivot_order": 4,
                "max_wall_time": self.max_seconds,
                "compl_inf_tol": COMPLEMENTARITY * self.tolerance,
            }
            solver = casadi_ipopt("motion", program.functions, settings)
            result = solver(x0=first_guess(program, problem, start), **program.bounds)
            statistics = solver.stats()
            x, of_rows, of_bounds = (np.asarray(result[name])[:, 0] for name in ("x", "lam_g", "lam_x"))
            z, _, activation, _ = split(x, program.shapes)
            # the multipliers of Ipopt with the signs of certificate.py, which subtracts the terms that CasADi adds
            moment, balance, _, rates = split(-program.size * of_rows, program.row_shapes)
            return MotionAttempt(
                coordinate=z,
                activation=activation,
                multiplier=moment / program.row,
                balance_multiplier=balance,
                coordinate_multiplier=split(-program.size * of_bounds, program.shapes)[0],
                limit_multiplier=np.maximum(rates, 0.0) if rates.size else np.zeros((2, *z[1:].shape)),
                iterations=statistics.get("iter_count", 0),
                method=self.name,
                message=sentence(statistics["return_status"]),
            )


def first_guess(program: Program, problem: MotionProblem, start: tuple[Array, Array]) -> Array:
    """The x from states and activations (T, n) of the frames, with the rates of a spline through the states."""
    from scipy.interpolate import CubicSpline

    shape = problem.musculotendon_length.shape
    z, activation = (
        check_array(part, name, shape, real=True, where="start")
        for part, name in zip(start, ("the tendon coordinate", "the activation"), strict=True)
    )
    return program.start(z, CubicSpline(problem.time, z)(problem.time, 1), activation)


_SENTENCES = {
    "Solve_Succeeded": "",
    "Solved_To_Acceptable_Level": "Ipopt stopped short of its tolerance",
    "Feasible_Point_Found": "Ipopt stopped at a feasible point that is not an optimum",
    "Infeasible_Problem_Detected": (
        "Ipopt found no states that produce the moments: it stopped at the smallest violation of the "
        "equations; it is not proved that there are none"
    ),
    "Search_Direction_Becomes_Too_Small": "Ipopt stopped where round-off permits no further step",
    "Diverging_Iterates": "Ipopt stopped because the unknowns grow without limit",
    "User_Requested_Stop": "Ipopt was stopped",
    "Maximum_Iterations_Exceeded": "Ipopt ran out of iterations",
    "Maximum_CpuTime_Exceeded": "Ipopt ran out of time",
    "Maximum_WallTime_Exceeded": "Ipopt ran out of time",
    "Restoration_Failed": "Ipopt found no way back to states that satisfy the equations",
    "Error_In_Step_Computation": "Ipopt could not solve for a step",
    "Invalid_Number_Detected": "Ipopt met a number that is not finite",
    "Not_Enough_Degrees_Of_Freedom": "there are more equations than unknowns",
    "Insufficient_Memory": "Ipopt ran out of memory",
}


def sentence(status: str) -> str:
    """Return the sentence for a return status of Ipopt; empty where the status claims an optimum."""
    return _SENTENCES.get(status, f"Ipopt ended with the status {status}")
