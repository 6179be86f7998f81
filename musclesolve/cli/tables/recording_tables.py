"""Tables of the commands on recordings: the report of a check, and the calibration of cameras."""

from __future__ import annotations

import numpy as np
from rich.table import Column, Table

from musclesolve.recording.cameras.camera_file import CameraFile
from musclesolve.recording.cameras.camera_markers import calibration_notes, largest_noise
from musclesolve.results.finding import SEVERITIES, Report
from musclesolve.results.tables.lines import names, numbers

_COLOURS = {"error": "red", "warning": "yellow", "note": "dim"}


def tables(report: Report) -> list[Table]:
    """Return one table for each severity that was found: where, what, how to fix it."""
    printed = []
    for severity in SEVERITIES:
        if not (findings := report.of(severity)):
            continue
        is_note = severity == "note"
        remedy = [] if is_note else [Column("how to fix it", ratio=4)]
        table = Table(
            *(*names("finding"), Column("where", ratio=2), Column("what", ratio=5), *remedy),
            title=f"{severity}s" if len(findings) > 1 else severity,
            title_justify="left",
            title_style=_COLOURS[severity],
            show_lines=not is_note,
        )
        for finding in findings:
            table.add_row(
                finding.code, str(finding.where), finding.sentence, *([] if is_note else [finding.remedy])
            )
        printed.append(table)
    return printed


def calibration_table(recording: CameraFile) -> Table:
    """One line per control point, one column per camera: distance from projected to digitised position [px].

    Below them the position of each camera, and its standard deviation for the largest digitising error that the
    residuals of the control points allow.
    """
    fits = recording.calibrations
    listing = Table(
        *(*names("control point"), *numbers(*(fit.camera.name for fit in fits))),
        title=f"{recording.path.name}: distance from projected to digitised control points [px]",
        title_justify="left",
        caption="\n".join(calibration_notes(fits)),
        caption_justify="left",
    )
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
