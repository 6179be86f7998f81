"""How the recording chose its cut-off frequencies: residual curves, and cut-off and noise of every marker."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from musclesolve.plotting.style import NOTE_COLOR, SMALL, TEXT, heading, page

AXIS_COLOR = {"x": "#0072B2", "y": "#E69F00", "z": "#009E73"}
AXIS_NAME = {"x": "x, forward", "y": "y, to the left", "z": "z, up"}
CURVES = (2, 3)
# Residuals beyond so many times the largest noise of the marker are cut off: there the filter takes the motion.
TALLEST = 4.0


def cutoff_and_noise(result: xr.Dataset) -> Figure:
    """Residual curves of some markers with line, noise and cut-off; cut-off [Hz] and noise [mm] of every marker."""
    curves = "marker_residual" in result
    rows = CURVES[0] * curves + 2
    figure, panels = page(
        result, "Cut-off frequency and noise of the markers", rows, CURVES[1], height=0.25 * rows, labels=True
    )
    shown = _shown(result)
    for axes, marker in zip(panels[:-2].flat, shown, strict=False):
        _curves(axes, result.sel(marker=marker))
    for axes in panels[:-2].flat[len(shown) :]:
        axes.set_visible(False)
    for row, name, unit, factor in ((-2, "cutoff", "Hz", 1.0), (-1, "noise", "mm", 1000.0)):
        axes = _whole_row(figure, panels[row])
        _every_marker(axes, factor * result[f"marker_{name}"].transpose("marker", "axis"), labelled=row == -1)
        axes.set_ylabel(f"[{unit}]", fontsize=TEXT)
        heading(axes, {"cutoff": "cut-off frequency", "noise": "noise, root mean square"}[name])
    _legend(figure, curves)
    return figure


def _shown(result: xr.Dataset) -> list[str]:
    """Markers spread evenly from the lowest to the highest cut-off."""
    order = np.argsort(result["marker_cutoff"].median("axis").values, kind="stable")
    places = np.linspace(0, len(order) - 1, min(CURVES[0] * CURVES[1], len(order))).round().astype(int)
    return [str(result["marker"].values[order[place]]) for place in places]


def _curves(axes: Axes, marker: xr.Dataset) -> None:
    frequency = marker["tried_cutoff"].values
    top = TALLEST * 1000.0 * float(marker["marker_noise"].max())
    for name, color in AXIS_COLOR.items():
        own = marker.sel(axis=name)
        noise, cutoff = 1000.0 * float(own["marker_noise"]), float(own["marker_cutoff"])
        axes.plot(frequency, 1000.0 * own["marker_residual"], color=color, linewidth=1.2)
        axes.plot(frequency, 1000.0 * own["marker_residual_line"], color=color, linewidth=0.7, linestyle="--")
        axes.plot([0.0, cutoff], [noise, noise], color=color, linewidth=0.7, linestyle=":")
        axes.plot([cutoff, cutoff], [0.0, top], color=color, linewidth=0.7, alpha=0.6)
        axes.plot(0.0, noise, color=color, marker="o", markersize=3, clip_on=False)
    axes.set_xlim(0.0, frequency[-1])
    axes.set_ylim(0.0, top)
    axes.set_ylabel("[mm]", fontsize=TEXT)
    axes.set_xlabel("cut-off tried [Hz]", fontsize=SMALL, labelpad=1)
    heading(axes, str(marker["marker"].values))


def _whole_row(figure: Figure, row: np.ndarray) -> Axes:
    """Return one panel instead of those of a row."""
    kept: Axes = row[0]
    right = row[-1].get_position()
    place = kept.get_position()
    for axes in row[1:]:
        axes.remove()
    kept.set_position((place.x0, place.y0, right.x1 - place.x0, place.height))
    return kept


def _every_marker(axes: Axes, values: xr.DataArray, labelled: bool) -> None:
    names = [str(name) for name in values["marker"].values]
    for offset, (name, color) in zip((-0.27, 0.0, 0.27), AXIS_COLOR.items(), strict=True):
        axes.bar(np.arange(len(names)) + offset, values.sel(axis=name).values, 0.27, color=color)
    axes.set_xticks(range(len(names)), names if labelled else [""] * len(names), rotation=90)
    axes.tick_params(axis="x", labelsize=SMALL - 1.5, length=0)
    axes.set_xlim(-0.7, len(names) - 0.3)
    axes.set_ylim(bottom=0.0)
    axes.grid(False, axis="x")


def _legend(figure: Figure, curves: bool) -> None:
    handles = [
        Line2D([], [], color=color, linewidth=2.0, label=AXIS_NAME[name])
        for name, color in AXIS_COLOR.items()
    ]
    if curves:
        grey: dict[str, Any] = {"color": NOTE_COLOR, "linewidth": 0.9}
        handles += [
            Line2D([], [], linestyle="-", label="residual", **grey),
            Line2D([], [], linestyle="--", label="residual of noise alone", **grey),
            Line2D([], [], linestyle=":", label="noise", **grey),
        ]
    figure.legend(
        handles=handles,
        loc="upper right",
        bbox_to_anchor=(0.98, 0.985),
        ncols=2 if curves else 1,
        fontsize=SMALL,
        frameon=False,
    )
