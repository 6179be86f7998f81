"""Text files of D-Flow (Motek): one line of names, with tabs, of markers, force plates and analog channels.

``TimeStamp`` in seconds, ``NAME.PosX`` of markers, ``FP1.CopX``, ``FP1.ForX``, ``FP1.MomX`` of plates, ``NAME.Anlg`` of
channels. No unit is stated: D-Flow writes m, N and N m.
"""

import re
from dataclasses import replace

from musclesolve.errors import input_error
from musclesolve.recording.text.cells import (
    COUNTER,
    TIMES,
    Columns,
    Coordinates,
    Titles,
    cells_of,
    plain_columns,
    plain_coordinates,
    separator_of,
)
from musclesolve.recording.text.number_rows import RowReader

_MARKER = re.compile(r"(?P<name>.+)\.Pos(?P<axis>[XYZ])", re.IGNORECASE)
_PLATE = re.compile(r"FP\d+\.(?P<role>Cop|For|Mom)[XYZ]", re.IGNORECASE)
_ROLES = {"cop": "point", "for": "force", "mom": "moment"}


def begins(line: str) -> bool:
    """Whether a file with this first line is of D-Flow."""
    cells = cells_of(line, separator_of(line))
    return any(_MARKER.fullmatch(cell) or _PLATE.fullmatch(cell) for cell in cells)


def marker_columns(reader: RowReader, line: str) -> Coordinates:
    """Return the columns of the markers."""
    separator = separator_of(line)
    titles = cells_of(line, separator)

    def plain(title: str) -> str:
        """The title in a plain table; columns of other kinds are passed over as counters are."""
        if match := _MARKER.fullmatch(title):
            return f"{match['name']}.{match['axis']} [m]"
        return title if title.casefold() in TIMES else COUNTER

    note = f"{reader.path.name} states no unit of length: it is a file of D-Flow, which writes meters."
    header = plain_coordinates(
        Titles([plain(title) for title in titles], reader.line_number, separator), reader
    )
    return replace(header, titles=titles, notes=(*header.notes, note))


def other_columns(reader: RowReader, line: str, in_si: bool) -> Columns:
    """Return all columns that are no coordinates of markers."""
    every = plain_columns(reader, line, in_si)
    others = [k for k, name in enumerate(every.names) if not _MARKER.fullmatch(name)]
    if not others:
        raise input_error("recording.text.markers_alone", file=reader.path, program="D-Flow")
    names = tuple(every.names[k] for k in others)
    plates = [_PLATE.fullmatch(name) for name in names]
    return replace(
        every,
        names=names,
        columns=[every.columns[k] for k in others],
        factors=every.factors[others],
        roles=tuple(_ROLES[match["role"].casefold()] if match else "" for match in plates),
        by_plate=True,
    )
