"""The faults that can be planted, as a table."""

from __future__ import annotations

from rich.table import Table

from musclesolve.synthetic.faults.faults import faults


def table() -> Table:
    """One row for each fault: its name, and what is done wrong."""
    rows = Table(title="faults for `musclesolve synthesize --fault`", title_justify="left")
    rows.add_column("fault", no_wrap=True)
    rows.add_column("what is done wrong")
    for name, fault in faults().items():
        rows.add_row(name, " ".join(fault.about.split()))
    return rows
