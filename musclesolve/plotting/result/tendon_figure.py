"""Fibers and elastic tendons of the muscles whose tendons matter most."""

from __future__ import annotations

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from musclesolve.plotting.page.curves import Legs
from musclesolve.plotting.page.style import heading, page
from musclesolve.results.dataset.frame_validity import ALL_SIDES, split_side, with_side
from musclesolve.results.facts import achilles

ROWS = 8
"""Muscles on the page."""
QUANTITIES = {
    "fiber length": "[L0]",
    "fiber velocity": "[L0/s]",
    "tendon strain": "[%]",
}
AXIS = "of optimal fiber lengths L0, and per cent of the slack length"
TITLE = "Fibers and elastic tendons: Achilles tendon, then those that store most energy"


def fibers_and_tendons(result: xr.Dataset) -> Figure:
    """Fiber length and velocity over optimal fiber length, and strain of the tendon.

    Of the muscles of the Achilles tendon, then of those whose tendons store most energy at their peak.
    """
    legs, stems, curves = Legs.of(result), _chosen(result), _curves(result)
    height = min(1.0, 0.12 + 0.12 * len(stems))
    figure, panels = page(result, TITLE, len(stems), len(QUANTITIES), height=height)
    for row, stem in zip(panels, stems, strict=True):
        for axes, (quantity, unit) in zip(row, QUANTITIES.items(), strict=True):
            for side in ALL_SIDES:
                if (name := with_side(stem, side)) in curves[quantity]["muscle"].values:
                    legs.draw_muscle(axes, name, curves[quantity].sel(muscle=name).values)
                    legs.mark_events(axes, side)
            if quantity == "fiber velocity":
                axes.axhline(0.0, color="black", linewidth=0.4, zorder=1)
            if quantity == "tendon strain":
                axes.set_ylim(bottom=min(0.0, axes.get_ylim()[0]))
            legs.x.apply(axes, labelled=stem == stems[-1], with_label=False)
            name = stem.replace("_", " ") if quantity == "fiber length" else ""
            heading(axes, name, f"{quantity} {unit}")
    figure.label_axes(legs.x.label, AXIS)
    legs.legend(figure, events=True)
    return figure


def _curves(result: xr.Dataset) -> dict[str, xr.DataArray]:
    """Each quantity in its unit, over time and muscle."""
    optimal = result["optimal_fiber_length"]
    found = (
        result["fiber_length"] / optimal,
        result["fiber_velocity"] / optimal,
        100.0 * result["tendon_strain"],
    )
    return dict(zip(QUANTITIES, found, strict=True))


def _chosen(result: xr.Dataset) -> list[str]:
    """Muscles without side: those of the Achilles tendon, then the ones with the greatest peak of energy."""
    energy = result["tendon_energy"].transpose("time", "muscle").values
    peak = np.where(np.isfinite(energy), energy, 0.0).max(axis=0)
    names = result["muscle"].values[np.argsort(-peak, kind="stable")]
    order = [*achilles(result), *map(str, names)]
    return list(dict.fromkeys(split_side(name)[0] for name in order))[:ROWS]
