"""Figure 6.15: stick figure of the model with the muscles of the right leg."""

from __future__ import annotations

from itertools import combinations

import numpy as np

import muscle_db
from benchmarks.thesis_figures.drawing import COLORS, Finding, panels
from benchmarks.thesis_figures.muscle_names import groups_of_source
from benchmarks.thesis_figures.study import SIDE, Study
from musclesolve._util.arrays import Array
from musclesolve.laboratory.plotting.page.curves import line
from musclesolve.laboratory.plotting.page.sheet import Sheet, heading
from musclesolve.muscles import scale_muscles

OTHER = "#7F7F7F"
GROUP_COLORS = (*COLORS[:6], "#8B4513", "#C00000")
OBLIQUE = np.array([np.cos(np.radians(55.0)), -np.sin(np.radians(55.0)), 0.0])
UP = np.array([0.0, 0.0, 1.0])
VIEWS = {
    "from the right": (np.array([1.0, 0.0, 0.0]), UP),
    "from the front": (np.array([0.0, 1.0, 0.0]), UP),
    "from the right and behind": (OBLIQUE, UP),
}
"""Direction to the right of the picture, and upward."""


def paths_in_space(study: Study, frame: int) -> tuple[list[tuple[Array, Array]], dict[str, Array]]:
    """Bones as pairs of points, and the points (k, 3) [m] of each muscle path in order, in one frame."""
    recorded = study.recorded
    model, motion = recorded.model, recorded.motion.frames(slice(frame, frame + 1))
    placed = scale_muscles(model, muscle_db.load("silva_2003"), SIDE, study.trial.settings.muscles.strength)
    paths = placed.paths
    on = paths.on_path(motion.coordinates)[0]
    points = paths.evaluate(motion.q, motion.coordinates).nodes.position[0][: paths.layout.points]
    own = {
        name.removesuffix(f"_{SIDE}"): points[(paths.layout.point_muscle == number) & on]
        for number, name in enumerate(placed.names)
    }
    bones = [
        (motion.q[0, model.slot(one)], motion.q[0, model.slot(other)])
        for body in model.topology.bodies
        for one, other in combinations(body.points, 2)
    ]
    return bones, own


def stick_figure(study: Study) -> Finding:
    """Figure 6.15: three views at right heel strike."""
    bones, paths = paths_in_space(study, int(study.cycle.index[0]))
    hips = study.result["pelvis_position"].values[int(study.cycle.index[0])]
    figure, axes = panels(
        study, "Model and muscles of the right leg at right heel strike", 1, 3, 0.52, labels=False
    )
    for panel, (name, directions) in zip(axes[0], VIEWS.items(), strict=True):
        view = np.stack(directions, axis=1)
        base = hips * (1.0 - UP)
        for bone in bones:
            panel.plot(
                *((np.stack(bone) - base) @ view).T, color="black", linewidth=1.1, solid_capstyle="round"
            )
        panel.plot(
            *((np.concatenate([np.stack(bone) for bone in bones]) - base) @ view).T,
            "o",
            color="black",
            markersize=2.0,
        )
        for muscle, points in paths.items():
            panel.plot(*((points - base) @ view).T, color=_color(muscle), linewidth=0.7)
        panel.set(xlim=(-0.5, 0.5), ylim=(-0.05, 1.75), aspect="equal")
        panel.set_xlabel("[m]")
        heading(panel, name)
    axes[0, 0].set_ylabel("height [m]")
    _legend(figure)
    lengths = {name: np.linalg.norm(np.diff(points, axis=0), axis=1).sum() for name, points in paths.items()}
    result = study.result["musculotendon_length"].values[int(study.cycle.index[0])]
    off = np.abs(np.array(list(lengths.values())) - result).max()
    longest, shortest = max(lengths, key=lengths.__getitem__), min(lengths, key=lengths.__getitem__)
    straight = sum(len(points) == 2 for points in paths.values())
    return Finding(
        figure,
        f"{len(paths)} muscles through {sum(map(len, paths.values()))} points, {straight} of them straight from origin "
        f"to insertion; longest {longest.replace('_', ' ')} {lengths[longest]:.3f} m, shortest "
        f"{shortest.replace('_', ' ')} {lengths[shortest]:.3f} m; the lines are as long as the paths of the result "
        f"(to {off:.0e} m).",
    )


def _color(muscle: str) -> str:
    for color, group in zip(GROUP_COLORS, groups_of_source()["group"].values(), strict=False):
        if muscle.startswith(tuple(group["muscles"])):
            return color
    return OTHER


def _legend(sheet: Sheet) -> None:
    groups = groups_of_source()["group"].values()
    names = [group["panel"].partition(" ")[2] for group in groups]
    colors = [_color(group["muscles"][0]) for group in groups]
    sheet.add_legend(
        {name: line(color) for name, color in zip([*names, "others"], [*colors, OTHER], strict=True)}
    )
