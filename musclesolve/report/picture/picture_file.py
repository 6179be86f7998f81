"""A moving picture as a file, by its suffix."""

from __future__ import annotations

from pathlib import Path

from musclesolve._util.progress import Progress, no_progress
from musclesolve.errors import InputError
from musclesolve.report.picture.film import RATES, film
from musclesolve.report.picture.moving_picture import picture_page
from musclesolve.report.picture.picture_data import picture_data
from musclesolve.results.files.atomic_writing import write_files
from musclesolve.results.files.result_netcdf import read_result

PAGES = ("html", "htm")


def picture_file(
    result: str | Path, path: str | Path, speed: float = 0.5, progress: Progress | None = None
) -> tuple[str, ...]:
    """Write the moving picture of a result as .html, .gif or .mp4; returns sentences on what it does not show.

    Raises:
        InputError: another suffix, no result, one without points to draw, or a program that is missing.
    """
    result, path, report = Path(result), Path(path), progress or no_progress
    kind = path.suffix.casefold().removeprefix(".")
    if kind not in (*PAGES, *RATES):
        raise InputError(
            f"a moving picture is not written as {path.suffix or 'a file without suffix'!r}",
            code="unknown_name",
            file=path,
            expected="a file that ends in .html, .gif or .mp4",
            remedy=f"for instance -o {path.with_suffix('.html').name or 'walk.html'}",
        )
    report("reading", 0.0)
    loaded = read_result(result)
    content = picture_page(loaded).encode() if kind in PAGES else film(loaded, kind, speed, report)
    report("writing", 1.0)
    write_files(path.parent, {path.name: content})
    return picture_data(loaded).missing
