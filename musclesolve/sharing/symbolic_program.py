"""Force sharing as one symbolic program in the user's hands, of a frame, a window or a whole motion.

With activations a_t and reserves s_t of T frames, and unknowns u of your own,

    minimize    sum_t [f_t(a_t) + 1/2 sum_k w_tk s_tk^2] + sum_j W_j(a_1 ... a_T, u)
    subject to  A_t a_t + s_t = b_t,   lower_t <= a_t <= upper_t,   l_tj <= c_j(a_t) <= u_tj,   u within its bounds.

W_j are terms over several frames (`motion_cost`): smoothness, synergies, fatigue. Derivatives of any order are exact,
and any solver of `casadi.nlpsol` takes the program. Every answer is certified anew (certificate.py). The slope of W_j
is part of the marginal cost, g + dW/da. The frames that W_j joins have one gap, the G of all over the W of all. An
unknown adds what it may save: dW/du times the distance of the bound that it falls toward, or, where that is more or
there is no such bound, Newton's |du . dW/du| with d2W/du2 du = dW/du, twice what it saves where W_j is quadratic in u,
and what no du balances times the largest |u|. A certified point is the optimum where cost, terms and constraints are
convex; elsewhere it is stationary, and `stationary_only` says so.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from musclesolve._util.arrays import AnyArray, Array, Mask
from musclesolve._util.checks import check_choice, check_integer, check_real_array, check_type
from musclesolve._util.locks import CASADI
from musclesolve._util.messages import count_of, enumerated, with_sizes
from musclesolve.constants import USUAL_COST
from musclesolve.errors import InputError, input_error
from musclesolve.sharing.arguments import check_problem, check_smooth_cost
from musclesolve.sharing.certificate import Certificate, empty_box, within_domain
from musclesolve.sharing.constrained import (
    LEAST_SHARE,
    ConstrainedSolution,
    Constraints,
    ExpressionConstraint,
    checked_constraints,
    store_claims,
)
from musclesolve.sharing.cost.casadi_expression import (
    FAULTS,
    Constant,
    check_fields,
    evaluated,
    reason_of,
    refuse_unmeasured,
)
from musclesolve.sharing.cost.cost_base import Cost, bends_down, field_of
from musclesolve.sharing.cost.cost_check import check_cost, check_expression, check_solution
from musclesolve.sharing.cost.cost_terms import flat, shapes_of
from musclesolve.sharing.kernel.constants import TOLERANCE
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.problem_arrays import ARRAY_AXES
from musclesolve.sharing.problem_scale import (
    fallback_weight,
    load,
    reserve_cost,
    reserve_terms,
    row_size,
    slope_size,
    without_reserve,
)
from musclesolve.sharing.program_runs import End, described, optima, run
from musclesolve.sharing.solution import Solution, SolutionArrays
from musclesolve.sharing.solver.endings import STOPPED
from musclesolve.sharing.solver.frame_program import least_squares_multiplier, polish
from musclesolve.sharing.solver.ipopt import Ipopt, IpoptOptions, frame_symbols
from musclesolve.sharing.solver.linked_frames import LinkedAttempt, LinkedFrames, MuscleChains, minimize
from musclesolve.sharing.solver.solver_registry import Attempt
from musclesolve.sharing.solving import ON_INFEASIBLE, solve
from musclesolve.sharing.status import Status, is_solved

if TYPE_CHECKING:
    import xarray as xr

MotionFormula = Callable[[Any, Any, Any], Any]
LEAST_UNKNOWN, FAR = 1e-3, 1e10
MOST_NAMED = 3
"""Number of frames out of reach that a note names."""


@dataclass(frozen=True, eq=False)
class Unknown:
    """Unknowns of a `motion_cost`: their shape, bounds, and where a solver starts.

    Args:
        shape: (i, j).
        lower: a number or (i, j).
        upper: a number or (i, j).
        start: a number or (i, j), within the bounds.
    """

    shape: tuple[int, int]
    lower: ArrayLike = -np.inf
    upper: ArrayLike = np.inf
    start: ArrayLike = 0.0

    def __post_init__(self) -> None:
        shape = self.shape
        whole = (
            isinstance(shape, tuple) and len(shape) == 2 and all(isinstance(n, int) and n > 0 for n in shape)
        )
        if not whole:
            raise input_error("bad_shape", where="Unknown", expected="(i, j)", name="an unknown", shape=shape)
        lower, upper, start = map(self.column, ("lower", "upper", "start"))
        if not ((lower <= upper) & np.isfinite(start)).all():
            problem = "an unknown has a lower bound above its upper one, or a start that is not finite"
            expected = "lower <= upper, and a finite start"
            raise input_error("bad_number", where="Unknown", problem=problem, expected=expected)

    def column(self, name: str) -> Array:
        """The numbers of lower, upper or start in the order of CasADi."""
        expected = f"a number or numbers {self.shape}"
        value = check_real_array(
            getattr(self, name), name, expected, where=f"Unknown.{name}", shapes=((), tuple(self.shape))
        )
        return np.broadcast_to(value, self.shape).ravel(order="F")


@dataclass(frozen=True, eq=False)
class MotionCost:
    """A cost over several frames; `motion_cost` makes it."""

    over_frames: ClassVar[bool] = True
    name: str
    function: MotionFormula = field(repr=False)
    uses: tuple[str, ...]
    constants: Mapping[str, Constant]
    unknowns: Mapping[str, Unknown]
    convex: bool

    def expression(self, problem: Problem, activation: Any, unknowns: Mapping[str, Any]) -> Any:
        """The value as an expression (casadi.MX) of activations (n, T) and unknowns."""
        from musclesolve._util.casadi_module import casadi

        data: dict[str, Any] = {name: _columns(self.name, problem, name) for name in self.uses}
        data |= {name: casadi.DM(constant.numbers) for name, constant in self.constants.items()}
        try:
            force = casadi.DM(problem.force_capacity.T) * activation
            value = evaluated(self.function, activation, force, {**data, **unknowns})
            value = casadi.MX(value)
        except InputError:
            raise
        except FAULTS as error:
            shapes = {name: getattr(part, "shape", "list") for name, part in data.items()}
            raise InputError(
                f"the expression cannot be evaluated: {reason_of(error)}; data has the shapes {shapes}",
                code="bad_cost",
                where=f"the cost {self.name}",
                expected="an expression of activation (n, T), force (n, T) and data",
            ) from error
        if value.shape != (1, 1):
            raise input_error("sharing.cost_value_not_scalar", cost=self.name, shape=value.shape)
        if "emg" in self.uses and np.isnan(field_of(problem, "emg", self.name)).any():
            symbols = casadi.symvar(value)
            if not casadi.Function("value", symbols, [value])(*([0.5] * len(symbols))).is_regular():
                refuse_unmeasured(problem, self.name, "constants", "problem.emg.T")
        return value


def motion_cost(
    name: str,
    expression: MotionFormula,
    *,
    uses: tuple[str, ...] = (),
    constants: Mapping[str, ArrayLike] | None = None,
    unknowns: Mapping[str, Unknown] | None = None,
    convex: bool = False,
) -> MotionCost:
    """Make a cost over several frames of a CasADi expression; `program` takes it.

    Args:
        name: in messages and results.
        expression: `expression(activation, force, data)` gives the value of all frames together. activation (n, T) and
            force (n, T) [N] are symbols, every attribute of data is an array of CasADi.
        uses: fields of Problem that become attributes of data with the frames as columns: fiber_length (n, T), moment
            (m, T), time (1, T); max_isometric_force (n, 1) and other fields without frames; moment_arm and
            reaction_matrix as a list of T matrices (m, n); "dt" (1, T - 1) [s], the steps of `Problem.time`.
        constants: further attributes of data: numbers, (j,) as a column, or matrices.
        unknowns: further unknowns of the program by name, attributes of data.
        convex: whether you declare it convex, together with all unknowns; an answer at which it bends downward along
            one of a few directions is an error.

    Raises:
        InputError: an unknown field, a constant that is no finite number or matrix, a name that occurs twice.

    Examples:
        >>> smooth = ms.sharing.motion_cost(
        ...     "smooth", lambda a, force, data: 0.1 * casadi.sumsqr(a[:, 1:] - a[:, :-1]), convex=True
        ... )
        >>> smooth.name, smooth.convex
        ('smooth', True)
    """
    uses = (uses,) if isinstance(uses, str) else tuple(uses)
    check_fields(name, uses, (*ARRAY_AXES, "dt"))
    numbers = {str(key): Constant.of(name, str(key), value, 0) for key, value in (constants or {}).items()}
    extra = {
        str(key): check_type(value, Unknown, key, "an Unknown") for key, value in (unknowns or {}).items()
    }
    if len({*uses, *numbers, *extra}) < len(uses) + len(numbers) + len(extra):
        raise input_error("sharing.same_data_twice", name=name)
    return MotionCost(name, expression, tuple(uses), numbers, extra, bool(convex))


@dataclass(frozen=True)
class Scale:
    """Divisors: of f, `cost`; of reserves and moments, `row` (T, m); of constraints, `size` (T, j)."""

    cost: float
    row: Array
    size: Array


@dataclass(frozen=True, eq=False, repr=False)
class ProgramSolution(ConstrainedSolution):
    """A `ConstrainedSolution` of a program.

    Attributes:
        unknown: values of the unknowns of the motion costs, by name.
        total_cost: the value of the whole program: all frames, reserves and terms over several frames.
        start_costs: total cost from each start of `Program.solve(starts=...)`, NaN where a frame was not certified.
        message: what the solver reports at its end; with the numbers of frames where these end differently.
        optima: (T,) number of optima that several starts found (certified results that differ by more than 1e-4 in an
            activation), of the whole motion where a motion cost joins the frames; zero from a single start.
        optima_apart: (T,) [N] largest difference of a muscle's force between two of them.
    """

    unknown: Mapping[str, Array] = field(default_factory=dict)
    total_cost: float = np.nan
    start_costs: tuple[float, ...] = ()
    message: str = ""
    optima: AnyArray = field(default_factory=lambda: np.zeros(0, np.int64))
    optima_apart: Array = field(default_factory=lambda: np.zeros(0))

    def to_dataset(self, problem: Problem | None = None, time: ArrayLike | None = None) -> "xr.Dataset":
        """See `ConstrainedSolution.to_dataset`; adds the unknowns, over axes of their own, and total_cost."""
        data = super().to_dataset(problem, time).assign_attrs(total_cost=self.total_cost)
        return data.assign(
            {name: ((f"{name}_i", f"{name}_j"), array) for name, array in self.unknown.items()}
        )


@dataclass(frozen=True, eq=False)
class Program:
    """Minimize f(x, p) subject to lbg <= g(x, p) <= ubg and lbx <= x <= ubx; `program` makes it.

    x is, frame after frame, the n activations and the m reserves over `scale.row` (none without a reserve weight); then
    the unknowns of motion costs. g is, frame after frame, the m moments over `scale.row` (0 where met) and the
    constraints over `scale.size`. f is the cost over `scale.cost`.

    Attributes:
        x, p, f, g: expressions of CasADi (MX); `nlp` has all four.
        p_value: (P,) the numbers of this problem.
        lbx, ubx, x0: (N,) bounds and a start.
        lbg, ubg: (G,) bounds.
        scale: see `Scale`.
    """

    problem: Problem
    cost: Cost
    constraints: Constraints
    motion_costs: tuple[MotionCost, ...]
    x: Any
    p: Any
    f: Any
    g: Any
    p_value: Array
    lbx: Array
    ubx: Array
    x0: Array
    lbg: Array
    ubg: Array
    scale: Scale
    frame_nlp: Mapping[str, Any] = field(repr=False)  # x, p, f, g of one frame
    slope_of_terms: Any = field(repr=False)  # z = (a (n T), u) -> W, dW/da, dW/du, d2W/du2
    bends: tuple[tuple[MotionCost, Any], ...] = field(repr=False, default=())  # (z, dz) -> curvature
    single_frame: bool = False

    __repr__ = with_sizes

    @property
    def nlp(self) -> dict[str, Any]:
        """The program for `casadi.nlpsol`."""
        return {"x": self.x, "p": self.p, "f": self.f, "g": self.g}

    @cached_property
    def x_names(self) -> tuple[str, ...]:
        """Names of the unknowns, such as "soleus_r[12]"."""
        problem = self.problem
        soft = self._width - problem.n_muscles
        labels = [*(problem.muscle or ()), *(f"reserve {dof}" for dof in (problem.dof or ())[:soft])]
        of_frames = (f"{name}[{t}]" for t in range(problem.n_frames) for name in labels)
        entries = (
            f"{name}[{i},{j}]"
            for term in self.motion_costs
            for name, unknown in term.unknowns.items()
            for j in range(unknown.shape[1])
            for i in range(unknown.shape[0])
        )
        return (*of_frames, *entries)

    @cached_property
    def g_names(self) -> tuple[str, ...]:
        """Names of the rows of g, such as "moment ankle_dorsiflexion_r[12]"."""
        rows = [*(f"moment {dof}" for dof in self.problem.dof or ())]
        rows += [constraint.name for constraint in self.constraints.constraints]
        return tuple(f"{name}[{t}]" for t in range(self.problem.n_frames) for name in rows)

    @property
    def arguments(self) -> dict[str, Array]:
        """The numbers for the function that `nlpsol` returns: p, bounds and start."""
        bounds_and_start = ("lbx", "ubx", "lbg", "ubg", "x0")
        return {"p": self.p_value} | {name: getattr(self, name) for name in bounds_and_start}

    @property
    def stationary_only(self) -> bool:
        """True where a certified point need not be the optimum: something is not known to be convex."""
        convex = self.constraints.surely_convex and all(part.convex for part in self.motion_costs)
        return "nonconvex" in self.cost.needs or not convex

    def nlpsol(self, solver: str | Ipopt = "ipopt", options: Mapping[str, Any] | None = None) -> Any:
        """The solver `casadi.nlpsol(...)` of this program; `solver(**program.arguments)` runs it.

        Args:
            solver: "ipopt", "sqpmethod", "fatrop", "blocksqp", or another one that CasADi has; or an `Ipopt(...)` with
                its options and callback.
            options: as `casadi.nlpsol` takes them; they come after the options of `Ipopt(...)`.

        Raises:
            InputError: CasADi has no such solver, or the solver refuses an option.
        """
        made = self._made(solver, options, self.nlp, self.problem.n_frames)
        return made[0]

    def _made(
        self, solver: str | Ipopt, options: Mapping[str, Any] | None, nlp: Mapping[str, Any], count: int
    ) -> tuple[Any, Any]:
        """The solver of a program of `count` frames, and the callback of an Ipopt as an object of CasADi, or None."""
        from musclesolve._util.casadi_module import casadi

        check_type(solver, str | Ipopt, "nlpsol", "the name of a solver of casadi.nlpsol, or an Ipopt(...)")  # type: ignore[arg-type]
        check_type(options or {}, Mapping, "nlpsol", "a dictionary of options")
        name, watching = (
            (solver, None) if isinstance(solver, str) else (solver.name, solver.casadi_callback(nlp))
        )
        chosen: dict[str, Any] = {"print_time": False, "error_on_fail": False, **_DEFAULTS.get(name, {})}
        if not isinstance(solver, str):
            chosen["ipopt"] = solver.ipopt()
            if watching is not None:
                chosen["iteration_callback"] = watching
        if name == "fatrop":
            rows = nlp["g"].numel()
            chosen |= {"equality": (self.lbg == self.ubg).tolist()[:rows], "structure_detection": "none"}
            if not self.joined:  # a frame is a stage without states
                nx, nu, ng = [0] * count, [nlp["x"].numel() // count] * count, [rows // count] * count
                chosen |= {"structure_detection": "manual", "N": count - 1, "nx": nx, "nu": nu, "ng": ng}
        for key, value in (options or {}).items():
            chosen[key] = {**chosen[key], **dict(value)} if isinstance(chosen.get(key), dict) else value
        try:
            if not casadi.has_nlpsol(name):  # nlpsol would print where it searched
                raise TypeError("there is none of this name")
            return casadi.nlpsol("sharing", name, nlp, chosen), watching
        except (RuntimeError, TypeError) as error:
            raise InputError(
                f"casadi.nlpsol refuses the solver {name!r} with these options: {reason_of(error)}",
                code="unknown_name",
                where="nlpsol",
                expected="a solver that CasADi has, such as ipopt, sqpmethod, fatrop or blocksqp, and its options",
            ) from error

    def quadratic(self) -> dict[str, Any]:
        """The numbers of a quadratic cost with linear constraints, for your own solver of quadratic programs.

            minimize 1/2 x.P x + q.x   such that   lba <= A x <= uba,   lbx <= x <= ubx

        The unknowns x, the rows, the bounds and the scale are of the program. `solution(x, lam_g)` certifies what the
        solver finds, with lam_g of P x + q + A^T lam_g = 0 where no bound is active.

        Returns:
            By name: P (N, N) and A (G, N), CSC matrices of SciPy; q, lbx, ubx (N,); lba, uba (G,).

        Raises:
            InputError: a cost is not quadratic, or a constraint is not linear.
        """
        from musclesolve._util.casadi_module import casadi

        slope, rows = casadi.gradient(self.f, self.x), casadi.jacobian(self.g, self.x)
        parts = [casadi.jacobian(slope, self.x), rows, slope, self.g]
        low, high = (np.clip(x, self.x0 - 0.3, self.x0 + 0.3) for x in (self.lbx, self.ubx))
        other = np.random.default_rng(0).uniform(low, high)
        with CASADI:
            at = casadi.Function("quadratic", [self.x, self.p], parts)
            (P, A, q, g), there = at(self.x0, self.p_value), at(other, self.p_value)
        P, A = P.sparse(), A.sparse()
        q, g = (part.full()[:, 0] - matrix @ self.x0 for part, matrix in ((q, P), (g, A)))
        for what, matrix, offset, value in (("cost", P, q, there[2]), ("constraint", A, g, there[3])):
            if not np.allclose(matrix @ other + offset, value.full()[:, 0], 1e-9, 1e-9):
                fault, expected = f"a {what} is of a higher degree", "a quadratic cost, linear constraints"
                raise input_error("bad_cost", where="Program.quadratic", problem=fault, expected=expected)
        bounds = {"lba": self.lbg - g, "uba": self.ubg - g, "lbx": self.lbx, "ubx": self.ubx}
        return {"P": P, "q": q, "A": A, **bounds}

    @property
    def joined(self) -> bool:
        """Whether a motion cost joins the frames; else each frame is a program of its own."""
        return bool(self.motion_costs)

    @cached_property
    def chains(self) -> MuscleChains | None:
        """The terms over several frames, where the structured method takes the program; else None.

        They are then convex quadratics of each muscle and itself in the next frame, beside a convex cost of single
        muscles and squares of linear combinations, without constraints and further unknowns.
        """
        frames, muscles = self.problem.force_capacity.shape
        further = self.constraints.constraints or any(part.unknowns for part in self.motion_costs)
        if not self.joined or further or self.stationary_only or "coupled" in self.cost.needs:
            return None
        with CASADI, np.errstate(all="ignore"):
            found = MuscleChains.recognized(
                lambda a: self.slope_of_terms(a.ravel())[1].full().reshape(a.shape), frames, muscles
            )
        return found if found is not None and found.convex else None

    def _structured(self, chains: MuscleChains) -> End:
        """The end of the structured method; unknowns x0 where a frame is out of reach by itself."""
        problem, cost, scale = self.problem, self.cost, self.scale
        weight, single = problem.reserve_weight, solve(problem, cost)
        unknown = np.full(self.lbg.shape, np.nan)
        if (single.status == Status.INFEASIBLE).any():
            return End(self.x0, unknown, 0, Status.SOLVER_FAILED, "A frame is out of reach.")
        compliance = np.zeros_like(problem.moment) if weight is None else 1.0 / weight
        none = np.zeros((problem.n_frames, 0))

        def judge(attempt: LinkedAttempt) -> Certificate:
            a, multiplier = attempt.activation, attempt.multiplier[:, : problem.n_dof]
            reserve, slope = compliance * multiplier, chains.slope(a)
            return self.constraints.certificate(a, reserve, multiplier, none, slope).joined()

        found = minimize(
            LinkedFrames.from_problem(problem, cost, weight, chains=chains), judge, single.activation
        )
        multiplier, x = found.multiplier[:, : problem.n_dof], self.x0.copy()
        parts = self._frames(x)
        parts[:, : problem.n_muscles] = found.activation
        parts[:, problem.n_muscles :] = (compliance * multiplier / scale.row)[
            :, : self._width - problem.n_muscles
        ]
        duals = (-multiplier * scale.row / scale.cost).ravel()
        return End(x, duals, found.iterations, Status.SOLVED, "The structured method ended.")

    def solve(
        self,
        solver: str | Ipopt | None = None,
        options: Mapping[str, Any] | None = None,
        *,
        start: Solution | ArrayLike | None = None,
        starts: int = 1,
        seed: int = 0,
        on_infeasible: str = "report",
    ) -> ProgramSolution:
        """Solve by the structured method or by any solver of `casadi.nlpsol`; the result is certified anew.

        Without motion costs every frame is solved by itself: a frame out of reach leaves the others solved. With motion
        costs all frames are one program, which such a frame leaves without a solution; `notes` name the frame.

        Args:
            solver: see `nlpsol`. None: where each motion cost is a convex quadratic of each muscle and itself in the
                next frame, such as squared changes of activations or forces, the structured method
                (solver/linked_frames.py), without options and for one start; else, and where that is not certified,
                Ipopt. A callback of `Ipopt` that returns True ends the frame, or the joined frames.
            options: see `nlpsol`.
            start: a Solution, activations (T, n) or all unknowns x (N,), to start from.
            starts: number of starts: the first from `start` or the middle of the bounds, the others at random between
                the bounds. The certified point of least cost is returned, in every frame by itself without motion
                costs; `optima`, `optima_apart` and `notes` state how many there are.
            seed: of the random starts.
            on_infeasible: as in `solve`: "report" leaves an infeasible frame without a solution; "reserve" solves it
                again with reserves, weighted so that 1 N m of reserve costs 100 times all muscles at full activation.
                With motion costs the whole motion is solved again, with reserves in the frames that are proved
                infeasible (in all frames, where none is proved).

        Raises:
            InputError: see `nlpsol`; a start of another shape; no whole number of starts; another `on_infeasible`.
        """
        check_choice(on_infeasible, "on_infeasible", ON_INFEASIBLE)
        starts = check_integer(starts, "starts", 1)
        random, first = np.random.default_rng(seed), self._start(start)
        low = np.where(np.isfinite(self.lbx), self.lbx, first - 1.0)
        high = np.where(np.isfinite(self.ubx), self.ubx, np.maximum(first, low) + 1.0)
        points = [first, *(random.uniform(low, high) for _ in range(starts - 1))]
        chains = self.chains if solver is None and options is None and starts == 1 else None
        solver = "ipopt" if solver is None else solver
        name = "structured" if chains is not None else solver if isinstance(solver, str) else solver.name
        pieces = list(range(1 if self.joined else self.problem.n_frames))
        runs = [
            dict(zip(pieces, of_start, strict=True))
            for of_start in self._runs(solver, options, points, pieces, chains)
        ]
        solution = self._best(runs, name)
        if on_infeasible == "reserve" and (needy := self._needy(solution, runs)).any():
            helped = self.with_reserves(needy)
            again = pieces if self.joined else np.flatnonzero(needy).tolist()
            widened = [helped._widened(self, point) for point in points]
            repeated = helped._runs(solver, options, widened, again, chains)
            for of_start, ends in zip(runs, repeated, strict=True):
                for piece, end in of_start.items():
                    of_start[piece] = end._replace(x=helped._widened(self, end.x))
                of_start.update(zip(again, ends, strict=True))
            solution = _where_solved(helped._best(runs, name), solution)
        if chains is not None and (solution.status == Status.SOLVER_FAILED).any():
            return self.solve("ipopt", start=start, on_infeasible=on_infeasible)
        return solution.drop_frame_axis() if self.single_frame else solution  # type: ignore[return-value]

    def _runs(
        self,
        solver: str | Ipopt,
        options: Mapping[str, Any] | None,
        points: Sequence[Array],
        pieces: Sequence[int],
        chains: MuscleChains | None = None,
    ) -> list[list[End]]:
        """Run a solver on some pieces, from each of several points (N,); the structured method with `chains`."""
        if chains is not None:
            return [[self._structured(chains)]]
        count = 1 if self.joined else self.problem.n_frames
        nlp = self.nlp if self.joined else self.frame_nlp
        numbers = {name: array.reshape(count, -1) for name, array in self.arguments.items()}
        ends = []
        with CASADI:
            made, watching = self._made(solver, options, nlp, 1 if not self.joined else self.problem.n_frames)
            for point in points:
                numbers["x0"] = point.reshape(count, -1)
                ends.append(
                    [run(made, watching, {name: rows[k] for name, rows in numbers.items()}) for k in pieces]
                )
        return ends

    def _best(self, runs: Sequence[Mapping[int, End]], name: str) -> ProgramSolution:
        """The best end of every piece, by its certified cost, as a Solution with an axis of frames."""
        answers = [self._certified(list(of_start.values()), name) for of_start in runs]
        if self.joined:
            cost = np.array([[each.total_cost if each.solved.all() else np.nan] for each in answers])
        else:
            cost = np.stack([each.cost + reserve_cost(self.problem, each.reserve) for each in answers])
        best = np.where(np.isfinite(cost), cost, np.inf).argmin(axis=0)
        start_costs = tuple(cost.sum(axis=1).tolist())
        if len(answers) == 1:
            return replace(answers[0], start_costs=start_costs)
        chosen = answers[best[0]]
        if (best != best[0]).any():
            chosen = self._certified([runs[s][k] for k, s in enumerate(best)], name)
        found = optima(answers, self.problem, self.joined)
        return replace(
            chosen,
            start_costs=start_costs,
            optima=found.count,
            optima_apart=found.apart,
            notes=(*chosen.notes, found.sentence),
        )

    def _certified(self, ends: Sequence[End], name: str) -> ProgramSolution:
        """The Solution, with an axis of frames, of the ends of all pieces."""
        frames = self.problem.n_frames
        message: AnyArray = np.full(frames, "", object)
        message[:] = [end.message for end in ends]
        return self._judged(
            np.concatenate([end.x for end in ends]),
            np.concatenate([end.multiplier for end in ends]),
            np.broadcast_to([end.iterations for end in ends], frames),
            np.broadcast_to([end.claim for end in ends], frames),
            name,
            message,
        )

    def _needy(self, solution: ProgramSolution, runs: Sequence[Mapping[int, End]]) -> Mask:
        """Mask (T,) of the frames that get reserves; none where the user ended the solver."""
        ended = [any(of_start[k].message in STOPPED for of_start in runs) for k in runs[0]]
        unsolved = (
            ~solution.solved
            & without_reserve(self.problem).any(axis=1)
            & ~empty_box(self.problem)
            & ~np.array(ended)
        )
        proved = unsolved & (solution.status == Status.INFEASIBLE)
        return proved if self.joined and proved.any() else unsolved

    def with_reserves(self, which: Mask) -> "Program":
        """The program with reserves of the weight of `solve(on_infeasible="reserve")` in frames `which` (T,).

        Reserves of the problem keep their weights; other frames have no further ones.
        """
        problem, exact = self.problem, without_reserve(self.problem)
        weight = np.full(exact.shape, np.inf) if problem.reserve_weight is None else problem.reserve_weight
        stiff = fallback_weight(problem, self.cost)
        weight = np.where(exact & which[:, None], stiff, weight)
        helped = problem.with_arrays(reserve_weight=weight)
        made = program(helped, self.cost, self.constraints.constraints, self.motion_costs)
        return replace(made, single_frame=self.single_frame)

    def _widened(self, narrow: "Program", x: Array) -> Array:
        """Unknowns of a program without reserves, of all frames or of some, as unknowns of this one; x if alike."""
        problem, missing = self.problem, self._width - narrow._width
        if not missing:
            return x
        parts = x[: x.size // narrow._width * narrow._width].reshape(-1, narrow._width)
        parts = parts[: problem.n_frames]
        return np.concatenate([np.pad(parts, ((0, 0), (0, missing))).ravel(), x[parts.size :]])

    def _start(self, start: Solution | ArrayLike | None) -> Array:
        if start is None:
            return self.x0
        x = self.x0.copy()
        frames, muscles = self.problem.force_capacity.shape
        given = start.activation if isinstance(start, Solution) else start
        array = np.nan_to_num(check_real_array(given, "start", "activations (T, n), or all unknowns (N,)"))
        if array.shape == x.shape:
            return np.clip(array, self.lbx, self.ubx)
        if array.shape != (frames, muscles) and not (frames == 1 and array.shape == (muscles,)):
            expected = f"{(frames, muscles)} activations, or {x.shape} unknowns"
            raise input_error("bad_shape", where="start", expected=expected, name="start", shape=array.shape)
        self._frames(x)[:, :muscles] = array.reshape(frames, muscles)
        if isinstance(start, ProgramSolution) and start.unknown:
            known = [
                start.unknown[name].ravel(order="F") for cost in self.motion_costs for name in cost.unknowns
            ]
            x[self._frames(x).size :] = np.concatenate(known)
        return np.clip(x, self.lbx, self.ubx)

    def _frames(self, x: Array) -> Array:
        """A view (T, n + m) of the unknowns of the frames."""
        frames = self.problem.n_frames
        return x[: frames * self._width].reshape(frames, self._width)

    @property
    def _width(self) -> int:
        """Number of unknowns of a frame."""
        return self.problem.n_muscles + (0 if self.problem.reserve_weight is None else self.problem.n_dof)

    def unknowns(self, x: Array) -> tuple[Array, Array, dict[str, Array]]:
        """Activations (T, n), reserves (T, m) [N m] and the unknowns of motion costs, from all unknowns x (N,)."""
        problem, parts = self.problem, self._frames(x)
        activation = parts[:, : problem.n_muscles]
        reserve = (
            parts[:, problem.n_muscles :] * self.scale.row if parts.shape[1] > problem.n_muscles else None
        )
        by_name = _by_name(self.motion_costs, x[parts.size :], lambda part, *of: part.reshape(of, order="F"))
        return activation, np.zeros_like(problem.moment) if reserve is None else reserve, by_name

    def solution(
        self,
        x: ArrayLike,
        lam_g: ArrayLike | None = None,
        *,
        iterations: int = 0,
        claim: Status = Status.SOLVED,
        solver: str = "nlpsol",
        message: str = "",
    ) -> ProgramSolution:
        """The Solution of unknowns that any solver found; the certificate is recomputed from the problem.

        Without constraints and motion costs a frame is refined by steps of Newton's method first (`polished`).

        Args:
            x: (N,) unknowns.
            lam_g: (G,) multipliers of g as CasADi returns them (they are added to f); estimated by least squares
                where not given or not finite.
            iterations: for the record.
            claim: MAX_ITERATIONS where the solver ran out of iterations; no other claim counts.
            solver: its name, for the record.
            message: of the solver, for the record.

        Raises:
            InputError: arrays of another shape.
        """
        x = check_real_array(x, "x", f"{self.x0.size} unknowns", shapes=(self.x0.shape,))
        duals = np.full(self.lbg.shape, np.nan)
        if lam_g is not None:
            duals = check_real_array(lam_g, "lam_g", f"{self.lbg.size} multipliers", shapes=(self.lbg.shape,))
        count = self.problem.n_frames
        messages: AnyArray = np.full(count, message, object)
        solution = self._judged(x, duals, np.full(count, iterations), np.full(count, claim), solver, messages)
        return solution.drop_frame_axis() if self.single_frame else solution  # type: ignore[return-value]

    def _judged(
        self, x: Array, duals: Array, iterations: AnyArray, claim: AnyArray, solver: str, message: AnyArray
    ) -> ProgramSolution:
        """`solution` with an axis of frames: iterations, claim and message are (T,), duals NaN where not known."""
        problem, constraints, scale = self.problem, self.constraints, self.scale
        x = np.clip(x, self.lbx, self.ubx)
        activation, reserve, found = self.unknowns(x)
        value, by_activation, by_unknown, hessian = (
            np.asarray(part, dtype=float)
            for part in self.slope_of_terms(np.append(activation, x[self._frames(x).size :]))
        )
        slope = by_activation.reshape(activation.shape)
        duals = duals.reshape(problem.n_frames, -1) * -scale.cost
        multiplier, further = duals[:, : problem.n_dof] / scale.row, duals[:, problem.n_dof :] / scale.size
        if not further.size:
            multiplier = self._estimated(activation, multiplier, slope)
        attempt = Attempt.blank(problem)
        attempt.activation[:], attempt.reserve[:], attempt.multiplier[:] = activation, reserve, multiplier
        attempt.iterations[:], attempt.claim[:], attempt.message[:] = iterations, claim, message
        activation, reserve, multiplier = attempt.activation, attempt.reserve, attempt.multiplier
        if not (constraints.constraints or self.motion_costs):
            polish(problem, self.cost, attempt)
        further = constraints.of_active(activation, further)
        certificate = constraints.certificate(activation, reserve, multiplier, further, slope)
        if self.motion_costs:
            if self.chains is None:  # else the quadratic is known to be convex
                self._check_terms(np.append(activation, x[self._frames(x).size :]))
            certificate = certificate.joined(self._excess_of_unknowns(x, by_unknown.ravel(), hessian))

        certified = certificate.holds
        check_solution(problem.frames(certified), self.cost, activation[certified])
        arrays = SolutionArrays.empty(problem)
        (value_of, multiplier_of, missing), notes = store_claims(
            arrays, np.arange(problem.n_frames), attempt, certificate, constraints, further, solver
        )
        effort = (
            self.cost.value(problem, activation).sum() + reserve_cost(problem, reserve).sum() + value.sum()
        )
        plain = arrays.to_solution(self.cost, SimpleNamespace(name=solver), problem)
        notes = (*plain.notes, *self._out_of_reach(arrays.status, multiplier_of), *notes)
        if not certified.all():
            notes += self._unbounded(found)
        return ProgramSolution(
            **vars(plain) | {"stationary_only": self.stationary_only, "notes": notes},
            constraint=tuple(constraint.name for constraint in constraints.constraints),
            constraint_value=value_of,
            constraint_multiplier=multiplier_of,
            missing_moment=missing,
            unknown=found,
            total_cost=float(effort),
            message=described(message),
            optima=np.zeros(problem.n_frames, np.int64),
            optima_apart=np.zeros(problem.n_frames),
        )

    def _unbounded(self, found: Mapping[str, Array]) -> tuple[str, ...]:
        """A sentence on the first unknown that grew without a bound, as where the cost has no least value."""
        for name, values in found.items():
            largest = values.flat[int(np.abs(np.nan_to_num(values)).argmax())]
            if np.abs(largest) > FAR:
                return (
                    f"The unknown {name} grew to {largest:.3g}, as where the cost is unbounded below: give it "
                    "bounds, Unknown(lower=..., upper=...), or a cost that is least somewhere.",
                )
        return ()

    def _out_of_reach(self, status: AnyArray, further: Array) -> tuple[str, ...]:
        """A sentence on the first frames (T,) whose moments are out of reach, and what they mean for the others.

        further: (T, j) multipliers of the constraints; NaN where a proof rests on the moments alone.
        """
        from musclesolve.sharing.analysis.diagnosis import diagnose, moment_text

        infeasible = np.flatnonzero((status == Status.INFEASIBLE) & ~np.isfinite(further).any(axis=1))
        why = diagnose(self.problem, frames=infeasible[:MOST_NAMED], cost=self.cost)
        dofs, lacking = self.problem.dof or (), []
        for frame, shortage in zip(why.frame, why.shortage, strict=True):
            large = np.flatnonzero(np.abs(shortage) > LEAST_SHARE * np.abs(shortage).max(initial=0.0))
            moments = enumerated([f"{moment_text(shortage[k], dofs[k], {})} at {dofs[k]}" for k in large])
            lacking.append(f"frame {frame} lacks {moments}")
        if not lacking:
            return ()
        more = len(infeasible) - MOST_NAMED
        others = f", and {count_of(more, 'further frame')} as well" if more > 0 else ""
        joined = " A motion cost joins the frames, so that no frame has a solution." if self.joined else ""
        return (
            f"Out of reach: {enumerated(lacking)}{others}.{joined} Leave such frames out, give the problem a "
            "reserve_weight, or state on_infeasible='reserve'.",
        )

    def _estimated(self, activation: Array, multiplier: Array, further: Array) -> Array:
        """The multipliers, estimated by least squares in frames where they are not finite."""
        problem, multiplier = self.problem, multiplier.copy()
        lacking = ~np.isfinite(multiplier).all(axis=1) & np.isfinite(activation).all(axis=1)
        if lacking.any():
            slope = self.cost.gradient(problem, activation) + further
            for t in np.flatnonzero(lacking):
                bounds = problem.lower[t], problem.upper[t]
                multiplier[t] = least_squares_multiplier(
                    problem.moment_matrix[t], slope[t], activation[t], *bounds
                )
        return multiplier

    def _excess_of_unknowns(self, x: Array, slope: Array, hessian: Array) -> float:
        """The cost that unknowns u may save [unit of the cost]: the lesser of two bounds, see the module."""
        if not slope.size:
            return 0.0
        if not np.isfinite(slope).all():
            return np.inf
        first = x.size - slope.size
        u, low, high = x[first:], self.lbx[first:], self.ubx[first:]
        with np.errstate(invalid="ignore"):
            room = np.where(slope > 0.0, u - low, np.where(slope < 0.0, u - high, 0.0))
            saved = slope * room
        if not np.isfinite(hessian).all():
            return float(saved.sum())
        size = max(LEAST_UNKNOWN, float(np.abs(u).max()))
        near = TOLERANCE * size  # interior points end beside a bound, not at it
        free = ~((u <= low + near) & (slope > 0)) & ~((u >= high - near) & (slope < 0))
        if not free.any():
            return float(saved.sum())
        bend = hessian[np.ix_(free, free)]
        step = np.linalg.lstsq(bend, slope[free], rcond=1e-14)[0]
        # what no bend limits counts over the size of the unknowns
        newton = abs(float(slope[free] @ step)) + size * float(np.abs(bend @ step - slope[free]).sum())
        return float(saved[~free].sum() + min(saved[free].sum(), newton))

    def _check_terms(self, z: Array) -> None:
        """Refuse a motion cost that is declared convex and bends downward along a random direction at a point z."""
        if not (self.bends and np.isfinite(z).all()):
            return
        drawn = np.random.default_rng(0).normal(size=(8, z.size))
        slope = np.hstack([part.full().ravel() for part in self.slope_of_terms(z)[1:3]])[None]
        for term, bend in self.bends:
            bent = np.array([float(bend(z, direction)) for direction in drawn])
            if bends_down(slope, bent[None]).any():
                reason = f"its second derivative along some direction is {bent.min():g}"
                raise input_error("sharing.cost_not_convex", cost=term.name, reason=reason)


_DEFAULTS: dict[str, dict[str, Any]] = {
    "ipopt": {
        "show_eval_warnings": False,
        "ipopt": IpoptOptions(
            1e-12, 1000, {"constr_viol_tol": 1e-10, "mu_strategy": "adaptive", "mu_min": 1e-18}
        ).ipopt(),
    },
    "sqpmethod": {
        **{"print_header": False, "print_iteration": False, "print_status": False, "qpsol": "qrqp"},
        **{"tol_pr": 1e-10, "tol_du": 1e-10, "max_iter": 200, "show_eval_warnings": False},
        "qpsol_options": dict.fromkeys(("print_iter", "print_header", "print_info", "error_on_fail"), False),
    },
    "blocksqp": {
        "print_header": False,
        "print_iteration": False,
        "linsol": "ldl",
        "opttol": 1e-10,
        "nlinfeastol": 1e-10,
    },
    "fatrop": {"fatrop": {"print_level": 0, "tol": 1e-8, "max_iter": 300}},
}
"""Options that make the solvers of CasADi silent and exact; those of the user come after them."""


def program(
    problem: Problem,
    cost: str | Cost = USUAL_COST,
    constraints: ExpressionConstraint | Sequence[ExpressionConstraint] = (),
    motion_costs: MotionCost | Sequence[MotionCost] = (),
) -> Program:
    """Force sharing of all frames as one symbolic program: x, f, g, p, bounds, names and scale.

    Args:
        problem: of one frame, a window, or a whole motion.
        cost: a name or a Cost with smooth terms.
        constraints: of `expression_constraint`, in every frame.
        motion_costs: of `motion_cost`, added to the costs of the frames.

    Raises:
        InputError: frames whose numbers are not finite; a cost with levels or kinks; an expression that does not fit
            the problem; two unknowns of one name.

    Examples:
        >>> problem = ms.Problem([[0.05, 0.03]], [20.0], [1000.0, 400.0], [1000.0, 400.0])
        >>> program = ms.sharing.program(problem, "stress_cubed")
        >>> solution = program.solve("sqpmethod")
        >>> bool(np.allclose(solution.activation, ms.solve(problem, "stress_cubed").activation, atol=1e-8))
        True
    """
    from musclesolve._util.casadi_module import casadi

    problem = check_problem(problem, "program")
    chosen = check_smooth_cost(cost, problem, "minimized as a symbolic program")
    chosen.check_names(*problem.names)
    listed = checked_constraints(constraints, problem)
    terms = tuple(motion_costs) if isinstance(motion_costs, Sequence) else (motion_costs,)
    for term in terms:
        check_type(term, MotionCost, "motion_costs", "costs over several frames, from `motion_cost`")
    names = [name for term in terms for name in term.unknowns]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        called = f"two unknowns are called {twice[0]!r}"
        raise input_error("duplicate_name", where="motion_costs", problem=called, expected="other names")
    if not problem.n_frames:
        raise input_error("too_few_frames", where="problem", count=0, least=1)
    if not problem.valid.all():
        frame = int(np.flatnonzero(~problem.valid)[0])
        raise InputError(
            f"frame {frame} has numbers that are not finite",
            code="not_finite",
            where="problem",
            expected="a program of frames that can be solved",
            remedy="leave such frames out: problem.frames(problem.valid)",
        )
    problem = within_domain(problem, chosen)
    check_cost(problem, chosen)
    check_expression(problem, chosen)
    frames, muscles = problem.force_capacity.shape
    weight, free = reserve_terms(problem)
    soft = weight.shape[1]
    held = Constraints.of(problem, chosen, listed)
    size = held.size_at_rest()

    row = row_size(problem)
    steepest = float(slope_size(problem, chosen, load(problem)).max())
    steepest = steepest if steepest > 0 else 1.0
    weight = weight * row[:, :soft] ** 2 / steepest
    of_constraints = tuple(constraint.body.parameters(problem) for constraint in listed)
    numbers = (chosen.parameters(problem), of_constraints)
    scaled = (np.full(frames, 1.0 / steepest), weight, 1.0 / size, problem.moment_matrix / row[:, :, None])
    symbols = frame_symbols(
        chosen,
        tuple(constraint.body for constraint in listed),
        (problem.n_dof, muscles, soft),
        shapes_of(numbers),
    )
    of_frame = casadi.Function("frame", [symbols["x"], symbols["p"]], [symbols["f"], symbols["g"]])
    p_value = flat((numbers, *scaled, problem.moment / row), frames)

    width, extra = muscles + soft, [unknown for term in terms for unknown in term.unknowns.values()]
    count = sum(int(np.prod(unknown.shape)) for unknown in extra)
    x, p = casadi.MX.sym("x", frames * width + count), casadi.MX.sym("p", p_value.size)
    columns = casadi.reshape(x[: frames * width], width, frames)
    costs, rows = of_frame.map(frames)(columns, casadi.reshape(p, p_value.shape[1], frames))
    objective = casadi.sum2(costs)

    # terms over several frames, with their slopes for the certificate; z is activations and unknowns
    shared = frames * muscles
    z, dz = (casadi.MX.sym(name, shared + count) for name in ("z", "dz"))
    values, bends, by_name = casadi.MX(0), [], _by_name(terms, z[shared:], casadi.reshape)
    for term in terms:
        of_term = {name: by_name[name] for name in term.unknowns}
        value = term.expression(problem, casadi.reshape(z[:shared], muscles, frames), of_term)
        values = values + value
        if term.convex:
            moved = casadi.jtimes(casadi.gradient(value, z), z, dz)
            bends.append((term, casadi.Function("bend", [z, dz], [casadi.dot(moved, dz)])))
    slope = casadi.densify(casadi.gradient(values, z))
    bent = casadi.densify(casadi.jacobian(slope[shared:], z)[:, shared:])
    slopes = casadi.Function("terms", [z], [values, slope[:shared], slope[shared:], bent])
    if terms:
        total = casadi.Function("total", [z], [values])
        at = casadi.vertcat(casadi.vec(columns[:muscles, :]), x[frames * width :])
        objective = objective + total(at) / steepest

    parts = {kind: [unknown.column(kind) for unknown in extra] for kind in ("lower", "upper", "start")}
    lower = np.concatenate([np.hstack([problem.lower, -free]).ravel(), *parts["lower"]])
    upper = np.concatenate([np.hstack([problem.upper, free]).ravel(), *parts["upper"]])
    middle = problem.lower + 0.5 * np.minimum(problem.upper - problem.lower, 1.0)
    start = np.concatenate([np.hstack([middle, np.zeros((frames, soft))]).ravel(), *parts["start"]])
    met = np.zeros((frames, problem.n_dof))
    return Program(
        problem=problem,
        cost=chosen,
        constraints=held,
        motion_costs=terms,
        x=x,
        p=p,
        f=objective,
        g=casadi.vec(rows),
        p_value=p_value.ravel(),
        lbx=lower,
        ubx=upper,
        x0=np.clip(start, lower, upper),
        lbg=np.hstack([met, held.lower / size]).ravel(),
        ubg=np.hstack([met, held.upper / size]).ravel(),
        scale=Scale(steepest, row, size),
        frame_nlp=symbols,
        slope_of_terms=slopes,
        bends=tuple(bends),
        single_frame=problem.single_frame,
    )


def _where_solved(helped: ProgramSolution, before: ProgramSolution) -> ProgramSolution:
    """The solution with reserves; in frames that it does not solve either, the solution without them."""
    solved = is_solved(helped.status)
    arrays: dict[str, Any] = {
        name: np.where(solved.reshape(-1, *[1] * (array.ndim - 1)), array, getattr(before, name))
        for name, array in vars(helped).items()
        if isinstance(array, np.ndarray) and name != "time"
    }
    notes = helped.notes if solved.all() else tuple(dict.fromkeys((*before.notes, *helped.notes)))
    return replace(helped, **arrays | {"infeasibility_proof": before.infeasibility_proof, "notes": notes})


def _by_name(
    terms: Sequence[MotionCost], unknowns: Any, reshape: Callable[[Any, int, int], Any]
) -> dict[str, Any]:
    """The unknowns of motion costs by name, each in its shape, from numbers or symbols of all of them."""
    by_name, first = {}, 0
    for name, unknown in (pair for term in terms for pair in term.unknowns.items()):
        last = first + unknown.shape[0] * unknown.shape[1]
        by_name[name], first = reshape(unknowns[first:last], *unknown.shape), last
    return by_name


def _columns(owner: str, problem: Problem, name: str) -> Any:
    """A field of the problem for a motion cost: frames as columns, or a list of matrices."""
    from musclesolve._util.casadi_module import casadi

    if name == "dt":
        return casadi.DM(np.diff(field_of(problem, "time", owner))[None])
    array = field_of(problem, name, owner)
    if array.ndim == 3:
        return [casadi.DM(matrix) for matrix in array]
    if ARRAY_AXES[name][0] != "T":
        return casadi.DM(array)
    return casadi.DM(np.atleast_2d(array.T))
