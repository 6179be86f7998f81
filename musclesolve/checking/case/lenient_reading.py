"""Text recordings that the strict readers refuse: repaired one fault at a time, so that the rest can be examined."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from musclesolve.checking.case.case import finding_of
from musclesolve.checking.finding import Finding
from musclesolve.errors import InputError
from musclesolve.recording.data import Markers, Table
from musclesolve.recording.text.text_file import read_lines, split_cells

Recorded = TypeVar("Recorded", Markers, Table)
Lines = list[str]
TextRepair = Callable[[Lines], Lines]

# Line of the TRC header values, and the first line that can be data.
_TRC_VALUES, _TRC_DATA = 2, 4
# How far header and times may differ in rate; as the reader has it.
_RATE_TOLERANCE = 0.01


def read_leniently(
    path: Path, reader: Callable[[Path], Recorded], findings: list[Finding]
) -> Recorded | None:
    """Read a file, None where no repair helps; faults are repaired in a copy and added to the findings."""
    try:
        return reader(path)
    except InputError as refused:
        error = refused
    repairs = TEXT_REPAIRS.get(path.suffix.casefold(), ())
    try:
        lines = read_lines(path) if repairs else []
    except InputError:
        repairs = ()
    for code, repair in repairs:
        repaired = repair(lines)
        if repaired == lines:
            continue
        recorded, next_error = _read_copy(path, reader, repaired)
        if next_error is not None and next_error.problem == error.problem:
            continue
        findings.append(finding_of(code, error))
        if next_error is None:
            return recorded
        lines, error = repaired, next_error
    findings.append(finding_of("unreadable", error))
    return None


def _read_copy(
    path: Path, reader: Callable[[Path], Recorded], lines: Lines
) -> tuple[Recorded | None, InputError | None]:
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / path.name
        copy.write_text("\n".join(lines), encoding="utf-8")
        try:
            return replace(reader(copy), path=path), None
        except InputError as error:
            error.file = path
            return None, error


@dataclass(frozen=True)
class _Layout:
    """Where a format keeps its rows of data and their number."""

    first_row: Callable[[Lines], int]  # the first line that can be data
    time: int  # the column of times
    cells: Callable[[str], list[str]]  # the cells of a line
    with_count: Callable[[Lines, int], Lines]  # writes the number of rows into the header

    def rows(self, lines: Lines) -> list[int]:
        """Return which lines are rows of data: they begin with a number."""
        return [
            k
            for k in range(self.first_row(lines), len(lines))
            if lines[k].split() and _is_number(lines[k].split()[0])
        ]

    def without(self, lines: Lines, dropped: set[int]) -> Lines:
        """Return the lines without some, and with the right count in the header."""
        kept = [line for k, line in enumerate(lines) if k not in dropped]
        return self.with_count(kept, len(self.rows(kept)))

    def whole_rows(self, lines: Lines) -> Lines:
        """Drop the rows that are cut short."""
        counts = {k: len(self.cells(lines[k])) for k in self.rows(lines)}
        width = Counter(counts.values()).most_common(1)[0][0] if counts else 0
        return self.without(lines, {k for k, count in counts.items() if count < width})

    def rising(self, lines: Lines) -> Lines:
        """Drop the rows that do not lie after all rows before them."""
        latest, dropped = float("-inf"), set()
        for k in self.rows(lines):
            cells = split_cells(lines[k])
            if len(cells) > self.time and _is_number(cells[self.time]):
                time = float(cells[self.time])
                if time <= latest:
                    dropped.add(k)
                latest = max(latest, time)
        return self.without(lines, dropped)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _trc_field(lines: Lines, name: str) -> tuple[int, list[str]] | None:
    """Return where a field stands among the header values of a TRC file, and those values."""
    if len(lines) <= _TRC_DATA:
        return None
    names, values = lines[1].split(), lines[_TRC_VALUES].split()
    at = names.index(name) if name in names else len(values)
    return (at, values) if at < len(values) else None


def _with_trc_field(lines: Lines, name: str, value: str) -> Lines:
    found = _trc_field(lines, name)
    if found is None:
        return lines
    at, values = found
    written = "\t".join([*values[:at], value, *values[at + 1 :]])
    return [*lines[:_TRC_VALUES], written, *lines[_TRC_VALUES + 1 :]]


def _with_trc_count(lines: Lines, rows: int) -> Lines:
    found = _trc_field(lines, "NumFrames")
    same = found is not None and _is_number(found[1][found[0]]) and float(found[1][found[0]]) == rows
    return lines if same else _with_trc_field(lines, "NumFrames", str(rows))


def _with_trc_rate(lines: Lines) -> Lines:
    """Write the rate of the time column into the header."""
    rows = [split_cells(lines[k]) for k in _TRC.rows(lines)]
    times = [cells[1] for cells in rows if len(cells) > 1]
    found = _trc_field(lines, "DataRate")
    if found is None or len(times) < 2 or not (_is_number(times[0]) and _is_number(times[-1])):
        return lines
    span, given = float(times[-1]) - float(times[0]), found[1][found[0]]
    if span <= 0.0:
        return lines
    rate = (len(times) - 1) / span
    right = _is_number(given) and abs(float(given) - rate) <= _RATE_TOLERANCE * float(given)
    return lines if right else _with_trc_field(lines, "DataRate", repr(rate))


def _after_mot_header(lines: Lines) -> int:
    return next((k + 1 for k, line in enumerate(lines) if line.strip().casefold() == "endheader"), len(lines))


def _with_mot_count(lines: Lines, rows: int) -> Lines:
    header = _after_mot_header(lines)
    return [
        f"nRows={rows}" if k < header and line.strip().casefold().startswith(("nrows", "datarows")) else line
        for k, line in enumerate(lines)
    ]


_TRC = _Layout(lambda lines: _TRC_DATA, 1, split_cells, _with_trc_count)
_MOT = _Layout(_after_mot_header, 0, str.split, _with_mot_count)
_MOT_REPAIRS = (("truncated", _MOT.whole_rows), ("repeated_times", _MOT.rising))
# Extension -> code of the finding and what makes the lines readable.
TEXT_REPAIRS: dict[str, tuple[tuple[str, TextRepair], ...]] = {
    ".trc": (
        ("truncated", _TRC.whole_rows),
        ("repeated_times", _TRC.rising),
        ("header_rate", _with_trc_rate),
    ),
    ".mot": _MOT_REPAIRS,
    ".sto": _MOT_REPAIRS,
}
