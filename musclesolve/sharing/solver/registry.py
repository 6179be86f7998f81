"""The solvers that have a name; a module is imported when its solver is asked for."""

from __future__ import annotations

import difflib
import importlib
import importlib.util
from dataclasses import dataclass

from musclesolve.errors import InputError
from musclesolve.sharing.solver.base import Solver


class UnknownSolverError(InputError):
    """There is no solver of that name."""


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

    @property
    def installed(self) -> bool:
        """Whether the package is there."""
        return importlib.util.find_spec(self.package) is not None


_HERE = "musclesolve.sharing.solver"
_RECORDS = (
    SolverRecord(
        name="batch",
        summary="own interior-point method, all frames at once",
        module=f"{_HERE}.batch",
        kind="Batch",
        package="numpy",
        install="pip install musclesolve",
        batched=True,
        warm_start=False,
        proves_infeasibility=True,
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
    ),
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
