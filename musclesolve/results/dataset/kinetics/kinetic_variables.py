"""Variables of a result: joint powers, contact forces in anatomical axes, free moment of the ground."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.motion.ground_reaction import GroundReaction
from musclesolve.pipeline.types import LegResult, Mechanics, Prepared

Variable = tuple[tuple[str, ...], Array]

DIRECTIONS = ("axial", "anterior", "medial")
"""Of `contact_force_component`: along the segment to its distal end (compression), forward, to the median plane."""
SEGMENT_OF = {"hip": "thigh", "knee": "shank", "ankle": "shank"}
"""The segment whose axes the components of a joint have."""
MEDIAL = {"r": 1.0, "l": -1.0}
"""To the left, as seen from either leg: the median plane is on the left of the right leg."""


def joint_power(prepared: Prepared, dofs: Sequence[str]) -> Variable:
    """Moment times speed of every joint degree of freedom, (T, m) [W].

    Generalized forces are conjugate to the speeds of the motion, so that the sum over the degrees of freedom of a
    joint is its power M . w, and the sum over all is what the joints supply to the body.
    """
    rows = [prepared.mechanics.model.dof(dof) for dof in dofs]
    return ("time", "dof"), prepared.moments[:, rows] * prepared.mechanics.motion.speeds[:, rows]


def contact_components(mechanics: Mechanics, legs: Sequence[LegResult]) -> Variable:
    """`joint_reaction` in the axes of a segment (`SEGMENT_OF`), over `DIRECTIONS`, (T, joint, 3) [N].

    In standing all segments have the axes of the body: forward, left, up. The force is that on the distal segment, as
    instrumented implants measure it on stem and tray (Bergmann et al. 2016, PLoS ONE 11:e0155612).
    """
    parts = []
    for leg in legs:
        names = [f"{SEGMENT_OF[joint]}_{leg.side}" for joint in leg.contact_force]
        bodies = np.array([mechanics.model.body(name) for name in names])
        rotation = mechanics.model.rigid_bodies.subset(bodies).rotation(mechanics.motion.q)
        force = np.stack(list(leg.contact_force.values()), axis=1)
        forward, left, up = np.einsum("tjxy,tjx->ytj", rotation, force)
        parts.append(np.stack([-up, forward, MEDIAL[leg.side] * left], axis=2))
    return ("time", "joint", "direction"), np.concatenate(parts, axis=1)


def free_moment(reaction: GroundReaction) -> Array:
    """Moment of the ground about the vertical through the center of pressure, (T,) [N m]; NaN where there is none.

    Positive where it turns the toes to the median plane (adduction), so that both feet have the same sign.
    """
    point, force = reaction.center_of_pressure, reaction.force
    about_vertical = reaction.moment[:, 2] - point[:, 0] * force[:, 1] + point[:, 1] * force[:, 0]
    return np.asarray(MEDIAL[reaction.side] * about_vertical)
