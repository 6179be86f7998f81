"""Tables of text (CSV, TSV, TXT): marker trajectories, ground reaction forces, signals.

Cells are separated by commas, semicolons or tabs; with semicolons or tabs, numbers may have a decimal comma. A file
that uses both signs within numbers is refused: 1,234 could be a thousand or one.

The first line decides, never the name of the file. Exports of Vicon Nexus, Motive, Qualisys and D-Flow are read as
these programs write them, each by a file of its own. Any other file begins with a line of column names, ``time`` and
``NAME_x``, ``NAME.x`` or ``NAME:X`` for markers, the unit in brackets or after an underscore (``RASI_x [mm]``,
``RASI_x_mm``).
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.errors import InputError, input_error
from musclesolve.recording.data import Markers, Table
from musclesolve.recording.text import dflow_text, motive_csv, nexus_csv, qualisys_tsv
from musclesolve.recording.text.cells import (
    FORCES,
    LENGTH_UNITS,
    Columns,
    Coordinates,
    against_ground,
    blocks_of,
    cells_of,
    clock_and_signals,
    factor,
    find_time,
    free_moments,
    is_counter,
    named_and_unit,
    named_columns,
    no_unit,
    role_and_size,
    separator_of,
)
from musclesolve.recording.text.number_rows import (
    RowReader,
    by_place,
    check_unique,
    distinct_names,
    numbered,
    timed_rows,
    without_lost,
)
from musclesolve.recording.text.text_file import file_path
from musclesolve.recording.units import METERS, meters_in

_COORDINATE = re.compile(r"(?P<marker>.+?)\s*[_.: ]\s*(?P<axis>[xyzXYZ])(?:_(?P<unit>mm|cm|m))?")


@dataclass(frozen=True)
class Export:
    """An export of a program: whether a first line is of it; functions from the open file, after its first line, to its
    markers, and to its other columns, in SI units or in the units of the file.
    """

    begins: Callable[[str], bool]
    markers: Callable[[RowReader, str], Coordinates]
    columns: Callable[[RowReader, str, bool], Columns]


EXPORTS = tuple(
    Export(module.begins, module.marker_columns, module.other_columns)
    for module in (nexus_csv, motive_csv, qualisys_tsv, dflow_text)
)
"""Exports of programs by their first line; any other file has a line of names."""


def is_export(path: Path) -> bool:
    """Whether a text is an export of one of these programs."""
    with RowReader(path) as reader:
        line = reader.line() or ""
    return _reader_of(line) in EXPORTS


def has_markers(path: Path) -> bool:
    """Whether the first lines of a text name the coordinates of markers."""
    try:
        with RowReader(path) as reader:
            line = reader.line() or ""
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
        line = reader.line() or ""
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
        unit, extent = _unit_by_size(position, header.markers[0], path)
        position *= METERS[unit]
        notes = (
            *notes,
            f"No unit of length is stated in {path.name}: its numbers are taken as {unit}, in which the markers are "
            f"spread over {extent:.2f} m.",
        )
    return Markers(
        time, header.markers, position, path, notes, repeated=header.repeated, sha256=reader.sha256
    )


SPREAD = (0.3, 4.0)
"""Extent of markers that show the unit of length, as on a body or a part of it [m]."""


def _unit_by_size(position: Array, marker: str, path: Path) -> tuple[str, float]:
    """Return the unit, m or mm, in which positions (T, n, 3) are on a body, and their extent [m]; refuse others."""
    seen = position[np.isfinite(position).any(axis=(1, 2))]
    span = np.nanmax(seen, axis=1) - np.nanmin(seen, axis=1) if len(seen) else np.zeros((1, 3))
    extent = float(np.nanmedian(np.linalg.norm(span, axis=1)))
    for unit in ("m", "mm"):
        if SPREAD[0] < extent * METERS[unit] < SPREAD[1]:
            return unit, extent * METERS[unit]
    raise no_unit(marker, path, 1)


def read_csv_forces(path: str | Path) -> Table:
    """Read forces, points and moments over time from a table of text: a line of names, then one row per sample.

    A column with a unit in brackets after its name is converted to SI units and loses the brackets; the others do not
    change, as from a MOT file. Plates that Qualisys exports into files of their own are read together.
    """
    tables = [_read_columns(each, in_si=True) for each in qualisys_tsv.plate_files(file_path(path))]
    first, *others = tables
    for other in others:
        if not np.array_equal(other.time, first.time):
            raise input_error(
                "conflict",
                file=other.path,
                problem=f"this plate was sampled at other times than the one in {first.path.name}",
                expected="plates of one recording",
                remedy="export all plates of the recording again",
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
        line = reader.line() or ""
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
    path, separator = reader.path, separator_of(line)
    titles = cells_of(line, separator)
    times, signals = clock_and_signals(titles, path)
    named = [(k, named_and_unit(title)[0]) for k, title in signals]
    columns, repeated = distinct_names(named, "line 1, columns")
    indices = list(columns.values())
    units = [named_and_unit(titles[k])[1] for k in indices]
    factors = [
        factor(unit, lambda unit: role_and_size(unit)[1], FORCES, titles[k], path, 1)
        if in_si and unit is not None
        else 1.0
        for k, unit in zip(indices, units, strict=True)
    ]
    return Columns(
        titles,
        tuple(columns),
        indices,
        np.array(factors),
        tuple("" if unit is None else role_and_size(unit)[0] for unit in units),
        times,
        repeated,
        separator,
    )


def _plain_markers(reader: RowReader, line: str) -> Coordinates:
    """Return the columns of the markers by a line of names."""
    separator = separator_of(line)
    header = plain_coordinates(cells_of(line, separator), reader.path, reader.line_number)
    return replace(header, separator=separator)


def plain_coordinates(columns: Sequence[str], path: Path, line: int) -> Coordinates:
    """Return the columns by a line of names such as ``time, RASI_x [mm], RASI_y [mm], RASI_z [mm], ...``.

    A marker with a repeated coordinate is repeated. Refuses a repeated coordinate of a marker that lacks another one: a
    typing error.
    """
    clock, seconds = find_time(columns, path, line)
    axes_of: dict[str, dict[str, tuple[int, str | None]]] = {}  # marker -> axis -> its column and its unit
    twice: dict[str, tuple[str, list[int]]] = {}  # marker -> the axis that occurs twice, and its columns
    every: dict[
        tuple[str, str], list[tuple[int, str | None]]
    ] = {}  # marker and axis -> all columns and their units
    for k, cell in enumerate(named_columns(columns)):
        name, unit = named_and_unit(cell)
        if k == clock or is_counter(k, name):
            continue
        match = _COORDINATE.fullmatch(name)
        if match is None:
            raise input_error(
                "bad_format",
                file=path,
                where=line,
                problem=f"the column '{cell}' is no coordinate of a marker",
                expected="NAME_x, NAME_y and NAME_z for every marker, with the unit: RASI_x [mm]",
                remedy="rename or remove the column",
            )
        axes, axis = axes_of.setdefault(match["marker"], {}), match["axis"].lower()
        every.setdefault((match["marker"], axis), []).append((k, unit or match["unit"]))
        if axis in axes:
            first, places = twice.setdefault(match["marker"], (axis, [axes[axis][0]]))
            if axis == first:
                places.append(k)
        else:
            axes[axis] = (k, unit or match["unit"])
    for marker, (axis, _) in twice.items():
        if len(axes_of[marker]) < 3:
            check_unique([*axes_of[marker], axis], f"coordinate of '{marker}'", path, line)
    if not axes_of:
        raise input_error("recording.text.file_no_markers", file=path, where=line)
    repeated = {marker: numbered(f"line {line}, columns", places) for marker, (_, places) in twice.items()}
    for marker, where in repeated.items():
        several = zip(*(every.get((marker, axis), []) for axis in "xyz"), strict=False)
        axes_of |= {
            name: dict(zip("xyz", triple, strict=True))
            for name, triple in zip(by_place(marker, where), several, strict=False)
        }
    for marker, axes in axes_of.items():
        if missing := [axis for axis in "xyz" if axis not in axes]:
            raise input_error(
                "recording.text.marker_missing_column",
                file=path,
                where=line,
                marker=marker,
                missing=missing[0],
            )
    triples = [[axes[axis] for axis in "xyz"] for axes in axes_of.values()]
    stated = [unit for triple in triples for _, unit in triple if unit is not None]
    if len(set(stated)) > 1 and len(stated) < 3 * len(triples):
        raise no_unit(next(iter(axes_of)), path, line)
    usual = stated[0] if stated else "m"
    meters = [
        [factor(unit or usual, meters_in, LENGTH_UNITS, columns[k], path, line) for k, unit in triple]
        for triple in triples
    ]
    return Coordinates(
        columns,
        tuple(axes_of),
        np.array([[k for k, _ in triple] for triple in triples]),
        np.array(meters),
        lambda rows: rows[:, clock] * seconds,
        repeated,
        unit_stated=bool(stated),
    )
