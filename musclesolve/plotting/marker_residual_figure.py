"""Residuals of the measured points: how far the consistency step moved each of them."""

from __future__ import annotations

import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from musclesolve.plotting.page.style import NOTE_COLOR, SIDE_COLOR, SMALL, TEXT, page, place_legend
from musclesolve.results.dataset import frame_validity as frames
from musclesolve.results.dataset.marker_residuals import METHOD, moved_points

_MIDDLE = ""


def consistency_shift(result: xr.Dataset) -> Figure:
    """Distance between consistent and measured position of each point [mm]: a bar to its rms, a line to its worst.

    A row for each joint or landmark, right and left together, the toes at the bottom.
    """
    names, rms, worst = moved_points(result)
    side = [name[-1] if name[-2:] in ("_r", "_l") else _MIDDLE for name in names]
    stem = [name.removesuffix(f"_{s}") for name, s in zip(names, side, strict=True)]
    rows = list(dict.fromkeys(stem))
    figure, panels = page(result, "Residuals of the measured points", 1, 1, height=0.2 + 0.02 * len(rows))
    axes = panels[0, 0]
    axes.set_position(axes.get_position().shrunk(0.93, 1.0).translated(0.06, 0.0))
    for place, name in enumerate(stem):
        row = rows.index(name) + {"r": 0.2, "l": -0.2, _MIDDLE: 0.0}[side[place]]
        color = SIDE_COLOR.get(side[place], NOTE_COLOR)
        length, most = 1000.0 * rms[place], 1000.0 * worst[place]
        axes.barh(row, length, height=0.36, color=color)
        axes.plot([length, most], [row, row], color=color, linewidth=0.8)
        axes.plot(most, row, color=color, marker="|", markersize=4)
    axes.set_yticks(np.arange(len(rows)), [row.replace("_", " ") for row in rows])
    axes.set_ylim(-0.6, len(rows) - 0.4)
    axes.set_xlim(left=0.0)
    axes.grid(False, axis="y")
    method = METHOD[str(result.attrs.get("consistency_method", "nearest"))]
    axes.set_xlabel(f"distance from the measured point, {method} [mm]", fontsize=TEXT)
    _legend(figure, [s for s in ("r", "l", _MIDDLE) if s in side])
    return figure


def _legend(figure: Figure, sides: list[str]) -> None:
    handles: list[Patch | Line2D] = [
        Patch(color=SIDE_COLOR.get(side, NOTE_COLOR), label=frames.SIDE_NAMES.get(side, "middle"))
        for side in sides
    ]
    handles.append(Patch(color=NOTE_COLOR, alpha=0.5, label="bar: root mean square over the frames"))
    handles.append(
        Line2D([], [], color=NOTE_COLOR, linewidth=0.8, marker="|", label="line: to the worst frame")
    )
    place_legend(figure, handles, fontsize=SMALL, columnspacing=2.0)
