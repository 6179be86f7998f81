"""Markers from cameras: where a file of marker trajectories may stand, a camera file may stand as well.

With notes for a reader of the results: how well the cameras are calibrated, and how well their rays meet.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from musclesolve._util.arrays import Mask
from musclesolve.recording.cameras.calibration import Calibration
from musclesolve.recording.cameras.camera_file import CameraFile, read_camera_file
from musclesolve.recording.cameras.reconstruction import Reconstruction, reconstruct
from musclesolve.recording.data import Markers
from musclesolve.recording.place_errors import error_at

# Rays of markers that miss each other this many times farther than those of control points were not seen at the same
# instant, or not by the same calibration.
FAR_WORSE = 4.0
# Standard deviation of the place of a camera over its distance, beyond which its control points say too little. The
# eight corners of a volume that fills half the image give 1 % for every pixel of digitising error.
LARGEST_CENTER_SHARE = 0.05
# With this probability the noise of the control points is no larger than what the share is taken of: a few equations
# over may fit by chance.
CONFIDENCE = 0.95


def read_camera_markers(path: str | Path) -> Markers:
    """Reconstruct the markers of a camera file [m], in the axes of the control points, with notes on them."""
    recording = read_camera_file(path)
    solved = reconstruct([fit.camera for fit in recording.calibrations], recording.image)
    # NaN, no residual, is not above the limit; views that are left out already do not count.
    error = np.where(solved.bad_view, np.nan, solved.reprojection)
    dropped = np.nanmax(error, axis=0, initial=0.0) > recording.largest_residual
    position = np.where(dropped[..., None], np.nan, solved.position)
    there = np.flatnonzero(np.isfinite(position).any(axis=(1, 2)))
    if there.size < 2:
        problem = f"{there.size} frame(s) show a marker to two cameras at once"
        expected = "markers of the same names in the same frames of two or more cameras"
        remedy = "check offset_frames, the numbers of the frames and the names of the markers"
        raise error_at(recording.path, None, problem, expected, remedy, code="bad_camera")
    kept = slice(int(there[0]), int(there[-1]) + 1)
    notes = (*calibration_notes(recording.calibrations), *reconstruction_notes(recording, solved, dropped))
    return Markers(
        recording.time[kept], recording.names, position[kept], recording.path, notes, recording.sources
    )


def calibration_notes(calibrations: Sequence[Calibration]) -> list[str]:
    """Return sentences on the fit of the control points."""
    worst = max(calibrations, key=lambda fit: fit.rms)
    k = int(np.argmax(worst.distance))
    fewest = min(len(fit.labels) for fit in calibrations)
    notes = [
        f"{len(calibrations)} cameras, calibrated on {fewest} or more control points each, reproject them to "
        f"{np.sqrt(np.mean(worst.distance**2)):.2f} px or better (root mean square distance; camera "
        f"'{worst.camera.name}'; worst point '{worst.labels[k]}', {worst.distance[k]:.2f} px). Lens distortion is not "
        "modelled."
    ]
    for fit in calibrations:
        if fit.outlying:
            notes.append(
                f"Camera '{fit.camera.name}': the control points {', '.join(fit.outlying)} fit far worse than the "
                "others; look at their pixels and places."
            )
    noise = largest_noise(calibrations)
    loose = [
        fit
        for fit in calibrations
        if noise * fit.center_per_pixel > LARGEST_CENTER_SHARE * fit.distance_to_points
    ]
    if loose:
        worst = max(loose, key=lambda fit: fit.center_per_pixel / fit.distance_to_points)
        place, distance = _length(noise * worst.center_per_pixel), _length(worst.distance_to_points)
        notes.append(
            f"Poorly determined, however well the control points fit: {', '.join(fit.camera.name for fit in loose)}. "
            f"With digitising errors of {noise:.2g} px, compatible with the residuals, the position of camera "
            f"'{worst.camera.name}' is known to {place} (standard deviation) at a distance of {distance}, and markers "
            "may be wrong by more than their residuals show. Add control points, as far apart in height, width and "
            "depth as the volume is large."
        )
    return notes


def largest_noise(calibrations: Sequence[Calibration]) -> float:
    """Return the standard deviation of a digitised coordinate of control points that is not exceeded [px].

    sqrt(r^T r / chi^2) with the residuals r of all cameras, and the value that chi^2 of as many degrees of freedom as
    there are equations over exceeds with the probability ``CONFIDENCE``. One equation over makes it 16 times the
    estimate, thirteen 1.5 times.
    """
    from scipy.special import chdtri

    total = sum(float(np.sum(fit.residual**2)) for fit in calibrations)
    return float(np.sqrt(total / chdtri(sum(fit.spare for fit in calibrations), CONFIDENCE)))


def _length(metres: float) -> str:
    return f"{metres:.2g} m" if metres >= 0.1 else f"{1000 * metres:.2g} mm"


def reconstruction_notes(recording: CameraFile, solved: Reconstruction, dropped: Mask) -> list[str]:
    """Return notes on the residuals of the markers and on the points (T, n) that are left out for their residual."""
    error = np.where(dropped | solved.bad_view, np.nan, solved.reprojection)
    kept = np.isfinite(error)
    rms = np.sqrt(np.mean(error[kept] ** 2) / 2.0)
    camera, frame, marker = map(int, np.unravel_index(np.nanargmax(error), error.shape))
    expected = solved.expected_error[np.isfinite(solved.position[..., 0]) & ~dropped]
    worst = f"'{recording.names[marker]}' at {recording.time[frame]:.4g} s, camera '{solved.cameras[camera]}'"
    notes = [
        f"The markers are reprojected to {rms:.2g} px, worst {error[camera, frame, marker]:.2g} px ({worst}); "
        f"digitising errors of that size move a marker by about {1000 * np.sqrt(np.mean(expected**2)):.2g} mm."
    ]
    control = np.sqrt(np.mean([fit.noise**2 for fit in recording.calibrations]))
    # Doubtful points too: cameras out of step make many of them.
    noise = np.sqrt(np.sum(error[kept] ** 2) / np.sum(2.0 * kept.sum(axis=0)[kept.any(axis=0)] - 3.0))
    if noise > FAR_WORSE * max(control, 0.1):
        notes.append(
            f"The markers fit far worse ({noise:.2g} px) than the control points ({control:.2g} px): check that "
            "the cameras are synchronised (offset_frames), were not moved, and that markers have the same names."
        )
    # Views that cannot be of the marker, and rays of which one must be wrong.
    names = recording.names
    bad = solved.bad_view & ~dropped
    if bad.any():
        camera, marker = (int(np.argmax(bad.sum(axis=axes))) for axes in ((1, 2), (0, 1)))
        notes.append(
            f"{int(bad.sum())} image(s) of a marker are left out because the other cameras agree without them, most of "
            f"camera '{solved.cameras[camera]}' ({int(bad[camera].sum())}) and of '{names[marker]}' "
            f"({int(bad[:, :, marker].sum())}): check whether they show another marker or were digitised wrongly, and "
            "whether the camera was moved."
        )
    doubtful = solved.doubtful & ~dropped
    if doubtful.any():
        marker = int(np.argmax(doubtful.sum(axis=0)))
        largest = float(np.nanmax(np.where(doubtful, solved.reprojection, np.nan)))
        notes.append(
            f"At {int(doubtful.sum())} marker position(s), most of '{names[marker]}' "
            f"({int(doubtful[:, marker].sum())}), the reprojection error is up to {largest:.2g} px, more than "
            "noise explains, and the wrong camera cannot be identified: they are kept, and wrong. largest_residual_px "
            "in the camera file leaves them out."
        )
    reasons = {
        "seen by fewer than two cameras": solved.views < 2,
        "seen along nearly parallel rays": solved.nearly_parallel,
        "on rays that meet behind a camera": solved.behind,
        "beyond largest_residual_px": dropped,
    }
    lost = np.logical_or.reduce(list(reasons.values()))
    if lost.any():
        counts = ", ".join(f"{int(mask.sum())} {reason}" for reason, mask in reasons.items() if mask.any())
        most = int(np.argmax(lost.sum(axis=0)))
        notes.append(
            f"Of {lost.size} marker positions {int(lost.sum())} are left out: {counts}; most of them of "
            f"'{names[most]}' ({int(lost[:, most].sum())} of {len(lost)} frames)."
        )
    return notes
