"""Tables of the muscle database: all muscles, and one muscle in full."""

from __future__ import annotations

import math

from rich.console import Group
from rich.table import Table

from muscle_db import Muscle, MuscleDatabase


def table(database: MuscleDatabase) -> Table:
    """One line per muscle, in the units that the literature uses."""
    listing = Table(
        title=f"{database.name}: {len(database.muscles)} muscles of the leg", title_justify="left"
    )
    for heading in ("name", "short name", "group"):
        listing.add_column(heading, no_wrap=True)
    for heading in ("F0 [N]", "L0 [mm]", "LT [mm]", "pennation [deg]", "points"):
        listing.add_column(heading, justify="right")
    for muscle in database.muscles:
        listing.add_row(
            muscle.name,
            muscle.short_name,
            muscle.group,
            f"{muscle.max_isometric_force:.0f}",
            f"{1e3 * muscle.optimal_fiber_length:.1f}",
            f"{1e3 * muscle.tendon_slack_length:.1f}",
            f"{math.degrees(muscle.pennation_angle):.0f}",
            str(len(muscle.path)),
        )
    listing.caption = "F0 maximum isometric force, L0 optimal fiber length, LT tendon slack length"
    return listing


def muscle_in_full(muscle: Muscle) -> Group:
    """Everything that the database knows of a muscle, with its path and what deviates from the print."""
    facts = Table(show_header=False, box=None, title=muscle.name, title_justify="left")
    facts.add_column(no_wrap=True)
    facts.add_column()
    for label, value in (
        ("short name", muscle.short_name),
        ("group", muscle.group),
        ("origin", muscle.origin),
        ("insertion", muscle.insertion),
        ("action", muscle.action),
        ("maximum isometric force", f"{muscle.max_isometric_force:g} N"),
        ("optimal fiber length", f"{1e3 * muscle.optimal_fiber_length:.1f} mm"),
        ("tendon slack length", f"{1e3 * muscle.tendon_slack_length:.1f} mm"),
        ("pennation angle", f"{math.degrees(muscle.pennation_angle):g} deg"),
        ("max. shortening velocity", f"{muscle.max_shortening_velocity:g} optimal fiber lengths / s"),
    ):
        facts.add_row(label, value)
    return Group(facts, "", _path(muscle), "", _deviations(muscle))


def _path(muscle: Muscle) -> Table:
    points = Table(title="path of the right leg, standing pose", title_justify="left")
    points.add_column("point", justify="right")
    points.add_column("frame")
    for heading in ("forward [mm]", "left [mm]", "up [mm]"):
        points.add_column(heading, justify="right")
    points.add_column("only while")
    for number, point in enumerate(muscle.path, start=1):
        place = (f"{1e3 * coordinate:.1f}" for coordinate in point.position)
        points.add_row(str(number), point.frame, *place, str(point.active or ""))
    return points


def _deviations(muscle: Muscle) -> str:
    if not muscle.deviations:
        return "as printed in the source"
    return "\n".join(["deviates from the printed source:", *(f"  {each}" for each in muscle.deviations)])
