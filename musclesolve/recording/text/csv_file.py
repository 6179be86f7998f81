"""CSV files: marker trajectories or ground reaction forces as a spreadsheet holds them.

Cells stand between commas, semicolons or tabs; where they stand between semicolons or tabs, numbers may have a decimal
comma. A file that uses both signs within numbers is refused: whether 1,234 is a thousand or one is not to be guessed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from musclesolve.errors import InputError
from musclesolve.recording.data import Markers, Table
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
from musclesolve.recording.text.number_rows import Block, RowReader, without_lost
from musclesolve.recording.text.repeated_names import blanked, first_places, repeated_names, repeated_notes
from musclesolve.recording.text.row_stack import Stack
from musclesolve.recording.text.text_file import EXPORT_AGAIN, decimal_point, file_path
from musclesolve.recording.text.time_grid import checked_times
from musclesolve.recording.units import metres_in, newton_metres_in, newtons_in

# Titles of the sections of a CSV file of Vicon Nexus.
_VICON = "trajectories"
_OTHER_SECTIONS = ("devices", "joints", "model outputs", "segments", "events", "gait cycle parameters")


def read_csv_markers(path: str | Path) -> Markers:
    """Read marker trajectories from a CSV file.

    Returns:
        Markers in metres, in the axes of the file.

    Raises:
        InputError: with the line, for anything that does not fit together; a unit of length that is not given.
    """
    path = file_path(path)
    with RowReader(path) as reader:
        separator, header = _markers_header(reader)
        time, lines, position = Stack(np.float64), Stack(np.int64), Stack(np.float64)
        index, metres = np.array(header.index), np.array(header.metres)
        for block in _blocks(reader, header.columns, separator):
            time.append(_time(block.values, header), reader.share_read)
            lines.append(block.lines, reader.share_read)
            own = block.values[:, index] * metres
            blanked(own, header.markers, header.repeated)
            position.append(without_lost(own), reader.share_read)
    times, notes = _checked_times(time.finished(), lines.finished(), path)
    notes = (*repeated_notes("marker", header.repeated, path), *notes)
    return Markers(times, header.markers, position.finished(), path, notes, repeated=header.repeated)


def read_csv_forces(path: str | Path) -> Table:
    """Read forces, points and moments over time from a CSV file: a line of names, then one row per sample.

    A column whose name has a unit in brackets behind it comes in SI units and without the brackets; the others come
    as they are, as from a MOT file.

    Raises:
        InputError: with the line, for anything that does not fit together.
    """
    path = file_path(path)
    with RowReader(path) as reader:
        line = reader.line() or ""
        separator = separator_of(line)
        columns = cells_of(line, separator)
        clock, seconds = find_time(columns, path, 1)
        kept = [k for k, cell in enumerate(named_columns(columns)) if k != clock and not is_counter(k, cell)]
        every = [named_and_unit(columns[k])[0] for k in kept]
        repeated = repeated_names(every, lambda _: "line 1")
        kept = [kept[place] for place in first_places(every).values()]
        named = [named_and_unit(columns[k]) for k in kept]
        factors = [
            1.0 if unit is None else factor(unit, _si_factor, FORCES, columns[k], path, 1)
            for k, (_, unit) in zip(kept, named, strict=True)
        ]
        names = tuple(name for name, _ in named)
        time, lines, values = Stack(np.float64), Stack(np.int64), Stack(np.float64)
        for block in _blocks(reader, columns, separator):
            time.append(block.values[:, clock] * seconds, reader.share_read)
            lines.append(block.lines, reader.share_read)
            own = block.values[:, kept] * np.array(factors)
            blanked(own, names, repeated)
            values.append(own, reader.share_read)
    roles = tuple(_role(unit) for _, unit in named)
    numbers = lines.finished()
    times, notes = _checked_times(time.finished(), numbers, path)
    notes = (*repeated_notes("column", repeated, path), *notes)
    return Table(times, names, values.finished(), False, path, numbers, roles, notes, repeated)


_ROLES = {"force": newtons_in, "point": metres_in, "moment": newton_metres_in}


def _si_factor(unit: str) -> float | None:
    """Return the size of a unit of force, length or moment in SI units; None for what is none."""
    sizes = (size_of(unit) for size_of in _ROLES.values())
    return next((size for size in sizes if size is not None), None)


def _role(unit: str | None) -> str:
    """Return which of the columns of a plate has such a unit."""
    return next((role for role, of in _ROLES.items() if unit is not None and of(unit) is not None), "")


def _blocks(reader: RowReader, columns: Sequence[str], separator: str) -> Iterator[Block]:
    """Read the rows; columns without a name at the end of all lines, as spreadsheets write them, must be empty."""
    split, width = partial(cells_of, separator=separator), len(named_columns(columns))
    for block in reader.blocks(columns, split, separator, _decimal(reader, separator)):
        if not np.isnan(block.values[:, width:]).all():
            row = np.argwhere(~np.isnan(block.values[:, width:]))[0, 0]
            raise InputError(
                "a number stands beyond the last column that has a name",
                file=reader.path,
                where=f"line {block.lines[row]}",
                expected="a name over every number",
                remedy="name the column, or remove it from the file",
            )
        yield block


def _markers_header(reader: RowReader) -> tuple[str, Coordinates]:
    """Return the separator of the cells and what the columns are."""
    line = reader.line() or ""
    title = line.strip(' \t;,"').casefold()
    if title != _VICON:
        separator = separator_of(line)
        columns = cells_of(line, separator)
        if title in _OTHER_SECTIONS:
            raise InputError(
                f"the file begins with the section {columns[0]}",
                file=reader.path,
                where="line 1",
                expected="Trajectories, or a line of column names",
                remedy="export the trajectories alone",
            )
        return separator, plain_coordinates(columns, reader.path, reader.line_number)
    rate_line, names, axes, units = (reader.line() or "" for _ in range(4))
    separator = separator_of(axes)
    rate_cell = cells_of(rate_line, separator)[0] if rate_line else ""
    try:
        rate = float(rate_cell)
    except ValueError:
        rate = 0.0
    if not 0.0 < rate < np.inf:
        raise InputError(
            f"the rate is '{rate_cell}'",
            file=reader.path,
            where="line 2",
            expected="frames a second",
            remedy=decimal_point(rate_cell) or EXPORT_AGAIN,
        )
    columns = cells_of(axes, separator)
    return separator, vicon_coordinates(
        rate, cells_of(names, separator), columns, cells_of(units, separator), reader.path, 4
    )


def _decimal(reader: RowReader, separator: str) -> str:
    """Return the decimal sign of the rows: a comma where one stands in the first of them, and no point does."""
    ahead = reader.ahead
    if not any(line.strip() for line in ahead):
        raise InputError(
            "nothing follows the header",
            file=reader.path,
            expected="one row of numbers per frame",
            remedy=EXPORT_AGAIN,
        )
    commas = separator != "," and any("," in line for line in ahead)
    return "," if commas and not any("." in line for line in ahead) else "."


def _time(values: np.ndarray, header: Coordinates) -> np.ndarray:
    if header.time is not None:
        column, seconds = header.time
        time: np.ndarray = values[:, column] * seconds
        return time
    # The first column of Vicon counts frames from one.
    counted: np.ndarray = (values[:, 0] - 1.0) / (header.rate or 1.0)
    return counted


def _checked_times(time: np.ndarray, lines: np.ndarray, path: Path) -> tuple[np.ndarray, tuple[str, ...]]:
    if time.size < 2:
        raise InputError(
            f"{time.size} row(s) of data", file=path, expected="at least two", remedy=EXPORT_AGAIN
        )
    return checked_times(time, lines, path)
