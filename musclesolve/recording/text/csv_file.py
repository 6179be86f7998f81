"""CSV files: marker trajectories or ground reaction forces from a spreadsheet.

Cells are separated by commas, semicolons or tabs; with semicolons or tabs, numbers may have a decimal comma. A file
that uses both signs within numbers is refused: 1,234 could be a thousand or one.

Two headers of markers are understood. Plain: one line of column names, ``time`` and ``NAME_x``, ``NAME.x`` or
``NAME:X`` for markers, the unit in brackets or after an underscore (``RASI_x [mm]``, ``RASI_x_mm``). Vicon Nexus: a
section ``Trajectories`` with the rate, a line of marker names over the first of their three columns, a line ``Frame,
Sub Frame, X, Y, Z, ...`` and a line of units.
"""

import csv
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from musclesolve._util.arrays import Array
from musclesolve.errors import InputError, input_error
from musclesolve.recording.data import Markers, Table
from musclesolve.recording.text.number_rows import (
    Block,
    RowReader,
    by_place,
    check_unique,
    distinct_names,
    numbered,
    timed_rows,
    without_lost,
)
from musclesolve.recording.text.text_file import EXPORT_AGAIN, decimal_point, file_path
from musclesolve.recording.units import meters_in, newton_meters_in, newtons_in

# Titles of the sections of a CSV file of Vicon Nexus.
_VICON = "trajectories"
_OTHER_SECTIONS = ("devices", "joints", "model outputs", "segments", "events", "gait cycle parameters")
SECONDS = {"s": 1.0, "ms": 0.001}
LENGTH_UNITS = "mm, cm, m"
"""The expected units of length, for messages."""
FORCES = "N, kN, mm, cm, m, Nm, Nmm"
"""The expected units of columns of a plate, for messages."""
_ROLES = {"force": newtons_in, "point": meters_in, "moment": newton_meters_in}
# Columns that only number the rows.
COUNTERS = ("frame", "frame#", "sub frame", "subframe", "index")
TIMES = ("time", "t")
_IN_BRACKETS = re.compile(r"(.*?)\s*[\[(]\s*([^\])]*?)\s*[\])]")
_COORDINATE = re.compile(r"(?P<marker>.+?)\s*[_.: ]\s*(?P<axis>[xyzXYZ])(?:_(?P<unit>mm|cm|m))?")


@dataclass(frozen=True)
class Coordinates:
    """The columns of n markers in a row.

    Titles of all columns, for messages; the columns (n, 3) of the coordinates and the factors (n, 3) to meters; the
    function from rows (r, k) to times (r,) [s]; repeated markers (name -> places).
    """

    titles: Sequence[str]
    markers: tuple[str, ...]
    columns: NDArray[np.intp]
    meters: Array
    times: Callable[[Array], Array]
    repeated: Mapping[str, str]


def read_csv_markers(path: str | Path) -> Markers:
    """Read marker trajectories [m], in the axes of the file, from a CSV file."""
    path = file_path(path)
    with RowReader(path) as reader:
        separator, header = _markers_header(reader)
        time, position, _, notes, _ = timed_rows(
            reader,
            _blocks(reader, header.titles, separator),
            lambda rows: (header.times(rows), without_lost(rows[:, header.columns] * header.meters)),
            "marker",
            header.markers,
            header.repeated,
        )
    return Markers(
        time, header.markers, position, path, notes, repeated=header.repeated, sha256=reader.sha256
    )


def read_csv_forces(path: str | Path) -> Table:
    """Read forces, points and moments over time from a CSV file: a line of names, then one row per sample.

    A column with a unit in brackets after its name is converted to SI units and loses the brackets; the others do not
    change, as from a MOT file.
    """
    return _read_columns(file_path(path), lambda unit: _role_and_size(unit)[1])


def read_csv_columns(path: str | Path) -> Table:
    """Read columns over time from a CSV file, in the units of the file; brackets after a name are removed."""
    return _read_columns(file_path(path), lambda unit: 1.0)


def _read_columns(path: Path, size_of: Callable[[str], float | None]) -> Table:
    """Read a line of names, then one row per sample; size_of: function from a unit to its factor."""
    with RowReader(path) as reader:
        line = reader.line() or ""
        separator = separator_of(line)
        titles = cells_of(line, separator)
        clock, seconds = find_time(titles, path, 1)
        named = [
            (k, named_and_unit(title)[0])
            for k, title in enumerate(named_columns(titles))
            if k != clock and not is_counter(k, title)
        ]
        columns, repeated = distinct_names(named, "line 1, columns")
        names, indices = tuple(columns), list(columns.values())
        units = [named_and_unit(titles[k])[1] for k in indices]
        factors = np.array(
            [
                1.0 if unit is None else factor(unit, size_of, FORCES, titles[k], path, 1)
                for k, unit in zip(indices, units, strict=True)
            ]
        )
        time, values, lines, notes, _ = timed_rows(
            reader,
            _blocks(reader, titles, separator),
            lambda rows: (rows[:, clock] * seconds, rows[:, indices] * factors),
            "column",
            names,
            repeated,
        )
    roles = tuple("" if unit is None else _role_and_size(unit)[0] for unit in units)
    return Table(time, names, values, None, path, lines, roles, notes, repeated, sha256=reader.sha256)


def _role_and_size(unit: str) -> tuple[str, float | None]:
    """Return the role of plate columns with a unit, and its size in SI units; "" and None for any other unit."""
    sizes = ((role, size_of(unit)) for role, size_of in _ROLES.items())
    return next(((role, size) for role, size in sizes if size is not None), ("", None))


def _blocks(reader: RowReader, titles: Sequence[str], separator: str) -> Iterator[Block]:
    """Read the rows; columns without a name at the end of all lines, as spreadsheets write them, must be empty.

    The decimal sign is a comma if the first row has commas in numbers and no point.
    """
    if not any(line.strip() for line in reader.ahead):
        raise input_error("recording.text.nothing_follows_header", file=reader.path)
    commas = separator != "," and any("," in line for line in reader.ahead)
    decimal = "," if commas and not any("." in line for line in reader.ahead) else "."
    split, width = partial(cells_of, separator=separator), len(named_columns(titles))
    for values, lines in reader.blocks(titles, split, separator, decimal):
        if len(beyond := np.argwhere(~np.isnan(values[:, width:]))):
            raise input_error(
                "recording.text.number_stands_beyond_last", file=reader.path, where=lines[beyond[0, 0]]
            )
        yield values, lines


def _markers_header(reader: RowReader) -> tuple[str, Coordinates]:
    """Return the separator of the cells and the columns of the markers."""
    path, line = reader.path, reader.line() or ""
    title = line.strip(' \t;,"').casefold()
    if title != _VICON:
        separator = separator_of(line)
        columns = cells_of(line, separator)
        if title in _OTHER_SECTIONS:
            raise input_error(
                "recording.text.file_begins_with_section", file=path, where=1, columns=columns[0]
            )
        return separator, plain_coordinates(columns, path, reader.line_number)
    rate_line, names, axes, units = (reader.line() or "" for _ in range(4))
    separator = separator_of(axes)
    rate_cell = cells_of(rate_line, separator)[0] if rate_line else ""
    try:
        rate = float(rate_cell)
    except ValueError:
        rate = 0.0
    if not 0.0 < rate < np.inf:
        raise input_error(
            "recording.text.bad_rate",
            file=path,
            where=2,
            remedy=decimal_point(rate_cell) or EXPORT_AGAIN,
            rate_cell=rate_cell,
        )
    over, titles, below = (cells_of(row, separator) for row in (names, axes, units))
    return separator, vicon_coordinates(rate, over, titles, below, path, 4)


def separator_of(line: str) -> str:
    """Return the separator of the cells of a header line: a semicolon, a tab or a comma."""
    return next((mark for mark in (";", "\t") if mark in line), ",")


def cells_of(line: str, separator: str) -> list[str]:
    """Return the cells of a line, without blanks and quotes around them."""
    try:
        cells = next(csv.reader([line], delimiter=separator), [])
    except csv.Error:
        # A quote that does not close swallows the rest of the line, and no cell may be that long.
        cells = line.split(separator)
    return [cell.strip() for cell in cells]


def named_columns(cells: Sequence[str]) -> Sequence[str]:
    """Return the names of the columns up to the last one with a name."""
    return cells[: max((k + 1 for k, cell in enumerate(cells) if cell), default=0)]


def is_counter(column: int, cell: str) -> bool:
    """Return whether a column numbers the rows; its name is empty in tables written with their index."""
    return cell.casefold() in COUNTERS or (column == 0 and not cell)


def named_and_unit(cell: str) -> tuple[str, str | None]:
    """Return a name and the unit in brackets after it, None without a unit."""
    match = _IN_BRACKETS.fullmatch(cell)
    return (match[1], match[2].casefold()) if match else (cell, None)


def find_time(columns: Sequence[str], path: Path, line: int) -> tuple[int, float]:
    """Return the number of the time column, and its factor to seconds."""
    for k, cell in enumerate(columns):
        name, unit = named_and_unit(cell)
        base, _, suffix = name.casefold().rpartition("_")
        if unit is None and base in TIMES and suffix in SECONDS:
            name, unit = base, suffix
        if name.casefold() in TIMES:
            return k, factor(
                unit or "s", lambda unit: SECONDS.get(unit.casefold()), "s, ms", cell, path, line
            )
    raise input_error("recording.text.no_column_time", file=path, where=line)


def factor(
    unit: str, size_of: Callable[[str], float | None], known: str, cell: str, path: Path, line: int
) -> float:
    """Return the factor of a unit; refuse an unknown one, naming the known units."""
    size = size_of(unit)
    if size is None:
        raise input_error(
            "recording.text.unit_unknown_unit", file=path, unit=unit, known=known, line=line, cell=cell
        )
    return size


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
            raise input_error("recording.text.column_no_coordinate_marker", file=path, where=line, cell=cell)
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
    if not stated or (len(set(stated)) > 1 and len(stated) < 3 * len(triples)):
        raise _no_unit(next(iter(axes_of)), path, line)
    meters = [
        [factor(unit or stated[0], meters_in, LENGTH_UNITS, columns[k], path, line) for k, unit in triple]
        for triple in triples
    ]
    return Coordinates(
        columns,
        tuple(axes_of),
        np.array([[k for k, _ in triple] for triple in triples]),
        np.array(meters),
        lambda rows: rows[:, clock] * seconds,
        repeated,
    )


def _no_unit(marker: str, path: Path, line: int) -> InputError:
    return input_error("recording.text.header_not_say", file=path, where=line, marker=marker)


def vicon_coordinates(
    rate: float, names: Sequence[str], axes: Sequence[str], units: Sequence[str], path: Path, line: int
) -> Coordinates:
    """Return the columns by the header of the section Trajectories of Vicon Nexus.

    `names` is the line of marker names, each over the first of its three columns, `axes` the line Frame, Sub Frame, X,
    Y, Z, ... (number `line`), `units` the line below it; `rate` is in frames per second.
    """
    named = [k for k, name in enumerate(names) if name]
    firsts, repeated = distinct_names([(k, names[k]) for k in named], f"line {line - 1}, columns")
    for k in named:
        if [axis.casefold() for axis in axes[k : k + 3]] != ["x", "y", "z"]:
            raise input_error(
                "recording.text.under_marker_stands",
                file=path,
                where=line,
                second=names[k],
                axes=", ".join(axes[k : k + 3]) or "nothing",
            )
    triples = [[first, first + 1, first + 2] for first in firsts.values()]
    if not triples or not all(k < len(units) and units[k] for triple in triples for k in triple):
        raise _no_unit(next(iter(firsts), "NAME"), path, line + 1)
    meters = [
        [factor(units[k], meters_in, LENGTH_UNITS, units[k], path, line + 1) for k in triple]
        for triple in triples
    ]
    if extra := [axes[k] for k in range(2, len(axes)) if axes[k] and not any(j <= k < j + 3 for j in named)]:
        raise input_error("recording.text.column_belongs", file=path, where=line, extra=extra[0])
    titles, marker = [], ""
    for k, axis in enumerate(axes):
        marker = names[k] if k < len(names) and names[k] else marker
        titles.append(f"{marker} {axis}".strip())
    # The first column counts frames from one.
    return Coordinates(
        titles,
        tuple(firsts),
        np.array(triples),
        np.array(meters),
        lambda rows: (rows[:, 0] - 1.0) / rate,
        repeated,
    )
