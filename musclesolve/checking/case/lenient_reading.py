"""Text recordings that the strict readers refuse: mended one fault at a time, so that the rest can be examined."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from musclesolve.checking.case.case import finding_of
from musclesolve.checking.finding import Finding
from musclesolve.errors import InputError
from musclesolve.recording.data import Markers, Table
from musclesolve.recording.text.text_file import read_lines, split_cells

Recorded = TypeVar("Recorded", Markers, Table)
Lines = list[str]
Mend = Callable[[Lines], Lines]

# Line of the TRC header values, and the first line that can be data.
_TRC_VALUES, _TRC_DATA = 2, 4
# How far header and times may differ in rate; as the reader has it.
_RATE_TOLERANCE = 0.01


def read_leniently(
    path: Path, reader: Callable[[Path], Recorded], mends: Sequence[tuple[str, Mend]]
) -> tuple[Recorded | None, list[Finding]]:
    """Read a file; what is wrong with it is mended in a copy, as far as it is known how, and told.

    Args:
        path: the file.
        reader: the strict reader.
        mends: code of the finding and what makes the lines readable.

    Returns:
        What was read, None where nothing helps, and the findings.
    """
    try:
        return reader(path), []
    except InputError as refused:
        error = refused
    findings: list[Finding] = []
    try:
        lines = read_lines(path) if mends else []
    except InputError:
        return None, [finding_of("unreadable", error)]
    for code, mend in mends:
        mended = mend(lines)
        if mended == lines:
            continue
        recorded, next_error = _attempt(path, reader, mended)
        if next_error is not None and next_error.problem == error.problem:
            continue
        findings.append(finding_of(code, error))
        if next_error is None:
            return recorded, findings
        lines, error = mended, next_error
    return None, [*findings, finding_of("unreadable", error)]


def _attempt(
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


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _rows(lines: Lines, first: int) -> list[int]:
    """Return which lines are rows of data: they begin with a number."""
    return [k for k in range(first, len(lines)) if lines[k].split() and _is_number(lines[k].split()[0])]


def _width(lines: Lines, rows: list[int]) -> int:
    counts = [len(split_cells(lines[k])) for k in rows]
    return max(set(counts), key=counts.count) if counts else 0


def _without(lines: Lines, dropped: set[int]) -> Lines:
    return [line for k, line in enumerate(lines) if k not in dropped]


def _field(lines: Lines, name: str) -> tuple[int, list[str]] | None:
    """Return where a field stands among the header values of a TRC file, and those values."""
    if len(lines) <= _TRC_DATA:
        return None
    names, values = lines[1].split(), lines[_TRC_VALUES].split()
    at = names.index(name) if name in names else len(values)
    return (at, values) if at < len(values) else None


def _with_field(lines: Lines, name: str, value: str) -> Lines:
    found = _field(lines, name)
    if found is None:
        return lines
    at, values = found
    return [
        *lines[:_TRC_VALUES],
        "\t".join([*values[:at], value, *values[at + 1 :]]),
        *lines[_TRC_VALUES + 1 :],
    ]


def _counted(lines: Lines) -> Lines:
    found = _field(lines, "NumFrames")
    rows = len(_rows(lines, _TRC_DATA))
    same = found is not None and _is_number(found[1][found[0]]) and float(found[1][found[0]]) == rows
    return lines if same else _with_field(lines, "NumFrames", str(rows))


def _trc_whole_rows(lines: Lines) -> Lines:
    """Drop the rows that are cut short."""
    rows = _rows(lines, _TRC_DATA)
    width = _width(lines, rows)
    return _counted(_without(lines, {k for k in rows if len(split_cells(lines[k])) < width}))


def _trc_rising(lines: Lines) -> Lines:
    """Drop the rows that do not lie after all rows before them."""
    return _counted(_without(lines, _not_rising(lines, _rows(lines, _TRC_DATA), 1)))


def _not_rising(lines: Lines, rows: list[int], column: int) -> set[int]:
    latest, dropped = float("-inf"), set()
    for k in rows:
        cells = split_cells(lines[k])
        if len(cells) > column and _is_number(cells[column]):
            time = float(cells[column])
            if time <= latest:
                dropped.add(k)
            latest = max(latest, time)
    return dropped


def _trc_rate(lines: Lines) -> Lines:
    """Write the rate of the time column into the header."""
    times = [split_cells(lines[k])[1] for k in _rows(lines, _TRC_DATA) if len(split_cells(lines[k])) > 1]
    found = _field(lines, "DataRate")
    if found is None or len(times) < 2 or not (_is_number(times[0]) and _is_number(times[-1])):
        return lines
    span = float(times[-1]) - float(times[0])
    given = found[1][found[0]]
    if span <= 0.0:
        return lines
    rate = (len(times) - 1) / span
    right = _is_number(given) and abs(float(given) - rate) <= _RATE_TOLERANCE * float(given)
    return lines if right else _with_field(lines, "DataRate", repr(rate))


def _mot_start(lines: Lines) -> int:
    return next((k + 1 for k, line in enumerate(lines) if line.strip().casefold() == "endheader"), len(lines))


def _mot_counted(lines: Lines) -> Lines:
    count = len(_rows(lines, _mot_start(lines)))
    names = ("nrows", "datarows")
    return [
        f"nRows={count}" if k < _mot_start(lines) and line.strip().casefold().startswith(names) else line
        for k, line in enumerate(lines)
    ]


def _mot_whole_rows(lines: Lines) -> Lines:
    rows = _rows(lines, _mot_start(lines))
    width = _width([" ".join(line.split()) for line in lines], rows)
    return _mot_counted(_without(lines, {k for k in rows if len(lines[k].split()) < width}))


def _mot_rising(lines: Lines) -> Lines:
    return _mot_counted(_without(lines, _not_rising(lines, _rows(lines, _mot_start(lines)), 0)))


_TRC: tuple[tuple[str, Mend], ...] = (
    ("truncated", _trc_whole_rows),
    ("repeated_times", _trc_rising),
    ("header_rate", _trc_rate),
)
_MOT: tuple[tuple[str, Mend], ...] = (("truncated", _mot_whole_rows), ("repeated_times", _mot_rising))
MARKER_MENDS = {".trc": _TRC}
FORCE_MENDS = {".mot": _MOT, ".sto": _MOT}
