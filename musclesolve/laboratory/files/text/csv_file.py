"""Tables of text (CSV, TSV, TXT): marker trajectories, ground reaction forces, signals.

Cells are separated by commas, semicolons or tabs; with semicolons or tabs, numbers may have a decimal comma. A file
that uses both signs within numbers is refused: 1,234 could be a thousand or one.

The first line decides, never the name of the file. Exports of Vicon Nexus, Motive, Qualisys, D-Flow and Cortex are read
as these programs write them, each by a file of its own. Any other file begins with a line of column names, ``time`` and
``NAME_x``, ``NAME.x`` or ``NAME:X`` for markers, the unit in brackets or after an underscore (``RASI_x [mm]``,
``RASI_x_mm``).
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.errors import InputError, file_error
from musclesolve.laboratory.files.text import cortex_forces, dflow_text, motive_csv, nexus_csv, qualisys_tsv
from musclesolve.tables.cells import (
    Columns,
    Coordinates,
    against_ground,
    blocks_of,
    free_moments,
    in_meters_by_size,
    no_unit,
    plain_coordinates,
    title_lines,
    titled_columns,
)
from musclesolve.tables.number_rows import RowReader, is_row, timed_rows, without_lost
from musclesolve.tables.sampled import Markers, Table
from musclesolve.tables.text_file import file_path


@dataclass(frozen=True)
class Export:
    """An export of a program: whether a first line is of it; functions from the open file, after its first line, to its
    markers, to its other columns, in SI units or in the units of the file, and to its events: label, context, time [s].
    """

    begins: Callable[[str], bool]
    markers: Callable[[RowReader, str], Coordinates]
    columns: Callable[[RowReader, str, bool], Columns]
    events: Callable[[RowReader, str], list[tuple[str, str, float]]] = lambda reader, line: []


PLAIN = Export(
    lambda line: True,
    lambda reader, line: plain_coordinates(title_lines(reader, line), reader),
    lambda reader, line, in_si: titled_columns(title_lines(reader, line), reader, in_si),
)
EXPORTS = (
    Export(nexus_csv.begins, nexus_csv.marker_columns, nexus_csv.other_columns, nexus_csv.events),
    Export(motive_csv.begins, motive_csv.marker_columns, motive_csv.other_columns),
    Export(qualisys_tsv.begins, qualisys_tsv.marker_columns, qualisys_tsv.other_columns, qualisys_tsv.events),
    Export(dflow_text.begins, dflow_text.marker_columns, dflow_text.other_columns),
    Export(cortex_forces.begins, cortex_forces.marker_columns, cortex_forces.other_columns),
    PLAIN,
)
"""Exports of programs by their first line; any other file has a line of names."""


def is_export(path: Path) -> bool:
    """Whether a text is an export of one of these programs."""
    with RowReader(path) as reader:
        return _reader_of(reader.first_line()) is not PLAIN


def has_rows(path: Path) -> bool:
    """Whether two lines of a text, one below the other, are rows of numbers."""
    with RowReader(path) as reader:
        rows = [
            len(cells := re.split(r"[\s;,]+", text.strip())) > 1 and is_row(cells) for text in reader.ahead
        ]
    return any(one and other for one, other in pairwise(rows))


def export_events(path: Path) -> list[tuple[str, str, float]]:
    """Return label, context and time [s] of each event that an export states."""
    with RowReader(path) as reader:
        line = reader.first_line()
        return _reader_of(line).events(reader, line)


def has_markers(path: Path) -> bool:
    """Whether the first lines of a text name the coordinates of markers."""
    try:
        with RowReader(path) as reader:
            line = reader.first_line()
            return bool(_reader_of(line).markers(reader, line).markers)
    except InputError:
        return False


def _reader_of(line: str) -> Export:
    """The functions that read a file with this first line."""
    return next(export for export in EXPORTS if export.begins(line))


def read_csv_markers(path: str | Path) -> Markers:
    """Read marker trajectories [m], in the axes of the file, from a table of text."""
    path = file_path(path)
    with RowReader(path) as reader:
        line = reader.first_line()
        header = _reader_of(line).markers(reader, line)
        time, position, _, notes, warning = timed_rows(
            reader,
            blocks_of(reader, header),
            lambda rows: (header.times(rows), _seen(header, rows)),
            "marker",
            header.markers,
            header.repeated,
            header.count,
        )
    notes = (*header.notes, *notes)
    if not header.unit_stated:
        unknown = no_unit(header.markers[0], path, reader.line_number)
        notes = (*notes, in_meters_by_size(position, path, unknown))
    rest = (), header.repeated, warning
    return Markers(time, header.markers, position, path, notes, *rest, sha256=reader.sha256)


def _seen(header: Coordinates, rows: Array) -> Array:
    """Return the positions (r, n, 3) in rows (r, k), NaN where a marker was out of sight."""
    position = without_lost(rows[:, header.columns] * header.meters)
    for marker, column in header.sights.items():
        position[rows[:, column] == 0.0, marker] = np.nan
    return position


def read_csv_forces(path: str | Path) -> Table:
    """Read forces, points and moments over time from a table of text: a line of names, then one row per sample.

    A column with a unit in brackets after its name is converted to SI units and loses the brackets; the others do not
    change, as from a MOT file. Plates that Qualisys exports into files of their own are read together.
    """
    tables = [_read_columns(file, in_si=True) for file in qualisys_tsv.plate_files(file_path(path))]
    first, *others = tables
    for other in others:
        if not np.array_equal(other.time, first.time):
            raise file_error(
                "conflict",
                other.path,
                f"this plate was sampled at other times than the one in {first.path.name}",
                "plates of one recording",
                "export all plates of the recording again",
            )
    if not others:
        return first
    return replace(
        first,
        names=tuple(name for table in tables for name in table.names),
        values=np.concatenate([table.values for table in tables], axis=1),
        roles=tuple(role for table in tables for role in table.roles),
        notes=tuple(note for table in tables for note in table.notes),
        path=file_path(path),
    )


def read_csv_columns(path: str | Path) -> Table:
    """Read columns over time, in the units of the file; brackets after a name are removed."""
    return _read_columns(file_path(path), in_si=False)


def _read_columns(path: Path, in_si: bool) -> Table:
    """Read the columns of a table of text."""
    with RowReader(path) as reader:
        line = reader.first_line()
        header = _reader_of(line).columns(reader, line, in_si)
        time, values, lines, notes, warning = timed_rows(
            reader,
            blocks_of(reader, header),
            lambda rows: (header.times(rows), rows[:, header.columns] * header.factors),
            "column",
            header.names,
            header.repeated,
            header.count,
        )
    notes = (*header.notes, *notes)
    if in_si and header.by_plate and against_ground(values, header.roles):
        of_plate = [k for k, role in enumerate(header.roles) if role in ("force", "moment")]
        values[:, of_plate] *= -1.0
        notes += (f"The forces of {path.name} push on the plates: they are turned to push on the feet.",)
    if in_si and free_moments(values, header.roles):
        notes += (f"The moments of {path.name} are about fixed points: the free moments follow from them.",)
    rest = lines, header.roles, notes, header.repeated, warning
    return Table(time, header.names, values, None, path, *rest, sha256=reader.sha256)
