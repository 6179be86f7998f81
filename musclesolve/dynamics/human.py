"""A person: the inverse human model with the lengths that were measured and inertia from an anthropometric table."""

from __future__ import annotations

import tomllib
from importlib import resources

import numpy as np

from musclesolve.dynamics.inertia import MassProperties
from musclesolve.dynamics.model import Model
from musclesolve.dynamics.topology import Topology, load_topology, standing_layout
from musclesolve.errors import InputError

Array = np.ndarray

_TRUNK_PARTS = ("lower_trunk", "middle_trunk", "upper_trunk", "head")
_TRUNK_LEVELS = ("omphalion", "xiphion", "cervicale", "vertex")


def human_model(
    mass: float = 70.25,
    stature: float = 1.70,
    sex: str = "male",
    offsets: dict[str, Array] | None = None,
    shoe_mass: float = 0.0,
) -> Model:
    """The 33-body, 44-degree-of-freedom inverse model of one person.

    Args:
        mass: body mass, shoes included [kg].
        stature: body height [m]; scales every length that is not measured (Silva 2003, 3.1).
        sex: "female" or "male", for the inertia table (de Leva 1996).
        offsets: measured standing-pose offsets of points from their parents [m] and directions of vectors.
        shoe_mass: mass of one shoe [kg], carried by the foot in proportion to its own mass.

    Raises:
        InputError: a mass, stature or sex that cannot be, or an offset of an unknown point.
    """
    if not (1.0 <= mass <= 500.0 and 0.3 <= stature <= 2.8):
        raise InputError(f"mass {mass:g} kg, stature {stature:g} m", expected="1 to 500 kg and 0.3 to 2.8 m")
    topology = load_topology("inverse_human")
    unknown = set(offsets or {}) - set(topology.coordinate_names)
    if unknown:
        raise InputError(f"offsets of {sorted(unknown)}, which the model does not have")
    plain = standing_layout(topology)
    height = float(np.ptp(plain[: topology.point_count, 2]))
    groups = {point.scale: stature / height for point in topology.points}
    standing = standing_layout(topology, groups, offsets)
    if not 0.0 <= shoe_mass < 0.1 * mass:
        raise InputError(f"a shoe of {shoe_mass:g} kg", expected="less than a tenth of the body mass")
    bare = segment_inertia(topology, standing, mass - 2.0 * shoe_mass, sex, stature)
    return Model(topology, standing, _shod(topology, bare, shoe_mass), stature=stature)


def _shod(topology: Topology, bare: MassProperties, shoe_mass: float) -> MassProperties:
    """Feet made heavier by a shoe; their inertia grows in proportion."""
    factor = np.ones(len(bare.mass))
    for side in "rl":
        foot = topology.body_index[f"foot_{side}"]
        factor[foot] += shoe_mass / bare.mass[foot]
    return MassProperties(factor * bare.mass, bare.center, factor[:, None, None] * bare.inertia)


def segment_inertia(
    topology: Topology, standing: Array, mass: float, sex: str, stature: float | None = None
) -> MassProperties:
    """Mass, centre and inertia of every body from the segments of de Leva (1996), by sex.

    I = m (k L)^2 about each principal axis, L the person's own segment length; segments made of two parts are
    composed by the parallel-axis theorem; a body takes its share of its segment. The levels of the trunk lie on the
    line from mid-hip to the root of the neck, at the table's heights scaled by stature (that of the layout unless
    given). The printed mass fractions are rounded; they are divided by their sum.
    """
    table = _read("anthropometry", "de_leva_1996.toml")
    places = _read("models", "human_segments.toml")
    if sex not in ("female", "male"):
        raise InputError(f"sex {sex!r}", expected='"female" or "male"')
    rows = table[sex]["segment"]
    height = float(np.ptp(standing[: topology.point_count, 2])) if stature is None else stature
    where = _levels(topology, standing, rows, height / table[sex]["stature"])
    mass = mass / sum(rows[place["source"]]["mass_fraction"] for place in places["segment"])
    parts: dict[str, list[tuple[float, Array, Array]]] = {}
    for place in places["segment"]:
        part = _part(
            rows[place["source"]], where[place["start"]], where[place["end"]], place["transverse"], mass
        )
        parts.setdefault(place["name"], []).append(part)
    whole = {name: _compose(pieces) for name, pieces in parts.items()}
    chosen = [whole[body.segment] for body in topology.bodies]
    share = np.array([body.share for body in topology.bodies])
    return MassProperties(
        mass=share * np.array([m for m, _, _ in chosen]),
        center=np.array([c for _, c, _ in chosen]),
        inertia=share[:, None, None] * np.array([i for _, _, i in chosen]),
    )


def _read(folder: str, file: str) -> dict:
    return tomllib.loads(
        (resources.files("musclesolve.dynamics") / folder / file).read_text(encoding="utf-8")
    )


def _levels(topology: Topology, standing: Array, rows: dict, scale: float) -> dict[str, Array]:
    """Standing positions by name: the model's points, the fingertips and the levels of the trunk."""
    where = dict(zip(topology.coordinate_names, standing, strict=True)) | {"mid_hip": np.zeros(3)}
    for side in "rl":
        where[f"fingertip_{side}"] = 0.5 * (where[f"hand_radial_{side}"] + where[f"hand_ulnar_{side}"])
    step = scale * where["neck_base"] / np.linalg.norm(where["neck_base"])
    level = np.zeros(3)
    for part, name in zip(_TRUNK_PARTS, _TRUNK_LEVELS, strict=True):
        level = level + step * rows[part]["length"]
        where[name] = level
    return where


def _part(row: dict, start: Array, end: Array, transverse: str, mass: float) -> tuple[float, Array, Array]:
    """Mass, centre and inertia in global axes of one segment of the table."""
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


def _compose(pieces: list[tuple[float, Array, Array]]) -> tuple[float, Array, Array]:
    """Several parts as one rigid segment (parallel-axis theorem)."""
    mass = float(sum(m for m, _, _ in pieces))
    center = np.sum([m * c for m, c, _ in pieces], axis=0) / mass
    inertia = np.zeros((3, 3))
    for m, c, i in pieces:
        arm = c - center
        inertia += i + m * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    return mass, center, inertia
