"""The report of a check as a table."""

from __future__ import annotations

import json

from rich.table import Table

from musclesolve.checking.finding import SEVERITIES, Report

_COLOURS = {"error": "red", "warning": "yellow", "note": "dim"}


def json_text(report: Report) -> str:
    """Return the report as JSON, in characters that every output can print."""
    return json.dumps(report.as_dict(), indent=2, allow_nan=False)


def tables(report: Report) -> list[Table]:
    """Return one table for each severity that was found: where, what, how to fix it."""
    printed = []
    for severity in SEVERITIES:
        found = report.of(severity)
        if not found:
            continue
        table = Table(
            title=f"{severity}s" if len(found) > 1 else severity,
            title_justify="left",
            title_style=_COLOURS[severity],
            show_lines=severity != "note",
        )
        table.add_column("finding", no_wrap=True)
        table.add_column("where", ratio=2)
        table.add_column("what", ratio=5)
        if severity != "note":
            table.add_column("how to fix it", ratio=4)
        for finding in found:
            cells = [finding.code, str(finding.where), finding.what]
            table.add_row(*cells, *([finding.remedy] if severity != "note" else []))
        printed.append(table)
    return printed
