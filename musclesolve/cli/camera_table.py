"""Table of the calibration of cameras: how well every camera reproduces the control points."""

from __future__ import annotations

import numpy as np
from rich.table import Table

from musclesolve.recording.cameras.camera_file import CameraFile
from musclesolve.recording.cameras.camera_markers import calibration_notes, largest_noise


def table(recording: CameraFile) -> Table:
    """One line per control point, one column per camera: distance from projected to digitised position [px].

    Below them the position of each camera, and its standard deviation for the largest digitising error that the
    residuals of the control points allow.
    """
    fits = recording.calibrations
    listing = Table(
        title=f"{recording.path.name}: distance from projected to digitised control points [px]",
        title_justify="left",
        caption="\n".join(calibration_notes(fits)),
        caption_justify="left",
    )
    listing.add_column("control point", no_wrap=True)
    for fit in fits:
        listing.add_column(fit.camera.name, justify="right")
    seen = [dict(zip(fit.labels, fit.distance, strict=True)) for fit in fits]
    for label in dict.fromkeys(label for fit in fits for label in fit.labels):
        cells = (
            f"{distances[label]:.2f}" + (" !" if label in fit.outlying else "") if label in distances else ""
            for distances, fit in zip(seen, fits, strict=True)
        )
        listing.add_row(label, *cells)
    listing.add_section()
    listing.add_row("root mean square", *(f"{np.sqrt(np.mean(fit.distance**2)):.2f}" for fit in fits))
    for k, axis in enumerate("xyz"):
        listing.add_row(f"camera at {axis} [m]", *(f"{fit.camera.center[k]:.2f}" for fit in fits))
    noise = largest_noise(fits)
    listing.add_row("known to [m]", *(f"{noise * fit.center_per_pixel:.2g}" for fit in fits))
    return listing
