"""Forces in body weights: contact forces in the joints and the reaction of the ground."""

from __future__ import annotations

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from musclesolve.plotting.page.abscissa import abscissa
from musclesolve.plotting.page.curves import Validity, draw, mark_stance
from musclesolve.plotting.page.legend import legend
from musclesolve.plotting.page.style import TEXT, heading, page
from musclesolve.results.dataset import frame_validity as frames
from musclesolve.results.dataset.subject_variables import body_weight
from musclesolve.results.dataset.walking_axes import along_heading


def contact_forces(result: xr.Dataset) -> Figure:
    """Size of the joint reaction at hip, knee and ankle, with muscle forces and without, in body weights."""
    x = abscissa(result)
    sides = frames.sides(result)
    validity = {side: Validity.of(result, side) for side in sides}
    weight = body_weight(result)
    figure, panels = page(result, "Joint contact force, magnitude", 3, 2, height=0.75, sharey="row")
    for row, joint in zip(panels, ("hip", "knee", "ankle"), strict=True):
        for side in sides:
            contact, net = (
                np.linalg.norm(
                    result[name].sel(joint=f"{joint}_{side}").transpose("time", "axis").values, axis=-1
                )
                for name in ("joint_reaction", "joint_reaction_net")
            )
            draw(row[0], x, side, contact / weight, validity[side])
            draw(row[1], x, side, net / weight, validity[side])
            for axes in row:
                mark_stance(axes, x, side, frames.stance(result, side))
        heading(row[0], f"{joint}: contact force, muscles included")
        heading(row[1], f"{joint}: net reaction, muscles left out")
        row[0].set_ylabel("[body weights]", fontsize=TEXT)
        row[0].set_ylim(bottom=0.0)
        for axes in row:
            x.apply(axes, labelled=joint == "ankle")
    legend(figure, x, sides, validity=validity, stance=True)
    return figure


def ground_reaction(result: xr.Dataset) -> Figure:
    """Vertical and fore-aft reaction of the ground on each foot, in body weights."""
    x = abscissa(result)
    sides = [str(side) for side in result["side"].values]
    weight = body_weight(result)
    figure, panels = page(result, "Ground reaction", 2, 1, height=0.5)
    rows = (("z", "vertical (+ up)"), ("x", "fore-aft (+ forward)"))
    reaction = along_heading(result, result["ground_reaction_force"])
    for axes, (axis, name) in zip(panels.flat, rows, strict=True):
        for side in sides:
            force = reaction.sel(side=side, axis=axis).values
            draw(axes, x, side, force / weight)
            mark_stance(axes, x, side, frames.stance(result, side))
        heading(axes, name)
        axes.set_ylabel("[body weights]", fontsize=TEXT)
        axes.axhline(0.0, color="black", linewidth=0.4)
        x.apply(axes, labelled=axis == "x")
    legend(figure, x, sides, stance=True)
    return figure
