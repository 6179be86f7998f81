"""The standing posture: the reference from which pelvis and feet are followed through the motion, and its dimensions.

With a standing trial it is the median posture. Without one it is composed from the motion: the mean shape of the pelvis
at its mean tilt while the subject is upright, and each leg at an instant at which its foot stands flat.
"""

from collections.abc import Collection
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from musclesolve._util.arrays import UP, Array, horizontal, mean_length, vector_product
from musclesolve.errors import InputError
from musclesolve.laboratory.markers.landmarks import shows_spines
from musclesolve.laboratory.motion.anatomy.joint_centers import (
    PUBLISHED_TILT,
    assumed_standing,
    between,
    hip_needs,
    joint_center,
    neutral_axes,
    pelvic_landmarks,
    standing_hips,
    trunk_top,
    unseen,
    upright_tilt,
    with_chords,
)
from musclesolve.laboratory.motion.anatomy.landmark_positions import Points, registered, standing_landmarks
from musclesolve.laboratory.motion.anatomy.rotation_estimates import functional_hips
from musclesolve.laboratory.recording.data import SIDES, Recording, Side, Subject

# Height of the joint between lower and upper torso as a share of hips to neck (Silva 2003, Table 3.8: lengths of
# lower and upper torso, 0.275 m and 0.294 m).
BACK_SHARE = 0.275 / (0.275 + 0.294)
FOOT, LOW = ("heel", "toe", "ankle", "metatarsal_5"), 0.1
"""Landmarks of a foot, and the share of the frames from which its standing frame is chosen."""


@dataclass(frozen=True)
class Posture:
    """The landmarks of the subject when standing."""

    pelvis: Points  # pelvic landmarks and hip centers (3,) [m]
    # side -> landmarks, "knee", "ankle" (3,) [m]; legs are independent without a standing trial
    legs: dict[Side, Points]
    pelvis_axes: Array  # (3, 3) neutral forward, left, up of the pelvis, as columns
    notes: tuple[str, ...]  # sentences on assumptions


def posture(
    recording: Recording,
    subject: Subject,
    regression: str,
    standing: Points,
    moving: Points,
    tilt_error: float = 0.0,
) -> Posture:
    """Find the standing posture.

    Marker positions (3,) of the standing trial are empty without one. In this case the tilt of the pelvis is assumed,
    and `tilt_error` [rad] is added to it.
    """
    notes = list[str]()
    if recording.static is None:
        tilt, note = neutral_tilt(moving, subject.stature)
        pelvis = assumed_standing(moving, tilt + tilt_error)
        notes += [
            note,
            "The feet are measured at an instant of the motion at which each lies flat on the ground.",
        ]
    else:
        pelvis = standing_landmarks(recording, standing)
        if not shows_spines(pelvis):
            if (top := trunk_top(pelvis)) is not None:
                pelvis["trunk_top"] = top
            notes.append("The pelvis is determined from hips and shoulders: it tilts with the trunk.")
    hips, hip_notes = hip_centers(recording, subject, regression, standing, pelvis)
    notes += hip_notes
    legs: dict[Side, Points] = {}
    if recording.static is None:
        if hidden := unseen(moving):
            notes += chord_notes(subject, [joint for joint, _ in hidden])
            moving = with_chords(recording, subject, moving, moving_hips(recording, pelvis, moving, hips))
        for side in SIDES:
            flat = flattest(moving, side)
            legs[side] = leg_centers({name: point[flat] for name, point in moving.items()}, side)
    else:
        notes += chord_notes(subject, [joint for joint, _ in unseen(pelvis)])
        pelvis = with_chords(recording, subject, pelvis, hips)
        legs = {side: leg_centers(pelvis, side) for side in SIDES}
        if "leg" in hip_needs(regression) and subject.leg_length is None:
            notes.append("The leg length for the hip centers is measured on the standing trial.")
    return Posture({**pelvis, **hips}, legs, neutral_axes(pelvis), tuple(notes))


def chord_notes(subject: Subject, joints: Collection[str]) -> list[str]:
    """Return a sentence on each joint that only a lateral marker shows, with its width."""
    notes, stated = [], {"knee": subject.knee_width, "ankle": subject.ankle_width}
    for joint in dict.fromkeys(joints):
        width = f"{1000.0 * subject.width(joint):.0f} mm wide"
        if stated[joint] is None:
            width += (
                f", as usual at a stature of {subject.stature:g} m: {joint}_width_m states the measured width"
            )
        notes.append(
            f"No medial marker shows the {joint}: its center lies inward of the lateral marker, in the plane of the "
            f"marker on the side of the segment. The {joint} is taken as {width}."
        )
    return notes


def moving_hips(recording: Recording, pelvis: Points, moving: Points, hips: Points) -> Points:
    """Return hip centers (T, 3) [m] fixed in the pelvis (3,) whose landmarks move (T, 3)."""
    names = pelvic_landmarks(pelvis)
    shape, paths = (
        np.stack([pelvis[name] for name in names]),
        np.stack([moving[name] for name in names], axis=1),
    )
    poses = registered(recording, shape, paths, "pelvis")
    return {name: poses.point(place) for name, place in hips.items()}


def flattest(moving: Points, side: Side) -> int:
    """Return the frame of a motion (T, 3) [m] in which a foot stands: low, and of its usual shape.

    Among the tenth of the frames in which heel and toe together are lowest, the one in which the distances between the
    points of the foot are nearest to their medians over the motion. The lowest frame alone may be one in which a marker
    jumps.
    """
    low = moving[f"heel_{side}"][:, 2] + moving[f"toe_{side}"][:, 2]
    foot = [point for name, point in moving.items() if name.endswith(f"_{side}") and name.startswith(FOOT)]
    apart = np.stack([np.linalg.norm(one - other, axis=1) for one, other in combinations(foot, 2)], axis=1)
    unlike = np.abs(apart - np.median(apart, axis=0)).sum(axis=1)
    return int(np.argmin(np.where(low <= np.quantile(low, LOW), unlike, np.inf)))


def neutral_tilt(moving: Points, stature: float) -> tuple[float, str]:
    """Return the tilt of the pelvis in standing [rad], estimated from a motion (T, 3) [m], and a sentence on it."""
    if not shows_spines(moving):
        return 0.0, "The trunk is assumed to be upright over the hips, because there is no standing trial."
    tilt, why = upright_tilt(moving, stature), "its mean while the subject is upright"
    off = "hip flexion is off by as much as the subject's tilt in standing differs, some 3 degrees"
    if tilt is None:
        tilt, why = PUBLISHED_TILT, "Levine & Whittle 1996; the subject is never upright"
        off = "hip flexion is off by the subject's difference from it, some 6 degrees"
    return tilt, (
        f"The neutral tilt of the pelvis is taken as {np.rad2deg(tilt):.0f} degrees ({why}), because there is no "
        f"standing trial; {off}."
    )


def hip_centers(
    recording: Recording, subject: Subject, regression: str, standing: Points, pelvis: Points
) -> tuple[Points, list[str]]:
    """Return the hip centers "hip_r", "hip_l" (3,) of the standing pelvis [m] by regression or motion, and notes.

    `pelvis` holds landmarks (3,) [m] of the standing posture, with the legs if there is a standing trial.
    """
    # The distance from ASIS to medial malleolus [m] by side, where it is known.
    lengths = {} if subject.leg_length is None else dict.fromkeys(SIDES, subject.leg_length)
    for side in SIDES if subject.leg_length is None and recording.static is not None else ():
        ends = f"asis_{side}", f"ankle_medial_{side}"
        if all(end in pelvis for end in ends):
            lengths[side] = float(np.linalg.norm(pelvis[ends[0]] - pelvis[ends[1]]))
    try:
        hips = standing_hips(pelvis, regression, lengths)
    except InputError as error:
        raise recording.document.placed(error, "joint_centers", "hip") from None
    if not recording.functional:
        return hips, []
    functional, notes = functional_hips(recording, subject.stature, standing, pelvis, hips, regression)
    return hips | functional, notes


def leg_centers(points: Points, side: Side) -> Points:
    """Return the landmarks of one leg and its knee and ankle centers, "knee" and "ankle" (..., 3) [m]."""
    leg = {name: point for name, point in points.items() if name.endswith(f"_{side}")}
    for joint in ("knee", "ankle"):
        leg[joint] = joint_center(leg, joint, side)
    return leg


def shows_axis(points: Points, joint: str, side: Side) -> bool:
    """Return whether both ends of a joint axis are among the points."""
    return f"{joint}_lateral_{side}" in points and f"{joint}_medial_{side}" in points


def knee_widths(subject: Subject, stance: Posture) -> dict[Side, float]:
    """The breadth of each knee [m] between the epicondyles: as stated, or between its markers minus a diameter."""
    if subject.knee_width is not None:
        return dict.fromkeys(SIDES, subject.knee_width)
    widths: dict[Side, float] = {}
    for side in SIDES:
        leg = stance.legs[side]
        if shows_axis(leg, "knee", side):
            apart = np.linalg.norm(leg[f"knee_lateral_{side}"] - leg[f"knee_medial_{side}"])
            widths[side] = float(apart) - subject.marker_diameter
    return widths


def leftward(points: Points, joint: str, side: Side) -> Array:
    """Return the line (..., 3) [m] between lateral and medial landmark of a joint that points to the left."""
    lateral, medial = points[f"{joint}_lateral_{side}"], points[f"{joint}_medial_{side}"]
    return lateral - medial if side == "l" else medial - lateral


def foot_forward(leg: Points, side: Side) -> Array:
    """Return the horizontal unit vector (3,) from heel to toe of a standing leg."""
    return horizontal(leg[f"toe_{side}"] - leg[f"heel_{side}"])


def foot_left(leg: Points, side: Side) -> Array:
    """Return the ankle axis of a standing leg (3,): horizontal, square to heel-toe, pointing left."""
    x, y, _ = foot_forward(leg, side)
    return np.array([-y, x, 0.0])


def standing_offsets(recording: Recording, stance: Posture, points: Points) -> Points:
    """Return the offsets of the points of the standing model from their parents, in axes parallel to the global frame.

    Legs are measured in the standing trial if there is one. Trunk and arms are always measured in the motion, because
    subjects often raise their arms for the standing trial, which lifts the shoulders. Offsets without markers are
    omitted; in the model they are proportional to the stature.

    Returns:
        hip from the middle of the hips (0, -+w/2, 0); knee from hip and ankle from knee (0, 0, -length); heel and
        toe from the ankle, and the axes ankle_axis and shank_forward, in the frame of the leg (x horizontal and
        perpendicular to the knee axis, z up), so that the toe-out angle of a foot is kept; back from the middle of the
        hips and neck_base from back (0, 0, length); shoulder from neck_base (0, -+length, 0); elbow from shoulder and
        wrist from elbow (0, 0, -length). All (3,), [m] or unit vectors.
    """
    middle = between(points["hip_r"], points["hip_l"])
    # Hip centers (3,) in the standing trial, None where only the motion shows them.
    hips: dict[Side, Array | None] = dict.fromkeys(SIDES)
    for side in SIDES if recording.static is not None else ():
        mapped = f"hip_center_{side}" in recording.mapping
        hips[side] = stance.pelvis.get(f"hip_center_{side}" if mapped else f"hip_{side}")
    offsets: Points = {}
    if "neck_base" in points:
        offsets["back"] = _upward(points["back"] - middle)
        offsets["neck_base"] = _upward(points["neck_base"] - points["back"])
    if hips["r"] is None or hips["l"] is None:
        width = mean_length(points["hip_l"] - points["hip_r"])
    else:
        width = float(np.linalg.norm(hips["l"] - hips["r"]))
    for side in SIDES:
        outward = 1.0 if side == "l" else -1.0
        offsets[f"hip_{side}"] = np.array([0.0, outward * width / 2, 0.0])
        leg, hip = stance.legs[side], hips[side]
        if hip is None:
            thigh = points[f"hip_{side}"] - points[f"knee_{side}"]
            shank = points[f"knee_{side}"] - points[f"ankle_{side}"]
        else:
            thigh, shank = (hip - leg["knee"])[None], (leg["knee"] - leg["ankle"])[None]
        offsets[f"knee_{side}"], offsets[f"ankle_{side}"] = -_upward(thigh), -_upward(shank)
        # Forward, left and up of the standing leg, left along the knee axis or, without one, as in the pelvis.
        knee = leftward(leg, "knee", side) if shows_axis(leg, "knee", side) else stance.pelvis_axes[:, 1]
        left = horizontal(knee)
        to_leg = np.stack([vector_product(left, UP), left, UP], axis=-1).T
        offsets[f"heel_{side}"] = to_leg @ (leg[f"heel_{side}"] - leg["ankle"])
        offsets[f"toe_{side}"] = to_leg @ (leg[f"toe_{side}"] - leg["ankle"])
        offsets[f"ankle_axis_{side}"] = to_leg @ foot_left(leg, side)
        offsets[f"shank_forward_{side}"] = to_leg @ foot_forward(leg, side)
        shoulder, elbow, wrist = (points.get(f"{joint}_{side}") for joint in ("shoulder", "elbow", "wrist"))
        if shoulder is not None and "neck_base" in points:
            span = mean_length(shoulder - points["neck_base"])
            offsets[f"shoulder_{side}"] = np.array([0.0, outward * span, 0.0])
        if shoulder is not None and elbow is not None:
            offsets[f"elbow_{side}"] = -_upward(elbow - shoulder)
        if elbow is not None and wrist is not None:
            offsets[f"wrist_{side}"] = -_upward(wrist - elbow)
    return offsets


def _upward(vector: Array) -> Array:
    return np.array([0.0, 0.0, mean_length(vector)])
