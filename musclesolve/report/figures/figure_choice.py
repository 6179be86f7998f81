"""Which figures a dataset has, by name; nothing is drawn here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import xarray as xr
from matplotlib.figure import Figure

from musclesolve.plotting import figure_sets as result_figures
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
        return _possible(uncertainty_figures.FIGURES, uncertainty_figures.NEEDS, data)
    if kind == AVERAGE:
        return dict(average_figures.FIGURES)
    if kind == COMPARISON:
        pages = comparison_figures.FIGURES.items()
        return {
            f"{name}_{side}": partial(draw, side=side) for name, draw in pages for side in frames.sides(data)
        }
    of_model = MODEL in data.attrs
    named = result_figures.OF_MODEL if of_model else result_figures.FIGURES
    return _possible({**named, EMG: emg_and_activation}, {**result_figures.NEEDS, **NEEDS}, data)


def _possible(named: Mapping[str, Draw], needs: Mapping[str, str], data: xr.Dataset) -> dict[str, Draw]:
    return {name: draw for name, draw in named.items() if name not in needs or needs[name] in data}


def caption(name: str, draw: Draw) -> str:
    """What a figure shows: the first sentence of its function."""
    function = draw.func if isinstance(draw, partial) else draw
    first = (function.__doc__ or name.replace("_", " ")).strip().partition("\n")[0]
    side = draw.keywords.get("side") if isinstance(draw, partial) else None
    return first.rstrip(".") + (f"; {frames.SIDE_NAMES[side]} leg." if side else ".")
