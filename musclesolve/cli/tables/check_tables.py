"""The tables of a check: of a trial its findings; of a study also how many each trial has, each finding once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.table import Column, Table

from musclesolve._util.names import shortened
from musclesolve.results.finding import SEVERITIES, Finding, Severity
from musclesolve.results.judgement import LABELS, NOT_USABLE, Report
from musclesolve.results.tables.lines import names, numbers, titled_table

if TYPE_CHECKING:
    from musclesolve.studies.study.check_study import StudyCheck

COLORS: dict[Severity, str] = {"error": "red", "warning": "yellow", "note": "dim"}


def _table(severity: Severity, title: str, columns: Iterable[Column], rows: Iterable[Iterable[str]]) -> Table:
    """Findings of a severity, a row each; the remedy, which notes do not have, stands last."""
    remedy = [] if severity == "note" else [Column("how to fix it", ratio=4)]
    columns = (*names("finding"), *columns, Column("what", ratio=5), *remedy)
    return titled_table(title, columns, rows, title_style=COLORS[severity], show_lines=severity != "note")


def trial_tables(report: Report) -> list[Table]:
    """One table for each severity that was found: where, what, how to fix it."""
    printed = []
    for severity in SEVERITIES:
        rows = [
            (
                finding.code,
                str(finding.where),
                finding.sentence,
                *([] if severity == "note" else [finding.remedy]),
            )
            for finding in report.all_findings
            if finding.severity == severity
        ]
        if rows:
            title = f"{severity}s" if len(rows) > 1 else severity
            printed.append(_table(severity, title, [Column("where", ratio=2)], rows))
    return printed


def study_tables(found: StudyCheck) -> list[Table]:
    """Trials with errors or warnings and their numbers, then what was found: in several trials alike, once."""
    counts = [(name, "1", "", LABELS[NOT_USABLE]) for name in found.refused]
    for name, report in found.reports.items():
        of = [
            sum(finding.severity == severity for finding in report.all_findings)
            for severity in SEVERITIES[:2]
        ]
        if any(of) and report.judgement is not None:
            counts.append((name, str(of[0]), str(of[1]), report.judgement.label))
    columns = (*names("trial"), *numbers("errors", "warnings"), *names("verdict"))
    printed = [titled_table(None, columns, counts)] if counts else []
    for severity in SEVERITIES[:2]:
        alike: dict[tuple[str, str, str], dict[str, str]] = {}  # code, what, remedy -> trial -> where
        if severity == "error":
            for name, message in found.refused.items():
                alike.setdefault(("refused", message, ""), {})[name] = ""
        for name, report in found.reports.items():
            for finding in (found for found in report.all_findings if found.severity == severity):
                own = alike.setdefault((finding.code, finding.sentence, finding.remedy), {})
                own[name] = _where(finding, report.path.name)
        rows = [
            (
                code,
                shortened(list(own)),
                "; ".join(dict.fromkeys(filter(None, list(own.values())[:3]))),
                what,
                remedy,
            )
            for (code, what, remedy), own in alike.items()
        ]
        if rows:
            columns = (Column("trials", ratio=2), Column("where", ratio=2))
            printed.append(_table(severity, f"{severity}s", columns, rows))
    return printed


def _where(found: Finding, trial_file: str) -> str:
    """The place of a finding; of the trial file, which the study wrote, the key alone."""
    place = found.where
    return place.field or "" if place.file and place.file.name == trial_file else str(place)
