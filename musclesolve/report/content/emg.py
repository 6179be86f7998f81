"""EMG beside activation: agreement of every channel."""

from __future__ import annotations

import numpy as np
import xarray as xr

from musclesolve.report.content.pieces import Absent, Table, cell, plain
from musclesolve.report.inputs import TrialFiles
from musclesolve.results.dataset.attributes import text


def has_emg(result: xr.Dataset) -> bool:
    """Whether activations can be compared with EMG."""
    return "emg_correlation" in result and result.sizes.get("channel", 0) > 0


def why_none(result: xr.Dataset) -> str:
    """Why activations are not compared with EMG."""
    if "emg_envelope" in result.attrs:
        return "EMG was recorded with this trial, but this file does not hold it: result.nc of the run does."
    return "No EMG was recorded with this trial: its muscle forces are not compared with any measurement."


def correlations(result: xr.Dataset) -> dict[str, float]:
    """Correlation of each channel whose correlation is known."""
    if not has_emg(result):
        return {}
    pairs = zip(result["channel"].values, result["emg_correlation"].values, strict=True)
    return {str(name): float(r) for name, r in pairs if np.isfinite(r)}


def emg(trial: TrialFiles) -> dict[str, object]:
    """A row for each channel."""
    result = trial.base
    if not has_emg(result):
        raise Absent(why_none(result))
    rows = []
    for number in range(result.sizes["channel"]):
        channel = result.isel(channel=number)
        delay = 1000.0 * float(channel["emg_delay"])
        muscles = plain(str(channel["channel_muscles"].item()))
        rows.append(
            (
                str(channel["channel"].item()),
                muscles,
                cell(float(channel["emg_correlation"]), 2),
                cell(delay, 0),
            )
        )
    columns = ("channel", "muscles", "r", "delay of activation [ms]")
    return {
        "tables": [Table("Correlation r of activation with the EMG envelope, valid frames", columns, rows)],
        "envelope": text(result, "emg_envelope"),
        "tracked": "emg_tracking" in text(result, "cost"),
    }
