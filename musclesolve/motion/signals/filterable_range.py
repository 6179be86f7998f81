"""The stretch of a recording that can be filtered: every needed marker seen, none leaping."""

from __future__ import annotations

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.recording.data import Trial
from musclesolve.recording.gaps.marker_jumps import jumps


def seen_stretch(trial: Trial) -> slice:
    """Return the longest stretch around the time range in which every needed marker is seen and none leaps."""
    position = needed_markers(trial)
    frames = trial.frames()
    lost = np.isnan(position).any(axis=(1, 2)) | jumps(position, trial.markers.rate).any(axis=1)
    at = np.flatnonzero(lost)
    first = max(at[at < frames.start], default=-1) + 1
    last = min(at[at >= frames.stop], default=len(position))
    return slice(int(first), int(last))


def needed_markers(trial: Trial) -> Array:
    """Return the recorded positions of ``trial.used_markers``, (T, n, 3) [m]."""
    return np.stack([trial.markers[name] for name in trial.used_markers], axis=1)
