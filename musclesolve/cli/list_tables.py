"""Muscle sets, marker sets and faults as tables, and one muscle or marker set in full."""

from __future__ import annotations

import math

from rich.console import Group
from rich.table import Table

from muscle_db import Muscle, MuscleDatabase
from musclesolve._util.names import unknown_name
from musclesolve.recording.markers.landmark_names import landmarks
from musclesolve.recording.markers.marker_set import MarkerSet, marker_sets
from musclesolve.recording.markers.resolve_landmarks import markers_of


def muscle_table(database: MuscleDatabase) -> Table:
    """One line per muscle, in the units of the literature."""
    listing = Table(
        title=f"{database.name}: {len(database.muscles)} muscles of the leg", title_justify="left"
    )
    for heading in ("name", "short name", "group"):
        listing.add_column(heading, no_wrap=True)
    for heading in ("F0 [N]", "L0 [mm]", "LT [mm]", "pennation [deg]", "points"):
        listing.add_column(heading, justify="right")
    for muscle in database.muscles:
        lengths = (f"{1e3 * each:.1f}" for each in (muscle.optimal_fiber_length, muscle.tendon_slack_length))
        numbers = (
            f"{muscle.max_isometric_force:.0f}",
            *lengths,
            f"{math.degrees(muscle.pennation_angle):.0f}",
        )
        listing.add_row(muscle.name, muscle.short_name, muscle.group, *numbers, str(len(muscle.path)))
    listing.caption = "F0 maximum isometric force, L0 optimal fiber length, LT tendon slack length"
    return listing


def muscle_in_full(muscle: Muscle) -> Group:
    """All data of a muscle, with its path and the deviations from the printed source."""
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


def marker_set_table() -> Table:
    """One line per bundled marker set."""
    listing = Table(title="marker sets", title_justify="left")
    for heading in ("name", "markers", "what"):
        listing.add_column(heading, no_wrap=heading == "name")
    for name, chosen in marker_sets().items():
        listing.add_row(name, str(len(chosen.markers)), chosen.description)
    listing.caption = '[markers] set = "name" in a trial file'
    return listing


def marker_set_in_full(name: str) -> Group:
    """Landmarks of a set with their markers, the clusters, and markers of the standing trial."""
    if name not in marker_sets():
        raise unknown_name(name, "marker set", marker_sets())
    chosen = marker_sets()[name]
    mapped = Table(title=f"{name}: {chosen.description}", title_justify="left", caption=chosen.source)
    for heading in ("landmark", "what it is", "markers, the first present ones"):
        mapped.add_column(heading, no_wrap=heading == "landmark")
    for landmark, ways in chosen.mapping.items():
        shown = "; or ".join(" and ".join(markers_of(way)) for way in ways)
        mapped.add_row(landmark, landmarks()[landmark].description, shown)
    return Group(mapped, *_lines(chosen))


def _lines(chosen: MarkerSet) -> list[str]:
    clusters = [f"moves as one body: {name} = {', '.join(names)}" for name, names in chosen.clusters.items()]
    carried = [f"seen standing, carried by {cluster}: {marker}" for marker, cluster in chosen.carried.items()]
    aliases = [f"also called: {name} = {', '.join(others)}" for name, others in chosen.aliases.items()]
    return [*clusters, *carried, *aliases]


def fault_table() -> Table:
    """One row for each fault that can be planted: its name, and what is done wrong."""
    from musclesolve.synthetic.faults.fault_registry import faults

    rows = Table(title="faults for `musclesolve synthesize --fault`", title_justify="left")
    rows.add_column("fault", no_wrap=True)
    rows.add_column("what is done wrong")
    for name, fault in faults().items():
        rows.add_row(name, " ".join(fault.about.split()))
    return rows
