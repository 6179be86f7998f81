"""The end of a command: its summary or its JSON document, the files that it has written, its exit code."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import typer
from rich.console import RenderableType

from musclesolve.cli.output_mode import mode
from musclesolve.cli.printing import complain, print_document, print_files, print_summary, print_table


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
