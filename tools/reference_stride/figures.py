"""Pictures of the stride over the published curves: angles, ground reaction, center of pressure, moments, sticks."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from checks import Judged, pressure
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from targets import (
    TRANSLATIONS,
    WITHIN,
    Band,
    aimed_angles,
    aimed_ground,
    bands,
    normative,
    spreads,
)

from muscle_db.model import LEG_DOFS

CHAINS = {
    "tab:blue": ("neck_base", "back", "hip_r", "knee_r", "ankle_r", "heel_r", "toe_r", "ankle_r"),
    "tab:red": ("hip_l", "knee_l", "ankle_l", "heel_l", "toe_l", "ankle_l"),
    "tab:green": ("shoulder_r", "elbow_r", "wrist_r"),
}
BAND = {"color": "0.85", "linewidth": 0.0}


def draw(judged: Judged, folder: Path) -> None:
    """Write angles.png, forces.png, moments.png, sole.png, figure.png and overview.png into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    painters = {
        "angles": _angles,
        "forces": _forces,
        "moments": _moments,
        "sole": _sole,
        "figure": _sticks,
        "overview": _overview,  # docs/reference_stride.png
    }
    for name, painter in painters.items():
        figure = painter(judged)
        figure.tight_layout()
        figure.savefig(folder / f"{name}.png", dpi=70)
        plt.close(figure)


def _angles(judged: Judged) -> plt.Figure:
    plan, phase = judged.plan, judged.phase
    figure, axes = plt.subplots(4, 5, figsize=(20, 13))
    curves, deviations = normative(), spreads()
    tilt = float(plan.aims["gait"]["standing_tilt_deg"])
    for axis, (name, entry) in zip(axes.flat, plan.series.items(), strict=False):
        factor = 1000.0 if name in TRANSLATIONS else np.rad2deg(1.0)
        value = plan.layout.basis(name, phase) @ judged.stride.coefficients[plan.slices[name]]
        if name not in TRANSLATIONS:
            aim = factor * aimed_angles(name, entry, curves, phase, tilt)
            if entry.get("follows") in deviations:
                reach = WITHIN * deviations[entry["follows"]](phase)
                axis.fill_between(100 * phase, aim - reach, aim + reach, **BAND)
            axis.plot(100 * phase, aim, "k--", linewidth=0.8)
        axis.plot(100 * phase, factor * value)
        axis.set_title(f"{name} [{'mm' if name in TRANSLATIONS else 'deg'}]")
    figure.suptitle("stride; dashed and gray: Schwartz 2008, free speed, mean and two standard deviations")
    return figure


def _forces(judged: Judged) -> plt.Figure:
    person, phase = judged.person, judged.phase
    figure, axes = plt.subplots(2, 2, figsize=(14, 10))
    aim = aimed_ground(judged.plan, phase)
    axes[0, 0].plot(100 * phase, judged.wrench.force / person.weight, label=("forward", "left", "up"))
    axes[0, 0].plot(100 * phase, aim.force[:, [0, 2]], "k--", linewidth=0.8, label=("Winter 1991", None))
    axes[0, 0].set_title("force on the right foot [body weight]")
    ahead, left, turning, loaded = pressure(judged)
    for value, label in ((ahead, "ahead of the ball"), (left, "left of the midline")):
        axes[0, 1].plot(100 * phase[loaded], 1000 * value[loaded], label=label)
    axes[0, 1].plot(100 * phase[loaded], 1000 * aim.ahead[loaded], "k--", linewidth=0.6)
    axes[0, 1].set_title("center of pressure [mm]")
    axes[1, 0].plot(100 * phase[loaded], turning[loaded], label="free moment [N m]")
    for name in ("heel_r", "toe_r"):
        height = 1000 * judged.motion.q[:, person.slot(name), 2]
        axes[1, 1].plot(100 * phase, height, label=f"{name} height [mm]")
    axes[1, 1].set_ylim(-10, 150)
    _dress(axes.flat)
    return figure


def _moments(judged: Judged) -> plt.Figure:
    published = bands()
    figure, axes = plt.subplots(2, 4, figsize=(20, 9))
    for axis, name in zip(axes.flat, LEG_DOFS, strict=False):
        if name in published:
            _band(axis, judged, published[name])
        moment = judged.moments[:, judged.stride.dof_names.index(f"{name}_r")] / judged.person.subject.mass
        axis.plot(100 * judged.phase, moment, label="stride")
        axis.set_title(f"{name} moment [N m/kg]")
    _dress(list(axes.flat)[: len(LEG_DOFS)])
    axes.flat[-1].text(
        0.0,
        0.5,
        "means: Winter 1991, natural cadence;\nhip adduction: Schwartz 2008, free\nstandard deviations: Schwartz 2008",
    )
    axes.flat[-1].axis("off")
    return figure


def _band(axis: Axes, judged: Judged, band: Band) -> None:
    axis.fill_between(
        100 * judged.phase, *band.limits(judged.phase), **BAND, label=f"mean, {WITHIN:g} standard deviations"
    )
    axis.plot(100 * judged.phase, band.mean(judged.phase), "k--", linewidth=0.8)


def _overview(judged: Judged) -> plt.Figure:
    """Draw the figure of the documentation: four moments over their bands, the ground reaction, the path of the
    pressure.
    """
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
    return figure


def _sole(judged: Judged) -> plt.Figure:
    """Path of the pressure in the outline of the foot on the ground, colored by the share of the stride."""
    figure, axis = plt.subplots(figsize=(5, 9))
    dots = _outline(axis, judged)
    figure.colorbar(dots, label="stride [%]")
    axis.set_title("right foot: center of pressure [mm]\nfrom the ball, right and ahead")
    return figure


def _outline(axis: Axes, judged: Judged) -> PathCollection:
    foot, (ahead, left, _, loaded) = judged.person.settings["foot"], pressure(judged)
    width, heel, tip = foot["half_width"], -judged.person.sole_length, foot["tip"]
    corners = 1000 * np.array([[-width, heel], [width, heel], [width, tip], [-width, tip], [-width, heel]])
    axis.plot(*corners.T, "k")
    axis.axhline(0.0, color="0.7", linewidth=0.8)
    axis.set_aspect("equal")
    return axis.scatter(-1000 * left[loaded], 1000 * ahead[loaded], c=100 * judged.phase[loaded], s=6)


def _sticks(judged: Judged) -> plt.Figure:
    figure, axis = plt.subplots(figsize=(18, 10))
    frames = zip(judged.motion.q, judged.wrench.force, judged.wrench.moment, strict=True)
    for q, force, moment in list(frames)[::26]:
        for color, chain in CHAINS.items():
            points = q[[judged.person.slot(name) for name in chain]]
            axis.plot(points[:, 0], points[:, 2], color=color, linewidth=0.9)
        if force[2] > 20.0:
            start = -moment[1] / force[2]
            tip = [start, start + force[0] / 2000.0]
            axis.plot(tip, [0.0, force[2] / 2000.0], color="tab:purple", linewidth=0.9)
    axis.set_aspect("equal")
    return figure


def _dress(axes: list[Axes]) -> None:
    for axis in axes:
        axis.legend()
        axis.grid(visible=True)
        axis.set_xlabel("stride [%]")
