"""Figures 5.28 to 5.30: sagittal moments by the multibody equations and by the classical ones, on each other."""

from __future__ import annotations

from functools import cache

import numpy as np

from benchmarks.thesis_figures.drawing import COLORS, Finding, key, over_cycle, panels
from benchmarks.thesis_figures.study import SAGITTAL, Study
from musclesolve._util.arrays import Array
from musclesolve.dynamics import joint_moments_by_route
from musclesolve.laboratory.plotting.page.sheet import heading

ROUTES = {
    "multipliers": "multibody: Lagrange multipliers",
    "Newton-Euler": "classical: Newton and Euler, segment by segment",
}


@cache
def by_route(study: Study) -> dict[str, Array]:
    """Moments about all joint axes over the cycle, (K, joints) [N m] by route."""
    recorded = study.recorded
    found = joint_moments_by_route(recorded.model, recorded.motion, recorded.wrenches)
    return {route: study.of_cycle(found[route]) for route in ROUTES}


def overlaid(study: Study, joint: str) -> Finding:
    """Figure 5.28 (ankle), 5.29 (knee) or 5.30 (hip)."""
    column = study.recorded.model.dof(SAGITTAL[joint])
    one, other = (by_route(study)[route][:, column] for route in ROUTES)
    figure, axes = panels(study, f"{joint.capitalize()}: sagittal moment by two methods", 1, 1, 0.38)
    panel = axes[0, 0]
    panel.plot(study.percent, one, color=COLORS[5], linewidth=4.0, label=ROUTES["multipliers"])
    panel.plot(study.percent, other, "--", color="black", linewidth=1.2, label=ROUTES["Newton-Euler"])
    heading(panel, f"{SAGITTAL[joint][:-2].replace('_', ' ')} positive")
    over_cycle(panel, study, "[N m]")
    key(panel)
    apart = float(np.abs(one - other).max() / np.abs(one).max())
    return Finding(
        figure,
        f"{one.min():.0f} to {one.max():.0f} N m; the two are {apart:.0e} of the largest moment apart.",
    )
