"""The standing posture: the reference from which pelvis and feet are followed into the motion.

With a standing trial this is its median posture. Without one it is put together from the motion: the mean shape of
the pelvis at a published tilt, and each leg at the instant its foot lies flattest and lowest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.errors import InputError
from musclesolve.motion.anatomy.functional_hip import functional_hips
from musclesolve.motion.anatomy.joint_centers import hip_needs, joint_center
from musclesolve.motion.anatomy.landmark_positions import Points, standing_landmarks
from musclesolve.motion.anatomy.medial_landmarks import standing_medials
from musclesolve.motion.anatomy.pelvis import (
    NEUTRAL_TILT,
    assumed_standing,
    neutral_axes,
    standing_hips,
    trunk_top,
)
from musclesolve.motion.anatomy.unit_vectors import UP, horizontal, unit
from musclesolve.recording.data import SIDES, Recording, Side, Subject
from musclesolve.recording.markers.landmark_names import shows_spines


@dataclass(frozen=True)
class Posture:
    """The subject when standing."""

    pelvis: Points  # pelvic landmarks and hip centers (3,) [m]
    # side -> landmarks, "knee", "ankle" (3,) [m]; each leg for itself when there is no standing trial
    legs: dict[Side, Points]
    pelvis_axes: Array  # (3, 3) neutral forward, left, up of the pelvis, as columns
    notes: tuple[str, ...]  # what was assumed

    def with_hips_moved(self, shift: Mapping[Side, Array]) -> Posture:
        """The same with hip centers "hip_r", "hip_l" moved by (3,), in the neutral axes of the pelvis [m]."""
        moved = {
            f"hip_{side}": self.pelvis[f"hip_{side}"] + self.pelvis_axes @ by for side, by in shift.items()
        }
        return replace(self, pelvis={**self.pelvis, **moved})


def posture(
    recording: Recording, subject: Subject, regression: str, standing: Points, moving: Points
) -> Posture:
    """Find the standing posture.

    Marker positions (3,) of the standing trial are empty when there is none.
    """
    notes: list[str] = []
    pelvis = _standing_pelvis(recording, standing, moving)
    if recording.static is None:
        notes += _assumed(pelvis)
    elif not shows_spines(pelvis):
        notes.append("The pelvis is determined from hips and shoulders: it tilts with the trunk.")
    try:
        hips = standing_hips(pelvis, regression, _leg_lengths(recording, subject, pelvis))
    except InputError as error:
        raise recording.document.placed(error, "joint_centers", "hip") from None
    functional, hip_notes = functional_hips(recording, subject.stature, standing, pelvis, hips, regression)
    hips |= functional
    notes += hip_notes
    if recording.static is None:
        legs = {side: _flat_foot(moving, side) for side in SIDES}
    else:
        pelvis = standing_medials(recording, subject, pelvis, hips)
        legs = {side: leg_centers(pelvis, side) for side in SIDES}
    if "leg" in hip_needs(regression) and subject.leg_length is None and recording.static is not None:
        notes.append("The leg length for the hip centers is measured on the standing trial.")
    return Posture({**pelvis, **hips}, legs, neutral_axes(pelvis), tuple(notes))


def _standing_pelvis(recording: Recording, standing: Points, moving: Points) -> Points:
    """Return the points (3,) of the standing pelvis; of the whole body where there is a standing trial."""
    if recording.static is None:
        return assumed_standing(moving)
    seen = standing_landmarks(recording, standing)
    top = None if shows_spines(seen) else trunk_top(seen)
    return seen if top is None else seen | {"trunk_top": top}


def _assumed(pelvis: Points) -> list[str]:
    feet = "The feet are measured at the instant of the motion at which each lies lowest."
    if not shows_spines(pelvis):
        return [
            "The trunk is assumed to be upright over the hips, because there is no standing trial.",
            feet,
        ]
    return [
        f"The neutral tilt of the pelvis is taken as {np.rad2deg(NEUTRAL_TILT):.0f} degrees (Levine & Whittle "
        "1996), because there is no standing trial; hip flexion is off by the subject's difference from it.",
        feet,
    ]


def _leg_lengths(recording: Recording, subject: Subject, pelvis: Points) -> dict[Side, float]:
    """Return the distance from ASIS to medial malleolus [m] by side, where it is known."""
    if subject.leg_length is not None:
        return dict.fromkeys(SIDES, subject.leg_length)
    if recording.static is None:
        return {}
    ends = {side: (f"asis_{side}", f"ankle_medial_{side}") for side in SIDES}
    return {
        side: float(np.linalg.norm(pelvis[one] - pelvis[other]))
        for side, (one, other) in ends.items()
        if one in pelvis and other in pelvis
    }


def leg_centers(points: Points, side: Side) -> Points:
    """Return the landmarks of one leg and its knee and ankle centers, "knee" and "ankle" (..., 3) [m]."""
    leg = {name: point for name, point in points.items() if name.endswith(f"_{side}")}
    for joint in ("knee", "ankle"):
        leg[joint] = joint_center(leg, joint, side)
    return leg


def _flat_foot(moving: Points, side: Side) -> Points:
    """Return one leg (3,) at the instant at which heel and toe together are lowest."""
    lowest = int(np.argmin(moving[f"heel_{side}"][:, 2] + moving[f"toe_{side}"][:, 2]))
    return leg_centers({name: point[lowest] for name, point in moving.items()}, side)


def shows_axis(points: Points, joint: str, side: Side) -> bool:
    """Return whether both ends of a joint axis are among the points."""
    return f"{joint}_lateral_{side}" in points and f"{joint}_medial_{side}" in points


def leftward(points: Points, joint: str, side: Side) -> Array:
    """Return the unit vector (..., 3) along lateral and medial landmark of a joint that points to the left."""
    outward = points[f"{joint}_lateral_{side}"] - points[f"{joint}_medial_{side}"]
    return unit(outward if side == "l" else -outward)


def foot_forward(leg: Points, side: Side) -> Array:
    """Return the horizontal unit vector (3,) from heel to toe of a standing leg."""
    return horizontal(leg[f"toe_{side}"] - leg[f"heel_{side}"])


def foot_left(leg: Points, side: Side) -> Array:
    """Return the ankle axis of a standing leg (3,): horizontal, square to heel-toe, pointing left."""
    return np.cross(UP, foot_forward(leg, side))


def leg_frame(leg: Points, side: Side, left: Array) -> Array:
    """Return the axes (3, 3) of a standing leg as columns: forward, left, up, with left along the knee axis.

    `left` (3,) stands for a knee axis that is not measured.
    """
    left = horizontal(leftward(leg, "knee", side) if shows_axis(leg, "knee", side) else left)
    return np.stack([np.cross(left, UP), left, UP], axis=-1)
