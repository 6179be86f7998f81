"""TSV exports of Qualisys Track Manager: lines of a key and its values, then rows, with or without a line of titles.

A file holds the markers (3D), the bodies (6D), the analog channels, or one force plate. Frame and time are the first
columns where they were exported. No unit is stated: Qualisys writes mm, N and N mm. A force plate has a file of its
own, `walk_f_1.tsv`.
"""

import os
import re
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.errors import InputError, file_error, input_error
from musclesolve.tables.cells import Columns, Coordinates, rate_in
from musclesolve.tables.number_rows import RowReader, distinct_names, is_row, number_in

_KEY = re.compile(r"[A-Z][A-Z0-9_]*[A-Z0-9]")
_FIRST = ("NO_OF_FRAMES", "NO_OF_SAMPLES", "NO_OF_CAMERAS", "NO_OF_MARKERS", "FILE_VERSION")
_MILLIMETERS = 0.001
_NUMBERED = re.compile(r"(.+_f_)(\d+)(\.tsv(?:\.gz)?)", re.IGNORECASE)
_PLATE = [(role, axis) for role in ("force", "moment", "point") for axis in "xyz"]
"""Columns of the file of a plate."""


def begins(line: str) -> bool:
    """Whether a file with this first line is an export of Qualisys."""
    return line.split("\t")[0].strip() in _FIRST


class _Header:
    """The keys of the file, the titles of its columns if it has them, and where frame and time stand."""

    def __init__(self, reader: RowReader, line: str | None) -> None:
        self.keys, self.titles, self.events = dict[str, list[str]](), list[str](), list[list[str]]()
        while line is not None:
            key, *values = [cell.strip() for cell in line.split("\t")]
            if key and not _KEY.fullmatch(key):
                break
            if key == "EVENT":
                self.events.append(values)
            elif key:
                self.keys[key] = values
            line = reader.line()
        if line is not None:
            cells = [cell.strip() for cell in line.split("\t")]
            if any(cell[:1].isalpha() and cell.casefold() not in ("null", "nan") for cell in cells):
                self.titles, self.line = cells, reader.line_number
            else:
                reader.put_back(line)
        rows = [text.rstrip("\r\n").split("\t") for text in reader.ahead if text.strip()] or [[""]]
        self.path, self.first, self.width = reader.path, [cell.strip() for cell in rows[0]], len(rows[0])
        self.two = rows[0], rows[min(1, len(rows) - 1)]
        self.blank_end = not any(row[-1].strip() for row in rows)

    @property
    def rate(self) -> float:
        """The rate [Hz]."""
        return rate_in(next(iter(self.keys.get("FREQUENCY", [])), ""), self.path, 1)

    @property
    def count(self) -> str | None:
        """The number of rows."""
        return next(iter(self.keys.get("NO_OF_SAMPLES") or self.keys.get("NO_OF_FRAMES") or []), None)

    def before(self, values: int) -> int:
        """The number of columns before the numbers: frame, time, both, or none."""
        extra = self.width - values
        # Rows end in an empty cell: of their last marker, which is not seen, or behind it.
        if self.blank_end and extra in (1, 2, 3) and not self._has_clock(extra):
            extra -= 1
            self.width -= 1
        if extra not in (0, 1, 2):
            raise file_error(
                "bad_format",
                self.path,
                f"{self.width} columns of numbers for {values} names of columns",
                "a column for each, and before them frame and time, or neither",
                "export the file again, with a line of titles",
            )
        return extra

    def _has_clock(self, count: int) -> bool:
        """Whether the first rows begin with as many columns of a clock: its frames or times, or both."""
        step = 1.0 / self.rate
        first, second = ([number_in(cell) for cell in row[:count]] for row in self.two)
        steps = [1.0, step]
        if count == 1:
            steps = [1.0 if self.first[0].isdecimal() else step]
        return count < 3 and bool(
            all(abs(b - a - by) < 0.1 * by for a, b, by in zip(first, second, steps, strict=True))
        )

    def times(self, before: int) -> Callable[[Array], Array]:
        """The function from rows to times [s]: the column of times, or the frames, or the number of the row."""
        rate, rows_before = self.rate, count()
        has_time = before == 2 or (before == 1 and not self.first[0].strip().isdecimal())
        if self.titles and before == 1:
            has_time = self.titles[0].casefold().startswith("time")
        if has_time:
            return lambda rows: rows[:, before - 1]
        if before == 1:
            return lambda rows: (rows[:, 0] - 1.0) / rate
        return lambda rows: np.array([next(rows_before) for _ in rows]) / rate

    def all_titles(self, before: int, named: Sequence[str]) -> list[str]:
        """A title for every column, for messages."""
        return ["Frame", "Time"][2 - before :] + list(named)


def _other_content(keys: dict[str, list[str]], path: Path) -> InputError:
    """The error of an export without markers."""
    content = "a force plate" if "FORCE_PLATE_NAME" in keys else "analog channels"
    if "BODY_NAMES" in keys or "NO_OF_BODIES" in keys:
        content = "positions and rotations of bodies (6D)"
    elif "2D" in keys.get("DATA_INCLUDED", []):
        content = "what single cameras saw (2D)"
    return file_error(
        "missing_marker",
        path,
        f"this export of Qualisys holds {content}",
        "the markers (3D)",
        "name the file of the 3D data, or export it as well",
    )


def marker_columns(reader: RowReader, line: str) -> Coordinates:
    """Return the columns of the markers."""
    header, path = _Header(reader, line), reader.path
    if "MARKER_NAMES" not in header.keys:
        raise _other_content(header.keys, path)
    names = header.keys["MARKER_NAMES"]
    while names and not names[-1]:
        names.pop()
    # By the titles of their columns; by their order where the titles are others.
    places = {title.casefold(): k for k, title in enumerate(header.titles)}
    starts = [places[title] for name in names if (title := f"{name} x".casefold()) in places]
    before = min(starts, default=0)
    if not starts or len(starts) < len(names):
        before = header.before(3 * len(names))
        starts = [before + 3 * k for k in range(len(names))]
    named = [(start, name) for start, name in zip(starts, names, strict=True) if name]
    columns, repeated = distinct_names(named, "MARKER_NAMES, columns")
    if not columns:
        raise input_error("tables.file_no_markers", file=path, where="MARKER_NAMES")
    triples = np.array([[first, first + 1, first + 2] for first in columns.values()])
    titles = header.all_titles(before, [f"{name} {axis}" for name in names for axis in "XYZ"])
    if header.titles:
        titles = [*header.titles, *[""] * header.width][: max(header.width - header.blank_end, len(titles))]
    note = f"{path.name} states no unit of length: it is an export of Qualisys, which writes mm."
    return Coordinates(
        titles=titles,
        markers=tuple(columns),
        columns=triples,
        meters=np.full(triples.shape, _MILLIMETERS),
        times=header.times(before),
        repeated=repeated,
        separator="\t",
        count=header.count,
        notes=(note,),
    )


def events(reader: RowReader, line: str) -> list[tuple[str, str, float]]:
    """Return the events among the keys: EVENT, label, frame, time [s]; the label has the side."""
    rows = [values for values in _Header(reader, line).events if len(values) > 2]
    return [(label, "", number_in(time)) for label, _, time, *_ in rows if is_row([time])]


def plate_files(path: Path) -> list[Path]:
    """The files of all plates of the recording that a file of one plate belongs to; the path alone for others."""
    number = _NUMBERED.fullmatch(path.name)
    if number is None:
        return [path]
    beside = [_NUMBERED.fullmatch(name) for name in os.listdir(path.parent)]
    alike = [match for match in beside if match and (match[1], match[3]) == (number[1], number[3])]
    return [path.with_name(match[0]) for match in sorted(alike, key=lambda match: int(match[2]))]


def other_columns(reader: RowReader, line: str, in_si: bool) -> Columns:
    """Return the columns of a force plate, or of analog channels."""
    header, path = _Header(reader, line), reader.path
    names = next((values for key, values in header.keys.items() if key.endswith("CHANNEL_NAMES")), [])
    names = [name for name in names if name]
    if "FORCE_PLATE_NAME" in header.keys:
        if any("local" in text.casefold() for text in header.keys.get("DESCRIPTION", [])):
            raise file_error(
                "bad_plate",
                (path, "DESCRIPTION"),
                "the forces are in the axes of the plate",
                "forces in the axes of the markers",
                "export them again in world (lab) coordinates, an option of the export of Qualisys",
            )
        number = _NUMBERED.fullmatch(path.name)
        plate = f"plate_{number[2]}" if number else "plate"
        names = [f"{plate}_{role}_{axis}" for role, axis in _PLATE]
        roles = tuple(role for role, _ in _PLATE)
        factors = np.array([1.0 if role == "force" else _MILLIMETERS for role in roles])
    elif names:
        roles, factors = ("",) * len(names), np.ones(len(names))
    else:
        raise input_error("tables.markers_alone", file=path, program="Qualisys")
    before = header.before(len(names))
    columns, repeated = distinct_names([(before + k, name) for k, name in enumerate(names)], "columns")
    chosen = [column - before for column in columns.values()]
    return Columns(
        titles=header.all_titles(before, names),
        names=tuple(columns),
        columns=list(columns.values()),
        factors=factors[chosen] if in_si else np.ones(len(chosen)),
        roles=tuple(roles[k] for k in chosen),
        times=header.times(before),
        repeated=repeated,
        separator="\t",
        count=header.count,
        by_plate=True,
    )
