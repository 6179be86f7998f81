"""Pictures of simulated impacts: the surfaces of all bodies in a row of moments, and curves over time.

A body is drawn as the outlines of its contact surfaces, in the manner of the source's figures: the outline of a
surface seen along a direction is the curve whose tangents lie where the surface reaches farthest (its support function,
`musclesolve.dynamics.contact.surfaces`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from benchmarks.chapter_4 import states_at, straps_of
from benchmarks.thesis_figures.drawing import COLORS, key, panels, png
from benchmarks.timing import console
from musclesolve._util.arrays import Array
from musclesolve.dynamics.contact.belt import Strap
from musclesolve.dynamics.contact.surfaces import Surface
from musclesolve.dynamics.forward.contact_simulation import ContactSimulation
from musclesolve.dynamics.kernel.arrays import BodyMotions
from musclesolve.plotting.page.page_style import NOTE_COLOR, SMALL, TEXT
from musclesolve.plotting.page.sheet import heading

VIEWS = {
    "side": np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]),
    "front": np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
    "top": np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]),
}
"""Directions to the right of the picture and upward: forward in "side" and "top", to his left in "front"."""
Window = tuple[tuple[float, float], tuple[float, float]]
AXES = ("forward", "left", "up")
ROW = 2.6
"""Height of a row [inch]."""
SEAT = {"seat_pan": 0.45, "seat_back": 0.6, "floor": 1.0}
"""How far a plane of a seat is drawn from its corner [m]; it is as wide as `SEAT_WIDTH`."""
SEAT_WIDTH = 0.5
AROUND = np.linspace(0.0, 2.0 * np.pi, 49)
DIRECTIONS = np.column_stack([np.cos(AROUND), np.sin(AROUND)])


def outline(surface: Surface, rotation: Array, place: Array, view: Array) -> Array:
    """Outline (K, 2) [m] of a surface on a body with a rotation (3, 3) and place (3,), seen along a view (2, 3)."""
    middle = view @ (rotation @ surface.center + place)
    lean = view @ rotation @ surface.axes * surface.semi_axes
    reach = DIRECTIONS @ lean
    dual = surface.order / (surface.order - 1.0)
    size = np.maximum((np.abs(reach) ** dual).sum(axis=1) ** (1.0 / dual), 1e-12)
    far = np.sign(reach) * (np.abs(reach) / size[:, None]) ** (dual - 1.0)
    return middle + far @ lean.T + surface.radius * DIRECTIONS


def sequence(
    run: ContactSimulation,
    times: Sequence[float],
    windows: Mapping[str, Window | None],
    *,
    straps: Sequence[Strap] = (),
    beside: str = "",
    title: str = "",
    about: str = "",
) -> Figure:
    """Moments of a simulation side by side, a row for each view.

    Args:
        run: the simulation.
        times: which moments [s].
        windows: view of `VIEWS` -> what is shown, from and to, to the right and upward [m]; None: all that moves.
        straps: belts of the simulation.
        beside: a model in whose frame all is drawn, unturned.
        title: of the figure.
        about: what stands below the title: whom it happens to, and what is chosen.
    """
    frames = np.searchsorted(run.time, np.asarray(times) - 1e-9).clip(max=len(run.time) - 1)
    bodies = [states_at(run, k).motions for k in frames]
    origins = [run.motions[beside].q[k, 0] if beside else np.zeros(3) for k in frames]
    shown: dict[str, Window] = {
        view: fitted(run, bodies, origins, VIEWS[view]) if window is None else window
        for view, window in windows.items()
    }
    aspect = sum(np.ptp(wide) / np.ptp(high) for wide, high in shown.values()) / len(shown)
    above = 0.3 * bool(title) + 0.22 * (about.count("\n") + 1) * bool(about)
    height = len(windows) * ROW + 0.5 + above
    figure = Figure(figsize=(len(frames) * ROW * aspect + 0.5, height), layout="constrained")
    if title or about:
        figure.get_layout_engine().set(rect=(0.0, 0.0, 1.0, 1.0 - above / height))  # type: ignore[call-arg]
        figure.text(0.01, 1.0 - 0.06 / height, title, fontsize=TEXT + 2, va="top")
        figure.text(
            0.01, 1.0 - (0.06 + 0.25 * bool(title)) / height, about, fontsize=TEXT, va="top", color=NOTE_COLOR
        )
    axes = figure.subplots(len(windows), len(frames), squeeze=False)
    models = list(dict.fromkeys(surface.model for surface in run.pairs.surfaces if not surface.is_plane))
    belts = [None] * len(frames)
    if straps:
        at_rest = straps_of(run, straps)
        belts = [at_rest.pull(motions).point for motions in bodies]
    for row, (view, (wide, high)) in zip(axes, shown.items(), strict=True):
        for panel, motions, belt, origin in zip(row, bodies, belts, origins, strict=True):
            for number, surface in zip(run.pairs.body, run.pairs.surfaces, strict=True):
                rotation, place = motions.rotation[number], motions.place[number] - origin
                if surface.is_plane:
                    edge(panel, surface, rotation, place, VIEWS[view])
                    continue
                color = COLORS[models.index(surface.model)] if surface.model else "gray"
                line = outline(surface, rotation, place, VIEWS[view])
                panel.fill(*line.T, facecolor=color, edgecolor=color, alpha=0.3, linewidth=0.8)
            if belt is not None:
                draw_straps(panel, belt, at_rest.owner, origin, VIEWS[view])
            panel.set(xlim=wide, ylim=high, aspect="equal")
            panel.tick_params(labelsize=TEXT - 1)
            panel.locator_params(axis="x", nbins=5)
            right, up = (AXES[int(np.argmax(direction))] for direction in VIEWS[view])
            panel.set_xlabel(f"{right} [m]", fontsize=TEXT)
            if panel is row[0]:
                panel.set_ylabel(f"from the {view}\n{up} [m]", fontsize=TEXT)
    for panel, k in zip(axes[0], frames, strict=True):
        panel.set_title(f"{run.time[k]:.2f} s", fontsize=TEXT)
    people: list[Patch | Line2D] = [
        Patch(facecolor=COLORS[k], edgecolor=COLORS[k], alpha=0.3, label=model)
        for k, model in enumerate(models)
        if model
    ]
    if straps:
        people.append(Line2D([], [], color="black", linewidth=1.8, label="belt, straight"))
        people.append(
            Line2D([], [], color="black", linewidth=1.8, linestyle=":", label="belt, over the body")
        )
    figure.legend(
        handles=people, loc="outside lower center", ncols=len(people), fontsize=SMALL, frameon=False
    )
    return figure


def fitted(
    run: ContactSimulation, bodies: Sequence[BodyMotions], origins: Sequence[Array], view: Array
) -> Window:
    """Return the box that holds everything that moves in some frames, and the ground below it [m]."""
    lines = [
        outline(surface, motions.rotation[number], motions.place[number] - origin, view)
        for motions, origin in zip(bodies, origins, strict=True)
        for number, surface in zip(run.pairs.body, run.pairs.surfaces, strict=True)
        if not surface.is_plane
    ]
    low, high = (np.concatenate(lines).min(axis=0) - 0.08, np.concatenate(lines).max(axis=0) + 0.08)
    return (float(low[0]), float(high[0])), (float(low[1]), float(high[1]))


def draw_straps(panel: Axes, ends: Array, owner: Array, origin: Array, view: Array) -> None:
    """Straps by the ends of their spans (E, 2, 3): spans full, the arcs over the body between them dotted."""
    flat = (ends - origin) @ view.T
    for number, span in enumerate(flat):
        panel.plot(*span.T, color="black", linewidth=1.8)
        if number + 1 < len(flat) and owner[number + 1] == owner[number]:
            panel.plot(*np.array([span[1], flat[number + 1, 0]]).T, ":", color="black", linewidth=1.8)


def edge(panel: Axes, surface: Surface, rotation: Array, place: Array, view: Array) -> None:
    """A plane: of a seat a rectangle, else seen from its side, through the whole picture if it is the ground."""
    if surface.body and (part := next((name for name in SEAT if surface.name.endswith(name)), "")):
        normal = surface.axes[:, 2]
        ahead = np.cross([0.0, 1.0, 0.0], normal) * (1.0 if normal[2] > 0.5 else -1.0)
        reach, half = SEAT[part] * ahead, np.array([0.0, 0.5 * SEAT_WIDTH, 0.0])
        corners = surface.center + np.array([-half, half, reach + half, reach - half])
        panel.fill(
            *(view @ (rotation @ corners.T + place[:, None])),
            facecolor="0.85",
            edgecolor="gray",
            linewidth=1.6,
        )
        return
    normal, middle = view @ rotation @ surface.axes[:, 2], view @ (rotation @ surface.center + place)
    if np.linalg.norm(normal) < 0.5:
        return
    along = np.array([-normal[1], normal[0]]) / np.linalg.norm(normal)
    half = 0.5 if surface.body else 50.0
    panel.plot(*(middle + np.outer([-half, half], along)).T, color="gray", linewidth=1.2)


def histories(
    title: str, curves: Mapping[str, tuple[str, Mapping[str, tuple[Array, Array]]]], about: str = ""
) -> Figure:
    """Panels below each other over time: heading of a panel -> unit, and its curves by name, times [s] and values;
    about: what stands below the title.
    """
    figure, axes = panels(None, title, len(curves), 1, 0.16 + 0.14 * len(curves))
    for line in about.splitlines():
        figure.add_header(line, figure.style.note_pt, NOTE_COLOR)
    figure.fit()
    for panel, (name, (unit, lines)) in zip(axes[:, 0], curves.items(), strict=True):
        heading(panel, name)
        for number, (label, (time, values)) in enumerate(lines.items()):
            panel.plot(time, values, color=COLORS[number], linewidth=0.9, label=label)
        panel.set_ylabel(unit, fontsize=TEXT)
        panel.tick_params(labelbottom=panel is axes[-1, 0])  # numbers would lie on the heading of the next
        if len(lines) > 1:
            key(panel)
    axes[-1, 0].set_xlabel("time [s]", fontsize=TEXT)
    return figure


def write(folder: Path, figures: Mapping[str, Figure]) -> None:
    """Write figures into a folder, as figure_4_7.png for "4.7"."""
    for number, figure in figures.items():
        file = folder / f"figure_{number.replace('.', '_')}.png"
        file.write_bytes(png(figure))
        console.print(f"picture: {file}")
