"""The progress bar of a command: what is done, how much of it, the time since the start and the time left."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console

from musclesolve._util.interrupts import interrupts
from musclesolve._util.progress import Progress
from musclesolve.cli.output_mode import mode


@contextmanager
def progress(out: Console | None = None) -> Iterator[Progress]:
    """A progress bar on a console, a terminal's standard error stream unless given; yields (stage, fraction 0 to 1).

    The callback also raises a Ctrl-C that was lost since its last call.
    """
    from rich import progress as rich_progress
    from rich.progress import (
        BarColumn,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description:<24}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    out = out or Console(stderr=True)
    bar = rich_progress.Progress(
        *columns, console=out, transient=True, disable=mode.quiet or not out.is_terminal
    )
    with interrupts() as raise_interrupt, bar:
        task = bar.add_task("reading", total=1.0)
        reached = 0.0

        def report(stage: str, fraction: float) -> None:
            nonlocal reached
            raise_interrupt()
            if (
                fraction < reached
            ):  # another part of the work begins: its time left is not that of the last one
                bar.reset(task, start=True, completed=0)
            reached = fraction
            bar.update(task, description=stage, completed=fraction)

        yield report
