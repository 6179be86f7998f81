"""The trade-off of EMG-informed sharing: effort over misfit, and correlations over the weight of EMG."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from musclesolve._util.arrays import Array
from musclesolve.plotting.page.keys import line
from musclesolve.plotting.page.page_style import NOTE_COLOR, current_style
from musclesolve.plotting.page.sheet import Sheet, heading, native, page

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LEFT_OUT, FOLLOWED, CURVE = "#0072B2", "#E69F00", "#111111"
LABEL = 0.25
"""Space below a panel for the label of its axis [inch]."""


@native
def emg_trade_off(trade_off: xr.Dataset) -> Sheet:
    """Effort over the rms misfit to EMG with the weights at the points, and r of the channels over the weight."""
    rows, columns = (2, 1) if current_style().narrow else (1, 2)
    title = "EMG-informed sharing: effort against misfit"
    space = {"left": 0.15, "below": LABEL}
    sheet, panels = page(trade_off, title, rows, columns, height=0.36 * rows, labels=True, space=space)
    _curve(panels.flat[0], trade_off)
    _correlations(panels.flat[1], trade_off)
    entries = {
        "r of a channel while it alone is not followed, median and quartiles": line(LEFT_OUT, marker="o"),
        "r while followed (no test)": line(FOLLOWED, linestyle="--"),
    }
    if np.isfinite(trade_off.attrs["knee_weight"]):
        entries["knee of the curve"] = line(NOTE_COLOR, 0.0, marker="D", markersize=6)
    sheet.add_legend(entries)
    return sheet


def _curve(axes: Axes, trade_off: xr.Dataset) -> None:
    misfit, effort = trade_off["emg_rms"].values, trade_off["effort"].values
    axes.plot(misfit, effort, color=CURVE, marker="o", markersize=3, linewidth=1.2)
    for number, (weight, x, y) in enumerate(zip(trade_off["weight"].values, misfit, effort, strict=True)):
        beside = (4, -10 if number % 2 else 4)
        axes.annotate(f"{weight:g}", (x, y), beside, textcoords="offset points", fontsize="small")
        if weight == trade_off.attrs["knee_weight"]:
            axes.plot(x, y, marker="D", markersize=6, color=NOTE_COLOR, zorder=1)
    heading(axes, "effort over misfit", "numbers: weight of EMG")
    axes.set_xlabel("rms of activation - envelope [1]")
    axes.set_ylabel("effort [unit of the cost]")


def _correlations(axes: Axes, trade_off: xr.Dataset) -> None:
    place = np.arange(trade_off.sizes["weight"])
    low, middle, high = _quartiles(trade_off, "emg_correlation")
    axes.fill_between(place, low, high, color=LEFT_OUT, alpha=0.2, linewidth=0.0)
    axes.plot(place, middle, color=LEFT_OUT, marker="o", markersize=3)
    axes.plot(place, _quartiles(trade_off, "emg_correlation_followed")[1], color=FOLLOWED, linestyle="--")
    axes.set_xticks(place, [f"{weight:g}" for weight in trade_off["weight"].values])
    axes.set_ylim(top=1.02)
    heading(axes, "agreement with EMG", "")
    axes.set_xlabel("weight of EMG [unit of the cost]")
    axes.set_ylabel("r of activation and envelope")


def _quartiles(trade_off: xr.Dataset, name: str) -> Array:
    """Lower quartile, median and upper quartile over the channels at each weight, (3, W); NaN without any."""
    rows = trade_off[name].transpose("weight", "channel").values
    known = [row[np.isfinite(row)] for row in rows]
    return np.stack(
        [np.percentile(row, (25, 50, 75)) if row.size else np.full(3, np.nan) for row in known], axis=1
    )
