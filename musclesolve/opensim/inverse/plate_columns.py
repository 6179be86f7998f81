"""Columns of ground reactions by their usual names."""

from __future__ import annotations

import re
from dataclasses import dataclass

from musclesolve.errors import InputError
from musclesolve.recording.data import Table

_FIRST = re.compile(r"(?P<stem>.*)vx$")
_MOMENTS = ("{torque}{axis}", "{stem}m{axis}", "{stem}t{axis}")
"""Names of the free moment beside the force {stem}v{axis}; torque: the stem with "torque" for "force"."""
_AXES = "xyz"


@dataclass(frozen=True)
class PlateColumns:
    """Columns of one plate: three of the force, of its point, and of the free moment (or none)."""

    stem: str
    force: tuple[str, ...]
    point: tuple[str, ...]
    moment: tuple[str, ...]


def plate_columns(table: Table) -> list[PlateColumns]:
    """The plates of a file: every STEMvx with STEMvy, STEMvz and STEMpx, STEMpy, STEMpz.

    Raises:
        InputError: there is none, or columns of one are missing.
    """
    plates = [
        _plate(table, match["stem"]) for name in table.names if (match := _FIRST.match(name)) is not None
    ]
    if not plates:
        raise InputError(
            f"no column of a force among {', '.join(table.names[:8])}",
            code="missing_column",
            file=table.path,
            expected="names such as ground_force_vx, ground_force_px and ground_torque_x",
            remedy="rename the columns, or describe them in an ExternalLoads file (.xml)",
        )
    return plates


def identified_columns(table: Table, stem: str) -> tuple[str, ...]:
    """The columns that an identifier of an ExternalForce names: those of x, y and z, else all that begin with it."""
    exact = tuple(f"{stem}{axis}" for axis in _AXES)
    return exact if set(exact) <= set(table.names) else tuple(n for n in table.names if n.startswith(stem))


def _plate(table: Table, stem: str) -> PlateColumns:
    force, point = (tuple(f"{stem}{kind}{axis}" for axis in _AXES) for kind in "vp")
    for name in (*force, *point):
        if name not in table.names:
            raise InputError(
                f"there is no column {name}",
                code="missing_column",
                file=table.path,
                expected=f"force and point beside {force[0]}",
                remedy="export all components of force and point",
            )
    torque = re.sub("force", "torque", stem, flags=re.IGNORECASE)
    named = [
        tuple(form.format(torque=torque, stem=stem, axis=axis) for axis in _AXES)
        for form in _MOMENTS
        if "torque" not in form or torque != stem
    ]
    moment = next((names for names in named if all(name in table.names for name in names)), ())
    return PlateColumns(stem, force, point, moment)
