"""What the desk computes in a process of its own, by the functions of the commands; each returns plain data."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from musclesolve._util.progress import Progress
from musclesolve.checking.check import check as examine
from musclesolve.errors import MuscleSolveError

Request = tuple[str, dict[str, Any]]
"""Name of a task, and its arguments."""


def compute(shared: None, request: Request, progress: Progress) -> Any:
    """Do a task; an error of the input is returned, for the process goes on."""
    name, arguments = request
    try:
        return TASKS[name](progress, **arguments)
    except MuscleSolveError as error:
        return error


def check(progress: Progress, trial: Path) -> dict[str, Any]:
    """Everything that is wrong with a trial, as `musclesolve check --json` prints it."""
    progress("checking", 0.1)
    return examine(trial).as_dict()


def run(progress: Progress, trial: Path, output: Path, options: dict[str, Any]) -> dict[str, Any]:
    """The muscle forces of a trial, as `musclesolve run`: summary, files, and whether every frame is valid."""
    from musclesolve.results.facts import Facts
    from musclesolve.results.tables.run_summary import summary
    from musclesolve.studies.many_trials.one_trial import analyse

    result, files = analyse(trial, output, options, True, progress)
    return {"summary": summary(result), "files": files, "valid": not Facts(result).any_failed}


TASKS: dict[str, Callable[..., Any]] = {"check": check, "run": run}
