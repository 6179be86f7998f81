"""The error of the muscle database, with place, expected value and remedy."""

from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path

NEARLY = 0.85
"""Least similarity (difflib) of names with a slip of the fingers."""
MOST_NAMED = 3
"""Number of names that a remedy proposes."""


class MuscleDatabaseError(ValueError):
    """A fault of a muscle database, or a name that it does not have; the message states place and expected value.

    `code` is the kind of fault, which stays the same when the wording changes; `line` counts from 1; `field` is the
    muscle and key, such as "muscle 3 (soleus), path".
    """

    def __init__(
        self,
        problem: str,
        *,
        code: str = "bad_muscle_set",
        file: str | Path | None = None,
        line: int | None = None,
        field: str | None = None,
        expected: str | None = None,
        remedy: str | None = None,
    ) -> None:
        self.problem, self.code, self.file, self.line, self.field = problem, code, file, line, field
        self.expected, self.remedy = expected, remedy
        parts = (str(file) if file else None, f"line {line}" if line else None, field)
        place = ", ".join(part for part in parts if part)
        lines = [f"{place}: {problem}" if place else problem]
        if expected:
            lines.append(f"  expected: {expected}")
        if remedy:
            lines.append(f"  remedy: {remedy}")
        super().__init__("\n".join(lines))


def nearest(word: str, known: Iterable[str]) -> str | None:
    """A remedy with a name of nearly this spelling, else with this part, else the most similar, else by first words."""
    names, part = list(known), str(word).casefold()
    matches = get_close_matches(str(word), names, n=1, cutoff=NEARLY)
    matches = matches or [name for name in names if part in name.casefold().split("_")][:MOST_NAMED]
    matches = matches or get_close_matches(str(word), names, n=1)
    begun = get_close_matches(part, {name.casefold().split("_")[0] for name in names}, n=1)
    matches = matches or [name for name in names if name.casefold().split("_")[0] in begun][:MOST_NAMED]
    return "did you mean " + " or ".join(f'"{name}"' for name in matches) + "?" if matches else None


def check_kind(argument: object, kind: type, name: str) -> None:
    """Refuse an argument of another class."""
    if not isinstance(argument, kind):
        raise MuscleDatabaseError(
            f"the argument is of type {type(argument).__name__}",
            code="bad_type",
            field=name,
            expected=f"a {kind.__name__}",
        )
