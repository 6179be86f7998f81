"""The command `picture`: the subject walking, as a page, GIF or MP4."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from musclesolve.cli.printing import print_files, print_summary
from musclesolve.cli.progress_bar import progress
from musclesolve.results.tables.lines import lines


def picture(
    result: Annotated[
        Path,
        typer.Argument(metavar="RESULT.nc", help="result.nc of `musclesolve run` or `musclesolve share`."),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            help="The file: .html (needs nothing else), .gif or .mp4; default: picture.html beside the result.",
        ),
    ] = None,
    speed: Annotated[
        float, typer.Option(min=0.01, max=10.0, help="Speed of GIF and MP4 as a share of the true one.")
    ] = 0.5,
) -> None:
    """Show the subject in motion: skeleton, muscles colored by activation, ground and contact forces."""
    from musclesolve.report.picture.save_picture import save_picture
    from musclesolve.results.files.atomic_writing import reserved

    path = output or result.parent / "picture.html"
    with progress() as report, reserved(path.parent):
        missing = save_picture(result, path, speed, report)
    if missing:
        print_summary("\n".join(lines("note", missing)))
    print_files([path])
