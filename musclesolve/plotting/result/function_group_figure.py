"""Force of the muscle groups of each leg, as a share of what the group is capable of."""

from __future__ import annotations

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from musclesolve.plotting.page.curves import Legs
from musclesolve.plotting.page.panels import GROUPS, Grid, small_multiples
from musclesolve.plotting.page.style import note
from musclesolve.results.dataset import frame_validity as frames
from musclesolve.results.dataset.kinetics.leg_kinetics import group_force

UNIT = "sum of forces over sum of maximum isometric forces [%]  (each panel has its own scale)"


def function_groups(result: xr.Dataset) -> Figure:
    """A panel for each group of the muscle set, from hip to ankle, with the peak of the summed force of each leg."""
    legs = Legs.of(result)

    def fill(axes: Axes, group: str) -> None:
        peaks = []
        for side in legs.sides:
            if (own := group_force(result, group, side)) is None:
                continue
            legs.draw(axes, side, 100.0 * own.share)
            if "ground_reaction_force" in result:
                legs.mark_stance(axes, side)
            force = own.force[frames.valid(result, side)]
            if np.isfinite(force).any():
                peaks.append(f"{np.nanmax(force):.0f} N")
        note(axes, f"peak {' / '.join(peaks)}" if peaks else "")

    grid = Grid(columns=3, low=True, above=0.15)
    titles = ("Muscle groups", UNIT)
    figure = small_multiples(result, titles, legs.x, _panels(result), fill, grid)
    legs.legend(figure, stance="ground_reaction_force" in result)
    return figure


def _panels(result: xr.Dataset) -> dict[str, str]:
    """Group -> how many muscles it has in a leg, the groups in the order of all pages."""
    stems: dict[str, set[str]] = {}
    for name, group in zip(result["muscle"].values, result["group"].values, strict=True):
        stems.setdefault(str(group), set()).add(frames.split_side(str(name))[0])
    order = [group for group in dict.fromkeys((*GROUPS, *stems)) if group in stems]
    counts = {group: len(stems[group]) for group in order}
    return {group: f"{count} muscle{'s' if count > 1 else ''}" for group, count in counts.items()}
