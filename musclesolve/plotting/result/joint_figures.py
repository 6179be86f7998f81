"""Figures of the joints: angles, moments, and magnitudes of contact forces."""

from __future__ import annotations

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from musclesolve.plotting.norms.norm_bands import NormBands
from musclesolve.plotting.page.curves import Legs
from musclesolve.plotting.page.panels import dof_rows, joint_rows
from musclesolve.plotting.page.style import heading, note, page
from musclesolve.results.dataset import frame_validity as frames
from musclesolve.results.dataset.result_quantities import (
    OPPOSITE,
    body_weight,
    magnitude,
)
from musclesolve.results.facts import Facts


def joint_angles_and_moments(result: xr.Dataset) -> Figure:
    """Angle [deg] and internal moment per body mass [N m/kg] of the seven degrees of freedom of each leg."""
    legs = Legs.of(result, analysed=False)
    mass = float(result.attrs["subject_mass_kg"])
    dofs = [dof for dof in OPPOSITE if all(f"{dof}_{side}" in result["dof"].values for side in legs.sides)]
    figure, panels = page(result, "Joint angles and internal joint moments", len(dofs), 2, labels=True)
    norms = NormBands.of(result, legs.x)
    for row, dof in dof_rows(panels, legs.x, dofs, "[N m/kg]"):
        norms.draw(row[0], "joint_angle", dof)
        norms.draw(row[1], "joint_moment", dof)
        for side in legs.sides:
            angle, moment = (
                result[f"joint_{name}"].sel(dof=f"{dof}_{side}").values for name in ("angle", "moment")
            )
            legs.draw(row[0], side, np.degrees(angle), measured=True)
            legs.draw(row[1], side, moment / mass)
            for axes in row:
                legs.mark_stance(axes, side)
    legs.legend(figure, stance=True)
    norms.explain(figure)
    return figure


def contact_forces(result: xr.Dataset) -> Figure:
    """Magnitude of the joint reaction at hip, knee and ankle, with muscle forces and without, in body weights."""
    legs, weight, peaks = Legs.of(result), body_weight(result), Facts(result).contact_by_joint
    figure, panels = page(result, "Joint contact force, magnitude", 3, 2, height=0.75, sharey="row")
    for row, joint in joint_rows(panels, legs.x):
        for side in legs.sides:
            for axes, name in zip(row, ("joint_reaction", "joint_reaction_net"), strict=True):
                force = magnitude(result[name]).sel(joint=f"{joint}_{side}")
                legs.draw(axes, side, force.values / weight)
                legs.mark_stance(axes, side)
        heading(row[0], f"{joint}: contact force, muscles included")
        of_legs = peaks.get(joint, {}).items()
        note(
            row[0],
            ", ".join(f"peak {frames.SIDE_NAMES[side]} {peak.body_weights:.2f}" for side, peak in of_legs),
        )
        heading(row[1], f"{joint}: net reaction, muscles left out")
    legs.legend(figure, stance=True)
    return figure
