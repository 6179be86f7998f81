"""Forces of Cortex (Motion Analysis): a line ``[Force Data]``, lines ``KEY=VALUE``, and a row for each sample.

``#Sample FX1 FY1 FZ1 X1 Y1 Z1 MZ1 FX2 ...``: for every plate the force [N] on the subject, its point [mm] and the free
moment [N mm] about the vertical axis. No line states a unit.
"""

import re
from dataclasses import replace

from musclesolve.errors import file_error
from musclesolve.tables.cells import COUNTER, Columns, Coordinates, Titles, rate_in, titled_columns
from musclesolve.tables.number_rows import RowReader, check_unique

_COLUMN = re.compile(r"(?P<what>[FM]?)(?P<axis>[XYZ])(?P<plate>\d+)")
_ROLES = {"F": ("force", "N"), "": ("point", "mm"), "M": ("moment", "Nmm")}
"""Beginning of a title -> role, and unit."""


def begins(line: str) -> bool:
    """Whether a file with this first line holds forces of Cortex."""
    return line.strip().casefold() == "[force data]"


def marker_columns(reader: RowReader, line: str) -> Coordinates:
    """Refuse the file: it has no markers."""
    raise file_error(
        "missing_marker",
        reader.path,
        "a file of forces of Cortex holds no markers",
        "markers",
        "name the TRC or C3D file of the same recording, and this one as forces",
    )


def other_columns(reader: RowReader, line: str, in_si: bool) -> Columns:
    """Return force, point and free moment of every plate."""
    keys, titles = dict[str, str](), list[str]()
    while not titles and (text := reader.filled_line()) is not None:
        key, _, value = text.partition("=")
        keys[key.strip().casefold()] = value.strip()
        titles = text.split() if text.lstrip().startswith("#") else []
    rate = rate_in(keys.get("samplerate", ""), reader.path, reader.line_number)
    check_unique(titles, "column", reader.path, reader.line_number)
    named = [COUNTER] * len(titles)
    for k, title in enumerate(titles):
        if match := _COLUMN.fullmatch(title.upper()):
            role, unit = _ROLES[match["what"]]
            named[k] = f"plate_{match['plate']}_{role}_{match['axis'].lower()} [{unit}]"
    table = titled_columns(Titles(named, reader.line_number, "\t", rates=(rate,)), reader, in_si)
    note = f"{reader.path.name} states no units: it is of Cortex, which writes N, mm and N mm."
    return replace(table, notes=(*table.notes, note), by_plate=True)
