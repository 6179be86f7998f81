"""Figures 6.17 to 6.20: activations and forces of the muscles over the stride, and when the text says they act."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.thesis_figures import drawing
from benchmarks.thesis_figures.drawing import COLORS, Finding, panels, when
from benchmarks.thesis_figures.muscle_names import (
    ACTIVE,
    MARGIN,
    bursts_of,
    groups_of_source,
    over_cycle,
    total,
    within,
)
from benchmarks.thesis_figures.study import Study
from musclesolve._util.arrays import Array, true_runs
from musclesolve.laboratory.plotting.page.page_style import SMALL, TEXT
from musclesolve.laboratory.plotting.page.panels import with_panels
from musclesolve.laboratory.plotting.page.sheet import heading
from musclesolve.sharing.status import Status

COLUMNS = 5
FULL = 0.99
"""A muscle is counted as fully active above this activation."""
BURST = "#E69F00"
COMPARED = ("iliacus", "soleus", "adductor_brevis", "biceps_femoris_short_head")


def activations(study: Study) -> Finding:
    """Figure 6.17: activation of every muscle, with the published bursts of its EMG."""
    series = over_cycle(study, "activation")
    figure = _grid(study, series, "Activation of the muscles of the right leg", "activation", 1.0)
    timed = {name: bursts_of(name) for name in series if bursts_of(name) and np.nanmax(series[name]) > 0.01}
    share = {
        name: float(
            np.nansum(np.where(within(study.percent, times, MARGIN), series[name], 0.0))
            / np.nansum(series[name])
        )
        for name, times in timed.items()
    }
    blind = {name: float(within(study.percent, times, MARGIN).mean()) for name, times in timed.items()}
    better = sum(share[name] > blind[name] for name in share)
    worst = sorted(share, key=share.__getitem__)[:4]
    return Finding(
        figure,
        f"{len(timed)} of {len(series)} muscles have published bursts and are used: in the median "
        f"{100 * np.median(list(share.values())):.0f} % of the activation lies within them (give or take "
        f"{MARGIN:.0f} % of the cycle), where a constant activation would have "
        f"{100 * np.median(list(blind.values())):.0f} %; "
        f"{better} muscles do better than constant. Least: "
        + ", ".join(f"{name.replace('_', ' ')} {100 * share[name]:.0f} %" for name in worst)
        + f". {_saturated(study, series)} {_solved(study)}",
    )


def forces(study: Study) -> Finding:
    """Figure 6.18: force of every muscle."""
    series = over_cycle(study, "muscle_force")
    figure = _grid(study, series, "Forces of the muscles of the right leg", "force [N]", None)
    order = sorted(series, key=lambda name: -np.nanmax(series[name]))[:6]
    largest = ", ".join(f"{name.replace('_', ' ')} {when(series[name], study.percent)}" for name in order)
    return Finding(figure, f"Largest forces [N]: {largest}. {_solved(study)}")


def compared_forces(study: Study) -> Finding:
    """Figure 6.19: the four muscles whose forces the source sets beside forces of others."""
    series = over_cycle(study, "muscle_force")
    figure, axes = panels(
        study, "Forces of four muscles; bars: EMG on, published; hatched: with a reserve", 2, 2, 0.5
    )
    for number, (panel, name) in enumerate(zip(axes.flat, COMPARED, strict=True)):
        panel.plot(study.percent, series[name], color=COLORS[0])
        _bursts(panel, name)
        drawing.mark_gaps(panel, study, study.reserved)
        heading(panel, name.replace("_", " "))
        panel.set_ylim(bottom=0.0)
        drawing.over_cycle(panel, study, "[N]", labeled=number >= 2)
    peaks = ", ".join(f"{name.replace('_', ' ')} {when(series[name], study.percent)}" for name in COMPARED)
    return Finding(figure, f"Peaks [N]: {peaks}.")


def _grid(study: Study, series: dict[str, Array], title: str, unit: str, top: float | None) -> Figure:
    rows = -(-len(series) // COLUMNS)
    figure, axes = drawing.panels(study, title, rows, COLUMNS, 1.0, labels=False)
    for number, (panel, (name, values)) in enumerate(with_panels(axes, series.items())):
        panel.plot(study.percent, values, color=COLORS[0], linewidth=1.2)
        _bursts(panel, name)
        drawing.mark_gaps(panel, study, study.reserved)
        panel.set_xlim(0.0, 100.0)
        panel.set_ylim(0.0, 1.08 * (top or max(np.nanmax(values), 10.0)))
        heading(panel, _short(name))
        panel.tick_params(labelbottom=number >= len(series) - COLUMNS)
    figure.supylabel(unit, fontsize=TEXT)
    figure.supxlabel(
        "gait cycle of the right leg [%]; bars: EMG on, published; hatched: with a reserve", fontsize=TEXT
    )
    return figure


def _short(name: str) -> str:
    """A name that fits above a small panel."""
    for long, short in (("extensor", "ext."), ("flexor", "flex."), ("biceps femoris", "biceps fem.")):
        name = name.replace("_", " ").replace(long, short)
    return name


def _bursts(axes: Axes, name: str) -> None:
    """Bars at the top of a panel where EMG is on."""
    percent = np.linspace(0.0, 100.0, 1001)
    for first, stop in true_runs(within(percent, bursts_of(name))):
        axes.axvspan(percent[first], percent[stop - 1], ymin=0.95, color=BURST, linewidth=0.0)


def _saturated(study: Study, series: dict[str, Array]) -> str:
    full = (np.array(list(series.values())) > FULL).sum(axis=0)
    several = study.percent[full > 1]
    spread = f" from {several[0]:.0f} to {several[-1]:.0f} %" if several.size else ""
    return (
        f"Up to {int(full.max())} muscles are at 1 together, at {study.percent[int(full.argmax())]:.0f} % (more than "
        f"one{spread})."
    )


def _solved(study: Study) -> str:
    status, reserve = study.of_cycle(study.result["status"].values)[:, 0], int(study.reserved.sum())
    solved = int((status == Status.SOLVED).sum())
    size = np.nanmax(np.abs(study.of_cycle(study.result["reserve_moment"].values))) if reserve else 0.0
    return f"{solved} of {status.size} frames solved, {reserve} more with a reserve (largest {size:.0f} N m)."


def function_groups(study: Study) -> Finding:
    """Figure 6.20: eight groups, their sum and their members."""
    series, groups = over_cycle(study, "muscle_force"), groups_of_source()["group"]
    figure, axes = panels(study, "Muscle forces by function group; hatched: with a reserve", 4, 2, 0.98)
    for number, (panel, group) in enumerate(zip(axes.flat, groups.values(), strict=True)):
        panel.plot(study.percent, total(series, group["muscles"]), color="black", linewidth=1.5, label="sum")
        for color, name in zip(COLORS, group["muscles"], strict=False):
            panel.plot(
                study.percent, total(series, [name]), color=color, linewidth=0.9, label=name.replace("_", " ")
            )
        panel.set_ylim(bottom=0.0, top=1.45 * panel.get_ylim()[1])
        drawing.mark_gaps(panel, study, study.reserved)
        heading(panel, group["panel"])
        drawing.over_cycle(panel, study, "[N]", labeled=number >= 6)
        panel.legend(fontsize=SMALL - 1, framealpha=0.85, edgecolor="none", ncols=2, loc="upper right")
    peaks = ", ".join(
        f"{group['panel'].partition(' ')[2]} {when(total(series, group['muscles']), study.percent)}"
        for group in groups.values()
    )
    every = np.nansum(list(series.values()), axis=0)
    held, missing = claims(study.percent, over_cycle(study, "activation"))
    return Finding(
        figure,
        f"Mean force of all muscles {every[study.stance].mean():.0f} N in stance, {every[~study.stance].mean():.0f} N "
        f"in swing. Peaks [N]: {peaks}. Of {held + len(missing)} statements of the text on when a group acts "
        f"{held} hold (above a fifth of its own peak in that window)"
        + (f"; not: {'; '.join(missing)}." if missing else "."),
    )


def claims(percent: Array, series: dict[str, Array]) -> tuple[int, list[str]]:
    """How many statements of the text hold of activations (K,) over the cycle [%], and those that do not."""
    held, missing = 0, []
    for claim in groups_of_source()["claim"]:
        found = total(series, claim["muscles"])
        inside = (percent >= claim["window"][0]) & (percent <= claim["window"][1])
        if not np.isfinite(found[inside]).any():  # a part of the cycle that was not recorded
            continue
        share = float(np.nanmax(found[inside]) / np.nanmax(found))
        if (share > ACTIVE) == claim["active"]:
            held += 1
        else:
            missing.append(f"{claim['what']} ({100 * share:.0f} % of their peak)")
    return held, missing
