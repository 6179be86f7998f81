"""One page that shows a result at a glance: four poses, four activations beside EMG, and the verdict."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Iterator
from typing import Any

import numpy as np
import xarray as xr

from musclesolve._util.arrays import Array, Indices
from musclesolve._util.sides import SIDE_NAMES, split_side
from musclesolve.errors import input_error
from musclesolve.opensim.muscle_set import long_name
from musclesolve.report.picture.film import GROUND, INK, PAPER, SOFT, View, color_bar, paint
from musclesolve.report.picture.picture_data import PictureData, picture_data
from musclesolve.results.dataset.result_quantities import identity
from musclesolve.results.facts import Facts
from musclesolve.results.judgement import judge

SIZE, DOTS = (11.0, 5.4), 110
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
    figure = Figure(figsize=SIZE, dpi=DOTS, facecolor=PAPER)
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
    half = 0.5 * tall * width * SIZE[0] / (len(frames) * height * SIZE[1])
    for number, frame in enumerate(frames.tolist()):
        axes = figure.add_axes((left + number * width / len(frames), low, width / len(frames), height))
        axes.set_axis_off()
        axes.set_xlim(-half, half)
        axes.set_ylim(-0.1 * tall, 0.95 * tall)
        axes.add_collection(paint(view, frame, tall / (height * SIZE[1] * 72.0)), autolim=False)
        axes.text(0.0, -0.085 * tall, f"{data.time[frame]:.2f} s", ha="center", fontsize=8, color=INK)


def _activations(figure: Any, result: xr.Dataset, marked: Array) -> bool:
    """Four panels; whether they have EMG."""
    time, chosen = result["time"].values, list(curves(result))
    for number, (name, activation, envelope, r) in enumerate(chosen):
        top = 0.735 - number * 0.205
        axes = figure.add_axes((0.68, top, 0.295, 0.145), facecolor=PAPER)
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
    own = result.isel(muscle=[split_side(name)[1] in (side, "") for name in groups])
    strongest = np.argsort(-np.nan_to_num(own["muscle_force"].max("time").values))
    for name in own["muscle"].values[strongest].astype(str):
        if groups[name] not in seen and len(seen) < PANELS:
            seen.add(groups[name])
            yield _named([name]), own["activation"].sel(muscle=name).values, None, np.nan


def _named(muscles: list[str]) -> str:
    """The words that the names of some muscles of one side share, or each name; of the first if they are long."""
    side = split_side(muscles[0])[1]
    stems = [long_name(split_side(name)[0])[0].split("_") for name in muscles]
    shared = [words[0] for words in zip(*stems, strict=False) if len(set(words)) == 1]
    names = " ".join(shared) if shared else " and ".join(" ".join(words) for words in stems)
    if len(names) > LONGEST_NAME:
        names = f"{' '.join(stems[0])} and {len(stems) - 1} more"
    return f"{SIDE_NAMES[side]} {names}" if side in SIDE_NAMES else names
