"""Solvers: the protocol and the registry; a module is imported at the first use of its solver."""

import importlib
import importlib.util
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from musclesolve._util.arrays import AnyArray, Array
from musclesolve._util.bundled_toml import bundled_toml
from musclesolve._util.messages import as_text, check_known
from musclesolve._util.plugins import plugins
from musclesolve.constants import USUAL_SOLVER
from musclesolve.errors import input_error
from musclesolve.sharing.cost.cost_base import NEEDS, Cost
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.status import Status


@dataclass(frozen=True, eq=False)
class Attempt:
    """Result that a solver claims; the claim counts only once the certificate is recomputed."""

    activation: Array  # (T, n)
    reserve: Array  # (T, m) [N m]; zero without reserves
    multiplier: Array  # (T, m) [cost per N m]; for a claim of INFEASIBLE the direction of the proof
    iterations: NDArray[np.int64]  # (T,)
    claim: NDArray[np.int8]  # (T,) members of Status: SOLVED, INFEASIBLE, MAX_ITERATIONS or SOLVER_FAILED
    # (T, L, m) for a cost of levels: the combination of moments that proves each level, from the highest down;
    # zero where a bound alone is the proof, NaN below the last
    level_multiplier: Array | None = None
    # (T,) texts or one for all frames: the solver's own final message, such as "Restoration_Failed"; empty without one
    message: AnyArray = field(default_factory=lambda: np.array(""))

    @classmethod
    def blank(cls, problem: Problem) -> Self:
        """Arrays to be filled frame by frame; a frame that is never filled stays SOLVER_FAILED."""
        frames, dofs, muscles = problem.moment_arm.shape
        activation, multiplier = np.full((frames, muscles), np.nan), np.full((frames, dofs), np.nan)
        iterations, claim = np.zeros(frames, np.int64), np.full(frames, Status.SOLVER_FAILED, np.int8)
        message: AnyArray = np.full(frames, "", object)
        return cls(activation, np.zeros((frames, dofs)), multiplier, iterations, claim, message=message)

    def store(self, which: NDArray[Any], other: "Attempt") -> None:
        """Store an attempt at some frames, by numbers or as a mask, among the attempts at all."""
        for name in ("activation", "reserve", "multiplier", "iterations", "claim"):
            getattr(self, name)[which] = getattr(other, name)


class Solver(Protocol):
    """A frozen dataclass of options with a name.

    A solver outside the registry may have a frozenset `can` of the words that costs use in `needs`; without `can` it
    gets separable costs only. Two more members are optional:

    - `solve_certified(problem, cost, allow_reserve) -> SolutionArrays | None`: results with certificates and statuses,
      UNRESOLVED (-1) for frames without certificate or proof, which go to `fallback`, another solver; None if the
      cost is not for this method. `allow_reserve`: an infeasible frame is solved again with reserves. The problem may
      have bounds beyond the domain of the cost and frames that are not finite.
    - `sequence(problem, cost, rate, allow_reserve)`: solves frames within rate limits of the frame before; returns
      None, or a function that solves frames in order from any first frame into SolutionArrays, up to the first
      unresolved frame, and returns its number.
    """

    @property
    def name(self) -> str:
        """The name in the registry."""

    def solve(self, problem: Problem, cost: Cost, warm_start: Array | None = None) -> Attempt:
        """Minimize the cost in every frame; numbers are finite, bounds within the domain of the cost and in order.

        `warm_start` (T, n) are activations to start from, for solvers that can use them.
        """


SMOOTH = frozenset({"separable", "rows", "coupled", "nonconvex"})


@dataclass(frozen=True)
class SolverRecord:
    """A registered solver, an entry of solvers.toml."""

    name: str  # the name for `solve(solver=...)`
    summary: str  # description in one line
    place: str  # its class, "package.module:Class"
    packages: tuple[str, ...]  # the packages that have to be installed, the solver's own one first
    install: str = ""  # how to install them
    can: frozenset[str] = SMOOTH  # words of `Cost.needs` that it can satisfy
    batched: bool = False  # whether all frames are solved at once
    symbolic: bool = False  # whether it needs the expression of a cost
    warm_start: bool = False  # whether it can start from given activations
    # whether the solver itself proves that moments are out of reach (otherwise `solve` does)
    proves_infeasibility: bool = False
    arguments: tuple[str, ...] = ()  # arguments of its class

    def __post_init__(self) -> None:
        object.__setattr__(self, "install", self.install or f"pip install {self.package}")

    @property
    def package(self) -> str:
        """The package of the solver itself."""
        return self.packages[0]

    @property
    def missing(self) -> list[str]:
        """The packages that are not installed."""
        return [name for name in self.packages if importlib.util.find_spec(name) is None]

    @property
    def installed(self) -> bool:
        """Return whether all packages are installed."""
        return not self.missing

    def fits(self, cost: Cost, reserves: bool = False) -> bool:
        """Return whether the solver can minimize a cost, beside reserves if there are any."""
        return _covers(self.can, cost, reserves) and (cost.symbolic or not self.symbolic)


_FOLDER = "musclesolve.sharing.solver"


def _record(name: str, entry: dict[str, Any]) -> SolverRecord:
    """The record of an entry of solvers.toml."""
    if package := entry.get("quadratic"):
        entry = {
            "summary": f"{entry['summary']}, frame by frame: quadratic costs only",
            "place": "qp_solvers:QuadraticProgram",
            "arguments": [name],
            "packages": [package, "qpsolvers"],
            "install": "pip install '.[qp]'",
            "can": ["quadratic_program"],
        }
    kinds: dict[str, Any] = {"packages": tuple, "arguments": tuple, "can": frozenset}
    values = {key: kinds[key](value) if key in kinds else value for key, value in entry.items()}
    return SolverRecord(name, **values | {"place": f"{_FOLDER}.{entry['place']}"})


REGISTRY = {name: _record(name, entry) for name, entry in bundled_toml(_FOLDER, "solvers.toml").items()}


@cache
def _add_plugins() -> None:
    """Add the solvers of other packages (entry points `musclesolve.solvers`)."""
    for name, kind in plugins("solvers", REGISTRY).items():
        REGISTRY[name] = SolverRecord(
            name,
            summary=(kind.__doc__ or name).splitlines()[0],
            place=f"{kind.__module__}:{kind.__qualname__}",
            packages=(kind.__module__.split(".")[0],),
            can=frozenset(getattr(kind, "can", {"separable"})),
        )


def solvers() -> dict[str, SolverRecord]:
    """Every registered solver by name: its abilities, and whether it is installed.

    Returns:
        Name -> record.

    Examples:
        >>> ms.solvers()["batch"].installed
        True
    """
    _add_plugins()
    return dict(REGISTRY)


def find_solver(solver: str | Solver) -> Solver:
    """The solver object for a name; an object is returned as it is."""
    if not isinstance(solver, str):
        problem, remedy = f"{as_text(solver)} is no solver", None
        if callable(getattr(solver, "solve", None)) and hasattr(solver, "name"):
            if not isinstance(solver, type):
                return solver
            problem, remedy = f"{solver.__name__} is a class", f"make an object of it: {solver.__name__}()"
        expected = "a name, or an object with name and solve"
        raise input_error("bad_type", problem=problem, expected=expected, remedy=remedy)
    if solver not in REGISTRY:
        _add_plugins()
    check_known([solver], "solver", REGISTRY)
    record = REGISTRY[solver]
    if record.missing:
        fault = f"the solver {as_text(solver)} needs {' and '.join(map(str, record.missing))}, not installed"
        raise input_error("missing_package", problem=fault, remedy=record.install)
    module, kind = record.place.split(":")
    place: Any = importlib.import_module(module)
    return getattr(place, kind)(*record.arguments)  # type: ignore[no-any-return]


def fits(solver: Solver, cost: Cost, reserves: bool = False) -> bool:
    """Return whether the solver can minimize the cost, beside reserves where there are or may be some."""
    return _covers(_can(solver), cost, reserves)


def refuse_unfit(solver: Solver, cost: Cost, reserves: bool = False) -> None:
    """Refuse a solver that cannot minimize the cost, beside reserves where there are or may be some."""
    if fits(solver, cost, reserves):
        return
    can = _can(solver)
    able = [name for name, record in REGISTRY.items() if record.fits(cost, reserves) and record.installed]
    if _covers(can, cost, reserves=False):
        lacking = ["the quadratic cost of reserves"]
    elif "quadratic_program" in can:
        lacking = ["costs that are not quadratic", "or that couple muscles"]
    elif "linear_program" in can:
        lacking = ["costs that are not linear"]
    else:
        lacking = [f"{NEEDS.get(word, 'a word of its own')} ({word})" for word in sorted(cost.needs - can)]
    fault = f"the solver {solver.name!r} cannot minimize {cost.label}: it does not take {', '.join(lacking)}"
    expected = ", ".join(able) if able else "a solver of your own with these words in `can`"
    remedy = f"choose the solver {able[0]}" if able else None
    raise input_error("unfit_solver", where="solve", problem=fault, expected=expected, remedy=remedy)


def able_solver(cost: Cost, solver: str | Solver = USUAL_SOLVER) -> Solver:
    """The solver of a name; for a cost that the usual one cannot minimize, the first installed one that can."""
    method = find_solver(solver)
    if method.name != USUAL_SOLVER or fits(method, cost):
        return method
    return next_able(USUAL_SOLVER, cost) or method


def next_able(name: str, cost: Cost) -> Solver | None:
    """The first installed solver that can minimize a cost, beside the one of a name; None without one."""
    others = (other for other, record in REGISTRY.items() if other != name and record.installed)
    able = next((other for other in others if REGISTRY[other].fits(cost)), None)
    return None if able is None else find_solver(able)


def _can(solver: Solver) -> frozenset[str]:
    record = REGISTRY.get(solver.name)
    return record.can if record is not None else getattr(solver, "can", frozenset({"separable"}))


def _covers(can: frozenset[str], cost: Cost, reserves: bool) -> bool:
    """Return whether `can` covers the cost: solvers for levels solve linear costs, too, but no quadratic reserves."""
    if cost.needs <= can or (cost.quadratic and "quadratic_program" in can):
        return True
    return cost.linear and "linear_program" in can and not reserves
