"""The solvers that have a name; a module is imported when its solver is asked for."""

from __future__ import annotations

import difflib
import importlib
import importlib.util
from dataclasses import dataclass

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
    """A registered solver.

    Attributes:
        name: what to ask for.
        summary: what it is.
        module: where its class is.
        kind: the name of the class.
        package: the package that has to be installed.
        install: how to install it.
        batched: whether all frames are solved at once.
        warm_start: whether it can start from given activations.
        proves_infeasibility: whether it proves itself that moments are out of reach (otherwise it is done for it).
        can: which words of `Cost.needs` it can satisfy; `quadratic_programme` stands for quadratic costs and no others.
    """

    name: str
    summary: str
    module: str
    kind: str
    package: str
    install: str
    batched: bool
    warm_start: bool
    proves_infeasibility: bool
    can: frozenset[str]

    @property
    def installed(self) -> bool:
        """Whether the package is there."""
        return importlib.util.find_spec(self.package) is not None

    def fits(self, cost: Cost, reserves: bool = False) -> bool:
        """Whether it can minimise that cost."""
        return _fits(self.can, cost, reserves)


def _fits(can: frozenset[str], cost: Cost, reserves: bool = False) -> bool:
    """What finds the optimum of levels finds that of a linear cost too; a quadratic programme is a word of `can` alone.

    Quadratic reserves are no part of a linear programme; beside levels they have priority instead.
    """
    if cost.needs <= can or (cost.quadratic and QUADRATIC in can):
        return True
    return cost.linear and "linear_programme" in can and not reserves


QUADRATIC = "quadratic_programme"
_HERE = "musclesolve.sharing.solver"
_CONVEX = frozenset({"separable", "rows"})
_SMOOTH = _CONVEX | {"coupled", "nonconvex"}
_RECORDS: tuple[SolverRecord, ...] = (
    SolverRecord(
        name="batch",
        summary="own compiled Newton and interior-point methods, all frames at once",
        module=f"{_HERE}.batch",
        kind="Batch",
        package="numpy",
        install="pip install musclesolve",
        batched=True,
        warm_start=False,
        proves_infeasibility=True,
        can=_CONVEX,
    ),
    SolverRecord(
        name="ipopt",
        summary="Ipopt through CasADi with exact derivatives, frame by frame; the reference",
        module=f"{_HERE}.ipopt",
        kind="Ipopt",
        package="casadi",
        install="pip install casadi",
        batched=False,
        warm_start=True,
        proves_infeasibility=False,
        can=_SMOOTH,
    ),
    SolverRecord(
        name="cyipopt",
        summary="Ipopt through cyipopt with the derivatives of the costs themselves, frame by frame",
        module=f"{_HERE}.cyipopt",
        kind="Cyipopt",
        package="cyipopt",
        install="python tools/build_cyipopt.py",
        batched=False,
        warm_start=True,
        proves_infeasibility=False,
        can=_SMOOTH,
    ),
    SolverRecord(
        name="slsqp",
        summary="sequential least squares of SciPy, frame by frame",
        module=f"{_HERE}.slsqp",
        kind="Slsqp",
        package="scipy",
        install="pip install scipy",
        batched=False,
        warm_start=True,
        proves_infeasibility=False,
        can=_SMOOTH,
    ),
    SolverRecord(
        name="trust-constr",
        summary="trust-region interior-point method of SciPy, frame by frame; slow",
        module=f"{_HERE}.trust_constr",
        kind="TrustConstr",
        package="scipy",
        install="pip install scipy",
        batched=False,
        warm_start=False,
        proves_infeasibility=False,
        can=_SMOOTH,
    ),
    SolverRecord(
        name="linprog",
        summary="HiGHS through SciPy, frame by frame: linear costs, and min/max level after level",
        module=f"{_HERE}.linprog",
        kind="Linprog",
        package="scipy",
        install="pip install scipy",
        batched=False,
        warm_start=False,
        proves_infeasibility=False,
        can=frozenset({"linear_programme"}),
    ),
)
_QUADRATIC = (
    ("daqp", "DAQP, a dual active-set method", "daqp"),
    ("quadprog", "quadprog, the dual active-set method of Goldfarb and Idnani", "quadprog"),
    ("osqp", "OSQP, operator splitting", "osqp"),
    ("piqp", "PIQP, a proximal interior-point method", "piqp"),
    ("proxqp", "ProxQP, a proximal augmented-Lagrangian method", "proxsuite"),
    ("clarabel", "Clarabel, an interior-point method", "clarabel"),
    ("highs", "HiGHS, its active-set method for quadratic programmes, which misses some frames", "highspy"),
)
_RECORDS += tuple(
    SolverRecord(
        name=name,
        summary=f"{what}, frame by frame: quadratic costs only",
        module=f"{_HERE}.quadratic_backends",
        kind=name.capitalize(),
        package=package,
        install="pip install 'musclesolve[qp]'",
        batched=False,
        warm_start=False,
        proves_infeasibility=False,
        can=frozenset({QUADRATIC}),
    )
    for name, what, package in _QUADRATIC
)
REGISTRY: dict[str, SolverRecord] = {record.name: record for record in _RECORDS}


def solvers() -> dict[str, SolverRecord]:
    """Every solver that can be asked for by name, with what it can do and whether it is installed."""
    return dict(REGISTRY)


def find_solver(solver: str | Solver) -> Solver:
    """The solver object for a name; an object is returned as it is.

    Raises:
        UnknownSolverError: there is no such solver.
        SolverNotInstalledError: there is, but a package that it needs is missing.
    """
    if not isinstance(solver, str):
        if callable(getattr(solver, "solve", None)) and hasattr(solver, "name"):
            return solver
        raise UnknownSolverError(
            f"{solver!r} is no solver", expected="a name, or an object with name and solve"
        )
    if solver not in REGISTRY:
        near = difflib.get_close_matches(solver, REGISTRY, n=1)
        raise UnknownSolverError(
            f"there is no solver {solver!r}",
            expected="one of " + ", ".join(REGISTRY),
            remedy=f"did you mean {near[0]!r}?" if near else None,
        )
    record = REGISTRY[solver]
    if not record.installed:
        raise SolverNotInstalledError(
            f"the solver {solver!r} needs the package {record.package}, which is not installed",
            remedy=record.install,
        )
    found: Solver = getattr(importlib.import_module(record.module), record.kind)()
    return found


def _can(solver: Solver) -> frozenset[str]:
    record = REGISTRY.get(solver.name)
    return record.can if record is not None else getattr(solver, "can", frozenset({"separable"}))


def fits(solver: Solver, cost: Cost, reserves: bool = False) -> bool:
    """Whether the solver can minimise the cost, beside reserves where there are or may be some."""
    return _fits(_can(solver), cost, reserves)


def refuse_unfit(solver: Solver, cost: Cost, reserves: bool = False) -> None:
    """See that the solver can minimise the cost, beside reserves where there are or may be some.

    Raises:
        UnfitSolverError: it cannot; lists those that can.
    """
    if fits(solver, cost, reserves):
        return
    can = _can(solver)
    able = [name for name, other in REGISTRY.items() if other.fits(cost, reserves)]
    lacking = [f"{word} ({NEEDS.get(word, 'a word of its own')})" for word in sorted(cost.needs - can)]
    if QUADRATIC in can:
        lacking = [f"costs that are not quadratic, such as {cost.formula or cost.name}"]
    if _fits(can, cost):
        lacking = ["the quadratic cost of reserves"]
    raise UnfitSolverError(
        f"the solver {solver.name!r} cannot minimise {cost.name}: it does not take {', '.join(lacking)}",
        where="solve",
        expected="one of " + ", ".join(able) if able else "a solver of your own with these words in `can`",
        remedy=f"solver={able[0]!r}" if able else None,
    )
