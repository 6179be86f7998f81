"""Joint centers and pelvis from landmarks: hips by regression, knees and ankles midway, shoulders below the acromion.

Where no marker of the motion shows the medial landmark of a knee or ankle, a medial marker of the standing trial
replaces it, or the joint center is computed by the chord function in standing. In the motion this landmark is fixed to
the center above, the marker on the side of the segment and the lateral marker.

Mapped spines of the pelvis determine its frame. Without spines the hip centers and the top of the trunk do, as in Silva
(2003, section 5.1.2), whose recorded points are the joints: pelvis and trunk then tilt as one.

An arm is followed from the shoulder outward as far as its joints are seen. Markers beyond a joint that is not seen are
not used: with a wrist but no elbow, the direction in which the arm bends is unknown. Parts without markers move rigidly
with their neighbors.
"""

from collections.abc import Collection, Container, Mapping
from typing import Any

import numpy as np

from musclesolve._util.arrays import UP, Array, across, frame, unit, vector_product
from musclesolve._util.bundled_toml import bundled_toml
from musclesolve._util.messages import check_known
from musclesolve.errors import InputError, input_error
from musclesolve.laboratory.markers.gaps.rigid_registration import Poses
from musclesolve.laboratory.markers.landmarks import WANDS, back_landmarks, shows_spines
from musclesolve.laboratory.motion.anatomy.landmark_positions import Points, registered
from musclesolve.laboratory.recording.data import SIDE_NAMES, SIDES, Recording, Side, Subject

# Distance from the acromion to the shoulder center over that to the elbow (de Leva 1996, J Biomech 29:1223-30).
SHOULDER_SHARE = 0.104
ABOVE = {"knee": "hip", "ankle": "knee"}
"""The joint above each joint."""
# A wand nearer to the line from the lateral marker to the center above does not show the plane of the joint [m].
NEAREST_WAND = 0.004


def segment_shares() -> dict[str, dict[str, Any]]:
    """Return segment -> its share of the stature and its landmarks."""
    return bundled_toml(__package__, "segment_shares.toml")


def hip_regressions() -> dict[str, dict[str, Any]]:
    """Return the regressions of ``hip_centers.toml`` by name."""
    return bundled_toml(__package__, "hip_centers.toml")


def hip_needs(regression: str) -> set[str]:
    """Return the lengths that a regression needs, of "width", "depth" and "leg"."""
    regressions = hip_regressions()
    check_known([regression], "hip regression", regressions)
    return {name for axis in ("forward", "out", "up") for name in regressions[regression][axis]} - {
        "constant"
    }


def hip_center(regression: str, lengths: Mapping[str, float], side: Side) -> Array:
    """Place a hip center in the pelvis.

    The lengths are "width", "depth" and "leg" [m], as far as the regression needs them.

    Returns:
        (3,) position in the pelvic frame [m]: origin midway between the ASIS, x forward in the plane of ASIS and
        mid-PSIS, y left, z up.
    """
    if missing := hip_needs(regression) - set(lengths):
        raise input_error(
            "missing_argument",
            where="[joint_centers] hip",
            problem=f"the regression '{regression}' needs the length '{sorted(missing)[0]}'",
            expected="leg_length_m in [subject], or a standing trial to measure it on",
            remedy="add one of them, or choose harrington_2007, which needs none",
        )
    terms, lengths = hip_regressions()[regression], {**lengths, "constant": 1.0}
    forward, out, up = (
        sum(factor * lengths[name] for name, factor in terms[axis].items())
        for axis in ("forward", "out", "up")
    )
    return np.array([forward, -out if side == "r" else out, up])


def between(one: Array, other: Array) -> Array:
    """Return the midpoint (..., 3), such as the knee center between lateral and medial epicondyle."""
    return 0.5 * (one + other)


def joint_center(points: Mapping[str, Array], joint: str, side: Side) -> Array:
    """Return the center (..., 3) of a knee or ankle: as mapped, or midway between lateral and medial landmark."""
    measured = points.get(f"{joint}_center_{side}")
    if measured is not None:
        return measured
    return between(points[f"{joint}_lateral_{side}"], points[f"{joint}_medial_{side}"])


def shoulder_center(acromion: Array, elbow: Array) -> Array:
    """Return the shoulder center (..., 3): the acromion moved 10.4 % of the way to the elbow (de Leva 1996)."""
    return acromion + SHOULDER_SHARE * (elbow - acromion)


def with_chords(
    recording: Recording, subject: Subject, seen: Mapping[str, Array], hips: Mapping[str, Array]
) -> Points:
    """Return landmarks (..., 3), completed with medial landmarks by the chord function.

    A medial landmark is placed so that the center is midway between it and the lateral one. Hip centers "hip_r",
    "hip_l" (..., 3) [m] are by regression; mapped hip centers have priority.
    """
    points = dict(seen)
    for joint, side in unseen(points):
        lateral, wand = points[f"{joint}_lateral_{side}"], points[f"{WANDS[joint]}_{side}"]
        above, offset = _above(points, hips, joint, side), subject.chord_offset(joint)
        try:
            center = chord_center(above, wand, lateral, offset)
        except InputError as error:
            raise recording.document.placed(error, "mapping", f"{joint}_lateral_{side}") from None
        points[f"{joint}_medial_{side}"] = 2.0 * center - lateral
    return points


def moving_medials(
    recording: Recording, subject: Subject, moving: Points, hips: Points, standing: Points
) -> tuple[Points, dict[str, Poses]]:
    """Return the landmarks (T, 3) of the motion, completed with medial landmarks that no marker shows.

    They are fixed to triangles of markers, as in the standing trial. Without one, the chord function places them frame
    by frame. Returns also the poses of the triangles, each by the names of its corners. `standing` holds landmarks and
    hip centers by regression (3,) [m], the others are (T, 3) [m].
    """
    if recording.static is None:
        return with_chords(recording, subject, moving, hips), {}
    points = dict(moving)
    triangles: dict[str, Poses] = {}
    for joint, side in unseen(points):
        names = [f"{WANDS[joint]}_{side}", f"{joint}_lateral_{side}"]
        reference = np.stack([_above(standing, standing, joint, side), *(standing[name] for name in names)])
        corners = np.stack([_above(points, hips, joint, side), *(points[name] for name in names)], axis=1)
        body = f"{ABOVE[joint]}_{side}, {names[0]} and {names[1]}"
        triangles[body] = registered(recording, reference, corners, body)
        points[f"{joint}_medial_{side}"] = triangles[body].point(standing[f"{joint}_medial_{side}"])
    return points, triangles


def unseen(points: Container[str]) -> list[tuple[str, Side]]:
    """Return joint and side of the centers that the points do not determine, knees before ankles."""
    return [
        (joint, side)
        for joint in WANDS
        for side in SIDES
        if f"{joint}_medial_{side}" not in points and f"{joint}_center_{side}" not in points
    ]


def _above(points: Mapping[str, Array], hips: Mapping[str, Array], joint: str, side: Side) -> Array:
    """Return the joint center above a knee or ankle; a mapped hip center has priority over `hips`."""
    if joint == "knee":
        return points.get(f"hip_center_{side}", hips[f"hip_{side}"])
    return joint_center(points, "knee", side)


def chord_center(above: Array, wand: Array, lateral: Array, offset: float) -> Array:
    """Return the joint center (..., 3) [m] with (above - J) . (lateral - J) = 0 and |lateral - J| = offset.

    It lies in the plane of the center above, the lateral marker and the marker on the side of the segment, half a joint
    width and the radius of the marker inward (Davis et al. 1991, Hum Mov Sci 10:575-87; Kadaba et al. 1990, J Orthop
    Res 8:383-92).

    With u from the lateral marker to the center above, w square to u toward the wand, and cos b = offset / |above -
    lateral|: J = lateral + offset (cos b u - sin b w). The wand and the center lie on opposite sides of the line u.

    All points are (..., 3) [m]: the center above, the marker on the side of the segment and the lateral marker.

    Raises:
        InputError: in most frames the lateral marker is too near to the center above, or the wand to the line between.
    """
    line = above - lateral
    length = np.linalg.norm(line, axis=-1, keepdims=True)
    middle = float(np.median(length))
    if not middle > offset:
        raise input_error(
            "bad_anatomy",
            problem=f"the lateral marker is {1000 * middle:.0f} mm from the joint center above "
            f"it, and {1000 * offset:.0f} mm from its own",
            expected="half the joint width, and far less than the length of the segment",
            remedy="check the marker, and the joint widths in [subject]",
        )
    u = unit(line)
    beside = np.linalg.norm(np.cross(wand - lateral, u), axis=-1)
    usual = float(np.median(beside))
    if not usual > NEAREST_WAND:
        raise input_error(
            "bad_anatomy",
            problem=f"the marker on the side of the segment lies {1000 * usual:.0f} mm from "
            "the line between the lateral marker and the joint center above it, so the plane "
            "of the joint is unknown",
            expected=f"more than {1000 * NEAREST_WAND:.0f} mm; a few centimeters are usual",
            remedy="check that the two markers are not exchanged or copies of each other",
        )
    w = across(wand - lateral, u)
    cosine = np.minimum(offset / length, 1.0)  # a leap of a marker costs its frames, which are not valid
    return np.asarray(lateral + offset * (cosine * u - np.sqrt(1.0 - cosine**2) * w))


# Mean angle between the horizontal and the line from PSIS to ASIS in relaxed standing (Levine & Whittle 1996,
# J Orthop Sports Phys Ther 24:130-5); used only if neither a standing trial nor the motion shows the tilt.
PUBLISHED_TILT = np.deg2rad(11.0)
# The subject is upright where the pelvis is farther from a heel than this share of the longest distance in the motion:
# in walking always, in a squat down to some 50 degrees of knee flexion.
UPRIGHT_SHARE = 0.9
# That longest distance is one of a straight leg from this share of the stature on; adults have 0.53.
STRAIGHT_LEG = 0.48

BY_JOINTS = ("hip_center_r", "hip_center_l", "trunk_top")
"""Mapping[str, Array] that determine the frame of a pelvis without mapped spines."""


def trunk_top(points: Mapping[str, Array]) -> Array | None:
    """Return the root of the neck, or the point between the shoulders (..., 3); None where neither is seen."""
    if "neck_base" in points:
        return points["neck_base"]
    for name in ("shoulder_center", "shoulder"):
        if f"{name}_r" in points and f"{name}_l" in points:
            return between(points[f"{name}_r"], points[f"{name}_l"])
    return None


def back_of_pelvis(points: Mapping[str, Array]) -> Array:
    """Return the point midway between the PSIS (..., 3)."""
    behind = back_landmarks(points)
    return between(*(points[name] for name in behind)) if len(behind) == 2 else points[behind[0]]


def pelvic_landmarks(points: Mapping[str, Array]) -> list[str]:
    """Return the names of the points that determine the frame of the pelvis."""
    if not shows_spines(points):
        return list(BY_JOINTS)
    return ["asis_r", "asis_l", *back_landmarks(points)]


def pelvic_frame(points: Mapping[str, Array]) -> tuple[Array, Array]:
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


def pelvis_depth(standing: Mapping[str, Array]) -> float | None:
    """Return the distance [m] from mid-ASIS to mid-PSIS; None where the spines are not mapped."""
    if not shows_spines(standing):
        return None
    front = between(standing["asis_r"], standing["asis_l"])
    return float(np.linalg.norm(front - back_of_pelvis(standing)))


def neutral_axes(standing: Mapping[str, Array]) -> Array:
    """Return the neutral axes (3, 3) of the standing pelvis: its left axis, and forward rotated about it to horizontal.

    The columns are forward, left, up. The list of a pelvis that is lower on one side is kept; only the angle between
    the ASIS-PSIS plane and the horizontal is set to zero.
    """
    left = pelvic_frame(standing)[1][:, 1]
    return frame(unit(vector_product(left, UP)), left)


def standing_hips(
    standing: Mapping[str, Array], regression: str, legs: Mapping[Side, float]
) -> dict[str, Array]:
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


def upright_tilt(points: Mapping[str, Array], stature: float) -> float | None:
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


def assumed_standing(points: Mapping[str, Array], tilt: float) -> dict[str, Array]:
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


# Points that are the landmarks of the same name, when they are mapped.
HEAD_POINTS = ("head_base", "head_low", "head_top")
HAND = ("hand_radial", "hand_ulnar")


def upper_body(moving: Points, hips: Points, pelvis_up: Array, vertical: Array, stature: float) -> Points:
    """Return the model points of trunk, arms, hands and head that the landmarks show, without the back.

    Linear in all but the stature [m], see `anatomy.linear_points`.
    """
    points = {name: moving[name] for name in HEAD_POINTS if name in moving}
    for side in SIDES:
        lateral = moving.get(f"elbow_lateral_{side}")
        elbow = None if lateral is None else between(lateral, moving.get(f"elbow_medial_{side}", lateral))
        if f"shoulder_center_{side}" in moving:
            points[f"shoulder_{side}"] = moving[f"shoulder_center_{side}"]
        elif f"shoulder_{side}" in moving:
            acromion = moving[f"shoulder_{side}"]
            # An arm that no marker shows hangs straight down from the trunk.
            hanging = acromion - segment_shares()["upper arm"]["share"] * stature * pelvis_up
            points[f"shoulder_{side}"] = shoulder_center(acromion, hanging if elbow is None else elbow)
        else:
            continue
        if elbow is None:
            continue
        points[f"elbow_{side}"] = elbow
        names = [name for part in ("wrist", *HAND) if (name := f"{part}_{side}") in moving]
        # One end of the hand alone does not show the angle of the wrist; both ends do, in place of the wrist.
        if f"wrist_{side}" in names or len(names) == len(HAND):
            points |= {name: moving[name] for name in names}
    neck = moving.get("neck_base")
    if neck is None and "shoulder_r" in points and "shoulder_l" in points:
        neck = between(points["shoulder_r"], points["shoulder_l"])
    if neck is None:
        # The trunk stays upright over a pelvis that tilts; tilting with it, it would be thrown about.
        neck = between(hips["hip_r"], hips["hip_l"]) + segment_shares()["trunk"]["share"] * stature * vertical
    return points | {"neck_base": neck}


def completed(moving: Collection[str], points: Collection[str]) -> list[str]:
    """Return a sentence for every part of the upper body that is not followed."""
    sentences = []
    if "neck_base" not in moving and not {"shoulder_r", "shoulder_l"} <= set(points):
        sentences.append("The trunk: no markers, completed upright over the hips.")
    if "head_base" in points and not set(HEAD_POINTS) <= set(points):
        sentences.append("The head: too few markers, completed rigidly with the neck.")
    elif not set(HEAD_POINTS) <= set(points):
        sentences.append("Head and neck: no markers, completed rigidly with the trunk.")
    shows = {"shoulder": ("shoulder", "shoulder_center"), "elbow": ("elbow_lateral",)}
    for side in SIDES:
        # Joints of the arm and ends of the hand that landmarks show, followed or not.
        mapped = [
            part
            for part in ("shoulder", "elbow", "wrist", *HAND)
            if any(f"{landmark}_{side}" in moving for landmark in shows.get(part, (part,)))
        ]
        for part, ends, carrier in (
            ("arm", ("elbow",), "trunk"),
            ("forearm", ("wrist",), "upper arm"),
            ("hand", HAND, "forearm"),
        ):
            lost = [end for end in ends if f"{end}_{side}" not in points]
            if not lost:
                continue
            why = "no markers"
            if set(lost) & set(mapped):
                missing = next(joint for joint in ("shoulder", "elbow", "wrist") if joint not in mapped)
                why = f"no marker of the {missing}, so that those beyond it are left out"
            sentences.append(f"The {SIDE_NAMES[side]} {part}: {why}, completed rigidly with the {carrier}.")
    return sentences
