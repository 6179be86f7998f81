"""Printing by a command: summary, JSON document, progress and messages, and its exit.

Lines are wrapped only on a terminal. `--quiet`: errors only; `--json`: one document.
"""

import json
import logging
import math
import sys
import textwrap
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer
from rich.console import Console, RenderableType

from musclesolve._util.messages import Progress
from musclesolve._util.processes import interrupts
from musclesolve.laboratory.results.tables.lines import INDENT, line, lines

DIGITS = 15
"""Digits of numbers: 0.1 + 0.2 is printed as 0.3; the sixteenth digit is the error of the arithmetic."""


def json_text(content: Mapping[str, Any]) -> str:
    """The document, in ASCII."""
    return json.dumps(plain(content), indent=2, allow_nan=False)


def plain(value: Any) -> Any:
    """A value that JSON can hold: numbers, lists, dicts with texts as keys; None for a number that is not finite."""
    if hasattr(value, "tolist"):  # numpy's arrays and numbers
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None
    if value is None or isinstance(value, bool | int | str):
        return str(value) if isinstance(value, str) else value  # a member of an enumeration is its text
    return value.as_posix() if isinstance(value, Path) else str(value)


KEYS = ("code", "file", "place", "problem", "expected", "remedy")


def error_document(error: BaseException, message: str, exit_code: int) -> dict[str, Any]:
    """Code, file, place, problem, expected and remedy of an error; a missing part is None.

    Args:
        error: the error.
        message: what is printed for a person: the problem, where the error has no such part of its own.
        exit_code: of the command.
    """
    parts = dict.fromkeys(KEYS) | {"code": _code(error), "problem": getattr(error, "problem", message)}
    parts |= {name: getattr(error, name, None) for name in ("expected", "remedy")}
    parts["file"] = getattr(error, "file", None) or getattr(error, "filename", None)
    line = getattr(error, "line", None)  # of a muscle set
    places = (getattr(error, "where", None), f"line {line}" if line else None, getattr(error, "field", None))
    parts["place"] = ", ".join(str(place) for place in places if place) or None
    return {"error": parts, "exit_code": exit_code}


def _code(error: BaseException) -> str:
    """The code of an error of the input; for other errors a name of their kind."""
    code = getattr(error, "code", None)
    if isinstance(code, str):
        return code
    kinds = {KeyboardInterrupt: "interrupted", MemoryError: "out_of_memory", OSError: "system"}
    return next((name for kind, name in kinds.items() if isinstance(error, kind)), "pose")


WIDE_COLUMNS = 140
ERASED = "\r\x1b[2K"
"""Erases the line of a terminal in which the cursor stands."""


@dataclass
class OutputMode:
    """Output that the running command prints."""

    quiet: bool = False  # only errors, and the document of --json
    json: bool = False  # one JSON document on standard output, in the place of the summary
    renewed: bool = False  # the last line of the terminal is one that is renewed, without a line break

    def choose(self, *, quiet: bool = False, json: bool = False) -> None:
        """Choose the output of the running command; without arguments the usual one."""
        self.quiet, self.json = quiet, json
        logging.getLogger("musclesolve").setLevel(logging.WARNING if quiet else logging.INFO)

    @property
    def summary(self) -> bool:
        """Whether the summary is printed."""
        return not (self.quiet or self.json)


mode = OutputMode()
"""The output mode of the command that runs in this process."""


def console(stderr: bool = False) -> Console:
    """A console that prints text unchanged, "[mm]" included; wide enough for a table if it is not a terminal."""
    out = Console(stderr=stderr, markup=False, highlight=False, emoji=False)
    if not out.is_terminal:
        out.width = WIDE_COLUMNS
    return out


def print_summary(text: str) -> None:
    """Print lines of a summary, subject and statement; on a terminal wrapped below the statement.

    Nothing with --quiet or --json; likewise `print_files` and `print_table`.
    """
    if not mode.summary:
        return
    out = console()
    out.print(wrapped(text, out.width) if out.is_terminal else text, soft_wrap=True)


def print_lines(subject: str, statements: Iterable[str]) -> None:
    """Print a line of a summary for each statement; the first one has the subject."""
    for text in lines(subject, statements):
        print_summary(text)


def wrapped(text: str, width: int) -> str:
    """Wrap lines at blanks to a width; continued lines stand below the statement."""
    wrapper = textwrap.TextWrapper(max(width, 2 * INDENT), subsequent_indent=" " * INDENT)
    wrapper.break_long_words = wrapper.break_on_hyphens = False
    return "\n".join(map(wrapper.fill, text.splitlines()))


def print_files(paths: list[Path]) -> None:
    """Print which files were written, and where."""
    names = ", ".join(path.name for path in paths)
    folder = paths[0].parent
    near = folder.is_absolute() and folder.is_relative_to(Path.cwd())
    print_summary(line("files", f"{folder.relative_to(Path.cwd()) if near else folder}: {names}"))


def print_table(table: RenderableType) -> None:
    """Print a table, or a text of several lines."""
    if mode.summary:
        console().print(table, soft_wrap=isinstance(table, str))


def print_plain(text: str) -> None:
    """Print lines without wrapping at any width of the terminal, so that they can be copied."""
    console().print(text, soft_wrap=True)


def print_document(content: Mapping[str, Any]) -> None:
    """Print a JSON document."""
    print_plain(json_text(content))


def print_address(address: str, page: str = "live page") -> None:
    """Print the address of a page on the standard error stream, whole."""
    console(stderr=True).print(f"musclesolve: {page}: {address}", soft_wrap=True)


def complain(message: str) -> None:
    """Print a message on the standard error stream."""
    console(stderr=True).print(f"musclesolve: {message}", style="red", soft_wrap=True)


class _Announce(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        if mode.renewed:
            sys.stderr.write(ERASED)
            mode.renewed = False
        console(stderr=True).print(f"musclesolve: {record.getMessage()}", soft_wrap=True)


def announce() -> None:
    """Print log messages, such as that the kernel is compiled, and warnings on the standard error stream."""
    log = logging.getLogger("musclesolve")
    log.setLevel(logging.INFO)
    log.addHandler(_Announce())
    warnings.showwarning = print_warning


def print_warning(message: Warning | str, category: type[Warning], *place: object, **more: object) -> None:
    """Print a warning of a library in one line; warnings of numba hold a traceback."""
    first = f"{message}".partition("\n")[0]
    console(stderr=True).print(f"musclesolve: {category.__name__}: {first}", soft_wrap=True)


def finish(
    command: str,
    summary: Iterable[str | RenderableType],
    document: Callable[[], dict[str, Any]],
    files: Iterable[Path] = (),
    code: int = 0,
) -> None:
    """Print what a command has found, and end it with its exit code.

    Args:
        command: its name.
        summary: lines of a summary, and tables; taken only where they are printed.
        document: makes the content of its JSON document; called only where that is printed.
        files: those that were written.
        code: its exit code.
    """
    paths = list(files)
    if mode.json:
        print_document({"command": command, "exit_code": code, **document(), "files": paths})
    elif mode.quiet:
        if code:
            complain(
                f"{command}: not every frame has a valid solution; without --quiet the reasons are printed"
            )
    else:
        for part in summary:
            print_summary(part) if isinstance(part, str) else print_table(part)
        if paths:
            print_files(paths)
    if code:
        raise typer.Exit(code)


@contextmanager
def progress(out: Console | None = None) -> Iterator[Progress]:
    """A progress bar on a console, a terminal's standard error stream unless given; yields (stage, fraction 0 to 1).

    The callback also raises a Ctrl-C that was lost since its last call.
    """
    from rich import progress as shown

    columns = (
        shown.TextColumn("{task.description:<24}", markup=False),
        shown.BarColumn(),
        shown.TaskProgressColumn(),
        shown.TimeElapsedColumn(),
        shown.TextColumn("left"),
        shown.TimeRemainingColumn(),
    )
    out = out or Console(stderr=True)
    bar = shown.Progress(*columns, console=out, transient=True, disable=mode.quiet or not out.is_terminal)
    with interrupts() as raise_interrupt, bar:
        task = bar.add_task("reading", total=1.0)
        reached = 0.0

        def report(stage: str, fraction: float) -> None:
            nonlocal reached
            raise_interrupt()
            if fraction < reached:
                # another part of the work begins: its time left is not that of the last one
                bar.reset(task, start=True, completed=0)
            reached = fraction
            bar.update(task, description=stage, completed=fraction)

        yield report
