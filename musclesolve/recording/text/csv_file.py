"""CSV files: marker trajectories or ground reaction forces as a spreadsheet holds them.

Cells stand between commas, semicolons or tabs; between semicolons or tabs, numbers may have a decimal comma. A file
that uses both signs within numbers is refused: 1,234 could be a thousand or one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.recording.data import Markers, Table
from musclesolve.recording.place_errors import EXPORT_AGAIN, error_at
from musclesolve.recording.text.csv_header import (
    FORCES,
    Coordinates,
    cells_of,
    factor,
    find_time,
    is_counter,
    named_and_unit,
    named_columns,
    plain_coordinates,
    separator_of,
    vicon_coordinates,
)
from musclesolve.recording.text.number_rows import Block, RowReader, stacked, without_lost
from musclesolve.recording.text.repeated_names import blanked, distinct_names, repeated_notes
from musclesolve.recording.text.text_file import decimal_point, file_path
from musclesolve.recording.text.time_grid import checked_times
from musclesolve.recording.units import metres_in, newton_metres_in, newtons_in

# Titles of the sections of a CSV file of Vicon Nexus.
_VICON = "trajectories"
_OTHER_SECTIONS = ("devices", "joints", "model outputs", "segments", "events", "gait cycle parameters")


def read_csv_markers(path: str | Path) -> Markers:
    """Read marker trajectories [m], in the axes of the file, from a CSV file."""
    path = file_path(path)
    with RowReader(path) as reader:
        separator, header = _markers_header(reader)

        def parts(block: Array) -> tuple[Array, Array]:
            own = block[:, header.index] * header.metres
            blanked(own, header.markers, header.repeated)
            return _time(block, header), without_lost(own)

        printed, position, lines = stacked(reader, _blocks(reader, header.columns, separator), parts)
    times, notes = checked_times(printed, lines, path)
    notes = (*repeated_notes("marker", header.repeated, path), *notes)
    return Markers(times, header.markers, position, path, notes, repeated=header.repeated)


def read_csv_forces(path: str | Path) -> Table:
    """Read forces, points and moments over time from a CSV file: a line of names, then one row per sample.

    A column with a unit in brackets behind its name comes in SI units and without the brackets; the others are left as
    they are, as from a MOT file.
    """
    return _read_columns(file_path(path), lambda unit: _role_and_size(unit)[1])


def read_csv_columns(path: str | Path) -> Table:
    """Read columns over time from a CSV file, in whatever units; brackets behind a name are no part of it."""
    return _read_columns(file_path(path), lambda unit: 1.0)


def _read_columns(path: Path, size_of: Callable[[str], float | None]) -> Table:
    """Read a line of names, then one row per sample; size_of gives the factor of a unit."""
    with RowReader(path) as reader:
        line = reader.line() or ""
        separator = separator_of(line)
        columns = cells_of(line, separator)
        clock, seconds = find_time(columns, path, 1)
        kept = [k for k, cell in enumerate(named_columns(columns)) if k != clock and not is_counter(k, cell)]
        places, repeated = distinct_names(
            [named_and_unit(columns[k])[0] for k in kept], "line 1, columns", [k + 1 for k in kept]
        )
        names, kept = tuple(places), [kept[place] for place in places.values()]
        units = [named_and_unit(columns[k])[1] for k in kept]
        factors = np.array(
            [
                1.0 if unit is None else factor(unit, size_of, FORCES, columns[k], path, 1)
                for k, unit in zip(kept, units, strict=True)
            ]
        )

        def parts(block: Array) -> tuple[Array, Array]:
            own = block[:, kept] * factors
            blanked(own, names, repeated)
            return block[:, clock] * seconds, own

        printed, values, lines = stacked(reader, _blocks(reader, columns, separator), parts)
    times, notes = checked_times(printed, lines, path)
    notes = (*repeated_notes("column", repeated, path), *notes)
    roles = tuple(_role_and_size(unit)[0] if unit is not None else "" for unit in units)
    return Table(times, names, values, None, path, lines, roles, notes, repeated)


_ROLES = {"force": newtons_in, "point": metres_in, "moment": newton_metres_in}


def _role_and_size(unit: str) -> tuple[str, float | None]:
    """Return which columns of a plate have such a unit, and its size in SI units; "" and None for any other."""
    sizes = ((role, size_of(unit)) for role, size_of in _ROLES.items())
    return next(((role, size) for role, size in sizes if size is not None), ("", None))


def _blocks(reader: RowReader, columns: Sequence[str], separator: str) -> Iterator[Block]:
    """Read the rows; columns without a name at the end of all lines, as spreadsheets write them, must be empty."""
    split, width = partial(cells_of, separator=separator), len(named_columns(columns))
    for block in reader.blocks(columns, split, separator, _decimal(reader, separator)):
        if len(beyond := np.argwhere(~np.isnan(block.values[:, width:]))):
            line = block.lines[beyond[0, 0]]
            problem, expected = "a number stands beyond the last named column", "a name over every number"
            raise error_at(reader.path, line, problem, expected)
        yield block


def _markers_header(reader: RowReader) -> tuple[str, Coordinates]:
    """Return the separator of the cells and what the columns are."""
    path, line = reader.path, reader.line() or ""
    title = line.strip(' \t;,"').casefold()
    if title != _VICON:
        separator = separator_of(line)
        columns = cells_of(line, separator)
        if title in _OTHER_SECTIONS:
            problem = f"the file begins with the section {columns[0]}"
            raise error_at(path, 1, problem, "Trajectories, or column names", "export the trajectories alone")
        return separator, plain_coordinates(columns, path, reader.line_number)
    rate_line, names, axes, units = (reader.line() or "" for _ in range(4))
    separator = separator_of(axes)
    rate_cell = cells_of(rate_line, separator)[0] if rate_line else ""
    try:
        rate = float(rate_cell)
    except ValueError:
        rate = 0.0
    if not 0.0 < rate < np.inf:
        remedy = decimal_point(rate_cell) or EXPORT_AGAIN
        raise error_at(path, 2, f"the rate is '{rate_cell}'", "frames a second", remedy, code="bad_number")
    over, columns, below = (cells_of(row, separator) for row in (names, axes, units))
    return separator, vicon_coordinates(rate, over, columns, below, path, 4)


def _decimal(reader: RowReader, separator: str) -> str:
    """Return the decimal sign of the rows: a comma where one stands in the first of them, and no point does."""
    ahead = reader.ahead
    if not any(line.strip() for line in ahead):
        problem, expected = "nothing follows the header", "one row per frame"
        raise error_at(reader.path, None, problem, expected, code="truncated_file")
    commas = separator != "," and any("," in line for line in ahead)
    return "," if commas and not any("." in line for line in ahead) else "."


def _time(values: Array, header: Coordinates) -> Array:
    if header.time is not None:
        column, seconds = header.time
        return np.asarray(values[:, column] * seconds)
    # The first column of Vicon counts frames from one.
    return np.asarray((values[:, 0] - 1.0) / (header.rate or 1.0))
