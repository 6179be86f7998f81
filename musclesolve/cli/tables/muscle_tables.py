"""Muscle sets and their muscles as tables, and one muscle in full."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from rich.console import Group
from rich.table import Table

from muscle_db import Muscle, MuscleDatabase, load
from muscle_db.model import PathPoint, PathWrap


def set_table(databases: Iterable[MuscleDatabase]) -> Table:
    """One line per muscle set."""
    default = load().name
    listing = Table(title="muscle sets", title_justify="left")
    listing.add_column("name", no_wrap=True)
    for heading in ("muscles", "points", "moving points", "wrap objects"):
        listing.add_column(heading, justify="right")
    listing.add_column("curves", no_wrap=True)
    listing.add_column("source")
    for each in databases:
        points = [point for muscle in each for point in muscle.path]
        moving = sum(point.moving is not None or point.frame in each.frames for point in points)
        counts = (len(each), len(points), moving, len(each.wrap_objects))
        name = f"{each.name} (default)" if each.name == default else each.name
        listing.add_row(name, *map(str, counts), each.curves, each.source.partition(";")[0])
    listing.caption = "--database NAME lists the muscles of a set, and its source in full"
    return listing


def muscle_table(database: MuscleDatabase) -> Group:
    """One line per muscle, in the units of the literature, with source and licence."""
    listing = Table(
        title=f"{database.name}: {len(database.muscles)} muscles of the leg", title_justify="left"
    )
    for heading in ("name", "short name", "group"):
        listing.add_column(heading, no_wrap=True)
    for heading in ("F0 [N]", "L0 [mm]", "LT [mm]", "pennation [deg]", "points", "wraps"):
        listing.add_column(heading, justify="right")
    for muscle in database.muscles:
        lengths = (f"{1e3 * each:.1f}" for each in (muscle.optimal_fiber_length, muscle.tendon_slack_length))
        numbers = (
            f"{muscle.max_isometric_force:.0f}",
            *lengths,
            f"{math.degrees(muscle.pennation_angle):.0f}",
        )
        counts = (str(len(muscle.path)), str(len(muscle.wraps) or ""))
        listing.add_row(muscle.name, muscle.short_name, muscle.group, *numbers, *counts)
    listing.caption = "F0 maximum isometric force, L0 optimal fiber length, LT tendon slack length"
    remarks = [f"source: {database.source}"]
    remarks += [f"licence: {database.license}"] * bool(database.license)
    remarks += [f"note: {note}" for note in database.notes]
    return Group(listing, "", *remarks)


def muscle_in_full(database: MuscleDatabase, muscle: Muscle) -> Group:
    """All data of a muscle, with its path and the deviations from the printed source."""
    facts = Table(
        show_header=False, box=None, title=f"{muscle.name} of {database.name}", title_justify="left"
    )
    facts.add_column(no_wrap=True)
    facts.add_column()
    for label, value in (*_facts(muscle), *_passive(database, muscle)):
        facts.add_row(label, value)
    parts: list[Table | str] = [facts, "", _path(database, muscle)]
    if muscle.wraps:
        parts += ["", _wraps(database, muscle)]
    return Group(*parts, "", *_deviations(database, muscle))


def _facts(muscle: Muscle) -> Iterator[tuple[str, str]]:
    yield "short name", muscle.short_name
    yield "group", muscle.group
    yield from (("origin", muscle.origin), ("insertion", muscle.insertion), ("action", muscle.action))
    yield "maximum isometric force", f"{muscle.max_isometric_force:.0f} N"
    yield "optimal fiber length", f"{1e3 * muscle.optimal_fiber_length:.1f} mm"
    yield "tendon slack length", f"{1e3 * muscle.tendon_slack_length:.1f} mm"
    yield "tendon strain at max. force", f"{100.0 * muscle.tendon_strain:.3g} %"
    yield "pennation angle", f"{math.degrees(muscle.pennation_angle):.3g} deg"
    yield "max. shortening velocity", f"{muscle.max_shortening_velocity:g} optimal fiber lengths / s"


def _passive(database: MuscleDatabase, muscle: Muscle) -> Iterator[tuple[str, str]]:
    """The strains of the rules of passive force, as far as the set has them for a muscle."""
    calibrated = database.calibrated_passive.strains if database.calibrated_passive else {}
    rules = {"table": muscle.passive, "calibrated": calibrated.get(muscle.name)}
    for rule, strain in rules.items():
        if strain is not None:
            strains = (strain.at_zero_force, strain.at_one_norm_force)
            yield f"passive force, {rule}", "from a fiber strain of {:g}, norm force at {:g}".format(*strains)


def _path(database: MuscleDatabase, muscle: Muscle) -> Table:
    points = Table(title="path of the right leg, standing pose", title_justify="left")
    points.add_column("point", justify="right")
    points.add_column("frame")
    for heading in ("forward [mm]", "left [mm]", "up [mm]"):
        points.add_column(heading, justify="right")
    points.add_column("only while")
    points.add_column("moves with")
    for number, point in enumerate(muscle.path, start=1):
        place = (f"{1e3 * coordinate:.1f}" for coordinate in point.position)
        moves = _motion(database, point)
        points.add_row(str(number), point.frame, *place, str(point.active or ""), moves)
    return points


def _motion(database: MuscleDatabase, point: PathPoint) -> str:
    """The angle that a point moves with on its bone, and the range that is tabulated."""
    moves = point.moving or database.frames.get(point.frame)
    if moves is None:
        return ""
    lower, upper = (math.degrees(moves.angles[k]) for k in (0, -1))
    bone = "" if point.moving else f" on the {database.frames[point.frame].body}"
    return f"{moves.dof}, {lower:g} to {upper:g} deg{bone}"


def _wraps(database: MuscleDatabase, muscle: Muscle) -> Table:
    wraps = Table(title="wrap objects", title_justify="left")
    for heading in ("object", "kind", "frame"):
        wraps.add_column(heading, no_wrap=True)
    for heading in ("radius [mm]", "length [mm]"):
        wraps.add_column(heading, justify="right")
    wraps.add_column("center [mm]")
    wraps.add_column("side")
    wraps.add_column("points")
    for wrap in muscle.wraps:
        own = database.wrap_objects[wrap.object]
        radii = ", ".join(f"{1e3 * radius:g}" for radius in dict.fromkeys(own.radii) if radius)
        center = ", ".join(f"{1e3 * value:.1f}" for value in own.center)
        length = f"{1e3 * own.length:g}" if own.length else ""
        wraps.add_row(own.name, own.kind, own.frame, radii, length, center, own.side, _range(muscle, wrap))
    return wraps


def _range(muscle: Muscle, wrap: PathWrap) -> str:
    return f"{wrap.first or 1} to {wrap.last or len(muscle.path)}"


def _deviations(database: MuscleDatabase, muscle: Muscle) -> list[str]:
    if muscle.deviations:
        return ["deviates from the printed source:", *(f"  {each}" for each in muscle.deviations)]
    if any(each.deviations for each in database):
        return ["as printed in the source"]
    return [f"source: {database.source.partition(';')[0]}"]
