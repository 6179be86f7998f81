"""A subject: the inverse human model with the lengths that were measured and inertia from an anthropometric table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.checks import check_array
from musclesolve.dynamics.model.mass_matrix import MassProperties
from musclesolve.dynamics.model.model import Model
from musclesolve.dynamics.model.printed_inertia import printed_inertia
from musclesolve.dynamics.model.segment_inertia import length_scales, segment_inertia
from musclesolve.dynamics.model.topology import Topology, standing_layout
from musclesolve.dynamics.model.topology_file import load_topology
from musclesolve.errors import InputError

INERTIA_TABLES = ("de_leva_1996", "silva_2003")
"""Tables that `human_model` knows."""


def human_model(
    mass: float = 70.25,
    stature: float = 1.70,
    sex: str = "male",
    offsets: dict[str, Array] | None = None,
    shoe_mass: float = 0.0,
    lengths: dict[str, float] | None = None,
    inertia: str = "de_leva_1996",
    allow_impossible: bool = False,
    mass_factors: Mapping[str, float] | None = None,
) -> Model:
    """The 33-body, 44-degree-of-freedom inverse model of a subject.

    Args:
        mass: body mass, shoes included [kg].
        stature: body height [m]; scales every length that is not measured (Silva 2003, 3.1).
        sex: "female" or "male", for the inertia table (de Leva 1996).
        offsets: measured standing-pose offsets of points from their parents [m] and directions of vectors.
        shoe_mass: mass of one shoe [kg], carried by the foot in proportion to its own mass.
        lengths: measured lengths [m] of "thigh", "shank", "foot", "forearm" ..., both sides; offsets win over them.
        inertia: "de_leva_1996", by sex, or "silva_2003", Table 3.8 of the thesis as printed, scaled (3.1).
        allow_impossible: take the printed table although some of its bodies cannot exist (correction C2).
        mass_factors: segment -> factor on the mass and the inertia that the table gives it; all segments are then
            scaled alike to the mass of the body.

    Raises:
        InputError: a mass, stature, sex, length or table that cannot be, or an offset of an unknown point.
    """
    for what, value in (("mass", mass), ("stature", stature), ("shoe_mass", shoe_mass)):
        check_array(value, what, ())
    if not (1.0 <= mass <= 500.0 and 0.3 <= stature <= 2.8):
        raise InputError(f"mass {mass:g} kg, stature {stature:g} m", expected="1 to 500 kg and 0.3 to 2.8 m")
    topology = load_topology("inverse_human")
    unknown = set(offsets or {}) - set(topology.coordinate_names)
    if unknown:
        raise InputError(f"offsets of {sorted(unknown)}, which the model does not have")
    plain = standing_layout(topology)
    height = float(np.ptp(plain[: topology.point_count, 2]))
    groups = {point.scale: stature / height for point in topology.points}
    standing = standing_layout(topology, groups | length_scales(topology, lengths or {}), offsets)
    if not 0.0 <= shoe_mass < 0.1 * mass:
        raise InputError(f"a shoe of {shoe_mass:g} kg", expected="less than a tenth of the body mass")
    if inertia not in INERTIA_TABLES:
        raise InputError(f"there is no inertia table {inertia!r}", expected=" or ".join(INERTIA_TABLES))
    if inertia == "silva_2003":
        bare = printed_inertia(topology, standing, mass - 2.0 * shoe_mass, sex, allow_impossible)
    else:
        bare = segment_inertia(topology, standing, mass - 2.0 * shoe_mass, sex, stature)
    shod = _shod(topology, bare, shoe_mass)
    return Model(topology, standing, _weighed(topology, shod, mass_factors or {}), stature=stature)


def segment_names(topology: Topology) -> list[str]:
    """Segments in the order of the bodies."""
    return list(dict.fromkeys(body.segment for body in topology.bodies))


def _weighed(topology: Topology, mass: MassProperties, factors: Mapping[str, float]) -> MassProperties:
    """Segments heavier and lighter than in the table, of the same mass together; centers stay where they are."""
    if unknown := sorted(set(factors) - set(segment_names(topology))):
        raise InputError(f"there is no segment {unknown[0]!r}", expected=", ".join(segment_names(topology)))
    factor = np.array([factors.get(body.segment, 1.0) for body in topology.bodies])
    factor *= mass.total / float((factor * mass.mass).sum())
    return replace(mass, mass=factor * mass.mass, inertia=factor[:, None, None] * mass.inertia)


def _shod(topology: Topology, bare: MassProperties, shoe_mass: float) -> MassProperties:
    """Feet made heavier by a shoe; their inertia grows in proportion."""
    factor = np.ones(len(bare.mass))
    for side in "rl":
        foot = topology.body_index[f"foot_{side}"]
        factor[foot] += shoe_mass / bare.mass[foot]
    return replace(bare, mass=factor * bare.mass, inertia=factor[:, None, None] * bare.inertia)
