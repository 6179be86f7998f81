"""Figures of answers: contributions, margins of strength with the most critical path, scenarios, EMG, a calibration."""

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import xarray as xr

from musclesolve._util.sides import SIDE_NAMES, side_of
from musclesolve.laboratory.plotting.page.curves import with_neighbors
from musclesolve.laboratory.plotting.page.page_style import (
    APART,
    NOTE_COLOR,
    RESERVE_STYLE,
    SIDE_COLOR,
    current_style,
    figures_of,
    height_for,
    line,
)
from musclesolve.laboratory.plotting.page.panels import with_panels
from musclesolve.laboratory.plotting.page.sheet import Sheet, heading, native, page, sheet_of
from musclesolve.laboratory.plotting.study.comparison_figures import COST_COLORS, DASHES
from musclesolve.laboratory.results.dataset.result_quantities import along_heading
from musclesolve.laboratory.results.tables import question_tables
from musclesolve.sharing.status import Status, is_solved

if TYPE_CHECKING:
    from matplotlib.axes import Axes


MOST_BARS, MOST_CURVES = 14, 6
ALL_PARTS = "acceleration (all parts)"
LABEL_STEP = 0.08
"""Least distance of the labels of curves, as a share of the largest force."""
AXIS_LABEL = 0.25
"""Space below a panel for the label of its axis [inch]."""


@native
def strength_margins(answer: xr.Dataset) -> Sheet:
    """Draw the least strength of groups and muscles as bars; peak activations and contact forces along the path."""
    contact = "contact_peak" in answer
    below = AXIS_LABEL * (1.5 if current_style().narrow else 1.0)  # two lines in a column
    space = {"left": 1.25, "below": below, "least": height_for(MOST_BARS)}
    sheet, panels = page(answer, "Margins of strength", 2 + contact, 1, height=1.0, space=space)
    _bars(panels.flat[0], answer)
    entries = _activations(panels.flat[1], answer)
    if contact:
        _contact(panels.flat[2], answer)
    sheet.add_legend(entries)
    return sheet


def _bars(axes: "Axes", answer: xr.Dataset) -> None:
    """Draw the groups and muscles with the greatest margins."""
    needed = question_tables.ordered_margins(answer).query("least_strength > 0")
    groups, singles = (needed[needed["kind"] == kind] for kind in ("group", "muscle"))
    kept = pd.concat([groups[:MOST_BARS], singles[: max(MOST_BARS - len(groups), 3)]])
    names = [str(name).replace("_", " ") for name in kept["of"]]
    for place, (name, row) in enumerate(zip(names, kept.to_dict("records"), strict=True)):
        value, opacity = 100.0 * row["least_strength"], 0.45 if row["kind"] == "muscle" else 1.0
        axes.barh(place, value, 0.8, color=SIDE_COLOR[side_of(row["of"])], alpha=opacity, label=name)
        axes.text(value + 0.7, place, f"{value:.0f} %", va="center", ha="left", fontsize="small")
    axes.set_yticks(range(len(kept)), names)
    axes.set_ylim(*axes.get_ylim()[::-1])
    axes.set_xlim(0.0, 108.0)
    of = "strength that is left" if answer.attrs["weak"] != "none" else "strength of the trial"
    sheet_of(axes).label_below(axes, f"least strength [% of the {of}]")
    heading(axes, "least strength", "pale: single muscles; not shown: muscles that the motion does without")


def _activations(axes: "Axes", answer: xr.Dataset) -> dict[str, Any]:
    """Draw peak activations of the muscles that take over, over the strength of the path."""
    peak = answer["peak_activation"].transpose("strength", "muscle")
    rise = np.nan_to_num((peak.isel(strength=-1) - peak.isel(strength=0)).values, neginf=0.0, posinf=0.0)
    rising = [k for k in np.argsort(-rise)[:MOST_CURVES] if rise[k] > question_tables.TAKES_OVER]
    entries = {}
    for number, k in enumerate(rising):
        style: dict[str, Any] = {"color": COST_COLORS[number], "linestyle": DASHES[number]}
        name = str(answer["muscle"].values[k]).replace("_", " ")
        curve = 100.0 * answer["strength"].values, peak.values[:, k]
        axes.plot(*curve, marker="o", markersize=2.5, label=name, **style)
        entries[name] = line(**style)
    axes.set_ylim(0.0, 1.03)
    _strength_axis(axes, answer)
    heading(axes, f"{_path_of(answer)} grows weaker: peak activation", "")
    return entries


def _contact(axes: "Axes", answer: xr.Dataset) -> None:
    """Draw the peak contact forces of the joints over the strength of the path."""
    strengths = 100.0 * answer["strength"].values
    peaks = answer["contact_peak"].transpose("strength", "joint").values
    joints = [str(joint) for joint in answer["joint"].values]
    last, top, least = peaks[-1], float(np.nanmax(peaks, initial=1.0)), -np.inf
    for k in np.argsort(last):
        values = peaks[:, k]
        if np.isnan(values).any():
            continue
        color = SIDE_COLOR[side_of(joints[k])] if np.ptp(values) > 0.02 else NOTE_COLOR
        name = joints[k].replace("_", " ")
        axes.plot(strengths, values, color=color, marker="o", markersize=2.5, label=name)
        least = max(float(values[-1]), least + LABEL_STEP * top)  # labels one above the other
        right = strengths[-1] - 0.015 * max(strengths[0] - strengths[-1], 1.0)
        axes.text(right, least, name, va="center", ha="left", fontsize="small", color=color)
    axes.set_ylim(0.0, 1.05 * top)
    axes.set_ylabel(f"[{answer.attrs['force_unit']}]")
    _strength_axis(axes, answer)
    heading(axes, f"{_path_of(answer)} grows weaker: peak contact force", "gray: changes by less than 0.02")


def _strength_axis(axes: "Axes", answer: xr.Dataset) -> None:
    """Set the strength axis, from full strength on the left to the margin on the right."""
    strengths = 100.0 * answer["strength"].values
    span = max(strengths[0] - strengths[-1], 1.0)
    axes.set_xlim(strengths[0] + 0.02 * span, strengths[-1] - 0.14 * span)
    axes.set_xlabel(f"strength of {_path_of(answer)} [%]")


def _path_of(answer: xr.Dataset) -> str:
    return str(answer.attrs["path_of"]).replace("_", " ")


@native
def contributions(answer: xr.Dataset, side: str) -> Sheet:
    """Draw the upward and forward acceleration of the center of mass by the groups of a leg.

    The bands are between contact models.
    """
    together = question_tables.grouped(answer)
    together = together.assign(center_acceleration=along_heading(together, together["center_acceleration"]))
    stance = question_tables.in_stance(together, side)["center_acceleration"]
    shown = _largest_groups(together, side, [stance.sel(axis=["x", "z"])])
    title = f"Contributions to the acceleration of the center of mass: {SIDE_NAMES.get(side, side)} leg"
    sheet, panels = page(answer, title, 2, 1, height=0.75, labels=True, space={"left": 0.1, "below": 0.25})
    whole = together["center_acceleration"].sum("group", skipna=False).isel(contact=0)
    entries: dict[str, Any] = {}
    touching = answer["touching"].sel(side=side)
    for axes, axis, label in zip(panels.flat, "zx", ("upward", "forward"), strict=True):
        direct = together["center_acceleration"].sel(axis=axis).where(touching)
        entries |= _of_groups(axes, ALL_PARTS, whole.sel(axis=axis), direct, shown)
        axes.set_ylabel("[m/s2]")
        axes.set_xlabel("time [s]")
        heading(axes, label, f"in stance of the leg; {_contacts(answer)}")
    sheet.add_legend(entries)
    return sheet


def _largest_groups(together: xr.Dataset, side: str, of: Sequence[xr.DataArray]) -> list[str]:
    """Groups of a leg with the largest contributions, as many as there are colors."""
    names = [name for name in map(str, together["group"].values) if side_of(name) == side]
    sizes = {
        name: max(float(np.nanmax(np.abs(part.sel(group=name).values), initial=0.0)) for part in of)
        for name in names
    }
    return sorted(names, key=lambda name: -sizes[name])[: len(COST_COLORS)]


def _of_groups(
    axes: "Axes", of_all: str, whole: xr.DataArray, parts: xr.DataArray, shown: Sequence[str]
) -> dict[str, Any]:
    """Draw a sum (time,) and the contributions of groups, each with the band of the contact models if any.

    Returns the entries of the legend.
    """
    time, entries = whole["time"].values, {of_all: line("#111111", 1.2)}
    axes.plot(time, whole.values, color="#111111", linewidth=1.2, label=of_all)
    for color, name in zip(COST_COLORS, shown, strict=False):
        words, values = name.replace("_", " "), parts.sel(group=name)
        if "contact" in values.dims:
            curves = values.transpose("contact", "time").values
            low, high, label = curves.min(axis=0), curves.max(axis=0), f"{words}{APART}contact models"
            axes.fill_between(time, low, high, color=color, alpha=0.15, linewidth=0.0, label=label)
            values = values.isel(contact=0)
        axes.plot(time, values.values, color=color, label=words)
        entries[words] = line(color)
    axes.axhline(0.0, color=NOTE_COLOR, linewidth=0.6)
    return entries


def _contacts(answer: xr.Dataset) -> str:
    first, *others = map(str, answer["contact"].values)
    return f"curve: contact as {first}; band: also as {' and '.join(others)}"


@native
def contact_contributions(answer: xr.Dataset, side: str) -> Sheet:
    """Draw the contact forces of a leg by its groups: across the joint on the left, through dynamics on the right."""
    together, weight = question_tables.grouped(answer), float(answer.attrs.get("body_weight_n", 1.0))
    places = question_tables.contact_shares(together, side)
    shown = _largest_groups(together, side, [part for pair in places.values() for part in pair])
    title = f"Contributions to contact forces: {SIDE_NAMES.get(side, side)} leg"
    rows = len(places)
    sheet, panels = page(
        answer, title, rows, 2, height=0.3 * rows, labels=True, space={"below": 0.2}, sharey="row"
    )
    entries: dict[str, Any] = {}
    for row, (place, (parts, dynamics)) in enumerate(places.items()):
        whole = (
            parts.sum("group", skipna=False) + dynamics.isel(contact=0).sum("group", skipna=False)
        ) / weight
        label = place.replace(f"_{side}", "", 1).replace("_", " ")
        for axes, of, what in zip(panels[row], (parts, dynamics), ("own", "through dynamics"), strict=True):
            entries |= _of_groups(axes, "contact force", whole, of / weight, shown)
            heading(axes, f"{label}: {what}", _contacts(answer) if row == 0 and of is dynamics else "")
            if row == rows - 1:
                axes.set_xlabel("time [s]")
        panels[row, 0].set_ylabel(f"[{answer.attrs['force_unit']}]")
    sheet.add_legend(entries)
    return sheet


@native
def scenarios(answer: xr.Dataset) -> Sheet:
    """Draw the contact force of each joint under each scenario; dotted with a reserve, a gap without a solution."""
    joints = [str(joint) for joint in answer["joint"].values]
    sides = [side for side in SIDE_NAMES if any(side_of(joint) == side for joint in joints)] or ["other"]
    rows = {side: [joint for joint in joints if side_of(joint) == side] for side in sides}
    count = max(len(case) for case in rows.values())
    title = "One motion under each scenario: joint contact force"
    height, space = 0.3 * count, {"below": 0.2}
    sheet, panels = page(answer, title, count, len(sides), height=height, space=space, sharey="row")
    entries: dict[str, Any] = {}
    for number, name in enumerate(map(str, answer["scenario"].values)):
        color = COST_COLORS[number % len(COST_COLORS)]
        dashes = DASHES[(number // len(COST_COLORS)) % len(DASHES)]
        width = 1.8 if number == 0 else 1.1
        style: dict[str, Any] = {"color": color, "linestyle": dashes, "linewidth": width}
        words = textwrap.shorten(name, 44, placeholder=" ...")
        entries[words] = line(**style)
        case = answer.isel(scenario=number)
        for column, side in enumerate(sides):
            status = case["status"].sel(side=side).values
            helped = with_neighbors(status == Status.SOLVED_WITH_RESERVE) & is_solved(status)
            for row, joint in enumerate(rows[side]):
                values = case["contact_force"].sel(joint=joint).values
                for shown, more in ((status == Status.SOLVED, {}), (helped, {"linestyle": RESERVE_STYLE})):
                    curve = np.where(shown, values, np.nan)
                    panels[row, column].plot(answer["time"].values, curve, **style | more, label=words)
            if helped.any():
                entries["with reserve"] = line(NOTE_COLOR, linestyle=RESERVE_STYLE)
    for column, side in enumerate(sides):
        for axes, joint in with_panels(panels[:, column], rows[side]):
            heading(axes, joint.replace("_", " "), "")
            axes.set_ylim(bottom=0.0)
            if axes in panels[-1]:
                axes.set_xlabel("time [s]")
            if column == 0:
                axes.set_ylabel(f"[{answer['contact_force'].attrs['units']}]")
    sheet.add_legend(entries)
    return sheet


COLORS = {"before": "#9E9E9E", "fitted": "#0072B2", "predicted": "#D55E00"}
LABELS = {
    "before": "muscles of the parent",
    "fitted": "muscles of this person",
    "predicted": "muscles that the other trials give",
}
MEASURED = "#111111"
COLUMNS = 4
LONGEST_STEP = 0.05
"""Time between two frames from which a curve has a hole [s]."""
_SCALE = {"m": (1e3, "mm"), "1": (1.0, "share of the largest"), "N m": (1.0, "N m")}


def calibration_files(calibration: xr.Dataset) -> dict[str, bytes]:
    """The content of the file of every figure of the Dataset of a calibration, by its name."""
    figures = {"calibration_factors": calibration_factors}
    for kind, name in (("fascicle length", "calibration_fascicles"), ("EMG", "calibration_emg")):
        if (calibration["kind"].values.astype(str) == kind).any():
            figures[name] = lambda calibration, kind=kind: calibration_curves(calibration, kind)  # type: ignore[misc]
    return figures_of(calibration, figures)


@native
def calibration_curves(calibration: xr.Dataset, kind: str = "fascicle length") -> Sheet:
    """Measured curves of a kind with the curves of the muscles before the fit, as fitted, and as predicted."""
    curves = calibration.isel(curve=np.flatnonzero(calibration["kind"].values.astype(str) == kind))
    count = curves.sizes["curve"]
    columns = min(COLUMNS, count)
    rows = -(-count // columns)
    title = f"Calibration: measured {kind} and model"
    sheet, panels = page(calibration, title, rows, columns, height=max(0.36, height_for(rows)), labels=True)
    for axes, k in with_panels(panels, range(count)):
        at = curves.isel(curve=k)
        scale, unit = _SCALE[str(at["unit"].values)]
        time = at["time"].values
        axes.plot(time, scale * at["measured"].values, color=MEASURED, linewidth=1.4)
        for word, color in COLORS.items():
            style = "--" if word == "predicted" else "-"
            axes.plot(time, scale * at[word].values, color=color, linewidth=1.1, linestyle=style)
        known = {word: float(at[f"correlation_{word}"]) for word in COLORS}
        r = ", ".join(f"{value:.2f} {word}" for word, value in known.items() if np.isfinite(value))
        trial = str(at["trial"].values)
        heading(axes, str(at["label"].values), f"{trial}: r {r}" if r else trial)
        if k % columns == 0:
            axes.set_ylabel(f"{kind} [{unit}]")
        if k + columns >= count:
            axes.set_xlabel("time [s]")
    entries = {"measured": line(MEASURED)}
    for word, color in COLORS.items():
        if np.isfinite(curves[word]).any():
            entries[LABELS[word]] = line(color, linestyle="--" if word == "predicted" else "-")
    sheet.add_legend(entries)
    return sheet


@native
def calibration_factors(calibration: xr.Dataset) -> Sheet:
    """Every fitted factor with its 95 % interval over the interval of the prior."""
    count = calibration.sizes["parameter"]
    title, size = "Calibration: fitted parameters and their priors", 0.12 + 0.022 * count
    sheet, panels = page(calibration, title, 1, 1, height=size, space={"left": 2.6})
    axes: Axes = panels[0, 0]
    place = np.arange(count)[::-1]
    names = calibration["parameter"].values.astype(str)
    for mean, sd, color, width in (
        (calibration["prior_mean"].values, calibration["prior_sd"].values, "#CFCFCF", 7.0),
        (calibration["value"].values, calibration["sd"].values, COLORS["fitted"], 2.0),
    ):
        axes.hlines(place, np.exp(mean - 1.96 * sd), np.exp(mean + 1.96 * sd), color=color, linewidth=width)
    axes.plot(np.exp(calibration["value"].values), place, "o", color=COLORS["fitted"], markersize=4)
    axes.axvline(1.0, color=NOTE_COLOR, linewidth=0.8)
    axes.set_xscale("log")
    low, high = axes.get_xlim()
    kept = [tick for tick in [0.1, 0.2, 0.5, 0.7, 1.0, 1.4, 2.0, 5.0] if low <= tick <= high]
    axes.set_xticks(kept, [f"{tick:g}" for tick in kept])
    axes.minorticks_off()
    axes.set_yticks(place, [name.replace("_", " ") for name in names])
    axes.set_xlabel("factor")
    heading(axes, "95 % intervals", "")
    fitted = line(COLORS["fitted"], marker="o", markersize=4)
    sheet.add_legend({"what persons differ by (prior)": line("#CFCFCF", 6.0), "with the trials": fitted})
    return sheet


def cost_fit_files(fit: xr.Dataset) -> dict[str, bytes]:
    """The content of the file of the figure of a fitted cost, by its name."""
    return figures_of(fit, {"cost_fit": cost_fit})


@native
def cost_fit(fit: xr.Dataset) -> Sheet:
    """Draw what each cost misses of the EMG, seen and unseen, and the envelopes beside the fitted cost."""
    channels, shown = fit["channel"].values.astype(str), fit.sizes["channel"]
    columns = 3
    rows = 1 + -(-shown // columns)
    title = f"Cost fitted to EMG: {fit.attrs['fitted_cost']}"
    space = {"left": 1.3, "below": 0.1}
    sheet, panels = page(fit, title, rows, columns, height=max(0.4, 0.16 * rows), space=space)
    _missed(panels[0], fit)
    for axes, k in with_panels(panels[1:], range(shown)):
        at = fit.isel(channel=k)
        known = np.flatnonzero(np.isfinite(at["envelope"].values))
        time = at["time"].values[known]
        step = np.diff(time)
        # a line ends at a hole, and where another trial begins
        ends = np.flatnonzero((step <= 0.0) | (step > LONGEST_STEP)) + 1
        for name, color in (("envelope", MEASURED), ("fitted", COLORS["fitted"])):
            curve = np.insert(at[name].values[known], ends, np.nan)
            axes.plot(np.insert(time, ends, np.nan), curve, color=color, linewidth=1.2)
        heading(axes, channels[k].replace("_", " "), f"misses {100.0 * float(at['missed'][0]):.0f} %")
        if k + columns >= shown:
            axes.set_xlabel("time [s]")
    sheet.add_legend({"envelope": line(MEASURED), "fitted cost": line(COLORS["fitted"])})
    return sheet


def _missed(panels: Sequence["Axes"], fit: xr.Dataset) -> None:
    """Draw bars of the share that each cost misses: on the data of the fit, and on what the fit has not seen."""
    kinds = fit["kind"].values.astype(str)
    sets = [
        ("data of the fit", fit["missed"].mean("channel").values),
        *(
            (f"{kind}s left out", fit["left_out_missed"].values[:, kinds == kind].mean(axis=1))
            for kind in ("channel", "stride")
            if (kinds == kind).any()
        ),
    ]
    names = [str(name).replace("_", " ") for name in fit["cost"].values]
    for number, axes in enumerate(panels):
        if number >= len(sets):
            axes.set_visible(False)
            continue
        what, values = sets[number]
        for place, value in enumerate(values):
            axes.barh(place, 100.0 * value, 0.8, color=COLORS["fitted"] if place == 0 else "#CFCFCF")
            axes.text(100.0 * value + 1.0, place, f"{100.0 * value:.0f}", va="center", fontsize="small")
        axes.set_yticks(range(len(names)), names if number == 0 else [""] * len(names))
        axes.set_ylim(len(names) - 0.5, -0.5)
        axes.set_xlim(0.0, max(100.0, 112.0 * float(np.nanmax(values))))
        heading(axes, what, "variance missed [%]")
