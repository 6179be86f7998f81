"""What the command line prints: text that stays in its column on a terminal, whole lines for other programs."""

from __future__ import annotations

import logging
import textwrap
import warnings
from pathlib import Path

from rich.console import Console

from musclesolve.results.tables.lines import INDENT, line

WIDE = 140


def console(stderr: bool = False) -> Console:
    """An output without markup, so that "[mm]" is printed; wide enough for a table where it is not a terminal."""
    out = Console(stderr=stderr, markup=False, highlight=False, emoji=False)
    if not out.is_terminal:
        out.width = WIDE
    return out


def say(text: str) -> None:
    """Print lines of a summary, subject and statement; a terminal gets them wrapped under the statement."""
    out = console()
    out.print(wrapped(text, out.width) if out.is_terminal else text, soft_wrap=True)


def wrapped(text: str, width: int) -> str:
    """Lines no longer than a width, as far as blanks allow, with the rest of a line below its statement."""
    return "\n".join(
        textwrap.fill(
            line,
            max(width, 2 * INDENT),
            subsequent_indent=" " * INDENT,
            break_long_words=False,
            break_on_hyphens=False,
        )
        for line in text.splitlines()
    )


def say_files(paths: list[Path]) -> None:
    """Print where the results are."""
    names = ", ".join(path.name for path in paths)
    say(line("files", f"{paths[0].parent}: {names}"))


def complain(message: str) -> None:
    """One message on the standard error stream."""
    console(stderr=True).print(f"musclesolve: {message}", style="red", soft_wrap=True)


class _Announce(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        console(stderr=True).print(f"musclesolve: {record.getMessage()}", soft_wrap=True)


def announce() -> None:
    """Print log messages of the package, such as that it compiles, on the standard error stream."""
    log = logging.getLogger("musclesolve")
    log.setLevel(logging.INFO)
    log.addHandler(_Announce())
    warnings.showwarning = _warn


def _warn(message: Warning | str, category: type[Warning], *place: object, **more: object) -> None:
    """A warning of a library in one line; numba's hold a traceback."""
    first = f"{message}".partition("\n")[0]
    console(stderr=True).print(f"musclesolve: {category.__name__}: {first}", soft_wrap=True)
