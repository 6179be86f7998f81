"""A report as a file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from musclesolve._util.progress import Progress, no_progress
from musclesolve.errors import InputError
from musclesolve.report.inputs import Inputs, read_inputs
from musclesolve.report.page import report_page
from musclesolve.results.files.atomic_writing import reserved, write_files

NAME, SUFFIXES = "report.html", (".html", ".htm")


def write_report(
    paths: Sequence[str | Path],
    output: str | Path | None = None,
    progress: Progress | None = None,
    workers: int = 1,
) -> tuple[Path, Inputs]:
    """Write a report of results, with what was computed of the same trials besides.

    Args:
        paths: result.nc, uncertainty.nc, comparison.nc and average.nc, in any order; their content says which is which.
        output: the page (.html), or a folder for report.html; beside the first file unless given.
        progress: called with the name of each stage and the share of the work that is done.
        workers: how many processes draw figures side by side.

    Returns:
        The page, and what it was made of.

    Raises:
        InputError: a file does not exist, none can be used, or the page cannot be written.
    """
    report = progress or no_progress
    report("reading", 0.0)
    inputs = read_inputs(paths)
    target = _target(paths, output)
    with reserved(target.parent):
        page = report_page(inputs, report, workers)
        (written,) = write_files(target.parent, {target.name: page.encode("utf-8", "replace")})
    return written, inputs


def _target(paths: Sequence[str | Path], output: str | Path | None) -> Path:
    target = Path(paths[0]).parent if output is None else Path(output)
    if target.is_dir():
        target = target / NAME
    if target.suffix.casefold() not in SUFFIXES:
        raise InputError(
            f"a report is a page of HTML, not {target.suffix or 'a file without suffix'}",
            code="bad_value",
            file=target,
            expected="a name that ends in .html, or a folder",
            remedy="-o report.html",
        )
    if os.path.realpath(target) in {os.path.realpath(path) for path in paths}:
        raise InputError(
            "this is one of the files that the report is made of",
            code="occupied_folder",
            file=target,
            remedy="choose another name with -o",
        )
    return target
