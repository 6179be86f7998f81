"""The frames of a functional trial that show how two bodies move: complete, without jumps, smoothed."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from musclesolve._util.arrays import Array, true_runs
from musclesolve.motion.signals.low_pass import low_pass
from musclesolve.recording.data import Markers, Recording
from musclesolve.recording.trial.recording_checks import jumps

# No leg swings or bends faster [Hz]; stretches shorter than this are not filtered and not used [s].
CUTOFF_HZ, SHORTEST_S = 6.0, 1.0


def functional_frames(
    recording: Recording, markers: Markers, bodies: Mapping[str, list[Array]], key: str
) -> list[Array]:
    """Return the positions (T, n, 3) [m] of the points of each body in the frames that can be used.

    `bodies` are bodies, in words, and the paths (S, 3) of their points in the functional trial [m]; `key` names the
    trial in [files].

    Raises:
        InputError: no stretch of a second shows all of them.
    """
    position = np.stack([path for paths in bodies.values() for path in paths], axis=1)
    rate = markers.rate
    # Smoothed in the stretches in which all markers are seen and none jumps.
    lost = np.isnan(position).any(axis=(1, 2)) | jumps(position, rate).any(axis=1)
    stretches = [
        low_pass(position[start:stop], rate, min(CUTOFF_HZ, 0.4 * rate))
        for start, stop in true_runs(np.logical_not(lost))
        if stop - start >= SHORTEST_S * rate
    ]
    if not stretches:
        raise recording.document.error(
            f"{markers.path} never shows all markers of the {' and the '.join(bodies)} for {SHORTEST_S:g} s",
            "files",
            key,
            code="missing_samples",
            expected="stretches without gaps and jumps in these markers",
            remedy="fill the gaps in the capture software, or take a marker that is often lost out of the cluster",
        )
    ends = np.cumsum([len(paths) for paths in bodies.values()])[:-1]
    return np.split(np.concatenate(stretches), ends, axis=1)
