"""The tables beside a camera file: where control points are, where a camera saw them, where it saw the markers.

All are CSV: a line of column names, below lines that begin with # if need be, then one row per point or frame. Cells
are separated by commas, semicolons or tabs. An empty cell is a point that was not seen.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from musclesolve._util.arrays import Array
from musclesolve._util.message_text import few
from musclesolve.errors import InputError
from musclesolve.recording.place_errors import error_at
from musclesolve.recording.text.number_rows import RowReader, number_table
from musclesolve.recording.text.repeated_names import check_unique
from musclesolve.recording.units import METRES

# A frame's time may differ from its place on the grid by this share of a frame.
OFF_GRID = 0.1
# No recording has so many frames: a number beyond is not one of a frame.
LAST_FRAME = 1e9


@dataclass(frozen=True)
class Heading:
    """The column names of a table, the character between its cells, and the line they stand in."""

    path: Path
    columns: list[str]
    separator: str
    line: int

    def split(self, line: str) -> list[str]:
        """Return the cells of a line without blanks and quotes around them."""
        return [cell.strip().strip('"').strip() for cell in line.split(self.separator)]

    def error(
        self, problem: str, expected: str, line: int | None = None, code: str = "bad_format"
    ) -> InputError:
        """Return an InputError that points at a line, the one of the column names if no other is given."""
        remedy = "correct the table"
        return error_at(self.path, self.line if line is None else line, problem, expected, remedy, code=code)


@dataclass(frozen=True)
class Digitised:
    """What one camera saw of n markers in R rows.

    The line of every row (R,), increasing frame numbers (R,) and pixels (R, n, 2), NaN where not seen.
    """

    path: Path
    lines: NDArray[np.int64]
    frames: NDArray[np.int64]
    names: tuple[str, ...]
    image: Array


def read_control_points(path: Path) -> tuple[tuple[str, ...], Array]:
    """Return names and positions (n, 3) of control points [m]."""
    heading, names, table, lines = _named_rows(path)
    unit = next(
        (unit for unit in METRES if set(heading.columns[1:]) == {f"{axis}_{unit}" for axis in "xyz"}), None
    )
    if unit is None:
        raise heading.error(
            f"the columns are {few(heading.columns, 12)}", "name,x_mm,y_mm,z_mm, or the same in cm or m"
        )
    position = METRES[unit] * table[:, [heading.columns.index(f"{axis}_{unit}") - 1 for axis in "xyz"]]
    missing = np.isnan(position).any(axis=1)
    if missing.any():
        k = int(np.argmax(missing))
        problem, expected = f"the control point '{names[k]}' has no place", "its three coordinates"
        raise heading.error(problem, expected, line=lines[k])
    return names, position


def read_control_image(path: Path) -> tuple[tuple[str, ...], Array]:
    """Return names and pixels (n, 2) of the control points that a camera saw."""
    heading, names, table, lines = _named_rows(path)
    if heading.columns[1:] != ["u", "v"]:
        raise heading.error(f"the columns are {few(heading.columns, 12)}", "name,u,v")
    half = np.isnan(table).sum(axis=1) == 1
    if half.any():
        k = int(np.argmax(half))
        raise _half_seen(heading, names[k], lines[k])
    seen = ~np.isnan(table[:, 0])
    return tuple(name for name, there in zip(names, seen, strict=True) if there), table[seen]


def read_digitised(path: Path, rate: float) -> Digitised:
    """Return the pixels of the markers in one camera: columns frame, or time [s], and NAME_u, NAME_v of every marker.

    `rate` turns times into frames [Hz].
    """
    with RowReader(path) as reader:
        heading = _heading(reader, path)
        names = _marker_names(heading)
        blocks = list(reader.blocks(heading.columns, heading.split, heading.separator))
    if not blocks:
        raise heading.error("no rows follow the column names", "one row per frame", code="truncated_file")
    table = np.concatenate([block.values for block in blocks])
    lines = np.concatenate([block.lines for block in blocks])
    frames = _frames(heading, table[:, 0], lines, rate)
    image = table[:, [[heading.columns.index(f"{name}_{axis}") for axis in "uv"] for name in names]]
    half = np.argwhere(np.isnan(image).sum(axis=-1) == 1)
    if len(half):
        row, column = half[0]
        raise _half_seen(heading, names[column], lines[row])
    return Digitised(path, lines, frames, names, image)


def _heading(reader: RowReader, path: Path) -> Heading:
    line = reader.filled_line()
    while line is not None and line.lstrip().startswith("#"):
        line = reader.filled_line()
    separator = max(",;\t", key=(line or "").count)
    heading = Heading(path, [], separator, reader.line_number)
    columns = heading.split(line or "")
    if len(columns) < 3 or "" in columns:
        raise heading.error(
            "a column has no name" if len(columns) > 2 else "this is not a table of points",
            "a line of column names separated by commas, and rows below it",
        )
    check_unique(columns, "column", path, heading.line)
    return Heading(path, columns, separator, heading.line)


def _named_rows(path: Path) -> tuple[Heading, tuple[str, ...], Array, NDArray[np.int64]]:
    """Return heading, the names in the first column, the numbers (r, k) beside them, and their lines."""
    rows, numbers = [], []
    with RowReader(path) as reader:
        heading = _heading(reader, path)
        while (line := reader.filled_line()) is not None:
            rows.append(heading.split(line))
            numbers.append(reader.line_number)
    if heading.columns[0] != "name":
        raise heading.error(f"the first column is '{heading.columns[0]}'", "name", code="missing_column")
    if not rows:
        raise heading.error("no rows follow the column names", "one row per point", code="truncated_file")
    names = tuple(row[0] for row in rows)
    for k, name in enumerate(names):
        if not name or name in names[:k]:
            raise heading.error(
                f"the point '{name}' stands twice" if name else "a point has no name",
                "a name of its own for every point",
                line=numbers[k],
                code="duplicate_name",
            )
    lines = np.array(numbers, dtype=np.int64)
    return heading, names, number_table([row[1:] for row in rows], lines, heading.columns[1:], path), lines


def _half_seen(heading: Heading, name: str, line: int) -> InputError:
    problem, expected = f"the point '{name}' has only one of its two coordinates", "both or neither"
    return heading.error(problem, expected, line=line)


def _marker_names(heading: Heading) -> tuple[str, ...]:
    """Return the markers of columns such as HEEL_u, HEEL_v, in the order of the file."""
    if heading.columns[0] not in ("frame", "time", "time_s"):
        problem, expected = f"the first column is '{heading.columns[0]}'", "frame, or time in seconds"
        raise heading.error(problem, expected, code="missing_column")
    for name in heading.columns[1:]:
        stem, axis = name[:-2], name[-2:]
        other = stem + ("_v" if axis == "_u" else "_u")
        if axis not in ("_u", "_v") or not stem or other not in heading.columns:
            problem = f"the column '{name}' is not one of a pair"
            expected = "NAME_u and NAME_v for every marker"
            raise heading.error(problem, expected, code="missing_column")
    return tuple(dict.fromkeys(name[:-2] for name in heading.columns[1:]))


def _frames(heading: Heading, column: Array, lines: NDArray[np.int64], rate: float) -> NDArray[np.int64]:
    """Return the whole numbers of the frames, which increase from row to row."""
    counted = heading.columns[0] == "frame"
    exact = column if counted else column * rate
    near = np.abs(exact - np.round(exact)) <= (1e-6 if counted else OFF_GRID)
    off = np.logical_not(near & (np.abs(exact) < LAST_FRAME))
    if off.any():
        k = int(np.argmax(off))
        raise heading.error(
            f"the {heading.columns[0]} is {column[k]:.10g}",
            "a whole number" if counted else f"a multiple of 1/{rate:g} s (rate_hz of the camera file)",
            line=lines[k],
            code="bad_value",
        )
    frames = np.round(exact).astype(np.int64)
    back = np.diff(frames) <= 0
    if back.any():
        k = int(np.argmax(back))
        problem, expected = f"frame {frames[k + 1]} follows frame {frames[k]}", "increasing frames"
        raise heading.error(problem, expected, line=lines[k + 1], code="time_not_increasing")
    return frames
