"""Which reader reads which file: by the suffix of its name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

from musclesolve._util.names import suggestion
from musclesolve.recording.c3d.c3d_file import read_c3d
from musclesolve.recording.cameras.camera_markers import read_camera_markers
from musclesolve.recording.data import Markers, Table
from musclesolve.recording.place_errors import error_at
from musclesolve.recording.text.csv_file import read_csv_columns, read_csv_forces, read_csv_markers
from musclesolve.recording.text.mot_file import read_mot
from musclesolve.recording.text.text_file import file_path, is_file, no_file
from musclesolve.recording.text.trc_file import read_trc

Content = TypeVar("Content")

MARKERS: dict[str, Callable[[Path], Markers]] = {
    ".trc": read_trc,
    ".c3d": lambda path: read_c3d(path).markers(),
    ".csv": read_csv_markers,
    ".toml": read_camera_markers,
}
"""Suffix -> reader of marker trajectories."""

FORCES: dict[str, Callable[[Path], Table]] = {".mot": read_mot, ".sto": read_mot, ".csv": read_csv_forces}
"""Suffix -> reader of ground reaction forces."""


CHANNELS: dict[str, Callable[[Path], Table]] = {
    ".sto": read_mot,
    ".mot": read_mot,
    ".csv": read_csv_columns,
    ".c3d": lambda path: read_c3d(path).channels(),
}
"""Suffix -> reader of signals such as EMG."""


def read_markers(path: str | Path) -> Markers:
    """Read marker trajectories [m], in the axes of the file, from a file of any known format.

    Raises:
        InputError: an unknown suffix, or whatever the reader of the format refuses.
    """
    return _reader(path, MARKERS, "marker trajectories")(Path(path))


def read_forces_table(path: str | Path) -> Table:
    """Read forces over time as named columns from a file of any known format."""
    return _reader(path, FORCES, "forces", also=(".c3d",))(Path(path))


def read_channels(path: str | Path) -> Table:
    """Read signals over time, in the units of the file, as named channels from a file of any known format."""
    return _reader(path, CHANNELS, "EMG")(Path(path))


def _reader(
    path: str | Path, readers: Mapping[str, Callable[[Path], Content]], what: str, also: tuple[str, ...] = ()
) -> Callable[[Path], Content]:
    """Return the reader of a file; ``also`` names suffixes that a trial may give instead, read in another way."""
    suffix = file_path(path).suffix.casefold()
    if suffix in readers:
        return readers[suffix]
    known = sorted({*readers, *also} - {suffix})
    if not is_file(Path(path)):
        raise no_file(Path(path))
    problem = (
        f"{what} cannot be read from files that end in '{suffix}'" if suffix else "the name has no suffix"
    )
    remedy = suggestion(suffix, known) or f"export the {what} in one of these formats"
    raise error_at(Path(path), None, problem, f"a file that ends in {', '.join(known)}", remedy)
