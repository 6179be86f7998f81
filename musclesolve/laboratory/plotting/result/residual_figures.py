"""Residuals of points, muscles, ground and filters, and gaps: markers, reserves, pelvis, cut-offs, certificate."""

from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from musclesolve._util.sides import SIDE_NAMES, has_side, split_side
from musclesolve.laboratory.plotting.page.chart import Chart, Panel
from musclesolve.laboratory.plotting.page.chart_figure import charted, charted_of_arrays
from musclesolve.laboratory.plotting.page.curves import Legs, time_axis
from musclesolve.laboratory.plotting.page.marks import Line, Mark
from musclesolve.laboratory.plotting.page.page_style import (
    APART,
    NOTE_COLOR,
    SIDE_COLOR,
    SIDE_WIDTH,
    Arrangement,
    area,
    current_style,
    height_for,
    line,
    space_for,
)
from musclesolve.laboratory.plotting.page.panels import with_panels
from musclesolve.laboratory.plotting.page.sheet import Sheet, as_result, heading, native, page, sheet_of
from musclesolve.laboratory.plotting.result.joint_figures import coordinate_stems
from musclesolve.laboratory.plotting.study.comparison_figures import line_style
from musclesolve.laboratory.results.dataset import frame_validity as frames
from musclesolve.laboratory.results.dataset.result_quantities import (
    CONSISTENCY_METHODS,
    OPPOSITE,
    body_weight,
    moved_points,
    pelvis_residual,
    shared_dofs,
)
from musclesolve.laboratory.results.facts import Facts
from musclesolve.sharing.kernel.constants import GAP
from musclesolve.sharing.solution import Solution

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_MIDDLE, MIDDLE = "", "middle"
DENSE = 1000
"""Number of frames from which curves over time are thin."""
SMALLEST_SCALE = 2.0
"""Least length of the scale of reserves [N m], so that negligible reserves look small."""
SMALLEST = 1e-32
"""Gap that is drawn in place of a smaller one."""
LIMIT = "limit: a frame above it is not solved"


@native
def consistency_shift(result: xr.Dataset) -> Sheet:
    """Distance between consistent and measured position of each point [mm]: a bar to its rms, a line to its worst.

    A row for each joint or landmark, right and left together, the toes at the bottom.
    """
    names, rms, worst = moved_points(result)
    side = [name[-1] if has_side(name) else _MIDDLE for name in names]
    stem = [name.removesuffix(f"_{s}") for name, s in zip(names, side, strict=True)]
    rows = list(dict.fromkeys(stem))
    labels = [row.replace("_", " ") for row in rows]
    size, space = 0.2 + 0.02 * len(rows), {"left": space_for(labels), "least": height_for(len(rows))}
    sheet, panels = page(result, "Residuals of the measured points", 1, 1, height=size, space=space)
    axes = panels[0, 0]
    for place, name in enumerate(stem):
        row = rows.index(name) + {"r": 0.2, "l": -0.2, _MIDDLE: 0.0}[side[place]]
        color, label = SIDE_COLOR.get(side[place], NOTE_COLOR), SIDE_NAMES.get(side[place], MIDDLE)
        length, most = 1000.0 * rms[place], 1000.0 * worst[place]
        axes.barh(row, length, height=0.36, color=color, label=label)
        axes.plot([length, most], [row, row], color=color, linewidth=0.8, label=label)
        axes.plot(most, row, color=color, marker="|", markersize=4, label=label)
    axes.set_yticks(np.arange(len(rows)), labels)
    axes.set_ylim(-0.6, len(rows) - 0.4)
    axes.set_xlim(left=0.0)
    axes.grid(False, axis="y")
    method = CONSISTENCY_METHODS[str(result.attrs.get("consistency_method", "nearest"))]
    sheet.label_below(axes, f"distance from the measured point, {method} [mm]")
    entries: dict[str, Any] = {
        SIDE_NAMES.get(s, MIDDLE): area(color=SIDE_COLOR.get(s, NOTE_COLOR), of=SIDE_NAMES.get(s, MIDDLE))
        for s in ("r", "l", _MIDDLE)
        if s in side
    }
    entries["bar: root mean square over the frames"] = area(color=NOTE_COLOR, alpha=0.5)
    entries["line: to the worst frame"] = line(NOTE_COLOR, 0.8, marker="|")
    sheet.add_legend(entries)
    return sheet


@charted_of_arrays()
def reserves(facts: Facts) -> Chart:
    """Moments that the muscles of a model, or of a solution, leave to reserves [N m]."""
    legs = Legs.from_result(facts.result, analyzed=False)
    title = "Reserve moments" if legs.incomplete else "Reserve moments: no frame needs one"
    shown = _reserves(legs, coordinate_stems(facts.result))
    chart = Chart(legs.x, legs.result, title, shown, row=0.2 if legs.incomplete else 0.08)
    legs.legend(chart, events=True)
    return chart


@charted_of_arrays()
def actuator_moments(facts: Facts) -> Chart:
    """Moments that actuators of a model bear beside the muscles [N m], of the coordinates where they bear any."""
    legs = Legs.from_result(facts.result, analyzed=False)
    moment, events = legs.result["actuator_moment"], legs.event_lines()
    borne = np.nan_to_num(moment.transpose("time", "dof").values).any(axis=0)
    acting = [str(name) for name in moment["dof"].values[borne]]
    shown = [
        Panel(
            f"{stem.replace('_', ' ')}, moment of actuators",
            [*events, *legs.curves_of_both(stem, moment)],
            "N m",
            least=SMALLEST_SCALE,
        )
        for stem in dict.fromkeys(split_side(name)[0] for name in acting)
    ]
    chart = Chart(legs.x, legs.result, "Moments of actuators beside the muscles", shown, row=0.2)
    legs.legend(chart, events=True)
    return chart


@charted
def reserves_and_residual(facts: Facts) -> Chart:
    """Moments that the muscles leave to reserves [N m], and the residual at the pelvis, over time.

    Where every frame is solved without a reserve, only the residual.
    """
    result = facts.result
    legs = Legs.from_result(result, time_axis(result))
    shared = shared_dofs(result) if legs.incomplete else []
    stems = [dof for dof in OPPOSITE if any(f"{dof}_{side}" in shared for side in legs.sides)]
    residual = _residual(legs)
    title = "Reserve moments and residual" if residual else "Reserve moments; residual not measured"
    if not stems:
        title = "Residual at the pelvis; no frame needs a reserve"
    gap = [None] * (len(stems) % 2 if residual else 0)  # the residual has a row of its own
    chart = Chart(legs.x, legs.result, title, [*_reserves(legs, stems), *gap, *residual], columns=2)
    legs.legend(chart, measured=not stems, events=True)
    return chart


def _reserves(legs: Legs, stems: list[str]) -> list[Panel]:
    """The reserves of both legs about each degree of freedom."""
    reserve, events = legs.result["reserve_moment"], legs.event_lines()
    return [
        Panel(
            f"{stem.replace('_', ' ')} reserve",
            [*events, *legs.curves_of_both(stem, reserve)],
            "N m",
            least=SMALLEST_SCALE,
        )
        for stem in stems
    ]


def _residual(legs: Legs) -> list[Panel]:
    """Magnitude of the residual force in per cent of body weight, with its limit, and of the moment.

    Nothing where no frame measured both feet.
    """
    if not np.isfinite(legs.result["pelvis_residual"].values).any():
        return []
    result, time = legs.result, np.asarray(legs.result["time"].values, float)
    width = 1.0 if time.size < DENSE else 0.4
    kinds = {"pelvis_residual": ("", {"color": "#000000", "linewidth": width})}
    if "pelvis_residual_before" in result:
        before = {"color": NOTE_COLOR, "alpha": 0.6, "linewidth": width}
        kinds["pelvis_residual_before"] = (", before", before)
    panels = []
    for number, (what, factor, unit) in enumerate(
        (("force", 100.0 / body_weight(result), "% of body weight"), ("moment", 1.0, "N m"))
    ):
        marks: list[Mark] = [
            Line(
                f"residual {what}{words}",
                style,
                time,
                factor * np.asarray(pelvis_residual(result, name)[number]),
            )
            for name, (words, style) in kinds.items()
        ]
        notes = ["gray: before the motion was changed"] if len(kinds) > 1 else []
        if what == "force" and (limit := result.attrs.get("balance_limit")) is not None:
            look = {"color": NOTE_COLOR, "linewidth": 0.8, "linestyle": "--"}
            marks.append(Line("limit", look, np.array(legs.x.limits), np.full(2, 100.0 * float(limit))))
            notes.append("frames above the dashed line are not valid")
        title = f"pelvis residual: {what}, magnitude"
        panels.append(Panel(title, [*legs.event_lines(), *marks], unit, "; ".join(notes), low=0.0))
    return panels


@native
def certificates(result: xr.Dataset | Solution) -> Sheet:
    """Logarithm of the duality gap of every frame with its limit, for each side; of a comparison for each cost.

    A line is broken at a frame without certificate.
    """
    result = as_result(result)
    x, sides = time_axis(result), frames.sides(result)
    names = frames.part_names(result)
    sheet, panels = page(result, "Certificate: duality gap", len(sides), 1, height=0.35)
    compared = [str(cost) for cost in result["cost"].values] if "cost" in result.dims else [""]
    entries = {}
    for side, axes in zip(sides, panels[:, 0], strict=True):
        for number, cost in enumerate(compared):
            part = result.isel(cost=number) if cost else result
            style = line_style(number, len(compared), cost) if cost else {"color": SIDE_COLOR[side]}
            style = style if cost else style | {"linewidth": SIDE_WIDTH[side]}
            label = cost or names[side]
            gap = np.maximum(part["gap"].sel(side=side).values, SMALLEST)
            axes.plot(part["time"].values, np.log10(gap), label=label, **style)
            entries[label] = line(of=label, **style)
        limit = float(np.log10(GAP))
        axes.axhline(limit, color=NOTE_COLOR, linewidth=0.8, linestyle="--", label=LIMIT)
        axes.set_ylim(min(axes.get_ylim()[0], limit) - 0.5, max(axes.get_ylim()[1], limit) + 0.5)
        heading(axes, names[side])
        x.apply(axes, labeled=side == sides[-1], with_label=False)
    sheet.label_axes(x.label, "log10 of the gap [1]")
    entries[LIMIT] = line(NOTE_COLOR, 0.8, linestyle="--", of=LIMIT)
    sheet.add_legend(entries)
    return sheet


AXIS_COLOR = {"x": "#0072B2", "y": "#E69F00", "z": "#009E73"}
AXIS_NAME = {"x": "x, forward", "y": "y, to the left", "z": "z, up"}
CURVES = 6
# Multiple of the largest noise of the marker above which residuals are cut off: there the filter removes motion.
TALLEST = 4.0
# Space below a panel [inch]: for the label of the axis.
LEAST_BELOW = 0.3
FITTED: dict[str, Any] = {"linestyle": "--", "linewidth": 1.3}
EXTENDED: dict[str, Any] = {"linestyle": "--", "linewidth": 0.5, "alpha": 0.7}
NOISE: dict[str, Any] = {"linestyle": ":", "linewidth": 0.9}
CHOSEN: dict[str, Any] = {"linestyle": "-", "linewidth": 0.7, "alpha": 0.6}
UNCERTAIN: dict[str, Any] = {"hatch": "//////", "edgecolor": "white", "linewidth": 0.0}


@native
def cutoff_and_noise(result: xr.Dataset) -> Sheet:
    """Residual curves of some markers with line, noise and cut-off; cut-off [Hz] and noise [mm] of every marker."""
    markers = [str(name) for name in result["marker"].values]
    curves, columns = "marker_residual" in result, 2 if current_style().narrow else 3
    lines = _in_lines(markers)
    rows = -(-min(CURVES, len(markers)) // columns) * curves + 2 * len(lines)
    space = {"below": max(LEAST_BELOW, space_for(markers, 0.0))}
    title, height = "Cut-off frequency and noise of the markers", 0.25 * rows
    sheet, panels = page(result, title, rows, columns, height=height, labels=True, space=space)
    if curves:
        shown = _some_curves(panels[: -2 * len(lines)], result)
        sheet.add_note(
            f"Residuals of {shown} of {len(markers)} markers, from the lowest cut-off to the highest."
        )
    whole = [sheet.one_panel(row) for row in panels[-2 * len(lines) :]]
    _bars(whole[: len(lines)], result, lines, "cutoff")
    _bars(whole[len(lines) :], result, lines, "noise")
    entries: dict[str, Any] = {
        AXIS_NAME[name]: line(color, 2.0, of=AXIS_NAME[name]) for name, color in AXIS_COLOR.items()
    }
    if _uncertain(result).any():
        entries["residual not to be read"] = area(facecolor=NOTE_COLOR, **UNCERTAIN)
    if curves:
        entries |= {
            "residual": line(NOTE_COLOR, 1.2),
            "line of noise alone, fitted": line(NOTE_COLOR, **FITTED),
            "the same, extended": line(NOTE_COLOR, **EXTENDED),
            "noise": line(NOTE_COLOR, marker="o", markersize=3, **NOISE),
            "cut-off chosen": line(NOTE_COLOR, **CHOSEN),
        }
    sheet.add_legend(entries)
    return sheet


def _in_lines(markers: list[str]) -> list[slice]:
    """Distribute the markers over the lines that their names, upright below the bars, need."""
    style = current_style()
    most = max(1, int(Arrangement(1, 1, 1.0, labels=True).inner_width(style) / (1.15 * style.font_pt / 72.0)))
    count = -(-len(markers) // most)
    size = -(-len(markers) // count)
    return [slice(start, start + size) for start in range(0, len(markers), size)]


def _bars(rows: "list[Axes]", result: xr.Dataset, lines: list[slice], name: str) -> None:
    """Cut-off or noise of every marker."""
    forces = float(result.attrs["force_cutoff_hz"])
    text, unit, factor = {
        "cutoff": (f"cut-off frequency; the line: forces {forces:.1f} Hz", "Hz", 1.0),
        "noise": ("noise, root mean square", "mm", 1000.0),
    }[name]
    values = factor * result[f"marker_{name}"].transpose("marker", "axis")
    for axes, part in zip(rows, lines, strict=True):
        names, uncertain = [str(name) for name in values["marker"].values[part]], _uncertain(result)[part]
        for k, (axis, color) in enumerate(AXIS_COLOR.items()):
            places = np.arange(len(names)) + 0.27 * (k - 1)
            heights, label = values[part].sel(axis=axis).values, AXIS_NAME[axis]
            for chosen, style in ((~uncertain[:, k], {}), (uncertain[:, k], UNCERTAIN)):
                axes.bar(places[chosen], heights[chosen], 0.27, color=color, label=label, **style)
        axes.set_xticks(range(len(names)), names)
        axes.tick_params(axis="x", labelrotation=90, length=0)
        axes.set_xlim(-0.7, len(names) - 0.3)
        axes.grid(False, axis="x")
        axes.set_ylim(0.0, 1.05 * float(values.max()) or 1.0)
        axes.set_ylabel(f"[{unit}]")
        if name == "cutoff":
            axes.axhline(forces, color=NOTE_COLOR, linewidth=0.9, linestyle="-.", label="forces")
    heading(rows[0], text)


def _some_curves(panels: np.ndarray, result: xr.Dataset) -> int:
    """Fill the panels with markers spread evenly from the lowest to the highest cut-off; returns how many."""
    order = np.argsort(result["marker_cutoff"].median("axis").values, kind="stable")
    places = np.linspace(0, len(order) - 1, min(panels.size, len(order))).round().astype(int)
    for number, (axes, place) in enumerate(with_panels(panels, places)):
        _curves(axes, result.isel(marker=order[place]))
        if number + panels.shape[1] >= len(places):
            sheet_of(axes).label_below(axes, "cut-off tried [Hz]")
    return len(places)


def _curves(axes: "Axes", marker: xr.Dataset) -> None:
    frequency = marker["tried_cutoff"].values
    top = TALLEST * 1000.0 * float(marker["marker_noise"].max())
    for name, color in AXIS_COLOR.items():
        coordinate = marker.sel(axis=name)
        noise, cutoff = 1000.0 * float(coordinate["marker_noise"]), float(coordinate["marker_cutoff"])
        noise_line = 1000.0 * coordinate["marker_residual_line"].values
        fitted = [float(coordinate["marker_linear_from"]), float(coordinate["marker_linear_to"])]
        first, last = np.abs(frequency[:, None] - fitted).argmin(axis=0) + np.array([0, 1])
        label = AXIS_NAME[name]
        style: dict[str, Any] = {"color": color, "label": label}
        axes.plot(frequency, 1000.0 * coordinate["marker_residual"].values, linewidth=1.2, **style)
        style["label"] = f"{label}{APART}line of noise"
        axes.plot(frequency[first:last], noise_line[first:last], **style, **FITTED)
        axes.plot(frequency[: first + 1], noise_line[: first + 1], **style, **EXTENDED)
        axes.plot([0.0, cutoff], [noise, noise], color=color, label=f"{label}{APART}noise", **NOISE)
        axes.plot([cutoff, cutoff], [0.0, top], color=color, label=f"{label}{APART}cut-off chosen", **CHOSEN)
        axes.plot(
            0.0, noise, color=color, label=f"{label}{APART}noise", marker="o", markersize=3, clip_on=False
        )
    axes.set_xlim(0.0, frequency[-1])
    axes.set_ylim(0.0, top if top > 0.0 else 1.0)
    axes.set_ylabel("[mm]")
    heading(axes, str(marker["marker"].values))


def _uncertain(result: xr.Dataset) -> np.ndarray:
    """Return the coordinates (marker, axis) whose residual did not show both motion and noise."""
    if "marker_verdict" not in result:
        return np.zeros(result["marker_cutoff"].transpose("marker", "axis").shape, dtype=bool)
    uncertain: np.ndarray = result["marker_verdict"].transpose("marker", "axis").values != 0
    return uncertain
