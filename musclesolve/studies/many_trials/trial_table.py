"""Many trials for people, a line each: on a terminal, and as a file for a spreadsheet."""

from __future__ import annotations

import csv
import io
import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from rich import box
from rich.table import Table

from muscle_db.regular_file import RECORDING, open_regular
from musclesolve.errors import InputError
from musclesolve.results.files.storable import storable
from musclesolve.studies.many_trials.trial_record import JOINTS, Outcome, TrialRecord

CSV = "trials.csv"
FIRST = (
    *("name", "status", "frames_solved", "frames_with_reserve", "frames_without_solution"),
    "peak_pelvis_residual_percent_body_weight",
)
LAST = ("seconds", "trial", "folder", "message")
LOST = {Outcome.REFUSED: "REFUSED", Outcome.FAILED: "FAILED"}


def table(records: Sequence[TrialRecord]) -> Table:
    """Frames, residual and peak contact forces of every trial; fits on 80 columns."""
    rows = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 0), collapse_padding=True)
    rows.add_column("trial\n", overflow="fold")
    for heading in ("frames\nsolved", "with\nreserve", "without\nsolution", "residual\n[% BW]"):
        rows.add_column(heading, justify="right", no_wrap=True)
    for joint in JOINTS:
        rows.add_column(f"{joint}\n[BW]", justify="right", no_wrap=True)
    rows.add_column("\n[s]", justify="right", no_wrap=True)
    rows.add_column("\nstatus", no_wrap=True)
    for record in records:
        rows.add_row(record.name, *_cells(record), LOST.get(record.outcome, record.outcome.value))
    return rows


def _cells(record: TrialRecord) -> list[str]:
    found = record.measures
    if found is None:
        return ["-"] * (5 + len(JOINTS))
    counts = [str(count) for count in (found.solved, found.with_reserve, found.without_solution)]
    contact = [_number(found.contact[joint], 1) for joint in JOINTS]
    return [*counts, _number(found.residual_percent, 1), *contact, f"{record.seconds:.1f}"]


def _number(value: float, decimals: int) -> str:
    return f"{value:.{decimals}f}" if math.isfinite(value) else "-"


def remarks(records: Sequence[TrialRecord], output: Path) -> list[str]:
    """How many trials there are and what became of them, where the table is, what to do next."""
    count = Counter(record.outcome for record in records)
    parts = ", ".join(f"{count[each]} {each.value}" for each in Outcome if count[each])
    lines = [f"{'trials':<17} {len(records)}: {parts}", f"{'files':<17} {output / CSV}"]
    own = {record.folder.name for record in records}
    if others := sorted({file.parent.name for file in output.glob("*/result.nc")} - own):
        lines.append(
            f"{'beside':<17} {', '.join(others)}: of none of these trials; average would take them too"
        )
    if sum(record.outcome.has_result for record in records) > 1:
        lines.append(f"{'next':<17} musclesolve average {output}/*/result.nc -o {output}/average")
    return lines


def exit_code(records: Sequence[TrialRecord]) -> int:
    """0: every frame of every trial has a valid solution; 2: no trial could be read; 3: something else failed."""
    if all(record.fine for record in records):
        return 0
    return 2 if all(record.outcome is Outcome.REFUSED for record in records) else 3


def csv_bytes(records: Sequence[TrialRecord]) -> bytes:
    """The table with all digits, the files and the messages."""
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
    """Refuse to write over a file that is called like the table and is none.

    Raises:
        InputError: it is none.
    """
    try:
        with open_regular(path, RECORDING) as file:
            first = file.readline(1000).decode("utf-8", "replace")
    except OSError:
        return  # there is none, or it cannot be read: whoever writes it says so
    if not first.startswith("name,status"):
        raise InputError(
            "this is no table of musclesolve, and one of this name is to be written: it would be lost",
            file=path,
            remedy="choose another folder with -o, or rename the file",
        )
