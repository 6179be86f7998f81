"""Inertia of a subject's segments: de Leva's table by sex, the thesis' by scaling, and the table of a subject.

Lengths are those of the subject's model, so that measured ones count (Silva 2003, 3.1.3).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.checks import check_choice
from musclesolve._util.names import unknown_name
from musclesolve.dynamics.model.data_files import read_table
from musclesolve.dynamics.model.mass_matrix import MassProperties
from musclesolve.dynamics.model.model import Model
from musclesolve.dynamics.model.topology import Topology, standing_layout
from musclesolve.errors import InputError

Part = tuple[float, Array, Array]
"""Mass [kg], center (3,) [m] and inertia (3, 3) [kg m2] about it, global axes of the standing pose."""

_TRUNK_PARTS = ("lower_trunk", "middle_trunk", "upper_trunk", "head")
_TRUNK_LEVELS = ("omphalion", "xiphion", "cervicale", "vertex")


def segment_inertia(
    topology: Topology, standing: Array, mass: float, sex: str, stature: float | None = None
) -> MassProperties:
    """Mass, center and inertia of every body from the segments of de Leva (1996), by sex.

    I = m (k L)^2 about each principal axis, L the subject's own segment length; segments made of two parts are
    composed by the parallel-axis theorem; a body takes its share of its segment. The levels of the trunk lie on the
    line from mid-hip to the root of the neck, at the table's heights scaled by stature (that of the layout unless
    given). The printed mass fractions are rounded; they are divided by their sum.
    """
    table = read_table("anthropometry", "de_leva_1996.toml")
    places = read_table("definitions", "human_segments.toml")
    check_choice(sex, "sex", ("female", "male"))
    rows = table[sex]["segment"]
    height = float(np.ptp(standing[: topology.point_count, 2])) if stature is None else stature
    where = _levels(topology, standing, rows, height / table[sex]["stature"])
    mass = mass / sum(rows[place["source"]]["mass_fraction"] for place in places["segment"])
    parts: dict[str, list[Part]] = {}
    for place in places["segment"]:
        part = _part(
            rows[place["source"]], where[place["start"]], where[place["end"]], place["transverse"], mass
        )
        parts.setdefault(place["name"], []).append(part)
    whole = {name: compose(pieces) for name, pieces in parts.items()}
    chosen = [whole[body.segment] for body in topology.bodies]
    share = np.array([body.share for body in topology.bodies])
    return MassProperties(
        mass=share * np.array([m for m, _, _ in chosen]),
        center=np.array([c for _, c, _ in chosen]),
        inertia=share[:, None, None] * np.array([i for _, _, i in chosen]),
        names=tuple(body.name for body in topology.bodies),
    )


def _levels(topology: Topology, standing: Array, rows: dict, scale: float) -> dict[str, Array]:
    """Standing positions by name: the model's points, the fingertips and the levels of the trunk."""
    where = named_points(topology, standing)
    step = scale * where["neck_base"] / np.linalg.norm(where["neck_base"])
    level = np.zeros(3)
    for part, name in zip(_TRUNK_PARTS, _TRUNK_LEVELS, strict=True):
        level = level + step * rows[part]["length"]
        where[name] = level
    return where


def _part(row: dict, start: Array, end: Array, transverse: str, mass: float) -> Part:
    """Mass, center and inertia in global axes of one segment of the table."""
    along = end - start
    length = float(np.linalg.norm(along))
    longitudinal = along / length
    across = np.eye(3)["xyz".index(transverse)]
    across = across - (across @ longitudinal) * longitudinal
    across /= np.linalg.norm(across)
    axes = np.column_stack([np.cross(across, longitudinal), across, longitudinal])
    part_mass = mass * row["mass_fraction"]
    principal = part_mass * (np.array(row["gyration_fraction"]) * length) ** 2
    return part_mass, start + row["com_fraction"] * along, axes @ np.diag(principal) @ axes.T


def compose(pieces: list[Part]) -> Part:
    """Several parts as one rigid segment (parallel-axis theorem); without mass its center is the middle of theirs."""
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
    if not lengths:
        return {}
    pairs = read_table("definitions", "human_lengths.toml")["group"]
    for name in sorted(set(lengths) - set(pairs)):
        raise unknown_name(name, "segment with a length", pairs)
    where = named_points(topology, standing_layout(topology))
    scales = {}
    for name, length in lengths.items():
        reference = float(np.linalg.norm(where[pairs[name][1]] - where[pairs[name][0]]))
        if not 0.2 < length / reference < 5.0:
            raise InputError(
                f"a {name} of {length:g} m", code="bad_number", expected=f"something like {reference:.2f} m"
            )
        scales[name] = length / reference
    return scales


def named_points(topology: Topology, standing: Array) -> dict[str, Array]:
    """Standing positions of the model's points, of mid-hip and of the fingertips."""
    where = dict(zip(topology.coordinate_names, standing, strict=True)) | {"mid_hip": np.zeros(3)}
    for side in "rl":
        if f"hand_radial_{side}" in where:
            where[f"fingertip_{side}"] = 0.5 * (where[f"hand_radial_{side}"] + where[f"hand_ulnar_{side}"])
    return where


@dataclass(frozen=True)
class Segment:
    """One anatomical segment of a subject, its bodies together.

    mass [kg]; length [m] between its ends and center, the center of mass's distance from the first end along it as a
    share of the length; principal (3,) moments [kg m2] about the center of mass, in ascending order.
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
    ends = read_table("definitions", "human_lengths.toml")["segment"]
    where = named_points(model.topology, model.standing)
    pieces: dict[str, list[Part]] = {}
    mass = model.mass
    for body, part in zip(
        model.topology.bodies, zip(mass.mass, mass.center, mass.inertia, strict=True), strict=True
    ):
        pieces.setdefault(body.segment, []).append(part)
    return tuple(_segment(name, compose(parts), ends.get(name), where) for name, parts in pieces.items())


def _segment(name: str, whole: Part, ends: list[str] | None, where: dict[str, Array]) -> Segment:
    mass, center, inertia = whole
    length = share = float("nan")
    if ends is not None and set(ends) <= set(where):
        line = where[ends[1]] - where[ends[0]]
        length = float(np.linalg.norm(line))
        share = float((center - where[ends[0]]) @ line / length**2)
    return Segment(name, mass, length, share, np.asarray(np.linalg.eigvalsh(inertia)))


def segment_table(model: Model) -> str:
    """A subject's segments as a printed table: mass, length, center of mass, principal moments of inertia."""
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
