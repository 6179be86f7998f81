"""Forces of Cortex (Motion Analysis): a line ``[Force Data]``, lines ``KEY=VALUE``, and a row for each sample.

``#Sample FX1 FY1 FZ1 X1 Y1 Z1 MZ1 FX2 ...``: for every plate the force [N] on the subject, its point [mm] and the free
moment [N mm] about the vertical axis. No line states a unit.
"""

import numpy as np

from musclesolve.errors import input_error
from musclesolve.recording.text.cells import Columns, Coordinates, rate_in
from musclesolve.recording.text.number_rows import RowReader, is_row
from musclesolve.recording.text.text_file import EXPORT_AGAIN

_VECTORS = (("FX", "FY", "FZ"), ("X", "Y", "Z"), ("MZ", "MZ", "MZ"))
"""Titles of the columns that force, point and moment are made of, without the number of the plate."""
_FACTORS = (1.0, 1.0, 1.0, 1e-3, 1e-3, 1e-3, 0.0, 0.0, 1e-3)
_ROLES = ("force", "point", "moment")


def begins(line: str) -> bool:
    """Whether a file with this first line holds forces of Cortex."""
    return line.strip().casefold() == "[force data]"


def marker_columns(reader: RowReader, line: str) -> Coordinates:
    """Refuse the file: it has no markers."""
    raise input_error(
        "missing_marker",
        file=reader.path,
        problem="a file of forces of Cortex holds no markers",
        expected="markers",
        remedy="name the TRC or C3D file of the same recording, and this one as forces",
    )


def other_columns(reader: RowReader, line: str, in_si: bool) -> Columns:
    """Return force, point and free moment of every plate."""
    keys, titles = dict[str, str](), list[str]()
    while not titles and (text := reader.filled_line()) is not None:
        key, _, value = text.partition("=")
        keys[key.strip().casefold()] = value.strip()
        titles = text.split() if text.lstrip().startswith("#") else []
    places = {title.upper(): k for k, title in enumerate(titles)}
    plates = [title[2:] for title in places if title.startswith("FZ")]
    wanted = [stem + plate for plate in plates for vector in _VECTORS for stem in vector]
    if not plates or (missing := [title for title in wanted if title not in places]):
        raise input_error(
            "missing_column",
            file=reader.path,
            where=reader.line_number,
            problem=f"the column '{missing[0]}' is missing" if plates else "no column is a vertical force",
            expected="#Sample FX1 FY1 FZ1 X1 Y1 Z1 MZ1, and these seven of every other plate",
            remedy=EXPORT_AGAIN,
        )
    rate = rate_in(keys.get("samplerate", ""), reader.path, 3)
    first = next((cells[0] for row in reader.ahead if is_row(cells := row.split()) and cells), "1")
    start = 0.0 if float(first) == 0.0 else 1.0
    return Columns(
        titles=titles,
        names=tuple(f"plate_{plate}_{role}_{axis}" for plate in plates for role in _ROLES for axis in "xyz"),
        columns=[places[title] for title in wanted],
        factors=np.tile(_FACTORS if in_si else np.ones(9), len(plates)),
        roles=tuple(role for _ in plates for role in _ROLES for _ in "xyz"),
        times=lambda rows: (rows[:, 0] - start) / rate,
        repeated={},
        separator="\t",
        notes=(f"{reader.path.name} states no units: it is of Cortex, which writes N, mm and N mm.",),
        by_plate=True,
    )
