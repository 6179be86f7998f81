"""Printing of the command line: wrapped on a terminal, whole lines for other programs."""

from __future__ import annotations

import logging
import textwrap
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console, RenderableType

from musclesolve.cli.output_mode import mode
from musclesolve.results.tables.lines import INDENT, line

WIDE = 140


def console(stderr: bool = False) -> Console:
    """A console that prints text as it is, "[mm]" included; wide enough for a table where it is not a terminal."""
    out = Console(stderr=stderr, markup=False, highlight=False, emoji=False)
    if not out.is_terminal:
        out.width = WIDE
    return out


def print_summary(text: str) -> None:
    """Print lines of a summary, subject and statement; on a terminal wrapped below the statement.

    Nothing with --quiet or --json; likewise `print_files` and `print_table`.
    """
    if not mode.summary:
        return
    out = console()
    out.print(wrapped(text, out.width) if out.is_terminal else text, soft_wrap=True)


def wrapped(text: str, width: int) -> str:
    """Wrap lines at blanks to a width; continued lines stand below the statement."""
    wrapper = textwrap.TextWrapper(max(width, 2 * INDENT), subsequent_indent=" " * INDENT)
    wrapper.break_long_words = wrapper.break_on_hyphens = False
    return "\n".join(map(wrapper.fill, text.splitlines()))


def print_files(paths: list[Path]) -> None:
    """Print which files were written, and where."""
    names = ", ".join(path.name for path in paths)
    print_summary(line("files", f"{paths[0].parent}: {names}"))


def print_table(table: RenderableType) -> None:
    """Print a table, or a text of several lines."""
    if mode.summary:
        console().print(table, soft_wrap=isinstance(table, str))


def print_plain(text: str) -> None:
    """Print lines as they are, whatever the width of the terminal: they may be copied."""
    console().print(text, soft_wrap=True)


def print_document(content: Mapping[str, Any]) -> None:
    """Print a JSON document."""
    from musclesolve.cli.documents.json_text import json_text

    print_plain(json_text(content))


def complain(message: str) -> None:
    """Print a message on the standard error stream."""
    console(stderr=True).print(f"musclesolve: {message}", style="red", soft_wrap=True)


class _Announce(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        console(stderr=True).print(f"musclesolve: {record.getMessage()}", soft_wrap=True)


def announce() -> None:
    """Print log messages, such as that the kernel is compiled, and warnings on the standard error stream."""
    log = logging.getLogger("musclesolve")
    log.setLevel(logging.INFO)
    log.addHandler(_Announce())
    warnings.showwarning = print_warning


def print_warning(message: Warning | str, category: type[Warning], *place: object, **more: object) -> None:
    """Print a warning of a library in one line; those of numba hold a traceback."""
    first = f"{message}".partition("\n")[0]
    console(stderr=True).print(f"musclesolve: {category.__name__}: {first}", soft_wrap=True)
