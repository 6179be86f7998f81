"""Markers of a recording, and its forces or EMG, in two files that count time from different zeros.

A marker file that was cut out of a longer recording may count from the beginning of that recording, and the other file
from its own first sample, or the other way round. Both then last equally long. The feet under the forces decide.
"""

from collections.abc import Sequence

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.recording.data import Side
from musclesolve.recording.plates.plate_assignment import FARTHEST_PRESSURE, Feet

LEAST_DIFFERENCE = 0.2
"""Difference of first times from which files count from different zeros [s]; a smaller one may be a late trigger."""
SAME_FRAMES = 2.0
"""Frames by which markers and forces of one recording differ in their duration."""
NEARER, NEAR = 0.8, 0.1
"""Mean distance of loaded points from the feet when the clocks are right: share of what it was, and largest [m]."""
LOADED_N = 100.0

Loaded = tuple[Array, Array, Array, Side | None]
"""Times (S,) [s], force (S, 3) [N] and point (S, 3) [m] of a plate, and its foot if it is stated."""


def clock_difference(plates: Sequence[Loaded], feet: Feet, offset: float) -> float:
    """Return what is to be added to the times of plates so that they begin with the markers [s]; 0 if nothing is.

    offset: what [plates] adds to the times in any case [s].
    """
    walk = next(iter(feet.values())).time
    if not plates or walk.size < 2:
        return 0.0
    difference = zeros_apart(plates[0][0], walk)
    if not difference:
        return 0.0
    as_stated, together = (_beside(plates, feet, offset + late) for late in (0.0, difference))
    return difference if together < min(NEARER * as_stated, NEAR) else 0.0


def zeros_apart(time: Array, walk: Array) -> float:
    """Return how much later a motion (T,) begins than other samples (S,) that last as long [s]; 0 if others do not."""
    step = max((walk[-1] - walk[0]) / (walk.size - 1), (time[-1] - time[0]) / max(time.size - 1, 1))
    difference = float(walk[0] - time[0])
    as_long = abs(np.ptp(time) - np.ptp(walk)) <= SAME_FRAMES * step
    return difference if as_long and abs(difference) >= LEAST_DIFFERENCE else 0.0


def _beside(plates: Sequence[Loaded], feet: Feet, late: float) -> float:
    """Mean distance of loaded points from their feet [m], at most `FARTHEST_PRESSURE`; that if no foot is seen."""
    found = []
    for time, force, point, side in plates:
        loaded = force[:, 2] > LOADED_N
        of_feet = [
            feet[foot].distance(point[loaded], time[loaded] + late) for foot in ([side] if side else feet)
        ]
        found.append(np.fmin.reduce(of_feet))
    beside = np.concatenate(found)
    beside = np.minimum(beside[np.isfinite(beside)], FARTHEST_PRESSURE)
    return float(beside.mean()) if beside.size else FARTHEST_PRESSURE


def clock_note(difference: float, file: str, marker_file: str, start: float, what: str = "forces") -> str:
    """Sentence on times that were moved by a difference [s] to begin with the markers, at `start` [s]."""
    shown = ", and the forces act on the feet if both begin together" if what == "forces" else ""
    return (
        f"{file} and {marker_file} count time from different zeros: both last equally long{shown}. {difference:+.3f} s "
        f"were added to the times of the {what}, which begin with the markers at {start:.3f} s."
    )
