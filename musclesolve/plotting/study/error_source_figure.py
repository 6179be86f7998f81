"""The sources of error that the spread of muscle and contact forces comes from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.legend_handler import HandlerTuple
from matplotlib.patches import Patch

from musclesolve.plotting.page.abscissa import percents
from musclesolve.plotting.page.curves import Legs
from musclesolve.plotting.page.page_style import current_style
from musclesolve.plotting.page.panels import joint_rows
from musclesolve.plotting.page.style import (
    NOTE_COLOR,
    STANCE_COLOR,
    heading,
    height_for,
    page,
    place_legend,
    space_for,
)
from musclesolve.plotting.result.muscle_figures import muscles
from musclesolve.results.dataset import frame_validity as frames
from musclesolve.results.dataset.result_quantities import body_weight
from musclesolve.results.facts import UncertainPeak, uncertain_peak

SOURCE_COLOR = {
    "strength": "#08306B",
    "max_isometric_force": "#2171B5",
    "optimal_fiber_length": "#6BAED6",
    "tendon_slack_length": "#B0D2E7",
    "muscle_path": "#009E73",
    "marker_placement": "#A63603",
    "hip_center": "#E6740D",
    "soft_tissue": "#FDBE85",
    "center_of_pressure": "#444444",
    "segment_mass": "#B0B0B0",
}
"""Muscle parameters blue, paths green, markers orange, plates and masses gray."""


def error_sources_contact_forces(found: xr.Dataset) -> Figure:
    """Standard deviation of the magnitude of every contact force [body weights], divided among the sources."""
    legs, weight = Legs.of(found), body_weight(found)
    title = "Joint contact force: standard deviation of the samples, by source"
    figure, panels = page(found, title, 3, len(legs.sides), height=0.75, sharey="row")
    for row, joint in joint_rows(panels, legs.x):
        for axes, side in zip(row, legs.sides, strict=True):
            own = found.sel(joint=f"{joint}_{side}")
            parts = (own["contact_force_contribution"] * own["contact_force_sd"]).values / weight
            for part in legs.x.passes[side]:
                shown = ~part.repeated & ~legs.validity[side].failed[part.index]
                heights = np.where(shown, np.nan_to_num(parts[:, part.index]), np.nan)
                axes.stackplot(part.place, heights, colors=_colors(found), linewidth=0.0)
            legs.mark_stance(axes, side)
            heading(axes, f"{frames.SIDE_NAMES[side]} {joint}")
    _legend(figure, found, stance_of=legs.sides)
    return figure


def error_sources_muscle_forces(found: xr.Dataset) -> Figure:
    """Share of every source in the variance of each muscle force at its peak in stance, a bar for each muscle."""
    sides, groups = frames.sides(found), muscles(found)
    title, style = "Muscle force: sources of its variance at its peak in stance", current_style()
    beside = not style.narrow
    labels = [name.replace("_", " ") for name in groups]
    space = {"left": space_for(labels), "right": space_for(["1234 ± 1234"], 0.0)}
    space |= {"least": height_for(len(groups)), "below": 0.0 if beside else 0.15}
    shape = (1, len(sides)) if beside else (len(sides), 1)
    figure, panels = page(found, title, *shape, height=0.0, space=space)
    for number, (axes, side) in enumerate(zip(panels.flat, sides, strict=True)):
        peaks = [uncertain_peak(found, "muscle_force", f"{name}_{side}") for name in groups]
        _bars(axes, np.stack([_shares(at, len(found["source"])) for at in peaks], axis=1), _colors(found))
        for row, at in enumerate(peaks):
            text = "-" if at is None else f"{at.value:.0f} ± {at.sd:.0f}"
            axes.text(1.01, row, text, fontsize=style.note_pt, va="center", color=NOTE_COLOR)
        heading(axes, f"{frames.SIDE_NAMES[side]}, and force at that peak [N]")
        axes.set_yticks(range(len(labels)), labels)
        axes.tick_params(labelleft=number == 0 or not beside)
        axes.invert_yaxis()
        if beside or number == len(sides) - 1:
            axes.set_xlabel("share of the variance, to first order [%]")
    _legend(figure, found)
    return figure


def _shares(at: UncertainPeak | None, sources: int) -> np.ndarray:
    """Shares of the sources; zeros where nothing varies or no frame is valid."""
    return np.zeros(sources) if at is None or at.shares is None else np.nan_to_num(at.shares.values)


def _bars(axes: Axes, shares: np.ndarray, colors: list[str]) -> None:
    """One horizontal bar for each column of shares (source, n)."""
    edge = np.zeros(shares.shape[1])
    for share, color in zip(shares, colors, strict=True):
        axes.barh(np.arange(len(edge)), share, left=edge, color=color, height=0.8, linewidth=0.0)
        edge = edge + share
    axes.set_xlim(0.0, 1.0)
    axes.set_xticks(
        shown := [0.01 * percent for percent in percents(axes)], [f"{100.0 * x:.0f}" for x in shown]
    )
    axes.set_ylim(-0.6, len(edge) - 0.4)
    axes.grid(False, axis="y")


def _colors(found: xr.Dataset) -> list[str]:
    return [SOURCE_COLOR[str(name)] for name in found["source"].values]


def _legend(figure: Figure, found: xr.Dataset, stance_of: Sequence[str] = ()) -> None:
    labels = [str(label) for label in found["source_label"].values]
    handles: list[Any] = [Patch(color=color, linewidth=0.0) for color in _colors(found)]
    if stance_of:
        handles.append(tuple(Patch(color=STANCE_COLOR[side], linewidth=0.0) for side in stance_of))
        labels.append("foot on the ground")
    pairs = {tuple: HandlerTuple(ndivide=None, pad=0.0)}
    place_legend(figure, handles, labels=labels, handler_map=pairs)
