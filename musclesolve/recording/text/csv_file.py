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
from itertools import islice, pairwise
from pathlib import Path

import numpy as np

from musclesolve._util.message_text import few
from musclesolve.errors import InputError, file_error
from musclesolve.recording.data import Markers, Table
from musclesolve.recording.text import cortex_forces, dflow_text, motive_csv, nexus_csv, qualisys_tsv
from musclesolve.recording.text.cells import (
    Columns,
    Coordinates,
    against_ground,
    blocks_of,
    cells_of,
    clock_and_signals,
    free_moments,
    is_time,
    named_and_unit,
    no_unit,
    plain_coordinates,
    si_factors,
    title_lines,
    unit_by_size,
)
from musclesolve.recording.text.number_rows import (
    RowReader,
    distinct_names,
    is_row,
    timed_rows,
    without_lost,
)
from musclesolve.recording.text.text_file import file_path


@dataclass(frozen=True)
class Export:
    """An export of a program: whether a first line is of it; functions from the open file, after its first line, to its
    markers, to its other columns, in SI units or in the units of the file, and to its events: label, context, time [s].
    """

    begins: Callable[[str], bool]
    markers: Callable[[RowReader, str], Coordinates]
    columns: Callable[[RowReader, str, bool], Columns]
    events: Callable[[RowReader, str], list[tuple[str, str, float]]] = lambda reader, line: []


_FIRST_ROWS = 50
"""Number of rows that show whether two columns of times are one clock."""
EXPORTS = (
    Export(nexus_csv.begins, nexus_csv.marker_columns, nexus_csv.other_columns, nexus_csv.events),
    Export(motive_csv.begins, motive_csv.marker_columns, motive_csv.other_columns),
    Export(qualisys_tsv.begins, qualisys_tsv.marker_columns, qualisys_tsv.other_columns, qualisys_tsv.events),
    Export(dflow_text.begins, dflow_text.marker_columns, dflow_text.other_columns),
    Export(cortex_forces.begins, cortex_forces.marker_columns, cortex_forces.other_columns),
)
"""Exports of programs by their first line; any other file has a line of names."""


def is_export(path: Path) -> bool:
    """Whether a text is an export of one of these programs."""
    with RowReader(path) as reader:
        return _reader_of(reader.first_line()) in EXPORTS


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
    plain = Export(lambda _: True, _plain_markers, _plain_columns)
    return next((export for export in EXPORTS if export.begins(line)), plain)


def read_csv_markers(path: str | Path) -> Markers:
    """Read marker trajectories [m], in the axes of the file, from a table of text."""
    path = file_path(path)
    with RowReader(path) as reader:
        line = reader.first_line()
        header = _reader_of(line).markers(reader, line)
        time, position, _, notes, _ = timed_rows(
            reader,
            blocks_of(reader, header.titles, header.separator, header.section),
            lambda rows: (header.times(rows), without_lost(rows[:, header.columns] * header.meters)),
            "marker",
            header.markers,
            header.repeated,
        )
    notes = (*header.notes, *notes)
    if not header.unit_stated:
        sized = unit_by_size(position, path)
        if sized is None:
            raise no_unit(header.markers[0], path, reader.line_number)
        position *= sized[0]
        notes = (*notes, sized[1])
    return Markers(
        time, header.markers, position, path, notes, repeated=header.repeated, sha256=reader.sha256
    )


def read_csv_forces(path: str | Path) -> Table:
    """Read forces, points and moments over time from a table of text: a line of names, then one row per sample.

    A column with a unit in brackets after its name is converted to SI units and loses the brackets; the others do not
    change, as from a MOT file. Plates that Qualisys exports into files of their own are read together.
    """
    tables = [_read_columns(each, in_si=True) for each in qualisys_tsv.plate_files(file_path(path))]
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
        time, values, lines, notes, _ = timed_rows(
            reader,
            blocks_of(reader, header.titles, header.separator, header.section),
            lambda rows: (header.times(rows), rows[:, header.columns] * header.factors),
            "column",
            header.names,
            header.repeated,
        )
    notes = (*header.notes, *notes)
    if in_si and header.by_plate and against_ground(values, header.roles):
        of_plate = [k for k, role in enumerate(header.roles) if role in ("force", "moment")]
        values[:, of_plate] *= -1.0
        notes = (
            *notes,
            f"The forces of {path.name} push on the plates: they are turned to push on the feet.",
        )
    if in_si and header.by_plate and free_moments(values, header.roles):
        notes = (
            *notes,
            f"The moments of {path.name} are about fixed points: the free moments follow from them.",
        )
    rest = lines, header.roles, notes, header.repeated
    return Table(time, header.names, values, None, path, *rest, sha256=reader.sha256)


def _plain_columns(reader: RowReader, line: str, in_si: bool) -> Columns:
    """Return the columns by a line of names, with units in brackets."""
    path, (titles, number, separator, _) = reader.path, title_lines(reader, line)
    times, signals = clock_and_signals(titles, path, number)
    # A column of times before each signal, as Delsys writes them: signals of another rate are left out.
    clocks = [k for k, title in enumerate(titles) if is_time(title)]
    rows = [cells_of(text, separator) for text in islice(reader.ahead, _FIRST_ROWS)]
    equal = {k: all(row[k : k + 1] == row[clocks[0] : clocks[0] + 1] for row in rows) for k in clocks}
    signals = [(k, title) for k, title in signals if k not in equal]
    clock_of = {k: max((clock for clock in clocks if clock < k), default=clocks[0]) for k, _ in signals}
    left = few(title for k, title in signals if not equal[clock_of[k]])
    named = [(k, named_and_unit(title)[0]) for k, title in signals if equal[clock_of[k]]]
    columns, repeated = distinct_names(named, f"line {number}, columns")
    indices = list(columns.values())
    of_columns = [(titles[k], named_and_unit(titles[k])[1]) for k in indices]
    factors, roles = si_factors(of_columns, path, number, in_si)
    return Columns(
        titles=titles,
        names=tuple(columns),
        columns=indices,
        factors=factors,
        roles=roles,
        times=times,
        repeated=repeated,
        separator=separator,
        notes=(f"Columns of {path.name} with times of their own are left out: {left}.",) if left else (),
    )


def _plain_markers(reader: RowReader, line: str) -> Coordinates:
    """Return the columns of the markers by a line of names."""
    titles, number, separator, unit = title_lines(reader, line)
    return replace(plain_coordinates(titles, reader.path, number, unit), separator=separator)
