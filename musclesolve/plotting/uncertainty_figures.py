"""Muscle and contact forces with the bands that the sources of error make of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from musclesolve.plotting.error_source_figure import contact_force_sources, muscle_force_sources
from musclesolve.plotting.muscle_figures import COLUMNS, muscles_by_group
from musclesolve.plotting.page.abscissa import Abscissa, abscissa
from musclesolve.plotting.page.curves import Validity, draw, mark_stance
from musclesolve.plotting.page.legend import legend
from musclesolve.plotting.page.png import Progress, png_files
from musclesolve.plotting.page.style import SIDE_COLOR, TEXT, heading, page
from musclesolve.results.dataset import frame_validity as frames
from musclesolve.results.dataset.subject_variables import body_weight
from musclesolve.results.tables.error_shares import peak

BANDS = ((0.025, 0.975, 0.16), (0.25, 0.75, 0.30))
"""Lower and upper quantile of each band, and its opacity; the second one lies on the first."""


def uncertainty_figures(
    found: xr.Dataset, progress: Progress = lambda stage, fraction: None
) -> dict[str, bytes]:
    """The content of the file of every figure, by its name.

    Args:
        found: what ``musclesolve.uncertainty`` returns or ``uncertainty.nc`` holds.
        progress: called before every figure with "drawing" and the share of the figures that is done.
    """
    drawn = {name: figure for name, figure in FIGURES.items() if name not in WITH or WITH[name] in found}
    return png_files({name: partial(figure, found) for name, figure in drawn.items()}, progress)


def muscle_force_bands(found: xr.Dataset) -> Figure:
    """Force of each muscle [N] with its bands, both legs in one panel."""
    x, sides = abscissa(found), frames.sides(found)
    validity = {side: Validity.of(found, side) for side in sides}
    groups = muscles_by_group(found)
    figure, panels = page(found, _title("Muscle force", found), -(-len(groups) // COLUMNS), COLUMNS)
    for number, (axes, (muscle, group)) in enumerate(zip(panels.flat, groups.items(), strict=False)):
        for side in sides:
            _banded(axes, x, side, found, "muscle_force", {"muscle": f"{muscle}_{side}"}, validity[side])
        heading(axes, muscle.replace("_", " "), group.replace("_", " "))
        high = max(axes.get_ylim()[1], 1.0)
        axes.set_ylim(-0.03 * high, 1.03 * high)
        x.apply(axes, labelled=number + COLUMNS >= len(groups))
        axes.set_xlabel("")
    for axes in list(panels.flat)[len(groups) :]:
        axes.set_visible(False)
    figure.supylabel("force [N]  (each panel has its own scale)", fontsize=TEXT)
    figure.supxlabel(x.label, fontsize=TEXT)
    legend(figure, x, sides, validity=validity)
    return figure


def contact_force_bands(found: xr.Dataset) -> Figure:
    """Size of the joint reaction at hip, knee and ankle [body weights] with its bands, a column for each leg."""
    x, sides = abscissa(found), frames.sides(found)
    validity = {side: Validity.of(found, side) for side in sides}
    weight = body_weight(found)
    title = _title("Joint contact force, magnitude", found)
    figure, panels = page(found, title, 3, len(sides), height=0.75, sharey="row")
    for row, joint in zip(panels, ("hip", "knee", "ankle"), strict=True):
        for axes, side in zip(row, sides, strict=True):
            where = {"joint": f"{joint}_{side}"}
            _banded(axes, x, side, found, "contact_force", where, validity[side], 1.0 / weight)
            mark_stance(axes, x, side, frames.stance(found, side))
            at = peak(found, "contact_force", f"{joint}_{side}")
            note = "no valid frame"
            if at is not None:
                note = f"peak in stance {at.value / weight:.1f} ± {at.sd / weight:.1f} body weights"
            heading(axes, f"{frames.SIDE_NAMES[side]} {joint}", note)
            x.apply(axes, labelled=joint == "ankle")
        row[0].set_ylabel("[body weights]", fontsize=TEXT)
        row[0].set_ylim(bottom=0.0)
    legend(figure, x, sides, validity=validity, stance=True)
    return figure


FIGURES: dict[str, Callable[[xr.Dataset], Figure]] = {
    "uncertainty_muscle_forces": muscle_force_bands,
    "uncertainty_contact_forces": contact_force_bands,
    "error_sources_muscle_forces": muscle_force_sources,
    "error_sources_contact_forces": contact_force_sources,
}
WITH = {
    "error_sources_muscle_forces": "muscle_force_contribution",
    "error_sources_contact_forces": "contact_force_contribution",
}
"""Figures of a variable that is there only where sources are told apart."""


def _banded(
    axes: Axes,
    x: Abscissa,
    side: str,
    found: xr.Dataset,
    name: str,
    where: dict[str, str],
    validity: Validity,
    factor: float = 1.0,
) -> None:
    """The nominal curve of one leg above its bands; no band where the nominal frame has no valid solution."""
    quantiles = found[f"{name}_quantile"].sel(where)
    for part in x.passes[side]:
        shown = ~part.again & ~validity.failed[part.index]
        for low, high, opacity in BANDS:
            below, above = (
                np.where(shown, factor * quantiles.sel(quantile=q).values[part.index], np.nan)
                for q in (low, high)
            )
            style: dict[str, Any] = {"color": SIDE_COLOR[side], "alpha": opacity, "linewidth": 0.0}
            axes.fill_between(part.place, below, above, **style)
    draw(axes, x, side, factor * found[name].sel(where).values, validity)


def _title(what: str, found: xr.Dataset) -> str:
    samples = found.attrs["samples"]
    return f"{what}: nominal (line), half (dark) and 95 % (pale) of {samples} samples"
