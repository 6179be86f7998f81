"""Ipopt, one frame after the other: through CasADi, the general-purpose reference, and through cyipopt.

Both get exact derivatives. A frame is a nonlinear program in symbols of CasADi (`frame_symbols`), scaled by numbers
that are among its parameters. With unknowns x = (a, s / row), the largest entry row_k of each row of the moments and a
scale of the cost,

    minimize   f = scale f(a) + 1/2 sum_k w_k (s_k / row_k)^2
    subject to g = ((A a + s - b) / row, size c(a))

where c are expressions of constraints. The parameters p are, in this order: the numbers of the cost and of each
constraint, scale, w, size, A / row (columns first) and b / row. cyipopt also takes costs without an expression.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np

from musclesolve._util.arrays import Array, Indices
from musclesolve._util.casadi_module import casadi
from musclesolve._util.checks import check_integer, check_number, check_type
from musclesolve._util.locks import CASADI
from musclesolve._util.processes import interrupts
from musclesolve.errors import InputError, input_error
from musclesolve.sharing.cost.casadi_expression import ExpressionCost
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.cost.cost_check import check_expression
from musclesolve.sharing.cost.cost_terms import Shapes, arrays_of, flat, parameter_symbols, shapes_of
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.problem_scale import load, reserve_terms, row_size, slope_size
from musclesolve.sharing.solver.frame_program import (
    Claim,
    Reduced,
    claim_of,
    frame_by_frame,
    independent_rows,
    polish,
)
from musclesolve.sharing.solver.solver_registry import Attempt
from musclesolve.sharing.status import Status


def bad_option(reason: str) -> InputError:
    """The error of an option that Ipopt does not take."""
    return InputError(
        f"Ipopt refuses an option: {reason.lstrip('0123456789: ')}",
        code="unknown_name",
        where="options",
        expected="options of Ipopt, https://coin-or.github.io/Ipopt/OPTIONS.html",
    )


Watch = Callable[[int, float], bool | None]


@dataclass(frozen=True)
class IpoptOptions:
    """Options of Ipopt.

    Attributes:
        tolerance: Ipopt's `tol`, on the scaled problem.
        max_iterations: for each frame.
        options: any option of Ipopt by its name (https://coin-or.github.io/Ipopt/OPTIONS.html), such as
            {"hessian_approximation": "limited-memory", "mu_strategy": "adaptive", "print_level": 5,
            "output_file": "ipopt.log"}. They come after the ones that are set here. "option_file_name" names a file
            `ipopt.opt` with further options.
        callback: `callback(iteration, objective)` is called at every iteration; it ends the frame by returning True.
            The objective is scaled.
    """

    tolerance: float = 1e-13
    max_iterations: int = 300
    options: Mapping[str, Any] | tuple[tuple[str, Any], ...] = ()
    callback: Watch | None = None

    def __post_init__(self) -> None:
        check_number(self.tolerance, "tolerance", "a positive number", above=0.0)
        check_integer(self.max_iterations, "max_iterations", 0)
        try:
            pairs = tuple(sorted((str(key), value) for key, value in dict(self.options).items()))
        except (TypeError, ValueError):
            kind, expected = type(self.options).__name__, "a dictionary of options by name"
            raise input_error("wrong_type", where="options", expected=expected, given=kind) from None
        for key, value in pairs:
            where = f"the option {key!r} of Ipopt"
            check_type(value, str | int | float, where, "a number or a text")  # type: ignore[arg-type]
        if self.callback is not None:
            expected = "a function of iteration and objective"
            check_type(self.callback, Callable, "callback", expected)  # type: ignore[arg-type]
        object.__setattr__(self, "options", pairs)

    def ipopt(self) -> dict[str, Any]:
        """All options by name, for a scaled problem; without output unless they ask for it."""
        own = {"print_level": 0, "sb": "yes", "tol": self.tolerance, "max_iter": self.max_iterations}
        own |= {"bound_relax_factor": 0.0, "constr_viol_tol": 1e-9, "compl_inf_tol": self.tolerance}
        return own | {"nlp_scaling_method": "none"} | dict(self.options)

    def casadi_callback(self, program: Mapping[str, Any]) -> Any:
        """The callback as an object of CasADi; None without one."""
        if self.callback is None:
            return None
        watch = self.callback

        class Watching(casadi.Callback):  # type: ignore[misc]
            """Counts iterations and hands the objective on."""

            def __init__(self) -> None:
                casadi.Callback.__init__(self)
                self.count = 0
                self.error: Exception | None = None
                self.construct("watching", {})

            def get_n_in(self) -> int:
                return int(casadi.nlpsol_n_out())

            def get_sparsity_in(self, i: int) -> Any:
                owners = {"x": "x", "lam_x": "x", "g": "g", "lam_g": "g", "lam_p": "p"}
                sizes = {"f": 1} | {name: program[owner].numel() for name, owner in owners.items()}
                return casadi.Sparsity.dense(sizes.get(casadi.nlpsol_out(i), 0), 1)

            def eval(self, arguments: Any) -> list[int]:
                place = [casadi.nlpsol_out(i) for i in range(len(arguments))].index("f")
                try:
                    stop = watch(self.count, float(arguments[place]))
                except Exception as error:  # CasADi would print it; it is raised again after the frame
                    self.error, stop = error, True
                self.count += 1
                return [int(bool(stop))]

        return Watching()


@dataclass(frozen=True)
class Ipopt(IpoptOptions):
    """Ipopt on one nonlinear program with parameters, built once for a size and a cost, called for every frame.

    Rows are divided by their largest entry and the cost by its steepest slope before Ipopt gets them, and rows that
    repeat others are left out. A frame without certificate is refined by steps of Newton's method. Each frame starts
    from the previous one unless there is a warm start. Only one thread runs at a time. `IpoptOptions` lists the
    options.

    Examples:
        >>> problem = ms.Problem([[0.05, 0.03]], [20.0], [1000.0, 400.0], [1000.0, 400.0])
        >>> loose = ms.sharing.Ipopt(options={"hessian_approximation": "limited-memory", "tol": 1e-10})
        >>> bool(ms.solve(problem, "stress_cubed", loose).solved)
        True
    """

    name: ClassVar[str] = "ipopt"

    def solve(self, problem: Problem, cost: Cost, warm_start: Array | None = None) -> Attempt:
        """See Solver."""
        with CASADI:
            attempt = minimize_frames(problem, cost, self, warm_start)[0]
        polish(problem, cost, attempt)
        return attempt


def minimize_frames(
    problem: Problem,
    cost: Cost,
    method: Any,
    warm_start: Array | None = None,
    expressions: tuple[ExpressionCost, ...] = (),
    limits: tuple[Array, Array, Array] | None = None,
) -> tuple[Attempt, Array]:
    """Minimize the cost of every frame by Ipopt, through cyipopt if the name of `method` is so, else through CasADi.

    Args:
        problem: T frames.
        cost: with an expression.
        method: name, tolerance and max_iterations.
        warm_start: (T, n) activations.
        expressions: j constraints beside the moments.
        limits: of the constraints, (T, j) each: the size that divides values and bounds before Ipopt gets them, and
            the lower and upper bounds.

    Returns:
        The attempt, and the multipliers of the extra constraints (T, j).
    """
    check_expression(problem, cost)
    attempt, muscles, dofs = Attempt.blank(problem), problem.n_muscles, problem.n_dof
    weight, free = reserve_terms(problem)
    soft = weight.shape[1]
    # units in which slopes and moments are of order one: the largest entry of a row, the largest slope of the cost
    row = row_size(problem)
    steepest = slope_size(problem, cost, load(problem)).max(axis=1)
    steepest = np.where(steepest > 0, steepest, 1.0)
    matrices, moments = problem.moment_matrix / row[:, :, None], problem.moment / row
    weight = weight * row[:, :soft] ** 2
    size, low, high = (np.zeros((problem.n_frames, 0)),) * 3 if limits is None else limits
    of_costs = cost.parameters(problem), tuple(expression.parameters(problem) for expression in expressions)
    numbers = (*of_costs, 1.0 / steepest, weight / steepest[:, None], 1.0 / size)
    shapes, parameters = shapes_of(of_costs), flat(numbers, problem.n_frames)
    multipliers = np.full(size.shape, np.nan)

    start = 0.5 * (problem.lower + problem.upper)[0]
    for t in range(problem.n_frames):
        lower, upper = problem.lower[t], problem.upper[t]
        combination = np.eye(dofs)
        if not soft:
            # Ipopt wants no more rows than unknowns to be found, and rows that repeat others have no multipliers of
            # their own; reserves make the rows independent
            independent = independent_rows(matrices[t] * (upper > lower))
            combination = combination if independent.shape[1] == dofs else independent
        matrix, moment = combination.T @ matrices[t], combination.T @ moments[t]
        program = _program(cost, expressions, (len(moment), muscles, soft), shapes, method)
        guess = np.clip(start if warm_start is None else warm_start[t], lower, upper)
        met = np.zeros(len(moment))
        x, multiplier, attempt.iterations[t], ended = program(
            x0=np.concatenate([guess, np.zeros(soft)]),
            p=np.concatenate([parameters[t], matrix.ravel(order="F"), moment]),
            lbx=np.concatenate([lower, -free[t]]),
            ubx=np.concatenate([upper, free[t]]),
            lbg=np.concatenate([met, low[t] / size[t]]),
            ubg=np.concatenate([met, high[t] / size[t]]),
        )
        attempt.claim[t], attempt.message[t] = claim_of(ended), ended
        attempt.activation[t] = np.clip(x[:muscles], lower, upper)
        if soft:
            attempt.reserve[t] = x[muscles:] * row[t]
        # Ipopt adds multiplier times constraint to the cost; here it is subtracted
        attempt.multiplier[t] = -combination @ multiplier[: len(moment)] * steepest[t] / row[t]
        multipliers[t] = -multiplier[len(moment) :] * steepest[t] / size[t]
        if attempt.claim[t] == Status.SOLVED:
            start = attempt.activation[t]
    return attempt, multipliers


Program = Callable[..., tuple[Array, Array, int, str]]
"""A frame's numbers -> unknowns, multipliers of the rows, iterations, final message of Ipopt."""


@lru_cache(maxsize=32)
def _program(
    cost: Cost,
    expressions: tuple[ExpressionCost, ...],
    counts: tuple[int, int, int],
    shapes: Shapes,
    method: Any,
) -> Program:
    """Build the program of `frame_symbols` for Ipopt."""
    problem = frame_symbols(cost, expressions, counts, shapes)
    if method.name == "cyipopt":
        return _through_cyipopt(problem, method)
    watching = method.casadi_callback(problem)
    program = casadi_ipopt("sharing", problem, method.ipopt(), watching)

    def call(**numbers: Array) -> tuple[Array, Array, int, str]:
        if watching is not None:
            watching.count, watching.error = 0, None
        (x, multiplier), stats = run_casadi(program, numbers, ("x", "lam_g"))
        if watching is not None and watching.error is not None:
            raise watching.error
        return x, multiplier, int(stats.get("iter_count", 0)), final_message(stats)

    return call


def _through_cyipopt(problem: dict[str, Any], method: Any) -> Program:
    """Return the program for cyipopt: its functions and their exact derivatives are compiled by CasADi."""
    x, p, f, g = (problem[key] for key in "xpfg")
    factor, dual = casadi.SX.sym("factor"), casadi.SX.sym("dual", g.numel())
    hessian = casadi.tril(casadi.hessian(factor * f + casadi.dot(dual, g), x)[0])
    compiled = {
        "objective": casadi.Function("f", [x, p], [f]),
        "gradient": casadi.Function("df", [x, p], [casadi.gradient(f, x)]),
        "constraints": casadi.Function("g", [x, p], [g]),
        "jacobian": casadi.Function("dg", [x, p], [casadi.densify(casadi.jacobian(g, x)).T]),
    }
    curvature = casadi.Function("ddL", [x, p, dual, factor], [casadi.densify(hessian)])
    places = np.tril_indices(x.numel())

    def call(p: Array, **numbers: Array) -> tuple[Array, Array, int, str]:
        functions: dict[str, Callable[..., Any]] = {
            name: lambda x, function=function: np.asarray(function(x, p)).ravel(order="F")
            for name, function in compiled.items()
        }
        functions["objective"] = lambda x: float(compiled["objective"](x, p))
        functions["hessian"] = lambda x, dual, factor: np.asarray(curvature(x, p, dual, factor))[places]
        return call_ipopt(functions, places, method, **numbers)

    return call


def casadi_ipopt(name: str, problem: dict[str, Any], options: dict[str, Any], callback: Any = None) -> Any:
    """Make Ipopt for a program of CasADi; the solver raises nothing, and prints what its options ask for."""
    quiet = {"print_time": False, "show_eval_warnings": False, "error_on_fail": False}
    watched = {} if callback is None else {"iteration_callback": callback}
    try:
        return casadi.nlpsol(name, "ipopt", problem, {**quiet, **watched, "ipopt": options})
    except RuntimeError as error:
        raise bad_option(str(error).strip().splitlines()[-1].rpartition("cpp:")[2]) from error


def run_casadi(
    solver: Any, numbers: Mapping[str, Any], results: Sequence[str]
) -> tuple[list[Array], dict[str, Any]]:
    """Run a solver of CasADi; return the columns of the named results, and its statistics.

    CasADi turns a Ctrl-C between two evaluations into an error of its own, and drops it while it converts arrays.

    Raises:
        KeyboardInterrupt: after Ctrl-C.
        RuntimeError: an error of CasADi.
    """
    with interrupts() as raise_interrupt:
        try:
            found = solver(**numbers)
            columns, stats = [found[name].full()[:, 0] for name in results], dict(solver.stats())
        except Exception as error:
            raise_interrupt()
            if str(error).splitlines()[-1:] == ["KeyboardInterrupt"]:
                raise KeyboardInterrupt from None
            raise
        raise_interrupt()
    return columns, stats


_CODES = {
    **{0: "Solve_Succeeded", 1: "Solved_To_Acceptable_Level", 2: "Infeasible_Problem_Detected"},
    **{-1: "Maximum_Iterations_Exceeded", -4: "Maximum_CpuTime_Exceeded", -5: "Maximum_WallTime_Exceeded"},
    **{3: "Search_Direction_Becomes_Too_Small", 4: "Diverging_Iterates", 5: "User_Requested_Stop"},
    **{6: "Feasible_Point_Found", -2: "Restoration_Failed", -3: "Error_In_Step_Computation"},
    **{-10: "Not_Enough_Degrees_Of_Freedom", -11: "Invalid_Problem_Definition", -12: "Invalid_Option"},
    **{-13: "Invalid_Number_Detected", -100: "Unrecoverable_Exception", -102: "Insufficient_Memory"},
}
"""Return codes of Ipopt (IpReturnCodes_inc.h) in the words of CasADi."""


def final_message(stats: Mapping[str, Any]) -> str:
    """The final message in the statistics of a solver of CasADi.

    CasADi prints a Ctrl-C during Ipopt, which ends with "NonIpopt_Exception_Thrown" then, and does not raise it.
    """
    message = stats.get("return_status")
    if not isinstance(message, str):  # fatrop and blocksqp have no words of their own
        message = str(stats.get("unified_return_status", "done" if stats.get("success") else "failed"))
    if message == "NonIpopt_Exception_Thrown":
        raise KeyboardInterrupt
    if message == "Invalid_Option":
        raise bad_option("a value is not available here, such as a linear solver that is not installed")
    return message


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
        return Claim(x, -multiplier, iterations, claim_of(ended), ended)


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
    import cyipopt

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
    ended = final_message({"return_status": _CODES.get(report["status"], "Internal_Error")})
    return np.asarray(x), np.asarray(report["mult_g"]), iterations, ended


def frame_symbols(
    cost: Cost, expressions: tuple[ExpressionCost, ...], counts: tuple[int, int, int], shapes: Shapes
) -> dict[str, Any]:
    """The symbols x, p, f and g (casadi.SX).

    Args:
        cost: with an expression.
        expressions: of the constraints.
        counts: rows of moments, muscles, reserves (0 or as many as rows).
        shapes: of the numbers of the cost and of the constraints, `shapes_of((cost.parameters(problem), (...)))`.
    """
    rows, muscles, soft = counts
    a, s = casadi.SX.sym("a", muscles), casadi.SX.sym("s", soft)
    of_cost, of_constraints = numbers = parameter_symbols(casadi.SX.sym, shapes)
    scale, weight = casadi.SX.sym("scale"), casadi.SX.sym("w", soft)
    size = casadi.SX.sym("size", len(expressions))
    matrix, moment = casadi.SX.sym("A", rows, muscles), casadi.SX.sym("b", rows)
    values = [
        expression.expression(casadi, a, own)
        for expression, own in zip(expressions, of_constraints, strict=True)
    ]
    symbols: list[Any] = [*arrays_of(numbers), scale, weight, size, matrix, moment]
    return {
        "x": casadi.vertcat(a, s),
        "p": casadi.veccat(*symbols),
        "f": scale * cost.expression(casadi, a, of_cost) + 0.5 * casadi.dot(weight, s**2),
        "g": casadi.vertcat(matrix @ a - moment + (s if soft else 0.0), size * casadi.vertcat(*values)),
    }
