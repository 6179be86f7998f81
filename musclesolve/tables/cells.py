"""Cells of lines, names and units in them, and rows of tables whose cells stand between commas, semicolons or tabs."""

import csv
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice, pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from musclesolve._util.arrays import Array
from musclesolve._util.messages import few
from musclesolve.errors import InputError, file_error, input_error
from musclesolve.tables.number_rows import (
    TIMES,
    Block,
    RowReader,
    by_place,
    check_unique,
    distinct_names,
    is_row,
    number_in,
    numbered,
    section_end,
)
from musclesolve.tables.text_file import damaged
from musclesolve.tables.units import METERS, meters_in, newton_meters_in, newtons_in, radians_in

SECONDS = {
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1.0),
    **dict.fromkeys(("ms", "msec", "millisecond", "milliseconds"), 1e-3),
    **dict.fromkeys(("us", "\N{GREEK SMALL LETTER MU}s", "usec", "microseconds"), 1e-6),
}
LENGTH_UNITS = "mm, cm, m, in, ft"
"""The expected units of length, for messages."""
FORCES = "N, kN, lbf, mm, cm, m, in, ft, Nm, Nmm, deg, rad"
"""The expected units of columns, for messages."""
# Force [N] and number of samples that show the point of the moments; moment [N m] that is none, or an error of printed
# digits; distance [m] of a plate from the origin that is never reached; way [m] of the center of pressure of a step.
_SURE, _FEWEST, _SMALL, _FARTHEST, _MOVES = 100.0, 20, 2.0, 50.0, 0.02
_ROLES = {"force": newtons_in, "point": meters_in, "moment": newton_meters_in, "angle": radians_in}
COUNTER = "Frame"
_COUNTER = re.compile(r"(?:(?:sub_?)?frame|field|sample|index|item)_?(?:#|no\.?|number)?")
"""Titles of columns that only number the rows."""
_MOST_TITLES = 1000
_FIRST_ROWS = 50
"""Number of rows that show whether two columns of times are one clock, and its step."""
_LONGEST_STEP = 0.5
"""Longest step of times in seconds; longer steps without a unit are milliseconds. Recordings of motion have at least
5 Hz, times in milliseconds steps of 0.5 at 2 kHz."""
_OF_RATES = frozenset(
    "rate frequency freq fps hz khz persecond bildrate abtastrate frequenz fréquence frecuencia frequenza".split()
)
_BESIDE_RATES = frozenset(
    "sample samples sampling capture camera video analog point points marker markers data frame frames of in".split()
)
"""Words of a line that states the rate, and other words in it; a line with any other word, such as the frequency of a
filter, is none."""
_POINT_KINDS = ("TARGET", "LANDMARK")
"""Kinds of signals of Visual3D that are points; the name of a point is its marker."""
_IN_BRACKETS = re.compile(r"(.*?)\s*[\[(]\s*([^\])]*?)\s*[\])]")


@dataclass(frozen=True, kw_only=True)
class Header:
    """The columns of a table: titles of all of them, for messages; the function from rows (r, k) to times (r,) [s];
    repeated names (name -> places); the separator of the cells; notes for the results; whether the rows are a section
    that ends before the file does; the number of rows that the file states, None without one.
    """

    titles: Sequence[str]
    times: Callable[[Array], Array]
    repeated: Mapping[str, str]
    separator: str = ","
    notes: tuple[str, ...] = ()
    section: bool = False
    count: str | None = None


@dataclass(frozen=True, kw_only=True)
class Coordinates(Header):
    """The columns (n, 3) of the coordinates of n markers, and the factors (n, 3) to meters; whether the unit of length
    is stated, else the factors are one; the number of a marker -> the column that is zero where it was out of sight.
    """

    markers: tuple[str, ...]
    columns: NDArray[np.intp]
    meters: Array
    unit_stated: bool = True
    sights: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Columns(Header):
    """The columns of k signals, their names, factors and roles (see `Table`). `by_plate`: the program may write what
    pushes on the plates.
    """

    names: tuple[str, ...]
    columns: Sequence[int]
    factors: Array
    roles: tuple[str, ...]
    by_plate: bool = False


def separator_of(line: str) -> str:
    """Return the separator of the cells of a header line: a semicolon, a tab, a comma, or a blank."""
    return next((mark for mark in (";", "\t", ",") if mark in line), " ")


def cells_of(line: str, separator: str) -> list[str]:
    """Return the cells of a line, without blanks and quotes around them."""
    try:
        cells = line.split() if separator == " " else next(csv.reader([line], delimiter=separator), [])
    except csv.Error:
        # A quote that does not close swallows the rest of the line, and no cell may be that long.
        cells = line.split(separator)
    return [cell.strip() for cell in cells]


@dataclass(frozen=True)
class Titles:
    """A title for each column; the line that has the time, or numbers the rows; the separator of the cells; what lines
    above state: a unit of length of all, and rates [Hz].
    """

    cells: Sequence[str]
    line: int
    separator: str
    unit: str | None = None
    rates: tuple[float, ...] = ()


def title_lines(reader: RowReader, line: str) -> Titles:
    """Return the titles by all lines above the first row of numbers, from a first line on.

    One line has all titles. Where several stand above each other, one of them has the time, or numbers the rows, and
    axes beside it or names of columns; a line of units goes into brackets, and a name in another line holds for the
    columns up to the next one. Short lines above them, such as the name and the rate of a recording, name no columns.
    Under the lines of names of Visual3D stand kinds, folders, and last ``ITEM`` and the axes.
    """
    texts, numbers = [line], [reader.line_number]
    clock, named, timed = None, None, False
    while len(texts) < _MOST_TITLES:
        cells = cells_of(texts[-1], separator := separator_of(texts[-1]))
        has_time = any(map(is_time, cells))
        if len(cells) > 1 and (
            has_time or (not timed and any(cell and is_counter(0, cell) for cell in cells))
        ):
            clock, timed, above, between = len(texts) - 1, has_time, len(cells), separator
        if (text := reader.filled_line()) is None:
            break
        row = cells_of(text, separator if clock is None else between)
        if is_row(row):
            if clock is not None and (timed or len(row) >= above):
                reader.put_back(text)
                break
            if named is None and len(row) == len(cells) > 1:
                named = len(texts) - 1
        texts.append(text)
        numbers.append(reader.line_number)
    if clock is None:
        named = named or 0
        separator = separator_of(texts[named])
        if is_row(cells_of(texts[named], separator)):
            raise input_error("tables.no_names", file=reader.path, where=numbers[named])
        return Titles(cells_of(texts[named], separator), numbers[named], separator)
    rows = [cells_of(text, between) for text in texts]
    first, width = clock, len(rows[clock])
    while (
        first and 2 * len(rows[first - 1]) >= width and (len(rows[first - 1]) > 2 or not rows[first - 1][0])
    ):
        first -= 1
    stated = (cells[1] for cells in rows[:first] if len(cells) > 1 and "unit" in cells[0].casefold())
    unit = next((cell for cell in stated if meters_in(cell)), None)
    rates = tuple(dict.fromkeys(filter(None, map(_stated_rate, texts[:first]))))
    titles = _joined(rows[first:], clock - first)
    if rows[-1][0].casefold() == "item" and len(rows) > clock + 1:
        kinds = [["" if cell in _POINT_KINDS else cell for cell in rows[clock + 1]], rows[-1]]
        columns = zip(rows[clock], *kinds, strict=False)
        titles = [name if is_time(name) else "_".join(filter(None, (name, *of))) for name, *of in columns]
        titles[0] = ""
    return Titles(titles, numbers[clock], between, unit, rates)


def _stated_rate(text: str) -> float | None:
    """The rate [Hz] that a line states, such as "Sampling rate (Hz),60" or "60 Hz"; None for other lines."""
    words = re.findall(r"[^\W\d_]+", text.casefold().replace("per second", "persecond"))
    numbers = re.findall(r"\d+(?:[.,]\d+)?", text)
    if not set(words) & _OF_RATES or set(words) - _OF_RATES - _BESIDE_RATES or len(numbers) != 1:
        return None
    return number_in(numbers[0]) * (1000.0 if "khz" in words else 1.0)


def _joined(above: list[list[str]], clock: int) -> list[str]:
    """Return a title for each column, by lines of cells; `clock`: the line that has the time."""
    if len(above) == 1:
        return above[0]
    width = max(map(len, above))
    axes, *others = ([*cells, *[""] * (width - len(cells))] for cells in (above.pop(clock), *above))
    units = next((cells for cells in others if all(map(_is_unit, filter(None, cells)))), [""] * width)
    titles, over = list[str](), [""] * len(others)
    for k, axis in enumerate(axes):
        over = [cells[k] or before for cells, before in zip(others, over, strict=True)]
        words = [name for name, cells in zip(over, others, strict=True) if cells is not units and name]
        named = [axis] if is_time(axis) or is_counter(k, axis) else [*words, axis]
        titles.append("_".join(filter(None, named)) + (f" [{units[k]}]" if units[k] else ""))
    return titles


def is_time(cell: str) -> bool:
    """Whether a title is of the times: by its name, with or without a unit, or by its unit as in "X[s]"."""
    return _unit_of_time(cell) is not None


def _unit_of_time(cell: str) -> str | None:
    """The unit of a title of times, s if it states none; None for other titles."""
    name, unit = named_and_unit(cell)
    base, _, suffix = name.casefold().rpartition("_")
    if unit is None and base in TIMES and suffix in SECONDS:
        return suffix
    return unit or "s" if name.casefold() in TIMES or unit in SECONDS else None


def seconds_of(cell: str, path: Path, line: int) -> float:
    """Return the size [s] of the unit of a title of times; refuse an unknown one."""
    return factor(_unit_of_time(cell) or "", SECONDS.get, "s, ms, us", cell, path, line)


def _is_unit(cell: str) -> bool:
    plain = cell.strip("()[] ").casefold()
    return plain in SECONDS or role_and_size(plain)[1] is not None


def named_columns(cells: Sequence[str]) -> Sequence[str]:
    """Return the names of the columns up to the last one with a name."""
    return cells[: max((k + 1 for k, cell in enumerate(cells) if cell), default=0)]


def is_counter(column: int, cell: str) -> bool:
    """Return whether a column numbers the rows; its name is empty in tables written with their index."""
    counts = _COUNTER.fullmatch(cell.casefold().replace(" ", "_"))
    return counts is not None or (column == 0 and not cell)


def named_and_unit(cell: str) -> tuple[str, str | None]:
    """Return a name and the unit in brackets after it, None without a unit, as in "EMG (left) []"."""
    match = _IN_BRACKETS.fullmatch(cell)
    return (match[1], match[2].casefold() or None) if match else (cell, None)


Clock = tuple[int, Callable[[Array], Array], tuple[str, ...]]
"""The column of the times, or of the numbers of the rows; rows (r, k) -> times (r,) [s]; notes for the results."""


def clock_of(titles: Titles, reader: RowReader) -> Clock:
    """Return the clock of a table whose rows come next: its times, or the numbers of its rows with the stated rate.

    Times without a unit are seconds; milliseconds where the stated rate, or a step too long for a motion, shows them.
    """
    path, line, name = reader.path, titles.line, reader.path.name
    timed = [k for k, cell in enumerate(titles.cells) if is_time(cell)]
    named = [k for k in timed if named_and_unit(titles.cells[k])[0].casefold() in TIMES]
    counters = [k for k, cell in enumerate(titles.cells) if cell and is_counter(k, cell)]
    k = next(iter([*named, *timed, *counters]), None)
    if k is None:
        raise input_error("tables.no_column_time", file=path, where=line)
    cell = titles.cells[k]
    rate = titles.rates[0] if len(titles.rates) == 1 else None
    rows = [cells_of(text, titles.separator) for text in islice(reader.ahead, _FIRST_ROWS)]
    numbers = [number for number in _numbers(rows, k) if np.isfinite(number)]
    if timed:
        seconds = seconds_of(cell, path, line)
        step = float(np.median(np.diff(numbers))) if len(numbers) > 1 else 0.0
        unstated = k in named and not named_and_unit(cell)[1]
        by_rate = rate is not None and abs(step * rate - 1000.0) < 100.0
        if not (unstated and (by_rate or step >= _LONGEST_STEP)):
            return k, lambda rows: rows[:, k] * seconds, ()
        if not by_rate and (rate or step == 1.0 or step >= 1000.0 * _LONGEST_STEP):
            raise input_error("tables.times_or_frames", file=path, where=f"line {line}, '{cell}'", step=step)
        note = f"The times of {name} are milliseconds: they rise by {step:.4g} from row to row."
        return k, lambda rows: rows[:, k] / 1000.0, (note,)
    if rate is None:
        stated = " and ".join(f"{hz:g} Hz" for hz in titles.rates) or "no rate"
        raise input_error("tables.no_rate", file=path, where=line, column=cell, stated=stated)
    # Numbers count from zero if the first one is zero, else from one: a recording may be cut out of a longer one.
    first = min(numbers[0], 1.0) if numbers else 1.0
    note = f"The times of {name} follow from {cell} and the rate of {rate:g} Hz above it."
    return k, lambda rows: (rows[:, k] - first) / rate, (note,)


def _numbers(rows: Sequence[Sequence[str]], column: int) -> list[float]:
    """The numbers in a column of the first rows, NaN for a cell that is none."""
    return [number_in(row[column]) for row in rows if column < len(row)]


def titled_columns(stated: Titles, reader: RowReader, in_si: bool) -> Columns:
    """Return the columns by their titles, with units in brackets."""
    path, (clock, times, notes) = reader.path, clock_of(stated, reader)
    titles, number, separator = stated.cells, stated.line, stated.separator
    # A column of times before each signal, as Delsys writes them: signals of another rate are left out. A duration in
    # seconds that does not rise from row to row, such as a delay, is no clock.
    rows = [cells_of(text, separator) for text in islice(reader.ahead, _FIRST_ROWS)]
    in_seconds = [k for k, title in enumerate(titles) if is_time(title)] or [clock]
    rising = [k for k in in_seconds if all(one < other for one, other in pairwise(_numbers(rows, k)))]
    clocks = rising or in_seconds[:1]
    equal = {k: all(row[k : k + 1] == row[clocks[0] : clocks[0] + 1] for row in rows) for k in clocks}
    signals = [
        (k, title)
        for k, title in enumerate(named_columns(titles))
        if k not in (clock, *in_seconds) and not is_counter(k, title)
    ]
    nearest = {k: max((other for other in clocks if other < k), default=clocks[0]) for k, _ in signals}
    if left := few(title for k, title in signals if not equal[nearest[k]]):
        notes = (*notes, f"Columns of {path.name} with times of their own are left out: {left}.")
    named = [(k, named_and_unit(title)[0]) for k, title in signals if equal[nearest[k]]]
    columns, repeated = distinct_names(named, f"line {number}, columns")
    indices = list(columns.values())
    units = [named_and_unit(titles[k])[1] or "" for k in indices]
    factors = [
        factor(unit, lambda unit: role_and_size(unit)[1], FORCES, titles[k], path, number)
        if in_si and unit
        else 1.0
        for k, unit in zip(indices, units, strict=True)
    ]
    return Columns(
        titles=titles,
        names=tuple(columns),
        columns=indices,
        factors=np.array(factors),
        roles=tuple(role_and_size(unit)[0] for unit in units),
        times=times,
        repeated=repeated,
        separator=separator,
        notes=notes,
    )


def factor(
    unit: str, size_of: Callable[[str], float | None], known: str, cell: str, path: Path, line: int
) -> float:
    """Return the factor of a unit; refuse an unknown one, naming the known units."""
    size = size_of(unit)
    if size is None:
        raise file_error(
            "unknown_unit",
            (path, f"line {line}, '{cell}'"),
            f"the unit '{unit}'",
            f"one of {known}",
            f"write the unit that the numbers are in ({known}), or convert them",
        )
    return size


def role_and_size(unit: str) -> tuple[str, float | None]:
    """Return the role of plate columns with a unit, and its size in SI units; "" and None for any other unit."""
    sizes = ((role, size_of(unit)) for role, size_of in _ROLES.items())
    return next(((role, size) for role, size in sizes if size is not None), ("", None))


def blocks_of(reader: RowReader, header: Header) -> Iterator[Block]:
    """Read the rows, of a section or to the end of the file.

    Columns without a name at the end of all lines, as spreadsheets write them, must be empty.
    """
    rows, titles, separator = list(reader.ahead), header.titles, header.separator
    if header.section:
        rows = rows[: section_end(rows)]
    if not any(line.strip() for line in rows):
        raise damaged("truncated_file", reader.path, "nothing follows the header", "one row per frame")
    split, width = partial(cells_of, separator=separator), len(named_columns(titles))
    between = None if separator == " " else separator
    for values, lines in reader.blocks(
        titles, split, between, blank_end=separator == "\t", section=header.section
    ):
        if len(beyond := np.argwhere(~np.isnan(values[:, width:]))):
            raise damaged(
                "bad_format",
                (reader.path, lines[beyond[0, 0]]),
                "there is a number beyond the last named column",
                "a name over every number",
            )
        yield values, lines


def rate_in(cell: str, path: Path, line: int) -> float:
    """Return the rate [Hz] in a cell, with a decimal point or comma."""
    rate = number_in(cell)
    if not 0.0 < rate < np.inf:
        raise damaged("bad_number", (path, line), f"the rate is '{cell}'", "frames a second")
    return rate


def against_ground(values: Array, roles: Sequence[str]) -> bool:
    """Whether the forces among columns (T, k), three for each plate, push down, by the axis that carries most.

    A subject pushes on the ground in one direction only, and the ground on the subject in the other. Nearly all
    programs write in axes of which the vertical one points up.
    """
    forces = values[:, [k for k, role in enumerate(roles) if role == "force"]]
    if not forces.size or forces.shape[1] % 3:
        return False
    total = np.nansum(forces.reshape(len(forces), -1, 3), axis=(0, 1))
    return bool(total[np.abs(total).argmax()] < 0.0)


def free_moments(values: Array, roles: Sequence[str]) -> int:
    """Replace moments about a fixed point by moments about the point of force, in place; return of how many plates.

    Among columns (T, k) in SI units, three for each vector; see `free_moment`.
    """
    of_role = {role: [k for k, name in enumerate(roles) if name == role] for role in _ROLES}
    flat = 2 if 3 * len(of_role["point"]) == 2 * len(of_role["force"]) else 3  # points on the ground
    force, point, moment = (
        [of_role[role][k : k + size] for k in range(0, len(of_role[role]), size)]
        for role, size in (("force", 3), ("point", flat), ("moment", 3))
    )
    if not len(force) == len(point) == len(moment) or any(len(part) < 3 for part in (*force, *moment)):
        return 0
    changed = 0
    for f, p, m in zip(force, point, moment, strict=True):
        F, P, M = values[:, f], values[:, [*p, *p][:3]], values[:, m]
        P[:, flat:] = 0.0
        up = int(np.abs(np.nansum(F, axis=0)).argmax())
        if not up < flat < 3 and (free := free_moment(F, P, M, up)) is not None:
            values[:, m] = free
            changed += 1
    return changed


def free_moment(force: Array, point: Array, moment: Array, up: int = 2) -> Array | None:
    """Return free moments (T, 3) [N m] for moments about a fixed point, None for moments about the points of force.

    About a point o the moment is M = (p - o) x F + T, and T is vertical: the horizontal components of
    p x F - M = o x F show o. They are zero where M is the free moment already. Points that rest show nothing.
    """
    across = [axis for axis in range(3) if axis != up]
    whole = np.isfinite(force + point + moment).all(axis=1)
    loaded = whole & (np.abs(force[:, up]) > _SURE)
    if loaded.sum() < _FEWEST or np.abs(moment[loaded][:, across]).max() < _SMALL:
        return None
    if np.ptp(point[loaded], axis=0).max() < _MOVES:
        return None
    # o x F as a matrix times o
    x, y, z = force[loaded].T
    zero = np.zeros_like(x)
    turns = np.stack([zero, z, -y, -z, zero, x, y, -x, zero], axis=1).reshape(-1, 3, 3)[:, across]
    gap = (np.cross(point, force) - moment)[loaded][:, across]
    origin = np.linalg.lstsq(turns.reshape(-1, 3), gap.ravel(), rcond=None)[0]
    if np.abs(gap - turns @ origin).max() > _SMALL or np.abs(origin).max() > _FARTHEST:
        return None
    free = moment.copy()
    free[whole] -= np.cross(point - origin, force)[whole]
    return free


def no_unit(marker: str, path: Path, line: int) -> InputError:
    """Return the error of a header without a unit of length."""
    return file_error(
        "unknown_unit",
        (path, line),
        "the header does not state the unit of length of the numbers",
        "mm, cm or m in brackets behind the names of the columns",
        f"write {marker}_x [mm] where the numbers are millimeters, [m] where they are meters",
    )


SPREAD = {"m": (0.3, 4.0), "cm": (50.0, 250.0), "mm": (300.0, 4000.0)}
"""Extent of markers on a body, or on a part of it, in each unit of length."""


def in_meters_by_size(position: Array, path: Path, unknown: InputError) -> str:
    """Convert positions (T, n, 3), in place, from the unit in which they are on a body, and return a note on it.

    Raises `unknown` for other sizes.
    """
    seen = position[np.isfinite(position).any(axis=(1, 2))]
    span = np.nanmax(seen, axis=1) - np.nanmin(seen, axis=1) if len(seen) else np.zeros((1, 3))
    extent = float(np.nanmedian(np.linalg.norm(span, axis=1)))
    for unit, (low, high) in SPREAD.items():
        if low < extent < high:
            position *= METERS[unit]
            return (
                f"No unit of length is stated in {path.name}: its numbers are taken as {unit}, in which the markers "
                f"are spread over {extent * METERS[unit]:.2f} m."
            )
    raise unknown


_COORDINATE = re.compile(r"(?P<marker>.+?)\s*[_.: ]?\s*(?P<axis>[xyzXYZ])(?:_(?P<unit>mm|cm|m))?")


# Codamotion writes whether a marker was in sight, 1 or 0, behind its coordinates.
_SIGHT = re.compile(r"(?P<marker>.+?)[_.: ]?(?:v|vis|visible|visibility)", re.IGNORECASE)
_NUMBERED_AXIS = re.compile(r"(?P<marker>.+)_(?P<axis>[123])(?P<unit>)")
_AXIS_FIRST = re.compile(r"(?P<axis>[XYZxyz])[_.: ](?P<marker>.+?)(?P<unit>\s*[\[(].*)?")


def _with_axes(columns: Sequence[str]) -> Sequence[str]:
    """Return titles with x, y, z at the end, for titles with the axis first, "X_RASI [mm]", or with 1, 2, 3 at the end,
    "RASI_1", as MATLAB writes the columns of the matrix of each marker.

    Only where so many names as a body has markers have all three axes, and no other one.
    """
    for pattern, axes in ((_NUMBERED_AXIS, "123"), (_AXIS_FIRST, "xyz")):
        by: dict[str, str] = {}
        for match in filter(None, map(pattern.fullmatch, columns)):
            by[match["marker"]] = by.get(match["marker"], "") + match["axis"].lower()
        if len(by) >= FEWEST_MARKERS and {"".join(sorted(letters)) for letters in by.values()} == {axes}:
            return [
                f"{at['marker']}_{'xyz'[axes.index(at['axis'].lower())]}{at['unit'] or ''}" if at else title
                for title in columns
                for at in [pattern.fullmatch(title)]
            ]
    return columns


def are_coordinates(names: Sequence[str]) -> bool:
    """Whether most names of columns end in an axis, and none states other content."""
    ends = sum(_COORDINATE.fullmatch(named_and_unit(name)[0]) is not None for name in names)
    return 2 * ends > len(names) and not any(map(_OF_PLATES.search, names))


_OF_PLATES = re.compile(r"force|moment|torque|cop|grf|plate|fp\d|acc|gyro|angle", re.IGNORECASE)
FEWEST_MARKERS = 8
"""Fewest triples of columns, with names that state no other content, that are markers without a unit of length."""


def plain_coordinates(titles: Titles, reader: RowReader) -> Coordinates:
    """Return the columns by a line of names such as ``time, RASI_x [mm], RASI_y [mm], RASI_z [mm], ...``.

    A marker with a repeated coordinate is repeated. Refuses a repeated coordinate of a marker that lacks another one: a
    typing error.
    """
    path, line, (clock, times, notes) = reader.path, titles.line, clock_of(titles, reader)
    columns, sights = _with_axes(titles.cells), dict[str, int]()
    # marker -> axis -> columns and their units
    markers: dict[str, dict[str, list[tuple[int, str | None]]]] = {}
    for k, cell in enumerate(named_columns(columns)):
        name, unit = named_and_unit(cell)
        if k == clock or is_counter(k, name):
            continue
        match = _COORDINATE.fullmatch(name)
        sight = _SIGHT.fullmatch(name)
        if match is None and sight is not None and sight["marker"] in markers:
            sights[sight["marker"]] = k
            continue
        if match is None:
            raise file_error(
                "bad_format",
                (path, line),
                f"the column '{cell}' is no coordinate of a marker",
                "NAME_x, NAME_y and NAME_z for every marker, with the unit: RASI_x [mm]",
                "rename or remove the column",
            )
        axes = markers.setdefault(match["marker"], {})
        axes.setdefault(match["axis"].lower(), []).append((k, unit or match["unit"] or titles.unit))
    if not markers:
        raise input_error("tables.file_no_markers", file=path, where=line)
    triples, repeated = dict[str, list[tuple[int, str | None]]](), dict[str, str]()
    for marker, axes in markers.items():
        twice = [axis for axis, several in axes.items() if len(several) > 1]
        if missing := [axis for axis in "xyz" if axis not in axes]:
            check_unique([*axes, *twice], f"coordinate of '{marker}'", path, line)
            raise file_error(
                "missing_column",
                (path, line),
                f"the marker '{marker}' has no {missing[0]}",
                "three coordinates of every marker",
                f"export it again with {marker}_{missing[0]}",
            )
        triples[marker] = [axes[axis][0] for axis in "xyz"]
        if twice:
            places = [k for k, _ in axes[twice[0]]]
            repeated[marker] = numbered(f"line {line}, columns", places)
            again = zip(*(axes[axis] for axis in "xyz"), strict=False)
            triples |= zip(by_place(marker, repeated[marker]), map(list, again), strict=False)
    stated = [unit for triple in triples.values() for _, unit in triple if unit is not None]
    of_body = len(triples) >= FEWEST_MARKERS and not any(map(_OF_PLATES.search, triples))
    if (not stated and not of_body) or (len(set(stated)) > 1 and len(stated) < 3 * len(triples)):
        raise no_unit(next(iter(triples)), path, line)
    usual = stated[0] if stated else "m"
    meters = [
        [factor(unit or usual, meters_in, LENGTH_UNITS, columns[k], path, line) for k, unit in triple]
        for triple in triples.values()
    ]
    return Coordinates(
        titles=columns,
        markers=tuple(triples),
        columns=np.array([[k for k, _ in triple] for triple in triples.values()]),
        meters=np.array(meters),
        times=times,
        repeated=repeated,
        separator=titles.separator,
        notes=notes,
        unit_stated=bool(stated),
        sights={n: sights[marker] for n, marker in enumerate(triples) if marker in sights},
    )
