"""Landmarks of knees and ankles guessed by the places of markers on a standing subject, where no name shows them.

With r the direction from the left to the right landmarks of the pelvis, u upward and z the height above the lowest
marker, divided by the height of the pelvis, a marker at a knee or ankle lies in a band of z. The lateral and the medial
marker of a joint are a pair of such markers on one side: apart by the width of a joint along r, and by little square to
it. Of several pairs it is the one that is least apart square to r.
"""

from collections.abc import Iterable, Mapping
from itertools import permutations

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.recording.data import SIDES

BANDS = {"knee": (0.40, 0.62), "ankle": (0.03, 0.17)}
"""Heights over that of the pelvis between which markers of a joint lie; by the proportions of Drillis & Contini (1966),
as printed by Winter (1990), knees are at 0.52 and ankles at 0.07 of the height of the pelvis."""
WIDTHS = {"knee": (0.06, 0.17), "ankle": (0.045, 0.13)}
"""The lateral and the medial marker of a joint are apart by so much, with the markers on their skin [m]."""
OBLIQUE = 0.05
"""They are apart by less than this square to the line from left to right [m]."""
SIDES_OF_JOINTS = ("knee_lateral", "knee_medial", "ankle_lateral", "ankle_medial")


def guessed_by_place(
    known: Mapping[str, Array], free: Mapping[str, Array], lacking: Iterable[str]
) -> dict[str, str]:
    """Return landmark -> marker for the missing landmarks of knees and ankles and that places show.

    Args:
        known: landmark -> its place (3,) on the standing subject [m], in any axes; both sides of the pelvis are needed.
        free: marker -> its place (3,) [m], of those that show no landmark.
        lacking: landmarks without a marker, such as "knee_lateral_r".
    """
    frame = _frame(known, free)
    if frame is None:
        return {}
    middle, right, up, height = frame
    floor = min(float(place @ up) for place in (*known.values(), *free.values()))
    lacking = list(lacking)
    found: dict[str, str] = {}
    for joint, (low, high) in BANDS.items():
        for side in SIDES:
            outer, inner = f"{joint}_lateral_{side}", f"{joint}_medial_{side}"
            if not {outer, inner} & set(lacking):
                continue
            outwards = right if side == "r" else -right
            there = {
                name: place
                for name, place in free.items()
                if low < (place @ up - floor) / (height - floor) < high and (place - middle) @ outwards > 0.0
            }
            places = {f"known {name}": known[name] for name in (outer, inner) if name in known}
            pairs = []
            for first, second in permutations([*there, *places], 2):
                if (outer in known) != (first == f"known {outer}") or (inner in known) != (
                    second == f"known {inner}"
                ):
                    continue
                apart = (there | places)[first] - (there | places)[second]
                width = float(apart @ outwards)
                oblique = float(np.linalg.norm(apart - width * outwards))
                if WIDTHS[joint][0] < width < WIDTHS[joint][1] and oblique < OBLIQUE:
                    pairs.append((oblique, first, second))
            if pairs:
                _, first, second = min(pairs)
                found |= {
                    landmark: marker
                    for landmark, marker in ((outer, first), (inner, second))
                    if landmark in lacking and marker in free
                }
    return found


def _frame(known: Mapping[str, Array], free: Mapping[str, Array]) -> tuple[Array, Array, Array, float] | None:
    """Middle of the pelvis, directions to the right and up, and height of the pelvis; None where they do not show."""
    pelvis = next((n for n in ("asis", "hip_center", "psis") if {f"{n}_r", f"{n}_l"} <= set(known)), None)
    feet = [
        place for name, place in known.items() if name.rpartition("_")[0] in ("heel", "toe", "metatarsal_5")
    ]
    if pelvis is None or not feet:
        return None
    middle = 0.5 * (known[f"{pelvis}_r"] + known[f"{pelvis}_l"])
    right = known[f"{pelvis}_r"] - known[f"{pelvis}_l"]
    right = right / np.linalg.norm(right)
    # The axis of the file that is nearest to the way from the feet to the pelvis.
    way = middle - np.mean(feet, axis=0)
    axis = int(np.argmax(np.abs(way)))
    up = np.sign(way[axis]) * np.eye(3)[axis]
    right = right - (right @ up) * up
    length = float(np.linalg.norm(right))
    if length < 0.5:  # the subject does not stand upright
        return None
    return middle, right / length, up, float(middle @ up)
