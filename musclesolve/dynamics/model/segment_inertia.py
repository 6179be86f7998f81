"""Inertia of a subject's segments: a table by sex and age, scaled by segment lengths, and stated values instead of it.

Adults have the table of de Leva (1996) by sex; the masses of children follow Jensen (1989) by age (`segment_rows`).

Lengths come from the subject's model, so that measured lengths are used (Silva 2003, 3.1.3).

Some values of a segment may be stated (a prosthesis, a cast, a missing segment). The others come from the table: the
center, and moments of inertia in proportion to the mass. The other segments share the rest of the body mass in the
proportions of the table, so that the total stays the body mass.

The head of the table is head and neck; `divided` divides it into two parts with separate centers.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from musclesolve._util.arrays import Array, grouped, unit, vector_product
from musclesolve._util.bundled_toml import bundled_toml
from musclesolve._util.checks import check_array, check_number, check_type
from musclesolve._util.messages import check_known
from musclesolve._util.sides import SIDES
from musclesolve.constants import ADULT_AGE
from musclesolve.dynamics.model.model import Model
from musclesolve.dynamics.model.rigid_body import MassProperties, second_moment
from musclesolve.dynamics.model.topology import Topology
from musclesolve.errors import input_error

InertiaPart = tuple[float, Array, Array]
"""Mass [kg], center (3,) [m] and inertia (3, 3) [kg m2] about it, global axes of the standing pose."""

_TRUNK_PARTS = ("lower_trunk", "middle_trunk", "upper_trunk", "head")
_TRUNK_LEVELS = ("omphalion", "xiphion", "cervicale", "vertex")


def segment_rows(sex: str, age: float | None = None) -> dict[str, dict[str, Any]]:
    """Length, mass, center and radii of gyration of segments by name, with the keys of `de_leva_1996.toml`.

    For an adult, or if `age` [years] is None, from de Leva (1996). The mass of a child's segment is the adult's times
    the ratio of Jensen's (1989) values at this age and at 18 years. Only this growth is taken from Jensen: he cuts
    thigh from trunk so that the thigh has 11 % of the body mass, de Leva so that it has 14 %. Below 4 years the values
    at 4 years are used. Centers and radii, as shares of the length, are as in adults.
    """
    adult: dict[str, dict[str, Any]] = bundled_toml(__package__, "anthropometry", "de_leva_1996.toml")[sex][
        "segment"
    ]
    if age is None or age >= ADULT_AGE:
        return adult
    now, grown = child_masses(age), child_masses(ADULT_AGE)
    mass = {}
    for name, row in adult.items():
        source = "whole_trunk" if name.endswith("_trunk") else name
        mass[name] = row["mass_fraction"] * now[source] / grown[source]
    # de Leva's parts and Jensen's ratios miss the whole body by some tenths per cent
    total = sum((2.0 if name in _LIMBS else 1.0) * mass[name] for name in (*_LIMBS, "head", "whole_trunk"))
    return {name: {**row, "mass_fraction": mass[name] / total} for name, row in adult.items()}


_LIMBS = ("upper_arm", "forearm", "hand", "thigh", "shank", "foot")


def child_masses(age: float) -> dict[str, float]:
    """Shares of the body mass of the segments of a child of an age [years] (Jensen 1989, 1986), one side of a limb."""
    table = bundled_toml(__package__, "anthropometry", "jensen_1989.toml")
    first, last = table["ages"]
    years = np.array([1.0, min(max(age, first), last), min(max(age, first), last) ** 2])

    def at_age(coefficients: list[float]) -> float:
        return float(coefficients @ years[: len(coefficients)])

    both = {name: at_age(line) for name, line in table["mass_fraction"].items()}
    parts = {name: at_age(part["mass"]) for name, part in table["part"].items()}
    sums = {
        whole: sum(parts[k] for k, part in table["part"].items() if part["of"] == whole) for whole in both
    }
    masses = {name: both[name] for name in ("head", "upper_arm", "thigh")}
    for name, part in table["part"].items():
        masses[name] = both[part["of"]] * parts[name] / sums[part["of"]]
    return masses | {"whole_trunk": 1.0 - masses["head"] - 2.0 * sum(masses[name] for name in _LIMBS)}


def inertia_source(sex: str, age: float | None = None) -> str:
    """Return the name of the table of segment inertia for a subject, in words."""
    table = f"de Leva (1996), {'women' if sex == 'female' else 'men'}"
    if age is None or age >= ADULT_AGE:
        return table
    first, _ = bundled_toml(__package__, "anthropometry", "jensen_1989.toml")["ages"]
    return f"{table}, with masses of {max(age, first):g} years by Jensen (1989)"


def segment_inertia(
    topology: Topology,
    standing: Array,
    mass: float,
    sex: str,
    stature: float | None = None,
    age: float | None = None,
) -> MassProperties:
    """Mass, center and inertia of every body from the segments of a table, by sex and age [years] (`segment_rows`).

    I = m (k L)^2 about each principal axis with the subject's segment length L; segments made of two parts are
    composed by the parallel-axis theorem; a body takes its share of its segment. The levels of the trunk lie on the
    line from mid-hip to the root of the neck, at the table's heights scaled by stature (the layout's unless given). The
    printed mass fractions are rounded; they are divided by their sum.
    """
    rows, where = segment_rows(sex, age), named_points(topology, standing)
    places = bundled_toml(__package__, "definitions", "human_segments.toml")["segment"]
    adult = bundled_toml(__package__, "anthropometry", "de_leva_1996.toml")[sex]["stature"]
    height = float(np.ptp(standing[: topology.point_count, 2])) if stature is None else stature
    step = height / adult * where["neck_base"] / np.linalg.norm(where["neck_base"])
    level = np.zeros(3)
    for part, name in zip(_TRUNK_PARTS, _TRUNK_LEVELS, strict=True):
        level = where[name] = level + step * rows[part]["length"]
    # the parts of all segments, in the order of the file
    start, end = (np.array([where[place[which]] for place in places]) for which in ("start", "end"))
    fraction, middle, gyration = (
        np.array([rows[place["source"]][key] for place in places])
        for key in ("mass_fraction", "com_fraction", "gyration_fraction")
    )
    line = end - start
    axes = segment_axes(start, end, [place["transverse"] for place in places])
    masses = mass * (fraction / fraction.sum())
    principal = masses[:, None] * (gyration * np.linalg.norm(line, axis=1)[:, None]) ** 2
    inertia = (axes * principal[:, None]) @ axes.swapaxes(1, 2)
    center = start + middle[:, None] * line
    # the parts of a segment as one (parallel-axis theorem), of which each body has its share
    names = list(dict.fromkeys(place["name"] for place in places))
    segment = [names.index(place["name"]) for place in places]
    within = np.eye(len(names))[:, segment]
    whole = within @ masses
    middle = (within * masses) @ center / whole[:, None]
    arm = center - middle[segment]
    about = np.vecdot(arm, arm)[:, None, None] * np.eye(3) - arm[:, :, None] * arm[:, None]
    inertia = (within @ (inertia + masses[:, None, None] * about).reshape(-1, 9)).reshape(-1, 3, 3)
    body = [names.index(body.segment) for body in topology.bodies]
    share = np.array([body.share for body in topology.bodies])
    return MassProperties(
        mass=share * whole[body],
        center=middle[body],
        inertia=share[:, None, None] * inertia[body],
        names=tuple(body.name for body in topology.bodies),
    )


def segment_axes(start: Array, end: Array, transverse: str | list[str]) -> Array:
    """Sagittal, transverse and longitudinal axis of segments in the standing pose, as columns (..., 3, 3).

    start, end (..., 3) [m]: their ends; transverse: the global axis "x", "y" or "z" nearest to each transverse axis.
    """
    longitudinal = unit(end - start)
    across = np.eye(3)[np.searchsorted(["x", "y", "z"], transverse)]
    across = unit(across - np.vecdot(across, longitudinal)[..., None] * longitudinal)
    return np.stack([vector_product(across, longitudinal), across, longitudinal], axis=-1)


def compose(pieces: list[InertiaPart]) -> InertiaPart:
    """Several parts as one rigid segment (parallel-axis theorem), its center their mean if they have no mass."""
    mass = float(sum(m for m, _, _ in pieces))
    weights = [m / mass if mass > 0.0 else 1.0 / len(pieces) for m, _, _ in pieces]
    center = np.sum([weight * c for weight, (_, c, _) in zip(weights, pieces, strict=True)], axis=0)
    inertia = np.zeros((3, 3))
    for m, c, i in pieces:
        arm = c - center
        inertia += i + m * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    return mass, center, inertia


def length_scales(topology: Topology, lengths: dict[str, float]) -> dict[str, float]:
    """Factors on the offsets of scale groups that give measured segment lengths [m] (chi_L of Silva 2003, 3.1)."""
    pairs = bundled_toml(__package__, "definitions", "human_lengths.toml")["group"]
    check_known(lengths, "segment with a length", pairs)
    where = named_points(topology, topology.standing_layout())
    scales = {}
    for name, length in lengths.items():
        reference = float(np.linalg.norm(where[pairs[name][1]] - where[pairs[name][0]]))
        length = check_number(length, name, f"a length such as {reference:.2f} m")
        if not 0.2 < length / reference < 5.0:
            raise input_error(
                "bad_number",
                problem=f"a {name} of {length:g} m",
                expected=f"something like {reference:.2f} m",
            )
        scales[name] = length / reference
    return scales


def named_points(topology: Topology, standing: Array) -> dict[str, Array]:
    """Standing positions of the model's points, of mid-hip and of the fingertips."""
    where = dict(zip(topology.coordinate_names, standing, strict=True)) | {"mid_hip": np.zeros(3)}
    for side in SIDES:
        if f"hand_radial_{side}" in where:
            where[f"fingertip_{side}"] = 0.5 * (where[f"hand_radial_{side}"] + where[f"hand_ulnar_{side}"])
    return where


@dataclass(frozen=True)
class Segment:
    """One anatomical segment of a subject, all its bodies together.

    mass [kg]; length [m] between the ends; center: distance of the center of mass from the first end, as a share of
    the length; principal (3,) moments [kg m2] about the center of mass, in ascending order.
    """

    name: str
    mass: float
    length: float
    center: float
    principal: Array


def segments_of(model: Model) -> tuple[Segment, ...]:
    """The anatomical segments of a subject, in the order of the bodies; ends as in `human_lengths.toml`.

    Length and center are NaN for a segment whose ends are not known.
    """
    ends = bundled_toml(__package__, "definitions", "human_lengths.toml")["segment"]
    where = named_points(model.topology, model.standing)
    names, mass_of = (body.segment for body in model.topology.bodies), model.mass
    parts_of_bodies = zip(mass_of.mass, mass_of.center, mass_of.inertia, strict=True)
    pieces = grouped(zip(names, parts_of_bodies, strict=True))
    segments = []
    for name, parts in pieces.items():
        mass, center, inertia = compose(parts)
        length = share = float("nan")
        if name in ends and set(ends[name]) <= set(where):
            start, end = (where[point] for point in ends[name])
            length = float(np.linalg.norm(end - start))
            share = float((center - start) @ (end - start) / length**2)
        segments.append(Segment(name, mass, length, share, np.asarray(np.linalg.eigvalsh(inertia))))
    return tuple(segments)


def segment_table(model: Model) -> str:
    """A subject's segments as a printed table: mass, length, center of mass, principal moments of inertia.

    Args:
        model: the model of the subject.
    """
    rows = segments_of(model)
    total = sum(row.mass for row in rows)
    lines = [
        f"{'segment':<14}{'mass [kg]':>10}{'share [%]':>10}{'length [m]':>11}{'center [%]':>11}"
        f"{'principal moments of inertia [kg m2]':>39}"
    ]
    for row in rows:
        moments = "".join(f"{moment:13.5f}" for moment in row.principal)
        share, center = 100.0 * row.mass / total, 100.0 * row.center
        lines.append(f"{row.name:<14}{row.mass:10.3f}{share:10.2f}{row.length:11.4f}{center:11.1f}{moments}")
    return "\n".join([*lines, f"{'total':<14}{total:10.3f}{100.0:10.2f}"])


SEGMENTS_PLACE = "segments"
"""Place in the trial file for errors of stated segment values."""

_LEFT = (0.5, 2.0)
"""Allowed mass of the segments that are not stated, as a share of their mass in the table."""
_ROUNDED = 0.01
"""Largest difference of the sum of all stated masses from the body mass, as a share of it."""


@dataclass(frozen=True)
class StatedSegment:
    """Stated inertia of a segment; None: as in the table.

    mass [kg], or a factor on the table's mass; center: from the first end (0) to the second (1) of
    `human_lengths.toml`; inertia about the center of mass, about the sagittal (front-back), the transverse (left-right)
    and the longitudinal axis [kg m2].
    """

    mass: float | None = None
    mass_factor: float | None = None
    center: float | None = None
    inertia: tuple[float, float, float] | None = None

    def __post_init__(self) -> None:
        """Refuse impossible values."""
        if self.mass is not None:
            check_number(self.mass, "the mass of a segment", "0 or more [kg]", least=0.0)
        if self.mass_factor is not None:
            check_number(self.mass_factor, "mass_factor", "a positive number", above=0.0)
        if self.mass is not None and self.mass_factor is not None:
            raise input_error(
                "conflict", problem="both mass and mass_factor of a segment are given", expected="one of them"
            )
        if self.center is not None:
            check_number(self.center, "center", "a share of the length, -0.5 to 1.5", least=-0.5, most=1.5)
        if self.inertia is not None:
            inertia = check_array(self.inertia, "inertia", (3,), axis=0)
            if inertia.min() < 0.0 or 2.0 * inertia.max() > inertia.sum() * (1.0 + 1e-9):
                raise input_error(
                    "bad_number",
                    problem=f"no segment can have the moments of inertia {inertia.tolist()}",
                    expected="three moments above 0 [kg m2], each at most the sum of the other two",
                )
            if self.mass == 0.0 and inertia.any():
                raise input_error("conflict", problem="a segment without mass has moments of inertia")


def with_stated(
    topology: Topology, standing: Array, table: MassProperties, segments: Mapping[str, StatedSegment]
) -> MassProperties:
    """The mass properties of a subject with some segments as stated and the same body mass."""
    bodies = topology.bodies
    check_known(segments, "segment", topology.segments)
    for name, stated in segments.items():
        check_type(stated, StatedSegment, f"segments[{name!r}]", "a StatedSegment")
    masses, centers, inertias = table.mass.copy(), table.center.copy(), table.inertia.copy()
    unstated = np.array([body.segment not in segments for body in bodies])
    where, lengths = (
        named_points(topology, standing),
        bundled_toml(__package__, "definitions", "human_lengths.toml"),
    )
    places = bundled_toml(__package__, "definitions", "human_segments.toml")["segment"]
    for name, stated in segments.items():
        numbers = [k for k, body in enumerate(bodies) if body.segment == name]
        whole, center, inertia = compose(
            [(table.mass[k], table.center[k], table.inertia[k]) for k in numbers]
        )
        mass = whole * (1.0 if stated.mass_factor is None else stated.mass_factor)
        mass = mass if stated.mass is None else stated.mass
        start, end = (where[point] for point in lengths["segment"][name])
        if stated.center is not None:
            line = end - start
            center = center + (stated.center - (center - start) @ line / (line @ line)) * line
        if stated.inertia is None:
            inertia = mass / whole * inertia
        else:
            first, last = (where[point] for point in lengths["long_axis"].get(name, lengths["segment"][name]))
            transverse = next(place["transverse"] for place in places if place["name"] == name)
            axes = segment_axes(first, last, transverse)
            inertia = axes @ np.diag(stated.inertia) @ axes.T
        for k in numbers:
            share = table.mass[k] / whole
            masses[k], centers[k], inertias[k] = share * mass, center, share * inertia
    if not unstated.any():
        whole_body = replace(table, mass=masses, center=centers, inertia=inertias)
        if abs(whole_body.total - table.total) > _ROUNDED * table.total:
            raise input_error(
                "conflict",
                where=SEGMENTS_PLACE,
                problem=f"all segments are stated and weigh {whole_body.total:g} kg together, the "
                f"body {table.total:g} kg",
                expected="masses of the segments that add up to the mass of the body",
            )
        return whole_body
    left = (table.total - float(masses[~unstated].sum())) / float(table.mass[unstated].sum())
    if not _LEFT[0] < left < _LEFT[1]:
        raise input_error(
            "conflict",
            where=SEGMENTS_PLACE,
            problem=f"the stated segments leave the others {left:.2f} times their mass in the inertia table",
            expected="0.5 to 2 times",
            remedy="check the masses of the segments, and that the body mass counts prostheses in",
        )
    masses[unstated] *= left
    inertias[unstated] *= left
    return replace(table, mass=masses, center=centers, inertia=inertias)


_TAKEN = 0.5
"""Largest share of a segment's second moment that the distance between the centers of its parts may contribute."""


def divided(
    segment: str, ends: set[str], whole: InertiaPart, share: float, where: dict[str, Array]
) -> InertiaPart:
    """Mass properties of a body that is a part of a segment, with points `ends` and a share of the segment's mass.

    where: standing positions of the points. The inertias of both parts and m s (1 - s) |c_one - c_other|^2, masses
    at their centers, add up to the inertia of the segment. If the distance of the centers would contribute more than
    the share `_TAKEN` of the second moment, the centers are moved together. A segment without centers of parts in
    `human_segments.toml` gives its share, at the segment's center.
    """
    rules = bundled_toml(__package__, "definitions", "human_segments.toml")["division"]
    mass, center, inertia = whole
    for rule in rules:
        if rule["segment"] == segment:
            break
    else:
        return share * mass, center, share * inertia
    first = ends == {rule["start"], rule["end"]}
    part_share = share if first else 1.0 - share
    start, end = where[rule["start"]], where[rule["end"]]
    apart = (start + rule["center"] * (end - start) - center) / (1.0 - part_share)
    moved = mass * part_share * (1.0 - part_share)
    removed = moved * apart @ np.linalg.solve(second_moment(inertia), apart)
    apart = min(1.0, float(np.sqrt(_TAKEN / max(removed, 1e-12)))) * apart
    left = inertia - moved * (apart @ apart * np.eye(3) - np.outer(apart, apart))
    if first:
        return share * mass, center + (1.0 - part_share) * apart, rule["inertia_share"] * left
    return share * mass, center - part_share * apart, (1.0 - rule["inertia_share"]) * left
