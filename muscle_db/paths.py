"""Reads paths: points, frames that move with a joint angle, wrap objects, and the wraps of muscles."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from muscle_db.model import (
    FRAMES,
    LEG_DOFS,
    WRAP_KINDS,
    WRAP_METHODS,
    WRAP_SIDES,
    ActiveRange,
    CalibratedPassive,
    MovingFrame,
    MovingPosition,
    Muscle,
    PassiveStrain,
    PathPoint,
    PathWrap,
    Vector,
    WrapObject,
)
from muscle_db.similar_names import suggestion
from muscle_db.table import TomlTable

LIMIT = 2.0  # [m] no length of a limb comes near it: a larger one is in millimeters


class Names(NamedTuple):
    """Names for the paths of a set: frames of bones, degrees of freedom, and moving frames."""

    bones: tuple[str, ...] = FRAMES
    dofs: tuple[str, ...] = LEG_DOFS
    moving: tuple[str, ...] = ()


def read_point(table: TomlTable, names: Names) -> PathPoint:
    """A point from `{ frame, position | moving, active? }`.

    moving: `{ dof, places = [[angle, forward, left, up], ...] }`.
    """
    moves = "moving" in table.values
    table.require_keys(("frame", "moving" if moves else "position"), ("active",))
    frame = table.choice("frame", (*names.bones, *names.moving))
    active = read_range(table.table("active"), names) if "active" in table.values else None
    if not moves:
        return PathPoint(frame, table.vector("position", LIMIT, "m"), active)
    if frame in names.moving:
        table.fail(
            "moving",
            f'the point moves on the frame "{frame}", which moves itself',
            expected=f"a moving point on one of {', '.join(names.bones)}",
            remedy="give its positions on the bone, both motions in one",
        )
    places = table.table("moving")
    places.require_keys(("dof", "places"))
    rows = places.rows("places", "angle in deg, forward, left, up in m")
    angles = _angles(places, "places", rows)
    for k, row in enumerate(rows):
        if max(map(abs, row[1:])) >= LIMIT:
            problem = f"row {k + 1} is out of range"
            places.fail("places", problem, expected=f"positions below {LIMIT:g} m", row=k)
    positions = tuple((x, y, z) for _, x, y, z in rows)
    moving = MovingPosition(places.choice("dof", names.dofs), angles, positions)
    return PathPoint(frame, positions[angles.index(0.0)], active, moving)


def _angles(table: TomlTable, key: str, rows: Sequence[Sequence[float]]) -> tuple[float, ...]:
    """Angles [rad] at the begin of rows: increasing, with the standing angle 0."""
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


def read_range(table: TomlTable, names: Names) -> ActiveRange:
    """A range from `{ dof, from_deg, to_deg }`."""
    table.require_keys(("dof", "from_deg", "to_deg"))
    lower, upper = (table.number(key, -360.0, 360.0, "deg") for key in ("from_deg", "to_deg"))
    if lower >= upper:
        table.fail(
            "to_deg", f"the range runs from {lower:g} to {upper:g} deg", expected="from_deg below to_deg"
        )
    return ActiveRange(table.choice("dof", names.dofs), math.radians(lower), math.radians(upper))


POSE = "angle in deg, forward, left, up in m, rotation vector in deg: x, y, z"
_NOT_A_ROTATION = 1e-5
_RADII = {"cylinder": ("radius", "length"), "sphere": ("radius",), "ellipsoid": ("radii",)}
_STRAINS = (-0.9, 2.0)


def read_frames(root: TomlTable, names: Names) -> dict[str, MovingFrame]:
    """The `[[frame]]` tables by name."""
    frames: dict[str, MovingFrame] = {}
    for table in root.tables("frame"):
        table.require_keys(("name", "body", "dof", "poses"))
        name = table.name("name")
        if name in names.bones or name in frames:
            table.fail("name", f'there is a frame "{name}" already', expected="every name once")
        body, dof = table.choice("body", names.bones), table.choice("dof", names.dofs)
        rows = table.rows("poses", POSE)
        angles = _angles(table, "poses", rows)
        places = tuple((x, y, z) for _, x, y, z, *_ in rows)
        turns = tuple((math.radians(x), math.radians(y), math.radians(z)) for *_, x, y, z in rows)
        for k, (place, turn) in enumerate(zip(places, turns, strict=True)):
            if max(map(abs, place)) >= LIMIT or math.hypot(*turn) > math.pi:
                expected = f"positions below {LIMIT:g} m, rotations up to 180 deg"
                table.fail("poses", f"row {k + 1} is out of range", expected=expected, row=k)
            if angles[k] == 0.0 and any((*place, *turn)):
                expected = "zeros beside the angle 0: in standing the frame rests on its bone"
                table.fail("poses", f"row {k + 1} moves the frame in standing", expected=expected, row=k)
        frames[name] = MovingFrame(name, body, dof, angles, places, turns)
    return frames


def read_wrap_objects(root: TomlTable, frames: Iterable[str]) -> dict[str, WrapObject]:
    """The `[[wrap]]` tables by name; frames: all existing frames."""
    objects: dict[str, WrapObject] = {}
    for table in root.tables("wrap"):
        if "kind" not in table.values:
            table.fail("kind", 'missing key "kind"', remedy=f"add it: one of {', '.join(WRAP_KINDS)}")
        kind = table.choice("kind", WRAP_KINDS)
        table.require_keys(("name", "kind", "frame", "center", "axes", *_RADII[kind]), ("side",))
        name = table.name("name")
        if name in objects:
            table.fail("name", f'there is a wrap object "{name}" already', expected="every name once")
        length = 0.0
        if kind == "ellipsoid":
            radii = table.vector("radii", LIMIT, "m")
            if min(radii) <= 0.0:
                table.fail("radii", f"{list(radii)} is out of range", expected="three lengths above 0 m")
        else:
            radius = table.number("radius", 0.0, LIMIT, "m", open_low=True)
            radii = radius, radius, radius if kind == "sphere" else 0.0
            if kind == "cylinder":
                length = table.number("length", 0.0, LIMIT, "m", open_low=True)
        side = table.choice("side", WRAP_SIDES, default="all")
        frame, center = table.choice("frame", frames), table.vector("center", LIMIT, "m")
        objects[name] = WrapObject(name, kind, frame, center, _axes(table), radii, length, side)
    return objects


def _axes(table: TomlTable) -> tuple[Vector, Vector, Vector]:
    """Three rows of a rotation matrix."""
    rows = table.rows("axes", "x, y, z")
    if len(rows) == 3:
        a, b, c = ((x, y, z) for x, y, z in rows)
        pairs = ((a, a), (b, b), (c, c), (a, b), (a, c), (b, c))
        products = [sum(x * y for x, y in zip(p, q, strict=True)) for p, q in pairs]
        error = max(
            abs(product - wanted) for product, wanted in zip(products, (1, 1, 1, 0, 0, 0), strict=True)
        )
        cross = (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])
        if error < _NOT_A_ROTATION and sum(x * y for x, y in zip(cross, c, strict=True)) > 0.0:
            return a, b, c
    table.fail(
        "axes",
        "the axes are no rotation",
        expected="three rows of a rotation matrix: orthogonal unit vectors, right-handed",
        remedy="the columns are the object's own x, y and z in its frame",
    )


def read_path_wraps(
    muscle: TomlTable, points: int, objects: Mapping[str, WrapObject]
) -> tuple[PathWrap, ...]:
    """The `wraps` of a muscle with a number of points."""
    wraps = []
    for table in muscle.tables("wraps", "muscle.wraps", "wrap"):
        table.require_keys(("object",), ("first", "last", "method"))
        ends = {key: table.count(key) for key in ("first", "last") if key in table.values}
        for key, number in ends.items():
            if number > points:
                table.fail(key, f"there is no point {number}", expected=f"1 to {points}")
        if ends.get("first", 1) >= ends.get("last", points):
            key = "last" if "last" in ends else "first"
            problem = f"the wrap acts from point {ends.get('first', 1)} to {ends.get('last', points)}"
            table.fail(key, problem, expected="first below last")
        method = table.choice("method", WRAP_METHODS, default="hybrid")
        name = table.choice("object", objects)
        wraps.append(PathWrap(name, ends.get("first"), ends.get("last"), method))
    return tuple(wraps)


def read_passive(owner: TomlTable) -> PassiveStrain | None:
    """The `passive` of a muscle or of a set."""
    return _strain(owner.table("passive")) if "passive" in owner.values else None


def read_calibrated(root: TomlTable, muscles: Iterable[Muscle]) -> CalibratedPassive | None:
    """The table of calibrated passive strains, `{ muscles, at_zero_force, at_one_norm_force }` of each group."""
    if "calibrated_passive" not in root.values:
        return None
    table = root.table("calibrated_passive")
    table.require_keys(("found",), ("strains",))
    known, strains = [muscle.name for muscle in muscles], dict[str, PassiveStrain]()
    for group in table.tables("strains", "calibrated_passive.strains"):
        strain = _strain(group, ("muscles",))
        for name in group.names("muscles"):
            if name not in known:
                group.fail("muscles", f'there is no muscle "{name}"', remedy=suggestion(name, known))
            if name in strains:
                group.fail("muscles", f'"{name}" has strains already', expected="every muscle once")
            strains[name] = strain
    return CalibratedPassive(table.text("found"), strains)


def _strain(table: TomlTable, further: tuple[str, ...] = ()) -> PassiveStrain:
    table.require_keys((*further, "at_zero_force", "at_one_norm_force"))
    zero, one = (table.number(key, *_STRAINS, "") for key in ("at_zero_force", "at_one_norm_force"))
    if zero >= one:
        table.fail(
            "at_one_norm_force",
            f"the force begins at a strain of {zero:g} and is one norm force at {one:g}",
            expected="at_zero_force below at_one_norm_force",
        )
    return PassiveStrain(zero, one)


def refuse_unused(
    root: TomlTable, frames: Sequence[str], objects: Mapping[str, WrapObject], muscles: Iterable[Muscle]
) -> None:
    """Refuse wrap objects without a path, and moving frames without points and wrap objects."""
    muscles = list(muscles)
    wrapped = {wrap.object for muscle in muscles for wrap in muscle.wraps}
    for table, name in zip(root.tables("wrap"), objects, strict=True):
        if name not in wrapped:
            remedy = "name it in `wraps` of a muscle, or remove it"
            table.fail("name", f'no path uses the wrap object "{name}"', remedy=remedy)
    used = {point.frame for muscle in muscles for point in muscle.path}
    used |= {each.frame for each in objects.values()}
    for table, name in zip(root.tables("frame"), frames, strict=True):
        if name not in used:
            remedy = "remove it, or put points on it"
            table.fail("name", f'nothing is on the frame "{name}"', remedy=remedy)
