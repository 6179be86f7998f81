"""The measured anatomy: where the points and axes of the body model were seen, frame by frame."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from musclesolve.errors import InputError
from musclesolve.motion.clusters import Poses, register
from musclesolve.motion.joint_centres import between, shoulder_center
from musclesolve.motion.landmarks import (
    Points,
    cluster_poses,
    filtered_markers,
    moving_landmarks,
    standing_markers,
)
from musclesolve.motion.offsets import BACK_SHARE, standing_offsets
from musclesolve.motion.pelvis import pelvic_landmarks
from musclesolve.motion.posture import (
    Posture,
    foot_left,
    leftward,
    leg_centers,
    posture,
)
from musclesolve.motion.proportions import check_proportions
from musclesolve.motion.vectors import across, mean_length, unit
from musclesolve.recording.data import SIDES, Trial

Array = NDArray[np.float64]

# Points that are the landmarks of the same name, when they are mapped.
DIRECT = ("hand_radial", "hand_ulnar", "head_base", "head_low", "head_top")
# A cluster that does not keep its shape to within this is worth a word of warning [m]; so is a segment that is
# on average so much longer or shorter in the motion than when standing.
LOOSE = 0.010
# A cluster that is off by this much is no body at all [m].
BROKEN = 0.040
_NAMES = {"r": "right", "l": "left"}


@dataclass(frozen=True)
class Anatomy:
    """What the recording says of the body: global frame (x forward, y left, z up), filtered, in the time range.

    Args:
        time: (T,) [s].
        points: model point -> (T, 3) measured position [m].
        directions: model axis -> (T, 3) measured unit vector.
        offsets: model point or axis -> (3,) standing geometry of this person, see ``standing_offsets``.
        completed: sentences about parts of the body that no marker shows.
        notes: sentences a reader of the results should see.
    """

    time: Array
    points: Points
    directions: Points
    offsets: Points
    completed: list[str]
    notes: list[str]


def anatomy(trial: Trial, margin: float = 0.0) -> Anatomy:
    """Measure points, axes and dimensions of the body on a trial.

    Args:
        trial: the trial.
        margin: time kept on either side of the time range, as far as every marker is seen there [s]; derivatives
            over time need it to be as good at the ends as in the middle.

    Raises:
        InputError: markers that cannot show what they are mapped to.
    """
    walk = filtered_markers(trial, margin)
    standing = {} if trial.static is None else standing_markers(trial.static)
    poses = cluster_poses(trial, standing, walk)
    moving = moving_landmarks(trial, walk, standing, poses)
    stance = posture(trial, standing, moving)
    bodies = _bodies(trial, stance, moving, poses)
    _check_rigid(trial, bodies | poses)
    hips = _hips(stance, moving, bodies["pelvis"])
    points, directions = _legs(stance, moving, bodies, hips)
    points |= hips
    directions["pelvis_forward"] = bodies["pelvis"].direction(stance.pelvis_axes[:, 0])
    _check_sides(trial, directions)
    points |= _arms(moving)
    directions |= _elbow_axes(moving)
    points |= _trunk(points, moving, bodies["pelvis"].direction(stance.pelvis_axes[:, 2]))
    offsets = standing_offsets(trial, stance, points)
    check_proportions(trial, offsets)
    notes = [*trial.notes, *stance.notes, *_residual_notes(bodies | poses), *_length_notes(points, offsets)]
    notes += _landmark_notes(trial)
    return Anatomy(walk.time, points, directions, offsets, _completed(points), notes)


def _bodies(trial: Trial, stance: Posture, moving: Points, poses: dict[str, Poses]) -> dict[str, Poses]:
    """Register pelvis and feet, by their clusters where the trial has them and by their landmarks elsewhere."""
    shapes = {"pelvis": (stance.pelvis, pelvic_landmarks(stance.pelvis))}
    for side in SIDES:
        third = "metatarsal_5" if f"metatarsal_5_{side}" in moving else "ankle_lateral"
        shapes[f"foot_{side}"] = (stance.legs[side], [f"{part}_{side}" for part in ("heel", "toe", third)])
    return {
        body: poses[body]
        if body in poses
        else register(
            np.stack([reference[name] for name in names]),
            np.stack([moving[name] for name in names], axis=1),
            body,
        )
        for body, (reference, names) in shapes.items()
    }


def _hips(stance: Posture, moving: Points, pelvis: Poses) -> Points:
    return {
        f"hip_{side}": moving.get(f"hip_center_{side}", pelvis.point(stance.pelvis[f"hip_{side}"]))
        for side in SIDES
    }


def _legs(stance: Posture, moving: Points, bodies: dict[str, Poses], hips: Points) -> tuple[Points, Points]:
    points: Points = {}
    directions: Points = {}
    for side in SIDES:
        leg, still = leg_centers(moving, side), stance.legs[side]
        points |= {f"{joint}_{side}": leg[joint] for joint in ("knee", "ankle")}
        points |= {f"{part}_{side}": moving[f"{part}_{side}"] for part in ("heel", "toe")}
        # Square to the thigh, as in the model: knee markers at unlike heights must not tilt the leg sideways.
        thigh = unit(hips[f"hip_{side}"] - leg["knee"])
        directions[f"knee_axis_{side}"] = across(leftward(leg, "knee", side), thigh)
        directions[f"ankle_axis_{side}"] = bodies[f"foot_{side}"].direction(foot_left(still, side))
    return points, directions


def _arms(moving: Points) -> Points:
    points: Points = {}
    for side in SIDES:
        lateral = moving[f"elbow_lateral_{side}"]
        elbow = between(lateral, moving.get(f"elbow_medial_{side}", lateral))
        points[f"elbow_{side}"] = elbow
        points[f"wrist_{side}"] = moving[f"wrist_{side}"]
        acromion = moving[f"shoulder_{side}"]
        points[f"shoulder_{side}"] = moving.get(f"shoulder_center_{side}", shoulder_center(acromion, elbow))
    return points


def _elbow_axes(moving: Points) -> Points:
    return {
        f"elbow_axis_{side}": leftward(moving, "elbow", side)
        for side in SIDES
        if f"elbow_medial_{side}" in moving
    }


def _trunk(points: Points, moving: Points, pelvis_up: Array) -> Points:
    """Return root of the neck, joint of the back, and whatever of head and hands was recorded."""
    middle = between(points["hip_r"], points["hip_l"])
    neck = moving.get("neck_base", between(points["shoulder_r"], points["shoulder_l"]))
    back = middle + BACK_SHARE * mean_length(neck - middle) * pelvis_up
    direct = {
        name: point for name, point in moving.items() if name.removesuffix("_r").removesuffix("_l") in DIRECT
    }
    return {"neck_base": neck, "back": back, **direct}


def _check_sides(trial: Trial, directions: Points) -> None:
    """Refuse knee and ankle axes that point right: lateral and medial, or the legs, are swapped."""
    left = np.cross([0.0, 0.0, 1.0], directions["pelvis_forward"])
    for side in SIDES:
        for joint in ("knee", "ankle"):
            if np.mean(np.sum(directions[f"{joint}_axis_{side}"] * left, axis=1)) < 0.3:
                raise InputError(
                    f"the {_NAMES[side]} {joint} axis does not point from right to left",
                    file=trial.path,
                    where=f"[mapping] {joint}_lateral_{side} and {joint}_medial_{side}, heel_{side}, toe_{side}",
                    expected="lateral landmarks on the outer side of the leg, medial ones on the inner side",
                    remedy="swap them, or check the marker names",
                )


def _check_rigid(trial: Trial, poses: dict[str, Poses]) -> None:
    """Refuse a body whose points do not keep their shape at all: one of them is another marker than it was standing."""
    for name, pose in poses.items():
        rms = float(np.sqrt(np.mean(pose.residual**2)))
        if rms > BROKEN:
            raise InputError(
                f"the points of {name} keep their standing shape only to {1000 * rms:.0f} mm",
                file=trial.path,
                where=f"[clusters] {name}" if name in trial.clusters else f"[mapping] landmarks of {name}",
                expected=f"points of one body, which keep it to {1000 * BROKEN:.0f} mm or better",
                remedy="check that the markers have the same names in the standing trial and in the motion",
            )


def _residual_notes(poses: dict[str, Poses]) -> list[str]:
    notes = []
    for name, pose in sorted(poses.items()):
        rms, worst = np.sqrt(np.mean(pose.residual**2)), pose.residual.max()
        warning = "; its markers do not move as one body" if rms > LOOSE else ""
        notes.append(
            f"Points of {name} keep their standing shape to {1000 * rms:.1f} mm (worst {1000 * worst:.1f} mm){warning}."
        )
    return notes


def _length_notes(points: Points, offsets: Points) -> list[str]:
    notes = []
    for side in SIDES:
        for segment, upper, lower in (("thigh", "hip", "knee"), ("shank", "knee", "ankle")):
            standing = np.linalg.norm(offsets[f"{lower}_{side}"])
            moving = mean_length(points[f"{upper}_{side}"] - points[f"{lower}_{side}"])
            if abs(moving - standing) > LOOSE:
                notes.append(
                    f"The {_NAMES[side]} {segment} measures {1000 * standing:.0f} mm standing and "
                    f"{1000 * moving:.0f} mm in the motion: a marker or a cluster has moved on the skin in between."
                )
    return notes


def _landmark_notes(trial: Trial) -> list[str]:
    notes = [
        f"The {_NAMES[side]} hip center is the one mapped in the trial file; the regression does not count."
        for side in SIDES
        if f"hip_center_{side}" in trial.mapping
    ]
    notes += [
        f"No medial marker at the {_NAMES[side]} elbow: the lateral one stands for the elbow."
        for side in SIDES
        if f"elbow_medial_{side}" not in trial.mapping
    ]
    return notes


def _completed(points: Points) -> list[str]:
    completed = []
    if not {"head_base", "head_low", "head_top"} <= set(points):
        completed.append("Head and neck: no markers, completed rigidly with the trunk.")
    for side in SIDES:
        if not {f"hand_radial_{side}", f"hand_ulnar_{side}"} <= set(points):
            completed.append(f"The {_NAMES[side]} hand: no markers, completed rigidly with the forearm.")
    return completed
