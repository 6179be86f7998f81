"""The header of a CSV file: which column is what, and in which unit.

Two layouts are understood. Plain: one line of column names, ``time`` and ``NAME_x``, ``NAME.x`` or ``NAME:X`` for
markers, the unit in brackets or behind an underscore (``RASI_x [mm]``, ``RASI_x_mm``). Vicon Nexus: a section
``Trajectories`` with the rate, a line of marker names over the first of their three columns, a line
``Frame, Sub Frame, X, Y, Z, ...`` and a line of units.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from musclesolve._util.arrays import Array
from musclesolve.errors import InputError
from musclesolve.recording.place_errors import error_at
from musclesolve.recording.text.repeated_names import check_unique, distinct_names, numbered
from musclesolve.recording.units import metres_in

SECONDS = {"s": 1.0, "ms": 0.001}
LENGTHS = "mm, cm, m"
"""The units of length that are expected, for messages."""
FORCES = "N, kN, mm, cm, m, Nm, Nmm"
"""Those of the columns of a plate."""

# Columns that only number the rows.
COUNTERS = ("frame", "frame#", "sub frame", "subframe", "index")
TIMES = ("time", "t")

_IN_BRACKETS = re.compile(r"(.*?)\s*[\[(]\s*([^\])]*?)\s*[\])]")
_COORDINATE = re.compile(r"(?P<marker>.+?)\s*[_.: ]\s*(?P<axis>[xyzXYZ])(?:_(?P<unit>mm|cm|m))?")


_PLAIN = "NAME_x, NAME_y and NAME_z for every marker, with the unit: RASI_x [mm]"
_TRIPLE = "X, Y, Z under every marker and nothing else"
_TRAJECTORIES = "export the trajectories alone, without velocities and accelerations"

Axes = dict[str, tuple[int, str | None]]
"""Axis -> the column of a coordinate and its unit, None where the column states none."""


@dataclass(frozen=True)
class Coordinates:
    """The columns of n markers in a row.

    The columns (n, 3) of their coordinates and the factors (n, 3) to metres; the column of the time and its factor to
    seconds, None where the rate [Hz] gives it; markers that stand twice (name -> where), whose first columns count.
    """

    columns: tuple[str, ...]
    markers: tuple[str, ...]
    index: NDArray[np.intp]
    metres: Array
    time: tuple[int, float] | None
    rate: float | None = None
    repeated: Mapping[str, str] = field(default_factory=dict)


def separator_of(line: str) -> str:
    """Return what stands between the cells of a header line: a semicolon, a tab or a comma."""
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
    """Return the columns up to the last one that has a name."""
    return cells[: max((k + 1 for k, cell in enumerate(cells) if cell), default=0)]


def is_counter(column: int, cell: str) -> bool:
    """Return whether a column numbers the rows; tables written with their index leave its name empty."""
    return cell.casefold() in COUNTERS or (column == 0 and not cell)


def named_and_unit(cell: str) -> tuple[str, str | None]:
    """Return the name and the unit in brackets behind it, None where there is none."""
    found = _IN_BRACKETS.fullmatch(cell)
    return (found[1], found[2].casefold()) if found else (cell, None)


def find_time(columns: Sequence[str], path: Path, line: int) -> tuple[int, float]:
    """Return which column is the time, and the factor that turns it into seconds."""
    for k, cell in enumerate(columns):
        name, unit = named_and_unit(cell)
        base, _, suffix = name.casefold().rpartition("_")
        if unit is None and base in TIMES and suffix in SECONDS:
            name, unit = base, suffix
        if name.casefold() in TIMES:
            return k, factor(
                unit or "s", lambda unit: SECONDS.get(unit.casefold()), "s, ms", cell, path, line
            )
    problem, expected = "there is no column of time", "a column named time, in seconds"
    raise error_at(path, line, problem, expected, "export the time with the data", code="missing_column")


def factor(
    unit: str, size_of: Callable[[str], float | None], known: str, cell: str, path: Path, line: int
) -> float:
    """Return the factor of a unit."""
    size = size_of(unit)
    if size is None:
        where = f"line {line}, '{cell}'"
        remedy = "write the unit that the numbers are in"
        raise error_at(path, where, f"the unit '{unit}'", f"one of {known}", remedy, code="unknown_unit")
    return size


def plain_coordinates(columns: Sequence[str], path: Path, line: int) -> Coordinates:
    """Understand a line of names such as ``time, RASI_x [mm], RASI_y [mm], RASI_z [mm], ...``."""
    time = find_time(columns, path, line)
    found, twice = _named_axes(columns, time[0], path, line)
    triples = [[axes[axis] for axis in "xyz"] for axes in found.values()]
    stated = [unit for triple in triples for _, unit in triple if unit is not None]
    if not stated or (len(set(stated)) > 1 and len(stated) < 3 * len(triples)):
        raise _no_unit(next(iter(found)), path, line)
    metres = [
        [factor(unit or stated[0], metres_in, LENGTHS, columns[k], path, line) for k, unit in triple]
        for triple in triples
    ]
    index = np.array([[k for k, _ in t] for t in triples])
    repeated = {marker: numbered(f"line {line}, columns", columns) for marker, (_, columns) in twice.items()}
    return Coordinates(tuple(columns), tuple(found), index, np.array(metres), time, repeated=repeated)


def _named_axes(
    columns: Sequence[str], clock: int, path: Path, line: int
) -> tuple[dict[str, Axes], dict[str, tuple[str, list[int]]]]:
    """Return marker -> its three coordinates, and the markers that have one of them twice: which, in which columns.

    Refused is a coordinate that stands twice where another one of its marker is missing: a slip of the pen.
    """
    found: dict[str, Axes] = {}
    twice: dict[str, tuple[str, list[int]]] = {}
    for k, cell in enumerate(named_columns(columns)):
        name, unit = named_and_unit(cell)
        if k == clock or is_counter(k, name):
            continue
        match = _COORDINATE.fullmatch(name)
        if match is None:
            problem = f"the column '{cell}' is no coordinate of a marker"
            raise error_at(path, line, problem, _PLAIN, "rename or remove the column")
        axes, axis = found.setdefault(match["marker"], {}), match["axis"].lower()
        if axis in axes:
            first, places = twice.setdefault(match["marker"], (axis, [axes[axis][0] + 1]))
            if axis == first:
                places.append(k + 1)
        else:
            axes[axis] = (k, unit or match["unit"])
    for marker, (axis, _) in twice.items():
        if len(found[marker]) < 3:
            check_unique([*found[marker], axis], f"coordinate of '{marker}'", path, line)
    if not found:
        raise error_at(path, line, "the file has no markers", _PLAIN, code="missing_marker")
    for marker, axes in found.items():
        if missing := [axis for axis in "xyz" if axis not in axes]:
            problem = f"the marker '{marker}' has no {missing[0]}"
            expected, remedy = (
                "three coordinates of every marker",
                f"export it again with {marker}_{missing[0]}",
            )
            raise error_at(path, line, problem, expected, remedy, code="missing_column")
    return found, twice


def _no_unit(marker: str, path: Path, line: int) -> InputError:
    problem = "the header does not say in which unit of length the numbers are"
    expected = "mm, cm or m in brackets behind the names of the columns"
    remedy = f"write {marker}_x [mm] where the numbers are millimetres, [m] where they are metres"
    return error_at(path, line, problem, expected, remedy, code="unknown_unit")


def vicon_coordinates(
    rate: float, names: Sequence[str], axes: Sequence[str], units: Sequence[str], path: Path, line: int
) -> Coordinates:
    """Understand the header of the section Trajectories of Vicon Nexus.

    `names` is the line of marker names, each over the first of its three columns, `axes` the line Frame, Sub Frame, X,
    Y, Z, ... (number `line`), `units` the line below it; `rate` is in frames a second.
    """
    every = [k for k, name in enumerate(names) if name]
    columns = [k + 1 for k in every]
    places, repeated = distinct_names([names[k] for k in every], f"line {line - 1}, columns", columns)
    markers, first = tuple(places), [every[place] for place in places.values()]
    for k in every:
        if [axis.casefold() for axis in axes[k : k + 3]] != ["x", "y", "z"]:
            problem = f"under the marker '{names[k]}' stands {', '.join(axes[k : k + 3]) or 'nothing'}"
            raise error_at(path, line, problem, _TRIPLE, _TRAJECTORIES)
    triples = [(k, k + 1, k + 2) for k in first]
    given = [units[k] if k < len(units) else "" for k in range(len(axes))]
    if not markers or not all(given[k] for triple in triples for k in triple):
        raise _no_unit(markers[0] if markers else "NAME", path, line + 1)
    metres = [
        [factor(given[k], metres_in, LENGTHS, given[k], path, line + 1) for k in triple] for triple in triples
    ]
    if extra := [axes[k] for k in range(2, len(axes)) if axes[k] and not any(j <= k < j + 3 for j in every)]:
        raise error_at(path, line, f"the column '{extra[0]}' belongs to no marker", _TRIPLE, _TRAJECTORIES)
    return Coordinates(
        _distinct(axes, names), markers, np.array(triples), np.array(metres), None, rate, repeated
    )


def _distinct(axes: Sequence[str], names: Sequence[str]) -> tuple[str, ...]:
    """Return the column names with the marker that each belongs to, for messages."""
    columns, marker = [], ""
    for k, axis in enumerate(axes):
        marker = names[k] if k < len(names) and names[k] else marker
        columns.append(f"{marker} {axis}".strip())
    return tuple(columns)
