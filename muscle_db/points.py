"""Reads one point of a path: fixed, within a range of angles, or moving with an angle."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

from muscle_db.model import DEGREES_OF_FREEDOM, FRAMES, ActiveRange, MovingPosition, PathPoint
from muscle_db.table import Table

LIMIT = 2.0  # [m] no length in a leg comes near it: a larger one is in millimetres


def read_point(table: Table, moving_frames: Collection[str] = ()) -> PathPoint:
    """A point from `{ frame, position | moving, active? }`; moving_frames: those there are besides `FRAMES`."""
    moves = "moving" in table.values
    table.require_keys(("frame", "moving" if moves else "position"), ("active",))
    frame = table.choice("frame", (*FRAMES, *moving_frames))
    active = None
    if "active" in table.values:
        active = read_range(table.table("active", "active", f"{table.place}, active"))
    if not moves:
        return PathPoint(frame, table.vector("position", LIMIT, "m"), active)
    if frame in moving_frames:
        table.fail(
            "moving",
            f'the point moves on the frame "{frame}", which moves itself',
            expected=f"a moving point on one of {', '.join(FRAMES)}",
            remedy="give its positions on the bone, both motions in one",
        )
    moving = read_moving(table.table("moving", "moving", f"{table.place}, moving"))
    return PathPoint(frame, moving.positions[moving.angles.index(0.0)], active, moving)


def read_moving(table: Table) -> MovingPosition:
    """A moving place from `{ dof, places = [[angle, forward, left, up], ...] }`."""
    table.require_keys(("dof", "places"))
    rows = table.rows("places", "angle in deg, forward, left, up in m")
    angles = read_angles(table, "places", rows)
    for k, row in enumerate(rows):
        if max(map(abs, row[1:])) >= LIMIT:
            table.fail(
                "places", f"row {k + 1} is out of range", expected=f"positions below {LIMIT:g} m", row=k
            )
    return MovingPosition(
        table.choice("dof", DEGREES_OF_FREEDOM), angles, tuple((x, y, z) for _, x, y, z in rows)
    )


def read_angles(table: Table, key: str, rows: Sequence[Sequence[float]]) -> tuple[float, ...]:
    """Angles [rad] of rows that begin with them: increasing, with that of standing, 0."""
    degrees = [row[0] for row in rows]
    if len(degrees) < 2 or 0.0 not in degrees:
        table.fail(
            key,
            f"{len(degrees)} row(s)",
            expected="two rows or more, one of them at 0 deg, which is standing",
        )
    for k in range(1, len(degrees)):
        if degrees[k] <= degrees[k - 1]:
            problem = f"{degrees[k]:g} deg follows {degrees[k - 1]:g} deg"
            table.fail(key, problem, expected="increasing angles", row=k)
    for k in (0, len(degrees) - 1):
        if abs(degrees[k]) > 360.0:
            table.fail(key, f"{degrees[k]:g} deg is out of range", expected="angles up to 360 deg", row=k)
    return tuple(map(math.radians, degrees))


def read_range(table: Table) -> ActiveRange:
    """A range from `{ dof, from_deg, to_deg }`."""
    table.require_keys(("dof", "from_deg", "to_deg"))
    lower, upper = (table.number(key, -360.0, 360.0, "deg") for key in ("from_deg", "to_deg"))
    if lower >= upper:
        table.fail(
            "to_deg", f"the range runs from {lower:g} to {upper:g} deg", expected="from_deg below to_deg"
        )
    return ActiveRange(table.choice("dof", DEGREES_OF_FREEDOM), math.radians(lower), math.radians(upper))
