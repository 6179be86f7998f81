"""CSV exports of Vicon Nexus: sections one below the other, in any order.

A section has a title, a line with its rate, a line of names, each over its first column, a line ``Frame, Sub Frame,
X, Y, Z, ...``, a line of units, and rows up to an empty line. Markers are in ``Trajectories``; force plates and other
analog channels are in ``Devices``, whose forces push on the plates.
"""

import re
from dataclasses import replace

import numpy as np

from musclesolve.errors import file_error
from musclesolve.tables.cells import (
    COUNTER,
    FEWEST_MARKERS,
    LENGTH_UNITS,
    Columns,
    Coordinates,
    Titles,
    cells_of,
    factor,
    named_and_unit,
    no_unit,
    rate_in,
    role_and_size,
    separator_of,
    titled_columns,
)
from musclesolve.tables.number_rows import RowReader, distinct_names, is_row, number_in
from musclesolve.tables.units import meters_in

_TITLES = (
    "trajectories",
    "devices",
    "joints",
    "model outputs",
    "segments",
    "events",
    "gait cycle parameters",
)


def begins(line: str) -> bool:
    """Whether a file with this first line is an export of Nexus."""
    return _title(line) in _TITLES


def _title(line: str) -> str:
    return line.strip(' \t;,"').casefold()


class _Section:
    """The header of a section: its rate [Hz], separator, the line of the axes, and the cells of its three lines."""

    def __init__(self, reader: RowReader, line: str | None, title: str) -> None:
        """Go on to a section; `line` is the first one of the file."""
        first = _title(line or "")
        while line is not None and _title(line) != title:
            line = reader.line()
        if line is None:
            section = title.capitalize()
            raise file_error(
                "bad_format",
                reader.path,
                f"the export has no section {section}; it begins with {first}",
                f"a section {section}",
                f"export the trial again, with its {section}",
            )
        rate_line, names, axes, units = (reader.line() or "" for _ in range(4))
        self.separator, self.line = separator_of(axes), reader.line_number - 1
        if is_row(cells_of(units, self.separator)):  # Workstation, the program before Nexus, states no units
            reader.put_back(units)
            units = ""
        self.rate = rate_in(
            cells_of(rate_line, self.separator)[0] if rate_line else "", reader.path, self.line - 2
        )
        self.names, self.axes, self.units = (cells_of(row, self.separator) for row in (names, axes, units))
        self.titles, over = list[str](), ""
        self.over = list[str]()
        for k, axis in enumerate(self.axes):
            over = self.names[k] if k < len(self.names) and self.names[k] else over
            self.over.append(over)
            self.titles.append(f"{over} {axis}".strip())


def marker_columns(reader: RowReader, line: str) -> Coordinates:
    """Return the columns of the section Trajectories; velocities and accelerations beside them are left out."""
    section, path = _Section(reader, line, "trajectories"), reader.path
    axes = [axis.casefold() for axis in section.axes]
    named = [k for k, name in enumerate(section.names) if name and axes[k : k + 3] == ["x", "y", "z"]]
    of_markers = {j for k in named for j in range(k, k + 3)}
    for k, axis in enumerate(section.axes[2:], start=2):
        if axis and k not in of_markers and not axis.endswith("'"):
            raise file_error(
                "bad_format",
                (path, section.line),
                f"the column '{axis}' is no X, Y or Z under the name of a marker",
                "X, Y, Z under every marker and nothing else",
                "export the trajectories alone, without velocities and accelerations",
            )
    firsts, repeated = distinct_names(
        [(k, section.names[k]) for k in named], f"line {section.line - 1}, columns"
    )
    triples, units = [[first, first + 1, first + 2] for first in firsts.values()], section.units
    stated = all(k < len(units) and units[k] for k in of_markers)
    if not triples or not (stated or (len(triples) >= FEWEST_MARKERS and not any(units))):
        raise no_unit(next(iter(firsts), "NAME"), path, section.line + 1)
    meters = [
        [factor(units[k], meters_in, LENGTH_UNITS, units[k], path, section.line + 1) for k in triple]
        for triple in triples
        if stated
    ]
    # The first column counts frames from one.
    return Coordinates(
        titles=section.titles,
        markers=tuple(firsts),
        columns=np.array(triples),
        meters=np.array(meters or np.ones((len(triples), 3))),
        unit_stated=stated,
        times=lambda rows: (rows[:, 0] - 1.0) / section.rate,
        repeated=repeated,
        separator=section.separator,
        section=True,
    )


def events(reader: RowReader, line: str) -> list[tuple[str, str, float]]:
    """Return the rows of the section Events: name, context, time [s], by the titles of its columns."""
    text: str | None = line
    while text is not None and _title(text) != "events":
        text = reader.line()
    titles_line = [reader.line() or "", reader.line() or ""][1]
    separator, rows = separator_of(titles_line), list[tuple[str, str, float]]()
    titles = [named_and_unit(cell)[0].casefold() for cell in cells_of(titles_line, separator)]
    while {"context", "name", "time"} <= set(titles) and (text := reader.line()):
        row = dict(zip(titles, cells_of(text, separator), strict=False))
        if np.isnan(time := number_in(row.get("time", ""))):
            break
        rows.append((row["name"], row["context"], time))
    return rows


def other_columns(reader: RowReader, line: str, in_si: bool) -> Columns:
    """Return the columns of the section Devices: of plates by the names of their devices, others by their own."""
    section = _Section(reader, line, "devices")
    units = [section.units[k] if k < len(section.units) else "" for k in range(len(section.axes))]
    roles = [role_and_size(unit)[0] for unit in units]
    of_device = [k for k in range(2, len(section.axes)) if section.axes[k]]
    alone = [section.axes[k] for k in of_device]
    named = [
        (k, "_".join(re.findall(r"[^\W_]+", f"{section.over[k]} {axis}")))
        if roles[k] or alone.count(axis) > 1
        else (k, axis)
        for k, axis in zip(of_device, alone, strict=True)
    ]
    titles = [COUNTER] * len(section.axes)
    for k, name in named:
        titles[k] = f"{name} [{units[k] if roles[k] else ''}]"
    stated = Titles(titles, section.line, section.separator, rates=(section.rate,))
    samples = _samples(reader, section.separator)
    return replace(
        titled_columns(stated, reader, in_si),
        titles=section.titles,
        times=lambda rows: ((rows[:, 0] - 1.0) * samples + rows[:, 1]) / section.rate,
        notes=(),
        section=True,
        by_plate=True,
    )


def _samples(reader: RowReader, separator: str) -> int:
    """The number of samples of a frame, by the second column of the first rows."""
    most = 0
    for line in reader.ahead:
        cells = line.split(separator, 2)
        if len(cells) < 3 or not cells[1].strip().isdecimal():
            break
        most = max(most, int(cells[1]))
    return most + 1
