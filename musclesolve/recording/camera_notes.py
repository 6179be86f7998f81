"""What a reader of results from cameras should know: how well they are calibrated, how well their rays meet."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from musclesolve.cameras import Calibration, Reconstruction
from musclesolve.recording.camera_file import CameraFile

Mask = NDArray[np.bool_]

# Rays of markers that miss each other this many times farther than those of control points were not seen at the same
# instant, or not by the same calibration.
FAR_WORSE = 4.0


def calibration_notes(calibrations: Sequence[Calibration]) -> list[str]:
    """Return sentences on the fit of the control points."""
    worst = max(calibrations, key=lambda fit: fit.rms)
    k = int(np.argmax(worst.distance))
    fewest = min(len(fit.labels) for fit in calibrations)
    notes = [
        f"{len(calibrations)} cameras, calibrated on {fewest} or more control points each, show them again to "
        f"{worst.rms:.2g} px or better (camera '{worst.camera.name}'; worst point '{worst.labels[k]}', "
        f"{worst.distance[k]:.2g} px). Lens distortion is not modelled."
    ]
    for fit in calibrations:
        if fit.outlying:
            notes.append(
                f"Camera '{fit.camera.name}': the control points {', '.join(fit.outlying)} fit far worse than the "
                "others; look at their pixels and places."
            )
    return notes


def reconstruction_notes(recording: CameraFile, found: Reconstruction, dropped: Mask) -> list[str]:
    """Return sentences on the residuals of the markers and on the points that are left out.

    Args:
        recording: the cameras and what they saw.
        found: the reconstruction, at least one point of it.
        dropped: (T, n) points left out for their residual.
    """
    error = np.where(dropped, np.nan, found.reprojection)
    kept = np.isfinite(error)
    rms = np.sqrt(np.mean(error[kept] ** 2) / 2.0)
    camera, frame, marker = np.unravel_index(np.nanargmax(error), error.shape)
    expected = found.expected_error[np.isfinite(found.position[..., 0]) & ~dropped]
    worst = f"'{recording.names[marker]}' at {recording.time[frame]:.4g} s, camera '{found.cameras[camera]}'"
    notes = [
        f"The rays of the markers meet to {rms:.2g} px, worst {error[camera, frame, marker]:.2g} px ({worst}); "
        f"digitising errors of that size move a marker by about {1000 * np.sqrt(np.mean(expected**2)):.2g} mm."
    ]
    control = np.sqrt(np.mean([fit.noise**2 for fit in recording.calibrations]))
    if found.noise > FAR_WORSE * max(control, 0.1):
        notes.append(
            f"The markers fit far worse ({found.noise:.2g} px) than the control points ({control:.2g} px): check that "
            "the cameras are synchronised (offset_frames), were not moved, and that markers have the same names."
        )
    return notes + _left_out(recording.names, found, dropped)


def _left_out(names: Sequence[str], found: Reconstruction, dropped: Mask) -> list[str]:
    reasons = {
        "seen by fewer than two cameras": found.views < 2,
        "seen along nearly parallel rays": found.nearly_parallel,
        "on rays that meet behind a camera": found.behind,
        "beyond largest_residual_px": dropped,
    }
    lost = np.logical_or.reduce(list(reasons.values()))
    if not lost.any():
        return []
    said = ", ".join(f"{int(mask.sum())} {reason}" for reason, mask in reasons.items() if mask.any())
    most = int(np.argmax(lost.sum(axis=0)))
    return [
        f"Of {lost.size} marker positions {int(lost.sum())} are left out: {said}; most of them of "
        f"'{names[most]}' ({int(lost[:, most].sum())} of {len(lost)} frames)."
    ]
