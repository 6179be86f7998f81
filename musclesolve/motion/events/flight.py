"""When neither foot is on the ground: running and jumping, where what is customary in walking does not hold."""

from __future__ import annotations

import numpy as np

from musclesolve._util.arrays import Array, true_runs
from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.motion.events.force_events import FootLoads
from musclesolve.motion.signals.low_pass import low_pass, lowest_carried
from musclesolve.recording.data import SIDES, Recording
from musclesolve.recording.plates.foot_contacts import vertical_force

FALLS = 0.7
"""A pelvis that accelerates downwards by more than this falls; in walking it comes to half of it [g]."""
UNLOADED_WEIGHTS = 0.05
"""Below this vertical force under both feet the plates carry no load [body weights]."""
SHORTEST = 0.02
"""A shorter flight is noise [s]."""
SMOOTH_HZ = 6.0
"""Cut-off for the acceleration of the pelvis: noise of some millimetres must not fall, a step of 0.35 s passes [Hz]."""
PELVIS = ("asis_r", "asis_l", "psis_r", "psis_l", "sacrum", "hip_center_r", "hip_center_l")


def flights(recording: Recording, loads: FootLoads) -> Array:
    """Beginning and end of every flight, (k, 2) [s]: no plate carries the subject, and the pelvis falls.

    Plates alone do not show it: a subject who walks on beside them is not in flight.
    """
    time, seen = recording.markers.time, [name for name in PELVIS if recording.sees(name)]
    if time.size < 2 or not seen:
        return np.zeros((0, 2))
    rate, falls = recording.markers.rate, np.zeros(time.size, bool)
    height = np.mean([recording.markers.weighted(recording.mapping[name])[:, 2] for name in seen], axis=0)
    cutoff = min(SMOOTH_HZ, 0.4 * rate)
    for first, stop in true_runs(np.isfinite(height)):
        if stop - first > 5 and cutoff > lowest_carried(stop - first, rate):
            smooth = low_pass(height[first:stop], rate, cutoff)
            acceleration = np.gradient(np.gradient(smooth, 1.0 / rate), 1.0 / rate)
            # At the ends of a stretch there is no second derivative.
            falls[first + 2 : stop - 2] = acceleration[2:-2] < -FALLS * STANDARD_GRAVITY
    total = np.sum([vertical_force(recording, side) for side in SIDES], axis=0)
    flying = falls & ~(total > loads.level(UNLOADED_WEIGHTS))
    spans = [(time[first], time[stop - 1]) for first, stop in true_runs(flying)]
    return np.array([span for span in spans if span[1] - span[0] >= SHORTEST]).reshape(-1, 2)
