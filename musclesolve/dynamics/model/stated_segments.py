"""Segments of a subject that are stated, not those of the inertia table: prostheses, missing segments, casts.

What is not stated of a segment is the table's: its center, and moments of inertia in proportion to its mass. The other
segments share what is left of the body mass as they do in the table, so the total stays that of the body.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.checks import check_array, check_number
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
_ROUNDED = 0.01
"""By so much of the mass of the body, masses that are stated of all segments may miss it."""


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

    def __post_init__(self) -> None:
        """Refuse what no segment has."""
        if self.mass is not None:
            check_number(self.mass, "the mass of a segment", "0 or more [kg]", least=0.0)
        if self.mass_factor is not None:
            check_number(self.mass_factor, "mass_factor", "a positive number", above=0.0)
        if self.mass is not None and self.mass_factor is not None:
            raise InputError(
                "both mass and mass_factor of a segment are given", code="conflict", expected="one of them"
            )
        if self.center is not None:
            check_number(self.center, "center", "a share of the length, -0.5 to 1.5", least=-0.5, most=1.5)
        if self.inertia is not None:
            inertia = check_array(self.inertia, "inertia", (3,), axis=0)
            if inertia.min() < 0.0 or 2.0 * inertia.max() > inertia.sum() * (1.0 + 1e-9):
                raise InputError(
                    f"the moments of inertia {inertia.tolist()} are those of no segment",
                    code="bad_number",
                    expected="three moments above 0 [kg m2], each at most the sum of the other two",
                )
            if self.mass == 0.0 and inertia.any():
                raise InputError("a segment without mass has moments of inertia", code="conflict")


def with_stated(
    topology: Topology, standing: Array, table: MassProperties, segments: Mapping[str, StatedSegment]
) -> MassProperties:
    """The mass properties of a subject with some segments as stated, of the same mass together.

    Raises:
        InputError: an unknown segment, an inertia that no body can have, or masses that leave the rest of the body less
            than half or more than twice of what it has in the table, or miss that of the body where all are stated.
    """
    bodies = topology.bodies
    known = list(dict.fromkeys(body.segment for body in bodies))
    for name in sorted(set(segments) - set(known)):
        raise unknown_name(name, "segment", known)
    for name, stated in segments.items():
        if not isinstance(stated, StatedSegment):
            raise InputError(
                f"segments[{name!r}] is {stated!r:.60}", code="bad_type", expected="a StatedSegment"
            )
    masses, centers, inertias = table.mass.copy(), table.center.copy(), table.inertia.copy()
    others = np.array([body.segment not in segments for body in bodies])
    for name, stated in segments.items():
        own = [k for k, body in enumerate(bodies) if body.segment == name]
        whole = compose([(table.mass[k], table.center[k], table.inertia[k]) for k in own])
        mass, center, inertia = _stated(name, whole, stated, named_points(topology, standing))
        for k in own:
            share = table.mass[k] / whole[0]
            masses[k], centers[k], inertias[k] = share * mass, center, share * inertia
    if not others.any():
        return _all_stated(replace(table, mass=masses, center=centers, inertia=inertias), table.total)
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


def _all_stated(stated: MassProperties, total: float) -> MassProperties:
    """Mass properties without any of the table, if their masses are those of the body."""
    if abs(stated.total - total) > _ROUNDED * total:
        raise InputError(
            f"all segments are stated and weigh {stated.total:g} kg together, the body {total:g} kg",
            code="conflict",
            where=PLACE,
            expected="masses of the segments that add up to the mass of the body",
        )
    return stated


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
