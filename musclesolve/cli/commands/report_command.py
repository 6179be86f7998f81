"""The command `report`: a page on results that anyone can open."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from musclesolve.cli.printing import print_files, print_summary
from musclesolve.cli.progress_bar import progress
from musclesolve.results.tables.lines import line


def report(
    result: Annotated[
        list[Path],
        typer.Argument(
            metavar="RESULT.nc...",
            help="result.nc of `run` or `share`, and uncertainty.nc, comparison.nc, average.nc, in any order.",
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", help="The page, NAME.html, or a folder; default: report.html beside the result."
        ),
    ] = None,
) -> None:
    """Write a report: one page with verdict, figures, tables, limits and a methods paragraph, for any browser."""
    from musclesolve._util.processes import cores
    from musclesolve.report.page import write_report

    with progress() as update:
        written, inputs = write_report(result, output, update, cores())
    for each in inputs.unreadable:
        print_summary(line("left out", f"{each.path}: {each.reason}"))
    print_files([written])
