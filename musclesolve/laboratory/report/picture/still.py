"""A still for documents: four poses, one of them larger, four activations beside EMG, and the verdict, on one page.

A pose is painted from the farthest triangle to the nearest.
"""

import io
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import xarray as xr

from musclesolve._util.arrays import AnyArray, Array, Indices
from musclesolve._util.sides import SIDE_NAMES, split_side
from musclesolve.errors import input_error
from musclesolve.laboratory.report.picture.picture_data import (
    Arrows,
    PictureData,
    Quantity,
    path_lengths,
    picture_data,
)
from musclesolve.laboratory.results.dataset.result_quantities import identity
from musclesolve.laboratory.results.facts import Facts
from musclesolve.laboratory.results.judgement import judge
from musclesolve.models.opensim.muscle_set import long_name

PAPER, INK, SOFT = "#f5f6f8", "#1d232b", "#5b6672"
TURN, TILT = np.radians(24.0), np.radians(6.0)
"""Rotation of the side view about the vertical, and elevation of the viewer [rad]."""
BONE, GRAY, GROUND = "#dbd4c4", "#9aa1aa", "#1d232b"
SHADE = 0.66
"""Shade of a bone without light."""
LAMP = np.array([-0.30, 0.50, -0.81])
"""Place of the light: right, up and away on the page."""
PIECE, BEFORE = 0.02, 0.015
"""Largest length of painted pieces of lines, and shift toward the viewer, because lines run along bones [m]."""
LANES = {(-1.0, -0.5): 0.72, (-0.5, 0.5): 1.0, (0.5, 1.0): 0.82}
"""Lanes of a line, from one share of its half width to another, and their lightness."""
GROUND_SCALE = 0.5
"""Length of the ground force of one body weight, or of one kilonewton [m]."""


def paint(view: "View", frame: int, point: float) -> Any:
    """The triangles of a frame, from the farthest to the nearest; point: a point of print [m]."""
    from matplotlib.collections import TriMesh
    from matplotlib.tri import Triangulation

    corners, colors, depth = map(
        np.concatenate, zip(view.lines(frame, point), view.faces(frame), strict=True)
    )
    order = np.argsort(-depth, kind="stable")
    corners, colors = corners[order].reshape(-1, 2), colors[order]
    numbers = np.arange(len(corners)).reshape(-1, 3)
    mesh: Any = TriMesh(Triangulation(corners[:, 0], corners[:, 1], numbers), zorder=3, clip_on=False)
    mesh.set_facecolor(np.repeat(colors, 3, axis=0))
    return mesh


def color_bar(figure: Any, quantity: Quantity, place: tuple[float, float, float, float]) -> None:
    """The scale of a quantity, at left, bottom, width and height in shares of the figure."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import ListedColormap, Normalize

    scale = Normalize(quantity.about["low"], quantity.high)
    colors, axes = ListedColormap(quantity.colors), figure.add_axes(place)
    bar = figure.colorbar(ScalarMappable(scale, colors), axes, orientation="horizontal")
    bar.outline.set_visible(False)
    bar.ax.tick_params(labelsize=6.5, length=2)
    unit = "" if quantity.about["unit"] == "1" else f" [{quantity.about['unit']}]"
    axes.set_title(f"{quantity.about['label']}{unit}", fontsize=7.5, loc="left", pad=3)


Triangles = tuple[Array, Array, Array]
"""Corners (k, 3, 2) [m on the page], colors (k, 3) and depth (k,) [m]."""


@dataclass(frozen=True, eq=False)
class View:
    """The side view of a picture, which moves along with the subject; the first quantity colors the muscles."""

    data: PictureData

    @cached_property
    def axes(self) -> Array:
        """(3, 3) right, up and away on the page, in the axes of the laboratory."""
        azimuth = self.data.heading + TURN
        right = np.array([np.cos(azimuth), np.sin(azimuth), 0.0])
        away = np.array([-np.sin(azimuth) * np.cos(TILT), np.cos(azimuth) * np.cos(TILT), -np.sin(TILT)])
        return np.stack([right, np.cross(away, right) * -1.0, away])

    @cached_property
    def height(self) -> float:
        """Height from the floor to the top of the head [m]."""
        every = np.concatenate([self.data.position, self.data.path], axis=1)
        return float(np.nanmax(every[..., 2], initial=self.data.floor + 1.0)) - self.data.floor + 0.08

    @cached_property
    def centers(self) -> Array:
        """Center (T, 3) of the view: a straight line through the positions of the body."""
        time = self.data.time - self.data.time[0]
        order = min(len(time) - 1, 1)
        fitted = np.asarray(np.vander(time, order + 1) @ np.polyfit(time, self.data.middle, order))
        fitted[:, 2] = self.data.floor
        return fitted

    def flat(self, points: Array, frame: int) -> Array:
        """Right, up and away (k, 3) [m] of points (k, 3) in space."""
        return (points - self.centers[frame]) @ self.axes.T

    def lines(self, frame: int, point: float) -> Triangles:
        """All parts of a frame except bones with a surface: strips in pieces; point: a point of print [m]."""
        data = self.data
        bare = data.position[frame][data.lines]
        parts = [
            (bare, np.full(len(bare), 3.4 * point), _painted(BONE, len(bare))),
            self._muscles(frame),
            self._arrows(data.ground, frame, 3.0 * point),
        ]
        segments, widths, colors = (np.concatenate(column) for column in zip(*parts, strict=True))
        ends = self.flat(segments.reshape(-1, 3), frame).reshape(-1, 2, 3)
        (known,) = np.nonzero(np.isfinite(ends).all(axis=(1, 2)))
        length = np.linalg.norm(ends[known, 1] - ends[known, 0], axis=1)
        counts = np.maximum(1, np.ceil(length / PIECE)).astype(int)
        of = np.repeat(known, counts)
        number = np.arange(len(of)) - np.repeat(np.cumsum(counts) - counts, counts)
        step = (ends[of, 1] - ends[of, 0]) / np.repeat(counts, counts)[:, None]
        start = ends[of, 0] + number[:, None] * step
        along = step[:, :2] / np.maximum(np.linalg.norm(step[:, :2], axis=1, keepdims=True), 1e-9)
        along *= 0.5 * widths[of, None]
        across = along[:, ::-1] * (-1.0, 1.0)
        # slightly longer, so that neighbors join where a line bends
        low, high = start[:, :2] - 0.2 * along, (start + step)[:, :2] + 0.2 * along
        # lanes side by side, darker at the rims, as a round belly looks
        corners, painted = [], []
        for (left, right), light in LANES.items():
            lane = [low + left * across, low + right * across, high + right * across, high + left * across]
            corners.append(np.stack(lane, axis=1)[:, [[0, 1, 2], [0, 2, 3]]])
            painted.append(np.repeat(light * colors[of], 2, axis=0).reshape(len(of), 2, 3))
        depth = np.repeat((start + 0.5 * step)[:, 2] - BEFORE, 2 * len(LANES))
        every, shades = (np.stack(parts, axis=1) for parts in (corners, painted))
        return every.reshape(-1, 3, 2), shades.reshape(-1, 3), depth

    def faces(self, frame: int) -> Triangles:
        """The bones that have a surface, each triangle in one shade (Lambert)."""
        corners, normals = [np.zeros((0, 3, 3))], [np.zeros((0, 3))]
        bones = self.data.bones
        for surface, vertices in zip(bones.surfaces, bones.placed(frame), strict=True):
            flat = self.flat(vertices, frame)[surface.faces]
            normal = np.cross(flat[:, 1] - flat[:, 0], flat[:, 2] - flat[:, 0])
            # right, up and away are left-handed: the cross product points into a closed surface
            normal /= -np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-12)
            seen = normal[:, 2] < 0.0
            if not surface.closed:
                normal[~seen], seen = -normal[~seen], np.isfinite(normal[:, 2])
            corners.append(flat[seen])
            normals.append(normal[seen])
        every = np.concatenate(corners)
        light = np.clip(np.concatenate(normals) @ LAMP / np.linalg.norm(LAMP), 0.0, 1.0)
        colors = (SHADE + (1.0 - SHADE) * light[:, None]) * _painted(BONE, len(every))
        return every[..., :2], colors, every[..., 2].mean(axis=1)

    def _muscles(self, frame: int) -> tuple[Array, Array, Array]:
        """Pieces between neighboring points of one muscle, as wide as its belly there [m]."""
        data = self.data
        owner = np.repeat(np.arange(len(data.muscles)), np.diff(data.first))
        path = data.path[frame]
        step = np.linalg.norm(np.diff(path, axis=0, append=path[-1:]), axis=1)
        step[data.first[1:] - 1] = 0.0
        counts = np.ceil(np.nan_to_num(step) / PIECE).astype(int)
        start = np.repeat(np.arange(len(path)), counts)
        share = (np.arange(len(start)) - np.repeat(np.cumsum(counts) - counts, counts)) / counts[start]
        piece = (path[start + 1] - path[start]) if len(start) else np.zeros((0, 3))
        both = share[:, None] + np.stack([0.0 * share, 1.0 / counts[start]], axis=1)
        ends = path[start, None] + both[..., None] * piece[:, None]
        of, length = owner[start], path_lengths(path[None], data.first)[0]
        before = np.cumsum(step) - step
        along = before[start] - before[data.first[of]] + (share + 0.5 / counts[start]) * step[start]
        width = 2.0 * data.bellies.radius(of, along, length[of])
        if not data.quantities:
            return ends, width, _painted(GRAY, len(ends))
        value = data.quantities[0].share[frame][of]
        palette = np.array(data.quantities[0].colors)
        hue = palette[np.rint(np.nan_to_num(value) * (len(palette) - 1)).astype(int)]
        return ends, width, _rgb(np.where(np.isfinite(value), hue, GRAY))

    def _arrows(self, arrows: Arrows, frame: int, width: float) -> tuple[Array, Array, Array]:
        """Shafts, and two strokes for each tip."""
        assert arrows.place is not None
        start = arrows.place[frame]
        force = arrows.force[frame] * GROUND_SCALE / (self.data.weight or 1000.0)
        tip, away = start + force, self.axes[2]
        across = np.cross(force, away)
        size = np.linalg.norm(across, axis=1, keepdims=True)
        length = np.linalg.norm(force, axis=1, keepdims=True)
        head = np.minimum(0.06, 0.6 * length)
        across = 0.42 * head * across / np.where(size > 1e-9, size, 1.0)
        back = tip - head * force / np.where(length > 1e-9, length, 1.0)
        strokes = ((start, tip), (tip, back + across), (tip, back - across))
        ends = np.concatenate([np.stack(pair, 1) for pair in strokes])
        return ends, np.full(len(ends), width), _painted(GROUND, len(ends))


def _painted(color: str, count: int) -> Array:
    return np.tile(_rgb([color]), (count, 1))


def _rgb(colors: Sequence[str] | AnyArray) -> Array:
    """Colors (k, 3) of their texts."""
    from matplotlib.colors import to_rgba_array

    return np.asarray(to_rgba_array(colors)[:, :3])


STILL_SIZE, STILL_DOTS = (11.0, 5.4), 110
"""Size of the page [inch], and dots per inch."""
SHARES = (0.1, 0.37, 0.63, 0.9)
"""Places of the poses in the motion."""
LARGE, SMALLER, MARGIN = 1, 0.75, 0.12
"""The pose that fills the height, the size of the others beside it, and the width between poses [m]."""
EARLIEST, LATEST = 0.25, 0.55
"""Part of the motion that the large pose is of."""
PANELS = 4
LEAST_SCALE = 0.05
"""Least upper end of the scale of an activation."""
LONGEST_NAME = 40
"""Letters of the muscles in the title of a panel, which leave room for r."""
EMG, LINE = "#c9ced5", "#a91223"
VERDICTS = {"usable": "#00694c", "with-care": "#8a5a00", "not-usable": "#a11d1d", "not-known": "#56606b"}
"""Color of a verdict by its class, as of the badges of pages (style.css)."""


def still(result: xr.Dataset) -> bytes:
    """The content of a PNG file with the result of a run or of `share`."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    data = picture_data(result)
    if data.simulated or data.empty:
        raise input_error(
            "conflict",
            problem="a still shows activations and the verdict, which this file does not have",
            expected="result.nc of `musclesolve run` or `musclesolve share`, with points of skeleton and muscles",
            remedy="write a .html",
        )
    figure = Figure(figsize=STILL_SIZE, dpi=STILL_DOTS, facecolor=PAPER)
    frames = _frames(data)
    judged = judge(Facts(result))
    figure.text(
        0.02, 0.955, judged.label, fontsize=13, weight="bold", color=VERDICTS[judged.css], va="center"
    )
    why = textwrap.fill(" ".join((judged.use, *judged.why)), 118, max_lines=2, placeholder=" ...")
    figure.text(0.02, 0.925, why, fontsize=7.5, color=INK, va="top")
    of = textwrap.shorten(identity(result), 130, placeholder=" ...")
    figure.text(0.02, 0.86, of, fontsize=6.5, color=SOFT, va="top")
    _poses(figure, data, frames)
    if data.quantities:
        color_bar(figure, data.quantities[0], (0.03, 0.075, 0.2, 0.016))
    if data.ground.names:
        arrow = f"black arrow: ground force, 0.5 m for {data.unit}"
        figure.text(0.27, 0.075, arrow, fontsize=7, color=GROUND)
    with_emg = _activations(figure, result, data.time[frames])
    title = "Activation (red), EMG (gray, same peak)" if with_emg else "Activation"
    figure.text(0.68, 0.955, title, fontsize=9, va="center")
    FigureCanvasAgg(figure).print_png(memory := io.BytesIO())
    return memory.getvalue()


def _frames(data: PictureData) -> Indices:
    """The frames of the poses; the large one has the largest sum of the quantity that colors the muscles."""
    last = len(data.time) - 1
    frames = np.rint(np.array(SHARES) * last).astype(int)
    if data.quantities:
        first, end = int(EARLIEST * last), int(LATEST * last) + 1
        frames[LARGE] = first + int(np.nansum(data.quantities[0].share[first:end], axis=1).argmax())
    return frames


def _poses(figure: Any, data: PictureData, frames: Indices) -> None:
    """The poses side by side, from the right; one is larger than the others."""
    view, (left, width, low, height) = View(data), (0.0, 0.635, 0.11, 0.73)
    tall = 1.04 * view.height
    floor = figure.add_axes((left, low, width, height))
    floor.set_axis_off()
    floor.axhspan(0.0, 0.17, color="#e9ecf0", linewidth=0.0)
    floor.set_ylim(0.0, 1.0)
    half = 0.5 * tall * width * STILL_SIZE[0] / (height * STILL_SIZE[1])  # of the whole width [m]
    rights = [view.flat(np.concatenate([data.position[k], data.path[k]]), k)[:, 0] for k in frames]
    ends = np.array([[np.nanmin(right, initial=0.0), np.nanmax(right, initial=0.0)] for right in rights])
    zooms = np.where(np.arange(len(frames)) == LARGE, 1.0, SMALLER)
    parts = zooms * (ends[:, 1] - ends[:, 0] + MARGIN)
    zooms *= min(1.0, 2.0 * half / parts.sum())
    parts *= width / parts.sum()
    columns = zip(frames.tolist(), zooms, ends.mean(axis=1), parts, left + np.cumsum(parts), strict=True)
    for frame, zoom, middle, part, end in columns:
        axes = figure.add_axes((end - part, low, part, height))
        axes.set_axis_off()
        axes.set_xlim(middle - half * part / width / zoom, middle + half * part / width / zoom)
        axes.set_ylim(-0.1 * tall / zoom, (1.05 / zoom - 0.1 / zoom) * tall)
        mesh = paint(view, frame, tall / (zoom * height * STILL_SIZE[1] * 72.0))
        axes.add_collection(mesh, autolim=False)
        below = -0.085 * tall / zoom
        axes.text(middle, below, f"{data.time[frame]:.2f} s", ha="center", fontsize=8, color=INK)


def _activations(figure: Any, result: xr.Dataset, marked: Array) -> bool:
    """Four panels; whether they have EMG."""
    time, chosen = result["time"].values, list(curves(result))
    for number, (name, activation, envelope, r) in enumerate(chosen):
        axes = figure.add_axes((0.68, 0.735 - number * 0.205, 0.295, 0.145), facecolor=PAPER)
        top = max(float(np.nanmax(activation)), LEAST_SCALE)
        if envelope is not None:
            scaled = envelope * top / max(float(np.nanmax(envelope)), 1e-9)
            axes.fill_between(time, 0.0, scaled, color=EMG, linewidth=0.0)
            axes.text(1.0, 1.05, f"r = {r:.2f}", fontsize=8, ha="right", transform=axes.transAxes, color=SOFT)
        axes.plot(time, activation, color=LINE, linewidth=1.6)
        for at in marked:
            axes.axvline(at, color=SOFT, linewidth=0.6, linestyle=(0, (2, 3)))
        axes.set_xlim(time[0], time[-1])
        axes.set_ylim(0.0, 1.05 * top)
        axes.set_yticks([0.0, top], ["0", f"{top:.2f}"])
        axes.tick_params(labelsize=7, length=2, labelbottom=number == len(chosen) - 1)
        axes.spines[["top", "right"]].set_visible(False)
        axes.text(0.0, 1.05, name, fontsize=8.5, transform=axes.transAxes, color=INK)
        if number == len(chosen) - 1:
            axes.set_xlabel("time [s]", fontsize=8, labelpad=1)
    return any(envelope is not None for _, _, envelope, _ in chosen)


def curves(result: xr.Dataset) -> Iterator[tuple[str, Array, Array | None, float]]:
    """Name, activation (T,), EMG (T,) as compared with it and their correlation, of one muscle of each of four groups.

    The first channels of EMG of different groups; without EMG, the strongest muscles of the first analyzed side.
    """
    of_each = result["group" if "group" in result.variables else "muscle"]
    groups = dict(zip(map(str, result["muscle"].values), map(str, of_each.values), strict=True))
    seen: set[str] = set()
    if {"emg_delayed", "channel_muscles"} <= set(result.variables):
        columns = zip(*(result[name].values for name in ("channel_muscles", "emg_correlation")), strict=True)
        for number, (belong, r) in enumerate(columns):
            of = str(belong).split(", ")
            if of[0] in groups and groups[of[0]] not in seen and np.isfinite(r) and len(seen) < PANELS:
                seen.add(groups[of[0]])
                activation = result["activation"].sel(muscle=of).mean("muscle").values
                yield _named(of), activation, result["emg_delayed"].isel(channel=number).values, float(r)
        if seen:
            return
    side = str(result["side"].values[0])
    leg = result.isel(muscle=[split_side(name)[1] in (side, "") for name in groups])
    strongest = np.argsort(-np.nan_to_num(leg["muscle_force"].max("time").values))
    for name in leg["muscle"].values[strongest].astype(str):
        if groups[name] not in seen and len(seen) < PANELS:
            seen.add(groups[name])
            yield _named([name]), leg["activation"].sel(muscle=name).values, None, np.nan


def _named(muscles: list[str]) -> str:
    """The words that the names of some muscles of one side share, or each name; of the first if they are long."""
    side = split_side(muscles[0])[1]
    stems = [long_name(split_side(name)[0])[0].split("_") for name in muscles]
    shared = [words[0] for words in zip(*stems, strict=False) if len(set(words)) == 1]
    names = " ".join(shared) if shared else " and ".join(" ".join(words) for words in stems)
    if len(names) > LONGEST_NAME:
        names = f"{' '.join(stems[0])} and {len(stems) - 1} more"
    return f"{SIDE_NAMES[side]} {names}" if side in SIDE_NAMES else names
