"""Figures 5.31 to 5.46: sensitivity of joint moments to masses, points, forces and where these act."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes

from benchmarks.thesis_figures.drawing import COLORS, Finding, key, over_cycle, panels, plain
from benchmarks.thesis_figures.perturbation import (
    CONSISTENT,
    Input,
    application_of,
    force_of,
    mass_of,
    mechanics_by,
    on_branch,
    point_of,
    sensitivity,
)
from benchmarks.thesis_figures.study import SIDE, Study
from musclesolve._util.arrays import Array
from musclesolve._util.bundled_toml import bundled_toml
from musclesolve.laboratory.plotting.page.sheet import heading

HUMAN = ("musclesolve.dynamics.model.definitions", "inverse_human.toml")
LABEL = {"nearest": "Nearest pose", "joint_angles": "Driven by joint angles"}
MOST = 6
"""So many joints are drawn, those with the largest sensitivity."""
STYLE = {"nearest": "-", "joint_angles": "--"}
MASS, LENGTH, SMALL, FORCE = (0.01, 1.0), (0.01, 0.1), (0.01, 0.001), (1.0, 9.8)
HEAD, GROUND = "coordinate of point 23 (top of the head)", "component of the ground reaction force"
PRESSURE, KNEE = "coordinate of the application point", "coordinate of the knee point"
KNEE_POINT, KNEE_FLEXION, FOOT = f"knee_{SIDE}", f"knee_flexion_{SIDE}", f"foot_{SIDE}"


class Perturbed(NamedTuple):
    """A perturbed input, its two perturbations, its name, and the largest magnitude in the text, with its joint."""

    source: Input
    steps: tuple[float, float]
    title: str
    largest: float | None = None
    joint: str | None = None


SOURCES = {
    "5.31": Perturbed(mass_of("head", "head"), MASS, "the mass of the head", 2.0),
    "5.32": Perturbed(mass_of(f"hand_{SIDE}", f"hand_{SIDE}"), MASS, "the mass of the right hand", 5.0),
    "5.33": Perturbed(point_of("head_top", 0, "head"), LENGTH, f"the X {HEAD}", 22.0),
    "5.34": Perturbed(point_of("head_top", 1, "head"), LENGTH, f"the Y {HEAD}", 18.0),
    "5.35": Perturbed(point_of("head_top", 2, "head"), LENGTH, f"the Z {HEAD}", 3.0),
    "5.36": Perturbed(force_of(0), FORCE, f"the X {GROUND}", 0.8),
    "5.37": Perturbed(force_of(1), FORCE, f"the Y {GROUND}", 0.8),
    "5.38": Perturbed(force_of(2), FORCE, f"the Z {GROUND}", 0.7),
    "5.39": Perturbed(application_of(0), LENGTH, f"the X {PRESSURE}", 750.0),
    "5.40": Perturbed(application_of(1), LENGTH, f"the Y {PRESSURE}", 1100.0),
    "5.41": Perturbed(application_of(2), LENGTH, f"the Z {PRESSURE}", 140.0),
    "5.42": Perturbed(point_of(KNEE_POINT, 0, FOOT), SMALL, f"the X {KNEE}", 400.0, KNEE_FLEXION),
    "5.43": Perturbed(point_of(KNEE_POINT, 1, FOOT), SMALL, f"the Y {KNEE}", 1500.0, KNEE_FLEXION),
    "5.44": Perturbed(point_of(KNEE_POINT, 2, FOOT), SMALL, f"the Z {KNEE}", 200.0, KNEE_FLEXION),
    "5.45": Perturbed(mass_of(f"thigh_{SIDE}", f"thigh_{SIDE}"), MASS, "the mass of the upper leg"),
    "5.46": Perturbed(mass_of(f"shank_{SIDE}", f"shank_{SIDE}"), MASS, "the mass of the lower leg", 4.0),
}
"""What is perturbed, by number of the figure."""


def sensitivity_figure(study: Study, number: str) -> Finding:
    """One of the figures: a panel for each perturbation, a curve for each joint that responds most."""
    source, steps, title, *_ = SOURCES[number]
    if source.point is not None and source.point not in mechanics_by(study, CONSISTENT[0]).measured.points:
        return Finding(
            None, f"Not drawn: no marker of this recording shows {source.point.replace('_', ' ')}."
        )
    found = {
        (method, step): sensitivity(study, source, method, step) for method in CONSISTENT for step in steps
    }
    first = np.max([np.abs(found[method, steps[0]]).max(axis=0) for method in CONSISTENT], axis=0)
    shown = [k for k in np.argsort(-first)[:MOST].tolist() if first[k] > 1e-3 * first.max()]
    figure, axes = panels(study, f"Sensitivity to {title}", 1, 2, 0.38, sharey=True)
    dofs = mechanics_by(study, "nearest").model.topology.dofs
    for panel, step in zip(axes[0], steps, strict=True):
        for method in CONSISTENT:
            for color, k in zip(COLORS, shown, strict=False):
                label = _label(dofs[k].name) if method == "nearest" else None
                values = found[method, step][:, k]
                panel.plot(study.percent, values, STYLE[method], color=color, linewidth=1.1, label=label)
        heading(
            panel,
            f"perturbed by {step:g} {source.unit}",
            "full: nearest pose; dashed: driven by joint angles",
        )
        over_cycle(panel, study, f"[N m/{source.unit}]")
    _key_above(axes[0, 0])
    return Finding(figure, _found(study, number, source, found))


def _label(dof: str) -> str:
    """Number of a degree of freedom in the source, and its name."""
    number = next(each["number"] for each in bundled_toml(*HUMAN)["dof"] if each["name"] == dof)
    return f"{number:02d} {dof.replace('_', ' ')}"


def _key_above(axes: Axes) -> None:
    low, high = axes.get_ylim()
    axes.set_ylim(low, high + 0.42 * (high - low))
    key(axes, loc="upper left", ncols=2)


def _found(study: Study, number: str, source: Input, found: dict[tuple[str, float], Array]) -> str:
    names = mechanics_by(study, "nearest").model.topology.dof_names
    branch, parts = on_branch(study, source), []
    _, steps, _, largest, own = SOURCES[number]
    for method in CONSISTENT:
        one, other = (values for (used, _), values in found.items() if used == method)
        size, gap = np.abs(one).max(axis=0), np.abs(one - other).max() / np.abs(one).max()
        beyond = size[~branch].max() / size.max()
        at_joint = f", {plain(size[names.index(own)])} at the {own.replace('_', ' ')}" if own else ""
        parts.append(
            f"{LABEL[method]}: largest {plain(size.max())} N m/{source.unit} "
            f"({names[int(size.argmax())].replace('_', ' ')}){at_joint}, of joints outside of the branch "
            f"{'none' if beyond < 1e-6 else f'{plain(100 * beyond)} % of it'}; "
            f"both perturbations agree to {_share(gap)}"
        )
    text = ". ".join(parts) + "."
    if largest is None:
        return text
    ours = [float(np.abs(found[method, steps[0]]).max()) for method in CONSISTENT]
    times = dict.fromkeys(f"{largest / each:.2g}" for each in ours)
    return f"{text} The source's {largest:g} is {' and '.join(times)} times ours."


def _share(value: float) -> str:
    return "round-off" if value < 1e-7 else f"{plain(100 * value)} %"
