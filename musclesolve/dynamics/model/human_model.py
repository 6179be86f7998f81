"""A subject: the inverse human model, by measured lengths and an anthropometric table, and the forward model from it.

The forward model has twelve bodies and 29 degrees of freedom; hands and feet are rigid with forearms and shanks.
"""

from collections.abc import Mapping

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.checks import check_choice, check_number, check_type
from musclesolve._util.messages import check_known
from musclesolve._util.sides import SIDES
from musclesolve.constants import SEXES
from musclesolve.dynamics.model.model import Model, check_model
from musclesolve.dynamics.model.rigid_body import MassProperties
from musclesolve.dynamics.model.segment_inertia import (
    InertiaPart,
    StatedSegment,
    compose,
    divided,
    length_scales,
    segment_inertia,
    with_stated,
)
from musclesolve.dynamics.model.topology import Topology, load_topology

_ONE_CENTER = 1e-9  # Centers nearer to each other than this [m] are one


def human_model(
    mass: float = 70.25,
    stature: float = 1.70,
    sex: str = "male",
    offsets: dict[str, Array] | None = None,
    shoe_mass: float = 0.0,
    lengths: dict[str, float] | None = None,
    segments: Mapping[str, StatedSegment] | None = None,
    topology: Topology | None = None,
    age: float | None = None,
) -> Model:
    """The 33-body, 44-degree-of-freedom inverse model of a subject.

    Args:
        mass: body mass, shoes included [kg].
        stature: body height [m]; scales every length that is not measured (Silva 2003, 3.1).
        sex: "female" or "male", for the inertia table.
        offsets: measured standing-pose offsets of points from their parents [m] and directions of vectors.
        shoe_mass: mass of one shoe [kg], carried by the foot in proportion to its own mass.
        lengths: measured lengths [m] of "thigh", "shank", "foot", "forearm" ..., both sides; offsets win over them.
        segments: segment -> stated mass properties instead of the table, shoe included (`with_stated`).
        topology: points, bodies and joints, from `load_topology`; the bundled "inverse_human" unless given.
        age: [years]; below 18 masses are as in children (`segment_rows`), else or by default as in adults.

    Raises:
        InputError: an impossible mass, stature, sex, age, length, segment or table, or an offset of an unknown point.

    Examples:
        >>> model = ms.dynamics.human_model(mass=60.0, stature=1.65, sex="female")
        >>> len(model.topology.bodies), len(model.topology.dof_names), round(model.mass.total, 6)
        (33, 44, 60.0)
    """
    body = sized_body(mass, stature, sex, offsets, shoe_mass, lengths, segments, topology, age)
    return Model(*body, stature=float(stature))


def sized_body(
    mass: float,
    stature: float,
    sex: str,
    offsets: dict[str, Array] | None,
    shoe_mass: float,
    lengths: dict[str, float] | None,
    segments: Mapping[str, StatedSegment] | None,
    topology: Topology | None,
    age: float | None,
) -> tuple[Topology, Array, MassProperties]:
    """Topology, standing pose and mass properties of the model of a subject; see `human_model`."""
    mass, stature = check_size(mass, stature)
    check_choice(sex, "sex", SEXES)
    if age is not None:
        age = check_number(age, "age", "0 to 120 years", least=0.0, most=120.0)
    shoe_mass = check_number(
        shoe_mass, "shoe_mass", "less than a tenth of the body mass", least=0.0, below=0.1 * mass
    )
    topology = load_topology("inverse_human") if topology is None else topology
    check_type(topology, Topology, "topology", "points, bodies and joints, from load_topology()")
    for argument, name in ((offsets, "offsets"), (lengths, "lengths"), (segments, "segments")):
        check_type({} if argument is None else argument, Mapping, name, "a dict by names")
    check_known(offsets or (), "point or vector", topology.coordinate_names, " to have an offset")
    # Scaled by stature, then by measured lengths, then by measured offsets.
    height = float(np.ptp(topology.standing_layout()[: topology.point_count, 2]))
    scales = {point.scale: stature / height for point in topology.points}
    if lengths:
        scales |= length_scales(topology, lengths)
    standing = topology.standing_layout(scales, offsets)
    inertia = segment_inertia(topology, standing, mass - 2.0 * shoe_mass, sex, stature, age)
    if shoe_mass:
        inertia = with_shoes(topology, inertia, shoe_mass)
    if segments:
        inertia = with_stated(topology, standing, inertia, segments)
    return topology, standing, inertia


def with_mass_factors(model: Model, factors: Mapping[str, float]) -> Model:
    """A model with some segments heavier or lighter; then one factor on all segments restores the body mass.

    factors: segment -> factor on its mass and its inertia; centers stay where they are.
    """
    topology, table = model.topology, model.mass
    check_known(factors, "segment", topology.segments)
    factor = np.array([factors.get(body.segment, 1.0) for body in topology.bodies])
    factor *= table.total / float((factor * table.mass).sum())
    return model.weighing(table.scaled(factor))


def check_size(mass: float, stature: float) -> tuple[float, float]:
    """Return body mass [kg] and stature [m]; refuse impossible values."""
    mass = check_number(mass, "mass", "1 to 500 kg", least=1.0, most=500.0)
    return mass, check_number(stature, "stature", "0.3 to 2.8 m", least=0.3, most=2.8)


def with_shoes(topology: Topology, bare: MassProperties, shoe_mass: float) -> MassProperties:
    """Mass properties with a shoe added to each foot; the inertia of the foot grows in proportion to its mass."""
    factor = np.ones(len(bare.mass))
    for side in SIDES:
        foot = topology.body_index[f"foot_{side}"]
        factor[foot] += shoe_mass / bare.mass[foot]
    return bare.scaled(factor)


def forward_human_model(subject: Model | None = None) -> Model:
    """Forward model of a subject (Silva 2003, 3.2.1, Tables 3.5, 3.6).

    Joints have the positions of the subject's joints, and each body has the inertia of the segments that it combines.
    The two models agree as long as wrists, ankles, shoulder girdle and the head against the neck do not move.

    Args:
        subject: a `human_model`; the standard subject unless given.

    Examples:
        >>> ms.dynamics.forward_human_model().tree.joint_count
        23
    """
    subject = human_model() if subject is None else check_model(subject)
    topology, mass = load_topology("forward_human"), subject.mass
    where = dict(zip(subject.topology.coordinate_names, subject.standing, strict=True))
    offsets = {name: where[name] for name in topology.vectors if name in where}
    where[topology.origin] = np.zeros(3)
    for point in topology.points:
        if point.name in where:
            offsets[point.name] = where[point.name] - where[point.parent]
            continue
        # How much longer than in the file the subject's segment is that scales the point.
        side = point.name[-2:]
        same = next(p for p in subject.topology.points if p.scale == point.scale and p.name.endswith(side))
        length = np.linalg.norm(where[same.name] - where[same.parent])
        offsets[point.name] = float(length / np.linalg.norm(same.offset)) * np.array(point.offset)
    # A body combines the subject's bodies of the segments that it names. Where several bodies share a segment, each
    # takes the subject's bodies that contain its points; where these all have the center of the segment (de Leva's
    # head), each takes its share of the segment.
    whole: list[InertiaPart] = []
    for body in topology.bodies:
        names, points = body.segment.split(" + "), set(body.points)
        chosen = [k for k, other in enumerate(subject.topology.bodies) if other.segment in names]
        one_center = np.ptp(mass.center[chosen], axis=0).max() < _ONE_CENTER
        if body.share < 1.0 and not one_center:
            chosen = [k for k in chosen if points <= set(subject.topology.bodies[k].points)]
        part = compose([(mass.mass[k], mass.center[k], mass.inertia[k]) for k in chosen])
        if body.share < 1.0 and one_center:
            part = divided(body.segment, points, part, body.share, where)
        whole.append(part)
    masses, centers, inertias = (np.array(values) for values in zip(*whole, strict=True))
    bodies = tuple(body.name for body in topology.bodies)
    standing = topology.standing_layout(offsets=offsets)
    return Model(
        topology,
        standing,
        MassProperties(masses, centers, inertias, mass.allow_impossible, bodies),
        subject.gravity,
        subject.stature,
        subject.pelvis_depth,
    )
