"""TRC, MOT and STO files: reading, writing, and repair of cut or repeated rows.

TRC files: marker trajectories as text.

Five header lines (file type, names of the header fields, their values, marker names, axis names), often a blank line,
then one row per frame: number, time, x, y, z of every marker. Missing header fields and trailing tabs are accepted.
An empty cell is a gap; so is a marker at exactly (0, 0, 0), which several programs write for a lost marker. Trimmed
files have other numbers of rows than their header states: all rows are read, with a warning.

MOT and STO files: named columns over time, as text.

A header of ``name=value`` lines (older files: ``name value``) up to ``endheader``, one line of column names that
begins with ``time``, then one row per sample. Files of OpenSim 4 state neither ``nRows`` nor ``nColumns``: columns and
rows are counted. Many state no ``inDegrees``. Its tools write the last state of an integration twice. States of CMC
(4.6) have the other names in a line below ``time``.
"""

import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TypeVar

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.checks import check_choice, check_integer, check_real_array, check_type
from musclesolve._util.messages import NO_WARNING
from musclesolve.errors import InputError, file_error, input_error
from musclesolve.tables.cells import in_meters_by_size, is_time, seconds_of
from musclesolve.tables.number_rows import (
    UNNAMED,
    RowReader,
    check_unique,
    distinct_names,
    is_row,
    number_in,
    timed_rows,
    without_lost,
)
from musclesolve.tables.sampled import Markers, Table
from musclesolve.tables.text_file import (
    STORAGE,
    check_separator,
    damaged,
    file_path,
    read_lines,
    split_cells,
    suffix_of,
    write_text,
)
from musclesolve.tables.units import LARGEST, METERS, meters_in

_AXIS = re.compile(r"[XYZ]\d*", re.IGNORECASE)
"""A cell of the line below the names: X1, Y1, Z1 and so on from any number, or without numbers."""
RATE_TOLERANCE = 0.01
"""Allowed difference between the rates of header and times, as a share of the rate."""


def read_trc(path: str | Path) -> Markers:
    """Read the marker trajectories of a TRC file, in the axes of the file.

    Args:
        path: of the file.

    Returns:
        Positions (T, n, 3) [m] by marker name.

    Raises:
        InputError: with the line, for anything that does not fit together.

    Examples:
        >>> markers = ms.tables.read_trc(ms.data.reference_stride().parent / "walk.trc")
        >>> round(markers.rate)
        60
    """
    path = file_path(path)
    with RowReader(path) as reader:
        header = _trc_header(reader, path)
        line = reader.line() or ""
        (places, above), named_in = _marker_places(line), reader.line_number
        axes = reader.filled_line()
        while axes is not None and axes.split() == line.split():  # some programs write the names twice
            axes = reader.filled_line()
        if axes is not None and not all(_AXIS.fullmatch(cell) for cell in axes.split()):
            reader.put_back(axes)
            axes = None
        count = len(places) and places[-1][0] // 3 + 1
        stated = header["nummarkers"]
        beyond = _unnamed_markers(reader, count, max(len((axes or "").split()) // 3, stated))
        unnamed = count - len(places) + beyond
        if beyond and not above:
            raise file_error(
                "bad_format",
                (path, named_in),
                f"{len(places)} names stand side by side above the columns of {count + beyond} markers: which "
                "markers have no name is not known",
                "a name above the first column of its marker, or one for each marker",
                "name all markers, or export the file again",
            )
        if not places:
            raise damaged("missing_marker", (path, named_in), "the file has no markers", "at least one")
        wrong = f"The header of {path.name} states {stated:.15g} markers, but {len(places)} have a name."
        edited = [] if stated in (len(places), len(places) + unnamed) else [wrong]  # its rows decide
        if not header["headed"]:
            edited.append(f"{path.name} lacks the first line of a TRC file, which begins with PathFileType.")
        columns, repeated = distinct_names(places, f"line {named_in}, columns")
        triples = [[column, column + 1, column + 2] for column in columns.values()]
        named = dict(places)
        titles = [f"{named.get(2 + 3 * k, '')} {axis}" for k in range(count) for axis in "xyz"]
        titles[:0] = ["Frame#", "Time"]
        rate, meters = header["datarate"], header["meters"]
        starts = [text.split(None, 2)[1:2] for text in reader.ahead if text.strip()]
        clock, first, per = 1, 0.0, 1.0
        if rate > 0.0 and len(starts) > 1 and all(one and set(*one) <= set("0.,") for one in starts):
            clock, first, per = 0, 1.0, rate
            edited.append(f"The times of {path.name} are zero: they follow from Frame# and DataRate.")
        time, position, _, notes, warning = timed_rows(
            reader,
            reader.blocks(titles, split_cells, "\t", blank_end=True, unnamed=beyond > 0),
            lambda rows: ((rows[:, clock] - first) / per, without_lost(rows[:, triples] * (meters or 1.0))),
            "marker",
            tuple(columns),
            repeated,
            f"{header['numframes']:.15g}",
            rate,
        )
    if not meters:
        where = f"line {header['line']:g}, Units"
        unknown = input_error("tables.unit_length", file=path, where=where, unit="")
        notes = (*notes, in_meters_by_size(position, path, unknown))
    if unnamed:
        edited += [f"The columns of {path.name} without a name, of {unnamed} markers, are left out."]
    if np.isclose(1000.0 * (len(time) - 1), rate * np.ptp(time), rtol=RATE_TOLERANCE):
        time = time / 1000.0
        edited += [f"The times of {path.name} are milliseconds, by its DataRate of {rate:g} Hz."]
    notes = (*notes, *edited)
    markers = Markers(
        time, tuple(columns), position, path, notes, (), repeated, warning, sha256=reader.sha256
    )
    if abs(markers.rate - rate) > RATE_TOLERANCE * rate:
        raise file_error(
            "bad_units",
            (path, int(header["line"])),
            f"DataRate is {rate:g} Hz, but the Time column has {markers.rate:g} rows a second",
            "one rate in both",
            "find out which one is right and correct the other",
        )
    return markers


def _marker_places(line: str) -> tuple[list[tuple[int, str]], bool]:
    """The column of x and the name of every marker, and whether the names stand over their columns.

    There a marker without a name has an empty cell. Names next to each other count in their order.
    """
    placed = [(k, cell.strip()) for k, cell in enumerate(line.split("\t")) if k > 1 and cell.strip()]
    if placed and all((k - 2) % 3 == 0 for k, _ in placed):
        return placed, True
    return [(2 + 3 * k, name) for k, name in enumerate(filter(None, split_cells(line)[2:]))], False


def _unnamed_markers(reader: RowReader, named: int, stated: float) -> int:
    """Number of markers without a name behind the named ones, as Cortex writes them, by the first rows of numbers.

    `stated` markers are in the header; without them all of these rows have as many cells.
    """
    width, beyond, filled = 2 + 3 * named, set[int](), 0
    for line in reader.ahead:
        if line.strip():
            tabbed = "\t" in line
            cells = line.count("\t") + 1 if tabbed else len(line.split())
            beyond.add(cells - width - (tabbed and cells > width and not line.rpartition("\t")[2].strip()))
            filled = max(filled, (line.rstrip().count("\t") + 1 if tabbed else cells) - width)
    even = all(count > 0 and count % UNNAMED == 0 for count in beyond - {0})
    return -(-filled // 3) if named and filled > 0 and even and (len(beyond) == 1 or stated > named) else 0


def _trc_header(reader: RowReader, path: Path) -> dict[str, float]:
    """Read the three lines before the names of the markers; return their numbers and the unit of length [m], or 0."""
    first = reader.first_line()
    headed = first.lstrip().casefold().startswith("pathfiletype")
    if not headed and not first.lstrip().casefold().startswith("datarate"):
        raise file_error(
            "bad_format",
            (path, 1),
            "this is not a TRC file",
            "a first line that begins with PathFileType",
            "export the markers as TRC, or name the TRC file",
        )
    named = (reader.line() or "") if headed else first
    check_separator(named, path, reader.line_number)
    valued = reader.line() or ""
    if not valued.strip():
        problem = f"the file ends after {reader.line_number} lines"
        raise damaged("truncated_file", path, problem, "five header lines and rows")
    titles, cells = (split_cells(line.strip()) for line in (named, valued))
    if len(titles) != len(cells):  # not an empty cell between tabs
        titles, cells = named.split(), valued.split()
    fields = dict(zip([title.casefold() for title in titles], cells, strict=False))
    number = reader.line_number
    values: dict[str, float] = {"headed": headed, "line": number}
    for name in ("DataRate", "NumFrames", "NumMarkers"):
        if (text := fields.get(key := name.casefold())) is None:
            problem, expected = f"the header has no {name}", f"{name} in line {number - 1}, its value below"
            raise damaged("bad_format", (path, f"lines {number - 1} and {number}"), problem, expected)
        values[key] = number_in(text)
        if np.isnan(values[key]):
            raise damaged("bad_format", (path, number), f"{name} is '{text}'", "a number")
    unit = fields.get("units", "")
    meters = meters_in(unit) if unit else 0.0
    if meters is None:
        raise input_error("tables.unit_length", file=path, where=f"line {number}, Units", unit=unit)
    return values | {"meters": meters}


def write_trc(path: str | Path, markers: Markers, *, units: str = "mm", decimals: int = 5) -> None:
    """Write markers as a TRC file, in their axes; gaps become empty cells.

    Args:
        path: the file to write; it appears complete or not at all. markers: to be written.
        units: "mm", "cm" or "m".
        decimals: decimals of the coordinates, in that unit.

    Raises:
        InputError: values that no reader would accept: a name that the format cannot hold or that occurs twice, an
            unknown unit, fewer than two frames, infinite numbers; or a place where nothing can be written.

    Examples:
        >>> markers = ms.tables.read_trc(ms.data.reference_stride().parent / "walk.trc")
        >>> ms.tables.write_trc("walk.trc", markers, units="m")
    """
    check_choice(units, "units", METERS)
    check_type(markers, Markers, "markers", "Markers, as read_trc returns them")
    times = check_real_array(markers.time, "time", "times [s]")
    written = check_real_array(markers.position, "position", "numbers [m]") / METERS[units]
    path = check_writable(path, "marker", markers.names, times, written, decimals)
    if not markers.names:
        raise file_error(
            "missing_marker", path, "there are no markers to write", "one or more", "add a marker"
        )
    for name in markers.names:
        if not name.strip() or name != name.strip() or any(letter in name for letter in "\t\n\r\0"):
            raise file_error(
                "bad_value",
                path,
                f"a TRC file cannot hold the marker name {name!r}",
                "a name without tabs, line ends and outer blanks",
                "rename the marker before writing",
            )
    frames, count, rate = times.size, len(markers.names), f"{_stated_rate(times):.6f}"
    header = [
        f"PathFileType\t4\t(X/Y/Z)\t{path.name}",
        "DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames",
        f"{rate}\t{rate}\t{frames}\t{count}\t{units}\t{rate}\t1\t{frames}",
        "Frame#\tTime\t" + "\t\t\t".join(markers.names) + "\t\t",
        "\t\t" + "\t".join(f"{axis}{k}" for k in range(1, count + 1) for axis in "XYZ"),
        "\n",
    ]
    form = "%d\t%.8f" + f"\t%.{decimals}f" * (3 * count) + "\n"
    # OpenSim does not count an empty cell that ends a line: a tab behind it makes it count.
    rows = (
        (form % (k, time, *frame.ravel().tolist())).replace("nan", "").replace("\t\n", "\t\t\n")
        for k, (time, frame) in enumerate(zip(times, written, strict=True), start=1)
    )
    write_text(path, chain(["\n".join(header)], rows))


def _stated_rate(time: Array) -> float:
    """The rate [Hz] for the header of a file with times (T,) [s].

    It is the mean rate, or where a frame is lost the rate of the other steps: with the mean rate such times would be
    read as rounded even times. A reader accepts no rate that differs more from the mean.
    """
    steps = np.diff(time)
    mean, usual = (len(time) - 1) / float(time[-1] - time[0]), 1.0 / float(np.median(steps))
    has_hole = steps.max() * usual > _HOLE
    return usual if has_hole and abs(usual - mean) <= RATE_TOLERANCE * usual else mean


# The names of the two generations of the format.
_ROWS = ("nRows", "datarows")
_COLUMNS = ("nColumns", "datacolumns")
_ANSWERS = dict.fromkeys(("yes", "true", "1", "y"), True) | dict.fromkeys(("no", "false", "0", "n"), False)
MOST_DECIMALS = 30
_LONGEST_HEADER = 10_000
_HOLE = 1.5  # steps beyond which a frame is lost


def read_mot(path: str | Path) -> Table:
    """Read a MOT or STO file of OpenSim.

    Args:
        path: of the file.

    Returns:
        Named columns over time [s], in the units of the file; `in_degrees` states the unit of angles.

    Raises:
        InputError: with the line, for anything that does not fit together.

    Examples:
        >>> table = ms.tables.read_mot(ms.data.reference_stride().parent / "forces.mot")
        >>> len(table.names)
        18
    """
    path = file_path(path)
    with RowReader(path) as reader:
        header = mot_header(reader, path)
        end, line = reader.line_number, reader.filled_line()
        if line is None:
            raise damaged(
                "truncated_file", (path, end), "nothing follows the header", "column names and rows"
            )
        names, number = [cell for cell in split_cells(line) if cell], reader.line_number
        check_separator(line, path, number)
        if not is_time(names[0]):
            raise file_error(
                "missing_column",
                (path, number),
                f"the first column is '{names[0]}'",
                "time",
                "export the time first, and name it time",
            )
        check_unique([name for name in names if name.casefold() == "time"], "column", path, number)
        second = seconds_of(names[0], path, number)
        if len(names) < 2 and (below := reader.filled_line()) is not None:
            if is_row(split_cells(below)):
                reader.put_back(below)
            else:  # the states of CMC of OpenSim 4.6: the other names are a line of their own
                names += [cell for cell in split_cells(below) if cell]
        if len(names) < 2:
            raise damaged(
                "missing_column", (path, number), "the file has no column but the time", "one or more"
            )
        stated = _stated_count(header, _COLUMNS)
        wrong = f"The header of {path.name} states {stated[:40]} columns, but {len(names)} have a name."
        edited = [] if stated in ("", str(len(names))) else [wrong]  # its rows decide
        columns, repeated = distinct_names(list(enumerate(names))[1:], f"line {number}, columns")
        indices = slice(1, None) if not repeated else list(columns.values())
        # Cells stand between tabs or blanks; between tabs a cell may be empty, a gap.
        width, first = len(names), next((line for line in reader.ahead if line.strip()), "")

        def cells(line: str) -> list[str]:
            between = line.split()
            return between if len(between) >= width or line.count("\t") < width - 1 else split_cells(line)

        tabs = "\t" if first.count("\t") >= width - 1 else None
        time, values, lines, notes, warning = timed_rows(
            reader,
            reader.blocks(names, cells, tabs, blank_end=True),
            lambda rows: (rows[:, 0] * second, rows[:, indices]),
            "column",
            tuple(columns),
            repeated,
            _stated_count(header, _ROWS),
        )
    degrees = header["indegrees"].casefold() if "indegrees" in header else None
    if degrees not in (None, *_ANSWERS):
        raise file_error(
            "bad_format", path, f"inDegrees is '{degrees}'", "yes or no", "write inDegrees=no for forces"
        )
    in_degrees = None if degrees is None else _ANSWERS[degrees]
    rest = lines, (), (*edited, *notes), repeated, warning, reader.sha256
    return Table(time, tuple(columns), values, in_degrees, path, *rest)


def mot_header(reader: RowReader, path: Path) -> dict[str, str]:
    """Return the fields of the header, up to the line endheader, or to names of columns above a row of numbers."""
    fields: dict[str, str] = {}
    while reader.line_number < _LONGEST_HEADER and (line := reader.line()) is not None:
        if line.strip().casefold() == "endheader":
            return fields
        cells, below = split_cells(line), split_cells(next(iter(reader.ahead), ""))
        if cells and is_time(cells[0]) and len(cells) == len(below) and is_row(below[:1]):
            reader.put_back(line)
            return fields
        name, separator, value = line.partition("=")
        if not separator:
            name, _, value = line.strip().partition(" ")
        fields[name.strip().casefold()] = value.strip()
    if "pathfiletype" in next(iter(fields), ""):
        raise file_error(
            "bad_format",
            path,
            "this is a file of markers (TRC)",
            "a MOT or STO file: coordinates, moments or loads over time",
            "give inverse kinematics of these markers; `musclesolve init FOLDER` drafts a trial of markers themselves",
        )
    raise file_error(
        "bad_format",
        path,
        "the header does not end",
        "a line endheader",
        "name a MOT or STO file, or export the file again",
    )


def _stated_count(header: dict[str, str], keys: tuple[str, str]) -> str:
    """Return the text of a count in the header; "" if not stated."""
    return next((header[key.casefold()] or "nothing" for key in keys if key.casefold() in header), "")


def write_mot(path: str | Path, table: Table, *, decimals: int = 6) -> None:
    """Write columns over time as a MOT or STO file.

    Args:
        path: the file to write; it appears complete or not at all. table: to be written.
        decimals: decimals of every number except the time, which has eight.

    Raises:
        InputError: values that no reader would accept: a name that the format cannot hold or that occurs twice, fewer
            than two rows, infinite numbers; or a place where nothing can be written.

    Examples:
        >>> table = ms.tables.read_mot(ms.data.reference_stride().parent / "forces.mot")
        >>> ms.tables.write_mot("forces.mot", table)
    """
    check_type(table, Table, "table", "a Table, as read_mot returns it")
    write_text(file_path(path), mot_text(path, table, decimals=decimals))


def mot_text(
    path: str | Path,
    table: Table,
    *,
    decimals: int | None = 6,
    remarks: Sequence[str] = (),
    title: str | None = None,
) -> Iterator[str]:
    """Yield the parts of the text of a MOT or STO file, checked as by `write_mot`.

    Args:
        path: of the file. table: to be written.
        decimals: as of `write_mot`; None: all digits that restore exactly the same number, also for the time.
        remarks: further lines of the header.
        title: the first line of the header; the stem of the path unless given.
    """
    digits = 6 if decimals is None else decimals
    time, values = (
        check_real_array(array, name, "numbers")
        for array, name in ((table.time, "time"), (table.values, "values"))
    )
    path = check_writable(path, "column", table.names, time, values, digits)
    if bad := [name for name in table.names if name == "time" or name.split() != [name] or "\0" in name]:
        raise file_error(
            "bad_value",
            path,
            f"a MOT file cannot hold the column name {bad[0]!r}",
            "no blanks, and not time",
            "rename the column",
        )
    header = [
        title or path.stem,
        "version=1",
        f"nRows={len(values)}",
        f"nColumns={len(table.names) + 1}",
        *([] if table.in_degrees is None else [f"inDegrees={'yes' if table.in_degrees else 'no'}"]),
        *remarks,
        "endheader",
        "\t".join(("time", *table.names)) + "\n",
    ]
    rows = ((at, *row.tolist()) for at, row in zip(time.tolist(), values, strict=True))
    if decimals is None:
        return chain(["\n".join(header)], ("\t".join(map(repr, row)) + "\n" for row in rows))
    form = "%.8f" + f"\t%.{decimals}f" * len(table.names) + "\n"
    return chain(["\n".join(header)], (form % row for row in rows))


Rows = TypeVar("Rows", Markers, Table)
Lines = list[str]
TextRepair = Callable[[Lines], Lines]


def read_repaired(
    path: Path, reader: Callable[[Path], Rows], report: Callable[[str, InputError], None]
) -> Rows | None:
    """Read a file, repaired if necessary; None if no repair helps.

    report: called with every fault: its repair, a key of `TEXT_REPAIRS`, or "unreadable"; and the error.
    """
    try:
        return reader(path)
    except InputError as refused:
        error = refused
    repairs = TEXT_REPAIRS.get(suffix_of(path), {})
    try:
        lines = read_lines(path) if repairs else []
    except InputError:
        repairs = {}
    for name, repair in repairs.items():
        repaired = repair(lines)
        if repaired == lines:
            continue
        recorded, next_error = None, None
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / path.name
            copy.write_text("\n".join(repaired) + "\n", encoding="utf-8")
            try:  # the repair is reported, and with it the number of rows in the header
                recorded = replace(reader(copy), path=path, row_warning=NO_WARNING)
            except InputError as refused:
                next_error = refused
                next_error.file = path
        if next_error is not None and next_error.code == error.code:
            continue
        report(name, error)
        if next_error is None:
            return recorded
        lines, error = repaired, next_error
    report("unreadable", error)
    return None


def _rows(lines: Lines, first: int) -> dict[int, list[str]]:
    """Return the cells of the lines that are rows of data: from a first line on they begin with a number."""
    return {k: split_cells(line) for k, line in enumerate(lines) if k >= first and is_row(line.split()[:1])}


def _whole_rows(lines: Lines, first: int) -> Lines:
    """Remove incomplete rows."""
    counts = {k: len(cells) for k, cells in _rows(lines, first).items()}
    width = Counter(counts.values()).most_common(1)[0][0] if counts else 0
    return [line for k, line in enumerate(lines) if counts.get(k, width) >= width]


def _rising(lines: Lines, first: int, column: int) -> Lines:
    """Sort rows by the times of a column if these are even then; else remove rows whose times do not increase."""
    rows = _rows(lines, first)
    times = {k: number_in(cells[column]) if len(cells) > column else np.nan for k, cells in rows.items()}
    earliest = {time: k for k, time in reversed(times.items())}
    steps = np.diff(in_order := sorted(earliest))
    if steps.size and steps.max() < 1.5 * steps.min():
        others = [line for k, line in enumerate(lines) if k not in rows]
        return others + [lines[earliest[time]] for time in in_order]
    latest = np.fmax.accumulate([-np.inf, *times.values()])
    dropped = {k for (k, time), before in zip(times.items(), latest, strict=False) if time <= before}
    return [line for k, line in enumerate(lines) if k not in dropped]


def _trc_fields(lines: Lines) -> int:
    """The line of the names in the TRC header: the second one, or the first where the first line was removed."""
    return 0 if lines and lines[0].split()[:1] == ["DataRate"] else 1


def _with_trc_rate(lines: Lines) -> Lines:
    """Write the rate of the time column into the header."""
    first = _trc_fields(lines)
    names, values = (lines[first].split(), lines[first + 1].split()) if len(lines) > 4 else ([], [])
    times = [number_in(cells[1]) for cells in _rows(lines, first + 3).values() if len(cells) > 1]
    span = times[-1] - times[0] if times else 0.0
    if not span > 0.0 or "DataRate" not in names[: len(values)]:
        return lines
    values[names.index("DataRate")] = repr((len(times) - 1) / span)
    return [*lines[: first + 1], "\t".join(values), *lines[first + 2 :]]


def _after_header(lines: Lines) -> int:
    return next((k + 1 for k, line in enumerate(lines) if line.strip().casefold() == "endheader"), len(lines))


def _repairs(first_row: Callable[[Lines], int], column: int) -> dict[str, TextRepair]:
    """The repairs of rows, by the line of the first one and the column of times."""
    return {
        "truncated": lambda lines: _whole_rows(lines, first_row(lines)),
        "repeated_times": lambda lines: _rising(lines, first_row(lines), column),
    }


TEXT_REPAIRS: dict[str, dict[str, TextRepair]] = {
    ".trc": _repairs(lambda lines: _trc_fields(lines) + 3, 1) | {"header_rate": _with_trc_rate},
    **dict.fromkeys(STORAGE, _repairs(_after_header, 0)),
}
"""Suffix -> code of the fault -> function that repairs the lines."""


def check_writable(
    path: str | Path, kind: str, names: Sequence[str], time: Array, values: Array, decimals: int
) -> Path:
    """Return the path of a file; refuse content that the readers would not accept.

    `kind` is "marker" or "column", of n names; times are (T,) [s], values (T, n, ...) in the unit of the file, to be
    written with `decimals`, NaN for a gap.
    """
    path = file_path(path)
    check_integer(decimals, "decimals", 0, MOST_DECIMALS)
    if time.ndim != 1 or time.size < 2:
        raise file_error(
            "too_few_frames",
            path,
            f"{time.size} frame(s) have no rate to write",
            "at least two",
            "write more frames",
        )
    if values.shape[:2] != (time.size, len(names)):
        raise file_error(
            "bad_shape",
            path,
            f"{time.size} frames and {len(names)} names for values of the shape {values.shape}",
            f"as many rows as frames, and one {kind} for every name",
            "give matching names and times",
        )
    check_unique(names, kind, path, None)
    if not (np.abs(time) <= LARGEST).all() or (np.diff(time) <= 0.0).any():
        raise file_error(
            "time_not_increasing",
            path,
            "the times do not increase from frame to frame",
            "finite, increasing times",
            "sort the frames; export times that repeat with more digits, and parts whose clock restarts as files",
        )
    beyond = np.abs(values) > LARGEST
    if beyond.any():
        row, column = np.argwhere(beyond)[0, :2]
        raise file_error(
            "not_finite",
            path,
            f"'{names[column]}' has the value {values[beyond][0]:g} at {time[row]:g} s",
            f"numbers of at most {LARGEST:g}, or nan where nothing was measured",
            "correct the value before writing",
        )
    return path
