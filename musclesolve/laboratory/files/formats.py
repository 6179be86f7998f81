"""Readers of files by the suffix of the file name, the faults while reading, and conversion of recordings.

The first fault is raised, or all faults are collected with their stage. Recordings of any known format are converted to
OpenSim's files: markers to TRC, forces to MOT or STO.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import numpy as np

from muscle_db.similar_names import suggestion
from musclesolve._util.arrays import Array
from musclesolve._util.messages import NO_WARNING
from musclesolve._util.plugins import plugins
from musclesolve.errors import file_error
from musclesolve.laboratory.files.c3d.c3d_file import is_c3d, read_c3d
from musclesolve.laboratory.files.c3d.force_platforms import beside_plate, read_plates
from musclesolve.laboratory.files.cameras.reconstruction import read_camera_markers
from musclesolve.laboratory.files.text.csv_file import read_csv_columns, read_csv_forces, read_csv_markers
from musclesolve.laboratory.markers.marker_names import by_person, without_person
from musclesolve.laboratory.recording.axes import global_from_laboratory
from musclesolve.laboratory.recording.trial_settings import FILE_AXES
from musclesolve.tables.number_rows import not_increasing, repeated_name
from musclesolve.tables.opensim_text import read_mot, read_repaired, read_trc, write_mot, write_trc
from musclesolve.tables.sampled import Markers, Table
from musclesolve.tables.text_file import STORAGE, TABLES, check_place, is_file, no_file, suffix_of

Content = TypeVar("Content")

MARKERS: dict[str, Callable[[Path], Markers]] = {
    ".trc": read_trc,
    ".c3d": lambda path: read_c3d(path).markers(),
    **dict.fromkeys(TABLES, read_csv_markers),
    ".toml": read_camera_markers,
}
"""Suffix -> reader of marker trajectories."""

FORCES: dict[str, Callable[[Path], Table]] = {
    **dict.fromkeys(STORAGE, read_mot),
    **dict.fromkeys(TABLES, read_csv_forces),
}
"""Suffix -> reader of ground reaction forces."""


CHANNELS: dict[str, Callable[[Path], Table]] = {
    **dict.fromkeys(STORAGE, read_mot),
    **dict.fromkeys(TABLES, read_csv_columns),
    ".c3d": lambda path: read_c3d(path).channels(),
}
"""Suffix -> reader of signals such as EMG."""


@cache
def _add_readers() -> None:
    """Add the readers of other packages: the entry point "markers.xyz" reads markers from files that end in .xyz."""
    tables: dict[str, dict[str, Any]] = {"markers": MARKERS, "forces": FORCES, "channels": CHANNELS}
    for name, reader in plugins("readers", ()).items():
        role, _, suffix = name.partition(".")
        tables[role].setdefault(f".{suffix}", reader)


def read_markers(path: str | Path) -> Markers:
    """Read marker trajectories, in the axes of the file, from a file of any known format.

    Args:
        path: of the file.

    Returns:
        Positions (T, n, 3) [m] by marker name.

    Raises:
        InputError: an unknown suffix, or any fault that the reader of the format refuses.

    Examples:
        >>> markers = ms.laboratory.read_markers(ms.data.reference_stride().parent / "walk.trc")
        >>> markers.position.shape == (len(markers.time), len(markers.names), 3)
        True
    """
    markers = _reader(path, MARKERS, "marker trajectories")(Path(path))
    steps = np.diff(markers.time)
    if not (steps > 0.0).all():  # every reader of this package refuses it with its line
        at = int(np.argmin(steps > 0.0))
        remedy = "export the file again, with one row for each time"
        raise not_increasing(
            (markers.path, f"sample {at + 2}"), markers.time[at], markers.time[at + 1], "sample", remedy
        )
    return by_person(markers)


def read_forces_table(path: str | Path) -> Table:
    """Read forces over time as named columns from a file of any known format.

    Args:
        path: of the file.

    Returns:
        Columns in SI units, as the file names them.

    Raises:
        InputError: an unknown suffix, or any fault that the reader of the format refuses.

    Examples:
        >>> forces = ms.laboratory.read_forces_table(ms.data.reference_stride().parent / "forces.mot")
        >>> round(forces.rate)
        600
    """
    return _reader(path, FORCES, "forces", also=(".c3d",))(Path(path))


def read_positions_table(path: str | Path) -> Table:
    """Read positions of a model over time, in the units of the file, as named columns from a file of text."""
    return _reader(path, FORCES, "coordinates")(Path(path))


def read_channels(path: str | Path) -> Table:
    """Read signals over time, in the units of the file, as named channels from a file of any known format."""
    return _reader(path, CHANNELS, "EMG")(Path(path))


def _reader(
    path: str | Path, readers: Mapping[str, Callable[[Path], Content]], what: str, also: tuple[str, ...] = ()
) -> Callable[[Path], Content]:
    """Return the reader of a file; ``also``: further suffixes that a trial may have, which other functions read."""
    suffix = suffix_of(path)
    if suffix not in readers:
        _add_readers()
    if suffix in readers:
        return readers[suffix]
    suffixes = sorted({*readers, *also} - {suffix})
    if not is_file(Path(path)):
        raise no_file(Path(path))
    meant = None if suffix in {*MARKERS, *FORCES} else suggestion(suffix, suffixes)
    raise file_error(
        "bad_format",
        Path(path),
        f"{what} cannot be read from files that end in '{suffix}'" if suffix else "the name has no suffix",
        f"a file that ends in {', '.join(suffixes)}",
        meant or f"export the {what} in one of these formats",
    )


MARKER_TEXT = (".trc",)

# OpenSim: x forward, y up, z right; the global frame: x forward, y left, z up.
_OPENSIM_FROM_GLOBAL = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])


def convert(
    source: Path,
    targets: Sequence[Path],
    forward: str | None = None,
    up: str | None = None,
    units: str = "mm",
) -> list[str]:
    """Write the markers or forces of a recording to other files; the source is read completely before writing.

    The suffix of each target determines its content. The name of the subject before the markers, "Ann:LASI", is omitted
    if there is only one subject.

    With `forward`, the axis of the source in the walking direction, markers and plates are rotated into the axes of
    OpenSim (x forward, y up, z right), otherwise they stay in the axes of the source. `up` is its upward axis, +z when
    None; without `forward` it is used only for the ground under the plates of a C3D file, on which their center of
    pressure lies. `units` is the unit of length of the markers. Returns notes on assumptions.
    """
    if suffix_of(source) == ".nc":
        raise file_error(
            "conflict",
            source,
            "this is a result, no recording",
            "a recording, such as TRC, C3D, CSV, MOT or STO",
            f"musclesolve export {source} --format sto (or mot, csv, mat, parquet)",
        )
    for number, target in enumerate(targets):
        check_place(target, "markers (.trc) or forces (.mot, .sto)", *MARKER_TEXT, *STORAGE)
        if _same_file(target, source):
            name = target.with_stem(target.stem + "_converted").name
            raise file_error(
                "conflict",
                target,
                "this is the recording to be read: it would be replaced",
                "another file to write",
                f"-o {name}",
            )
        if any(_same_file(target, other) for other in targets[:number]):
            raise file_error(
                "conflict",
                target,
                "this file is to be written twice",
                "every file once",
                "leave out one -o, or give it another name",
            )
    # In the axes of the source unless rotated forward: to and from any frame with z up.
    upward = up or "+z"
    across = forward or next(axis for axis in FILE_AXES if axis[1] != upward[1])
    to_global = global_from_laboratory(across, upward)
    to_target = to_global.T if forward is None else _OPENSIM_FROM_GLOBAL
    plates = is_c3d(source) and any(target.suffix.casefold() in STORAGE for target in targets)
    if up is not None and forward is None and not plates:
        # Only plates need the ground.
        raise file_error(
            "missing_argument",
            source,
            "--up alone rotates nothing",
            "both axes, the walking direction and up, or neither",
            "add --forward with the axis of the walking direction, or leave out --up",
        )
    writers: list[Callable[[], None]] = []
    notes: list[str] = []
    for target in targets:
        if target.suffix.casefold() in MARKER_TEXT:
            markers = without_person(read_markers(source))
            notes += markers.sentences
            writers.append(partial(write_trc, target, markers.rotated(to_target @ to_global), units=units))
        else:
            table, own_notes = _forces(source, forward, to_global, to_target)
            notes += own_notes
            writers.append(partial(write_mot, target, table))
    for write in writers:
        write()
    return list(dict.fromkeys(notes))


def _same_file(one: Path, other: Path) -> bool:
    """Whether two paths are the same file, also through links."""
    try:
        return one.samefile(other)
    except OSError:  # one of them does not exist, or is no file: reading or writing reports it
        return os.path.realpath(one) == os.path.realpath(other)


def _forces(source: Path, forward: str | None, to_global: Array, to_target: Array) -> tuple[Table, list[str]]:
    """Return the forces of a recording as named columns, and notes on assumptions."""
    if is_c3d(source):
        plates = read_plates(read_c3d(source), to_global)
        recordings, notes = plates.recordings, plates.notes
        if not recordings:
            raise file_error(
                "bad_plate",
                source,
                "the file has no force plates",
                "ground reaction forces",
                "convert its markers alone: -o with a name in .trc",
            )
        for recording in recordings:
            if (away := beside_plate(recording)) is not None:
                notes.append(
                    f"The center of pressure of plate {recording.plate.number} of {source.name} is beside the plate, "
                    f"{away:.3g} m from its middle: CORNERS, ORIGIN or the unit of the moments is wrong."
                )
        columns = {
            name.format(recording.plate.number): values @ to_target.T
            for recording in recordings
            for name, values in (
                ("ground_force_{}_v", recording.force),
                ("ground_force_{}_p", recording.point),
                ("ground_torque_{}_", recording.moment),
            )
        }
        names = tuple(name + axis for name in columns for axis in "xyz")
        values = np.concatenate(list(columns.values()), axis=1)
        table = Table(recordings[0].time, names, values, False, source)
    elif forward is not None:
        raise file_error(
            "conflict",
            source,
            "columns of forces cannot be rotated: the file does not state which three of them are a vector",
            "a C3D file, whose plates are, or forces in the axes they are to be in",
            "leave out --forward",
        )
    else:
        table = read_forces_table(source)
        for name, place in table.repeated.items():
            raise repeated_name("column", name, place, source, by_places=False)
        notes = table.sentences
    if missing := int(np.isnan(table.values).sum()):
        notes.append(
            f"{missing} numbers are missing and written as nan: the TimeSeriesTable of OpenSim reads them, its "
            "Storage ends before the first of them."
        )
    return table, notes


Rows = TypeVar("Rows", Markers, Table)
Value = TypeVar("Value")
Arguments = ParamSpec("Arguments")


@dataclass
class Faults:
    """Faults from every stage of reading.

    collects: whether reading continues with a substitute for a part at fault; otherwise the first fault is raised.

    found: stage, such as "mapping" or "time range", and error of every fault, in the order of reading; without
    `collects` only wrong counts of rows, which never stop reading.
    """

    collects: bool = False
    found: list[tuple[str, Exception]] = field(default_factory=list)

    def add(self, stage: str, *errors: Exception) -> None:
        """Note the errors of a stage; raise the first one unless they are collected."""
        for error in errors:
            if not self.collects:
                raise error
            self.found.append((stage, error))

    def attempt(
        self,
        stage: str,
        instead: Value,
        read: Callable[Arguments, Value],
        *arguments: Arguments.args,
        **options: Arguments.kwargs,
    ) -> Value:
        """Return the result of a reader, or `instead` after an error that is collected."""
        try:
            return read(*arguments, **options)
        except Exception as error:
            self.add(stage, error)
        return instead

    def passes(self, stage: str, check: Callable[..., None], *arguments: Any) -> bool:
        """Return whether a check refuses nothing, or False after an error that is collected."""
        before = len(self.found)
        self.attempt(stage, None, check, *arguments)
        return len(self.found) == before

    def rows(self, path: Path, reader: Callable[[Path], Rows]) -> Rows | None:
        """Read a recording. If faults are collected, a faulty text is repaired in a copy; None if no repair helps."""
        recorded = read_repaired(path, reader, self.add) if self.collects else reader(path)
        if recorded is None or not recorded.row_warning:
            return recorded
        said = recorded.row_warning
        self.found.append(("row count", file_error("bad_format", path, said.rstrip("."), remedy=said.remedy)))
        return replace(recorded, row_warning=NO_WARNING) if self.collects else recorded
