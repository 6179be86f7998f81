"""Which figures a dataset has, by name; nothing is drawn here."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import xarray as xr
from matplotlib.figure import Figure

from musclesolve.plotting import figure_sets
from musclesolve.plotting.page.figure_files import drawable
from musclesolve.plotting.study import average_figures, comparison_figures, uncertainty_figures
from musclesolve.report.figures.emg_figure import emg_and_activation
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
    return first.rstrip(".") + (f"; {frames.SIDE_NAMES[side]} leg." if side else ".")
