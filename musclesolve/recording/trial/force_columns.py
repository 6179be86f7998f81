"""The columns that [[force]] names: each stands for one component of one vector, in a unit that fits it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from musclesolve._util.arrays import Array, Mask
from musclesolve._util.message_text import few
from musclesolve._util.names import suggestion
from musclesolve.recording.data import PlateForce, Table
from musclesolve.recording.place_errors import error_at
from musclesolve.recording.text.repeated_names import check_used
from musclesolve.recording.trial.schema import Document

ROLES = ("force", "point", "moment")
# No number of a plate that was measured is larger, in N, m and N m: one is enough to spoil everything.
LARGEST = 1e5


def is_stated(entry: Mapping[str, Any]) -> bool:
    """Return whether a [[force]] of a trial file has what a plate needs: a foot, and columns or a number."""
    source = [entry["force"], entry["point"]] if entry["plate"] is None else [entry["plate"]]
    return None not in (entry["side"], *source)


def plate_of(
    document: Document, content: dict[str, Any], index: int, table: Table, rotation: Array
) -> PlateForce:
    """Return one plate of the trial file, in the global frame."""
    entry, threshold = content["force"][index], content["filter"]["unloaded_below_n"]
    everything = np.ones(table.time.size, bool)
    names = {
        role: _columns(document, entry[role], role, index, table) for role in ROLES if entry[role] is not None
    }
    _check_columns(document, content["force"], index, table)
    force = _vectors(table, names["force"], everything) @ rotation.T
    # The point of application of a zero force is arbitrary.
    loaded = np.abs(force[:, 2]) >= threshold
    point = _vectors(table, names["point"], loaded) @ rotation.T
    moment = _vectors(table, names["moment"], loaded) @ rotation.T if "moment" in names else 0.0 * force
    return PlateForce(entry["side"], table.time, force, point, moment, table.path)


def _columns(document: Document, given: str | list[str], role: str, index: int, table: Table) -> list[str]:
    names = _column_names(given)
    for name in names:
        if name not in table.names:
            problem, expected = f"the column '{name}' is not in {table.path}", "a column of this file"
            remedy = suggestion(name, table.names) or f"its columns are {few(table.names, 24)}"
            raise document.error(problem, "force", role, index, expected, remedy, code="missing_column")
    check_used(names, "column", table.repeated, table.path)
    return names


def _column_names(given: str | list[str]) -> list[str]:
    """Return the names of the three columns of a vector, given as such or as their common beginning."""
    return [given + axis for axis in "xyz"] if isinstance(given, str) else given


def _check_columns(document: Document, entries: Sequence[dict[str, Any]], index: int, table: Table) -> None:
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
            plates = ", for two plates" if taken[name] != index else ""
            expected, remedy = "a column of its own for every component", "correct the name of one of them"
            problem = f"the column '{name}' is named twice{plates}"
            raise document.error(problem, "force", role, index, expected, remedy, code="conflict")
        taken[name] = index


def _named(entry: dict[str, Any]) -> list[tuple[str, str]]:
    """Return (role, column) of every component that an entry names."""
    return [(role, name) for role in ROLES if entry[role] is not None for name in _column_names(entry[role])]


def _vectors(table: Table, names: list[str], needed: Mask) -> Array:
    """Return three columns as (S, 3), refusing gaps and absurd numbers in needed rows (S,)."""
    vectors = np.stack([table[name] for name in names], axis=-1)
    lacking, beyond = (
        np.argwhere(bad & needed[:, None]) for bad in (np.isnan(vectors), np.abs(vectors) > LARGEST)
    )
    if not len(lacking) and not len(beyond):
        return vectors
    row, column = lacking[0] if len(lacking) else beyond[0]
    where = f"line {table.lines[row]}, column '{names[column]}'"
    if len(lacking):
        problem = f"a number is missing at {table.time[row]:g} s"
        expected = "a force in every row; its point and moment wherever it is not zero"
        remedy = "fill the gap in the software that exported the file; an unloaded plate has a force of 0"
        raise error_at(table.path, where, problem, expected, remedy, code="missing_samples")
    problem = f"the number is {vectors[row, column]:.3g}"
    expected = "a number that was measured, in newtons and metres"
    remedy = "correct it in the software that exported the file"
    raise error_at(table.path, where, problem, expected, remedy, code="bad_units")
