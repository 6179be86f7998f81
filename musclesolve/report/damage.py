"""What a file that is damaged, or lacks a part, makes the code of a report raise."""

from __future__ import annotations

from musclesolve.errors import InputError, MuscleSolveError

DAMAGE = (MuscleSolveError, LookupError, ValueError, TypeError, ArithmeticError)
"""A report says so in the place of the part and has the others. Anything else is a fault of the program, and raised."""


def reason(error: Exception) -> str:
    """Why a part is not there, in a line."""
    text = error.problem if isinstance(error, InputError) else f"{type(error).__name__}: {error}"
    return text.partition("\n")[0]
