"""The known muscle sets, their muscles, and marker sets as tables."""

import math
from collections.abc import Iterable, Mapping
from pathlib import Path

from rich.console import Group
from rich.table import Column, Table

from muscle_db import Muscle, MuscleDatabase, load
from muscle_db.model import LEG_DOFS
from musclesolve._util.messages import check_known
from musclesolve.laboratory.markers.landmarks import landmarks
from musclesolve.laboratory.markers.marker_names import marker_sets, markers_of
from musclesolve.laboratory.results.tables.lines import names, numbers, titled_table, words
from musclesolve.muscles.person import PersonMuscles, tendons


def set_table(databases: Iterable[MuscleDatabase]) -> Table:
    """One line per muscle set."""
    default, rows = load().name, []
    for database in databases:
        points = [point for muscle in database for point in muscle.path]
        moving = sum(point.moving is not None or point.frame in database.frames for point in points)
        counts = (len(database), len(points), moving, len(database.wrap_objects))
        name = f"{database.name} (default)" if database.name == default else database.name
        rows.append((name, *map(str, counts), database.curves, database.source.partition(";")[0]))
    counted = numbers("muscles", "points", "moving points", "wrap objects")
    return titled_table(
        "muscle sets",
        (*names("name"), *counted, *names("curves"), "source"),
        rows,
        caption="--database NAME lists the muscles of a set, and its source in full",
    )


def _limb(database: MuscleDatabase) -> str:
    """Return the word for the limb of a muscle set: a leg, or a side of other limbs."""
    return "leg" if database.dofs == LEG_DOFS else "side"


def muscle_table(database: MuscleDatabase) -> Group:
    """One line per muscle, in the units of the literature, with source and license."""
    rows = (
        (
            *(muscle.name, muscle.short_name, muscle.group),
            f"{muscle.max_isometric_force:.0f}",
            f"{1e3 * muscle.optimal_fiber_length:.1f}",
            f"{1e3 * muscle.tendon_slack_length:.1f}",
            f"{math.degrees(muscle.pennation_angle):.0f}",
            *(str(len(muscle.path)), str(len(muscle.wraps) or "")),
        )
        for muscle in database.muscles
    )
    sizes = numbers("F0 [N]", "L0 [mm]", "LT [mm]", "pennation [deg]", "points", "wraps")
    listing = titled_table(
        f"{database.name}: {len(database.muscles)} muscles of the {_limb(database)}",
        (*names("name", "short name", "group"), *sizes),
        rows,
        caption="F0 maximum isometric force, L0 optimal fiber length, LT tendon slack length",
    )
    remarks = [f"source: {database.source}"]
    remarks += [f"license: {database.license}"] * bool(database.license)
    remarks += [f"note: {note}" for note in database.notes]
    return Group(listing, "", *remarks)


def muscle_in_full(database: MuscleDatabase, muscle: Muscle) -> Group:
    """All data of a muscle, with its path and the deviations from the printed source."""
    facts = {
        "short name": muscle.short_name,
        "group": muscle.group,
        "origin": muscle.origin,
        "insertion": muscle.insertion,
        "action": muscle.action,
        "maximum isometric force": f"{muscle.max_isometric_force:.0f} N",
        "optimal fiber length": f"{1e3 * muscle.optimal_fiber_length:.1f} mm",
        "tendon slack length": f"{1e3 * muscle.tendon_slack_length:.1f} mm",
        "tendon strain at max. force": f"{100.0 * muscle.tendon_strain:.3g} %",
        "pennation angle": f"{math.degrees(muscle.pennation_angle):.3g} deg",
        "max. shortening velocity": f"{muscle.max_shortening_velocity:g} optimal fiber lengths / s",
    }
    # the strains of the rules of passive force, as far as the set has them for a muscle
    calibrated = database.calibrated_passive.strains if database.calibrated_passive else {}
    for rule, strain in {"table": muscle.passive, "calibrated": calibrated.get(muscle.name)}.items():
        if strain is not None:
            facts[f"passive force, {rule}"] = (
                f"from a fiber strain of {strain.at_zero_force:g}, norm force at {strain.at_one_norm_force:g}"
            )
    title = f"{muscle.name} of {database.name}"
    listing = titled_table(title, (*names(""), ""), facts.items(), show_header=False, box=None)

    points = []
    for number, point in enumerate(muscle.path, start=1):
        # the angle that a point moves with on its bone, and the range that is tabulated
        moves, motion = point.moving or database.frames.get(point.frame), ""
        if moves is not None:
            lower, upper = (math.degrees(moves.angles[k]) for k in (0, -1))
            bone = "" if point.moving else f" on the {database.frames[point.frame].body}"
            motion = f"{moves.dof}, {lower:g} to {upper:g} deg{bone}"
        place = (f"{1e3 * coordinate:.1f}" for coordinate in point.position)
        points.append((str(number), point.frame, *place, str(point.active or ""), motion))
    axes = numbers("forward [mm]", "left [mm]", "up [mm]")
    title = f"path of the right {_limb(database)}, standing pose"
    path = titled_table(title, (*numbers("point"), "frame", *axes, "only while", "moves with"), points)

    rows = []
    for wrap in muscle.wraps:
        shape = database.wrap_objects[wrap.object]
        radii = ", ".join(f"{1e3 * radius:g}" for radius in dict.fromkeys(shape.radii) if radius)
        center = ", ".join(f"{1e3 * value:.1f}" for value in shape.center)
        length = f"{1e3 * shape.length:g}" if shape.length else ""
        between = f"{wrap.first or 1} to {wrap.last or len(muscle.path)}"
        rows.append((shape.name, shape.kind, shape.frame, radii, length, center, shape.side, between))
    columns = (*names("object", "kind", "frame"), *numbers("radius [mm]", "length [mm]"))
    wraps = titled_table("wrap objects", (*columns, "center [mm]", "side", "points"), rows)

    if muscle.deviations:
        remarks = [
            "deviates from the printed source:",
            *(f"  {deviation}" for deviation in muscle.deviations),
        ]
    elif any(one.deviations for one in database):
        remarks = ["as printed in the source"]
    else:
        remarks = [f"source: {database.source.partition(';')[0]}"]
    below: list[str | Table] = ["", wraps] if rows else []
    return Group(listing, "", path, *below, "", *remarks)


SHOWN = {
    "max_isometric_force": ("F0 [N]", 1.0, ".0f"),
    "optimal_fiber_length": ("L0 [mm]", 1e3, ".1f"),
    "tendon_slack_length": ("LT [mm]", 1e3, ".1f"),
    "tendon_strain": ("strain [%]", 100.0, ".2f"),
}
"""Quantity -> its symbol and the unit that it is listed in, the factor to it, and the decimals."""


def person_table(person: PersonMuscles) -> Group:
    """One line per factor of one person's muscles, with its muscles and its uncertainty.

    Then one line per muscle with the numbers of the parent and of the person, where the file has them.
    """
    rows = (
        (
            parameter.name
            if parameter.quantity in parameter.name
            else f"{parameter.name} ({parameter.quantity})",
            ", ".join(parameter.muscles),
            *(f"{parameter.factor:.3f}", f"{100.0 * parameter.sd:.1f}", f"{100.0 * parameter.prior_sd:.1f}"),
            "yes" if parameter.determined else "hardly",
        )
        for parameter in person.parameters
    )
    parent = person.parent if person.parent_file is None else person.parent_file.name
    tables = [
        titled_table(
            f"muscles of {person.name or 'one person'}: {len(person.parameters)} factors on the muscles of {parent}",
            (
                *words("parameter", "muscles"),
                *numbers("factor", "sd [%]", "before [%]", whole=True),
                *names("known"),
            ),
            rows,
            caption="sd of the logarithm of the factor, after and before the trials of the calibration; known: whether "
            "they say much about it",
        )
    ]
    if person.numbers:
        columns = [
            quantity for quantity in SHOWN if any(quantity in stated for stated in person.numbers.values())
        ]
        cells = (
            (muscle, *(_number_of_person(stated.get(quantity), quantity) for quantity in columns))
            for muscle, stated in person.numbers.items()
        )
        title, caption = f"from {parent} to the person", "± standard deviation"
        shown = numbers(*(SHOWN[quantity][0] for quantity in columns))
        tables.append(titled_table(title, (*names("muscle"), *shown), cells, caption=caption))
    trials = ", ".join(Path(name).name for name in person.trials)
    calibrated = [f"calibrated with {tendons(person.tendon)} and {trials}"] * bool(trials)
    return Group(*tables, "", *calibrated, *(f"note: {warning}" for warning in person.warnings))


def _number_of_person(number: Mapping[str, float] | None, quantity: str) -> str:
    """A number of the parent and of the person, "60.1 -> 74.4 ± 9.0"."""
    if number is None:
        return ""
    _, factor, decimals = SHOWN[quantity]
    before, after, sd = (f"{factor * number[part]:{decimals}}" for part in ("parent", "value", "sd"))
    return f"{before} -> {after} ± {sd}"


def marker_set_in_full(name: str) -> Group:
    """Landmarks of a set with their markers, the clusters, and markers of the standing trial."""
    check_known([name], "marker set", marker_sets())
    chosen = marker_sets()[name]
    rows = (
        (
            landmark,
            landmarks()[landmark].description,
            "; or ".join(" and ".join(markers_of(way)) for way in ways),
        )
        for landmark, ways in chosen.mapping.items()
    )
    columns: list[Column | str] = [*names("landmark"), "what it is", "markers, the first present ones"]
    mapped = titled_table(f"{name}: {chosen.description}", columns, rows, caption=chosen.source)
    return Group(
        mapped,
        *(f"moves as one body: {name} = {', '.join(markers)}" for name, markers in chosen.clusters.items()),
        *(f"seen standing, carried by {cluster}: {marker}" for marker, cluster in chosen.carried.items()),
        *(f"also called: {name} = {', '.join(others)}" for name, others in chosen.aliases.items()),
    )
