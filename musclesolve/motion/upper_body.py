"""Trunk, arms, hands and head, as far as markers show them; what they do not show moves rigidly with its neighbour."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from musclesolve.motion.joint_centres import between, shoulder_center
from musclesolve.motion.landmarks import Points
from musclesolve.motion.offsets import BACK_SHARE
from musclesolve.motion.posture import leftward, shows_axis
from musclesolve.motion.proportions import segment_shares
from musclesolve.motion.vectors import UP, mean_length
from musclesolve.recording.data import SIDE_NAMES, SIDES, Side

Array = NDArray[np.float64]

# Points that are the landmarks of the same name, when they are mapped.
DIRECT = ("hand_radial", "hand_ulnar", "head_base", "head_low", "head_top")


def upper_body(moving: Points, hips: Points, pelvis_up: Array, stature: float) -> Points:
    """Return the model points (T, 3) of trunk, arms, hands and head that the landmarks show.

    Args:
        moving: landmarks (T, 3) [m].
        hips: hip centers "hip_r", "hip_l" (T, 3) [m].
        pelvis_up: (T, 3) up axis of the pelvis.
        stature: of the person [m].
    """
    points = {name: point for name, point in moving.items() if name[:-2] in DIRECT or name in DIRECT}
    for side in SIDES:
        points |= _arm(moving, side, pelvis_up, stature)
    middle = between(hips["hip_r"], hips["hip_l"])
    # People keep the trunk upright over a pelvis that tilts; a trunk that tilted with it would be thrown about.
    upright = middle + segment_shares()["trunk"]["share"] * stature * UP
    neck = _neck(moving, points)
    return points | _trunk(upright if neck is None else neck, middle, pelvis_up)


def elbow_axes(moving: Points) -> Points:
    """Return the elbow axes (T, 3), pointing left, of the arms whose both epicondyles are seen."""
    return {
        f"elbow_axis_{side}": leftward(moving, "elbow", side)
        for side in SIDES
        if shows_axis(moving, "elbow", side)
    }


def completed(moving: Points, points: Points) -> list[str]:
    """Return a sentence for every part of the upper body that no marker shows.

    Args:
        moving: landmarks [m].
        points: model points [m] that follow from them.
    """
    sentences = []
    if _neck(moving, points) is None:
        sentences.append("The trunk: no markers, completed upright over the hips.")
    if not {"head_base", "head_low", "head_top"} <= set(points):
        sentences.append("Head and neck: no markers, completed rigidly with the trunk.")
    for side in SIDES:
        for part, shown, carrier in (
            ("arm", ("elbow",), "trunk"),
            ("forearm", ("wrist",), "upper arm"),
            ("hand", ("hand_radial", "hand_ulnar"), "forearm"),
        ):
            if not all(f"{name}_{side}" in points for name in shown):
                name = f"The {SIDE_NAMES[side]} {part}"
                sentences.append(f"{name}: no markers, completed rigidly with the {carrier}.")
    return sentences


def _arm(moving: Points, side: Side, pelvis_up: Array, stature: float) -> Points:
    arm: Points = {}
    lateral = moving.get(f"elbow_lateral_{side}")
    if lateral is not None:
        arm[f"elbow_{side}"] = between(lateral, moving.get(f"elbow_medial_{side}", lateral))
    if f"wrist_{side}" in moving:
        arm[f"wrist_{side}"] = moving[f"wrist_{side}"]
    if f"shoulder_center_{side}" in moving:
        arm[f"shoulder_{side}"] = moving[f"shoulder_center_{side}"]
    elif f"shoulder_{side}" in moving:
        acromion = moving[f"shoulder_{side}"]
        # An arm that no marker shows hangs straight down from the trunk.
        hanging = acromion - segment_shares()["upper arm"]["share"] * stature * pelvis_up
        arm[f"shoulder_{side}"] = shoulder_center(acromion, arm.get(f"elbow_{side}", hanging))
    return arm


def _neck(moving: Points, points: Points) -> Array | None:
    """Return the root of the neck (T, 3), as mapped or midway between the shoulders; None where neither is seen."""
    if "neck_base" in moving:
        return moving["neck_base"]
    if "shoulder_r" in points and "shoulder_l" in points:
        return between(points["shoulder_r"], points["shoulder_l"])
    return None


def _trunk(neck: Array, middle: Array, pelvis_up: Array) -> Points:
    """Return root of the neck and joint of the back."""
    return {"neck_base": neck, "back": middle + BACK_SHARE * mean_length(neck - middle) * pelvis_up}
