"""EMG beside activation: a panel for each channel."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import xarray as xr
from matplotlib.axes import Axes

from musclesolve.plotting.page.curves import Legs
from musclesolve.plotting.page.panels import Grid, small_multiples
from musclesolve.plotting.page.sheet import Sheet
from musclesolve.plotting.result.muscle_figures import ENVELOPE
from musclesolve.results.dataset.frame_validity import side_of

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
