"""Proportions of the body: a segment far from its usual share of the stature gets a warning.

Only an impossible proportion, off by about a factor of two, is refused: a marker at the wrong joint, or another unit.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from musclesolve._util.arrays import Array, mean_length
from musclesolve._util.messages import capitalized
from musclesolve.errors import InputError
from musclesolve.laboratory.markers.landmarks import shows_spines
from musclesolve.laboratory.motion.anatomy.joint_centers import (
    back_of_pelvis,
    between,
    segment_shares,
    trunk_top,
)
from musclesolve.laboratory.motion.anatomy.landmark_positions import Points
from musclesolve.laboratory.recording.data import SIDE_NAMES, SIDES, Recording, Side
from musclesolve.tables.document import Document

# Beyond these multiples of the usual length a segment is unusual: wide enough for children, and for markers that sit
# beside the joint.
SHORTEST_RATIO, LONGEST_RATIO = 0.6, 1.5
# Multiples of the usual length (or the limits of a segment, where wider) beyond which no human fits. The placement of
# markers on skin and shoes may change the distance of two landmarks by this as well [m], which matters more in small
# subjects; but two landmarks are never nearer than this share of the usual length.
IMPOSSIBLE, PLACEMENT, NEAREST = (0.5, 1.8), 0.04, 0.12
# Ratio of the stature that fits the measured segments to the stature of the trial file: refused beyond the factor,
# noted if it differs from one by more than the share. Nine recorded people have 0.95 to 1.04 (standard deviation
# 0.024); small children and subjects with short limbs differ by a quarter.
FAR_STATURE, OFF_STATURE = 1.5, 0.08
# A measured hip center lies within centimeters of the regression. Distances, as shares of the stature, above which it
# is unusual, and above which it is the center of another joint. In obese subjects the regression itself is several
# centimeters off.
HIP_REACH, FAR_HIP = 0.047, 0.09
# Height of a mapped hip center over the regression, up or down, as a share of the stature: nearly three times the 8 mm
# by which the regression of Harrington (2007) is off along each axis (Mantovani et al. 2016, Gait Posture 44:48-54).
# Forward, laboratories differ by more than that.
HIP_HEIGHT = 0.0125
DISTAL_ENDS = {"thigh": "knee", "shank": "ankle", "upper arm": "elbow", "forearm": "wrist"}


@dataclass(frozen=True)
class Unusual:
    """A proportion of the subject that is rare."""

    what: str  # the length that was measured
    landmark: str  # the landmark to check first
    expected: str  # the usual value
    remedy: str  # the remedy

    def __str__(self) -> str:
        """Return the proportion as a sentence."""
        return f"{capitalized(self.what)}, usual is {self.expected}: {self.remedy}."

    def refused(self, document: Document) -> InputError:
        """Return the error of an impossible proportion."""
        return document.fault(
            "bad_anatomy", ("mapping", self.landmark), self.what, self.expected, self.remedy
        )


def unusual_landmarks(recording: Recording, stature: float, moving: Points) -> list[Unusual]:
    """Return landmarks that are nearer or farther than usual for this stature; refuse impossible distances."""
    points, rare = dict(moving), []
    if shows_spines(moving):
        points["asis_middle"] = between(moving["asis_r"], moving["asis_l"])
        points["psis_middle"] = back_of_pelvis(moving)
    if (top := trunk_top(moving)) is not None:
        points["neck_middle"] = top
    for segment, entry in segment_shares().items():
        ends = entry.get("ends", ())
        for side in SIDES if any("{side}" in end for end in ends) else (None,):
            names = [end.format(side=side) for end in ends]
            if names and all(name in points for name in names):
                one, other = (points[name] for name in names)
                rare += _unusual(recording, stature, segment, side, mean_length(other - one))
    return rare


def unusual_segments(recording: Recording, stature: float, offsets: Points) -> list[Unusual]:
    """Return segments that are shorter or longer than usual for this stature; refuse impossible lengths."""
    fitting = fitting_stature(offsets)
    # Before the segments: with a wrong stature all segments are wrong.
    if not 1.0 / FAR_STATURE <= fitting / stature <= FAR_STATURE:
        tall = f"{fitting:.2f} m tall"
        raise recording.document.fault(
            "bad_anatomy",
            ("subject", "stature_m"),
            f"the stature is {stature:g} m, but the measured segments fit a subject {tall}",
            f"{stature / FAR_STATURE:.2f} to {stature * FAR_STATURE:.2f} m",
            "correct stature_m, or check which markers are mapped to the joints of legs and arms",
        )
    return [
        unusual
        for (segment, side), length in _lengths(offsets).items()
        for unusual in _unusual(recording, stature, segment, side, length)
    ]


def unusual_hips(
    recording: Recording, stature: float, hips: Points, regression: Points, up: Array, method: str
) -> list[Unusual]:
    """Return mapped hip centers that are far from the regression; refuse impossible ones.

    up: unit vector (T, 3) along the pelvis.
    """
    rare = []
    reach, far, height = (share * stature for share in (HIP_REACH, FAR_HIP, HIP_HEIGHT))
    for side in SIDES:
        away = hips[f"hip_{side}"] - regression[f"hip_{side}"]
        apart, above = mean_length(away), float(np.mean(np.sum(away * up, axis=-1)))
        if apart <= reach and abs(above) <= height:
            continue
        name = f"hip_center_{side}"
        size, where, usual = (
            (apart, "from", f"less than {1000 * reach:.0f} mm")
            if apart > reach
            else (abs(above), "above" if above > 0.0 else "below", f"within {1000 * height:.0f} mm in height")
        )
        unusual = Unusual(
            f"the mapped {SIDE_NAMES[side]} hip center lies {1000 * size:.0f} mm {where} where {method} puts it",
            name,
            usual,
            f"check the marker of {name} and the markers of the pelvis, or remove the line to use the regression",
        )
        if apart > far:
            raise unusual.refused(recording.document)
        rare.append(unusual)
    return rare


def fitting_stature(offsets: Points) -> float:
    """Return the usual stature [m] for these thighs and shanks, and for trunk and arms if they were measured."""
    lengths = _lengths(offsets)
    parts = [("trunk", None), *((segment, side) for segment in DISTAL_ENDS for side in SIDES)]
    parts = [part for part in parts if part in lengths]
    # Each leg and arm counts half.
    weight = {None: 1.0, "r": 0.5, "l": 0.5}
    measured = sum(weight[side] * lengths[segment, side] for segment, side in parts)
    return measured / sum(weight[side] * segment_shares()[segment]["share"] for segment, side in parts)


def stature_notes(stature: float, offsets: Points) -> list[str]:
    """Return a sentence where the stature fits the segments badly."""
    fitting = fitting_stature(offsets)
    if abs(fitting / stature - 1.0) <= OFF_STATURE:
        return []
    return [
        f"The measured segments fit a subject about {fitting:.2f} m tall, but stature_m is {stature:g}: "
        "check it, masses and lengths of unmeasured segments depend on it."
    ]


def _unusual(
    recording: Recording, stature: float, segment: str, side: Side | None, length: float
) -> list[Unusual]:
    """Return a list with the unusual proportion of a length, empty for a usual length; refuse an impossible one."""
    entry = segment_shares()[segment]
    usual, limits = entry["share"] * stature, entry.get("limits", (SHORTEST_RATIO, LONGEST_RATIO))
    shortest, longest = (usual * limit for limit in limits)
    if shortest <= length <= longest:
        return []
    named = [name.format(side=foot) for name in entry["landmarks"] for foot in ([side] if side else SIDES)]
    mapped = [name for name in dict.fromkeys(named) if name in recording.mapping]
    unusual = Unusual(
        f"the {SIDE_NAMES[side] + ' ' if side else ''}{segment} measures {1000 * length:.0f} mm",
        mapped[0],
        f"{1000 * shortest:.0f} to {1000 * longest:.0f} mm for a subject {stature:g} m tall",
        f"check which markers are mapped to {', '.join(mapped)}, and stature_m",
    )
    off = PLACEMENT if "ends" in entry else 0.0
    least = max(usual * min(limits[0], IMPOSSIBLE[0]) - off, usual * min(limits[0], NEAREST))
    if not least <= length <= max(usual * limits[1], usual * IMPOSSIBLE[1] + off):
        raise unusual.refused(recording.document)
    return [unusual]


def _lengths(offsets: Points) -> dict[tuple[str, Side | None], float]:
    """Return (segment, side) -> length [m] of the measured segments."""
    vectors: dict[tuple[str, Side | None], Any] = {("hips", None): offsets["hip_l"] - offsets["hip_r"]}
    if "neck_base" in offsets:
        vectors["trunk", None] = offsets["back"] + offsets["neck_base"]
    for side in SIDES:
        vectors["foot", side] = offsets[f"toe_{side}"] - offsets[f"heel_{side}"]
        for segment, end in DISTAL_ENDS.items():
            if f"{end}_{side}" in offsets:
                vectors[segment, side] = offsets[f"{end}_{side}"]
    return {key: float(np.linalg.norm(vector)) for key, vector in vectors.items()}
