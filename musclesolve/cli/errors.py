"""Errors that end a command, as one message and an exit code."""

import contextlib
import os
from collections.abc import Iterator
from contextlib import contextmanager

from musclesolve._util import written_files
from musclesolve._util.processes import ignore_interrupts
from musclesolve.cli.environment import OutputError
from musclesolve.cli.printing import complain, error_document, mode, print_document

INPUT_AT_FAULT = 2
SOME_FRAMES_FAILED = 3
INTERRUPTED = 130


@contextmanager
def report_errors() -> Iterator[None]:
    """Turn errors of the input, refusals of the system and Ctrl-C into one message and an exit code."""
    written_files.reset()
    try:
        yield
    except SystemExit as end:  # first, for every command ends with one, and the last clause imports
        cause = getattr(end.__context__, "__cause__", None)
        if not isinstance(cause, KeyboardInterrupt):  # typer ends silently after one
            raise
        error: BaseException = cause
    except (KeyboardInterrupt, MemoryError, OSError) as stop:
        error = stop
    except _input_errors() as fault:
        error = fault
    else:
        return
    message, code = _message(error), INTERRUPTED if isinstance(error, KeyboardInterrupt) else INPUT_AT_FAULT
    with ignore_interrupts():
        complain(message)
        if mode.json:
            with contextlib.suppress(OSError):
                print_document(error_document(error, message, code))
    raise SystemExit(code)


def _message(error: BaseException) -> str:
    if isinstance(error, KeyboardInterrupt):
        return interrupt_message(error)
    if isinstance(error, MemoryError):
        return f"out of memory; {written_files.what_was_written()}"
    return system_message(error) if isinstance(error, OSError) else str(error)


def interrupt_message(stop: KeyboardInterrupt) -> str:
    """The message after Ctrl-C."""
    return str(stop) or f"stopped by Ctrl-C; {written_files.what_was_written()}"


def system_message(error: OSError) -> str:
    """The message where the operating system refuses something."""
    reason = error.strerror or str(error)
    if isinstance(error, OutputError):
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
