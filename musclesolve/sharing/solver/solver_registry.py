"""The registry of solvers; a module is imported at the first use of its solver."""

from __future__ import annotations

import importlib
import importlib.util
from dataclasses import dataclass
from typing import Any

from musclesolve._util.message_text import as_text
from musclesolve._util.names import suggestion
from musclesolve.errors import InputError
from musclesolve.sharing.cost.cost_base import NEEDS, Cost
from musclesolve.sharing.solver.solver_base import Solver


class UnknownSolverError(InputError):
    """There is no solver of that name."""


class UnfitSolverError(InputError):
    """The solver cannot minimise this cost."""


class SolverNotInstalledError(InputError):
    """The solver is known, but a package that it needs is missing."""


@dataclass(frozen=True)
class SolverRecord:
    """A registered solver."""

    name: str  # by which `solve` finds it
    summary: str  # what it is
    module: str  # where its class is
    kind: str  # the name of the class
    packages: tuple[str, ...]  # the packages that have to be installed
    install: str  # how to install them
    # which words of `Cost.needs` it can satisfy; `quadratic_programme` stands for quadratic costs and no others
    can: frozenset[str]
    batched: bool = False  # whether all frames are solved at once
    warm_start: bool = False  # whether it can start from given activations
    # whether it proves itself that moments are out of reach (otherwise it is done for it)
    proves_infeasibility: bool = False
    arguments: tuple[str, ...] = ()  # of its class

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
        """Whether all packages are installed."""
        return not self.missing

    def fits(self, cost: Cost, reserves: bool = False) -> bool:
        """Whether it can minimise that cost."""
        return _fits(self.can, cost, reserves)


def _fits(can: frozenset[str], cost: Cost, reserves: bool = False) -> bool:
    """Whether `can` covers the cost: what solves for levels solves linear costs too, but without quadratic reserves."""
    if cost.needs <= can or (cost.quadratic and QUADRATIC in can):
        return True
    return cost.linear and "linear_programme" in can and not reserves


QUADRATIC = "quadratic_programme"
_CONVEX = frozenset({"separable", "rows"})
_SMOOTH = _CONVEX | {"coupled", "nonconvex"}


def _record(name: str, summary: str, module: str, kind: str, *packages: str, **options: Any) -> SolverRecord:
    given = {"install": f"pip install {packages[0]}", "can": _SMOOTH} | options
    return SolverRecord(name, summary, f"musclesolve.sharing.solver.{module}", kind, packages, **given)


def _quadratic(name: str, what: str, package: str) -> SolverRecord:
    summary = f"{what}, frame by frame: quadratic costs only"
    options = {
        "install": "pip install 'musclesolve[qp]'",
        "can": frozenset({QUADRATIC}),
        "arguments": (name,),
    }
    return _record(name, summary, "qp_solvers", "QuadraticProgramme", package, "qpsolvers", **options)


_RECORDS = (
    _record(
        "batch",
        "own compiled Newton and interior-point methods, all frames at once",
        *("batch", "Batch", "numpy"),
        install="pip install musclesolve",
        batched=True,
        proves_infeasibility=True,
        can=_CONVEX,
    ),
    _record(
        "ipopt",
        "Ipopt through CasADi with exact derivatives, frame by frame; the reference",
        *("ipopt_casadi", "Ipopt", "casadi"),
        warm_start=True,
    ),
    _record(
        "cyipopt",
        "Ipopt through cyipopt with the derivatives of the costs themselves, frame by frame",
        *("ipopt_cyipopt", "Cyipopt", "cyipopt"),
        install="python tools/build_cyipopt.py",
        warm_start=True,
    ),
    _record(
        "slsqp",
        "sequential least squares of SciPy, frame by frame",
        *("scipy_solvers", "Slsqp", "scipy"),
        warm_start=True,
    ),
    _record(
        "trust-constr",
        "trust-region interior-point method of SciPy, frame by frame; slow",
        *("scipy_solvers", "TrustConstr", "scipy"),
    ),
    _record(
        "linprog",
        "HiGHS through SciPy, frame by frame: linear costs, and lexicographic min/max",
        *("linprog", "Linprog", "scipy"),
        can=frozenset({"linear_programme"}),
    ),
    _quadratic("daqp", "DAQP, a dual active-set method", "daqp"),
    _quadratic("quadprog", "quadprog, the dual active-set method of Goldfarb and Idnani", "quadprog"),
    _quadratic("osqp", "OSQP, operator splitting", "osqp"),
    _quadratic("piqp", "PIQP, a proximal interior-point method", "piqp"),
    _quadratic("proxqp", "ProxQP, a proximal augmented-Lagrangian method", "proxsuite"),
    _quadratic("clarabel", "Clarabel, an interior-point method", "clarabel"),
    _quadratic(
        "highs", "HiGHS, its active-set method for quadratic programmes, which misses some frames", "highspy"
    ),
)
REGISTRY: dict[str, SolverRecord] = {record.name: record for record in _RECORDS}


def solvers() -> dict[str, SolverRecord]:
    """Every registered solver by name: what it can do and whether it is installed."""
    return dict(REGISTRY)


def find_solver(solver: str | Solver) -> Solver:
    """The solver object for a name; an object is returned as it is."""
    if not isinstance(solver, str):
        if callable(getattr(solver, "solve", None)) and hasattr(solver, "name"):
            return solver
        raise UnknownSolverError(
            f"{as_text(solver)} is no solver",
            code="bad_type",
            expected="a name, or an object with name and solve",
        )
    if solver not in REGISTRY:
        fault = f"there is no solver {as_text(solver)}"
        expected = "one of " + ", ".join(REGISTRY)
        remedy = suggestion(solver, REGISTRY)
        raise UnknownSolverError(fault, code="unknown_name", expected=expected, remedy=remedy)
    record = REGISTRY[solver]
    if record.missing:
        fault = f"the solver {as_text(solver)} needs {' and '.join(record.missing)}, not installed"
        raise SolverNotInstalledError(fault, code="missing_package", remedy=record.install)
    found: Solver = getattr(importlib.import_module(record.module), record.kind)(*record.arguments)
    return found


def _can(solver: Solver) -> frozenset[str]:
    record = REGISTRY.get(solver.name)
    return record.can if record is not None else getattr(solver, "can", frozenset({"separable"}))


def fits(solver: Solver, cost: Cost, reserves: bool = False) -> bool:
    """Whether the solver can minimise the cost, beside reserves where there are or may be some."""
    return _fits(_can(solver), cost, reserves)


def refuse_unfit(solver: Solver, cost: Cost, reserves: bool = False) -> None:
    """See that the solver can minimise the cost, beside reserves where there are or may be some."""
    if fits(solver, cost, reserves):
        return
    can = _can(solver)
    able = [name for name, other in REGISTRY.items() if other.fits(cost, reserves)]
    lacking = [f"{word} ({NEEDS.get(word, 'a word of its own')})" for word in sorted(cost.needs - can)]
    if QUADRATIC in can:
        lacking = [f"costs that are not quadratic, such as {cost.formula or cost.name}"]
    if _fits(can, cost):
        lacking = ["the quadratic cost of reserves"]
    fault = f"the solver {solver.name!r} cannot minimise {cost.name}: it does not take {', '.join(lacking)}"
    expected = "one of " + ", ".join(able) if able else "a solver of your own with these words in `can`"
    remedy = f"solver={able[0]!r}" if able else None
    raise UnfitSolverError(fault, code="unfit_solver", where="solve", expected=expected, remedy=remedy)
