"""Choice of the cut-off frequencies by the recording: residual curves, and cut-off and noise of every marker."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from musclesolve.plotting.page.arrangement import Arrangement, space_for
from musclesolve.plotting.page.keys import APART, area, line
from musclesolve.plotting.page.page_style import NOTE_COLOR, current_style
from musclesolve.plotting.page.panels import with_panels
from musclesolve.plotting.page.sheet import Sheet, heading, native, page, sheet_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

AXIS_COLOR = {"x": "#0072B2", "y": "#E69F00", "z": "#009E73"}
AXIS_NAME = {"x": "x, forward", "y": "y, to the left", "z": "z, up"}
CURVES = 6
# Multiple of the largest noise of the marker above which residuals are cut off: there the filter removes motion.
TALLEST = 4.0
# Space below a panel [inch]: for the label of the axis.
LEAST_BELOW = 0.3
FITTED: dict[str, Any] = {"linestyle": "--", "linewidth": 1.3}
EXTENDED: dict[str, Any] = {"linestyle": "--", "linewidth": 0.5, "alpha": 0.7}
NOISE: dict[str, Any] = {"linestyle": ":", "linewidth": 0.9}
CHOSEN: dict[str, Any] = {"linestyle": "-", "linewidth": 0.7, "alpha": 0.6}
UNCERTAIN: dict[str, Any] = {"hatch": "//////", "edgecolor": "white", "linewidth": 0.0}


@native
def cutoff_and_noise(result: xr.Dataset) -> Sheet:
    """Residual curves of some markers with line, noise and cut-off; cut-off [Hz] and noise [mm] of every marker."""
    markers = [str(name) for name in result["marker"].values]
    curves, columns = "marker_residual" in result, 2 if current_style().narrow else 3
    lines = _in_lines(markers)
    rows = -(-min(CURVES, len(markers)) // columns) * curves + 2 * len(lines)
    space = {"below": max(LEAST_BELOW, space_for(markers, 0.0))}
    title, height = "Cut-off frequency and noise of the markers", 0.25 * rows
    sheet, panels = page(result, title, rows, columns, height=height, labels=True, space=space)
    if curves:
        shown = _some_curves(panels[: -2 * len(lines)], result)
        sheet.add_note(
            f"Residuals of {shown} of {len(markers)} markers, from the lowest cut-off to the highest."
        )
    whole = [sheet.one_panel(row) for row in panels[-2 * len(lines) :]]
    _bars(whole[: len(lines)], result, lines, "cutoff")
    _bars(whole[len(lines) :], result, lines, "noise")
    entries: dict[str, Any] = {
        AXIS_NAME[name]: line(color, 2.0, of=AXIS_NAME[name]) for name, color in AXIS_COLOR.items()
    }
    if _uncertain(result).any():
        entries["residual not to be read"] = area(facecolor=NOTE_COLOR, **UNCERTAIN)
    if curves:
        entries |= {
            "residual": line(NOTE_COLOR, 1.2),
            "line of noise alone, fitted": line(NOTE_COLOR, **FITTED),
            "the same, extended": line(NOTE_COLOR, **EXTENDED),
            "noise": line(NOTE_COLOR, marker="o", markersize=3, **NOISE),
            "cut-off chosen": line(NOTE_COLOR, **CHOSEN),
        }
    sheet.add_legend(entries)
    return sheet


def _in_lines(markers: list[str]) -> list[slice]:
    """Distribute the markers over the lines that their names, upright below the bars, need."""
    style = current_style()
    most = max(1, int(Arrangement(1, 1, 1.0, labels=True).inner_width(style) / (1.15 * style.font_pt / 72.0)))
    count = -(-len(markers) // most)
    size = -(-len(markers) // count)
    return [slice(start, start + size) for start in range(0, len(markers), size)]


def _bars(rows: list[Axes], result: xr.Dataset, lines: list[slice], name: str) -> None:
    """Cut-off or noise of every marker."""
    forces = float(result.attrs["force_cutoff_hz"])
    text, unit, factor = {
        "cutoff": (f"cut-off frequency; the line: forces {forces:.1f} Hz", "Hz", 1.0),
        "noise": ("noise, root mean square", "mm", 1000.0),
    }[name]
    values = factor * result[f"marker_{name}"].transpose("marker", "axis")
    for axes, part in zip(rows, lines, strict=True):
        names, uncertain = [str(name) for name in values["marker"].values[part]], _uncertain(result)[part]
        for k, (axis, color) in enumerate(AXIS_COLOR.items()):
            places = np.arange(len(names)) + 0.27 * (k - 1)
            heights, label = values[part].sel(axis=axis).values, AXIS_NAME[axis]
            for chosen, style in ((~uncertain[:, k], {}), (uncertain[:, k], UNCERTAIN)):
                axes.bar(places[chosen], heights[chosen], 0.27, color=color, label=label, **style)
        axes.set_xticks(range(len(names)), names)
        axes.tick_params(axis="x", labelrotation=90, length=0)
        axes.set_xlim(-0.7, len(names) - 0.3)
        axes.grid(False, axis="x")
        axes.set_ylim(0.0, 1.05 * float(values.max()) or 1.0)
        axes.set_ylabel(f"[{unit}]")
        if name == "cutoff":
            axes.axhline(forces, color=NOTE_COLOR, linewidth=0.9, linestyle="-.", label="forces")
    heading(rows[0], text)


def _some_curves(panels: np.ndarray, result: xr.Dataset) -> int:
    """Fill the panels with markers spread evenly from the lowest to the highest cut-off; returns how many."""
    order = np.argsort(result["marker_cutoff"].median("axis").values, kind="stable")
    places = np.linspace(0, len(order) - 1, min(panels.size, len(order))).round().astype(int)
    for number, (axes, place) in enumerate(with_panels(panels, places)):
        _curves(axes, result.isel(marker=order[place]))
        if number + panels.shape[1] >= len(places):
            sheet_of(axes).label_below(axes, "cut-off tried [Hz]")
    return len(places)


def _curves(axes: Axes, marker: xr.Dataset) -> None:
    frequency = marker["tried_cutoff"].values
    top = TALLEST * 1000.0 * float(marker["marker_noise"].max())
    for name, color in AXIS_COLOR.items():
        coordinate = marker.sel(axis=name)
        noise, cutoff = 1000.0 * float(coordinate["marker_noise"]), float(coordinate["marker_cutoff"])
        noise_line = 1000.0 * coordinate["marker_residual_line"].values
        fitted = [float(coordinate["marker_linear_from"]), float(coordinate["marker_linear_to"])]
        first, last = np.abs(frequency[:, None] - fitted).argmin(axis=0) + np.array([0, 1])
        label = AXIS_NAME[name]
        style: dict[str, Any] = {"color": color, "label": label}
        axes.plot(frequency, 1000.0 * coordinate["marker_residual"].values, linewidth=1.2, **style)
        style["label"] = f"{label}{APART}line of noise"
        axes.plot(frequency[first:last], noise_line[first:last], **style, **FITTED)
        axes.plot(frequency[: first + 1], noise_line[: first + 1], **style, **EXTENDED)
        axes.plot([0.0, cutoff], [noise, noise], color=color, label=f"{label}{APART}noise", **NOISE)
        axes.plot([cutoff, cutoff], [0.0, top], color=color, label=f"{label}{APART}cut-off chosen", **CHOSEN)
        axes.plot(
            0.0, noise, color=color, label=f"{label}{APART}noise", marker="o", markersize=3, clip_on=False
        )
    axes.set_xlim(0.0, frequency[-1])
    axes.set_ylim(0.0, top if top > 0.0 else 1.0)
    axes.set_ylabel("[mm]")
    heading(axes, str(marker["marker"].values))


def _uncertain(result: xr.Dataset) -> np.ndarray:
    """Return the coordinates (marker, axis) whose residual did not show both motion and noise."""
    if "marker_verdict" not in result:
        return np.zeros(result["marker_cutoff"].transpose("marker", "axis").shape, dtype=bool)
    uncertain: np.ndarray = result["marker_verdict"].transpose("marker", "axis").values != 0
    return uncertain
