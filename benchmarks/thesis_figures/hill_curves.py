"""Figures 6.12 and 6.13: force-length, force-velocity and passive force (6.10-6.12)."""

from __future__ import annotations

import numpy as np

from benchmarks.thesis_figures.drawing import COLORS, Finding, key, panels
from benchmarks.thesis_figures.study import Study
from musclesolve.laboratory.plotting.page.page_style import TEXT
from musclesolve.laboratory.plotting.page.sheet import heading
from musclesolve.muscles.curves.curve_family import Silva2003

PRINTED, OTHER = Silva2003(), Silva2003("quartic_minus_quadratic")
LENGTH = np.linspace(0.2, 1.8, 641)
VELOCITY = np.linspace(-1.4, 0.6, 801)
FORCE = "force / maximum isometric force"
OF_LENGTH, OF_VELOCITY = "length / resting length", "rate of length change / maximum contractile velocity"


def active_curves(study: Study) -> Finding:
    """Figure 6.12: both curves at full activation."""
    figure, axes = panels(None, "Force-length and force-velocity relationships, activation 1", 1, 2, 0.36)
    left, right = axes[0]
    left.plot(LENGTH, PRINTED.active(LENGTH), color=COLORS[0], label="(6.10) as printed")
    left.plot(LENGTH, OTHER.active(LENGTH), color=COLORS[1], linestyle=":", label="other reading of (6.10)")
    right.plot(VELOCITY, PRINTED.velocity(VELOCITY), color=COLORS[0], label="(6.11)")
    for panel, name, across in (
        (left, "(a) force-length", OF_LENGTH),
        (right, "(b) force-velocity", OF_VELOCITY),
    ):
        heading(panel, name)
        panel.set(xlabel=across, ylabel=FORCE)
        panel.set_ylim(-0.05, 1.75)
        key(panel, loc="upper left")
    right.locator_params(axis="x", nbins=5)
    right.plot([-1.0, 0.0, 0.2], PRINTED.velocity([-1.0, 0.0, 0.2]), "o", color=COLORS[0], markersize=3.5)
    _sizes(axes)
    at = {length: float(PRINTED.active(length)) for length in (0.5, 0.95, 1.0, 1.5)}
    works = LENGTH[PRINTED.active(LENGTH) > 0.05]
    fastest, rest, slow = (float(PRINTED.velocity(speed)) for speed in (-1.0, 0.0, 0.2))
    return Finding(
        figure,
        f"Force {at[0.95]:.3f} at 0.95, {at[1.0]:.4f} at 1.00, {at[0.5]:.3f} at 0.5 and {at[1.5]:.3f} at 1.5 resting "
        f"lengths; above 5 % from {works[0]:.2f} to {works[-1]:.2f}. Of velocity: {fastest:.0f} at the maximum "
        f"contractile velocity, {rest:.0f} at rest, below it shortening, up to {slow:.3f} lengthening.",
    )


def passive_curve(study: Study) -> Finding:
    """Figure 6.13: the passive element."""
    figure, axes = panels(None, "Force of the passive element", 1, 1, 0.36)
    panel = axes[0, 0]
    panel.plot(LENGTH, PRINTED.passive(LENGTH), color=COLORS[0], label="(6.12)")
    panel.set(xlabel=OF_LENGTH, ylabel=FORCE)
    key(panel, loc="upper left")
    _sizes(axes)
    found = {length: float(PRINTED.passive(length)) for length in (1.0, 1.25, 1.5, 1.63, 1.7)}
    return Finding(
        figure,
        f"{found[1.0]:.0f} at and below the resting length, {found[1.25]:.3f} at 1.25, {found[1.5]:.3f} at 1.5, "
        f"{found[1.63]:.4f} at 1.63, {found[1.7]:.0f} beyond; no other argument.",
    )


def _sizes(axes: np.ndarray) -> None:
    for panel in axes.flat:
        panel.xaxis.label.set_size(TEXT)
        panel.yaxis.label.set_size(TEXT)
