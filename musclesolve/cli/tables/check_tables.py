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
    from musclesolve.studies.study.run_study import StudyCheck

COLORS: dict[Severity, str] = {"error": "red", "warning": "yellow", "note": "dim"}


def _table(severity: Severity, title: str, places: Iterable[str], rows: Iterable[Iterable[str]]) -> Table:
    """Findings of a severity, a row each: code, places, statement and remedy, which notes do not have."""
    remedy = [] if severity == "note" else [Column("how to fix it", ratio=4)]
    where = [Column(name, ratio=2) for name in places]
    columns = (*names("finding"), *where, Column("what", ratio=5), *remedy)
    return titled_table(title, columns, rows, title_style=COLORS[severity], show_lines=severity != "note")


def trial_tables(report: Report) -> list[Table]:
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


def study_tables(found: StudyCheck) -> list[Table]:
    """Trials with errors or warnings (of a folder all) and their numbers; each error, once for all trials that
    have it; of the warnings of a kind the one that changes results most.
    """
    from musclesolve.studies.study.study_findings import each_once, of_kind  # not for the check of a trial

    counts = [(name, "1", "", LABELS[NOT_USABLE]) for name in found.refused]
    errors: dict[tuple[str, str, str], dict[str, str]] = {}  # code, what, remedy -> trial -> where
    for name, message in found.refused.items():
        errors.setdefault(("refused", message, ""), {})[name] = ""
    warnings = dict[str, list[Finding]]()
    for name, report in found.reports.items():
        own: dict[Severity, list[Finding]] = {severity: [] for severity in SEVERITIES}
        for each in report.all_findings:
            own[each.severity].append(each)
        for each in own["error"]:
            alike = errors.setdefault((each.code, each.sentence, each.remedy), {})
            alike[name] = _where(each, report)
        warnings[name] = own["warning"]
        if own["error"] or own["warning"] or found.of_folder:
            label = report.judgement.label if report.judgement is not None else LABELS[NOT_USABLE]
            counts.append((name, str(len(own["error"])), str(len(own["warning"])), label))
    columns = (*names("trial"), *numbers("errors", "warnings"), *names("verdict"))
    printed = [titled_table(None, columns, counts)] if counts else []

    places = ("trials", "where")
    if errors:
        rows = [
            (code, shortened(list(of)), "; ".join(filter(None, dict.fromkeys(list(of.values())[:3]))), *words)
            for (code, *words), of in errors.items()
        ]
        printed.append(_table("error", "errors", places, rows))
    rows, more = [], False
    for each, trials in each_once(warnings):
        (name, _), *others = of_kind(warnings, each)
        differ = len({each.sentence, *(other.sentence for _, other in others)}) > 1
        what = f"{name}: {each.sentence} (one of {len(others) + 1})" if differ else each.sentence
        rows.append(
            (each.code, shortened(list(trials)), _where(each, found.reports[name]), what, each.remedy)
        )
        more |= differ
    if rows:
        title = (
            "warnings, of each kind the one that changes results most (all: --json)" if more else "warnings"
        )
        printed.append(_table("warning", title, places, rows))
    return printed


def _where(found: Finding, report: Report) -> str:
    """The place of a finding; of the trial file, which the study wrote, the key alone."""
    place = found.where
    return place.field or "" if place.file and place.file.name == report.path.name else str(place)
