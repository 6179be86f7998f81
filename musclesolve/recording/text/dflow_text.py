"""Text files of D-Flow (Motek): one line of names, with tabs, of markers, force plates and analog channels.

``TimeStamp`` in seconds, ``NAME.PosX`` of markers, ``FP1.CopX``, ``FP1.ForX``, ``FP1.MomX`` of plates, ``NAME.Anlg`` of
channels. No unit is stated: D-Flow writes m, N and N m.
"""

import re

import numpy as np

from musclesolve.errors import input_error
from musclesolve.recording.text.cells import (
    Columns,
    Coordinates,
    cells_of,
    clock_and_signals,
    find_time,
    separator_of,
)
from musclesolve.recording.text.number_rows import RowReader, distinct_names

_MARKER = re.compile(r"(?P<name>.+)\.Pos(?P<axis>[XYZ])", re.IGNORECASE)
_PLATE = re.compile(r"FP\d+\.(?P<role>Cop|For|Mom)[XYZ]", re.IGNORECASE)
_ROLES = {"cop": "point", "for": "force", "mom": "moment"}


def begins(line: str) -> bool:
    """Whether a file with this first line is of D-Flow."""
    cells = cells_of(line, separator_of(line))
    return any(_MARKER.fullmatch(cell) or _PLATE.fullmatch(cell) for cell in cells)


def marker_columns(reader: RowReader, line: str) -> Coordinates:
    """Return the columns of the markers."""
    path, separator = reader.path, separator_of(line)
    titles = cells_of(line, separator)
    clock, seconds = find_time(titles, path, 1)
    matches = [(k, match) for k, title in enumerate(titles) if (match := _MARKER.fullmatch(title))]
    columns, _ = distinct_names((k, f"{match['name']}.{match['axis'].lower()}") for k, match in matches)
    names, repeated = distinct_names(
        [(k, match["name"]) for k, match in matches if match["axis"].lower() == "x"], "line 1, columns"
    )
    if not names:
        raise input_error("recording.text.file_no_markers", file=path, where=1)
    for name in dict.fromkeys(match["name"] for _, match in matches):
        for axis in "xyz":
            if f"{name}.{axis}" not in columns:
                raise input_error(
                    "recording.text.marker_missing_column", file=path, where=1, marker=name, missing=axis
                )
    triples = np.array([[columns[f"{name}.{axis}"] for axis in "xyz"] for name in names])
    note = f"{path.name} states no unit of length: it is a file of D-Flow, which writes meters."
    return Coordinates(
        titles,
        tuple(names),
        triples,
        np.ones(triples.shape),
        lambda rows: rows[:, clock] * seconds,
        repeated,
        separator,
        (note,),
    )


def other_columns(reader: RowReader, line: str, in_si: bool) -> Columns:
    """Return all columns that are no coordinates of markers."""
    path, separator = reader.path, separator_of(line)
    titles = cells_of(line, separator)
    times, signals = clock_and_signals(titles, path)
    others = [(k, title) for k, title in signals if not _MARKER.fullmatch(title)]
    if not others:
        raise input_error("recording.text.markers_alone", file=path, program="D-Flow")
    columns, repeated = distinct_names(others, "line 1, columns")
    plates = [_PLATE.fullmatch(name) for name in columns]
    return Columns(
        titles,
        tuple(columns),
        list(columns.values()),
        np.ones(len(columns)),
        tuple(_ROLES[match["role"].casefold()] if match else "" for match in plates),
        times,
        repeated,
        separator,
        by_plate=True,
    )
