"""Contact forces of hip, knee and ankle along and across the segment."""

from __future__ import annotations

import xarray as xr
from matplotlib.figure import Figure

from musclesolve.plotting.page.curves import Legs
from musclesolve.plotting.page.style import heading, page
from musclesolve.results.dataset.labels import SEGMENT_OF
from musclesolve.results.dataset.result_quantities import LEG_JOINTS, body_weight

PANELS = {
    "axial": "axial (+ compression)",
    "anterior": "fore-aft (+ anterior)",
    "medial": "medio-lateral (+ medial)",
}


def contact_force_components(result: xr.Dataset) -> Figure:
    """Axial, fore-aft and medio-lateral contact force on the distal segment, muscles included, in body weights."""
    legs, weight = Legs.of(result), body_weight(result)
    force = result["contact_force_component"]
    known = set(map(str, result["joint"].values))
    title = "Joint contact force on the distal segment, muscles included"
    figure, panels = page(result, title, len(LEG_JOINTS), len(PANELS), height=0.65)
    for row, joint in zip(panels, LEG_JOINTS, strict=True):
        for axes, (direction, name) in zip(row, PANELS.items(), strict=True):
            for side in legs.sides:
                if (full := f"{joint}_{side}") in known:
                    legs.draw(axes, side, force.sel(joint=full, direction=direction).values / weight)
                legs.mark_stance(axes, side)
            axes.axhline(0.0, color="black", linewidth=0.4)
            heading(axes, f"{joint}: {name}", f"axes of the {SEGMENT_OF[joint]}")
            legs.x.apply(axes, labelled=joint == LEG_JOINTS[-1])
        row[0].set_ylabel("[body weights]")
    legs.legend(figure, stance=True)
    return figure
