"""Who and what was recorded."""

from __future__ import annotations

from pathlib import PurePath

import numpy as np
import xarray as xr

from musclesolve.report.content.pieces import Table, cell
from musclesolve.report.inputs import KIND_NAMES, RESULT, TrialFiles
from musclesolve.results.dataset import frame_validity as frames
from musclesolve.results.dataset.attributes import listed, number, text

STRIDE = {
    "time [s]": ("stride_time", 2),
    "cadence [steps/min]": ("cadence", 1),
    "speed [m/s]": ("walking_speed", 2),
    "stride length [m]": ("stride_length", 2),
    "step width [m]": ("step_width", 2),
    "stance [%]": ("stance_percent", 0),
    "double support [%]": ("double_support_percent", 0),
}
"""Columns of the table of strides: variable, decimals."""


def recording_facts(trial: TrialFiles) -> dict[str, object]:
    """Subject, recording and frames as pairs of name and value, the strides as a table."""
    result = trial.base
    pairs = [(name, value) for name, value in (*_subject(trial), *_recording(trial)) if value]
    remarks = [] if trial.origin == RESULT else [_origin(trial)]
    return {
        "pairs": pairs,
        "remarks": remarks,
        "strides": _strides(result),
        "without_strides": "No stride was recorded from heel strike to heel strike, or the file holds none.",
        "completed": [*listed(result, "analysed"), *listed(result, "completed")],
    }


def _origin(trial: TrialFiles) -> str:
    return (
        f"No result.nc of this trial was given: what is shown comes from the {KIND_NAMES[trial.origin]}, "
        f"{trial.path.name}"
        + (", under its first cost." if trial.comparison is not None else ", without errors.")
    )


def _subject(trial: TrialFiles) -> list[tuple[str, str]]:
    result = trial.base
    mass, stature, shoes = (
        number(result, f"subject_{name}") for name in ("mass_kg", "stature_m", "shoe_mass_kg")
    )
    name = "model" if trial.of_model else "subject"
    return [
        (name, text(result, "subject")),
        ("body mass", f"{mass:.2f} kg" if mass else ""),
        ("stature", f"{stature:.2f} m" if stature else ""),
        ("sex", text(result, "subject_sex")),
        ("each shoe", f"{shoes:.2f} kg, part of the body mass" if shoes else ""),
    ]


def _recording(trial: TrialFiles) -> list[tuple[str, str]]:
    result = trial.base
    time = np.asarray(result["time"].values, dtype=float)
    rate = f", {1.0 / np.median(np.diff(time)):.0f} Hz" if time.size > 1 else ""
    files = [line.rpartition(" sha256:")[0].partition(" ") for line in listed(result, "inputs")]
    channels = result.sizes.get("channel", 0)
    return [
        ("trial", PurePath(text(result, "trial_file").replace("\\", "/")).name),
        ("files", ", ".join(f"{name} ({role})" for role, _, name in files if role != "trial")),
        ("frames", f"{time.size}, {time[0]:.3f} to {time[-1]:.3f} s{rate}"),
        (
            "legs analysed",
            " and ".join(frames.SIDE_NAMES.get(side, "all muscles") for side in frames.sides(result)),
        ),
        ("EMG", f"{channels} channels" if channels else "none in this file"),
    ]


def _strides(result: xr.Dataset) -> Table | None:
    if not result.sizes.get("stride", 0) or "stride_side" not in result:
        return None
    known = {heading: own for heading, own in STRIDE.items() if own[0] in result}
    rows = []
    for number_ in range(result.sizes["stride"]):
        stride = result.isel(stride=number_)
        ends = f"{float(stride['stride_start']):.3f} to {float(stride['stride_end']):.3f} s"
        values = [cell(float(stride[name]), digits) for name, digits in known.values()]
        rows.append((f"{frames.SIDE_NAMES[str(stride['stride_side'].values)]}, {ends}", *values))
    return Table("Strides", ("stride", *known), rows)
