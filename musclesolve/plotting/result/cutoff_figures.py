"""How the recording chose its cut-off frequencies: residual curves, and cut-off and noise of every marker."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from musclesolve.plotting.page.style import MARGIN, NOTE_COLOR, SMALL, TEXT, heading, page

AXIS_COLOR = {"x": "#0072B2", "y": "#E69F00", "z": "#009E73"}
AXIS_NAME = {"x": "x, forward", "y": "y, to the left", "z": "z, up"}
CURVES = (2, 3)
# Residuals beyond this multiple the largest noise of the marker are cut off: there the filter takes the motion.
TALLEST = 4.0
# Space below a panel [inch]: for the label of the axis, for names of markers.
BELOW_CURVES, BELOW_BARS = 0.15, 0.45
FITTED: dict[str, Any] = {"linestyle": "--", "linewidth": 1.3}
EXTENDED: dict[str, Any] = {"linestyle": "--", "linewidth": 0.5, "alpha": 0.7}
NOISE: dict[str, Any] = {"linestyle": ":", "linewidth": 0.9}
CHOSEN: dict[str, Any] = {"linestyle": "-", "linewidth": 0.7, "alpha": 0.6}
UNCERTAIN: dict[str, Any] = {"hatch": "//////", "edgecolor": "white", "linewidth": 0.0}


def cutoff_and_noise(result: xr.Dataset) -> Figure:
    """Residual curves of some markers with line, noise and cut-off; cut-off [Hz] and noise [mm] of every marker."""
    curves = "marker_residual" in result
    rows = CURVES[0] * curves + 2
    figure, panels = page(
        result, "Cut-off frequency and noise of the markers", rows, CURVES[1], height=0.25 * rows, labels=True
    )
    if curves:
        _some_curves(figure, panels[:-2], result)
    forces = float(result.attrs["force_cutoff_hz"])
    names = (f"cut-off frequency; the line: forces {forces:.1f} Hz", "noise, root mean square")
    for row, name, variable, unit, factor in (
        (-2, names[0], "marker_cutoff", "Hz", 1.0),
        (-1, names[1], "marker_noise", "mm", 1000.0),
    ):
        axes = _whole_row(figure, panels[row])
        _lift(figure, axes, BELOW_BARS * (row == -2))
        _every_marker(axes, factor * result[variable].transpose("marker", "axis"), _uncertain(result))
        axes.set_ylabel(f"[{unit}]", fontsize=TEXT)
        heading(axes, name)
        if row == -2:
            axes.axhline(forces, color=NOTE_COLOR, linewidth=0.9, linestyle="-.")
    _legend(figure, curves, bool(_uncertain(result).any()))
    return figure


def _some_curves(figure: Figure, panels: np.ndarray, result: xr.Dataset) -> None:
    """Fill the panels with markers spread evenly from the lowest to the highest cut-off."""
    order = np.argsort(result["marker_cutoff"].median("axis").values, kind="stable")
    places = np.linspace(0, len(order) - 1, min(panels.size, len(order))).round().astype(int)
    last = panels[(len(places) - 1) // panels.shape[1]]
    for axes, place in zip(panels.flat, places, strict=False):
        _curves(axes, result.isel(marker=order[place]))
        _lift(figure, axes, BELOW_CURVES)
    for axes in last:
        axes.set_xlabel("cut-off tried [Hz]", fontsize=SMALL, labelpad=1)
    for axes in panels.flat[len(places) :]:
        axes.set_visible(False)
    size, top = figure.get_size_inches(), MARGIN[3]
    text = f"Residuals of {len(places)} of {len(order)} markers, from the lowest cut-off to the highest."
    figure.text(
        MARGIN[0] / size[0], 1.0 - 0.52 * top / size[1], text, fontsize=SMALL, va="top", color=NOTE_COLOR
    )


def _curves(axes: Axes, marker: xr.Dataset) -> None:
    frequency = marker["tried_cutoff"].values
    top = TALLEST * 1000.0 * float(marker["marker_noise"].max())
    for name, color in AXIS_COLOR.items():
        own = marker.sel(axis=name)
        noise, cutoff = 1000.0 * float(own["marker_noise"]), float(own["marker_cutoff"])
        line, (first, last) = 1000.0 * own["marker_residual_line"].values, _fitted(own)
        axes.plot(frequency, 1000.0 * own["marker_residual"], color=color, linewidth=1.2)
        axes.plot(frequency[first:last], line[first:last], color=color, **FITTED)
        axes.plot(frequency[: first + 1], line[: first + 1], color=color, **EXTENDED)
        axes.plot([0.0, cutoff], [noise, noise], color=color, **NOISE)
        axes.plot([cutoff, cutoff], [0.0, top], color=color, **CHOSEN)
        axes.plot(0.0, noise, color=color, marker="o", markersize=3, clip_on=False)
    axes.set_xlim(0.0, frequency[-1])
    axes.set_ylim(0.0, top if top > 0.0 else 1.0)
    axes.set_ylabel("[mm]", fontsize=TEXT)
    heading(axes, str(marker["marker"].values))


def _fitted(own: xr.Dataset) -> tuple[int, int]:
    """Return first and, exclusive, last tried cut-off of the line's fit; all where the result does not have them."""
    frequency = own["tried_cutoff"].values
    if "marker_linear_from" not in own:
        return 0, len(frequency)
    ends = [float(own["marker_linear_from"]), float(own["marker_linear_to"])]
    first, last = np.abs(frequency[:, None] - ends).argmin(axis=0)
    return int(first), int(last) + 1


def _uncertain(result: xr.Dataset) -> np.ndarray:
    """Return the coordinates (marker, axis) whose residual did not show both motion and noise."""
    if "marker_verdict" not in result:
        return np.zeros(result["marker_cutoff"].transpose("marker", "axis").shape, dtype=bool)
    uncertain: np.ndarray = result["marker_verdict"].transpose("marker", "axis").values != 0
    return uncertain


def _whole_row(figure: Figure, row: np.ndarray) -> Axes:
    """Return one panel instead of those of a row."""
    kept: Axes = row[0]
    right = row[-1].get_position()
    place = kept.get_position()
    for axes in row[1:]:
        axes.remove()
    kept.set_position((place.x0, place.y0, right.x1 - place.x0, place.height))
    return kept


def _lift(figure: Figure, axes: Axes, space: float) -> None:
    """Move the lower edge of a panel up by so many inches."""
    place, share = axes.get_position(), space / figure.get_figheight()
    axes.set_position((place.x0, place.y0 + share, place.width, place.height - share))


def _every_marker(axes: Axes, values: xr.DataArray, uncertain: np.ndarray) -> None:
    names = [str(name) for name in values["marker"].values]
    for k, (name, color) in enumerate(AXIS_COLOR.items()):
        bars = axes.bar(
            np.arange(len(names)) + 0.27 * (k - 1), values.sel(axis=name).values, 0.27, color=color
        )
        for bar, hatched in zip(bars, uncertain[:, k], strict=True):
            if hatched:
                bar.set(**UNCERTAIN)
    axes.set_xticks(range(len(names)), names, rotation=90)
    axes.tick_params(axis="x", labelsize=SMALL - 1.5, length=0)
    axes.set_xlim(-0.7, len(names) - 0.3)
    axes.set_ylim(bottom=0.0)
    axes.grid(False, axis="x")


def _legend(figure: Figure, curves: bool, uncertain: bool) -> None:
    gray: dict[str, Any] = {"color": NOTE_COLOR}
    handles: list[Line2D | Patch] = [
        Line2D([], [], color=color, linewidth=2.0, label=AXIS_NAME[name])
        for name, color in AXIS_COLOR.items()
    ]
    if uncertain:
        handles.append(Patch(facecolor=NOTE_COLOR, label="residual not to be read", **UNCERTAIN))
    if curves:
        handles += [
            Line2D([], [], linewidth=1.2, label="residual", **gray),
            Line2D([], [], label="line of noise alone, fitted", **FITTED, **gray),
            Line2D([], [], label="the same, extended", **EXTENDED, **gray),
            Line2D([], [], label="noise", marker="o", markersize=3, **NOISE, **gray),
            Line2D([], [], label="cut-off chosen", **CHOSEN, **gray),
        ]
    figure.legend(
        handles=handles,
        loc="upper right",
        bbox_to_anchor=(0.98, 1.0 - 0.39 * MARGIN[3] / figure.get_figheight()),
        ncols=3 if curves else 1,
        fontsize=SMALL - 0.5,
        frameon=False,
    )
