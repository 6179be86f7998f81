"""Errors that end a command, as one message and an exit code."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from musclesolve._util import written_files
from musclesolve._util.interrupts import ignore_interrupts
from musclesolve.cli import streams
from musclesolve.cli.printing import complain

INPUT_AT_FAULT = 2
SOME_FRAMES_FAILED = 3
INTERRUPTED = 130


@contextmanager
def report_errors() -> Iterator[None]:
    """Turn errors of the input, refusals of the system and Ctrl-C into one message and an exit code."""
    written_files.reset()
    try:
        yield
    except SystemExit as end:  # first, for every command ends with one, and the next line imports
        cause = getattr(end.__context__, "__cause__", None)
        if not isinstance(cause, KeyboardInterrupt):  # typer ends silently after one
            raise
        message, code = interrupt_message(cause), INTERRUPTED
    except _input_errors() as error:
        message, code = str(error), INPUT_AT_FAULT
    except OSError as error:
        message, code = system_message(error), INPUT_AT_FAULT
    except MemoryError:
        message, code = f"out of memory; {written_files.what_was_written()}", INPUT_AT_FAULT
    except KeyboardInterrupt as stop:
        message, code = interrupt_message(stop), INTERRUPTED
    else:
        return
    with ignore_interrupts():
        complain(message)
    raise SystemExit(code)


def interrupt_message(stop: KeyboardInterrupt) -> str:
    """The message after Ctrl-C."""
    return str(stop) or f"stopped by Ctrl-C; {written_files.what_was_written()}"


def system_message(error: OSError) -> str:
    """The message where the operating system refuses something."""
    reason = error.strerror or str(error)
    if isinstance(error, streams.OutputError):
        return f"the output cannot be printed: {reason}; {written_files.what_was_written()}"
    try:
        os.getcwd()
    except FileNotFoundError:
        return "the current folder does not exist any more\n  remedy: change to another one"
    place = f"{error.filename}: " if error.filename is not None else ""
    return f"{place}{reason}; {written_files.what_was_written()}"


def _input_errors() -> tuple[type[Exception], ...]:
    from muscle_db import MuscleDatabaseError
    from musclesolve.errors import MuscleSolveError

    return MuscleSolveError, MuscleDatabaseError
