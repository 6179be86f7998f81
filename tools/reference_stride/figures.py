"""Pictures of the stride for whoever changes it: angles, ground reaction, feet, moments, stick figures."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from checks import Judged, pressure
from matplotlib.axes import Axes
from targets import TRANSLATIONS, aimed_angles, aimed_ground, bands, normative, periodic_curves

from musclesolve.muscles import LEG_DOFS

CHAINS = {
    "tab:blue": ("neck_base", "back", "hip_r", "knee_r", "ankle_r", "heel_r", "toe_r", "ankle_r"),
    "tab:red": ("hip_l", "knee_l", "ankle_l", "heel_l", "toe_l", "ankle_l"),
    "tab:green": ("shoulder_r", "elbow_r", "wrist_r"),
}


def draw(judged: Judged, folder: Path) -> None:
    """Write angles.png, forces.png, moments.png and figure.png into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, painter in (
        ("angles", _angles),
        ("forces", _forces),
        ("moments", _moments),
        ("figure", _sticks),
    ):
        figure = painter(judged)
        figure.tight_layout()
        figure.savefig(folder / f"{name}.png", dpi=80)
        plt.close(figure)


def _angles(judged: Judged) -> plt.Figure:
    plan, phase = judged.plan, judged.phase
    figure, axes = plt.subplots(4, 5, figsize=(20, 13))
    curves, tilt = normative(), float(plan.aims["gait"]["standing_tilt_deg"])
    for axis, (name, entry) in zip(axes.flat, plan.series.items(), strict=False):
        factor = 1000.0 if name in TRANSLATIONS else np.rad2deg(1.0)
        value = plan.layout.basis(name, phase) @ judged.stride.coefficients[plan.slices[name]]
        axis.plot(100 * phase, factor * value)
        if name not in TRANSLATIONS:
            axis.plot(100 * phase, factor * aimed_angles(name, entry, curves, phase, tilt), "--")
        axis.set_title(f"{name} [{'mm' if name in TRANSLATIONS else 'deg'}]")
    return figure


def _forces(judged: Judged) -> plt.Figure:
    person, phase = judged.person, judged.phase
    figure, axes = plt.subplots(2, 2, figsize=(14, 10))
    aim = aimed_ground(judged.plan, phase)
    axes[0, 0].plot(100 * phase, judged.wrench.force / person.weight, label=("forward", "left", "up"))
    axes[0, 0].plot(100 * phase, aim.force, "k--", linewidth=0.6)
    axes[0, 0].set_title("force on the right foot [body weight]")
    ahead, left, turning, loaded = pressure(judged)
    for value, label in ((ahead, "ahead of the ball"), (left, "left of the midline")):
        axes[0, 1].plot(100 * phase[loaded], 1000 * value[loaded], label=label)
    axes[0, 1].plot(100 * phase[loaded], 1000 * aim.ahead[loaded], "k--", linewidth=0.6)
    axes[0, 1].set_title("centre of pressure [mm]")
    axes[1, 0].plot(100 * phase[loaded], turning[loaded], label="free moment [N m]")
    for name in ("heel_r", "toe_r"):
        axes[1, 1].plot(
            100 * phase, 1000 * judged.motion.q[:, person.slot(name), 2], label=f"{name} height [mm]"
        )
    axes[1, 1].set_ylim(-10, 150)
    _dress(axes.flat)
    return figure


def _moments(judged: Judged) -> plt.Figure:
    person, phase = judged.person, judged.phase
    mass, measured = person.subject.mass, periodic_curves("moments.csv")
    figure, axes = plt.subplots(2, 4, figsize=(20, 9))
    for axis, name in zip(axes.flat, LEG_DOFS, strict=False):
        axis.plot(100 * phase, judged.moments[:, person.model.dof(f"{name}_r")] / mass, label="stride")
        if name in measured:
            axis.plot(100 * phase, measured[name](phase), "k--", label="measured table")
        for band in (band for band in bands() if band.quantity == name):
            reach = [[band.value - band.low], [band.high - band.value]]
            axis.errorbar(100 * band.phase, band.value, reach, fmt="o", color="tab:gray")
        axis.set_title(f"{name} moment [N m/kg]")
    _dress(list(axes.flat)[: len(LEG_DOFS)])
    return figure


def _sticks(judged: Judged) -> plt.Figure:
    figure, axis = plt.subplots(figsize=(18, 10))
    for q, force, moment in list(
        zip(judged.motion.q, judged.wrench.force, judged.wrench.moment, strict=True)
    )[::26]:
        for color, chain in CHAINS.items():
            points = q[[judged.person.slot(name) for name in chain]]
            axis.plot(points[:, 0], points[:, 2], color=color, linewidth=0.9)
        if force[2] > 20.0:
            start = -moment[1] / force[2]
            axis.plot(
                [start, start + force[0] / 2000.0],
                [0.0, force[2] / 2000.0],
                color="tab:purple",
                linewidth=0.9,
            )
    axis.set_aspect("equal")
    return figure


def _dress(axes: list[Axes]) -> None:
    for axis in axes:
        axis.legend()
        axis.grid(visible=True)
        axis.set_xlabel("stride [%]")
