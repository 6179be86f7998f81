"""Text files of D-Flow (Motek): one line of names, with tabs, of markers, force plates and analog channels.

``TimeStamp`` in seconds, ``NAME.PosX`` of markers, ``FP1.CopX``, ``FP1.ForX``, ``FP1.MomX`` of plates, ``NAME.Anlg`` of
channels. No unit is stated: D-Flow writes m, N and N m.
"""

import re
from dataclasses import replace

from musclesolve.errors import input_error
from musclesolve.tables.cells import (
    COUNTER,
    Columns,
    Coordinates,
    Titles,
    cells_of,
    plain_coordinates,
    separator_of,
    titled_columns,
)
from musclesolve.tables.number_rows import TIMES, RowReader

_MARKER = re.compile(r"(?P<name>.+)\.Pos(?P<axis>[XYZ])", re.IGNORECASE)
_PLATE = re.compile(r"FP\d+\.(?P<role>Cop|For|Mom)[XYZ]", re.IGNORECASE)
_UNITS = {"cop": "m", "for": "N", "mom": "Nm"}


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
    separator = separator_of(line)

    def titled(title: str) -> str:
        """The title with its unit; coordinates of markers are passed over as counters are."""
        plate = _PLATE.fullmatch(title)
        named = f"{title} [{_UNITS[plate['role'].casefold()]}]" if plate else title
        return COUNTER if _MARKER.fullmatch(title) else named

    titles = list(map(titled, cells_of(line, separator)))
    table = titled_columns(Titles(titles, reader.line_number, separator), reader, in_si)
    if not table.names:
        raise input_error("tables.markers_alone", file=reader.path, program="D-Flow")
    return replace(table, by_plate=True)
