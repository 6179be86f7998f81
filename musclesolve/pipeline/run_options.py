"""What a run shall do, looked up by name before anything is computed."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import muscle_db
from musclesolve.errors import InputError
from musclesolve.muscles.muscle_placement import LEG_DOFS
from musclesolve.recording.data import SIDE_NAMES, Trial
from musclesolve.recording.trial.schema import Document
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.cost.cost_registry import find_cost
from musclesolve.sharing.solver.solver_base import Solver
from musclesolve.sharing.solver.solver_registry import find_solver

SHARED_DOFS = LEG_DOFS[:5]
"""Moments asked of the muscles unless the trial file says otherwise: hip, knee, dorsiflexion.

The model's axes of ankle inversion and adduction are nominal, not those of the subtalar joint and the malleoli; what
bones and ligaments bear about the true axes would be asked of the muscles, which then work against each other.
"""

Found = TypeVar("Found")


@dataclass(frozen=True)
class Options:
    """The legs to analyse, the muscles, and how their forces are shared; dofs without side."""

    sides: tuple[str, ...]
    database: muscle_db.MuscleDatabase
    cost: Cost
    solver: Solver
    dofs: tuple[str, ...]


def find_options(trial: Trial, cost: str | Cost | None, solver: str | Solver | None, side: str) -> Options:
    """Look up what is given here, and what is not given in the trial file.

    Raises:
        InputError: a name that is not known; with the line of the trial file where it stands there.
    """
    sharing, sides = trial.sharing, _sides(side)
    _check_measured(trial, sides)
    return Options(
        sides=sides,
        database=_in_trial(trial, "muscles", "database", _database, trial.muscles.database),
        cost=_in_trial(trial, "sharing", "cost", find_cost, sharing.cost)
        if cost is None
        else find_cost(cost),
        solver=_in_trial(trial, "sharing", "solver", find_solver, sharing.solver)
        if solver is None
        else find_solver(solver),
        dofs=_in_trial(trial, "sharing", "dofs", _dofs, sharing.dofs or SHARED_DOFS),
    )


def _check_measured(trial: Trial, sides: tuple[str, ...]) -> None:
    """Refuse legs of which no frame was measured in the time range that was found."""
    if trial.legs and not set(sides) & set(trial.legs):
        name = SIDE_NAMES[sides[0]]  # type: ignore[index]
        raise InputError(
            f"the {name} leg was not measured: no contact of its foot is on a plate as a whole",
            file=trial.path,
            where="side",
            expected=f"a leg that was measured: {', '.join(SIDE_NAMES[leg] for leg in trial.legs)}",
            remedy="choose the other leg, or a time range in [time]",
        )


def check_choices(cost: str | Cost | None, solver: str | Solver | None, side: str) -> None:
    """Refuse names that are not known, without a trial; None is what the trial will say.

    Raises:
        InputError: there is no such cost, solver or side.
    """
    _sides(side)
    if cost is not None:
        find_cost(cost)
    if solver is not None:
        find_solver(solver)


def _in_trial(trial: Trial, table: str, key: str, find: Callable[..., Found], name: object) -> Found:
    """What a trial file names; a complaint that points at no file points at the key."""
    try:
        return find(name)
    except InputError as error:
        if error.file is not None:
            raise
        document = Document(trial.path)
        raise document.error(
            error.problem, table, key, expected=error.expected, remedy=error.remedy
        ) from error


def _sides(side: str) -> tuple[str, ...]:
    sides = {"r": ("r",), "l": ("l",), "both": ("r", "l")}
    if side not in sides:
        raise InputError(f"there is no side {side!r}", expected='"r", "l" or "both"')
    return sides[side]


def _database(name: str) -> muscle_db.MuscleDatabase:
    try:
        return muscle_db.load(name)
    except muscle_db.MuscleDatabaseError as error:
        where = ", ".join(part for part in (error.line and f"line {error.line}", error.field) if part)
        raise InputError(
            error.problem,
            file=error.file,
            where=where or None,
            expected=error.expected,
            remedy=error.remedy,
        ) from error


def _dofs(names: tuple[str, ...]) -> tuple[str, ...]:
    for place, name in enumerate(names):
        if name in names[:place]:
            raise InputError(f"{name!r} stands twice", expected="every degree of freedom once")
        if name not in LEG_DOFS:
            near = difflib.get_close_matches(name, LEG_DOFS, n=1, cutoff=0.4)
            raise InputError(
                f"no leg has the degree of freedom {name!r}",
                expected=f"some of {', '.join(LEG_DOFS)}",
                remedy=f"did you mean {near[0]!r}?" if near else None,
            )
    return names
