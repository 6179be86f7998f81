"""CSV exports of Motive (OptiTrack): markers, beside rigid bodies and skeletons.

The first line has the settings of the export in pairs. The header below it has a line each of types, names, other facts
and kinds of numbers, each with the name of the line in its second cell or without one, and ends with ``Frame, Time
(Seconds), X, Y, Z, ...``. Without the first line the size of the body shows the unit of length.
"""

import numpy as np

from musclesolve.errors import file_error, input_error
from musclesolve.tables.cells import Columns, Coordinates, Titles, cells_of, clock_of, separator_of
from musclesolve.tables.number_rows import RowReader, distinct_names
from musclesolve.tables.units import meters_in

_LONGEST_HEADER = 20
_UNLABELED = "unlabeled"
_SETTINGS, _SEEN = "format version", "marker"
_KINDS = {"type", _SEEN, "rigid body", "rigid body marker", "bone", "bone marker", "skeleton marker", ""}


def begins(line: str) -> bool:
    """Whether a file with this first line is an export of Motive."""
    cells = [cell.casefold() for cell in cells_of(line, separator_of(line))]
    return cells[:1] == [_SETTINGS] or (
        cells[:2] in (["", ""], ["", "type"]) and _SEEN in cells and _KINDS >= {*cells}
    )


def marker_columns(reader: RowReader, line: str) -> Coordinates:
    """Return the columns of the markers.

    Where a marker was both seen and expected by the rigid body or skeleton it belongs to, the seen one counts.
    """
    separator, path = separator_of(line), reader.path
    stated = cells_of(line, separator)
    settings = dict(zip([cell.casefold() for cell in stated[::2]], stated[1::2], strict=False))
    if stated[0].casefold() != _SETTINGS:  # the line was removed, and with it the unit
        reader.put_back(line)
    unit = settings.get("length units")
    meters = 1.0 if unit is None else meters_in(unit)
    if meters is None:
        raise input_error("tables.unit_length", file=path, where="line 1, Length Units", unit=unit)
    rows, below = dict[str, list[str]](), list[list[str]]()
    while not below or below[-1][0].casefold() != "frame":
        text = reader.line()
        if text is None or reader.line_number > _LONGEST_HEADER:
            raise input_error("tables.no_column_time", file=path, where=reader.line_number)
        if any(cells := cells_of(text, separator)):
            below.append(cells)
            rows.setdefault(cells[1].casefold() if len(cells) > 1 else "", cells)
    axes, above = below[-1], below[-2] if len(below) > 1 else []
    lines = (rows.get("type", []), rows.get("name", []), above)
    types, names, kinds = ([*cells, *[""] * len(axes)] for cells in lines)
    _, times, notes = clock_of(Titles(axes, reader.line_number, separator), reader)
    seen, expected = list[tuple[int, str]](), list[tuple[int, str]]()
    for k in range(2, len(axes) - 2):
        kind = types[k].casefold()
        is_point = [axis.casefold() for axis in axes[k : k + 3]] == ["x", "y", "z"]
        if "marker" in kind and is_point and kinds[k].casefold() == "position":
            name = names[k]
            if name and not name.rpartition(":")[2].strip().casefold().startswith(_UNLABELED):
                (seen if kind == "marker" else expected).append((k, name))
    known = {name for _, name in seen}
    placed = [(k, name) for k, name in expected if name not in known]
    columns, repeated = distinct_names([*seen, *placed], f"line {reader.line_number}, columns")
    if not columns:
        raise file_error(
            "missing_marker",
            (path, reader.line_number),
            "the export holds no positions of markers",
            "columns of the type Marker",
            "export the take again, with Markers, or Rigid Body Markers, among its options",
        )
    note = (
        f"{len(placed)} markers of {path.name} are where Motive expects them on its rigid bodies or skeletons; they "
        "were not exported as seen."
    )
    triples = np.array([[first, first + 1, first + 2] for first in columns.values()])
    return Coordinates(
        titles=[f"{names[k]} {axis}".strip() for k, axis in enumerate(axes)],
        markers=tuple(columns),
        columns=triples,
        meters=np.full(triples.shape, meters),
        times=times,
        repeated=repeated,
        separator=separator,
        notes=(*notes, note) if placed else notes,
        unit_stated=unit is not None,
    )


def other_columns(reader: RowReader, line: str, in_si: bool) -> Columns:
    """Refuse the export: it has no forces and no signals."""
    raise input_error("tables.markers_alone", file=reader.path, program="Motive")
