"""The table of many trials as a file for a spreadsheet."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from muscle_db.regular_file import RECORDING, open_regular
from musclesolve.errors import InputError
from musclesolve.results.files.storable import storable
from musclesolve.studies.many_trials.trial_record import JOINTS, TrialRecord

CSV = "trials.csv"
FIRST = (
    *("name", "status", "frames_solved", "frames_with_reserve", "frames_without_solution"),
    "peak_pelvis_residual_percent_body_weight",
)
LAST = ("seconds", "trial", "folder", "message")


def csv_bytes(records: Sequence[TrialRecord]) -> bytes:
    """The table of all trials with all digits, the files and the messages."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*FIRST, *(f"peak_{joint}_contact_force_body_weights" for joint in JOINTS), *LAST])
    for record in records:
        found = record.measures
        numbers: list[object] = [""] * (4 + len(JOINTS))
        if found is not None:
            forces = [f"{found.contact[joint]:.6g}" for joint in JOINTS]
            counts = [found.solved, found.with_reserve, found.without_solution]
            numbers = [*counts, f"{found.residual_percent:.6g}", *forces]
        ends = [f"{record.seconds:.3f}", str(record.trial), str(record.folder), record.message]
        writer.writerow([record.name, record.outcome.value, *numbers, *ends])
    return str(storable(text.getvalue())).encode()


def check_table(path: Path) -> None:
    """Refuse to write over a file that has the name of the table and is none.

    Raises:
        InputError: it is none.
    """
    try:
        with open_regular(path, RECORDING) as file:
            first = file.readline(1000).decode("utf-8", "replace")
    except OSError:
        return  # there is none, or it cannot be read: writing it reports that
    if not first.startswith("name,status"):
        raise InputError(
            "this is no table of musclesolve, and one of this name is to be written: it would be lost",
            code="occupied_folder",
            file=path,
            remedy="choose another folder with -o, or rename the file",
        )
