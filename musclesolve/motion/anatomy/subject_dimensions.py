"""The dimensions of the subject, as the standing body model needs them."""

from __future__ import annotations

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.motion.anatomy.joint_centers import between
from musclesolve.motion.anatomy.landmark_positions import Points
from musclesolve.motion.anatomy.standing_posture import Posture, foot_forward, foot_left, leg_frame
from musclesolve.motion.anatomy.unit_vectors import mean_length
from musclesolve.recording.data import SIDES, Recording, Side

# Height of the joint between lower and upper torso as a share of hips to neck (Silva 2003, Table 3.8: lengths of
# lower and upper torso, 0.275 m and 0.294 m).
BACK_SHARE = 0.275 / (0.275 + 0.294)


def standing_offsets(recording: Recording, stance: Posture, points: Points) -> Points:
    """Return where the points of the standing model lie from their parents, in axes parallel to the global frame.

    Legs are measured standing where there is a standing trial. Trunk and arms are always measured on the motion,
    because subjects often raise their arms for the standing trial, which lifts the shoulders. What no marker shows is
    left out; the model has it in proportion to the stature.

    Returns:
        hip from the middle of the hips (0, -+w/2, 0); knee from hip and ankle from knee (0, 0, -length); heel and
        toe from the ankle, and the axes ankle_axis and shank_forward, in the frame of the leg (x horizontal and
        square to the knee axis, z up), so that a foot that stands toe-out keeps that; back from the middle of the
        hips and neck_base from back (0, 0, length); shoulder from neck_base (0, -+length, 0); elbow from shoulder
        and wrist from elbow (0, 0, -length). All (3,), [m] or unit vectors.
    """
    middle = between(points["hip_r"], points["hip_l"])
    offsets: Points = {}
    if "neck_base" in points:
        offsets["back"] = _upwards(points["back"] - middle)
        offsets["neck_base"] = _upwards(points["neck_base"] - points["back"])
    width = _width(recording, stance, points)
    for side in SIDES:
        outward = 1.0 if side == "l" else -1.0
        offsets[f"hip_{side}"] = np.array([0.0, outward * width / 2, 0.0])
        offsets[f"knee_{side}"], offsets[f"ankle_{side}"] = _leg(recording, stance, points, side)
        offsets |= _foot(stance, side)
        shoulder, elbow, wrist = (points.get(f"{joint}_{side}") for joint in ("shoulder", "elbow", "wrist"))
        if shoulder is not None and "neck_base" in points:
            span = mean_length(shoulder - points["neck_base"])
            offsets[f"shoulder_{side}"] = np.array([0.0, outward * span, 0.0])
        if shoulder is not None and elbow is not None:
            offsets[f"elbow_{side}"] = -_upwards(elbow - shoulder)
        if elbow is not None and wrist is not None:
            offsets[f"wrist_{side}"] = -_upwards(wrist - elbow)
    return offsets


def _upwards(vector: Array) -> Array:
    return np.array([0.0, 0.0, mean_length(vector)])


def _standing_hip(recording: Recording, stance: Posture, side: Side) -> Array | None:
    """Return the hip center (3,) in the standing trial, or None where only the motion shows it."""
    if recording.static is None:
        return None
    mapped = f"hip_center_{side}" in recording.mapping
    return stance.pelvis.get(f"hip_center_{side}" if mapped else f"hip_{side}")


def _width(recording: Recording, stance: Posture, points: Points) -> float:
    right, left = (_standing_hip(recording, stance, side) for side in SIDES)
    if right is None or left is None:
        return mean_length(points["hip_l"] - points["hip_r"])
    return float(np.linalg.norm(left - right))


def _leg(recording: Recording, stance: Posture, points: Points, side: Side) -> tuple[Array, Array]:
    """Return knee from hip and ankle from knee, measured where hip, knee and ankle are seen together."""
    hip = _standing_hip(recording, stance, side)
    if hip is None:
        thigh = points[f"hip_{side}"] - points[f"knee_{side}"]
        shank = points[f"knee_{side}"] - points[f"ankle_{side}"]
    else:
        leg = stance.legs[side]
        thigh, shank = (hip - leg["knee"])[None], (leg["knee"] - leg["ankle"])[None]
    return -_upwards(thigh), -_upwards(shank)


def _foot(stance: Posture, side: Side) -> Points:
    leg = stance.legs[side]
    to_leg = leg_frame(leg, side, stance.pelvis_axes[:, 1]).T
    return {
        f"heel_{side}": to_leg @ (leg[f"heel_{side}"] - leg["ankle"]),
        f"toe_{side}": to_leg @ (leg[f"toe_{side}"] - leg["ankle"]),
        f"ankle_axis_{side}": to_leg @ foot_left(leg, side),
        f"shank_forward_{side}": to_leg @ foot_forward(leg, side),
    }
