"""An average over gait cycles as text: the measures of the strides, and what to know about the cycles."""

from __future__ import annotations

import numpy as np
import xarray as xr
from rich.table import Table

from musclesolve._util.sides import SIDE_NAMES
from musclesolve.results.tables.columns import names, numbers
from musclesolve.results.tables.lines import line

MEASURES = {
    "stride time [s]": ("stride_time", 3),
    "cadence [steps/min]": ("cadence", 1),
    "speed [m/s]": ("walking_speed", 2),
    "stride [m]": ("stride_length", 2),
    "step width [m]": ("step_width", 3),
    "stance [%]": ("stance_percent", 1),
    "double support [%]": ("double_support_percent", 1),
}
"""Rows of the printed table: variable, decimals."""


def table(average: xr.Dataset) -> Table:
    """Mean and standard deviation of the measures of the strides, a column for each leg.

    Its first rows are the number of cycles that the curves are the mean of, and of strides that have measures.
    """
    legs = [average.sel(side=side) for side in average["side"].values]
    sides = numbers(*(SIDE_NAMES[str(leg["side"].values)] for leg in legs), whole=True)
    rows = Table(*names(""), *sides, title="mean (standard deviation) over the completely recorded strides")
    rows.add_row("cycles", *(str(int(leg["cycles"])) for leg in legs))
    rows.add_row("strides", *(str(_strides(leg)) for leg in legs), end_section=True)
    for heading, (name, decimals) in MEASURES.items():
        rows.add_row(heading, *(_cell(leg, name, decimals) for leg in legs))
    return rows


def remarks(average: xr.Dataset) -> list[str]:
    """Lines on cycles and frames that are left out, methods that differ, several subjects, and reserves."""
    words = {"left_out": "left out", "invalid": "not in the mean", "unlike": "unlike methods"}
    found = [line(word, sentence) for key, word in words.items() for sentence in average.attrs[key]]
    if len(average.attrs["persons"]) > 1:
        found.append(line("several persons", "; ".join(average.attrs["persons"])))
    if average.attrs["reserves"]:
        found.append(line("with reserve", _reserves(average)))
    return found


def _reserves(average: xr.Dataset) -> str:
    """Of how many cycles, and over how much of the mean of each leg."""
    shares = 100.0 * (average["cycles_with_reserve"] > 0).mean("percent")
    legs = " and ".join(
        f"{float(shares.sel(side=side)):.0f} % of the {SIDE_NAMES[str(side)]} mean"
        for side in average["side"].values
    )
    return (
        f"{len(average.attrs['reserves'])} of {int(average['cycles'].sum())} cycles, {legs}: "
        "muscle forces are a lower bound there (dotted in the figures)"
    )


def _strides(leg: xr.Dataset) -> int:
    counts = [leg[f"{name}_count"].values for name, _ in MEASURES.values() if f"{name}_count" in leg]
    return int(np.nan_to_num(counts).max(initial=0))


def _cell(leg: xr.Dataset, name: str, decimals: int) -> str:
    if name not in leg or not np.isfinite(leg[name]):
        return "-"
    spread = float(leg[f"{name}_std"])
    return f"{float(leg[name]):.{decimals}f}" + (f" ({spread:.{decimals}f})" if np.isfinite(spread) else "")
