"""Exceptions of the package: each names where the fault is, what was expected and how to fix it."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

LONGEST_PART = 1500
"""Most characters of a problem, of what was expected, and of a remedy: what is longer, nobody reads."""


class MuscleSolveError(Exception):
    """Base of every error that musclesolve raises on purpose."""


class InputError(MuscleSolveError):
    """The input is at fault. One message: which file, where in it, what is wrong, what to do.

    Args:
        problem: what is wrong, with the offending value.
        code: the kind of fault, one of `error_codes.toml`; it stays the same when the wording changes.
        file: the file at fault, if there is one.
        where: the line, field, marker or time in that file.
        expected: what would have been right.
        remedy: how to fix it.
    """

    def __init__(
        self,
        problem: str,
        *,
        code: str = "bad_input",
        file: str | Path | None = None,
        where: str | None = None,
        expected: str | None = None,
        remedy: str | None = None,
    ) -> None:
        self.problem, self.code, self.file, self.where = _bounded(problem), code, file, where
        self.expected, self.remedy = _bounded(expected), _bounded(remedy)
        place = ", ".join(str(part) for part in (file, _bounded(where)) if part)
        lines = [f"{place}: {self.problem}" if place else self.problem]
        if self.expected:
            lines.append(f"  expected: {self.expected}")
        if self.remedy:
            lines.append(f"  remedy: {self.remedy}")
        super().__init__("\n".join(lines))


def not_installed(
    use: str, package: str, extra: str, *, where: str | None = None, instead: str = ""
) -> InputError:
    """The error of a package that an extra of musclesolve brings and that is not there.

    Args:
        use: what needs it, as the beginning of a sentence: "a cluster needs".
        package: its name.
        extra: that brings it.
        where: the option that asked for it.
        instead: what may be done without it, behind the remedy: ", or --format csv".
    """
    problem = f"{use} the package {package}, which is not installed"
    remedy = f'pip install "musclesolve[{extra}]"{instead}'
    return InputError(problem, code="missing_package", where=where, remedy=remedy)


Text = TypeVar("Text", str, str | None)


def _bounded(text: Text) -> Text:
    if text is None or len(text) <= LONGEST_PART:
        return text
    return f"{text[:LONGEST_PART]} ... ({len(text)} characters)"


class PoseError(MuscleSolveError):
    """No pose of the body fits what was measured in some frames.

    Args:
        message: what was found, as one sentence or two.
        frames: the times [s] (or numbers) of these frames.
        worst: the measured points farthest from the best pose found, (name, distance [m]), the farthest first.
    """

    def __init__(
        self,
        message: str,
        # Defaults, because an exception that comes from another process is made of its message alone at first.
        frames: tuple[float, ...] = (),
        worst: tuple[tuple[str, float], ...] = (),
    ) -> None:
        super().__init__(message)
        self.frames, self.worst = frames, worst


class BusyError(InputError):
    """Another run is writing into the folder: nothing is wrong with what is there."""
