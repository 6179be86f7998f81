"""Joint angles and joint moments of the legs."""

from __future__ import annotations

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from musclesolve.plotting.page.abscissa import abscissa
from musclesolve.plotting.page.curves import Validity, draw, mark_stance
from musclesolve.plotting.page.legend import legend
from musclesolve.plotting.page.style import TEXT, heading, page
from musclesolve.results.dataset import frame_validity as frames
from musclesolve.results.dataset.direction_names import OPPOSITE


def joint_angles_and_moments(result: xr.Dataset) -> Figure:
    """Angle [deg] and internal moment per body mass [N m/kg] of the seven degrees of freedom of each leg."""
    x = abscissa(result)
    sides = [str(side) for side in result["side"].values]
    validity = {side: Validity.of(result, side) for side in sides}
    mass = float(result.attrs["subject_mass_kg"])
    present = [dof for dof in OPPOSITE if all(f"{dof}_{side}" in result["dof"].values for side in sides)]
    figure, panels = page(result, "Joint angles and internal joint moments", len(present), 2, labels=True)
    for row, dof in zip(panels, present, strict=True):
        for side in sides:
            angle = result["joint_angle"].sel(dof=f"{dof}_{side}").values
            moment = result["joint_moment"].sel(dof=f"{dof}_{side}").values
            draw(row[0], x, side, np.degrees(angle))
            draw(row[1], x, side, moment / mass, validity[side])
            for axes in row:
                mark_stance(axes, x, side, frames.stance(result, side))
        heading(row[0], f"{dof.replace('_', ' ')} (+)   {OPPOSITE[dof]} (-)")
        heading(row[1], f"{dof.replace('_', ' ')} moment (+)   {OPPOSITE[dof]} moment (-)")
        row[0].set_ylabel("[deg]", fontsize=TEXT)
        row[1].set_ylabel("[N m/kg]", fontsize=TEXT)
        for axes in row:
            axes.axhline(0.0, color="black", linewidth=0.4)
            x.apply(axes, labelled=dof == present[-1])
    legend(figure, x, sides, validity=validity, stance=True)
    return figure
