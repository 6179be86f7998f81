"""The tables beside a camera file: where control points are, where a camera saw them, where it saw the markers.

All are CSV with a line of column names; cells are separated by commas, semicolons or tabs; blank lines and lines that
begin with # say nothing. An empty cell is a point that was not seen.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from musclesolve.errors import InputError
from musclesolve.recording.textfile import check_unique, number_table, read_lines
from musclesolve.recording.trc import METRES

Array = NDArray[np.float64]

# A frame's time may differ from its place on the grid by this share of a frame.
OFF_GRID = 0.1


@dataclass(frozen=True)
class Cells:
    """The cells of a table: k column names, rows of k cells, and the line of each row."""

    path: Path
    names: list[str]
    rows: list[list[str]]
    lines: list[int]
    header_line: int

    def error(self, problem: str, line: int, expected: str, remedy: str) -> InputError:
        """Return an InputError that points at a line."""
        return InputError(problem, file=self.path, where=f"line {line}", expected=expected, remedy=remedy)


@dataclass(frozen=True)
class Digitised:
    """What one camera saw of the markers: frames (R,), n names, image (R, n, 2), NaN where not seen."""

    frames: NDArray[np.int64]
    names: tuple[str, ...]
    image: Array


def read_control_points(path: Path) -> tuple[tuple[str, ...], Array]:
    """Return names and positions (n, 3) [m] of control points.

    Raises:
        InputError: with the line, for anything that does not fit together.
    """
    cells = _cells(path)
    units = {name: {axis + "_" + unit for axis in "xyz"} for name, unit in zip(METRES, METRES, strict=True)}
    unit = next((unit for unit, columns in units.items() if set(cells.names[1:]) == columns), None)
    if unit is None or cells.names[0] != "name":
        raise cells.error(
            f"the columns are {', '.join(cells.names)}",
            cells.header_line,
            "name,x_mm,y_mm,z_mm, or the same in cm or m",
            "write the unit behind every axis, such as x_mm",
        )
    names = _names(cells)
    order = [cells.names.index(f"{axis}_{unit}") - 1 for axis in "xyz"]
    position = _numbers(cells)[:, order] * METRES[unit]
    missing = np.isnan(position).any(axis=1)
    if missing.any():
        k = int(np.argmax(missing))
        raise cells.error(
            f"the control point '{names[k]}' has no place",
            cells.lines[k],
            "its three coordinates",
            "write them, or remove the row",
        )
    return names, position


def read_control_image(path: Path) -> tuple[tuple[str, ...], Array]:
    """Return names and pixels (n, 2) of the control points that a camera saw.

    Raises:
        InputError: with the line, for anything that does not fit together.
    """
    cells = _cells(path)
    if cells.names != ["name", "u", "v"]:
        raise cells.error(
            f"the columns are {', '.join(cells.names)}",
            cells.header_line,
            "name,u,v",
            "name the columns so, u to the right and v up or down the image [px]",
        )
    names, image = _names(cells), _numbers(cells)
    _check_whole(cells, names, image[:, None])
    seen = ~np.isnan(image[:, 0])
    return tuple(name for name, there in zip(names, seen, strict=True) if there), image[seen]


def read_digitised(path: Path, rate: float) -> Digitised:
    """Return the pixels of the markers in one camera.

    Args:
        path: CSV with the columns frame, or time in seconds, and NAME_u, NAME_v of every marker.
        rate: frames a second, for a file with times [Hz].

    Raises:
        InputError: with the line, for anything that does not fit together.
    """
    cells = _cells(path)
    names = _marker_names(cells)
    table = number_table(cells.rows, cells.lines, cells.names, path)
    frames = _frames(cells, table[:, 0], rate)
    columns = [[cells.names.index(f"{name}_{axis}") for axis in "uv"] for name in names]
    image = table[:, columns]
    _check_whole(cells, names, image)
    return Digitised(frames, names, image)


def _cells(path: Path) -> Cells:
    lines = read_lines(path)
    filled = [k for k, line in enumerate(lines) if line.strip() and not line.lstrip().startswith("#")]
    header = lines[filled[0]] if filled else ""
    separator = max(",;\t", key=header.count)
    rows = [[cell.strip().strip('"').strip() for cell in lines[k].split(separator)] for k in filled]
    if len(rows) < 2 or len(rows[0]) < 3:
        raise InputError(
            "this is not a table of points",
            file=path,
            where=f"line {filled[0] + 1}" if filled else None,
            expected="a line of column names, separated by commas, and rows below it",
            remedy="export the file as CSV, with the names of its columns",
        )
    cells = Cells(path, rows[0], rows[1:], [k + 1 for k in filled[1:]], filled[0] + 1)
    if "" in cells.names:
        raise cells.error(
            "a column has no name", cells.header_line, "a name over every column", "name it, or remove the column"
        )
    check_unique(cells.names, "column", path, cells.header_line)
    return cells


def _names(cells: Cells) -> tuple[str, ...]:
    """Return the first cell of every row: names that are there and stand once."""
    seen: set[str] = set()
    for row, line in zip(cells.rows, cells.lines, strict=True):
        if not row[0] or row[0] in seen:
            raise cells.error(
                f"the point '{row[0]}' stands twice" if row[0] else "a point has no name",
                line,
                "a name of its own for every point",
                "correct the name, or remove the row",
            )
        seen.add(row[0])
    return tuple(row[0] for row in cells.rows)


def _numbers(cells: Cells) -> Array:
    return number_table([row[1:] for row in cells.rows], cells.lines, cells.names[1:], cells.path)


def _check_whole(cells: Cells, names: tuple[str, ...], image: Array) -> None:
    """Refuse a point with one of its two pixel coordinates (R, n, 2)."""
    half = np.argwhere(np.isnan(image).sum(axis=-1) == 1)
    if len(half):
        row, column = half[0]
        name = names[column] if image.shape[1] > 1 or len(names) == 1 else names[row]
        raise cells.error(
            f"the point '{name}' has only one of its two coordinates",
            cells.lines[row],
            "both, or two empty cells where it was not seen",
            "write the other one, or empty both",
        )


def _marker_names(cells: Cells) -> tuple[str, ...]:
    """Return the markers of columns such as HEEL_u, HEEL_v, in the order of the file."""
    if cells.names[0] not in ("frame", "time", "time_s"):
        raise cells.error(
            f"the first column is '{cells.names[0]}'",
            cells.header_line,
            "frame, or time in seconds",
            "write the number of the frame in the first column, and call it frame",
        )
    for name in cells.names[1:]:
        stem, axis = name[:-2], name[-2:]
        other = stem + ("_v" if axis == "_u" else "_u")
        if axis not in ("_u", "_v") or not stem or other not in cells.names:
            raise cells.error(
                f"the column '{name}' is not half of a pair" if axis in ("_u", "_v") else f"the column is '{name}'",
                cells.header_line,
                "NAME_u and NAME_v for every marker",
                "rename the column, add the other one, or remove it",
            )
    return tuple(dict.fromkeys(name[:-2] for name in cells.names[1:]))


def _frames(cells: Cells, column: Array, rate: float) -> NDArray[np.int64]:
    """Return the whole numbers of the frames, which increase from row to row."""
    counted = cells.names[0] == "frame"
    exact = column if counted else column * rate
    with np.errstate(invalid="ignore"):
        off = ~(np.abs(exact - np.round(exact)) <= (1e-6 if counted else OFF_GRID)) | (np.abs(exact) > 1e9)
    if off.any():
        k = int(np.argmax(off))
        raise cells.error(
            f"the {cells.names[0]} is {column[k]:g}",
            cells.lines[k],
            "a whole number" if counted else f"a multiple of 1/{rate:g} s",
            "correct it" if counted else "correct it, or rate_hz of the camera file",
        )
    frames = np.round(exact).astype(np.int64)
    back = np.diff(frames) <= 0
    if back.any():
        k = int(np.argmax(back))
        raise cells.error(
            f"frame {frames[k + 1]} follows frame {frames[k]}",
            cells.lines[k + 1],
            "frames that increase from row to row",
            "sort the rows, and remove those that stand twice",
        )
    return frames
