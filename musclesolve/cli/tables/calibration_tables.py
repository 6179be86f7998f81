"""Calibrations as text: control points of cameras; factors on the muscles of a person, and what they agree with."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import xarray as xr
from rich.table import Table

from musclesolve.laboratory.results.tables.lines import (
    decimal,
    frame_csv,
    lines,
    names,
    numbers,
    show,
    titled_table,
    words,
)
from musclesolve.muscles.person import COMPARED, PersonMuscles

if TYPE_CHECKING:
    from musclesolve.laboratory.files.cameras.camera_file import CameraFile


def camera_table(recording: "CameraFile") -> Table:
    """One line per control point, one column per camera: distance from projected to digitized position [px].

    Below them the position of each camera, and its standard deviation for the largest digitizing error that the
    residuals of the control points allow.
    """
    from musclesolve.laboratory.files.cameras.reconstruction import calibration_notes, largest_noise

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


_IN_PRINT = {"m": ("mm", 1e3, 1), "1": ("of the largest", 1.0, 2), "N m": ("N m", 1.0, 1)}
"""Unit of a measurement -> unit, factor and decimals in print."""


def factor_table(person: PersonMuscles, calibration: xr.Dataset) -> Table:
    """A line for each fitted factor, with its 95 % interval beside the interval of the prior."""
    rows = []
    for parameter in person.parameters:
        prior = calibration.sel(parameter=parameter.name)
        mean, sd = float(prior["prior_mean"]), float(prior["prior_sd"])
        inside = [f"{parameter.factor * np.exp(s * 1.96 * parameter.sd):.3g}" for s in (-1.0, 1.0)]
        usual = [f"{np.exp(mean + s * 1.96 * sd):.3g}" for s in (-1.0, 1.0)]
        determined = "yes" if parameter.determined else "little"
        intervals = (" to ".join(ends) for ends in (inside, usual))
        rows.append((parameter.name, f"{parameter.factor:.3f}", *intervals, determined))
    columns = (*words("factor on"), *numbers("value", "95 % interval", "of the prior"), *names("determined"))
    whose = person.name or "This person"
    return titled_table(f"{whose}: factors on the muscles of the parent", columns, rows)


def agreement_table(calibration: xr.Dataset) -> Table:
    """A line for each measured curve: rms error and correlation before, fitted, and predicted by the other trials."""
    rows = []
    for k in range(calibration.sizes["curve"]):
        at = calibration.isel(curve=k)
        unit, factor, digits = _IN_PRINT[str(at["unit"].values)]
        errors = [decimal(factor * float(at[f"rms_{word}"]), digits) for word in COMPARED]
        shape = [decimal(float(at[f"correlation_{word}"]), 2) for word in COMPARED]
        kind = f"{at['kind'].values} [{unit}]" if unit else str(at["kind"].values)
        rows.append((kind, str(at["label"].values), str(at["trial"].values), *errors, *shape))
    measures = numbers(*(f"{what} {word}" for what in ("rms", "r") for word in COMPARED))
    return titled_table(
        "Agreement with what was measured; predicted: with the muscles that the other trials give",
        (*names("measured"), *words("channel"), *names("trial"), *measures),
        rows,
    )


def calibration_lines(
    person: PersonMuscles, calibration: xr.Dataset, directions: Sequence[str], notes: Sequence[str]
) -> list[str]:
    """Lines with medians over the curves of each kind, undetermined factors, and notes."""
    medians = []
    kinds = calibration["kind"].values.astype(str)
    for kind in dict.fromkeys(kinds):
        curves = calibration.isel(curve=np.flatnonzero(kinds == kind))
        if curves.sizes["curve"] > 3:
            r = {word: curves[f"correlation_{word}"].values for word in COMPARED}
            middle = {word: np.nanmedian(values) for word, values in r.items() if np.isfinite(values).any()}
            listed = ", ".join(f"{value:.2f} {word}" for word, value in middle.items())
            medians.append(f"{kind}: median r {listed}")
    return [
        *lines("agreement", medians),
        *lines("EMG", _of_emg(person.emg)),
        *lines("profile", _profile(calibration)),
        *lines("undetermined", directions),
        *lines("notes", notes),
    ]


def _of_emg(emg: Mapping[str, Any]) -> list[str]:
    """Gains, delay and shape with their standard deviations."""
    said = []
    for channel, gain in emg.get("channels", {}).items():
        low, high = (min(gain["gain"] * np.exp(s * 1.96 * gain["sd"]), 1.0) for s in (-1.0, 1.0))
        said.append(
            f"{channel}: activation {gain['gain']:.2f} at the largest envelope ({low:.2f} to {high:.2f})"
        )
    for name, key, sd in (("delay", "delay_s", "delay_sd_s"), ("shape", "shape", "shape_sd")):
        if key in emg:
            said.append(f"{name} {emg[key]:.3g}, standard deviation {emg[sd]:.2g}")
    return said


def _profile(calibration: xr.Dataset) -> list[str]:
    """Return the loss of fit along one parameter."""
    if "profile" not in calibration:
        return []
    pairs = zip(calibration["profile"].values, calibration["profile_squares"].values, strict=True)
    listed = ", ".join(f"{np.exp(value):.3g}: {decimal(float(size), 1)}" for value, size in pairs)
    return [f"{calibration.attrs['profile_of']}, factor: sum of squares above the least one: {listed}"]


def calibration_document(
    person: PersonMuscles, calibration: xr.Dataset, directions: Sequence[str], notes: Sequence[str]
) -> dict[str, Any]:
    """The calibration as numbers, for a JSON document."""
    keys = ("name", "quantity", "muscles", "factor", "sd", "prior_sd", "determined")
    return {
        "parent": person.parent,
        "tendon": person.tendon,
        "converged": bool(calibration.attrs["converged"]),
        "parameters": [{key: getattr(parameter, key) for key in keys} for parameter in person.parameters],
        "curves": [dict(curve) for curve in person.prediction],
        "emg": dict(person.emg),
        "profile": None
        if "profile" not in calibration
        else {
            "parameter": calibration.attrs["profile_of"],
            "value": calibration["profile"].values.tolist(),
            "squares": calibration["profile_squares"].values.tolist(),
        },
        "undetermined": list(directions),
        "notes": list(notes),
    }


def cost_fit_frame(fit: xr.Dataset) -> pd.DataFrame:
    """A line for each cost: mean r and mean missed variance [%], on the data of the fit and on what is left out."""
    kinds = fit["kind"].values.astype(str)
    frame = pd.DataFrame({"cost": fit["cost"].values.astype(str)})
    frame["r"] = fit["agreement"].mean("channel").values
    frame["missed"] = 100.0 * fit["missed"].mean("channel").values
    for kind in dict.fromkeys(kinds):
        part = fit.isel(left_out=np.flatnonzero(kinds == kind))
        frame[f"r, {kind}s left out"] = part["left_out_agreement"].mean("left_out").values
        frame[f"missed, {kind}s left out"] = 100.0 * part["left_out_missed"].mean("left_out").values
    return frame


def cost_fit_table(fit: xr.Dataset) -> Table:
    """The agreement of the fitted and of named costs with EMG."""
    frame = cost_fit_frame(fit)
    title = "agreement with EMG: mean r, and mean share of the variance that is missed [%]"
    return show(title, frame, ("", *[".2f", ".0f"] * ((frame.shape[1] - 1) // 2)))


def cost_fit_csv(fit: xr.Dataset) -> bytes:
    """The agreement as comma-separated values."""
    return frame_csv(cost_fit_frame(fit))


def cost_fit_document(fit: xr.Dataset) -> dict[str, Any]:
    """The JSON document of `fit-cost`."""
    parameters = [
        {
            "name": str(at["parameter"].values),
            "value": float(at["value"]),
            "interval_95": [float(end) if np.isfinite(end) else None for end in (at["low"], at["high"])],
        }
        for at in (fit.sel(parameter=name) for name in fit["parameter"].values)
    ]
    return {
        "fitted_cost": fit.attrs["fitted_cost"],
        "parameters": parameters,
        "agreement": cost_fit_frame(fit).to_dict("records"),
        "sentences": fit.attrs["sentences"].splitlines(),
    }
