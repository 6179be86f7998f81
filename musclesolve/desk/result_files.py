"""The files of a result: descriptions, addresses on the page, and an archive of all."""

import tempfile
import zipfile
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import quote

from musclesolve.constants import RESULT_FILE
from musclesolve.plotting.figure_names import REPORT
from musclesolve.results.files.result_netcdf import result_attributes

PICTURE, FIGURES = "picture.html", "figures.html"


def files_in(folder: Path) -> list[Path]:
    """The files in a folder and below, the result first; without links and hidden (incomplete) files."""
    paths = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    shown = [
        path for path in paths if not any(part.startswith(".") for part in path.relative_to(folder).parts)
    ]
    first = (RESULT_FILE, REPORT, PICTURE, FIGURES)
    return sorted(
        shown,
        key=lambda path: (path.parent != folder, path.name not in first, path.relative_to(folder).as_posix()),
    )


def address(folder: Path, path: Path) -> str:
    """The address of a file on the page, which changes when the file is written again."""
    return f"files/{quote(path.relative_to(folder).as_posix())}?{path.stat().st_mtime_ns}"


def size_words(size: int) -> str:
    """A size in bytes, in words."""
    return f"{size / 1e6:.1f} MB" if size >= 1e5 else f"{max(size, 100) / 1e3:.1f} kB"


def is_older(path: Path, than: Path) -> bool:
    """Return whether a file was made before the present result."""
    return path.stat().st_mtime < than.stat().st_mtime


def of_same_input(one: Path, other: Path) -> bool:
    """Return whether two files were computed from the same recordings and the same trial file."""
    stated = [result_attributes(path).get("inputs") for path in (one, other)]
    return stated[0] is not None and stated[0] == stated[1]


def report_inputs(result: Path, others: Iterable[Path]) -> list[Path]:
    """The input files of a report: the result, and other files computed from the same input."""
    return [result, *(path for path in others if path.is_file() and of_same_input(path, result))]


def zipped(folder: Path) -> Path:
    """All files of a folder as a zip archive, a temporary file."""
    with tempfile.NamedTemporaryFile(prefix="musclesolve-", suffix=".zip", delete=False) as archive:
        path = Path(archive.name)
        try:
            with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
                for each in files_in(folder):
                    packed.write(each, f"{folder.name}/{each.relative_to(folder).as_posix()}")
        except BaseException:
            path.unlink(missing_ok=True)
            raise
    return path
