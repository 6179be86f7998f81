"""The columns that [[force]] names: each stands for one component of one vector, in a unit that fits it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from musclesolve.recording.data import Table
from musclesolve.recording.trial.schema import Document

ROLES = ("force", "point", "moment")


def column_names(given: str | list[str]) -> list[str]:
    """Return the names of the three columns of a vector, given as such or as their common beginning."""
    return [given + axis for axis in "xyz"] if isinstance(given, str) else given


def check_columns(document: Document, entries: Sequence[dict[str, Any]], index: int, table: Table) -> None:
    """Refuse columns of one [[force]] whose unit is of another vector, or that an earlier [[force]] names.

    A column of nothing but zeros may stand for as many components as are not measured.
    """
    taken = {name: k for k, entry in enumerate(entries[:index]) for _, name in _named(entry)}
    for role, name in _named(entries[index]):
        if name not in table.names:
            continue
        stated = table.roles[table.names.index(name)] if table.roles else ""
        if stated not in ("", role):
            problem = f"the column '{name}' of {table.path.name} is in the unit of a {stated}"
            expected = f"the columns of the {role}"
            remedy = "correct the name of the column here, or its unit in the header of the file"
            raise document.error(problem, "force", role, index, expected, remedy, code="bad_units")
        if name in taken and np.nan_to_num(table[name]).any():
            problem = f"the column '{name}' is named twice" + (
                ", for two plates" if taken[name] != index else ""
            )
            expected, remedy = "a column of its own for every component", "correct the name of one of them"
            raise document.error(problem, "force", role, index, expected, remedy, code="conflict")
        taken[name] = index


def _named(entry: dict[str, Any]) -> list[tuple[str, str]]:
    """Return (role, column) of every component that an entry names."""
    return [(role, name) for role in ROLES if entry[role] is not None for name in column_names(entry[role])]
