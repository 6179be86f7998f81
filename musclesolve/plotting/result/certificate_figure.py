"""The certificate of every frame of a solution, or of every cost of a comparison, against the tolerance."""

from __future__ import annotations

import numpy as np
import xarray as xr

from musclesolve.plotting.page.curves import time_axis
from musclesolve.plotting.page.keys import line
from musclesolve.plotting.page.of_arrays import as_result
from musclesolve.plotting.page.page_style import NOTE_COLOR, SIDE_COLOR, SIDE_WIDTH
from musclesolve.plotting.page.sheet import Sheet, heading, native, page
from musclesolve.plotting.study.comparison_figures import line_style
from musclesolve.results.dataset import frame_validity as frames
from musclesolve.sharing.kernel.constants import TOLERANCE
from musclesolve.sharing.solution import Solution

SMALLEST = 1e-18
"""Certificate that is drawn in place of a smaller one."""
LIMIT = "tolerance: a frame above it is not solved"


@native
def certificates(result: xr.Dataset | Solution) -> Sheet:
    """Logarithm of the certificate of every frame, for each side; of a comparison for each cost.

    A gap is a frame without certificate.
    """
    result = as_result(result)
    x, sides = time_axis(result), frames.sides(result)
    names = frames.part_names(result)
    sheet, panels = page(
        result, "Certificate: residual of the optimality conditions", len(sides), 1, height=0.35
    )
    compared = [str(cost) for cost in result["cost"].values] if "cost" in result.dims else [""]
    entries = {}
    for side, axes in zip(sides, panels[:, 0], strict=True):
        for number, cost in enumerate(compared):
            part = result.isel(cost=number) if cost else result
            style = line_style(number, len(compared), cost) if cost else {"color": SIDE_COLOR[side]}
            style = style if cost else style | {"linewidth": SIDE_WIDTH[side]}
            label = cost or names[side]
            residual = np.maximum(part["kkt_residual"].sel(side=side).values, SMALLEST)
            axes.plot(part["time"].values, np.log10(residual), label=label, **style)
            entries[label] = line(of=label, **style)
        limit = float(np.log10(TOLERANCE))
        axes.axhline(limit, color=NOTE_COLOR, linewidth=0.8, linestyle="--", label=LIMIT)
        axes.set_ylim(min(axes.get_ylim()[0], limit) - 0.5, max(axes.get_ylim()[1], limit) + 0.5)
        heading(axes, names[side])
        x.apply(axes, labeled=side == sides[-1], with_label=False)
    sheet.label_axes(x.label, "log10 of the certificate [1]")
    entries[LIMIT] = line(NOTE_COLOR, 0.8, linestyle="--", of=LIMIT)
    sheet.add_legend(entries)
    return sheet
