"""The table of many trials, a line each, and the lines below it."""

from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path

from rich import box
from rich.table import Table

from musclesolve._util.sides import LEG_JOINTS
from musclesolve.results.judgement import IN_PART, NOT_PLAUSIBLE, NOT_USABLE, USABLE, WITH_CARE
from musclesolve.results.tables.lines import decimal, line, names, numbers, words
from musclesolve.studies.many_trials.trial_record import CSV, Outcome, TrialRecord

CELLS = {USABLE: "usable", WITH_CARE: "care", IN_PART: "part", NOT_PLAUSIBLE: "implaus.", NOT_USABLE: "NO"}
COUNTS = {
    "solved": "\nsolved",
    "with_reserve": "with\nreserve",
    "without_solution": "\nfailed",
    "not_measured": "not\nmeas.",
}
"""Counts of leg-frames and the headings of their columns."""
LOST = {Outcome.REFUSED: "REFUSED", Outcome.REFUSED_BEFORE: "REFUSED\nbefore", Outcome.FAILED: "FAILED"}


def table(records: Sequence[TrialRecord]) -> Table:
    """Leg-frames, residual and peak contact forces of every trial; fits on 80 columns.

    Counts that are zero in all trials leave their column to the names of the trials.
    """
    found = [record.measures for record in records if record.measures is not None]
    counted = [name for name in COUNTS if name == "solved" or any(getattr(each, name) for each in found)]
    rows = Table(
        *words("trial\n"),
        *numbers(*(COUNTS[name] for name in counted), "resid.\n[% BW]", whole=True),
        *numbers(*(f"{joint}\n[BW]" for joint in LEG_JOINTS), whole=True),
        *names("\nverdict"),
        *numbers("\n[s]", whole=True),
        *names("\nstatus"),
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        padding=(0, 0),
        collapse_padding=True,
    )
    for record in records:
        rows.add_row(record.name, *_cells(record, counted), LOST.get(record.outcome, record.outcome.value))
    return rows


def _cells(record: TrialRecord, counted: Sequence[str]) -> list[str]:
    found = record.measures
    if found is None:
        return ["-"] * (3 + len(counted) + len(LEG_JOINTS))
    counts = [str(getattr(found, name)) for name in counted]
    sizes = [found.residual_percent, *(found.contact[joint] for joint in LEG_JOINTS)]
    return [*counts, *(decimal(size, 1) for size in sizes), CELLS[found.verdict], f"{record.seconds:.1f}"]


def remarks(records: Sequence[TrialRecord], output: Path) -> list[str]:
    """Return lines on the number of trials by outcome, the place of the table, and the next step."""
    count = Counter(record.outcome for record in records)
    parts = ", ".join(f"{count[outcome]} {outcome.value}" for outcome in Outcome if count[outcome])
    found = [line("trials", f"{len(records)}: {parts}"), line("files", str(output / CSV))]
    own = {record.folder.name for record in records}
    if others := sorted({file.parent.name for file in output.glob("*/result.nc")} - own):
        found.append(
            line("beside", f"{', '.join(others)}: of none of these trials; average would take them too")
        )
    if sum(record.outcome.has_result for record in records) > 1:
        found.append(line("next", f"musclesolve average {output}/*/result.nc -o {output}/average"))
    return found


def exit_code(records: Collection[TrialRecord]) -> int:
    """0: every frame of every trial has a valid solution; 2: no trial could be read; 3: something else failed."""
    if all(record.fine for record in records):
        return 0
    return 2 if all(record.outcome.is_refusal for record in records) else 3
