"""Musculotendon length in the standing pose, where every frame is parallel to the global one."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise

from muscle_db.model import MovingFrame, Muscle, PathPoint, ReferenceSkeleton, Vector


def standing_length(
    muscle: Muscle,
    reference: ReferenceSkeleton,
    *,
    frames: Mapping[str, MovingFrame] | None = None,
    unscaled: bool = False,
) -> float:
    """Musculotendon length [m] of a muscle of the right leg with all joint angles zero: sum_k |p_{k+1} - p_k|.

    Args:
        muscle: its path is taken over the points alone, past wrap objects.
        reference: the skeleton of its set.
        frames: the moving frames of the set; in standing they rest on their bone.
        unscaled: of the skeleton that the optimal fiber and tendon slack lengths belong to; both scale to a subject by
            L_MT(subject) / L_MT(unscaled).
    """
    origins = _origins(reference, unscaled)
    bone = {name: frame.body for name, frame in (frames or {}).items()}
    scale = reference.position_scale if unscaled else dict.fromkeys(reference.position_scale, 1.0)
    points = []
    for point in muscle.path:
        if point.active is None or point.active.holds(0.0):
            frame = bone.get(point.frame, point.frame)
            points.append(_placed(point, origins[frame], scale[frame]))
    return sum(math.dist(a, b) for a, b in pairwise(points))


def _origins(reference: ReferenceSkeleton, unscaled: bool) -> dict[str, Vector]:
    """Origins of the frames, seen from that of the pelvis."""
    scale = reference.position_scale if unscaled else dict.fromkeys(reference.position_scale, 1.0)
    knee = reference.knee_center or (0.0, 0.0, -reference.thigh_length)
    ankle = reference.ankle_center or (0.0, 0.0, -reference.shank_length)
    origin = (0.0, 0.0, 0.0)
    found = {"pelvis": origin}
    steps = (("femur", reference.hip_center, "pelvis"), ("tibia", knee, "femur"), ("foot", ankle, "tibia"))
    for frame, step, factor in steps:
        x, y, z = (base + value / scale[factor] for base, value in zip(origin, step, strict=True))
        found[frame] = origin = (x, y, z)
    return found


def _placed(point: PathPoint, origin: Vector, scale: float) -> Vector:
    x, y, z = (base + value / scale for base, value in zip(origin, point.position, strict=True))
    return x, y, z
