"""The stretch of a recording that can be filtered: every needed marker seen, none jumping."""

from __future__ import annotations

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.recording.data import Recording
from musclesolve.recording.gaps.marker_jumps import jumps


def gap_free_range(recording: Recording) -> slice:
    """Return the longest stretch around the time range in which every needed marker is seen and none jumps."""
    position = needed_markers(recording)
    frames = recording.frames()
    lost = np.isnan(position).any(axis=(1, 2)) | jumps(position, recording.markers.rate).any(axis=1)
    at = np.flatnonzero(lost)
    first = max(at[at < frames.start], default=-1) + 1
    last = min(at[at >= frames.stop], default=len(position))
    return slice(int(first), int(last))


def needed_markers(recording: Recording) -> Array:
    """Return the recorded positions of ``used_markers``, (T, n, 3) [m]."""
    return np.stack([recording.markers[name] for name in recording.used_markers], axis=1)
