"""Swapped sides: every pair of landmarks is compared with the proximal pair."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.recording.data import SIDES, Recording

# landmark -> its proximal neighbor, from the pelvis outwards, so that the first pair that disagrees is the swapped one.
# Not the wrists: arms may be folded; swapped wrists show in the length of the forearms.
NEIGHBOUR = {
    "psis": "asis",
    "hip_center": "asis",
    "knee_lateral": "asis",
    "knee_medial": "knee_lateral",
    "ankle_lateral": "knee_lateral",
    "ankle_medial": "ankle_lateral",
    "heel": "ankle_lateral",
    "toe": "ankle_lateral",
    "metatarsal_5": "ankle_lateral",
    "shoulder": "asis",
    "shoulder_center": "shoulder",
    "elbow_lateral": "shoulder",
    "elbow_medial": "elbow_lateral",
    "hand_radial": "wrist",
    "hand_ulnar": "wrist",
}


def check_sides(trial: Recording, points: Mapping[str, Array]) -> None:
    """Refuse a landmark whose right and left are swapped, of the points (T, 3) [m] that are seen.

    With e from the right to the left landmark and n from the right to the left neighbor, sum |r - n_r|^2 + |l - n_l|^2
    - |r - n_l|^2 - |l - n_r|^2 = -2 e . n: where the mean of e . n is negative, each landmark is nearer to the
    neighbor of the other side.
    """
    for name, neighbor in NEIGHBOUR.items():
        pairs = [[f"{landmark}_{side}" for side in SIDES] for landmark in (name, neighbor)]
        if not all(landmark in points for pair in pairs for landmark in pair):
            continue
        own, other = (points[left] - points[right] for right, left in pairs)
        if np.nanmean(np.sum(own * other, axis=-1)) < 0.0:
            problem = f"right and left are swapped: each {name} is nearer to the {neighbor} of the other side"
            expected = f"{name}_r on the side of {neighbor}_r, {name}_l on the side of {neighbor}_l"
            remedy, key = f"swap the markers of {name}_r and {name}_l", f"{name}_r"
            raise trial.document.error(problem, "mapping", key, 0, expected, remedy, code="sides_swapped")
