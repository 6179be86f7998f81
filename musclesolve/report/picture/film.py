"""The moving picture as GIF or MP4: the side view, painted frame by frame from the farthest to the nearest."""

from __future__ import annotations

import contextlib
import io
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from musclesolve._util.arrays import AnyArray, Array
from musclesolve._util.progress import Progress, no_progress
from musclesolve.constants import PICTURE_SPEED
from musclesolve.errors import input_error
from musclesolve.report.picture.encoded import heads_of, hoops, ribs_of, shape_colors, verdict_of
from musclesolve.report.picture.picture_data import Arrows, PictureData, picture_data
from musclesolve.results.dataset.result_quantities import identity

RATES = {"gif": 20.0, "mp4": 30.0}
"""Pictures a second; the pictures of a GIF last for whole hundredths of a second."""
PAPER, INK, SOFT, LOST = "#f5f6f8", "#1d232b", "#5b6672", "#8a1c1c"
SIZE, WIDE = (5.4, 7.2), (8.4, 6.0)
"""Size of a picture [inch], 100 dots each, and of one of a simulation, in which bodies lie down."""
TURN, TILT = np.radians(24.0), np.radians(6.0)
"""Rotation of the side view about the vertical, and elevation of the viewer [rad]."""
BONE, GRAY, GROUND = "#dbd4c4", "#9aa1aa", "#0072b2"
SHADES = np.linspace(0.66, 1.0, 10)
"""Shades of a bone, from no light to straight light; the light is above and left of the viewer."""
LAMP = np.array([-0.30, 0.50, -0.81])
"""Right, up and away on the page."""
PIECE, BEFORE = 0.03, 0.015
"""Largest length of painted pieces of lines, and shift toward the viewer, because lines run along bones [m]."""
RIM = 36
"""Lines of the outline of a surface."""
HOOP = 20
"""Lines of a hoop of the ribs."""
GROUND_SCALE = 0.5
"""Length of the ground force of one body weight, or of one kilonewton [m]."""


def film(
    result: xr.Dataset, kind: str, speed: float = PICTURE_SPEED, progress: Progress | None = None
) -> bytes:
    """The content of a GIF or MP4 file.

    Args:
        result: of a run, or the dataset of a simulation.
        kind: "gif" or "mp4".
        speed: share of the true speed.
        progress: called before every picture.
    """
    data, report = picture_data(result), progress or no_progress
    if data.empty:
        raise input_error("report.result_holds_no_points", file=result.encoding.get("source"))
    # The frame that is shown at each picture is the last one that has begun.
    time, rate = data.time, RATES[kind] / speed
    at = time[0] + np.arange(int((time[-1] - time[0]) * rate + 1e-6) + 1) / rate
    chosen = np.clip(np.searchsorted(time, at + 1e-9, side="right") - 1, 0, len(time) - 1)
    program = shutil.which("ffmpeg") if kind == "mp4" else ""
    if program is None:
        raise input_error("report.ffmpeg_writes_mp4_files")
    sheet = _Sheet(View(data), identity(result))

    def drawn() -> Iterator[AnyArray]:
        for number, frame in enumerate(chosen):
            report("drawing", number / len(chosen))
            yield sheet.draw(int(frame))

    pictures = drawn()
    return _mp4(pictures, program) if kind == "mp4" else _gif(pictures, _palette(data))


class _Sheet:
    """A figure whose bones, lines and texts are set for every frame."""

    def __init__(self, view: View, title: str) -> None:
        from matplotlib.artist import Artist
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.collections import LineCollection
        from matplotlib.figure import Figure
        from matplotlib.transforms import IdentityTransform

        self.view = view
        size = WIDE if view.data.simulated else SIZE
        figure = Figure(figsize=size, dpi=100, facecolor=PAPER)
        self.canvas = FigureCanvasAgg(figure)
        axes = figure.add_axes((0.0, 0.04, 1.0, 0.82))
        axes.set_axis_off()
        axes.set_aspect("equal")
        half = 0.57 * view.height * size[0] / (0.82 * size[1])
        scale = max(1.0, view.reach / half)
        axes.set_ylim(-0.12 * scale * view.height, 1.02 * scale * view.height)
        axes.set_xlim(-scale * half, scale * half)
        self.floor: Any = axes.add_collection(LineCollection([], colors="#dde1e6", linewidths=0.8))
        self.axes, self.frame, sheet = axes, 0, self

        class Body(Artist):
            """An artist that paints triangles and lines in the order of depth; matplotlib has no collection for
            both.
            """

            def __init__(self) -> None:
                super().__init__()
                self.set_zorder(3)  # above the floor

            def draw(self, renderer: Any) -> None:
                corners, colors = sheet.painted()
                renderer.draw_gouraud_triangles(
                    renderer.new_gc(), corners, np.repeat(colors[:, None], 3, axis=1), IdentityTransform()
                )

        axes.add_artist(Body())
        figure.text(0.03, 0.975, title, fontsize=6.5, va="top", color=SOFT, wrap=True)
        self.clock = figure.text(0.03, 0.925, "", fontsize=15, va="top", weight="bold", color=INK)
        self.verdicts = figure.text(0.30, 0.925, "", fontsize=7.5, va="top", color=INK, linespacing=1.5)
        if view.data.quantities:
            _color_bar(figure, view)
        data, kind = view.data, "contact" if view.data.simulated else "ground"
        if (data.ground.names and data.simulated) or (data.quantities and not data.simulated):
            figure.text(0.03, 0.05, f"blue: {kind} force, 0.5 m for {data.unit}", fontsize=6.5, color=GROUND)

    def draw(self, frame: int) -> AnyArray:
        """Pixels of a frame."""
        self.frame = frame
        self.floor.set_segments(list(self.view.grid(frame)))
        self.clock.set_text(f"{self.view.data.time[frame]:.2f} s")
        text, lost = (_pressing if self.view.data.simulated else _verdicts)(self.view.data, frame)
        self.verdicts.set_text(text)
        self.verdicts.set_color(LOST if lost else INK)
        self.canvas.draw()
        return np.asarray(self.canvas.buffer_rgba())[..., :3].copy()

    def painted(self) -> tuple[Array, AnyArray]:
        """Triangles (k, 3, 2) [dots] of the frame and their colors (k, 4), the farthest first."""
        lines, faces = self.view.lines(self.frame), self.view.faces(self.frame)
        to_dots = self.axes.transData.transform
        # pieces of lines, as two triangles each
        length = np.linalg.norm(np.diff(np.dstack([lines.segments, lines.depth]), axis=1)[:, 0], axis=1)
        counts = np.maximum(1, np.ceil(length / PIECE)).astype(int)
        of = np.repeat(np.arange(len(counts)), counts)
        number = np.arange(len(of)) - np.repeat(np.cumsum(counts) - counts, counts)
        ends = to_dots(lines.segments.reshape(-1, 2)).reshape(-1, 2, 2)[of]
        step = (ends[:, 1] - ends[:, 0]) / counts[of, None]
        start = ends[:, 0] + number[:, None] * step
        size = np.maximum(np.linalg.norm(step, axis=1, keepdims=True), 1e-9)
        half = lines.widths[of, None] / 2.0 * self.axes.figure.dpi / 72.0
        # slightly longer, so that neighbors join where a line bends
        along = half * step / size
        across = np.stack([-along[:, 1], along[:, 0]], axis=1)
        low, high = start - 0.5 * along, start + step + 0.5 * along
        corners = np.stack([low - across, low + across, high + across, high - across], axis=1)
        strips = corners[:, [[0, 1, 2], [0, 2, 3]]].reshape(-1, 3, 2)
        depth = lines.depth[of, 0] + (number + 0.5) / counts[of] * (lines.depth[of, 1] - lines.depth[of, 0])
        every = np.concatenate([np.repeat(depth - BEFORE, 2), faces.depth])
        order = np.argsort(-every, kind="stable")
        bones = to_dots(faces.corners.reshape(-1, 2)).reshape(-1, 3, 2)
        colors = np.concatenate([np.repeat(lines.colors[of], 2, axis=0), faces.colors])
        return np.concatenate([strips, bones])[order], colors[order]


def _verdicts(data: PictureData, frame: int) -> tuple[str, bool]:
    """A line for each leg, and whether one of them was measured and has no valid solution."""
    lines, lost = [], False
    for leg in data.legs:
        name = str(leg.verdict[frame])
        percent = f" {leg.percent[frame]:.0f} %" if np.isfinite(leg.percent[frame]) else ""
        text, lost = verdict_of(name)["text"], lost or verdict_of(name)["kind"] == "none"
        lines.append(f"{leg.part}{percent}: {text.partition(',')[0]}")
    return "\n".join(lines), lost


def _pressing(data: PictureData, frame: int) -> tuple[str, bool]:
    """The greatest contact forces of a simulation, a line each."""
    size = np.nan_to_num(np.linalg.norm(data.ground.force[frame], axis=1))
    most = [k for k in np.argsort(-size, kind="stable")[:3] if size[k] > 0.0]
    return "\n".join(f"{data.ground.names[k]}: {size[k]:.0f} N" for k in most), False


def _color_bar(figure: Any, view: View) -> None:
    """The scale of the quantity below the picture, and the gray of muscles without a solution."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import ListedColormap, Normalize

    quantity = view.data.quantities[0]
    scale = Normalize(quantity.about["low"], quantity.high)
    place = figure.add_axes((0.62, 0.065, 0.34, 0.013))
    bar = figure.colorbar(
        ScalarMappable(scale, ListedColormap(quantity.colors)), place, orientation="horizontal"
    )
    bar.outline.set_visible(False)
    bar.ax.tick_params(labelsize=6.5, length=2)
    unit = "" if quantity.about["unit"] == "1" else f" [{quantity.about['unit']}]"
    figure.text(0.62, 0.085, f"{quantity.about['label']}{unit}", fontsize=7.5, va="bottom")
    if not view.data.simulated:
        figure.text(0.03, 0.03, "gray muscles: no valid solution, or not measured", fontsize=6.5, color=GRAY)


@dataclass(frozen=True, eq=False)
class Lines:
    """Segments (k, 2, 2) [m on the page], widths (k,) [points], colors (k, 4) and depths of the ends (k, 2) [m]."""

    segments: Array
    widths: Array
    colors: AnyArray
    depth: Array


@dataclass(frozen=True, eq=False)
class Faces:
    """Triangles that face the viewer: corners (k, 3, 2) [m on the page], colors (k, 4) and depth (k,) [m]."""

    corners: Array
    colors: AnyArray
    depth: Array


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
        top = float(np.nanmax(every[..., 2], initial=self.floor + 1.0))
        return top - self.floor + 0.08

    @property
    def floor(self) -> float:
        """Height of the ground [m]."""
        return self.data.floor

    @cached_property
    def reach(self) -> float:
        """Largest distance of any point to the side of the middle [m]."""
        if not self.data.simulated:
            return 0.0
        away = (self.data.position - self.centers[:, None]) @ self.axes[0]
        return float(np.nanmax(np.abs(away), initial=0.0)) + 0.1

    @cached_property
    def centers(self) -> Array:
        """Center (T, 3) of the view: a straight line through the positions of the body."""
        every = np.concatenate([self.data.position, self.data.path], axis=1)
        known = np.isfinite(every).all(axis=2)
        middle = (
            np.where(known[..., None], every, 0.0).sum(axis=1) / np.maximum(known.sum(axis=1), 1)[:, None]
        )
        time = self.data.time - self.data.time[0]
        order = 1 if len(time) > 1 else 0
        fitted = np.stack([np.polyval(np.polyfit(time, column, order), time) for column in middle.T], axis=1)
        fitted[:, 2] = self.floor
        return fitted

    def flat(self, points: Array, frame: int) -> Array:
        """Right, up and away (k, 3) [m] of points (k, 3) in space."""
        return (points - self.centers[frame]) @ self.axes.T

    def lines(self, frame: int) -> Lines:
        """All parts of a frame except bones with a surface."""
        data = self.data
        found = [
            self._bare_bones(frame),
            self._ribs(frame),
            self._muscles(frame),
            self._arrows(data.ground, frame),
            self._rims(frame),
        ]
        ends = np.concatenate([part[0] for part in found])
        placed = self.flat(ends.reshape(-1, 3), frame).reshape(-1, 2, 3)
        (known,) = np.nonzero(np.isfinite(placed).all(axis=(1, 2)))
        widths, hues = (np.concatenate([part[k] for part in found])[known] for k in (1, 2))
        return Lines(placed[known, :, :2], widths, hues, placed[known, :, 2])

    def faces(self, frame: int) -> Faces:
        """The bones that have a surface, each triangle in one shade (Lambert)."""
        corners, normals = [np.zeros((0, 3, 3))], [np.zeros((0, 3))]
        bones = self.data.bones
        for surface, vertices in zip(bones.surfaces, bones.placed(frame), strict=True):
            own = self.flat(vertices, frame)[surface.faces]
            normal = np.cross(own[:, 1] - own[:, 0], own[:, 2] - own[:, 0])
            # right, up and away are left-handed: the cross product points into a closed surface
            normal /= -np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-12)
            seen = normal[:, 2] < 0.0
            if not surface.closed:
                normal[~seen], seen = -normal[~seen], np.isfinite(normal[:, 2])
            corners.append(own[seen])
            normals.append(normal[seen])
        every = np.concatenate(corners)
        light = np.clip(np.concatenate(normals) @ LAMP / np.linalg.norm(LAMP), 0.0, 1.0)
        colors = self._shades[np.rint(light * (len(SHADES) - 1)).astype(int)]
        return Faces(every[..., :2], colors, every[..., 2].mean(axis=1))

    @cached_property
    def _shades(self) -> AnyArray:
        from matplotlib.colors import to_rgba_array

        return np.asarray(to_rgba_array(shades()))

    def grid(self, frame: int) -> Array:
        """Lines of the floor (k, 2, 2), half a meter apart, at constant positions while the view moves."""
        if not self.data.level:
            return np.zeros((0, 2, 2))
        x, y = np.round(2.0 * self.centers[frame, :2]) / 2.0
        steps = np.arange(-2.0, 2.01, 0.5)
        low, high = np.full(steps.shape, -2.0), np.full(steps.shape, 2.0)
        across = np.stack([np.stack([steps, low], 1), np.stack([steps, high], 1)], 1)
        flat = np.concatenate([across, across[..., ::-1]]) + np.array([x, y])
        ends = np.concatenate([flat, np.full((*flat.shape[:2], 1), self.floor)], axis=2)
        return self.flat(ends.reshape(-1, 3), frame).reshape(-1, 2, 3)[..., :2]

    def _bare_bones(self, frame: int) -> tuple[Array, Array, AnyArray]:
        """Lines between points; a head of several lines is drawn as its outline."""
        lines, outlines = self.data.lines, [np.zeros((0, 2, 3))]
        for head in self._heads:
            points: list[int] = head["points"]
            if len(points) > 2:
                kept = [line for line in lines.tolist() if not set(line) <= set(points)]
                lines = np.array(kept, np.intp).reshape(-1, 2)
            outlines.append(self._outline(frame, head))
        ends = np.concatenate([self.data.position[frame][lines], *outlines])
        return ends, np.full(len(ends), 3.4), _painted(BONE, len(ends))

    def _ribs(self, frame: int) -> tuple[Array, Array, AnyArray]:
        """Hoops about a line up the spine, none where surfaces are drawn."""
        position, shape, rims = self.data.position[frame], hoops(), []
        angle = np.linspace(0.0, 2.0 * np.pi, HOOP + 1)[:, None]
        ahead, aside = 1.0 - np.cos(angle), np.sin(angle)
        for ribs in ribs_of(self.data) if self.data.shapes is None else ():
            low, high, right, left = position[[*ribs["spine"], *ribs["across"]]]
            half = 0.5 * np.linalg.norm(left - right)
            up = (high - low) / np.linalg.norm(high - low)
            forward = np.cross(left - right, up)
            forward = forward / np.linalg.norm(forward)
            side = np.cross(up, forward)
            for share, wide, deep in shape["levels"]:
                hoop = wide * (deep * ahead * forward + aside * side) - shape["drop"] * ahead * up
                rim = low + share * (high - low) + half * hoop
                rims.append(np.stack([rim[:-1], rim[1:]], axis=1))
        ends = np.concatenate([np.zeros((0, 2, 3)), *rims])
        return ends, np.full(len(ends), 0.9), _painted(BONE, len(ends))

    @cached_property
    def _heads(self) -> list[dict[str, Any]]:
        """The heads as spheres; an empty list where surfaces are drawn."""
        return [] if self.data.shapes is not None else heads_of(self.data)

    @cached_property
    def _palette(self) -> AnyArray:
        from matplotlib.colors import to_rgba_array

        return np.asarray(to_rgba_array(self.data.quantities[0].colors))

    def _rims(self, frame: int) -> tuple[Array, Array, AnyArray]:
        """The outlines of surfaces, as seen from the viewer."""
        from matplotlib.colors import to_rgba_array

        shapes = self.data.shapes
        if shapes is None or not shapes.names:
            return np.zeros((0, 2, 3)), np.zeros(0), np.zeros((0, 4))
        angle = np.linspace(0.0, 2.0 * np.pi, RIM + 1)[:, None]
        rims = shapes.rims(frame, np.cos(angle) * self.axes[0] + np.sin(angle) * self.axes[1])
        ends = np.stack([rims[:, :-1], rims[:, 1:]], axis=2).reshape(-1, 2, 3)
        hues = to_rgba_array(shape_colors(shapes))
        return ends, np.full(len(ends), 0.9), np.repeat(hues, RIM, axis=0)

    def _outline(self, frame: int, head: dict[str, Any]) -> Array:
        """An ellipse that faces the viewer, as segments (k, 2, 3)."""
        position = self.data.position[frame]
        center = np.array(head["weights"]) @ position[head["points"]]
        up = position[head["up"][1]] - position[head["up"][0]]
        across = np.cross(up, self.axes[2])
        angle = np.linspace(0.0, 2.0 * np.pi, 25)[:, None]
        wide, high = (
            radius * each / max(float(np.linalg.norm(each)), 1e-9)
            for radius, each in zip(head["radii"], (across, up), strict=True)
        )
        rim = center + np.cos(angle) * wide + np.sin(angle) * high
        return np.stack([rim[:-1], rim[1:]], axis=1)

    def _muscles(self, frame: int) -> tuple[Array, Array, AnyArray]:
        """Segments between neighboring points of one muscle."""
        data = self.data
        owner = np.repeat(np.arange(len(data.muscles)), np.diff(data.first))
        (start,) = np.nonzero(owner[1:] == owner[:-1])
        path = data.path[frame]
        ends = np.stack([path[start], path[start + 1]], axis=1)
        of = owner[start]
        if not data.quantities or not len(of):
            return ends, np.full(len(ends), 1.5), _painted(GRAY, len(ends))
        share = data.quantities[0].share[frame][of]
        known = np.isfinite(share)
        width = np.where(known, 1.0 + 5.0 * (0.3 + 0.7 * data.size[of]) * np.nan_to_num(share), 0.8)
        hue = self._palette[np.rint(np.nan_to_num(share) * (len(self._palette) - 1)).astype(int)]
        return ends, width, np.where(known[:, None], hue, _painted(GRAY, len(ends)))

    def _arrows(self, arrows: Arrows, frame: int) -> tuple[Array, Array, AnyArray]:
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
        ends = np.concatenate(
            [np.stack(pair, 1) for pair in ((start, tip), (tip, back + across), (tip, back - across))]
        )
        return ends, np.full(len(ends), 3.0), _painted(GROUND, len(ends))


def shades() -> list[str]:
    """Colors of a bone from where no light falls to where it falls straight."""
    from matplotlib.colors import to_hex, to_rgb

    return [to_hex(share * np.array(to_rgb(BONE))) for share in SHADES]


def _painted(color: str, count: int) -> AnyArray:
    from matplotlib.colors import to_rgba

    return np.tile(to_rgba(color), (count, 1))


def _gif(pictures: Iterator[AnyArray], palette: AnyArray) -> bytes:
    """An animation of one palette (k, 3), which repeats for ever."""
    from PIL import Image

    memory, known = io.BytesIO(), Image.new("P", (1, 1))
    known.putpalette(palette.astype(np.uint8).tobytes())
    first, *rest = (
        Image.fromarray(picture).quantize(palette=known, dither=Image.Dither.NONE) for picture in pictures
    )
    several: dict[str, Any] = {"append_images": rest, "save_all": True} if rest else {}
    first.save(memory, "GIF", duration=round(1000.0 / RATES["gif"]), loop=0, optimize=False, **several)
    return memory.getvalue()


def _palette(data: PictureData) -> AnyArray:
    """Colors (k, 3), at most 256: the colors of the muscles and of everything else, and blends with the background."""
    from matplotlib.colors import to_rgb

    own = data.quantities[0].colors[:: 2 if data.shapes is None else 3] if data.quantities else []
    paper = np.array(to_rgb(PAPER))
    if data.shapes is not None:
        own += shape_colors(data.shapes)
    own = list(dict.fromkeys(own))
    full = np.array([to_rgb(each) for each in (*own, BONE, GRAY, GROUND, INK, SOFT, LOST)])
    blends = [paper + share * (full - paper) for share in np.linspace(0.16, 1.0, 6)]
    bones = np.array([to_rgb(shade) for shade in shades()])
    return np.rint(255.0 * np.concatenate([[paper], *blends, bones]))


def _mp4(pictures: Iterator[AnyArray], program: str) -> bytes:
    """H.264 in a format that every player knows; the pixels are piped into ffmpeg."""
    first = next(pictures)
    height, width = first.shape[0] // 2 * 2, first.shape[1] // 2 * 2
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "film.mp4"
        pixels = f"-f rawvideo -pix_fmt rgb24 -s {width}x{height} -r {RATES['mp4']:g} -i -".split()
        wanted = "-an -c:v libx264 -pix_fmt yuv420p -crf 20 -movflags +faststart".split()
        command = [program, "-loglevel", "error", "-y", *pixels, *wanted, str(file)]
        with open(Path(folder) / "log", "w+b") as log:
            process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=log)
            assert process.stdin is not None
            try:
                # a program that has ended is noticed by its exit code
                with contextlib.suppress(BrokenPipeError), process.stdin as pipe:
                    for picture in chain([first], pictures):
                        pipe.write(np.ascontiguousarray(picture[:height, :width]).tobytes())
            finally:
                code = process.wait()
            log.seek(0)
            printed = log.read().decode("utf-8", "replace").strip()
        if code or not file.is_file():
            raise input_error("report.ffmpeg_ended_with_exit", kind=code, printed=printed[-300:])
        return file.read_bytes()
