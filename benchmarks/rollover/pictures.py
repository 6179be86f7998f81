"""Pictures of the rollover: figures 4.24 to 4.27 and 4.32 to 4.34 of Silva (2003)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from benchmarks.chapter_4 import center_acceleration, states_at, straps_of
from benchmarks.impact_pictures import histories, outline
from benchmarks.rollover.cabin import Occupant
from benchmarks.rollover.truck import DATA, MIRROR
from benchmarks.thesis_figures.drawing import COLORS
from musclesolve._util.arrays import Array
from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.dynamics.contact.surfaces import Surface
from musclesolve.dynamics.forward.contact_simulation import ContactSimulation
from musclesolve.motion.signals.injury_criteria import running_severity_index
from musclesolve.plotting.page.page_style import TEXT

MOMENTS = (0.0, 0.3, 0.55, 0.8, 1.2, 2.0)
"""Of the pictures [s]."""
HALF, HEIGHT, CENTER = 2.3, 4.2, 1.3
"""Half the width of a picture and its height [m]; how high the truck flies before the picture follows it [m]."""
HOOD = [(0.45, 0.692, 0.33), (0.303, 0.708, 0.30)]
"""Where the hood ends and where the foremost bar of the cage stands on it: drawn only."""


def view(around_deg: float, above_deg: float) -> Array:
    """Right and up of a picture (2, 3), seen from a direction so far around from the front to the left, and above."""
    around, above = np.radians([around_deg, above_deg])
    toward = np.array([np.cos(above) * np.cos(around), np.cos(above) * np.sin(around), np.sin(above)])
    right = np.array([-np.sin(around), np.cos(around), 0.0])
    return np.stack([right, np.cross(toward, right)])


FRONT, BEHIND = view(-35.0, 14.0), view(-150.0, 18.0)
SEEN = {
    "from the front, 35 deg to the right, 14 above": FRONT,
    "from behind, 30 deg to the right, 18 above": BEHIND,
}
RUBBER, HULL, BARS = "#9A9A9A", "#8A9A6B", "#444444"


def pictures(
    runs: Mapping[str, ContactSimulation], inside: Mapping[str, Sequence[Occupant]]
) -> dict[str, Figure]:
    """All figures; of a run with three occupants the last ones."""
    few = [name for name in runs if len(inside[name]) < 3]
    many = [name for name in runs if len(inside[name]) == 3]
    drivers = [name for name in few if inside[name]]

    def felt(name: str, who: str, body: str) -> tuple[Array, Array]:
        run = runs[name]
        size = np.linalg.norm(center_acceleration(run.motions[who], body), axis=1)
        return run.time, size / STANDARD_GRAVITY

    def upward(name: str) -> tuple[Array, Array]:
        run = runs[name]
        return run.time, center_acceleration(run.motions["truck"], "chassis")[:, 2] / STANDARD_GRAVITY

    drawn = {
        "4.24": motion(
            "alone and with a driver",
            [(name, runs[name], inside[name], where) for name in few for where in list(SEEN)[:1]],
        ),
        "4.25": histories(
            "Vertical acceleration of the truck", {name: ("[g]", {name: upward(name)}) for name in few}
        ),
        "4.26": histories(
            "Accelerations of the driver",
            {
                "(a) head": ("[g]", {name: felt(name, "driver", "head") for name in drivers}),
                "(b) chest": ("[g]", {name: felt(name, "driver", "thorax") for name in drivers}),
            },
        ),
        "4.27": histories(
            "Belt of the driver",
            {
                heading: ("[N]", {name: (runs[name].time, runs[name].tension[:, k]) for name in drivers})
                for k, heading in enumerate(("(a) lap", "(b) shoulder"))
            },
        ),
    }
    for name in many:
        people = [rider.name for rider in inside[name]]
        heads = {who: felt(name, who, "head") for who in people}
        drawn["4.32"] = motion(name, [(name, runs[name], inside[name], where) for where in SEEN])
        drawn["4.33"] = histories(
            "Severity index so far",
            {
                "": (
                    "[1]",
                    {
                        who: (at, running_severity_index(at, STANDARD_GRAVITY * head))
                        for who, (at, head) in heads.items()
                    },
                )
            },
        )
        drawn["4.34"] = histories(
            "Accelerations of the heads", {who: ("[g]", {who: curve}) for who, curve in heads.items()}
        )
    return drawn


def motion(title: str, rows: Sequence[tuple[str, ContactSimulation, Sequence[Occupant], str]]) -> Figure:
    """Moments of runs side by side, a row for each run (its name first) and view (of `SEEN`), the picture going along
    with the truck.
    """
    width = 2.4
    tall = width * HEIGHT / (2.0 * HALF) + 0.25
    figure = Figure(figsize=(width * len(MOMENTS), tall * len(rows) + 0.7), layout="constrained")
    panels = figure.subplots(len(rows), len(MOMENTS), squeeze=False)
    riders: dict[str, str] = {}
    for row, (name, run, people, where) in zip(panels, rows, strict=True):
        row[0].set_ylabel(f"{name},\n{where}", fontsize=TEXT - 1)
        riders |= {rider.name: COLORS[k] for k, rider in enumerate(people)}
        for panel, at in zip(row, MOMENTS, strict=True):
            moment(panel, run, people, int(np.searchsorted(run.time, at - 1e-9)), SEEN[where])
        row[0].plot([0.2 - HALF, 1.2 - HALF], [-0.7, -0.7], color="black", linewidth=2.0, zorder=20.0)
        row[0].text(0.7 - HALF, -0.65, "1 m", ha="center", va="bottom", fontsize=TEXT - 1, zorder=20.0)
    masses = {rider.model.mass.total for _, _, people, _ in rows for rider in people}
    start = DATA["start"]
    figure.suptitle(
        f"Rollover, {title}: {start['speed']} m/s to the left, {start['roll_deg']:.0f}°, {start['roll_rate']} rad/s, "
        f"occupants of {' and '.join(f'{mass:.1f}' for mass in sorted(masses))} kg\n"
        "chosen: height at the start, width and losses of tires, the cabin's inside, poses, all seats but the driver's",
        fontsize=TEXT + 1,
    )
    marks = [Patch(facecolor=color, edgecolor="black", label=name) for name, color in riders.items()]
    marks += [Patch(facecolor=RUBBER, label="wheels"), Patch(facecolor=HULL, alpha=0.45, label="body")]
    marks += [
        Line2D([], [], color=color, linewidth=wide, label=name)
        for name, color, wide in (
            ("cage", BARS, 1.6),
            ("belts", "black", 1.0),
            ("ground, lines 1 m apart", "#E0E0E0", 0.9),
        )
    ]
    figure.legend(handles=marks, loc="outside lower center", ncols=len(marks), fontsize=TEXT, frameon=False)
    return figure


def moment(panel: Axes, run: ContactSimulation, people: Sequence[Occupant], frame: int, seen: Array) -> None:
    """One picture: ground, truck, occupants and their belts, what is far away first."""
    bodies = states_at(run, frame).motions
    chassis = list(run.pairs.models).index("truck")
    number = sum(len(names) for names in list(run.pairs.models.values())[:chassis])
    rotation, place = bodies.rotation[number], bodies.place[number]
    origin = np.array([place[0], place[1], max(0.0, place[2] - CENTER)])

    def flat(points: Array) -> Array:
        return np.asarray((points - origin) @ seen.T)

    toward = np.cross(seen[0], seen[1])
    for k in range(-6, 7):  # a meter each, standing still
        x, y = np.floor(origin[:2]) + k
        lines = [(x, origin[1] - 6, 0), (x, origin[1] + 6, 0)], [(origin[0] - 6, y, 0), (origin[0] + 6, y, 0)]
        for ends in lines:
            panel.plot(*flat(np.array(ends)).T, color="#E0E0E0", linewidth=0.6, zorder=0)
    colors = {rider.name: COLORS[k] for k, rider in enumerate(people)}
    for body, surface in zip(run.pairs.body, run.pairs.surfaces, strict=True):
        wheel = "wheel" in surface.name
        if not wheel and surface.model not in colors:  # ground, panels, seats, cage and body, which are lines
            continue
        turned, at = bodies.rotation[body], bodies.place[body]
        line = outline(surface, turned, at - origin, seen)
        depth = float(toward @ (turned @ surface.center + at - origin))
        panel.fill(
            *line.T,
            facecolor=RUBBER if wheel else colors[surface.model],
            edgecolor="black",
            linewidth=0.4,
            alpha=1.0 if wheel else 0.85,
            zorder=10.0 + depth,
        )
    for side in hull_sides():
        points = side @ rotation.T + place
        depth = float(np.mean((points - origin) @ toward))
        panel.fill(*flat(points).T, facecolor=HULL, edgecolor="none", alpha=0.45, zorder=10.0 + depth)
    for line, bold in frame_lines():
        points = line @ rotation.T + place
        depth = float(np.mean((points - origin) @ toward))
        panel.plot(
            *flat(points).T,
            color=BARS if bold else "#777777",
            linewidth=1.6 if bold else 0.9,
            zorder=10.0 + depth,
        )
    for rider in people:
        for surface in rider.around:
            if "seat" in surface.name:
                panel.plot(
                    *flat(cushion(surface) @ rotation.T + place).T, color="#777777", linewidth=0.8, zorder=9.0
                )
    straps = [strap for rider in people for strap in rider.straps]
    if straps:
        for span in straps_of(run, straps).pull(bodies).point:
            panel.plot(*flat(span).T, color="black", linewidth=1.0, zorder=14.0)
    panel.set(xlim=(-HALF, HALF), ylim=(-0.9, HEIGHT - 0.9), aspect="equal", xticks=[], yticks=[])
    panel.set_title(f"{run.time[frame]:.2f} s", fontsize=TEXT)


def hull_sides() -> list[Array]:
    """Both sides of the body and the hood, (K, 3) each, in the frame of the chassis."""
    hull, (hood, _) = np.array(DATA["points"]["chassis"]), np.array(HOOD)
    side = np.vstack([hull, hood])
    return [side, side * MIRROR, np.stack([hull[0], hood, hood * MIRROR, hull[0] * MIRROR])]


def frame_lines() -> list[tuple[Array, bool]]:
    """Lines (K, 3) of cage, bold, and body between the points of Table 4.8, in the frame of the chassis."""
    cage, hull = (np.array(DATA["points"][kind]) for kind in ("cage", "chassis"))
    hood, stand = np.array(HOOD)
    lines = []
    for turn in (np.ones(3), MIRROR):
        feet = np.array([stand, [cage[1, 0], 0.692, 0.26], hull[3]])
        lines += [
            (cage * turn, True),
            *((np.stack([top, foot]) * turn, True) for top, foot in zip(cage, feet, strict=True)),
        ]
        lines.append((np.vstack([hull, hood, hull[0]]) * turn, False))
    across = [*((point, True) for point in cage), *((point, False) for point in (*hull, hood))]
    return lines + [(np.stack([point, point * MIRROR]), bold) for point, bold in across]


def cushion(surface: Surface) -> Array:
    """Outline (5, 3) of the top of a seat's pan or back, half a meter wide, in the frame of the chassis."""
    normal = surface.axes[:, 2]
    along = np.cross([0.0, 1.0, 0.0], normal) * (1.0 if normal[2] > 0.5 else -1.0)
    size = 0.45 if "pan" in surface.name else 0.6
    corner = surface.center + 0.05 * normal - 0.5 * size * along if not surface.is_plane else surface.center
    side = np.array([0.0, 0.24, 0.0])
    return np.stack(
        [
            corner - side,
            corner + side,
            corner + size * along + side,
            corner + size * along - side,
            corner - side,
        ]
    )
