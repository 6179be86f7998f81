"""TRC files: marker trajectories as text.

Five header lines (file type, names of the header fields, their values, marker names, axis names), often a blank
line, then one row per frame: number, time, x, y, z of every marker. Real files differ in the number of tabs, in
trailing tabs and in which header fields they have; all of that is accepted. An empty cell is a gap; so is a marker
at exactly (0, 0, 0), because several programs write lost markers that way.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.errors import InputError
from musclesolve.recording.data import Markers
from musclesolve.recording.text.number_rows import RowReader, without_lost
from musclesolve.recording.text.repeated_names import blanked, first_places, repeated_names, repeated_notes
from musclesolve.recording.text.row_stack import Stack
from musclesolve.recording.text.text_file import (
    EXPORT_AGAIN,
    decimal_point,
    file_path,
    split_cells,
    write_text,
)
from musclesolve.recording.text.time_grid import checked_times
from musclesolve.recording.text.writable import check_writable
from musclesolve.recording.units import METRES, metres_in

_NAME_LINE = 4


def read_trc(path: str | Path) -> Markers:
    """Read a TRC file.

    Returns:
        Markers in metres, in the axes of the file.

    Raises:
        InputError: with the line, for anything that does not fit together.
    """
    path = file_path(path)
    with RowReader(path) as reader:
        header = _header(_first_lines(reader, path), path)
        names = _marker_names(reader.line() or "", header, path)
        axes = reader.filled_line()
        if axes is not None and "X1" not in axes.split():
            reader.put_back(axes)
        places, repeated = first_places(names), repeated_names(names, lambda _: f"line {_NAME_LINE}")
        columns = ["Frame#", "Time", *(f"{name} {axis}" for name in names for axis in "xyz")]
        time, lines, position = Stack(np.float64), Stack(np.int64), Stack(np.float64)
        for block in reader.blocks(columns, split_cells, separator="\t", blank_end=True):
            time.append(block.values[:, 1], reader.share_read)
            lines.append(block.lines, reader.share_read)
            own = block.values[:, 2:].reshape(-1, len(names), 3)[:, list(places.values())]
            blanked(own, tuple(places), repeated)
            position.append(without_lost(own * header["metres"]), reader.share_read)
    printed = time.finished()
    _check_rows(printed.size, header, path)
    times, notes = checked_times(printed, lines.finished(), path, header["DataRate"])
    _check_rate(times, header["DataRate"], path)
    notes = (*repeated_notes("marker", repeated, path), *notes)
    return Markers(times, tuple(places), position.finished(), path, notes, repeated=repeated)


def _first_lines(reader: RowReader, path: Path) -> list[str]:
    """Return the three lines before the names of the markers."""
    lines = [line for line in (reader.line() for _ in range(_NAME_LINE - 1)) if line is not None]
    if not lines[0].lstrip().startswith("PathFileType"):
        raise InputError(
            "this is not a TRC file",
            file=path,
            where="line 1",
            expected="a first line that begins with PathFileType",
            remedy="export the markers as TRC, or name the TRC file",
        )
    if len(lines) < _NAME_LINE - 1 or not any(line.strip() for line in lines[1:]):
        raise InputError(
            f"the file ends after {len([line for line in lines if line.strip()])} lines",
            file=path,
            expected="five header lines, then one row per frame",
            remedy=EXPORT_AGAIN,
        )
    return lines


def _check_rows(found: int, header: dict[str, float], path: Path) -> None:
    if found != header["NumFrames"]:
        raise InputError(
            f"{found} rows of data, but NumFrames is {header['NumFrames']:g}",
            file=path,
            where="line 3",
            expected="as many rows as the header says",
            remedy=f"the file is cut short, or the header is of another file; {EXPORT_AGAIN}",
        )


def _header(lines: list[str], path: Path) -> dict[str, float]:
    fields = dict(zip(lines[1].split(), lines[2].split(), strict=False))
    values: dict[str, float] = {}
    for name in ("DataRate", "NumFrames", "NumMarkers"):
        try:
            values[name] = float(fields[name])
        except KeyError:
            raise InputError(
                f"the header has no {name}",
                file=path,
                where="lines 2 and 3",
                expected=f"{name} among the names of line 2, and its value in line 3",
                remedy=EXPORT_AGAIN,
            ) from None
        except ValueError:
            raise InputError(
                f"{name} is '{fields[name]}'",
                file=path,
                where="line 3",
                expected="a number",
                remedy=decimal_point(fields[name]) or EXPORT_AGAIN,
            ) from None
    unit = fields.get("Units", "")
    metres = metres_in(unit)
    if metres is None:
        raise InputError(
            f"the unit of length is '{unit}'",
            file=path,
            where="line 3, Units",
            expected="mm, cm or m",
            remedy="write the unit the numbers are in",
        )
    return values | {"metres": metres}


def _marker_names(line: str, header: dict[str, float], path: Path) -> tuple[str, ...]:
    names = tuple(cell for cell in split_cells(line)[2:] if cell)
    if len(names) != header["NumMarkers"]:
        raise InputError(
            f"{len(names)} marker names, but NumMarkers is {header['NumMarkers']:g}",
            file=path,
            where=f"line {_NAME_LINE}",
            expected="as many names as the header says",
            remedy=f"correct NumMarkers in line 3 or the names, or {EXPORT_AGAIN}",
        )
    if not names:
        raise InputError(
            "the file has no markers",
            file=path,
            where=f"line {_NAME_LINE}",
            expected="at least one marker name",
            remedy=EXPORT_AGAIN,
        )
    return names


def _check_rate(time: Array, rate_hz: float, path: Path) -> None:
    if time.size < 2:
        raise InputError(
            f"{time.size} frame(s)",
            file=path,
            expected="a recording of at least two frames",
            remedy=EXPORT_AGAIN,
        )
    measured = (time.size - 1) / (time[-1] - time[0])
    if abs(measured - rate_hz) > 0.01 * rate_hz:
        raise InputError(
            f"DataRate is {rate_hz:g} Hz, but the Time column has {measured:g} rows a second",
            file=path,
            where="line 3",
            expected="one rate in both",
            remedy="find out which one is right and correct the other",
        )


def write_trc(path: str | Path, markers: Markers, *, units: str = "mm", decimals: int = 5) -> None:
    """Write markers as a TRC file, in the axes they are in; gaps become empty cells.

    Args:
        path: the file to write; it appears complete or not at all.
        markers: what to write.
        units: "mm", "cm" or "m".
        decimals: decimals of the coordinates, in that unit.

    Raises:
        InputError: what no reader would take back: a name that the format cannot hold or that stands twice, an unknown
            unit, fewer than two frames, infinite numbers; or a place where nothing can be written.
    """
    if not isinstance(units, str) or units not in METRES:
        raise InputError(
            f"the unit of length is {units!r}", expected="mm, cm or m", remedy='write units="mm"'
        )
    written = markers.position / METRES[units]
    path = check_writable(path, "marker", markers.names, markers.time, written, decimals)
    _check_names(markers.names, path)
    write_text(path, chain([_heading(markers, units, path)], _frames(markers, written, decimals)))


def _check_names(names: tuple[str, ...], path: Path) -> None:
    if not names:
        raise InputError(
            "there are no markers to write", file=path, expected="one or more", remedy="add a marker"
        )
    for name in names:
        if not name.strip() or name != name.strip() or any(letter in name for letter in "\t\n\r\0"):
            raise InputError(
                f"a TRC file cannot hold the marker name {name!r}",
                file=path,
                expected="a name without tabs, line ends and blanks around it",
                remedy="rename the marker before writing",
            )


def _heading(markers: Markers, units: str, path: Path) -> str:
    """Return the five lines of the header and the blank line below them."""
    frames, count = markers.position.shape[:2]
    rate = f"{markers.rate:.6f}"
    lines = [
        f"PathFileType\t4\t(X/Y/Z)\t{path.name}",
        "DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames",
        f"{rate}\t{rate}\t{frames}\t{count}\t{units}\t{rate}\t1\t{frames}",
        "Frame#\tTime\t" + "\t\t\t".join(markers.names) + "\t\t",
        "\t\t" + "\t".join(f"{axis}{k}" for k in range(1, count + 1) for axis in "XYZ"),
        "\n",
    ]
    return "\n".join(lines)


def _frames(markers: Markers, written: Array, decimals: int) -> Iterator[str]:
    """Yield the line of every frame, with positions (T, n, 3) in the unit of the file."""
    form = "%d\t%.8f" + f"\t%.{decimals}f" * (3 * len(markers.names)) + "\n"
    for k, (time, frame) in enumerate(zip(markers.time, written, strict=True), start=1):
        line = (form % (k, time, *frame.ravel().tolist())).replace("nan", "")
        # OpenSim does not count an empty cell that ends a line: a tab behind it makes it count.
        yield line.replace("\t\n", "\t\t\n")
