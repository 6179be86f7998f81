"""Muscle and contact forces with the bands that the sources of error make of them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from musclesolve._util.progress import Progress
from musclesolve.plotting.page.curves import Legs
from musclesolve.plotting.page.figure_files import figures_of
from musclesolve.plotting.page.panels import joint_rows, small_multiples
from musclesolve.plotting.page.style import SIDE_COLOR, heading, page
from musclesolve.plotting.result.muscle_figures import FORCE, muscles
from musclesolve.plotting.study.error_source_figure import (
    error_sources_contact_forces,
    error_sources_muscle_forces,
)
from musclesolve.results.dataset import frame_validity as frames
from musclesolve.results.dataset.result_quantities import body_weight
from musclesolve.results.facts import uncertain_peak

BANDS = ((0.025, 0.975, 0.16), (0.25, 0.75, 0.30))
"""Lower and upper quantile of each band, and its opacity; the second one lies on the first."""


def uncertainty_figures(found: xr.Dataset, progress: Progress | None = None) -> dict[str, bytes]:
    """The content of the file of every figure of ``uncertainty.nc``, by its name; progress as in `figures_of`."""
    return figures_of(found, FIGURES, progress, NEEDS)


def uncertainty_muscle_forces(found: xr.Dataset) -> Figure:
    """Force of each muscle [N] with its bands, both legs in one panel."""
    legs = Legs.of(found)

    def fill(axes: Axes, muscle: str) -> None:
        for side in legs.sides:
            _banded(axes, legs, side, "muscle_force", {"muscle": f"{muscle}_{side}"})
            legs.mark_events(axes, side)

    figure = small_multiples(found, (_title("Muscle force", found), FORCE), legs.x, muscles(found), fill)
    legs.legend(figure, events=True)
    return figure


def uncertainty_contact_forces(found: xr.Dataset) -> Figure:
    """Magnitude of the joint reaction at hip, knee and ankle [body weights] with its bands, a column for each leg."""
    legs, weight = Legs.of(found), body_weight(found)
    title = _title("Joint contact force, magnitude", found)
    figure, panels = page(found, title, 3, len(legs.sides), height=0.75, sharey="row")
    for row, joint in joint_rows(panels, legs.x):
        for axes, side in zip(row, legs.sides, strict=True):
            _banded(axes, legs, side, "contact_force", {"joint": f"{joint}_{side}"}, 1.0 / weight)
            legs.mark_stance(axes, side)
            at = uncertain_peak(found, "contact_force", f"{joint}_{side}")
            note = "no valid frame"
            if at is not None:
                note = f"peak in stance {at.value / weight:.1f} ± {at.sd / weight:.1f} body weights"
            heading(axes, f"{frames.SIDE_NAMES[side]} {joint}", note)
    legs.legend(figure, stance=True)
    return figure


FIGURES: dict[str, Callable[[xr.Dataset], Figure]] = {
    "uncertainty_muscle_forces": uncertainty_muscle_forces,
    "uncertainty_contact_forces": uncertainty_contact_forces,
    "error_sources_muscle_forces": error_sources_muscle_forces,
    "error_sources_contact_forces": error_sources_contact_forces,
}
NEEDS = {
    "error_sources_muscle_forces": "muscle_force_contribution",
    "error_sources_contact_forces": "contact_force_contribution",
}
"""Figures of a variable that is there only where contributions were computed."""


def _banded(axes: Axes, legs: Legs, side: str, name: str, where: dict[str, str], factor: float = 1.0) -> None:
    """The nominal curve of one leg above its bands; no band where the nominal frame has no valid solution."""
    quantiles = legs.result[f"{name}_quantile"].sel(where)
    for part in legs.x.passes[side]:
        shown = ~part.repeated & ~legs.validity[side].failed[part.index]
        for *ends, opacity in BANDS:
            below, above = (
                np.where(shown, factor * quantiles.sel(quantile=q).values[part.index], np.nan) for q in ends
            )
            axes.fill_between(part.place, below, above, color=SIDE_COLOR[side], alpha=opacity, linewidth=0.0)
    legs.draw(axes, side, factor * legs.result[name].sel(where).values)


def _title(what: str, found: xr.Dataset) -> str:
    samples = found.attrs["samples"]
    return f"{what}: nominal (line), half (dark) and 95 % (pale) of {samples} samples"
