"""Changes by a calibration of one person's muscles: measured curves before and after, factors with their priors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from musclesolve.plotting.page.page_style import NOTE_COLOR, figures_of, height_for, line
from musclesolve.plotting.page.panels import with_panels
from musclesolve.plotting.page.sheet import Sheet, heading, native, page

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLORS = {"before": "#9E9E9E", "fitted": "#0072B2", "predicted": "#D55E00"}
LABELS = {
    "before": "muscles of the parent",
    "fitted": "muscles of this person",
    "predicted": "muscles that the other trials give",
}
MEASURED = "#111111"
COLUMNS = 4
_SCALE = {"m": (1e3, "mm"), "1": (1.0, "share of the largest"), "N m": (1.0, "N m")}


def calibration_files(calibration: xr.Dataset) -> dict[str, bytes]:
    """The content of the file of every figure of the Dataset of a calibration, by its name."""
    figures = {"calibration_factors": calibration_factors}
    for kind, name in (("fascicle length", "calibration_fascicles"), ("EMG", "calibration_emg")):
        if (calibration["kind"].values.astype(str) == kind).any():
            figures[name] = lambda calibration, kind=kind: calibration_curves(calibration, kind)  # type: ignore[misc]
    return figures_of(calibration, figures)


@native
def calibration_curves(calibration: xr.Dataset, kind: str = "fascicle length") -> Sheet:
    """Measured curves of a kind with the curves of the muscles before the fit, as fitted, and as predicted."""
    own = calibration.isel(curve=np.flatnonzero(calibration["kind"].values.astype(str) == kind))
    count = own.sizes["curve"]
    columns = min(COLUMNS, count)
    rows = -(-count // columns)
    title = f"Calibration: measured {kind} and model"
    sheet, panels = page(calibration, title, rows, columns, height=max(0.36, height_for(rows)), labels=True)
    for axes, k in with_panels(panels, range(count)):
        at = own.isel(curve=k)
        scale, unit = _SCALE[str(at["unit"].values)]
        time = at["time"].values
        axes.plot(time, scale * at["measured"].values, color=MEASURED, linewidth=1.4)
        for word, color in COLORS.items():
            style = "--" if word == "predicted" else "-"
            axes.plot(time, scale * at[word].values, color=color, linewidth=1.1, linestyle=style)
        known = {word: float(at[f"correlation_{word}"]) for word in COLORS}
        r = ", ".join(f"{value:.2f} {word}" for word, value in known.items() if np.isfinite(value))
        trial = str(at["trial"].values)
        heading(axes, str(at["label"].values), f"{trial}: r {r}" if r else trial)
        if k % columns == 0:
            axes.set_ylabel(f"{kind} [{unit}]")
        if k + columns >= count:
            axes.set_xlabel("time [s]")
    entries = {"measured": line(MEASURED)}
    for word, color in COLORS.items():
        if np.isfinite(own[word]).any():
            entries[LABELS[word]] = line(color, linestyle="--" if word == "predicted" else "-")
    sheet.add_legend(entries)
    return sheet


@native
def calibration_factors(calibration: xr.Dataset) -> Sheet:
    """Every fitted factor with its 95 % interval over the interval of the prior."""
    count = calibration.sizes["parameter"]
    title, size = "Calibration: fitted parameters and their priors", 0.12 + 0.022 * count
    sheet, panels = page(calibration, title, 1, 1, height=size, space={"left": 2.6})
    axes: Axes = panels[0, 0]
    place = np.arange(count)[::-1]
    names = calibration["parameter"].values.astype(str)
    for mean, sd, color, width in (
        (calibration["prior_mean"].values, calibration["prior_sd"].values, "#CFCFCF", 7.0),
        (calibration["value"].values, calibration["sd"].values, COLORS["fitted"], 2.0),
    ):
        axes.hlines(place, np.exp(mean - 1.96 * sd), np.exp(mean + 1.96 * sd), color=color, linewidth=width)
    axes.plot(np.exp(calibration["value"].values), place, "o", color=COLORS["fitted"], markersize=4)
    axes.axvline(1.0, color=NOTE_COLOR, linewidth=0.8)
    axes.set_xscale("log")
    ticks = [0.1, 0.2, 0.5, 0.7, 1.0, 1.4, 2.0, 5.0]
    low, high = axes.get_xlim()
    kept = [tick for tick in ticks if low <= tick <= high]
    axes.set_xticks(kept, [f"{tick:g}" for tick in kept])
    axes.minorticks_off()
    axes.set_yticks(place, [name.replace("_", " ") for name in names])
    axes.set_xlabel("factor")
    heading(axes, "95 % intervals", "")
    fitted = line(COLORS["fitted"], marker="o", markersize=4)
    sheet.add_legend({"what persons differ by (prior)": line("#CFCFCF", 6.0), "with the trials": fitted})
    return sheet
