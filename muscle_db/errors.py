"""The error of the muscle database, with place, expected value and remedy."""

from pathlib import Path


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


def check_kind(argument: object, kind: type, name: str) -> None:
    """Refuse an argument of another class."""
    if not isinstance(argument, kind):
        raise MuscleDatabaseError(
            f"the argument is of type {type(argument).__name__}",
            code="bad_type",
            field=name,
            expected=f"a {kind.__name__}",
        )
