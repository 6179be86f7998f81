"""Lines of a summary: in a first column what each is about, then the statement."""

from __future__ import annotations

from collections.abc import Iterable

INDENT = 18
"""Characters of the first column with the blank after it."""


def line(subject: str, statement: str) -> str:
    """One line."""
    return f"{subject:<{INDENT - 1}} {statement}"


def lines(subject: str, statements: Iterable[str]) -> list[str]:
    """A line for each statement; only the first one has the subject."""
    return [line("" if number else subject, each) for number, each in enumerate(statements)]
