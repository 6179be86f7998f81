"""The reference method for a motion: direct collocation, a program of CasADi that Ipopt solves.

The problem is the problem of certificate.py itself. First and second derivatives are exact, by CasADi from the
expressions. The method shares only the curves with the other methods.

The motion is one sparse nonlinear program with its numbers scaled to order one. Unknowns x: the states z (T, n), their
rates h y (T, n) with the mean time h between frames, the activations a (T, n), and where there are reserves these, over
the largest lever of their row (T, m). Constraints g, in this order:

    moments    (sum_i r F + s - M) / largest lever = 0         (T, m)
    balance    f(z) - a g(z, y) - p(z) = 0                     (T, n)
    rates      B_z z + B_y y = 0                               (T, n)
    limits     a+ - e_d a >= 0,  e_a a - a+ >= -(1 - e_a)      between neighboring frames, twice (T - 1, n)

The rates are the rates of one cubic spline with knots at the frames (`TimeBasis`): its second derivatives from both
sides agree at inner frames, its third derivatives are zero in the first and the last interval.

The objective is the cost over the steepest slope of a muscle at a typical load.

A tendon force is never negative where a >= 0 and the balance holds. So the lower bound of z follows from the other
constraints and would only make gradients of active constraints dependent; it is moved away by MARGIN, unless the tendon
curve is flat at its start, so that only the bound determines z.
"""

from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any, ClassVar, Self

import numpy as np

from musclesolve._util.arrays import AnyArray, Array, split_named
from musclesolve._util.casadi_module import casadi
from musclesolve._util.checks import check_array, check_integer, check_number
from musclesolve._util.locks import CASADI
from musclesolve.errors import input_error
from musclesolve.muscles.elastic.elastic_muscles import LEAST_ALONG, SampledCurves
from musclesolve.sharing.cost.cost_terms import arrays_of, flat, parameter_symbols, shapes_of
from musclesolve.sharing.solver.ipopt import IpoptOptions, casadi_ipopt, final_message, run_casadi
from musclesolve.trajectory.certificate import MotionAttempt, coordinate_bounds
from musclesolve.trajectory.motion_problem import MotionCost, MotionProblem
from musclesolve.trajectory.solve_rate_limited import limit_rows

TYPICAL = 0.5
"""Activation, and force over F0, at which the size of the slopes of a cost is taken."""
MARGIN = 0.02
FLAT_TENDON_SLOPE = 1e-2
"""Slope of a tendon curve at its start below which only a bound determines z."""


@dataclass(frozen=True, eq=False)
class Program:
    """The program of a motion; size: cost per unit of the objective; row (T, m): largest levers [N m]."""

    problem: MotionProblem
    cost: MotionCost
    size: float
    row: Array

    @classmethod
    def from_problem(cls, problem: MotionProblem, cost: MotionCost) -> Self:
        """The program of the frames of a motion."""
        row = np.abs(problem.lever).max(axis=2)
        # the steepest slope of any muscle in any frame at a typical load
        typical = np.full_like(cost.isometric.force_capacity, TYPICAL)
        by_force, _, by_activation, _ = cost.slopes(typical, typical)
        size = float(max(np.abs(by_force).max(), np.abs(by_activation).max())) or 1.0
        return cls(problem, cost, size, np.where(row > 0.0, row, 1.0))

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shapes of the blocks of x."""
        states = dict.fromkeys(("state", "rate", "activation"), self.problem.musculotendon_length.shape)
        return states | {"reserve": (0, 1) if self.problem.reserve_weight is None else self.row.shape}

    @property
    def row_shapes(self) -> dict[str, tuple[int, ...]]:
        """The shapes of the blocks of g; no limits without time constants."""
        frames, muscles = self.problem.musculotendon_length.shape
        limits = (0, 1) if self.problem.limits is None else (2, frames - 1, muscles)
        equations = {"moments": self.row.shape} | dict.fromkeys(("balance", "rates"), (frames, muscles))
        return equations | {"limits": limits}

    @cached_property
    def bounds(self) -> dict[str, Array]:
        """The bounds lbx, ubx, lbg, ubg for Ipopt."""
        low, high = coordinate_bounds(self.problem, self.cost)
        muscles = self.problem.muscles
        low = np.where(muscles.curves.tendon(muscles.start).slope < FLAT_TENDON_SLOPE, low, low - MARGIN)
        rates, reserves = (np.full(self.shapes[name], np.inf) for name in ("rate", "reserve"))
        *equations, limits = map(np.zeros, self.row_shapes.values())
        least = limits.copy()
        if self.problem.limits is not None:
            least[1] = self.problem.activation_limits.e_a - 1.0
        return {
            "lbx": joined(low, -rates, self.problem.lower, -reserves),
            "ubx": joined(high, rates, self.problem.upper, reserves),
            "lbg": joined(*equations, least),
            "ubg": joined(*equations, limits + np.inf),
        }

    @cached_property
    def functions(self) -> dict[str, Any]:
        """The symbols x, the objective f and the constraints g as expressions."""
        from scipy import sparse

        problem, step = self.problem, self.problem.mean_step
        count, muscles = problem.musculotendon_length.shape
        blocks = [casadi.MX.sym(name, prod(shape)) for name, shape in self.shapes.items()]
        z, y, a, s = blocks

        tendon = tendon_force(problem, z)
        capacity, passive, cosine = fiber_forces(problem, z, y / step)
        active = tendon - passive
        load = active / cosine if self.cost.along_fibers else active
        objective = cost_integral(self.cost, problem.weight, load, a) / self.size

        levers = casadi_matrix(sparse.block_diag(list(problem.lever / self.row[:, :, None])))
        moments = levers @ tendon
        if problem.reserve_weight is not None:
            weight = 1.0 / problem.compliance * np.square(self.row) / self.size
            objective = objective + 0.5 * casadi.dot(casadi.DM(weight.ravel()), s**2)
            moments = moments + s
        of_state, of_rate = spline_equations(problem.time)
        rates = each_muscle(of_state, muscles) @ z + each_muscle(of_rate / step, muscles) @ y
        rows = [moments - casadi.DM((problem.moment / self.row).ravel()), active - a * capacity, rates]
        if problem.limits is not None:
            rows.append(casadi_matrix(limit_rows(problem.activation_limits, (count, muscles))) @ a)
        return {"x": casadi.vertcat(*blocks), "f": objective, "g": casadi.vertcat(*rows)}

    def start(self, states: Array, activations: Array) -> Array:
        """The x of states and activations (T, n), with the rates of a spline through the states, without reserves."""
        from scipy.interpolate import CubicSpline

        time, named = self.problem.time, {"the tendon coordinate": states, "the activation": activations}
        z, activation = (
            check_array(part, name, self.shapes["state"], real=True, where="start")
            for name, part in named.items()
        )
        rate = CubicSpline(time, z)(time, 1) * self.problem.mean_step
        return joined(z, rate, activation, np.zeros(self.shapes["reserve"]))


def spline_equations(time: Array) -> tuple[Any, Any]:
    """The sparse matrices B_z, B_y (T, T) of the spline of states and rates of frames at times (T,) [s]."""
    from scipy import sparse

    step = np.diff(time)
    before, after = np.append(0.0, 1.0 / step), np.append(1.0 / step, 0.0)  # an end has one interval
    # second derivatives: (2 y0 + 4 y1)/h - 6 (z1 - z0)/h^2 at the end, -(4 y0 + 2 y1)/h + 6 (z1 - z0)/h^2 at the start
    by_rate = [2.0 * before[1:], 4.0 * (before + after), 2.0 * after[:-1]]
    by_state = [6.0 * before[1:] ** 2, 6.0 * (after**2 - before**2), -6.0 * after[:-1] ** 2]
    # third derivatives, over 6: (y0 + y1)/h^2 - 2 (z1 - z0)/h^3 = 0
    by_rate[1][[0, -1]] = by_rate[2][0], by_rate[0][-1]
    by_state[1][0], by_state[2][0] = 4.0 * after[0] ** 2, -4.0 * after[0] ** 2
    by_state[1][-1], by_state[0][-1] = -4.0 * before[-1] ** 2, 4.0 * before[-1] ** 2
    size = step.mean() ** 2 / 6.0
    of_state, of_rate = (size * sparse.diags(rows, [-1, 0, 1]).tocsr() for rows in (by_state, by_rate))
    return of_state, of_rate


def joined(*parts: Array) -> Array:
    """All numbers of some arrays, one after the other."""
    return np.concatenate([np.asarray(part, dtype=float).ravel() for part in parts])


def each_muscle(matrix: Any, muscles: int) -> Any:
    """A sparse matrix over times for columns of times and muscles."""
    from scipy import sparse

    return casadi_matrix(sparse.kron(matrix, sparse.identity(muscles)))


def casadi_matrix(matrix: Any) -> Any:
    """A sparse matrix of scipy as one of CasADi."""
    columns_first = matrix.tocsc()
    columns_first.sum_duplicates()
    (height, width), ends = columns_first.shape, columns_first.indptr.tolist()
    return casadi.DM(casadi.Sparsity(height, width, ends, columns_first.indices.tolist()), columns_first.data)


def cost_integral(cost: MotionCost, weight: Array, force: Any, activation: Any) -> Any:
    """The integral sum_t w_t phi_t of forces (`load`) over F0 and activations, columns of T n symbols; weights w (T,).

    Below zero force a cost continues as a straight line, as in `MotionCost`.
    """
    frames, muscles = cost.isometric.force_capacity.shape
    total = 0.0
    for costs, argument in ((cost.of_force, force), (cost.of_activation, activation)):
        for factor, single in costs:
            numbers = single.parameters(cost.isometric)
            symbols = parameter_symbols(casadi.SX.sym, shapes_of(numbers))
            x, at = casadi.SX.sym("x", muscles), casadi.SX.sym("at", muscles)
            value = casadi.SX(single.expression(casadi, at, symbols))
            positive = casadi.fmax(x, 0.0)
            value, slope = casadi.substitute([value, casadi.gradient(value, at)], [at], [positive])
            straight = value + casadi.dot(slope, x - positive)
            every = casadi.vertcat(*map(casadi.vec, arrays_of(symbols)))
            function = casadi.Function("cost", [x, every], [straight]).map(frames)
            of_frames = function(
                casadi.reshape(argument, muscles, frames), casadi.DM(flat(numbers, frames).T)
            )
            total = total + factor * casadi.mtimes(of_frames, casadi.DM(weight))
    return total


def columns(values: AnyArray, rows: int) -> Any:
    """Numbers of n muscles, or of P times and n muscles (P, n), as a column of P n numbers, muscle by muscle."""
    values = np.asarray(values, dtype=float)
    return casadi.DM(np.broadcast_to(values, (rows, values.shape[-1])).ravel())


def spline(curves: SampledCurves, x: Any, rows: int) -> Any:
    """The curves at x, a column of P n symbols (casadi.MX), P = rows; straight beyond the ends of the grid.

    In the piece of x, with the distance u from the sample before it,

        c0 + u c1 + u^2 c2 + u^3 c3.

    The number of the piece has no derivative, and the splines are twice continuously differentiable: first and second
    derivatives of the expression equal the derivatives of the curve everywhere.
    """
    grid, kinds = curves.grid, curves.coefficient.shape[2]
    inside = casadi.fmin(casadi.fmax(x, grid.first), grid.last)
    piece = casadi.fmin(casadi.floor((inside - grid.first) / grid.step), grid.steps - 1)
    u = inside - (grid.first + piece * grid.step)
    place = piece * kinds + columns(curves.column, rows)
    c0, c1, c2, c3 = (casadi.MX(casadi.DM(table.ravel()))[place] for table in curves.coefficient)
    value = c0 + u * (c1 + u * (c2 + u * c3))
    slope = c1 + u * (2.0 * c2 + 3.0 * u * c3)
    return value + slope * (x - inside)


def tendon_force(problem: MotionProblem, z: Any) -> Any:
    """The tendon forces f(z) over F0, for z in all the frames of a problem, a column of T n symbols."""
    return spline(problem.muscles.curves.tendon, z, problem.n_frames)


def fiber_forces(problem: MotionProblem, z: Any, rate: Any) -> tuple[Any, Any, Any]:
    """Capacity g(z, y) and passive force p(z) over F0 and cosine of pennation, for columns z and dz/dt [1/s]."""
    rows, muscles = problem.n_frames, problem.muscles
    optimal, stretch = columns(muscles.parameters.optimal_fiber_length, rows), columns(muscles.stretch, rows)
    free = columns(problem.musculotendon_length, rows) - columns(muscles.rest, rows) - stretch * z
    along = 0.5 * (free + casadi.sqrt(free**2 + (LEAST_ALONG * optimal) ** 2))
    fiber = casadi.sqrt(along**2 + columns(muscles.thickness, rows) ** 2)
    cosine = along / fiber
    velocity = (columns(problem.musculotendon_velocity, rows) - stretch * rate) * cosine
    fastest = columns(muscles.parameters.max_shortening_velocity, rows) * optimal
    by_length = spline(muscles.curves.active, fiber / optimal, rows)
    by_velocity = spline(muscles.curves.velocity, velocity / fastest, rows)
    element = muscles.parameters.passive
    zero, span = columns(element.at_zero, rows), columns(element.at_one - element.at_zero, rows)
    strength = columns(element.force / muscles.parameters.max_isometric_force, rows)
    passive = strength * spline(muscles.curves.passive, (fiber / optimal - 1.0 - zero) / span, rows)
    return by_length * by_velocity * cosine, passive * cosine, cosine


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
            given = {"x0": program.start(*start), **program.bounds}
            (x, of_rows, of_bounds), stats = run_casadi(solver, given, ("x", "lam_g", "lam_x"))
            unknowns, bounds = split_named(x, program.shapes), split_named(of_bounds, program.shapes)
            # the multipliers of Ipopt with the signs of certificate.py, which subtracts the terms that CasADi adds
            rows = split_named(-program.size * of_rows, program.row_shapes)
            limits, none = rows["limits"], np.zeros((2, *unknowns["state"][1:].shape))
            return MotionAttempt(
                coordinate=unknowns["state"],
                activation=np.clip(
                    unknowns["activation"], problem.lower, problem.upper
                ),  # Ipopt relaxes bounds
                multiplier=rows["moments"] / program.row,
                balance_multiplier=rows["balance"],
                coordinate_multiplier=-program.size * bounds["state"],
                limit_multiplier=np.maximum(limits, 0.0) if limits.size else none,
                iterations=stats.get("iter_count", 0),
                method=self.name,
                message=sentence(final_message(stats)),
            )


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
