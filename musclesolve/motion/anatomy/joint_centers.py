"""Joint centers from landmarks: hips by regression, knees and ankles midway, shoulders below the acromion.

Where no marker of the motion shows the medial landmark of a knee or ankle, a medial marker of the standing trial
replaces it, or the joint center is computed by the chord function in standing. In the motion this landmark is fixed to
the center above, the marker on the side of the segment and the lateral marker.
"""

from collections.abc import Container, Mapping
from typing import Any

import numpy as np

from musclesolve._util.arrays import Array, across, unit
from musclesolve._util.bundled_toml import bundled_toml
from musclesolve._util.names import check_known
from musclesolve.errors import InputError, input_error
from musclesolve.motion.anatomy.landmark_positions import Points, registered
from musclesolve.recording.data import SIDES, Recording, Side, Subject
from musclesolve.recording.gaps.rigid_registration import Poses
from musclesolve.recording.markers.landmarks import WANDS

# Distance from the acromion to the shoulder center over that to the elbow (de Leva 1996, J Biomech 29:1223-30).
SHOULDER_SHARE = 0.104
ABOVE = {"knee": "hip", "ankle": "knee"}
"""The joint above each joint."""
# A wand nearer to the line from the lateral marker to the center above does not show the plane of the joint [m].
NEAREST_WAND = 0.004


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


def standing_medials(
    recording: Recording, subject: Subject, standing: Mapping[str, Array], hips: Points
) -> Points:
    """Return the landmarks (3,) of the standing subject, completed with medial landmarks by the chord function.

    A medial landmark is placed so that the center is midway between it and the lateral one. Hip centers "hip_r",
    "hip_l" (3,) [m] are by regression; mapped hip centers have priority.
    """
    points = dict(standing)
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
    recording: Recording, moving: Points, hips: Points, standing: Points
) -> tuple[Points, dict[str, Poses]]:
    """Return the landmarks (T, 3) of the motion, completed with medial landmarks that no marker shows.

    Returns also the poses of the triangles to which these landmarks are fixed, each by the names of its corners.
    `standing` holds landmarks and hip centers by regression (3,) [m], the others are (T, 3) [m].
    """
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
    """
    line = above - lateral
    length = np.linalg.norm(line, axis=-1, keepdims=True)
    if not length.min() > offset:
        raise input_error(
            "bad_anatomy",
            problem=f"the lateral marker is {1000 * length.min():.0f} mm from the joint center above "
            f"it, and {1000 * offset:.0f} mm from its own",
            expected="half the joint width, and far less than the length of the segment",
            remedy="check the marker, and the joint widths in [subject]",
        )
    u = unit(line)
    beside = np.linalg.norm(np.cross(wand - lateral, u), axis=-1)
    if not beside.min() > NEAREST_WAND:
        raise input_error(
            "bad_anatomy",
            problem=f"the marker on the side of the segment lies {1000 * beside.min():.0f} mm from "
            "the line between the lateral marker and the joint center above it, so the plane "
            "of the joint is unknown",
            expected=f"more than {1000 * NEAREST_WAND:.0f} mm; a few centimeters are usual",
            remedy="check that the two markers are not exchanged or copies of each other",
        )
    w = across(wand - lateral, u)
    cosine = offset / length
    return np.asarray(lateral + offset * (cosine * u - np.sqrt(1.0 - cosine**2) * w))
