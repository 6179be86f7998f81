"""Reads the record of what differs from the print, and checks it against the values in use."""

from __future__ import annotations

import math
from typing import Any

from muscle_db.model import Deviation, Muscle, Value
from muscle_db.points import LIMIT, read_point, read_range
from muscle_db.table import Table

ATTRIBUTES = {
    "max_isometric_force": "max_isometric_force",
    "pennation_deg": "pennation_angle",
    "optimal_fiber_length": "optimal_fiber_length",
    "tendon_slack_length": "tendon_slack_length",
    "max_shortening_velocity": "max_shortening_velocity",
    "tendon_strain": "tendon_strain",
}
"""Attributes of `Muscle` by the keys of the file."""
_POINT_FIELDS = ("point", "position", "active")
_ABSENT = {"point": "absent", "active": "always"}  # how the file says that the print has none


def read_deviations(owner: Table, full_name: str) -> tuple[Deviation, ...]:
    """The `[[deviation]]` tables of a muscle or, for the table as a whole, of the file."""
    of_muscle = full_name.startswith("muscle")
    return tuple(_deviation(table, of_muscle) for table in owner.tables("deviation", full_name, "deviation"))


def _deviation(table: Table, of_muscle: bool) -> Deviation:
    table.require_keys(("field", "printed", "used", "reason"), ("point",) if of_muscle else ())
    reason = table.text("reason")
    if not of_muscle:
        return Deviation(table.text("field"), _plain(table, "printed"), _plain(table, "used"), reason)
    if "point" in table.values:
        point = table.count("point")
        field = table.choice("field", _POINT_FIELDS)
        return Deviation(
            field, _of_point(table, field, "printed"), _of_point(table, field, "used"), reason, point
        )
    key = table.choice("field", ATTRIBUTES)
    return Deviation(
        ATTRIBUTES[key], _of_muscle(table, key, "printed"), _of_muscle(table, key, "used"), reason
    )


def _plain(table: Table, key: str) -> Value:
    value: Any = table.values[key]
    if isinstance(value, list):
        return table.vector(key, LIMIT, "m")
    return table.text(key) if isinstance(value, str) else table.number(key, -math.inf, math.inf, "")


def _of_muscle(table: Table, field: str, key: str) -> Value:
    value = table.number(key, -math.inf, math.inf, "")
    return math.radians(value) if field == "pennation_deg" else value


def _of_point(table: Table, field: str, key: str) -> Value:
    if table.values[key] == _ABSENT.get(field):
        return None
    if field == "position":
        return table.vector(key, LIMIT, "m")
    inner = table.table(key, key, f"{table.place}, {key}")
    return read_range(inner) if field == "active" else read_point(inner)


def require_as_used(table: Table, muscle: Muscle) -> None:
    """Refuse a record whose `used` is not what the muscle holds: the two must not drift apart."""
    for record, deviation in zip(
        table.tables("deviation", "muscle.deviation", "deviation"), muscle.deviations, strict=True
    ):
        if deviation.point is None:
            held: object = getattr(muscle, deviation.field)
        elif deviation.point > len(muscle.path):
            record.fail("point", f"there is no point {deviation.point}", expected=f"1 to {len(muscle.path)}")
        else:
            point = muscle.path[deviation.point - 1]
            held = point if deviation.field == "point" else getattr(point, deviation.field)
        if held != deviation.used:
            record.fail(
                "used",
                f"the record says {deviation.used}, the muscle holds {held}",
                expected="the same value twice",
            )
