"""Markers from cameras: where a file of marker trajectories may stand, a camera file may stand as well."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from musclesolve.recording.cameras.camera_file import read_camera_file
from musclesolve.recording.cameras.camera_warnings import calibration_notes, reconstruction_notes
from musclesolve.recording.cameras.reconstruction import reconstruct
from musclesolve.recording.data import Markers
from musclesolve.recording.place_errors import error_at


def read_camera_markers(path: str | Path) -> Markers:
    """Reconstruct the markers of a camera file [m], in the axes of the control points, with notes on them."""
    recording = read_camera_file(path)
    found = reconstruct([fit.camera for fit in recording.calibrations], recording.image)
    # NaN, no residual, is not above the limit; views that are left out already do not count.
    error = np.where(found.bad_view, np.nan, found.reprojection)
    dropped = np.nanmax(error, axis=0, initial=0.0) > recording.largest_residual
    position = np.where(dropped[..., None], np.nan, found.position)
    there = np.flatnonzero(np.isfinite(position).any(axis=(1, 2)))
    if there.size < 2:
        problem = f"{there.size} frame(s) show a marker to two cameras at once"
        expected = "markers of the same names in the same frames of two or more cameras"
        remedy = "check offset_frames, the numbers of the frames and the names of the markers"
        raise error_at(recording.path, None, problem, expected, remedy, code="bad_camera")
    kept = slice(int(there[0]), int(there[-1]) + 1)
    notes = (*calibration_notes(recording.calibrations), *reconstruction_notes(recording, found, dropped))
    return Markers(
        recording.time[kept], recording.names, position[kept], recording.path, notes, recording.sources
    )
