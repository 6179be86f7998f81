"""The moving picture as GIF or MP4: the side view, frame by frame."""

from __future__ import annotations

import io
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from musclesolve._util.arrays import AnyArray, Array
from musclesolve._util.bundled_toml import bundled_toml
from musclesolve._util.progress import Progress, no_progress
from musclesolve.errors import InputError
from musclesolve.report.picture.encoded import colors, shape_colors
from musclesolve.report.picture.picture_data import PictureData, picture_data
from musclesolve.report.picture.projection import BONE, GRAY, GROUND, View
from musclesolve.results.dataset.frame_validity import SIDE_NAMES
from musclesolve.results.dataset.result_quantities import identity

RATES = {"gif": 20.0, "mp4": 30.0}
"""Pictures a second; those of a GIF last for whole hundredths of a second."""
PAPER, INK, SOFT, LOST = "#f5f6f8", "#1d232b", "#5b6672", "#8a1c1c"
SIZE, WIDE = (5.4, 7.2), (8.4, 6.0)
"""Of a picture [inch], 100 dots each; of one of a simulation, in which bodies lie down."""


def film(result: xr.Dataset, kind: str, speed: float = 0.5, progress: Progress | None = None) -> bytes:
    """The content of a GIF or MP4 file.

    Args:
        result: of a run, or the dataset of a simulation.
        kind: "gif" or "mp4".
        speed: share of the true speed.
        progress: called before every picture.

    Raises:
        InputError: the dataset is neither of the two, holds no points to draw, or ffmpeg is missing (MP4).
    """
    data, report = picture_data(result), progress or no_progress
    if data.empty:
        raise InputError(
            "the result holds no points of skeleton and muscle paths to draw",
            code="bad_result",
            file=result.encoding.get("source"),
            expected="a result of this version",
            remedy="compute it again: musclesolve run TRIAL.toml -o FOLDER",
        )
    chosen = _chosen(data.time, RATES[kind] / speed)
    program = _ffmpeg() if kind == "mp4" else ""
    pictures = _pictures(data, identity(result), chosen, report)
    return _mp4(pictures, program) if kind == "mp4" else _gif(pictures, _palette(data))


def _chosen(time: Array, rate: float) -> AnyArray:
    """The frame that is shown at each picture: the last one that has begun."""
    count = int((time[-1] - time[0]) * rate + 1e-6) + 1
    at = time[0] + np.arange(count) / rate
    return np.clip(np.searchsorted(time, at + 1e-9, side="right") - 1, 0, len(time) - 1)


def _pictures(data: PictureData, title: str, chosen: AnyArray, report: Progress) -> Iterator[AnyArray]:
    """Pixels (height, width, 3) of the chosen frames."""
    sheet = _Sheet(View(data), title)
    for number, frame in enumerate(chosen):
        report("drawing", number / len(chosen))
        yield sheet.draw(int(frame))


class _Sheet:
    """A figure whose lines and texts are set anew for every frame."""

    def __init__(self, view: View, title: str) -> None:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.collections import LineCollection
        from matplotlib.figure import Figure

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
        self.lines: Any = axes.add_collection(LineCollection([], capstyle="round"))
        figure.text(0.03, 0.975, title, fontsize=6.5, va="top", color=SOFT, wrap=True)
        self.clock = figure.text(0.03, 0.925, "", fontsize=15, va="top", weight="bold", color=INK)
        self.verdicts = figure.text(0.30, 0.925, "", fontsize=7.5, va="top", color=INK, linespacing=1.5)
        if view.data.quantities:
            _color_bar(figure, view)
        if view.data.quantities or view.data.simulated:
            _arrow_scale(figure, view.data)

    def draw(self, frame: int) -> AnyArray:
        """Pixels of a frame."""
        lines = self.view.lines(frame)
        self.floor.set_segments(list(self.view.grid(frame)))
        self.lines.set_segments(list(lines.segments))
        self.lines.set_linewidths(lines.widths)
        self.lines.set_color(lines.colors)
        self.clock.set_text(f"{self.view.data.time[frame]:.2f} s")
        text, lost = (_pressing if self.view.data.simulated else _verdicts)(self.view.data, frame)
        self.verdicts.set_text(text)
        self.verdicts.set_color(LOST if lost else INK)
        self.canvas.draw()
        return np.asarray(self.canvas.buffer_rgba())[..., :3].copy()


def _verdicts(data: PictureData, frame: int) -> tuple[str, bool]:
    """A line for each leg, and whether one of them has no valid solution."""
    known, lines = bundled_toml(__package__, "picture.toml")["verdict"], []
    for leg in data.legs:
        name = str(leg.verdict[frame])
        percent = f" {leg.percent[frame]:.0f} %" if np.isfinite(leg.percent[frame]) else ""
        text = known.get(name, {}).get("text", f"no valid solution: {name.replace('_', ' ')}")
        other = "other muscles" if len(data.legs) > 1 else "muscles"
        side = f"{SIDE_NAMES[leg.side]} leg" if leg.side in SIDE_NAMES else other
        lines.append(f"{side}{percent}: {text.partition(',')[0]}")
    return "\n".join(lines), not all(leg.valid[frame] for leg in data.legs)


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
        ScalarMappable(scale, ListedColormap(colors(quantity.about))), place, orientation="horizontal"
    )
    bar.outline.set_visible(False)
    bar.ax.tick_params(labelsize=6.5, length=2)
    unit = "" if quantity.about["unit"] == "1" else f" [{quantity.about['unit']}]"
    figure.text(0.62, 0.085, f"{quantity.about['label']}{unit}", fontsize=7.5, va="bottom")
    if not view.data.simulated:
        figure.text(0.03, 0.03, "gray muscles: no valid solution", fontsize=6.5, color=GRAY)


def _arrow_scale(figure: Any, data: PictureData) -> None:
    """What an arrow's length means."""
    kind = "contact" if data.simulated else "ground"
    if data.ground.names or not data.simulated:
        figure.text(0.03, 0.05, f"blue: {kind} force, 0.5 m for {data.unit}", fontsize=6.5, color=GROUND)


def _gif(pictures: Iterator[AnyArray], palette: AnyArray) -> bytes:
    """An animation of one palette (k, 3), which repeats for ever."""
    from PIL import Image

    memory, known = io.BytesIO(), Image.new("P", (1, 1))
    known.putpalette(palette.astype(np.uint8).tobytes())
    first, *rest = (
        Image.fromarray(each).quantize(palette=known, dither=Image.Dither.NONE) for each in pictures
    )
    several: dict[str, Any] = {"append_images": rest, "save_all": True} if rest else {}
    first.save(memory, "GIF", duration=round(1000.0 / RATES["gif"]), loop=0, optimize=False, **several)
    return memory.getvalue()


def _palette(data: PictureData) -> AnyArray:
    """Colors (k, 3), at most 256: those of the muscles and of everything else, and blends with the background."""
    from matplotlib.colors import to_rgb

    own = colors(data.quantities[0].about)[:: 2 if data.shapes is None else 3] if data.quantities else []
    paper = np.array(to_rgb(PAPER))
    if data.shapes is not None:
        own += shape_colors(data.shapes, bundled_toml(__package__, "picture.toml")["shape"])
    own = list(dict.fromkeys(own))
    full = np.array([to_rgb(each) for each in (*own, BONE, GRAY, GROUND, INK, SOFT, LOST)])
    blends = [paper + share * (full - paper) for share in np.linspace(0.16, 1.0, 6)]
    return np.rint(255.0 * np.concatenate([[paper], *blends]))


def _ffmpeg() -> str:
    program = shutil.which("ffmpeg")
    if program is None:
        raise InputError(
            "ffmpeg, which writes MP4 files, is not found",
            code="missing_package",
            expected="the program ffmpeg on the PATH",
            remedy="install it (ffmpeg.org, apt install ffmpeg, brew install ffmpeg), or write a .gif or .html",
        )
    return program


def _mp4(pictures: Iterator[AnyArray], program: str) -> bytes:
    """H.264 in a format that every player knows; the pixels are piped into ffmpeg."""
    first = next(pictures)
    height, width = first.shape[0] // 2 * 2, first.shape[1] // 2 * 2
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "film.mp4"
        given = [
            "-f",
            "rawvideo",
            "-pix_fmt",
            "rgb24",
            "-s",
            f"{width}x{height}",
            "-r",
            f"{RATES['mp4']:g}",
            "-i",
            "-",
        ]
        wanted = ["-an", "-c:v", "libx264", "-pix_fmt", "yuv420p", "-crf", "20", "-movflags", "+faststart"]
        command = [program, "-loglevel", "error", "-y", *given, *wanted, str(file)]
        with open(Path(folder) / "log", "w+b") as log:
            process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=log)
            assert process.stdin is not None
            try:
                _feed(process.stdin, first, pictures, (height, width))
            finally:
                code = process.wait()
            log.seek(0)
            printed = log.read().decode("utf-8", "replace").strip()
        if code or not file.is_file():
            raise InputError(
                f"ffmpeg ended with exit code {code}: {printed[-300:]}",
                code="missing_package",
                expected="an ffmpeg with libx264",
                remedy="install a complete ffmpeg, or write a .gif or .html",
            )
        return file.read_bytes()


def _feed(pipe: Any, first: AnyArray, rest: Iterator[AnyArray], size: tuple[int, int]) -> None:
    """Write all pictures; a program that has ended is noticed by its exit code."""
    try:
        with pipe:
            for pixels in chain([first], rest):
                pipe.write(np.ascontiguousarray(pixels[: size[0], : size[1]]).tobytes())
    except BrokenPipeError:
        return
