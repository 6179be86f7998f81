"""Are these the proportions of a person? A segment far from its usual share of the stature is a mapping mistake."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources
from typing import Any

import numpy as np

from musclesolve.errors import InputError
from musclesolve.motion.landmarks import Points
from musclesolve.recording.data import SIDES, Trial

# Wide enough for children and for markers that sit beside the joint, too narrow for a marker at the wrong joint.
SHORTEST, LONGEST = 0.6, 1.5
_NAMES = {"r": "right ", "l": "left ", "": ""}


@cache
def segment_shares() -> dict[str, dict[str, Any]]:
    """Return segment -> its share of the stature and the landmarks that show it."""
    text = resources.files(__package__).joinpath("segment_shares.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def check_proportions(trial: Trial, offsets: Points) -> None:
    """Refuse segments that no person of this stature has.

    Args:
        trial: the trial.
        offsets: standing geometry as ``standing_offsets`` returns it.

    Raises:
        InputError: naming the segment, its length and the landmarks to look at.
    """
    for (segment, side), length in _lengths(offsets).items():
        entry = segment_shares()[segment]
        usual = entry["share"] * trial.subject.stature
        if not SHORTEST * usual <= length <= LONGEST * usual:
            raise InputError(
                f"the {_NAMES[side]}{segment} measures {1000 * length:.0f} mm",
                file=trial.path,
                where=f"[mapping] {entry['landmarks']}",
                expected=f"{1000 * SHORTEST * usual:.0f} to {1000 * LONGEST * usual:.0f} mm for a person "
                f"{trial.subject.stature:g} m tall",
                remedy="check which markers are mapped to these landmarks, and stature_m",
            )


def _lengths(offsets: Points) -> dict[tuple[str, str], float]:
    """Return (segment, side) -> length [m]."""
    vectors = {
        ("hips", ""): offsets["hip_l"] - offsets["hip_r"],
        ("trunk", ""): offsets["back"] + offsets["neck_base"],
    }
    for side in SIDES:
        vectors["foot", side] = offsets[f"toe_{side}"] - offsets[f"heel_{side}"]
        for segment, end in (
            ("thigh", "knee"),
            ("shank", "ankle"),
            ("upper arm", "elbow"),
            ("forearm", "wrist"),
        ):
            vectors[segment, side] = offsets[f"{end}_{side}"]
    return {key: float(np.linalg.norm(vector)) for key, vector in vectors.items()}
