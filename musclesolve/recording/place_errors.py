"""The one way to refuse input with its place: the file, and the line or another place in it."""

from __future__ import annotations

from numbers import Integral
from pathlib import Path

from musclesolve.errors import InputError

EXPORT_AGAIN = "export the file again"


def error_at(
    file: Path | None,
    where: object,
    problem: str,
    expected: str | None,
    remedy: str | None = EXPORT_AGAIN,
    *,
    code: str = "bad_format",
) -> InputError:
    """Return the error of a place: `where` is the number of a line of the file, another place as text, or None."""
    place = f"line {where}" if isinstance(where, Integral) else where
    return InputError(
        problem, code=code, file=file, where=str(place) if place else None, expected=expected, remedy=remedy
    )
