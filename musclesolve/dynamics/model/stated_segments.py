"""Segments of a subject that are stated, not those of the inertia table: prostheses, missing segments, casts.

What is not stated of a segment is the table's: its center, and moments of inertia in proportion to its mass. The other
segments share what is left of the body mass as they do in the table, so the total stays that of the body.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.names import unknown_name
from musclesolve.dynamics.model.data_files import read_table
from musclesolve.dynamics.model.mass_matrix import MassProperties
from musclesolve.dynamics.model.segment_inertia import Part, compose, named_points
from musclesolve.dynamics.model.topology import Topology
from musclesolve.errors import InputError

PLACE = "segments"
"""Where an error lies that is about what was stated."""

_LEFT = (0.5, 2.0)
"""What is left for the other segments, as a share of their mass in the table, that a body can have."""


@dataclass(frozen=True)
class StatedSegment:
    """What is known of a segment; None: as in the table.

    mass [kg], or a factor on that of the table; center: from the first end (0) to the second (1) of
    `human_lengths.toml`; inertia about the center of mass, about the sagittal (front-back), the transverse (left-right)
    and the longitudinal axis [kg m2].
    """

    mass: float | None = None
    mass_factor: float | None = None
    center: float | None = None
    inertia: tuple[float, float, float] | None = None


def with_stated(
    topology: Topology, standing: Array, table: MassProperties, segments: Mapping[str, StatedSegment]
) -> MassProperties:
    """The mass properties of a subject with some segments as stated, of the same mass together.

    Raises:
        InputError: an unknown segment, an inertia that no body can have, or masses that leave the rest of the body less
            than half or more than twice of what it has in the table.
    """
    bodies = topology.bodies
    known = list(dict.fromkeys(body.segment for body in bodies))
    for name in sorted(set(segments) - set(known)):
        raise unknown_name(name, "segment", known)
    masses, centers, inertias = table.mass.copy(), table.center.copy(), table.inertia.copy()
    others = np.array([body.segment not in segments for body in bodies])
    for name, stated in segments.items():
        own = [k for k, body in enumerate(bodies) if body.segment == name]
        whole = compose([(table.mass[k], table.center[k], table.inertia[k]) for k in own])
        mass, center, inertia = _stated(name, whole, stated, named_points(topology, standing))
        for k in own:
            share = table.mass[k] / whole[0]
            masses[k], centers[k], inertias[k] = share * mass, center, share * inertia
    left = (table.total - float(masses[~others].sum())) / float(table.mass[others].sum())
    if not _LEFT[0] < left < _LEFT[1]:
        raise InputError(
            f"the stated segments leave the others {left:.2f} times their mass in the inertia table",
            code="conflict",
            where=PLACE,
            expected="0.5 to 2 times",
            remedy="check the masses of the segments, and that the body mass counts prostheses in",
        )
    masses[others] *= left
    inertias[others] *= left
    return replace(table, mass=masses, center=centers, inertia=inertias)


def _stated(name: str, whole: Part, stated: StatedSegment, where: dict[str, Array]) -> Part:
    """Mass, center and inertia of one segment, what is stated before what the table gives."""
    mass, center, inertia = whole
    own = mass * (1.0 if stated.mass_factor is None else stated.mass_factor)
    own = own if stated.mass is None else stated.mass
    lengths = read_table("definitions", "human_lengths.toml")
    start, end = (where[point] for point in lengths["segment"][name])
    if stated.center is not None:
        line = end - start
        center = center + (stated.center - (center - start) @ line / (line @ line)) * line
    if stated.inertia is None:
        return own, center, own / mass * inertia
    axes = _axes(name, *(where[point] for point in lengths["long_axis"].get(name, lengths["segment"][name])))
    return own, center, axes @ np.diag(stated.inertia) @ axes.T


def _axes(name: str, start: Array, end: Array) -> Array:
    """Sagittal, transverse and longitudinal axis of a segment in the standing pose, as columns."""
    places = read_table("definitions", "human_segments.toml")["segment"]
    transverse = next(place["transverse"] for place in places if place["name"] == name)
    longitudinal = (end - start) / np.linalg.norm(end - start)
    across = np.eye(3)["xyz".index(transverse)]
    across = across - (across @ longitudinal) * longitudinal
    across /= np.linalg.norm(across)
    return np.column_stack([np.cross(across, longitudinal), across, longitudinal])
