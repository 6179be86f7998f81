"""The pelvis: the frame of its landmarks, its neutral attitude, and the hip centers in it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from musclesolve.motion.joint_centres import between, hip_center
from musclesolve.motion.vectors import UP, across, frame, unit
from musclesolve.recording.data import SIDES, Side

Array = NDArray[np.float64]
Points = Mapping[str, Array]

# Mean angle between the horizontal and the line from PSIS to ASIS in relaxed standing (Levine & Whittle 1996,
# J Orthop Sports Phys Ther 24:130-5); used only where no standing trial shows the person's own.
NEUTRAL_TILT = np.deg2rad(11.0)


def back_of_pelvis(points: Points) -> Array:
    """Return the point midway between the PSIS (..., 3)."""
    return between(points["psis_r"], points["psis_l"]) if "psis_r" in points else points["sacrum"]


def pelvic_landmarks(points: Points) -> list[str]:
    """Return the names of the landmarks that show the pelvis."""
    return ["asis_r", "asis_l", *(("psis_r", "psis_l") if "psis_r" in points else ("sacrum",))]


def pelvic_frame(points: Points) -> tuple[Array, Array]:
    """Return origin (..., 3) and axes (..., 3, 3) of the frame in which hip regressions are written.

    Origin midway between the ASIS; y from right to left ASIS, x forward in the plane of ASIS and mid-PSIS, z up;
    the axes are the columns.
    """
    origin = between(points["asis_r"], points["asis_l"])
    y = unit(points["asis_l"] - points["asis_r"])
    x = across(origin - back_of_pelvis(points), y)
    return origin, frame(x, y)


def neutral_axes(standing: Points) -> Array:
    """Return the axes (3, 3) of the pelvis when standing: its own left axis, and forward made horizontal about it.

    The columns are forward, left, up. A pelvis that stands lower on one side keeps that; only the angle between
    the ASIS-PSIS plane and the horizontal is taken as neutral.
    """
    left = unit(standing["asis_l"] - standing["asis_r"])
    return frame(unit(np.cross(left, UP)), left)


def standing_hips(standing: Points, regression: str, legs: Mapping[Side, float]) -> dict[str, Array]:
    """Return the hip centers "hip_r", "hip_l" (3,) of the standing pelvis.

    Args:
        standing: landmarks (3,) of the pelvis [m].
        regression: name of the regression.
        legs: leg lengths [m] by side, where known.
    """
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


def assumed_standing(points: Points) -> dict[str, Array]:
    """Return pelvic landmarks (3,) as if standing, from a motion (T, 3): their mean shape at the published tilt."""
    origin, axes = pelvic_frame(points)
    sine, cosine = np.sin(NEUTRAL_TILT), np.cos(NEUTRAL_TILT)
    # About the left axis, so that forward also points down: the ASIS stand lower than the PSIS.
    tilt = np.array([[cosine, 0.0, sine], [0.0, 1.0, 0.0], [-sine, 0.0, cosine]])
    return {
        name: tilt @ np.einsum("tji,tj->ti", axes, points[name] - origin).mean(axis=0)
        for name in pelvic_landmarks(points)
    }
