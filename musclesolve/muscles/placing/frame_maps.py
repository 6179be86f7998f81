"""From the frames of a muscle set to the standing pose of a subject: scale by segment, joint centers, foot direction.

The femur and the tibia of a set are rotated so that their joint centers lie on those of the subject, and grow with the
length between these (Silva 2003, 6.5); the width of the pelvis grows with the distance between the hips, its height and
depth, and the foot, with stature, or with the length of thigh and shank together where the set has no stature.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from muscle_db import MuscleDatabase, ReferenceSkeleton
from musclesolve._util.arrays import Array
from musclesolve.dynamics.model.human_model import human_model
from musclesolve.dynamics.model.model import Model

_BONES = {"femur": "thigh", "tibia": "shank", "foot": "foot"}


def body_name(frame: str, side: str) -> str:
    """The body that carries a frame of a set: 7, 4 (10), 3 (11) and 1 (13) (correction A9)."""
    return "pelvis" if frame == "pelvis" else f"{_BONES[frame]}_{side}"


@dataclass(frozen=True)
class FrameMap:
    """A point p of a frame stands at origin + rotation scale p; scale (3,) along the axes of the frame."""

    rotation: Array
    scale: Array
    origin: Array

    @property
    def matrix(self) -> Array:
        """Rotation and scale together, (3, 3)."""
        return self.rotation * self.scale

    def place(self, points: Array) -> Array:
        """Standing positions (..., 3) [m] of points (..., 3) [m] of the frame."""
        return points @ self.matrix.T + self.origin


def frame_maps(model: Model, database: MuscleDatabase, side: str) -> dict[str, FrameMap]:
    """The map of each frame of a set onto one leg of a subject."""
    hip, knee, ankle = (model.standing[model.slot(f"{joint}_{side}")] for joint in ("hip", "knee", "ankle"))
    reference = database.reference
    scale = segment_scales(model, database, side)
    mirror = np.array([1.0, -1.0 if side == "l" else 1.0, 1.0])
    forward = model.standing[model.slot(f"shank_forward_{side}")]
    level = np.eye(3)
    maps = {
        "pelvis": (level, hip - scale["pelvis"] * mirror * reference.hip_center),
        "femur": (_onto(reference.knee_center, mirror, knee - hip), hip),
        "tibia": (_onto(reference.ankle_center, mirror, ankle - knee), knee),
        "foot": (np.column_stack([forward, np.cross(level[2], forward), level[2]]), ankle),
    }
    return {name: FrameMap(rotation, scale[name], origin) for name, (rotation, origin) in maps.items()}


def _onto(center: tuple[float, float, float] | None, mirror: Array, target: Array) -> Array:
    """The smallest rotation of a joint center of the set into the direction where the subject has it."""
    if center is None:
        return np.eye(3)
    a, b = mirror * center, target
    a, b = a / np.linalg.norm(a), b / np.linalg.norm(b)
    x, y, z = np.cross(a, b)
    skew = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.asarray(np.eye(3) + skew + skew @ skew / (1.0 + a @ b))


def segment_scales(model: Model, database: MuscleDatabase, side: str) -> dict[str, Array]:
    """How much longer each frame of the database becomes on this subject, (3,) forward, left, up.

    Stature is compared with that of the skeleton before the table's own scaling, hence the factors of the table. Where
    the set does not know it, pelvis and foot grow with (thigh + shank) of the subject over those of the set.
    """
    reference = database.reference
    hip, knee, ankle = (model.standing[model.slot(f"{joint}_{side}")] for joint in ("hip", "knee", "ankle"))
    width = np.linalg.norm(model.standing[model.slot("hip_r")] - model.standing[model.slot("hip_l")])
    thigh, shank = (float(np.linalg.norm(each)) for each in (knee - hip, ankle - knee))
    if reference.stature is None:
        ratio = (thigh + shank) / (reference.thigh_length + reference.shank_length)
        size = dict.fromkeys(("pelvis", "foot"), ratio)
    else:
        stature = 1.0 if model.stature is None else model.stature / reference.stature
        size = {frame: stature / reference.position_scale[frame] for frame in ("pelvis", "foot")}
    return {
        "pelvis": np.array([size["pelvis"], width / reference.hip_width, size["pelvis"]]),
        "femur": np.full(3, thigh / reference.thigh_length),
        "tibia": np.full(3, shank / reference.shank_length),
        "foot": np.full(3, size["foot"]),
    }


def reference_model(reference: ReferenceSkeleton) -> Model:
    """A human model with the legs of a set's own skeleton, to which its fiber and tendon lengths belong.

    It is the one before the table's own scaling, so every factor of `segment_scales` is 1 / position_scale.
    """
    scale = reference.position_scale
    leg = {
        "hip": (np.array([0.0, -0.5 * reference.hip_width, 0.0]), "pelvis"),
        "knee": (np.array(reference.knee_center or (0.0, 0.0, -reference.thigh_length)), "femur"),
        "ankle": (np.array(reference.ankle_center or (0.0, 0.0, -reference.shank_length)), "tibia"),
    }
    mirror = {"r": np.ones(3), "l": np.array([1.0, -1.0, 1.0])}
    offsets = {
        f"{joint}_{side}": flip * place / scale[frame]
        for joint, (place, frame) in leg.items()
        for side, flip in mirror.items()
    }
    if reference.stature is None:
        return human_model(offsets=offsets)
    return human_model(stature=reference.stature, offsets=offsets)
