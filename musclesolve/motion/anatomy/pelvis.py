"""The pelvis: the frame of its landmarks, its neutral attitude, and the hip centers in it.

Mapped spines of the pelvis determine its frame. Without spines the hip centers and the top of the trunk do, as in Silva
(2003, section 5.1.2), whose recorded points are the joints: pelvis and trunk then tilt as one.
"""

from collections.abc import Mapping

import numpy as np

from musclesolve._util.arrays import UP, Array, across, frame, unit, vector_product
from musclesolve.motion.anatomy.joint_centers import between, hip_center
from musclesolve.recording.data import SIDES, Side
from musclesolve.recording.markers.landmarks import back_landmarks, shows_spines

Points = Mapping[str, Array]

# Mean angle between the horizontal and the line from PSIS to ASIS in relaxed standing (Levine & Whittle 1996,
# J Orthop Sports Phys Ther 24:130-5); used only if neither a standing trial nor the motion shows the tilt.
PUBLISHED_TILT = np.deg2rad(11.0)
# The subject is upright where the pelvis is farther from a heel than this share of the longest distance in the motion:
# in walking always, in a squat down to some 50 degrees of knee flexion.
UPRIGHT_SHARE = 0.9
# That longest distance is one of a straight leg from this share of the stature on; adults have 0.53.
STRAIGHT_LEG = 0.48

BY_JOINTS = ("hip_center_r", "hip_center_l", "trunk_top")
"""Points that determine the frame of a pelvis without mapped spines."""


def trunk_top(points: Points) -> Array | None:
    """Return the root of the neck, or the point between the shoulders (..., 3); None where neither is seen."""
    if "neck_base" in points:
        return points["neck_base"]
    for name in ("shoulder_center", "shoulder"):
        if f"{name}_r" in points and f"{name}_l" in points:
            return between(points[f"{name}_r"], points[f"{name}_l"])
    return None


def back_of_pelvis(points: Points) -> Array:
    """Return the point midway between the PSIS (..., 3)."""
    behind = back_landmarks(points)
    return between(*(points[name] for name in behind)) if len(behind) == 2 else points[behind[0]]


def pelvic_landmarks(points: Points) -> list[str]:
    """Return the names of the points that determine the frame of the pelvis."""
    if not shows_spines(points):
        return list(BY_JOINTS)
    return ["asis_r", "asis_l", *back_landmarks(points)]


def pelvic_frame(points: Points) -> tuple[Array, Array]:
    """Return origin (..., 3) and axes (..., 3, 3) of the pelvis, the axes as columns.

    This is the frame of the hip regressions: origin midway between the ASIS; y from right to left ASIS, x
    forward in the plane of ASIS and mid-PSIS, z up. Without spines: origin midway between the hips, y from the right
    to the left one, z up in the plane of hips and top of the trunk.
    """
    if not shows_spines(points):
        hip_r, hip_l, top = (points[name] for name in BY_JOINTS)
        origin, y = between(hip_r, hip_l), unit(hip_l - hip_r)
        return origin, frame(vector_product(y, across(top - origin, y)), y)
    origin = between(points["asis_r"], points["asis_l"])
    y = unit(points["asis_l"] - points["asis_r"])
    x = across(origin - back_of_pelvis(points), y)
    return origin, frame(x, y)


def pelvis_depth(standing: Points) -> float | None:
    """Return the distance [m] from mid-ASIS to mid-PSIS; None where the spines are not mapped."""
    if not shows_spines(standing):
        return None
    front = between(standing["asis_r"], standing["asis_l"])
    return float(np.linalg.norm(front - back_of_pelvis(standing)))


def neutral_axes(standing: Points) -> Array:
    """Return the neutral axes (3, 3) of the standing pelvis: its left axis, and forward rotated about it to horizontal.

    The columns are forward, left, up. The list of a pelvis that is lower on one side is kept; only the angle between
    the ASIS-PSIS plane and the horizontal is set to zero.
    """
    left = pelvic_frame(standing)[1][:, 1]
    return frame(unit(vector_product(left, UP)), left)


def standing_hips(standing: Points, regression: str, legs: Mapping[Side, float]) -> dict[str, Array]:
    """Return the hip centers "hip_r", "hip_l" (3,) of the standing pelvis."""
    if not shows_spines(standing):
        return {f"hip_{side}": standing[f"hip_center_{side}"] for side in SIDES}
    origin, axes = pelvic_frame(standing)
    lengths = {
        "width": float(np.linalg.norm(standing["asis_l"] - standing["asis_r"])),
        "depth": float(np.linalg.norm(origin - back_of_pelvis(standing))),
    }
    return {
        f"hip_{side}": origin
        + axes @ hip_center(regression, lengths | ({"leg": legs[side]} if side in legs else {}), side)
        for side in SIDES
    }


def upright_tilt(points: Points, stature: float) -> float | None:
    """Return the mean forward tilt of the pelvis [rad] over the frames (T, 3) in which the subject is upright.

    This tilt replaces the tilt in standing: its mean in walking is equal, and a misplaced marker changes both equally.
    None if the motion has no such frame.

    Args:
        points: pelvic landmarks and heels of the motion, (T, 3) [m].
        stature: of the subject [m].
    """
    origin, axes = pelvic_frame(points)
    reach = np.max([np.linalg.norm(origin - points[f"heel_{side}"], axis=1) for side in SIDES], axis=0)
    if reach.max() < STRAIGHT_LEG * stature:
        return None
    forward = axes[reach > UPRIGHT_SHARE * reach.max(), :, 0]
    return float(np.mean(np.arcsin(-forward[:, 2])))


def assumed_standing(points: Points, tilt: float) -> dict[str, Array]:
    """Return pelvic points (3,) as if standing, from a motion (T, 3): their mean shape, tilted forward by `tilt` [rad].

    Without spines, the trunk is upright over the hips at a tilt of zero.
    """
    origin, axes = pelvic_frame(points)
    sine, cosine = np.sin(tilt), np.cos(tilt)
    # About the left axis, so that forward also points down: the ASIS stand lower than the PSIS.
    turn = np.array([[cosine, 0.0, sine], [0.0, 1.0, 0.0], [-sine, 0.0, cosine]])
    return {
        name: turn @ np.einsum("tji,tj->ti", axes, points[name] - origin).mean(axis=0)
        for name in pelvic_landmarks(points)
    }
