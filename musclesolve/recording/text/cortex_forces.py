"""Forces of Cortex (Motion Analysis): a line ``[Force Data]``, lines ``KEY=VALUE``, and a row for each sample.

``#Sample FX1 FY1 FZ1 X1 Y1 Z1 MZ1 FX2 ...``: for every plate the force [N] on the subject, its point [mm] and the free
moment [N mm] about the vertical axis. No line states a unit.
"""

import re

import numpy as np

from musclesolve.errors import file_error
from musclesolve.recording.text.cells import Columns, Coordinates, rate_in
from musclesolve.recording.text.number_rows import RowReader, check_unique, is_row

_COLUMN = re.compile(r"(?P<what>[FM]?)(?P<axis>[XYZ])(?P<plate>\d+)")
_ROLES = {"F": ("force", 1.0), "": ("point", 1e-3), "M": ("moment", 1e-3)}
"""Beginning of a title -> role, and factor to SI units."""


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
    first = next((cells[0] for row in reader.ahead if is_row(cells := row.split()) and cells), "1")
    check_unique(titles, "column", reader.path, reader.line_number)
    matches = [(k, match) for k, title in enumerate(titles) if (match := _COLUMN.fullmatch(title.upper()))]
    roles = [_ROLES[match["what"]] for _, match in matches]
    return Columns(
        titles=titles,
        names=tuple(f"plate_{m['plate']}_{_ROLES[m['what']][0]}_{m['axis'].lower()}" for _, m in matches),
        columns=[k for k, _ in matches],
        factors=np.array([factor if in_si else 1.0 for _, factor in roles]),
        roles=tuple(role for role, _ in roles),
        times=lambda rows: (rows[:, 0] - min(float(first), 1.0)) / rate,
        repeated={},
        separator="\t",
        notes=(f"{reader.path.name} states no units: it is of Cortex, which writes N, mm and N mm.",),
        by_plate=True,
    )
