"""The table of many trials, a line each; and the tables of a check: its findings, each finding of a study once."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich import box
from rich.table import Column, Table

from musclesolve._util.messages import shortened
from musclesolve._util.sides import LEG_JOINTS
from musclesolve.laboratory.results.finding import SEVERITIES, Finding, Severity
from musclesolve.laboratory.results.judgement import LABELS, NOT_USABLE, USABLE, WITH_CARE, Report
from musclesolve.laboratory.results.tables.lines import decimal, line, names, numbers, titled_table, words
from musclesolve.studies.many_trials.trial_record import CSV, Outcome, TrialRecord

if TYPE_CHECKING:
    from musclesolve.studies.study.check_study import StudyCheck


COLORS: dict[Severity, str] = {"error": "red", "warning": "yellow", "note": "dim"}


def _table(severity: Severity, title: str, places: Iterable[str], rows: Iterable[Iterable[str]]) -> Table:
    """Findings of a severity, a row each: code, places, statement and remedy, which notes do not have."""
    remedy = [] if severity == "note" else [Column("how to fix it", ratio=4)]
    where = [Column(name, ratio=2, overflow="fold") for name in places]
    columns = (*names("finding"), *where, Column("what", ratio=5), *remedy)
    return titled_table(title, columns, rows, title_style=COLORS[severity], show_lines=severity != "note")


def check_tables(report: Report) -> list[Table]:
    """One table for each severity that was found: where, what, how to fix it."""
    printed = []
    for severity in SEVERITIES:
        with_remedy = severity != "note"
        rows = [
            (finding.code, str(finding.where), finding.sentence, *[finding.remedy] * with_remedy)
            for finding in report.all_findings
            if finding.severity == severity
        ]
        if rows:
            title = f"{severity}s" if len(rows) > 1 else severity
            printed.append(_table(severity, title, ["where"], rows))
    return printed


def study_check_tables(checked: "StudyCheck") -> list[Table]:
    """Trials with errors or warnings (of a folder all) and their numbers; each error, once for all trials that
    have it; of the warnings of a kind the one that changes results most.
    """
    from musclesolve.studies.study.study_findings import each_once, of_kind  # not for the check of a trial

    counts = [(name, "1", "", LABELS[NOT_USABLE]) for name in checked.refused]
    errors: dict[tuple[str, str, str], dict[str, str]] = {}  # code, what, remedy -> trial -> where
    for name, message in checked.refused.items():
        errors.setdefault(("refused", message, ""), {})[name] = ""
    warnings = dict[str, list[Finding]]()
    for name, report in checked.reports.items():
        wrong = [entry for entry in report.all_findings if entry.severity == "error"]
        warnings[name] = [entry for entry in report.all_findings if entry.severity == "warning"]
        for entry in wrong:
            alike = errors.setdefault((entry.code, entry.sentence, entry.remedy), {})
            alike[name] = _where(entry, report)
        if wrong or warnings[name] or checked.of_folder:
            label = report.judgement.label if report.judgement is not None else LABELS[NOT_USABLE]
            counts.append((name, str(len(wrong)), str(len(warnings[name])), label))
    columns = (*words("trial"), *numbers("errors", "warnings", whole=True), *words("verdict"))
    printed = [titled_table(None, columns, counts)] if counts else []

    places = ("trials", "where")
    if errors:
        rows = [
            (code, shortened(list(of)), "; ".join(filter(None, dict.fromkeys(list(of.values())[:3]))), *words)
            for (code, *words), of in errors.items()
        ]
        printed.append(_table("error", "errors", places, rows))
    rows, more = [], False
    for entry, trials in each_once(warnings):
        (name, _), *others = of_kind(warnings, entry)
        differ = len({entry.sentence, *(other.sentence for _, other in others)}) > 1
        what = f"{name}: {entry.sentence} (one of {len(others) + 1})" if differ else entry.sentence
        rows.append(
            (entry.code, shortened(list(trials)), _where(entry, checked.reports[name]), what, entry.remedy)
        )
        more |= differ
    if rows:
        title = (
            "warnings, of each kind the one that changes results most (all: --json)" if more else "warnings"
        )
        printed.append(_table("warning", title, places, rows))
    return printed


def _where(entry: Finding, report: Report) -> str:
    """The place of a finding; of the trial file, which the study wrote, the key alone."""
    place = entry.where
    return place.field or "" if place.file and place.file.name == report.path.name else str(place)


CELLS = {USABLE: "usable", WITH_CARE: "care", NOT_USABLE: "NO"}
COUNTS = {
    "solved": "\nsolved",
    "with_reserve": "with\nreserve",
    "without_solution": "\nfailed",
    "not_measured": "not\nmeas.",
}
"""Counts of leg-frames and the headings of their columns."""
LOST = {Outcome.REFUSED: "REFUSED", Outcome.REFUSED_BEFORE: "REFUSED\nbefore", Outcome.FAILED: "FAILED"}


def trials_table(records: Sequence[TrialRecord]) -> Table:
    """Leg-frames, residual and peak contact forces of every trial; fits on 80 columns.

    Counts that are zero in all trials leave their column to the names of the trials; joints that no trial has, too.
    """
    measured = [record.measures for record in records if record.measures is not None]
    joints = [joint for joint in LEG_JOINTS if not measured or any(joint in one.joints for one in measured)]
    counted = [name for name in COUNTS if name == "solved" or any(getattr(one, name) for one in measured)]
    rows = Table(
        *words("trial\n"),
        *numbers(*(COUNTS[name] for name in counted), "resid.\n[% BW]", whole=True),
        *numbers(*(f"{joint}\n[BW]" for joint in joints), whole=True),
        *names("\nverdict"),
        *numbers("\n[s]", whole=True),
        *names("\nstatus"),
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        padding=(0, 0),
        collapse_padding=True,
    )
    for record in records:
        rows.add_row(
            record.name, *_cells(record, counted, joints), LOST.get(record.outcome, record.outcome.value)
        )
    return rows


def _cells(record: TrialRecord, counted: Sequence[str], joints: Sequence[str]) -> list[str]:
    measures = record.measures
    if measures is None:
        return ["-"] * (3 + len(counted) + len(joints))
    counts = [str(getattr(measures, name)) for name in counted]
    sizes = [measures.residual_percent, *(measures.contact[joint] for joint in joints)]
    return [*counts, *(decimal(size, 1) for size in sizes), CELLS[measures.verdict], f"{record.seconds:.1f}"]


def outcomes_line(outcomes: Iterable[Outcome]) -> str:
    """Return the line with the numbers of trials by outcome."""
    count = Counter(outcomes)
    parts = ", ".join(f"{count[outcome]} {outcome.value}" for outcome in Outcome if count[outcome])
    return line("trials", f"{count.total()}: {parts}")


def trials_remarks(records: Sequence[TrialRecord], output: Path) -> list[str]:
    """Return lines on the number of trials by outcome, the place of the table, and the next step."""
    said = [outcomes_line(record.outcome for record in records), line("files", str(output / CSV))]
    trial_folders = {record.folder.name for record in records}
    if others := sorted({file.parent.name for file in output.glob("*/result.nc")} - trial_folders):
        said.append(
            line("beside", f"{', '.join(others)}: of none of these trials; average would take them too")
        )
    if sum(record.outcome.has_result for record in records) > 1:
        said.append(line("next", f"musclesolve average {output}/*/result.nc -o {output}/average"))
    return said


def exit_code_of(records: Collection[TrialRecord]) -> int:
    """0: every frame of every trial has a valid solution; 2: no trial could be read; 3: something else failed."""
    if all(record.fine for record in records):
        return 0
    return 2 if all(record.outcome.is_refusal for record in records) else 3
