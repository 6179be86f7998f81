"""Reads one point of a path and its range of angles."""

from __future__ import annotations

import math

from muscle_db.model import DEGREES_OF_FREEDOM, FRAMES, ActiveRange, PathPoint
from muscle_db.table import Table

LIMIT = 2.0  # [m] no length in a leg comes near it: a larger one is in millimetres


def read_point(table: Table) -> PathPoint:
    """A point from `{ frame, position, active? }`."""
    table.require_keys(("frame", "position"), ("active",))
    active = None
    if "active" in table.values:
        active = read_range(table.table("active", "active", f"{table.place}, active"))
    return PathPoint(table.choice("frame", FRAMES), table.vector("position", LIMIT, "m"), active)


def read_range(table: Table) -> ActiveRange:
    """A range from `{ dof, from_deg, to_deg }`."""
    table.require_keys(("dof", "from_deg", "to_deg"))
    lower, upper = (table.number(key, -360.0, 360.0, "deg") for key in ("from_deg", "to_deg"))
    if lower >= upper:
        table.fail(
            "to_deg", f"the range runs from {lower:g} to {upper:g} deg", expected="from_deg below to_deg"
        )
    return ActiveRange(table.choice("dof", DEGREES_OF_FREEDOM), math.radians(lower), math.radians(upper))
