"""Musculotendon length in the standing pose, where every frame is parallel to the global one."""

from __future__ import annotations

import math
from itertools import pairwise

from muscle_db.model import Muscle, PathPoint, ReferenceSkeleton, Vector


def standing_length(muscle: Muscle, reference: ReferenceSkeleton, *, unscaled: bool = False) -> float:
    """Musculotendon length [m] of a muscle of the right leg with all joint angles zero: sum_k |p_{k+1} - p_k|.

    unscaled: of the skeleton that the optimal fiber and tendon slack lengths belong to; both scale to a subject by
    L_MT(subject) / L_MT(unscaled).
    """
    origins = _origins(reference, unscaled)
    points = [
        _placed(point, origins[point.frame], reference.position_scale[point.frame] if unscaled else 1.0)
        for point in muscle.path
        if point.active is None or point.active.holds(0.0)
    ]
    return sum(math.dist(a, b) for a, b in pairwise(points))


def _origins(reference: ReferenceSkeleton, unscaled: bool) -> dict[str, Vector]:
    """Origins of the frames, seen from that of the pelvis."""
    scale = reference.position_scale if unscaled else dict.fromkeys(reference.position_scale, 1.0)
    x, y, z = (value / scale["pelvis"] for value in reference.hip_center)
    knee = z - reference.thigh_length / scale["femur"]
    ankle = knee - reference.shank_length / scale["tibia"]
    return {"pelvis": (0.0, 0.0, 0.0), "femur": (x, y, z), "tibia": (x, y, knee), "foot": (x, y, ankle)}


def _placed(point: PathPoint, origin: Vector, scale: float) -> Vector:
    x, y, z = (base + value / scale for base, value in zip(origin, point.position, strict=True))
    return x, y, z
