"""Tables of the check of a study: how much was found in each trial, and each finding once with its trials."""

from __future__ import annotations

from rich.table import Column, Table

from musclesolve.results.finding import Finding, Severity
from musclesolve.results.judgement import LABELS, NOT_USABLE
from musclesolve.results.tables.lines import names, numbers
from musclesolve.studies.study.check_study import StudyCheck
from musclesolve.studies.study.run_study import shortened

COLOURS: dict[Severity, str] = {"error": "red", "warning": "yellow"}


def tables(found: StudyCheck) -> list[Table]:
    """Trials with errors or warnings and their numbers, then what was found: in several trials alike, once."""
    counts = Table(*names("trial"), *numbers("errors", "warnings"), *names("verdict"), title_justify="left")
    for name in found.refused:
        counts.add_row(name, "1", "", LABELS[NOT_USABLE])
    for name, report in found.reports.items():
        of = [sum(each.severity == severity for each in report.all_findings) for severity in COLOURS]
        if any(of) and report.judgement is not None:
            counts.add_row(name, *map(str, of), report.judgement.label)
    printed = [counts] if counts.row_count else []
    for severity, colour in COLOURS.items():
        alike: dict[tuple[str, str, str], dict[str, str]] = {}  # code, what, remedy -> trial -> where
        if severity == "error":
            for name, message in found.refused.items():
                alike.setdefault(("refused", message, ""), {})[name] = ""
        for name, report in found.reports.items():
            for each in (found for found in report.all_findings if found.severity == severity):
                own = alike.setdefault((each.code, each.sentence, each.remedy), {})
                own[name] = _where(each, report.path.name)
        if alike:
            columns = Column("trials", ratio=2), Column("where", ratio=2), Column("what", ratio=5)
            table = Table(
                *names("finding"),
                *columns,
                Column("how to fix it", ratio=4),
                title=f"{severity}s",
                title_justify="left",
                title_style=colour,
                show_lines=True,
            )
            for (code, what, remedy), own in alike.items():
                where = "; ".join(dict.fromkeys(place for place in list(own.values())[:3] if place))
                table.add_row(code, shortened(list(own)), where, what, remedy)
            printed.append(table)
    return printed


def _where(found: Finding, trial_file: str) -> str:
    """The place of a finding; of the trial file, which the study wrote, the key alone."""
    place = found.where
    return place.field or "" if place.file and place.file.name == trial_file else str(place)
