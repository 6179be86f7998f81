"""Calibrations in print: of a body what was fitted and the residual of each trial, of cameras the control points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from rich.table import Table

from musclesolve.results.tables.lines import decimal, names, numbers, titled_table, words

if TYPE_CHECKING:
    from musclesolve.recording.cameras.camera_file import CameraFile
    from musclesolve.studies.calibration.body_record import FoundParameter, ResidualSize, TrialOutcome


def parameter_table(parameters: Sequence[FoundParameter]) -> Table:
    """A line for each parameter that the trials determine."""
    rows = []
    for one in parameters:
        if not one.determined:
            continue
        digits = 3 if one.unit == "factor" else 1
        if one.unit == "factor":  # a logarithm is normal
            low, high = (one.value * (1.0 + sign * 1.96 * one.sd) for sign in (-1.0, 1.0))
            prior = f"+-{196.0 * one.prior_sd:.0f} %"
        else:
            low, high = (one.value + sign * 1.96 * one.sd for sign in (-1.0, 1.0))
            prior = f"+-{1.96 * one.prior_sd:.1f}"
        value = f"{one.value:.{digits}f} {'' if one.unit == 'factor' else one.unit}".strip()
        rows.append((one.name, value, f"{low:.{digits}f} to {high:.{digits}f}", prior))
    columns = (*words("determined"), *numbers("value", "95 % interval", "prior 95 %"))
    return titled_table("Fitted; what is not here is left at its prior", columns, rows)


def trial_table(trials: Sequence[TrialOutcome]) -> Table:
    """A line for each trial: residual at the pelvis, and how much joint moments change."""

    def force(size: ResidualSize | None) -> str:
        return "-" if size is None else f"{decimal(size.force, 1)} ({decimal(100.0 * size.share, 1)} %)"

    def moment(size: ResidualSize | None) -> str:
        return "-" if size is None else decimal(size.moment, 1)

    rows = []
    for one in trials:
        greatest: dict[str, float] = {}
        for dof, change in one.moment_change.items():
            joint = dof.partition("_")[0]
            greatest[joint] = max(greatest.get(joint, 0.0), change)
        rows.append(
            (
                *(one.trial.name, str(one.frames), force(one.before), force(one.after), force(one.predicted)),
                *(moment(one.before), moment(one.after), moment(one.predicted)),
                ", ".join(decimal(change, 1) for change in greatest.values()) or "-",
            )
        )
    columns = (
        *words("trial"),
        *numbers("frames", "force before [N]", "after", "by the others", "moment before [N m]", "after"),
        *numbers("by the others", "hip, knee, ankle change [N m]"),
    )
    return titled_table("Residual at the pelvis, root mean square", columns, rows)


def camera_table(recording: CameraFile) -> Table:
    """One line per control point, one column per camera: distance from projected to digitized position [px].

    Below them the position of each camera, and its standard deviation for the largest digitizing error that the
    residuals of the control points allow.
    """
    from musclesolve.recording.cameras.reconstruction import calibration_notes, largest_noise

    fits = recording.calibrations
    listing = titled_table(
        f"{recording.path.name}: distance from projected to digitized control points [px]",
        (*names("control point"), *numbers(*(fit.camera.name for fit in fits))),
        [],
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
