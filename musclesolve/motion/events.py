"""Heel strikes from the ground reaction."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from musclesolve.recording.data import SIDES, Side, Trial

Array = NDArray[np.float64]

SHORTEST_CONTACT = 0.1
"""Contacts shorter than this are noise of the plate [s]."""


def heel_strikes(trial: Trial) -> dict[Side, Array]:
    """Times [s] at which each foot meets its plate, over the whole recording, not only the time range.

    A leg that was caught once, while the other one was caught twice, is given a second strike one stride of the other
    leg later and one earlier: walking is taken as periodic. Legs without any strike are left out.
    """
    seen = {side: _contacts(trial, side) for side in SIDES}
    strides = [np.diff(times).mean() for times in seen.values() if times.size > 1]
    strikes: dict[Side, Array] = {}
    for side, times in seen.items():
        if times.size and strides:
            stride = float(np.mean(strides)) if times.size == 1 else float(np.diff(times).mean())
            strikes[side] = np.concatenate([[times[0] - stride], times, [times[-1] + stride]])
        elif times.size:
            strikes[side] = times
    return strikes


def _contacts(trial: Trial, side: Side) -> Array:
    """Beginnings of the contacts of one foot [s]; a foot that is loaded from the first sample on struck before.

    A foot that passes from one plate to the next does not strike again: its plates are taken together.
    """
    plates = [plate for plate in trial.forces if plate.side == side]
    if not plates:
        return np.zeros(0)
    time = plates[0].time
    vertical = np.sum([np.interp(time, plate.time, plate.force[:, 2]) for plate in plates], axis=0)
    edges = np.diff((vertical > trial.unloaded_below).astype(int))
    starts, ends = np.flatnonzero(edges == 1) + 1, np.append(np.flatnonzero(edges == -1) + 1, time.size - 1)
    last = ends[np.searchsorted(ends, starts, side="right").clip(max=ends.size - 1)]
    struck: Array = time[starts[time[last] - time[starts] >= SHORTEST_CONTACT]]
    return struck
