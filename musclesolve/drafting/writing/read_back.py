"""A draft read back by the schema of trial files: what it refuses is left open instead."""

from __future__ import annotations

from dataclasses import replace

from musclesolve.drafting.writing.draft_text import DraftTable, draft_text
from musclesolve.drafting.writing.scratch import scratch_errors
from musclesolve.errors import InputError


def read_back(title: tuple[str, ...], tables: tuple[DraftTable, ...]) -> tuple[DraftTable, ...]:
    """The tables of a draft, with every line open that the schema of trial files refuses.

    A key that is missing because its line is open is what a draft leaves to its reader.
    """
    for _ in range(sum(len(table.lines) for table in tables) + 1):
        errors = [error for error in scratch_errors(draft_text(title, tables)) if error.code != "missing_key"]
        changed = tables
        for error in errors:
            changed = tuple(_opened(table, error) for table in changed)
        if changed == tables:
            return tables
        tables = changed
    return tables


def _opened(table: DraftTable, error: InputError) -> DraftTable:
    """A table with the line open that an error points at."""
    where = f"{error.where or ''} "
    header = f"[[{table.name}]]" if table.listed else f"[{table.name}]"
    if f"{header} " not in where:
        return table
    lines = tuple(
        replace(
            line, open=True, todo=line.todo or f"enter {line.key}: {error.problem}, expected {error.expected}"
        )
        if f"{header} {line.key} " in where
        else line
        for line in table.lines
    )
    return replace(table, lines=lines)
