"""A subject's forward model: twelve bodies, 29 degrees of freedom, hands and feet rigid with forearms and shanks."""

from __future__ import annotations

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.dynamics.model.human_model import human_model
from musclesolve.dynamics.model.mass_matrix import MassProperties
from musclesolve.dynamics.model.model import Model
from musclesolve.dynamics.model.segment_inertia import Part, compose
from musclesolve.dynamics.model.topology import Point, Topology, standing_layout
from musclesolve.dynamics.model.topology_file import load_topology


def forward_human_model(person: Model | None = None) -> Model:
    """The forward model (Silva 2003, 3.2.1, Tables 3.5, 3.6) of a subject, given as a `human_model` (the standard
    subject).

    Joints lie where the subject's are, and each body has the inertia of the segments that it stands for, so the two
    models are the same body while wrists, ankles and shoulder girdle do not move.
    """
    person = human_model() if person is None else person
    topology = load_topology("forward_human")
    standing = standing_layout(topology, offsets=_offsets(topology, person))
    return Model(topology, standing, _inertia(topology, person), person.gravity, person.stature)


def _offsets(topology: Topology, person: Model) -> dict[str, Array]:
    """Offsets of points and directions of vectors that place the shared ones where the subject has them."""
    known = dict(zip(person.topology.coordinate_names, person.standing, strict=True))
    known[topology.origin] = np.zeros(3)
    offsets = {name: known[name] for name in topology.vectors if name in known}
    for point in topology.points:
        if point.name in known:
            offsets[point.name] = known[point.name] - known[point.parent]
        else:
            offsets[point.name] = _growth(point, person) * np.array(point.offset)
    return offsets


def _growth(point: Point, person: Model) -> float:
    """How much longer than in the file the subject's segment is that scales a point."""
    side = point.name[-2:]
    same = next(p for p in person.topology.points if p.scale == point.scale and p.name.endswith(side))
    length = np.linalg.norm(
        person.standing[person.slot(same.name)] - person.standing[person.slot(same.parent)]
    )
    return float(length / np.linalg.norm(same.offset))


def _inertia(topology: Topology, person: Model) -> MassProperties:
    """Inertia of every body: the subject's segments that it names, taken together, times its share."""
    whole: list[Part] = []
    for body in topology.bodies:
        names = body.segment.split(" + ")
        chosen = [k for k, other in enumerate(person.topology.bodies) if other.segment in names]
        mass, center, inertia = compose(
            [(person.mass.mass[k], person.mass.center[k], person.mass.inertia[k]) for k in chosen]
        )
        whole.append((body.share * mass, center, body.share * inertia))
    masses, centers, inertias = zip(*whole, strict=True)
    bodies = tuple(body.name for body in topology.bodies)
    arrays = np.array(masses), np.array(centers), np.array(inertias)
    return MassProperties(*arrays, person.mass.allow_impossible, bodies)
