"""How the person stands: the reference from which pelvis and feet are followed into the motion.

With a standing trial this is its median posture. Without one it is put together from the motion: the mean shape of
the pelvis at a published tilt, and each leg at the instant its foot lies flattest and lowest.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from musclesolve.errors import InputError
from musclesolve.motion.joint_centres import between, hip_needs
from musclesolve.motion.landmarks import Points, standing_landmarks
from musclesolve.motion.pelvis import NEUTRAL_TILT, assumed_standing, neutral_axes, standing_hips
from musclesolve.motion.vectors import UP, horizontal, unit
from musclesolve.recording.data import SIDES, Side, Trial

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Posture:
    """The standing person.

    Args:
        pelvis: pelvic landmarks and hip centers (3,) [m].
        legs: side -> landmarks, "knee", "ankle" (3,) [m]; each leg for itself when there is no standing trial.
        pelvis_axes: (3, 3) neutral forward, left, up of the pelvis, as columns.
        notes: what was assumed.
    """

    pelvis: Points
    legs: dict[Side, Points]
    pelvis_axes: Array
    notes: tuple[str, ...]


def posture(trial: Trial, standing: Points, moving: Points) -> Posture:
    """Find the standing posture.

    Args:
        trial: the trial.
        standing: marker positions (3,) of the standing trial; empty when there is none.
        moving: landmarks (T, 3) of the motion.

    Raises:
        InputError: the hip regression needs a leg length and none is known.
    """
    notes: list[str] = []
    if trial.static is not None:
        seen = standing_landmarks(trial, standing)
        pelvis, legs = seen, {side: leg_centers(seen, side) for side in SIDES}
    else:
        pelvis, legs = assumed_standing(moving), {side: _flat_foot(moving, side) for side in SIDES}
        notes.append(
            f"The neutral tilt of the pelvis is taken as {np.rad2deg(NEUTRAL_TILT):.0f} degrees (Levine & Whittle "
            "1996), because there is no standing trial; hip flexion is off by the person's difference from it."
        )
        notes.append("The feet are measured at the instant of the motion at which each lies lowest.")
    try:
        hips = standing_hips(pelvis, trial.hip_regression, _leg_lengths(trial, pelvis, legs))
    except InputError as error:
        raise trial.document.placed(error, "joint_centers", "hip") from None
    if (
        "leg" in hip_needs(trial.hip_regression)
        and trial.subject.leg_length is None
        and trial.static is not None
    ):
        notes.append("The leg length for the hip centers is measured on the standing trial.")
    return Posture({**pelvis, **hips}, legs, neutral_axes(pelvis), tuple(notes))


def _leg_lengths(trial: Trial, pelvis: Points, legs: dict[Side, Points]) -> dict[Side, float]:
    """Return the distance from ASIS to medial malleolus [m] by side, where it is known."""
    if trial.subject.leg_length is not None:
        return dict.fromkeys(SIDES, trial.subject.leg_length)
    if trial.static is None:
        return {}
    return {
        side: float(np.linalg.norm(pelvis[f"asis_{side}"] - legs[side][f"ankle_medial_{side}"]))
        for side in SIDES
    }


def leg_centers(points: Points, side: Side) -> Points:
    """Return the landmarks of one leg and its knee and ankle centers, "knee" and "ankle" (..., 3) [m]."""
    leg = {name: point for name, point in points.items() if name.endswith(f"_{side}")}
    for joint in ("knee", "ankle"):
        leg[joint] = between(leg[f"{joint}_lateral_{side}"], leg[f"{joint}_medial_{side}"])
    return leg


def _flat_foot(moving: Points, side: Side) -> Points:
    """Return one leg (3,) at the instant at which heel and toe together are lowest."""
    lowest = int(np.argmin(moving[f"heel_{side}"][:, 2] + moving[f"toe_{side}"][:, 2]))
    return leg_centers({name: point[lowest] for name, point in moving.items()}, side)


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


def leg_frame(leg: Points, side: Side) -> Array:
    """Return the axes (3, 3) of a standing leg as columns: forward, left, up, with left along the knee axis."""
    left = horizontal(leftward(leg, "knee", side))
    return np.stack([np.cross(left, UP), left, UP], axis=-1)
