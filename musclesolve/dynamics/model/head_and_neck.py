"""The head of de Leva's table, which is head and neck, as two parts with centers of their own.

Mass, center and inertia of both together stay those of the segment.
"""

from __future__ import annotations

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.dynamics.model.data_files import read_table
from musclesolve.dynamics.model.mass_matrix import second_moment
from musclesolve.dynamics.model.segment_inertia import Part

_TAKEN = 0.5
"""Largest share of a segment's second moment that the distance of the centers of its parts makes."""


def divided(segment: str, ends: set[str], whole: Part, share: float, where: dict[str, Array]) -> Part:
    """The part of a segment that a body with points `ends` and a share of its mass is, by `human_segments.toml`.

    where: standing positions of the points. The inertias of both parts and m s (1 - s) |c_one - c_other|^2, masses
    at these centers, add up to that of the segment. Centers that would take more of its second moment than `_TAKEN`
    lie nearer to each other. A segment that is not divided there gives its share, with the segment's own center.
    """
    rules = read_table("definitions", "human_segments.toml")["division"]
    mass, center, inertia = whole
    for rule in rules:
        if rule["segment"] == segment:
            break
    else:
        return share * mass, center, share * inertia
    first = ends == {rule["start"], rule["end"]}
    own = share if first else 1.0 - share
    start, end = where[rule["start"]], where[rule["end"]]
    apart = (start + rule["center"] * (end - start) - center) / (1.0 - own)
    moved = mass * own * (1.0 - own)
    taken = moved * apart @ np.linalg.solve(second_moment(inertia), apart)
    apart = min(1.0, float(np.sqrt(_TAKEN / max(taken, 1e-12)))) * apart
    left = inertia - moved * (apart @ apart * np.eye(3) - np.outer(apart, apart))
    if first:
        return share * mass, center + (1.0 - own) * apart, rule["inertia_share"] * left
    return share * mass, center - own * apart, (1.0 - rule["inertia_share"]) * left
