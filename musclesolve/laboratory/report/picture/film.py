"""The moving picture as GIF or MP4, painted frame by frame from the farthest to the nearest, and as a still: one page
with four poses, four activations beside EMG, and the verdict.
"""

import contextlib
import io
import shutil
import subprocess
import tempfile
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from musclesolve._util.arrays import AnyArray, Array, Indices
from musclesolve._util.messages import Progress, no_progress
from musclesolve._util.sides import SIDE_NAMES, split_side
from musclesolve.constants import PICTURE_SPEED
from musclesolve.errors import file_error, input_error
from musclesolve.laboratory.report.picture.encoded import shape_colors, verdict_of
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

RATES = {"gif": 20.0, "mp4": 30.0}
"""Pictures a second; the pictures of a GIF last for whole hundredths of a second."""
DOTS = 100
"""Dots per inch."""
H264 = "-an -c:v libx264 -pix_fmt yuv420p -crf 20 -movflags +faststart"
"""Options of ffmpeg for a file that every player knows."""
PAPER, INK, SOFT, LOST = "#f5f6f8", "#1d232b", "#5b6672", "#8a1c1c"
SIZE, WIDE = (5.4, 7.2), (8.4, 6.0)
"""Size of a picture [inch], and of one of a simulation, in which bodies lie down."""
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
RIM = 36
"""Lines of the outline of a surface."""
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
        raise file_error(
            "bad_result",
            result.encoding.get("source"),
            "the result holds no points of skeleton and muscle paths to draw",
            "a result of this version",
            "compute it again: musclesolve run TRIAL.toml -o FOLDER",
        )
    # The frame that is shown at each picture is the last one that has begun.
    time, rate = data.time, RATES[kind] / speed
    at = time[0] + np.arange(int((time[-1] - time[0]) * rate + 1e-6) + 1) / rate
    chosen = np.clip(np.searchsorted(time, at + 1e-9, side="right") - 1, 0, len(time) - 1)
    if kind == "mp4" and not shutil.which("ffmpeg"):
        raise input_error(
            "missing_package",
            problem="ffmpeg, which writes MP4 files, is not found",
            expected="the program ffmpeg on the PATH",
            remedy="install it (ffmpeg.org, apt install ffmpeg, brew install ffmpeg), or write a .gif or .html",
        )
    sheet = _Sheet(View(data), identity(result))

    def pictures() -> Iterator[AnyArray]:
        for number, frame in enumerate(chosen):
            report("drawing", number / len(chosen))
            yield sheet.draw(int(frame))

    return _gif(pictures()) if kind == "gif" else _mp4(pictures(), sheet.canvas.get_width_height())


def _gif(pictures: Iterator[AnyArray]) -> bytes:
    """An animation in the colors of its first picture, which shows the scale of colors; it repeats for ever."""
    from PIL import Image

    colored = (Image.fromarray(pixels) for pixels in pictures)
    first, memory = next(colored).quantize(256), io.BytesIO()
    rest = [picture.quantize(palette=first, dither=Image.Dither.NONE) for picture in colored]
    lasting = round(1000.0 / RATES["gif"])
    first.save(memory, "GIF", save_all=True, append_images=rest, duration=lasting, loop=0, optimize=False)
    return memory.getvalue()


def _mp4(pictures: Iterator[AnyArray], size: tuple[int, int]) -> bytes:
    """H.264 in a format that every player knows; the pixels are piped into ffmpeg."""
    with tempfile.TemporaryDirectory() as folder, open(Path(folder) / "log", "w+b") as log:
        file, pixels = Path(folder) / "film.mp4", "{}x{}".format(*size)
        command = (
            f"ffmpeg -loglevel error -f rawvideo -pix_fmt rgb24 -s {pixels} -r {RATES['mp4']:g} -i - {H264}"
        )
        with subprocess.Popen([*command.split(), str(file)], stdin=subprocess.PIPE, stderr=log) as process:
            assert process.stdin is not None
            # a program that has ended is noticed by its exit code
            with contextlib.suppress(BrokenPipeError), process.stdin as pipe:
                for picture in pictures:
                    pipe.write(picture.tobytes())
        if process.returncode:
            log.seek(0)
            printed = log.read().decode("utf-8", "replace").strip()[-300:]
            raise input_error(
                "missing_package",
                problem=f"ffmpeg ended with exit code {process.returncode}: {printed}",
                expected="an ffmpeg with libx264",
                remedy="install a complete ffmpeg, or write a .gif or .html",
            )
        return file.read_bytes()


class _Sheet:
    """A figure whose bones, lines and texts are set for every frame."""

    def __init__(self, view: "View", title: str) -> None:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.collections import LineCollection
        from matplotlib.figure import Figure

        self.view, self.body = view, list[Any]()  # the triangles of the frame
        size = WIDE if view.data.simulated else SIZE
        figure = Figure(figsize=size, dpi=DOTS, facecolor=PAPER)
        self.canvas = FigureCanvasAgg(figure)
        axes = figure.add_axes((0.0, 0.04, 1.0, 0.82))
        axes.set_axis_off()
        axes.set_aspect("equal")
        half = 0.57 * view.height * size[0] / (0.82 * size[1])
        scale = max(1.0, view.reach / half)
        axes.set_ylim(-0.12 * scale * view.height, 1.02 * scale * view.height)
        axes.set_xlim(-scale * half, scale * half)
        self.floor: Any = axes.add_collection(LineCollection([], colors="#dde1e6", linewidths=0.8))
        self.axes, self.point = axes, 1.14 * scale * view.height / (0.82 * size[1] * 72.0)
        figure.text(0.03, 0.975, title, fontsize=6.5, va="top", color=SOFT, wrap=True)
        self.clock = figure.text(0.03, 0.925, "", fontsize=15, va="top", weight="bold", color=INK)
        self.verdicts = figure.text(0.30, 0.925, "", fontsize=7.5, va="top", color=INK, linespacing=1.5)
        if view.data.quantities:
            color_bar(figure, view.data.quantities[0], (0.62, 0.065, 0.34, 0.013))
            if not view.data.simulated:
                lost = "gray muscles: no valid solution, or not measured"
                figure.text(0.03, 0.03, lost, fontsize=6.5, color=GRAY)
        data, kind = view.data, "contact" if view.data.simulated else "ground"
        if (data.ground.names and data.simulated) or (data.quantities and not data.simulated):
            arrow = f"black arrow: {kind} force, 0.5 m for {data.unit}"
            figure.text(0.03, 0.05, arrow, fontsize=6.5, color=GROUND)

    def draw(self, frame: int) -> AnyArray:
        """Pixels (height, width, 3) of a frame."""
        for drawn in self.body:
            drawn.remove()
        self.body = [self.axes.add_collection(paint(self.view, frame, self.point), autolim=False)]
        self.floor.set_segments(list(self.view.grid(frame)))
        self.clock.set_text(f"{self.view.data.time[frame]:.2f} s")
        text, lost = (_pressing if self.view.data.simulated else _verdicts)(self.view.data, frame)
        self.verdicts.set_text(text)
        self.verdicts.set_color(LOST if lost else INK)
        self.canvas.draw()
        return np.array(self.canvas.buffer_rgba())[..., :3].copy()


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
    def reach(self) -> float:
        """Largest distance of any point to the side of the middle [m]."""
        if not self.data.simulated:
            return 0.0
        away = (self.data.position - self.centers[:, None]) @ self.axes[0]
        return float(np.nanmax(np.abs(away), initial=0.0)) + 0.1

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
            self._rims(frame, 0.9 * point),
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

    def grid(self, frame: int) -> Array:
        """Lines of the floor (k, 2, 2), half a meter apart, at constant positions while the view moves."""
        if not self.data.level:
            return np.zeros((0, 2, 2))
        x, y = np.round(2.0 * self.centers[frame, :2]) / 2.0
        steps = np.arange(-2.0, 2.01, 0.5)
        low, high = np.full(steps.shape, -2.0), np.full(steps.shape, 2.0)
        across = np.stack([np.stack([steps, low], 1), np.stack([steps, high], 1)], 1)
        flat = np.concatenate([across, across[..., ::-1]]) + np.array([x, y])
        ends = np.concatenate([flat, np.full((*flat.shape[:2], 1), self.data.floor)], axis=2)
        return self.flat(ends.reshape(-1, 3), frame).reshape(-1, 2, 3)[..., :2]

    def _rims(self, frame: int, width: float) -> tuple[Array, Array, Array]:
        """The outlines of surfaces, as seen from the viewer."""
        shapes = self.data.shapes
        if shapes is None:
            return np.zeros((0, 2, 3)), np.zeros(0), np.zeros((0, 3))
        angle = np.linspace(0.0, 2.0 * np.pi, RIM + 1)[:, None]
        rims = shapes.rims(frame, np.cos(angle) * self.axes[0] + np.sin(angle) * self.axes[1])
        ends = np.stack([rims[:, :-1], rims[:, 1:]], axis=2).reshape(-1, 2, 3)
        return ends, np.full(len(ends), width), _rgb(np.repeat(shape_colors(shapes), RIM))

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
PANELS = 4
LONGEST_NAME = 40
"""Letters of the muscles in the title of a panel, which leave room for r."""
EMG, LINE = "#c9ced5", "#a91223"
VERDICTS = {
    "usable": "#00694c",
    "with-care": "#8a5a00",
    "not-plausible": "#8a5a00",
    "in-part": "#9a4600",
    "not-usable": "#a11d1d",
    "not-known": "#56606b",
}
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
            remedy="write a .html, .gif or .mp4",
        )
    figure = Figure(figsize=STILL_SIZE, dpi=STILL_DOTS, facecolor=PAPER)
    frames = np.rint(np.array(SHARES) * (len(data.time) - 1)).astype(int)
    judged = judge(Facts(result))
    figure.text(
        0.02, 0.955, judged.label, fontsize=13, weight="bold", color=VERDICTS[judged.css], va="center"
    )
    why = textwrap.fill(" ".join(judged.why), 118, max_lines=2, placeholder=" ...")
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
    title = "Activation (red) and EMG (gray, peak at 1)" if with_emg else "Activation"
    figure.text(0.68, 0.955, title, fontsize=9, va="center")
    FigureCanvasAgg(figure).print_png(memory := io.BytesIO())
    return memory.getvalue()


def _poses(figure: Any, data: PictureData, frames: Indices) -> None:
    """The poses side by side, from the right."""
    view, (left, width, low, height) = View(data), (0.0, 0.635, 0.11, 0.73)
    tall = 1.04 * view.height
    floor = figure.add_axes((left, low, width, height))
    floor.set_axis_off()
    floor.axhspan(0.0, 0.17, color="#e9ecf0", linewidth=0.0)
    floor.set_ylim(0.0, 1.0)
    half = 0.5 * tall * width * STILL_SIZE[0] / (len(frames) * height * STILL_SIZE[1])
    for number, frame in enumerate(frames.tolist()):
        axes = figure.add_axes((left + number * width / len(frames), low, width / len(frames), height))
        axes.set_axis_off()
        axes.set_xlim(-half, half)
        axes.set_ylim(-0.1 * tall, 0.95 * tall)
        axes.add_collection(paint(view, frame, tall / (height * STILL_SIZE[1] * 72.0)), autolim=False)
        axes.text(0.0, -0.085 * tall, f"{data.time[frame]:.2f} s", ha="center", fontsize=8, color=INK)


def _activations(figure: Any, result: xr.Dataset, marked: Array) -> bool:
    """Four panels; whether they have EMG."""
    time, chosen = result["time"].values, list(curves(result))
    for number, (name, activation, envelope, r) in enumerate(chosen):
        axes = figure.add_axes((0.68, 0.735 - number * 0.205, 0.295, 0.145), facecolor=PAPER)
        if envelope is not None:
            axes.fill_between(time, 0.0, envelope, color=EMG, linewidth=0.0)
            axes.text(1.0, 1.05, f"r = {r:.2f}", fontsize=8, ha="right", transform=axes.transAxes, color=SOFT)
        axes.plot(time, activation, color=LINE, linewidth=1.6)
        for at in marked:
            axes.axvline(at, color=SOFT, linewidth=0.6, linestyle=(0, (2, 3)))
        axes.set_xlim(time[0], time[-1])
        axes.set_ylim(0.0, 1.05)
        axes.set_yticks([0.0, 0.5, 1.0])
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
