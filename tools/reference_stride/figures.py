"""The picture of docs/reference_stride.md: the stride over the published curves."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from checks import Judged, pressure
from matplotlib.axes import Axes
from targets import WITHIN, Band, aimed_ground, bands

BAND = {"color": "0.85", "linewidth": 0.0}


def draw(judged: Judged, file: Path) -> None:
    """Draw four moments over their bands, the ground reaction, and the path of the pressure."""
    figure, axes = plt.subplots(2, 3, figsize=(11, 6))
    percent, mass = 100 * judged.phase, judged.person.subject.mass
    for axis, (name, band) in zip(axes.flat, bands().items(), strict=False):
        _band(axis, judged, band)
        axis.plot(percent, judged.moments[:, judged.stride.dof_names.index(f"{name}_r")] / mass)
        axis.set_title(f"{name} moment [N m/kg]", fontsize=9)
    axes[0, 0].legend(fontsize=7)
    aim = aimed_ground(judged.plan, judged.phase).force[:, [0, 2]]
    axes[1, 1].plot(percent, aim, "k--", linewidth=0.8)
    axes[1, 1].plot(percent, judged.wrench.force[:, [0, 2]] / judged.person.weight)
    axes[1, 1].set_title("ground reaction, forward and up [body weight]", fontsize=9)
    _outline(axes[1, 2], judged)
    axes[1, 2].set_title("center of pressure in the right foot [mm]", fontsize=9)
    for axis in axes.flat[:5]:
        axis.set_xlabel("stride [%]", fontsize=8)
    figure.tight_layout()
    figure.savefig(file, dpi=70)
    plt.close(figure)


def _band(axis: Axes, judged: Judged, band: Band) -> None:
    axis.fill_between(
        100 * judged.phase, *band.limits(judged.phase), **BAND, label=f"mean, {WITHIN:g} standard deviations"
    )
    axis.plot(100 * judged.phase, band.mean(judged.phase), "k--", linewidth=0.8)


def _outline(axis: Axes, judged: Judged) -> None:
    foot, (ahead, left, _, loaded) = judged.person.settings["foot"], pressure(judged)
    width, heel, tip = foot["half_width"], -judged.person.sole_length, foot["tip"]
    corners = 1000 * np.array([[-width, heel], [width, heel], [width, tip], [-width, tip], [-width, heel]])
    axis.plot(*corners.T, "k")
    axis.axhline(0.0, color="0.7", linewidth=0.8)
    axis.set_aspect("equal")
    axis.scatter(-1000 * left[loaded], 1000 * ahead[loaded], c=100 * judged.phase[loaded], s=6)
