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

from musclesolve.errors import InputError
from musclesolve.recording.text.repeated_names import first_places, repeated_names
from musclesolve.recording.text.text_file import EXPORT_AGAIN, check_unique
from musclesolve.recording.units import metres_in

SECONDS = {"s": 1.0, "ms": 0.001}
LENGTHS = "mm, cm, m"
"""The units of length that are expected, for messages."""
FORCES = "N, kN, mm, cm, m, Nm, Nmm"
"""The same of the columns of a plate."""

# Columns that number the rows and say nothing else.
COUNTERS = ("frame", "frame#", "sub frame", "subframe", "index")
TIMES = ("time", "t")

_IN_BRACKETS = re.compile(r"(.*?)\s*[\[(]\s*([^\])]*?)\s*[\])]")
_COORDINATE = re.compile(r"(?P<marker>.+?)\s*[_.: ]\s*(?P<axis>[xyzXYZ])(?:_(?P<unit>mm|cm|m))?")


@dataclass(frozen=True)
class Coordinates:
    """Where the markers stand in a row.

    Args:
        columns: the name of every column, for messages.
        markers: n marker names.
        index: (n, 3) columns of their coordinates, as nested tuples.
        metres: (n, 3) factors that turn them into metres.
        time: the column of the time and its factor to seconds; None where the rate says it.
        rate: frames a second, for files without a column of time.
        repeated: name -> where, of markers that stand twice; their first columns count among ``index``.
    """

    columns: tuple[str, ...]
    markers: tuple[str, ...]
    index: tuple[tuple[int, ...], ...]
    metres: tuple[tuple[float, ...], ...]
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
    """Return which column is the time, and the factor that turns it into seconds.

    Raises:
        InputError: there is none, or its unit is none of time.
    """
    for k, cell in enumerate(columns):
        name, unit = named_and_unit(cell)
        base, _, suffix = name.casefold().rpartition("_")
        if unit is None and base in TIMES and suffix in SECONDS:
            name, unit = base, suffix
        if name.casefold() in TIMES:
            return k, factor(unit or "s", _seconds_in, "s, ms", cell, path, line)
    raise InputError(
        "there is no column of time",
        file=path,
        where=f"line {line}",
        expected="a column named time, in seconds",
        remedy="export the time with the data",
    )


def _seconds_in(unit: str) -> float | None:
    return SECONDS.get(unit.casefold())


def factor(
    unit: str, size_of: Callable[[str], float | None], known: str, cell: str, path: Path, line: int
) -> float:
    """Return the factor of a unit.

    Raises:
        InputError: an unknown unit.
    """
    size = size_of(unit)
    if size is None:
        raise InputError(
            f"the unit '{unit}'",
            file=path,
            where=f"line {line}, '{cell}'",
            expected=f"one of {known}",
            remedy="write the unit the numbers are in",
        )
    return size


def plain_coordinates(columns: Sequence[str], path: Path, line: int) -> Coordinates:
    """Understand a line of names such as ``time, RASI_x [mm], RASI_y [mm], RASI_z [mm], ...``.

    Raises:
        InputError: a column that is no coordinate, a marker without three of them, no unit or an unknown one.
    """
    time = find_time(columns, path, line)
    found: dict[str, dict[str, tuple[int, str | None]]] = {}
    twice: dict[str, list[str]] = {}
    for k, cell in enumerate(named_columns(columns)):
        name, unit = named_and_unit(cell)
        if k == time[0] or is_counter(k, name):
            continue
        match = _COORDINATE.fullmatch(name)
        if match is None:
            raise InputError(
                f"the column '{cell}' is no coordinate of a marker",
                file=path,
                where=f"line {line}",
                expected="NAME_x, NAME_y and NAME_z for every marker, with the unit: RASI_x [mm]",
                remedy="rename the column, or remove it from the file",
            )
        axes = found.setdefault(match["marker"], {})
        if match["axis"].lower() in axes:
            twice.setdefault(match["marker"], []).append(match["axis"].lower())
        else:
            axes[match["axis"].lower()] = (k, unit or match["unit"])
    _check_twice(found, twice, path, line)
    _check_whole(found, path, line)
    units = {unit for axes in found.values() for _, unit in axes.values() if unit is not None}
    if not units or (len(units) > 1 and any(u is None for axes in found.values() for _, u in axes.values())):
        raise _no_unit(next(iter(found)), path, line)
    common = next(iter(units))
    return Coordinates(
        columns=tuple(columns),
        markers=tuple(found),
        index=tuple(tuple(axes[axis][0] for axis in "xyz") for axes in found.values()),
        metres=tuple(
            tuple(
                factor(axes[axis][1] or common, metres_in, LENGTHS, columns[axes[axis][0]], path, line)
                for axis in "xyz"
            )
            for axes in found.values()
        ),
        time=time,
        repeated=dict.fromkeys(twice, f"line {line}"),
    )


def _check_twice(
    found: Mapping[str, Mapping[str, object]], twice: Mapping[str, list[str]], path: Path, line: int
) -> None:
    """Refuse a coordinate that stands twice where another one of its marker is missing: a slip of the pen."""
    for marker, axes in twice.items():
        if len(found[marker]) < 3:
            check_unique([*found[marker], axes[0]], f"coordinate of '{marker}'", path, line)


def _check_whole(found: dict[str, dict[str, tuple[int, str | None]]], path: Path, line: int) -> None:
    if not found:
        raise InputError(
            "the file has no markers",
            file=path,
            where=f"line {line}",
            expected="NAME_x, NAME_y and NAME_z for every marker, with the unit: RASI_x [mm]",
            remedy=EXPORT_AGAIN,
        )
    for marker, axes in found.items():
        if missing := [axis for axis in "xyz" if axis not in axes]:
            raise InputError(
                f"the marker '{marker}' has no {missing[0]}",
                file=path,
                where=f"line {line}",
                expected="three coordinates of every marker",
                remedy=f"export it again with {marker}_{missing[0]}",
            )


def _no_unit(marker: str, path: Path, line: int) -> InputError:
    return InputError(
        "the header does not say in which unit of length the numbers are",
        file=path,
        where=f"line {line}",
        expected="mm, cm or m in brackets behind the names of the columns",
        remedy=f"write {marker}_x [mm] where the numbers are millimetres, [m] where they are metres",
    )


def vicon_coordinates(
    rate: float, names: Sequence[str], axes: Sequence[str], units: Sequence[str], path: Path, line: int
) -> Coordinates:
    """Understand the header of the section Trajectories of Vicon Nexus.

    Args:
        rate: frames a second.
        names: the line of marker names, each over the first of its three columns.
        axes: the line of column names, Frame, Sub Frame, X, Y, Z, ...
        units: the line of units.
        path: the file, for messages.
        line: the line of the column names, for messages.

    Raises:
        InputError: names that do not stand over X, Y, Z, or an unknown unit.
    """
    places = {name: k for name, k in first_places(names).items() if name}
    every, first, markers = [k for k, name in enumerate(names) if name], list(places.values()), tuple(places)
    for k in every:
        if [axis.casefold() for axis in axes[k : k + 3]] != ["x", "y", "z"]:
            raise InputError(
                f"under the marker '{names[k]}' stands {', '.join(axes[k : k + 3]) or 'nothing'}",
                file=path,
                where=f"line {line}",
                expected="X, Y, Z under every marker",
                remedy="export the trajectories alone, without velocities and accelerations",
            )
    triples = tuple((k, k + 1, k + 2) for k in first)
    given = [units[k] if k < len(units) else "" for k in range(len(axes))]
    if not markers or not all(given[k] for triple in triples for k in triple):
        raise _no_unit(markers[0] if markers else "NAME", path, line + 1)
    metres = tuple(
        tuple(factor(given[k], metres_in, LENGTHS, given[k], path, line + 1) for k in triple)
        for triple in triples
    )
    if extra := [axes[k] for k in range(2, len(axes)) if axes[k] and not any(j <= k < j + 3 for j in every)]:
        raise InputError(
            f"the column '{extra[0]}' belongs to no marker",
            file=path,
            where=f"line {line}",
            expected="X, Y, Z under every marker and nothing else",
            remedy="export the trajectories alone, without velocities and accelerations",
        )
    repeated = repeated_names([names[k] for k in every], lambda _: f"line {line - 1}")
    return Coordinates(_distinct(axes, names), markers, triples, metres, None, rate, repeated)


def _distinct(axes: Sequence[str], names: Sequence[str]) -> tuple[str, ...]:
    """Return the column names with the marker that each belongs to, for messages."""
    columns, marker = [], ""
    for k, axis in enumerate(axes):
        marker = names[k] if k < len(names) and names[k] else marker
        columns.append(f"{marker} {axis}".strip())
    return tuple(columns)
