"""What the desk computes in a process of its own, by the functions of the commands; each returns plain data."""

from __future__ import annotations

import logging
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
    messages = _Messages(progress)
    log = logging.getLogger("musclesolve")
    log.addHandler(messages)
    try:
        return TASKS[name](messages.progress, **arguments)
    except MuscleSolveError as error:
        return error
    finally:
        log.removeHandler(messages)


class _Messages(logging.Handler):
    """Shows what is logged on the way as a stage: the first run on a machine compiles for a minute."""

    def __init__(self, progress: Progress) -> None:
        super().__init__()
        self._progress, self._fraction = progress, 0.0

    def progress(self, stage: str, fraction: float) -> None:
        """See Progress."""
        self._fraction = fraction
        self._progress(stage, fraction)

    def emit(self, record: logging.LogRecord) -> None:
        """See logging.Handler."""
        self._progress(record.getMessage(), self._fraction)


def check(progress: Progress, trial: Path) -> dict[str, Any]:
    """Everything that is wrong with a trial, as `musclesolve check --json` prints it."""
    progress("checking", 0.1)
    return examine(trial).as_dict()


def run(
    progress: Progress,
    trial: Path,
    output: Path,
    options: dict[str, Any],
    figures: bool,
    samples: int | None,
) -> list[Path]:
    """The muscle forces of a trial, as `musclesolve run`; the files that were written."""
    from musclesolve.studies.many_trials.one_trial import analyse_with_uncertainty

    return analyse_with_uncertainty(trial, output, options, figures, progress, samples)[1]


TASKS: dict[str, Callable[..., Any]] = {"check": check, "run": run}
