"""TRC files: marker trajectories as text.

Five header lines (file type, names of the header fields, their values, marker names, axis names), often a blank line,
then one row per frame: number, time, x, y, z of every marker. Missing header fields and trailing tabs are accepted.
An empty cell is a gap; so is a marker at exactly (0, 0, 0), which several programs write for a lost marker. Trimmed
files hold other numbers of rows than their header says: what is there is read, with a warning.
"""

from __future__ import annotations

from itertools import chain
from pathlib import Path

from musclesolve._util.checks import check_choice
from musclesolve.recording.data import Markers
from musclesolve.recording.place_errors import EXPORT_AGAIN, error_at
from musclesolve.recording.text.number_rows import RowReader, timed_rows, without_lost
from musclesolve.recording.text.repeated_names import distinct_names
from musclesolve.recording.text.text_file import (
    check_writable,
    decimal_point,
    file_path,
    split_cells,
    write_text,
)
from musclesolve.recording.units import METRES, metres_in

_NAME_LINE = 4
RATE_TOLERANCE = 0.01
"""Share of the rate by which header and times may differ."""


def read_trc(path: str | Path) -> Markers:
    """Read the marker trajectories [m] of a TRC file, in the axes of the file.

    Raises:
        InputError: with the line, for anything that does not fit together.
    """
    path = file_path(path)
    with RowReader(path) as reader:
        header = _header(reader, path)
        names = tuple(cell for cell in split_cells(reader.line() or "")[2:] if cell)
        if len(names) != header["NumMarkers"]:
            problem = f"{len(names)} marker names, but NumMarkers is {header['NumMarkers']:g}"
            remedy = f"correct NumMarkers in line 3 or the names, or {EXPORT_AGAIN}"
            raise error_at(path, _NAME_LINE, problem, "as many names as the header says", remedy)
        if not names:
            problem, expected = "the file has no markers", "at least one"
            raise error_at(path, _NAME_LINE, problem, expected, code="missing_marker")
        axes = reader.filled_line()
        if axes is not None and "X1" not in axes.split():
            reader.put_back(axes)
        columns, repeated = distinct_names(
            [(2 + 3 * k, name) for k, name in enumerate(names)], f"line {_NAME_LINE}, columns"
        )
        triples = [[column, column + 1, column + 2] for column in columns.values()]
        titles = ["Frame#", "Time", *(f"{name} {axis}" for name in names for axis in "xyz")]
        rate = header["DataRate"]
        time, position, _, notes, warning = timed_rows(
            reader,
            reader.blocks(titles, split_cells, separator="\t", blank_end=True),
            lambda rows: (rows[:, 1], without_lost(rows[:, triples] * header["metres"])),
            "marker",
            tuple(columns),
            repeated,
            f"{header['NumFrames']:.15g}",
            rate,
        )
    markers = Markers(time, tuple(columns), position, path, notes, (), repeated, warning)
    if abs(markers.rate - rate) > RATE_TOLERANCE * rate:
        problem = f"DataRate is {rate:g} Hz, but the Time column has {markers.rate:g} rows a second"
        remedy = "find out which one is right and correct the other"
        raise error_at(path, 3, problem, "one rate in both", remedy, code="bad_units")
    return markers


def _header(reader: RowReader, path: Path) -> dict[str, float]:
    """Read the three lines before the names of the markers: their numbers, and the size of the unit of length [m]."""
    lines = [line for line in (reader.line() for _ in range(_NAME_LINE - 1)) if line is not None]
    if not lines[0].lstrip().startswith("PathFileType"):
        expected = "a first line that begins with PathFileType"
        remedy = "export the markers as TRC, or name the TRC file"
        raise error_at(path, 1, "this is not a TRC file", expected, remedy)
    filled = len([line for line in lines if line.strip()])
    if len(lines) < _NAME_LINE - 1 or not any(line.strip() for line in lines[1:]):
        problem = f"the file ends after {filled} lines"
        raise error_at(path, None, problem, "five header lines and rows", code="truncated_file")
    fields = dict(zip(lines[1].split(), lines[2].split(), strict=False))
    values: dict[str, float] = {}
    for name in ("DataRate", "NumFrames", "NumMarkers"):
        if name not in fields:
            expected = f"{name} in line 2, its value in line 3"
            raise error_at(path, "lines 2 and 3", f"the header has no {name}", expected)
        try:
            values[name] = float(fields[name])
        except ValueError:
            remedy = decimal_point(fields[name]) or EXPORT_AGAIN
            raise error_at(path, 3, f"{name} is '{fields[name]}'", "a number", remedy) from None
    unit = fields.get("Units", "")
    metres = metres_in(unit)
    if metres is None:
        problem = f"the unit of length is '{unit}'"
        raise error_at(path, "line 3, Units", problem, "mm, cm or m", code="unknown_unit")
    return values | {"metres": metres}


def write_trc(path: str | Path, markers: Markers, *, units: str = "mm", decimals: int = 5) -> None:
    """Write markers as a TRC file, in the axes they are in; gaps become empty cells.

    Args:
        path: the file to write; it appears complete or not at all.
        markers: what to write.
        units: "mm", "cm" or "m".
        decimals: decimals of the coordinates, in that unit.

    Raises:
        InputError: what no reader would accept: a name that the format cannot hold or that stands twice, an unknown
            unit, fewer than two frames, infinite numbers; or a place where nothing can be written.
    """
    check_choice(units, "units", METRES)
    written = markers.position / METRES[units]
    path = check_writable(path, "marker", markers.names, markers.time, written, decimals)
    if not markers.names:
        problem = "there are no markers to write"
        raise error_at(path, None, problem, "one or more", "add a marker", code="missing_marker")
    for name in markers.names:
        if not name.strip() or name != name.strip() or any(letter in name for letter in "\t\n\r\0"):
            problem = f"a TRC file cannot hold the marker name {name!r}"
            expected = "a name without tabs, line ends and outer blanks"
            remedy = "rename the marker before writing"
            raise error_at(path, None, problem, expected, remedy, code="bad_value")
    frames, count, rate = markers.time.size, len(markers.names), f"{markers.rate:.6f}"
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
        for k, (time, frame) in enumerate(zip(markers.time, written, strict=True), start=1)
    )
    write_text(path, chain(["\n".join(header)], rows))
