"""The measured anatomy: where the points and axes of the body model were seen, frame by frame."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from musclesolve.motion.cautions import check_rigid, filter_notes, length_notes, loose_notes, rigid_note
from musclesolve.motion.clusters import Poses
from musclesolve.motion.joint_centres import between, shoulder_center
from musclesolve.motion.landmarks import (
    Points,
    cluster_poses,
    filtered_markers,
    moving_landmarks,
    registered,
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
from musclesolve.motion.proportions import check_hips, check_landmarks, check_segments, stature_notes
from musclesolve.motion.vectors import across, mean_length, unit
from musclesolve.motion.weight import weight_notes
from musclesolve.recording.data import SIDE_NAMES, SIDES, Trial
from musclesolve.recording.sides import check_sides

Array = NDArray[np.float64]

# Points that are the landmarks of the same name, when they are mapped.
DIRECT = ("hand_radial", "hand_ulnar", "head_base", "head_low", "head_top")


@dataclass(frozen=True)
class Anatomy:
    """What the recording says of the body: global frame (x forward, y left, z up), filtered, in the time range.

    Args:
        time: (T,) [s].
        points: model point -> (T, 3) measured position [m].
        directions: model axis -> (T, 3) measured unit vector.
        offsets: model point or axis -> (3,) standing geometry of this person, see ``standing_offsets``.
        completed: sentences about parts of the body that no marker shows.
        notes: sentences a reader of the results should see, the serious ones first.
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
    check_sides(trial, moving)
    stance = posture(trial, standing, moving)
    bodies = _bodies(trial, stance, moving, poses)
    check_rigid(trial, bodies | poses)
    regression = {f"hip_{side}": bodies["pelvis"].point(stance.pelvis[f"hip_{side}"]) for side in SIDES}
    hips = {f"hip_{side}": moving.get(f"hip_center_{side}", regression[f"hip_{side}"]) for side in SIDES}
    points, directions = _legs(stance, moving, bodies, hips)
    points |= hips
    directions["pelvis_forward"] = bodies["pelvis"].direction(stance.pelvis_axes[:, 0])
    _check_axes(trial, directions)
    check_landmarks(trial, moving)
    check_hips(trial, hips, regression)
    points |= _arms(moving)
    directions |= _elbow_axes(moving)
    points |= _trunk(points, moving, bodies["pelvis"].direction(stance.pelvis_axes[:, 2]))
    offsets = standing_offsets(trial, stance, points)
    check_segments(trial, offsets)
    serious = [
        *weight_notes(trial, walk.time, moving),
        *stature_notes(trial, offsets),
        *loose_notes(bodies | poses),
        *length_notes(points, offsets),
        *filter_notes(trial),
    ]
    notes = [*serious, *trial.notes, *stance.notes, *_landmark_notes(trial), *rigid_note(bodies | poses)]
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
        else registered(
            trial,
            np.stack([reference[name] for name in names]),
            np.stack([moving[name] for name in names], axis=1),
            body,
        )
        for body, (reference, names) in shapes.items()
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


def _check_axes(trial: Trial, directions: Points) -> None:
    """Refuse knee and ankle axes that point right: the landmarks that show them are swapped."""
    left = np.cross([0.0, 0.0, 1.0], directions["pelvis_forward"])
    shown = (
        ("knee", "knee_lateral", "knee_medial", "{0} on the outer side of the leg, {1} on the inner side"),
        ("ankle", "heel", "toe", "{1} ahead of {0}"),
    )
    for side in SIDES:
        for joint, *landmarks, expected in shown:
            if np.mean(np.sum(directions[f"{joint}_axis_{side}"] * left, axis=1)) < 0.3:
                one, other = (f"{landmark}_{side}" for landmark in landmarks)
                raise trial.document.error(
                    f"the {SIDE_NAMES[side]} {joint} axis does not point from right to left",
                    "mapping",
                    one,
                    expected=expected.format(one, other),
                    remedy=f"swap the markers of {one} and {other}, or check their names",
                )


def _landmark_notes(trial: Trial) -> list[str]:
    notes = []
    if trial.hip_method == "mapped":
        notes.append("The hip centers are those mapped in the trial file; the regression does not count.")
    elif trial.hip_method != trial.hip_regression:
        notes.append(f"The hip centers are found in two ways: {trial.hip_method}.")
    without = [SIDE_NAMES[side] for side in SIDES if f"elbow_medial_{side}" not in trial.mapping]
    if without:
        notes.append(f"No medial marker at the {' and '.join(without)} elbow: the lateral one stands for it.")
    return notes


def _completed(points: Points) -> list[str]:
    completed = []
    if not {"head_base", "head_low", "head_top"} <= set(points):
        completed.append("Head and neck: no markers, completed rigidly with the trunk.")
    for side in SIDES:
        if not {f"hand_radial_{side}", f"hand_ulnar_{side}"} <= set(points):
            completed.append(f"The {SIDE_NAMES[side]} hand: no markers, completed rigidly with the forearm.")
    return completed
