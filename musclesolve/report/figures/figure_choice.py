"""Which figures a dataset has, by name, and the one that only a report has: EMG beside activation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from musclesolve._util.sides import SIDE_NAMES, side_of
from musclesolve.plotting import figure_sets
from musclesolve.plotting.page.curves import Legs
from musclesolve.plotting.page.figure_files import drawable
from musclesolve.plotting.page.panels import Grid, small_multiples
from musclesolve.plotting.page.sheet import Sheet
from musclesolve.plotting.result.muscle_figures import ENVELOPE
from musclesolve.plotting.study import average_figures, comparison_figures, uncertainty_figures
from musclesolve.report.inputs import AVERAGE, COMPARISON, UNCERTAINTY
from musclesolve.results.dataset import frame_validity as frames
from musclesolve.results.dataset.checked import MODEL

Draw = Callable[[xr.Dataset], Figure]

EMG = "emg_and_activation"
NEEDS = {EMG: "emg_delayed"}
"""Of the figures that a report adds: the variable without which there is none."""


def figures_of(data: xr.Dataset, kind: str) -> dict[str, Draw]:
    """The figures of a dataset by name, without those of a variable that it does not have."""
    if kind == UNCERTAINTY:
        return dict(drawable(data, uncertainty_figures.FIGURES, uncertainty_figures.NEEDS))
    if kind == AVERAGE:
        return dict(average_figures.FIGURES)
    if kind == COMPARISON:
        pages = comparison_figures.FIGURES.items()
        return {
            f"{name}_{side}": partial(draw, side=side) for name, draw in pages for side in frames.sides(data)
        }
    of_model = MODEL in data.attrs
    named = figure_sets.OF_MODEL if of_model else figure_sets.FIGURES
    needs = {**figure_sets.NEEDS, **NEEDS}
    return dict(drawable(data, {**named, EMG: emg_and_activation}, needs))


def caption(name: str, draw: Draw) -> str:
    """What a figure shows: the first sentence of its function."""
    function = draw.func if isinstance(draw, partial) else draw
    first = (function.__doc__ or name.replace("_", " ")).strip().partition("\n")[0]
    side = draw.keywords.get("side") if isinstance(draw, partial) else None
    return first.rstrip(".") + (f"; {SIDE_NAMES[side]} leg." if side else ".")


LONGEST = 26
"""Letters of the names of muscles below the name of a channel."""
COLUMNS = 4


def emg_and_activation(result: xr.Dataset) -> Sheet:
    """Activation (line, mean of the muscles of a channel) over the EMG envelope (shaded), both as they are compared."""
    legs = Legs.of(result)
    muscles = {str(c): _muscles(result, str(c)) for c in result["channel"].values}
    drawn = {name: own for name, own in muscles.items() if own and side_of(own[0]) in legs.sides}
    panels = {name: _note(result, name, own) for name, own in drawn.items()}

    def fill(axes: Axes, name: str) -> None:
        own, side = drawn[name], side_of(drawn[name][0])
        legs.shade(axes, side, result["emg_delayed"].sel(channel=name).values)
        legs.draw(axes, side, result["activation"].sel(muscle=own).mean("muscle", skipna=False).values)

    grid = Grid(COLUMNS, top=1.02, low=True)
    sheet = small_multiples(
        result, ("EMG beside activation", "share of the maximum [1]"), legs.x, panels, fill, grid
    )
    shown = {side_of(own[0]) for own in drawn.values()}
    replace(legs, sides=[side for side in legs.sides if side in shown]).legend(
        sheet, shaded=ENVELOPE, of=shown
    )
    return sheet


def _muscles(result: xr.Dataset, channel: str) -> list[str]:
    """The analysed muscles of a channel."""
    known = set(map(str, result["muscle"].values))
    names = str(result["channel_muscles"].sel(channel=channel).item()).split(", ")
    return [name for name in names if name in known]


def _note(result: xr.Dataset, channel: str, muscles: list[str]) -> str:
    """Agreement and muscles, in the space of a panel."""
    r = float(result["emg_correlation"].sel(channel=channel))
    names = ", ".join(muscles)
    short = names if len(names) <= LONGEST else f"{names[: LONGEST - 1]}…"
    return (f"r {r:.2f}; " if np.isfinite(r) else "") + short
