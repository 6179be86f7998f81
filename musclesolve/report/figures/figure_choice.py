"""Figures of a dataset by name, and the additional figure of reports: EMG beside activation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import takewhile
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import xarray as xr

from musclesolve._util.sides import SIDE_NAMES, side_of, split_side
from musclesolve.plotting import figure_sets
from musclesolve.plotting.figure_names import FIGURE_NAMES
from musclesolve.plotting.page.curves import Legs
from musclesolve.plotting.page.figure_files import drawable
from musclesolve.plotting.page.panels import Grid, small_multiples
from musclesolve.plotting.page.sheet import Sheet
from musclesolve.plotting.result.muscle_figures import ENVELOPE
from musclesolve.plotting.study import (
    average_figures,
    comparison_figures,
    question_figures,
    uncertainty_figures,
)
from musclesolve.report.inputs import ANSWERS, AVERAGE, COMPARISON, UNCERTAINTY
from musclesolve.results.dataset import frame_validity as frames
from musclesolve.results.dataset.checked import MODEL

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Draw: TypeAlias = "Callable[[xr.Dataset], Figure]"

EMG = "emg_and_activation"
"""Name of the additional figure of reports."""


def figures_of(data: xr.Dataset, kind: str) -> dict[str, Draw]:
    """The figures of a dataset by name, without figures of missing variables."""
    if kind in ANSWERS:
        return dict(question_figures.figures_of_answer(data, kind))
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
    needs = {**figure_sets.NEEDS, EMG: FIGURE_NAMES[EMG].needs}
    return dict(drawable(data, {**named, EMG: emg_and_activation}, needs))


def caption(name: str, draw: Draw) -> str:
    """Return the caption of a figure: the first sentence of its function."""
    function = draw.func if isinstance(draw, partial) else draw
    first = (function.__doc__ or name.replace("_", " ")).strip().partition("\n")[0]
    side = draw.keywords.get("side") if isinstance(draw, partial) else None
    return first.rstrip(".") + (f"; {SIDE_NAMES[side]} leg." if side else ".")


COLUMNS = 4


def emg_and_activation(result: xr.Dataset) -> Sheet:
    """Activation (line, mean of the muscles of a channel) over the EMG envelope (shaded), both as they are compared."""
    legs = Legs.from_result(result)
    drawn: dict[str, tuple[str, list[str]]] = {}  # by the caption, a channel and its muscles
    for channel in map(str, result["channel"].values):
        own = _muscles(result, channel)
        if own and side_of(own[0]) in legs.sides:
            name = _in_words(own)
            drawn[name if name not in drawn else f"{name}, {channel}"] = channel, own
    panels = {name: _note(result, channel) for name, (channel, _) in drawn.items()}

    def fill(axes: Axes, name: str) -> None:
        channel, own = drawn[name]
        side = side_of(own[0])
        legs.shade(axes, side, result["emg_delayed"].sel(channel=channel).values, ENVELOPE)
        legs.draw(axes, side, result["activation"].sel(muscle=own).mean("muscle", skipna=False).values)

    grid = Grid(COLUMNS, top=1.02, low=True)
    sheet = small_multiples(
        result, ("EMG beside activation", "share of the maximum [1]"), legs.x, panels, fill, grid
    )
    shown = {side_of(own[0]) for _, own in drawn.values()}
    replace(legs, sides=[side for side in legs.sides if side in shown]).legend(
        sheet, shaded=ENVELOPE, of=shown
    )
    return sheet


def _muscles(result: xr.Dataset, channel: str) -> list[str]:
    """The analyzed muscles of a channel."""
    known = set(map(str, result["muscle"].values))
    names = str(result["channel_muscles"].sel(channel=channel).item()).split(", ")
    return [name for name in names if name in known]


def _in_words(muscles: list[str]) -> str:
    """The side and the muscles in words; parts of one muscle, with equal beginnings of names, are only counted."""
    stems, side = [split_side(name)[0].split("_") for name in muscles], side_of(muscles[0])
    alike = takewhile(lambda words: len(set(words)) == 1, zip(*stems, strict=False))
    common = [first for first, *_ in alike]
    names = f"{' '.join(common)} ({len(stems)} parts)" if common and len(stems) > 1 else ""
    return f"{SIDE_NAMES.get(side, '')} {names or ', '.join(map(' '.join, stems))}".strip()


def _note(result: xr.Dataset, channel: str) -> str:
    """Channel and agreement."""
    r = float(result["emg_correlation"].sel(channel=channel))
    return channel + (f": r {r:.2f}" if np.isfinite(r) else "")
