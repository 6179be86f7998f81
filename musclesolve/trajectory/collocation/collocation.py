"""The reference method for a motion: direct collocation, a program of CasADi that Ipopt solves.

Two transcriptions of the same problem in continuous time (transcription.py). The scheme "spline" with one node for
each frame is the problem of certificate.py itself; finer meshes and the other scheme measure the error due to the time
between frames. First and second derivatives are exact, by CasADi from the expressions. The method shares only the
curves with the other methods.
"""

from dataclasses import dataclass
from typing import ClassVar

import casadi
import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.checks import check_array, check_choice, check_integer, check_number
from musclesolve._util.locks import CASADI
from musclesolve.errors import input_error
from musclesolve.sharing.solver.ipopt_casadi import casadi_ipopt
from musclesolve.sharing.solver.ipopt_options import IpoptOptions
from musclesolve.trajectory.certificate import LEAST_OF_ALL, LEAST_OF_MUSCLE, MotionAttempt
from musclesolve.trajectory.collocation.program import (
    Program,
    between,
    joined,
    moment_interpolation,
    motion_at,
    split,
)
from musclesolve.trajectory.collocation.transcription import (
    SCHEMES,
    Transcription,
    radau_scheme,
    spline_scheme,
)
from musclesolve.trajectory.local_equilibrium import equilibrium
from musclesolve.trajectory.motion_problem import MotionCost, MotionProblem

HIGHEST_ORDER = 9  # of the tables of points in CasADi
COMPLEMENTARITY = 1e-6
"""Tolerance of the products of multipliers and distances from bounds, over that of Ipopt.

Where a cost is flat both may be small at once, and their ratio decides whether a muscle is at rest.
"""


@dataclass(frozen=True, eq=False)
class CollocationReport:
    """An attempt of any scheme with the figures of its quality.

    kkt_residual: the largest miss of the conditions of its own program (`program_residual`); defect (T-1, n): the
    error of the transcription between two frames, in units of activation (`defects`); cost: the integral over time,
    reserves included, over the mean time between frames; reserve: (T, m) [N m].
    """

    attempt: MotionAttempt
    kkt_residual: float
    defect: Array
    cost: float
    reserve: Array


@dataclass(frozen=True)
class Collocation:
    """Options of the method.

    Args:
        scheme: "spline" or "radau".
        order: points in each interval of the scheme "radau", 1 to 9.
        mesh: intervals from one frame to the next.
        tolerance: Ipopt's `tol`, on the scaled program.
        max_iterations: of Ipopt.
        max_seconds: time limit of Ipopt.

    Raises:
        InputError: an unknown scheme, or an option out of its range.
    """

    scheme: str = "spline"
    order: int = 3
    mesh: int = 1
    tolerance: float = 1e-12
    max_iterations: int = 500
    max_seconds: float = 1e6

    name: ClassVar[str] = "collocation"

    def __post_init__(self) -> None:
        check_choice(self.scheme, "the scheme", SCHEMES, where="Collocation.scheme")
        for option, most in (("order", HIGHEST_ORDER), ("mesh", None), ("max_iterations", None)):
            check_integer(getattr(self, option), option, 1, most, where=f"Collocation.{option}")
        for option, expected, below in (
            ("max_seconds", "a positive number of seconds", np.inf),
            ("tolerance", "a positive number below 1e-2", 1e-2),
        ):
            where = f"Collocation.{option}"
            check_number(getattr(self, option), option, expected, above=0.0, below=below, where=where)

    @property
    def certified(self) -> bool:
        """Whether the nodes are the frames, so that the certificate of a motion holds for its attempts."""
        return self.scheme == "spline" and self.mesh == 1

    def solve(
        self, problem: MotionProblem, cost: MotionCost, start: tuple[Array, Array] | None = None
    ) -> MotionAttempt:
        """The attempt of `report`, without its figures; start as in `report`."""
        return self.report(problem, cost, start).attempt

    def report(
        self, problem: MotionProblem, cost: MotionCost, start: tuple[Array, Array] | None = None
    ) -> CollocationReport:
        """Solve a motion and report states and multipliers at its frames.

        The multiplier of a moment is the derivative of the optimal cost by the moment of that frame, with its changes
        between the frames. The other multipliers belong to the equations of a scheme: they are NaN unless the
        scheme is the spline with one node for each frame.

        Args:
            start: tendon coordinate and activation (T, n) of a first guess; None: of little force.

        Raises:
            InputError: a start that does not fit; a cost that cannot be used between the frames.
        """
        with CASADI:
            if self.scheme == "spline":
                transcription = spline_scheme(problem.time, self.mesh)
            else:
                transcription = radau_scheme(problem.time, self.order, self.mesh)
            program = Program.from_problem(problem, cost, transcription)
            equations, points = transcription.by_rate.shape
            moments, free = program.row.size, (2 * points - equations) * len(problem.muscles.names)
            if problem.reserve_weight is None and moments > free:
                raise input_error(
                    "conflict",
                    where="Collocation",
                    problem=f"{moments} moments, and {free} forces to choose",
                    expected="no more moments than forces",
                    remedy='share fewer moments or set a reserve_weight; the scheme "spline" leaves most to choose',
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
            z, rate, activation, reserve = program.unknowns(x)

            # the multipliers of Ipopt with the signs of certificate.py, which subtracts the terms that CasADi adds
            moment, balance, _, rates = split(-program.size * of_rows, program.row_shapes)
            moment = moment / program.row
            coordinate = split(-program.size * of_bounds, program.shapes)[0]
            limit = np.maximum(rates, 0.0) if rates.size else np.zeros((2, problem.n_frames - 1, z.shape[1]))
            if program.problem is not problem:
                moment = moment_interpolation(problem.time, program.problem.time).T @ moment
                balance = coordinate = np.full(problem.musculotendon_length.shape, np.nan)
                limit = np.full((2, problem.n_frames - 1, z.shape[1]), np.nan)
            order = "" if self.scheme == "spline" else f" of {self.order} points"
            intervals = f"{self.mesh} interval{'s' * (self.mesh > 1)} per frame"
            attempt = MotionAttempt(
                coordinate=z[transcription.frame],
                activation=activation[transcription.frame],
                multiplier=moment,
                balance_multiplier=balance,
                coordinate_multiplier=coordinate,
                limit_multiplier=limit,
                iterations=statistics.get("iter_count", 0),
                method=f"{self.name}, {self.scheme}{order}, {intervals}",
                message=sentence(statistics["return_status"]),
            )
            return CollocationReport(
                attempt,
                kkt_residual=program_residual(program, x, of_rows, of_bounds),
                defect=defects(problem, transcription, z, rate, activation),
                cost=float(result["f"]) * program.size,
                reserve=reserve[transcription.frame],
            )


ACTIVATION = 0.1
HIGHEST = 2.5
_STEPS = 50


def first_guess(program: Program, problem: MotionProblem, start: tuple[Array, Array] | None) -> Array:
    """The x from states and activations (T, n) of the frames, by a spline and straight lines between them.

    Without a start: the activation 0.1, and tendons in balance with it at rest.
    """
    from scipy.interpolate import CubicSpline

    shape = problem.musculotendon_length.shape
    if start is None:
        activation = np.clip(np.full(shape, ACTIVATION), problem.lower, problem.upper)
        start = balanced(problem, activation), activation
    z, activation = (
        check_array(part, name, shape, real=True, where="start")
        for part, name in zip(start, ("the tendon coordinate", "the activation"), strict=True)
    )
    curve, points = CubicSpline(problem.time, z), program.problem.time
    return program.start(curve(points), curve(points, 1), between(problem.time, activation, points))


def balanced(problem: MotionProblem, activation: Array) -> Array:
    """The z, (T, n), at which tendons at rest balance activations (T, n), by bisection."""
    lengths = problem.musculotendon_length, problem.musculotendon_velocity
    still = np.zeros_like(activation)
    low, high = problem.muscles.start + still, HIGHEST + still
    for _ in range(_STEPS):
        middle = 0.5 * (low + high)
        slack = equilibrium(problem.muscles, *lengths, middle, still).imbalance(activation) < 0.0
        low, high = np.where(slack, middle, low), np.where(slack, high, middle)
    return low


def defects(
    problem: MotionProblem, transcription: Transcription, z: Array, rate: Array, activation: Array
) -> Array:
    """The errors (T-1, n), in units of activation, of states z, rates [1/s] and activations (S, n).

    At the middles between neighboring points: the activation that balances tendon and fiber minus the linearly
    interpolated activation; of all middles between two frames the value farthest from zero. NaN if the states are not
    finite.
    """
    largest = np.zeros((problem.n_frames - 1, z.shape[1]))
    if not all(np.isfinite(part).all() for part in (z, rate, activation)):
        return np.full_like(largest, np.nan)
    middles = transcription.middles
    between_frames = motion_at(problem, middles.time)
    value, slope = (by_state @ z + by_rate @ rate for by_state, by_rate in (middles.value, middles.rate))
    lengths = between_frames.musculotendon_length, between_frames.musculotendon_velocity
    state = equilibrium(problem.muscles, *lengths, value, slope)
    straight = between(transcription.time, activation, middles.time)
    missed = state.imbalance(straight) / state.capacity.value
    for interval, row in zip(middles.interval, missed, strict=True):
        largest[interval] = np.where(np.abs(row) > np.abs(largest[interval]), row, largest[interval])
    return largest


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


def program_residual(program: Program, x: Array, row_multiplier: Array, bound_multiplier: Array) -> float:
    """The largest miss of the conditions of an optimum of the program; infinite where a number is not finite.

    Signs are as in CasADi. Slopes are relative to the sum of the sizes of their terms (certificate.py) over all times
    and muscles of a block of unknowns; constraints are relative to the least of these sums among their unknowns.
    """
    from scipy import sparse

    parts, bounds = program.functions, program.bounds
    symbols, objective, rows = parts["x"], parts["f"], parts["g"]
    results = [casadi.gradient(objective, symbols), rows, casadi.jacobian(rows, symbols)]
    *columns, derivative = casadi.Function("conditions", [symbols], results)(x)
    slope, value = (np.asarray(column)[:, 0] for column in columns)
    pattern = derivative.sparsity()
    entries = np.asarray(derivative.nonzeros()), pattern.row(), pattern.colind()
    jacobian = sparse.csc_matrix(entries, shape=derivative.shape)

    terms = [slope, jacobian.T @ row_multiplier, bound_multiplier]
    magnitude = np.abs(slope) + abs(jacobian).T @ np.abs(row_multiplier) + np.abs(bound_multiplier)
    largest, sizes = float(magnitude.max()), []
    for block in split(magnitude, program.shapes):
        least = np.maximum(LEAST_OF_MUSCLE * block.max(axis=0, initial=0.0), LEAST_OF_ALL * largest)
        sizes.append(np.maximum(block, np.where(least > 0.0, least, 1.0)))
    size = joined(*sizes)
    by_row = jacobian.tocsr()
    filled = np.append(size[by_row.indices], np.inf)
    row_size = np.where(np.diff(by_row.indptr) > 0, np.minimum.reduceat(filled, by_row.indptr[:-1]), 1.0)
    row_unit = joined(
        program.row / np.maximum(1.0, np.abs(program.problem.moment)),
        *(np.ones(shape) for shape in program.row_shapes[1:]),
    )
    clipped = np.clip(x + np.clip(bound_multiplier / size, -1.0, 1.0), bounds["lbx"], bounds["ubx"])
    clipped_rows = np.clip(
        value + np.clip(row_multiplier / row_size, -1.0, 1.0), bounds["lbg"], bounds["ubg"]
    )
    misses = (
        np.abs(np.sum(terms, axis=0)) / size,
        np.abs(x - clipped),
        np.abs(value - clipped_rows) * row_unit,
    )
    all_misses = np.concatenate(misses)
    return float(all_misses.max()) if np.isfinite(all_misses).all() else np.inf
