"""Exceptions of the package: each names where the fault is, what was expected and how to fix it.

The sentences of an error stand beside its condition:

    raise file_error(
        "missing_column",
        table.path,
        f"there is no column {name}",
        f"force and point beside {force}",
        "export all components of force and point",
    )

The word is a code of `error_codes.toml`. Sentences of an error that several places raise stand once, in `errors.toml`
of the folder; these places give the key (the folder with its dots and a name), place and fields, and no problem:

    [no_column]
    code = "missing_column"
    problem = "there is no column {name}"

Keys of `_util` and of this module have no folder; their sentences stand in `musclesolve/errors.toml`.
"""

from functools import cache
from numbers import Integral
from pathlib import Path
from typing import Self, TypeVar

LONGEST_PART = 1500
"""Most characters of a problem, of what was expected, and of a remedy: what is longer, nobody reads."""


class MuscleSolveError(Exception):
    """The base class of every error that musclesolve raises on purpose.

    Examples:
        >>> issubclass(ms.InputError, ms.MuscleSolveError)
        True
    """


class InputError(MuscleSolveError, ValueError):
    """A fault of the input: the file, the place in the file, the fault and the remedy in one message.

    It is a ValueError, too: `except InputError` stands before `except ValueError`.

    Args:
        problem: what is wrong, with the offending value.
        code: the kind of fault, one of `error_codes.toml`; it stays the same when the wording changes.
        file: the file at fault, if there is one.
        where: the line, field, marker or time in that file.
        expected: what would have been right.
        remedy: how to fix it.
        key: the template of the sentences, such as "opensim.no_column", if they have one.

    Examples:
        >>> try:
        ...     ms.run(ms.data.reference_stride(), cost="stress_cubd")
        ... except ms.InputError as error:
        ...     print(error.code, "|", error.problem)
        unknown_name | there is no cost 'stress_cubd'
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
        key: str | None = None,
    ) -> None:
        self.problem, self.code, self.file, self.where = _bounded(problem), code, file, where
        self.expected, self.remedy, self.key = _bounded(expected), _bounded(remedy), key
        place = ", ".join(str(part) for part in (file, _bounded(where)) if part)
        lines = [f"{place}: {self.problem}" if place else self.problem]
        if self.expected:
            lines.append(f"  expected: {self.expected}")
        if self.remedy:
            lines.append(f"  remedy: {self.remedy}")
        super().__init__("\n".join(lines))

    @classmethod
    def from_template(
        cls,
        code_or_key: str,
        /,
        *,
        file: str | Path | None = None,
        where: object = None,
        problem: str | None = None,
        code: str | None = None,
        expected: str | None = None,
        remedy: str | None = None,
        **fields: object,
    ) -> Self:
        """Return the error of a code with the given sentences, or of a key with its template in `errors.toml`.

        Args:
            code_or_key: the kind of fault, if the problem is given; or the folder and a name, "opensim.no_column".
            file: the file at fault.
            where: the number of a line, or another place as text.
            problem: what is wrong; None takes the template of the key.
            code: the kind of fault; like what follows, in place of what a template states.
            expected: what would have been right.
            remedy: how to fix it.
            fields: what the sentences of a template are filled with.
        """
        parts = {"code": code_or_key}
        if problem is None:
            folder, _, name = code_or_key.rpartition(".")
            texts = error_templates(folder)[name]
            parts = {"key": code_or_key} | {part: text.format(**fields) for part, text in texts.items()}
        stated = {
            "problem": problem,
            "code": code,
            "where": _place(where),
            "expected": expected,
            "remedy": remedy,
        }
        parts |= {part: text for part, text in stated.items() if text is not None}
        return cls(parts.pop("problem"), file=file, **parts)

    def moved(
        self, file: str | Path | None, where: object = None, before: str = "", after: str = ""
    ) -> "InputError":
        """Return the same error at another place, with texts before and after its problem."""
        return InputError(
            f"{before}{self.problem}{after}",
            code=self.code,
            file=file,
            where=_place(where),
            expected=self.expected,
            remedy=self.remedy,
            key=self.key,
        )


input_error = InputError.from_template

FilePlace = str | Path | None | tuple[str | Path | None, object]
"""A file, or a file and the number of a line or another place in it."""


def file_error(
    code: str, place: FilePlace, problem: str, expected: str | None = None, remedy: str | None = None
) -> InputError:
    """Return the error of a file, with its sentences in the order in which they are printed."""
    file, where = place if isinstance(place, tuple) else (place, None)
    return input_error(code, file=file, where=where, problem=problem, expected=expected, remedy=remedy)


@cache
def error_templates(folder: str) -> dict[str, dict[str, str]]:
    """Return the sentences of every error of a folder of the package, such as "opensim", by the names of templates."""
    import tomllib  # only where there is an error to tell

    file = Path(__file__).parent.joinpath(*folder.split("."), "errors.toml")
    return tomllib.loads(file.read_text(encoding="utf-8"))


def _place(where: object) -> str | None:
    return f"line {where}" if isinstance(where, Integral) else str(where) if where else None


def not_installed(
    use: str, package: str, extra: str, *, where: str | None = None, instead: str = ""
) -> InputError:
    """The error of a package that an extra of musclesolve brings and that is not there.

    Args:
        use: what needs it, as the beginning of a sentence: "a cluster needs".
        package: its name.
        extra: that brings it.
        where: the option that needs it.
        instead: what may be done without it, behind the remedy: ", or --format csv".
    """
    return input_error(
        "missing_package",
        where=where,
        problem=f"{use} the package {package}, which is not installed",
        remedy=f'in the copy of the repository: pip install ".[{extra}]"{instead}',
    )


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
