"""Are these the proportions of a person? A segment far from its usual share of the stature is a mapping mistake."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources
from typing import Any

import numpy as np

from musclesolve.motion.joint_centres import between
from musclesolve.motion.landmarks import Points
from musclesolve.motion.pelvis import back_of_pelvis, shows_spines, trunk_top
from musclesolve.motion.vectors import mean_length
from musclesolve.recording.data import SIDE_NAMES, SIDES, Side, Trial

# Wide enough for children and for markers that sit beside the joint, too narrow for a marker at the wrong joint.
SHORTEST, LONGEST = 0.6, 1.5
# Stature that fits thighs, shanks and trunk, over that of the trial file: refused beyond the first share, noted beyond
# the second. Grown people differ by some hundredths.
FAR_STATURE, OFF_STATURE = 0.2, 0.1
# A hip center measured otherwise lies within centimeters of the regression [m].
HIP_REACH = 0.08


@cache
def segment_shares() -> dict[str, dict[str, Any]]:
    """Return segment -> its share of the stature and the landmarks that show it."""
    text = resources.files(__package__).joinpath("segment_shares.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def check_landmarks(trial: Trial, moving: Points) -> None:
    """Refuse landmarks that are nearer or farther than on a person of this stature.

    Args:
        trial: the trial.
        moving: landmarks (T, 3) of the motion [m].

    Raises:
        InputError: naming the distance and the landmarks to look at.
    """
    points = dict(moving)
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
                _check(trial, segment, side, mean_length(other - one))


def check_segments(trial: Trial, offsets: Points) -> None:
    """Refuse segments that no person of this stature has, and a stature that does not fit them.

    Args:
        trial: the trial.
        offsets: standing geometry as ``standing_offsets`` returns it.

    Raises:
        InputError: naming the segment, its length and the landmarks to look at.
    """
    for (segment, side), length in _lengths(offsets).items():
        _check(trial, segment, side, length)
    fitting = fitting_stature(offsets)
    if abs(fitting / trial.subject.stature - 1.0) > FAR_STATURE:
        raise trial.document.error(
            f"the stature is {trial.subject.stature:g} m, but thighs, shanks and trunk are those of a person "
            f"{fitting:.2f} m tall",
            "subject",
            "stature_m",
            expected=f"within {100 * FAR_STATURE:.0f} % of each other",
            remedy="correct stature_m, or check which markers are mapped to hips, knees, ankles and shoulders",
        )


def check_hips(trial: Trial, hips: Points, regression: Points) -> None:
    """Refuse a mapped hip center far from where the regression puts it.

    Args:
        trial: the trial.
        hips: hip centers "hip_r", "hip_l" as they are used, (T, 3) [m].
        regression: the same by regression, (T, 3) [m].

    Raises:
        InputError: naming the landmark.
    """
    for side in SIDES:
        apart = mean_length(hips[f"hip_{side}"] - regression[f"hip_{side}"])
        if apart > HIP_REACH:
            name = f"hip_center_{side}"
            raise trial.document.error(
                f"the mapped {SIDE_NAMES[side]} hip center lies {1000 * apart:.0f} mm from where "
                f"{trial.hip_regression} puts it",
                "mapping",
                name,
                expected=f"less than {1000 * HIP_REACH:.0f} mm",
                remedy=f"check the marker of {name}, or remove the line to use the regression",
            )


def fitting_stature(offsets: Points) -> float:
    """Return the stature [m] that usually goes with these thighs, shanks and this trunk, if it was measured."""
    lengths = _lengths(offsets)
    every = [("trunk", None), *((segment, side) for segment in ("thigh", "shank") for side in SIDES)]
    parts = [part for part in every if part in lengths]
    # Each leg counts half: the person is as tall as trunk and one leg.
    weight = {None: 1.0, "r": 0.5, "l": 0.5}
    measured = sum(weight[side] * lengths[segment, side] for segment, side in parts)
    return measured / sum(weight[side] * segment_shares()[segment]["share"] for segment, side in parts)


def stature_notes(trial: Trial, offsets: Points) -> list[str]:
    """Return a sentence where the stature fits the segments badly."""
    fitting, stature = fitting_stature(offsets), trial.subject.stature
    if abs(fitting / stature - 1.0) <= OFF_STATURE:
        return []
    return [
        f"Thighs, shanks and trunk are those of a person about {fitting:.2f} m tall, but stature_m is {stature:g}: "
        "check it, masses and lengths of unmeasured segments depend on it."
    ]


def _check(trial: Trial, segment: str, side: Side | None, length: float) -> None:
    entry = segment_shares()[segment]
    usual = entry["share"] * trial.subject.stature
    shortest, longest = (usual * limit for limit in entry.get("limits", (SHORTEST, LONGEST)))
    if shortest <= length <= longest:
        return
    named = [name.format(side=own) for name in entry["landmarks"] for own in ([side] if side else SIDES)]
    mapped = [name for name in dict.fromkeys(named) if name in trial.mapping]
    raise trial.document.error(
        f"the {SIDE_NAMES[side] + ' ' if side else ''}{segment} measures {1000 * length:.0f} mm",
        "mapping",
        mapped[0],
        expected=f"{1000 * shortest:.0f} to {1000 * longest:.0f} mm for a person "
        f"{trial.subject.stature:g} m tall",
        remedy=f"check which markers are mapped to {', '.join(mapped)}, and stature_m",
    )


def _lengths(offsets: Points) -> dict[tuple[str, Side | None], float]:
    """Return (segment, side) -> length [m] of what was measured."""
    vectors: dict[tuple[str, Side | None], Any] = {
        ("hips", None): offsets["hip_l"] - offsets["hip_r"],
    }
    if "neck_base" in offsets:
        vectors["trunk", None] = offsets["back"] + offsets["neck_base"]
    for side in SIDES:
        vectors["foot", side] = offsets[f"toe_{side}"] - offsets[f"heel_{side}"]
        for segment, end in (
            ("thigh", "knee"),
            ("shank", "ankle"),
            ("upper arm", "elbow"),
            ("forearm", "wrist"),
        ):
            if f"{end}_{side}" in offsets:
                vectors[segment, side] = offsets[f"{end}_{side}"]
    return {key: float(np.linalg.norm(vector)) for key, vector in vectors.items()}
