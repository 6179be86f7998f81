"""Muscle and contact forces with their bands from the sources of error, and the share of each source."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from musclesolve._util.arrays import Mask
from musclesolve._util.sides import SIDE_NAMES, split_side, with_side
from musclesolve.constants import BAND_95
from musclesolve.plotting.figure_names import CONTACT_TITLE
from musclesolve.plotting.page.arrangement import height_for, space_for
from musclesolve.plotting.page.curves import Legs, abscissa, percents
from musclesolve.plotting.page.keys import area, series
from musclesolve.plotting.page.page_style import NOTE_COLOR, SIDE_COLOR, STANCE_COLOR, current_style
from musclesolve.plotting.page.panels import joint_rows, small_multiples
from musclesolve.plotting.page.sheet import Sheet, heading, native, page
from musclesolve.plotting.result.muscle_figures import FORCE, muscles, note_choice
from musclesolve.results.dataset import frame_validity as frames
from musclesolve.results.dataset.result_quantities import body_weight
from musclesolve.results.facts import uncertain_peak

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BANDS = ((*BAND_95, 0.16), (0.25, 0.75, 0.30))
"""Lower and upper quantile of each band, and its opacity; the second one lies on the first."""
SOURCE_COLOR = {
    "strength": "#08306B",
    "max_isometric_force": "#2171B5",
    "optimal_fiber_length": "#6BAED6",
    "tendon_slack_length": "#B0D2E7",
    "muscle_path": "#009E73",
    "marker_placement": "#A63603",
    "hip_center": "#E6740D",
    "soft_tissue": "#FDBE85",
    "center_of_pressure": "#444444",
    "segment_mass": "#B0B0B0",
    "pelvis_tilt": "#7F2704",
    "joint_angle": "#A63603",
    "joint_moment": "#888888",
    "cost_exponent": "#54278F",
    "multi_joint_weight": "#807DBA",
    "muscle_weight": "#BCBDDC",
    "co_contraction": "#E7298A",
    "contact_model": "#FDE0A0",
    "patellar_ligament": "#D9B300",
    "predicted_force": "#525252",
    "body_mass": "#737373",
    "predicted_pressure": "#969696",
    "calibration": "#4292C6",
}
"""Muscle parameters blue, paths green, markers and angles orange, plates, masses and moments gray, the cost violet."""


@native
def uncertainty_muscle_forces(samples: xr.Dataset) -> Sheet:
    """Draw the force of each muscle [N] with its bands, both legs in one panel."""
    legs = Legs.from_result(samples, abscissa(samples, averaged=False))
    known = _muscles_by_side(samples)

    def fill(axes: Axes, muscle: str) -> None:
        for side in legs.sides:
            if name := known.get((muscle, side)):
                _banded(axes, legs, side, "muscle_force", {"muscle": name})
                legs.mark_events(axes, side)

    sheet = small_multiples(samples, (_title("Muscle force", samples), FORCE), legs.x, muscles(samples), fill)
    note_choice(sheet, samples)
    legs.legend(sheet, events=True)
    return sheet


@native
def uncertainty_contact_forces(samples: xr.Dataset) -> Sheet:
    """Draw the magnitude of the force at each joint [body weights] with its bands, a column for each leg."""
    legs, weight = Legs.from_result(samples, abscissa(samples, averaged=False)), body_weight(samples)
    title = _title(CONTACT_TITLE, samples)

    def fill(axes: Axes, side: str, name: str) -> None:
        _banded(axes, legs, side, "contact_force", {"joint": name}, 1.0 / weight)
        legs.mark_stance(axes, side)
        at = uncertain_peak(samples, "contact_force", name)
        note = "no valid frame"
        if at is not None:
            stance = " in stance" if "ground_reaction_force" in samples else ""
            note = f"peak{stance} {at.value / weight:.1f} ± {at.sd / weight:.1f} body weights"
        heading(axes, _in_words(name), note)

    sheet = _joint_panels(legs, title, fill)
    legs.legend(sheet, stance=True)
    return sheet


@native
def uncertainty_ground_reaction(samples: xr.Dataset) -> Sheet:
    """Draw the components of the predicted ground force on each foot [body weights], a column for each leg."""
    legs, weight = Legs.from_result(samples, abscissa(samples, averaged=False)), body_weight(samples)
    rows = {"z": "upward", "x": "along x of the laboratory", "y": "along y of the laboratory"}
    sides = [side for side in legs.sides if side in SIDE_NAMES]
    title = _title("Predicted ground reaction", samples)
    sheet, panels = page(samples, title, len(rows), len(sides), height=0.25 * len(rows), sharey="row")
    for row, (axis, words) in zip(panels, rows.items(), strict=True):
        for axes, side in zip(row, sides, strict=True):
            where = {"side": side, "axis": axis}
            predicted = frames.predicted(samples, side)
            _banded(axes, legs, side, "ground_reaction_force", where, 1.0 / weight, predicted)
            legs.mark_stance(axes, side)
            heading(axes, f"{SIDE_NAMES[side]}, {words}")
            legs.x.apply(axes, labeled=axis == "y")
        row[0].set_ylabel("[body weights]")
    legs.legend(sheet, measured=True, stance=True)
    return sheet


@native
def error_sources_contact_forces(samples: xr.Dataset) -> Sheet:
    """Draw the standard deviation of every contact force [body weights], divided among the sources."""
    legs, weight = Legs.from_result(samples, abscissa(samples, averaged=False)), body_weight(samples)

    def fill(axes: Axes, side: str, name: str) -> None:
        force = samples.sel(joint=name)
        parts = (force["contact_force_contribution"] * force["contact_force_sd"]).values / weight
        for part in legs.x.passes[side]:
            shown = ~part.repeated & ~legs.validity[side].failed[part.index]
            heights = np.where(shown, np.nan_to_num(parts[:, part.index]), np.nan)
            edges = np.cumsum([0.0 * heights[0], *heights], axis=0)
            for low, high, color, label in zip(
                edges, edges[1:], _colors(samples), _labels(samples), strict=False
            ):
                axes.fill_between(part.place, low, high, color=color, label=label, linewidth=0.0)
        legs.mark_stance(axes, side)
        heading(axes, _in_words(name))

    sheet = _joint_panels(legs, "Joint contact force: standard deviation of the samples, by source", fill)
    sheet.add_legend(_entries(samples, legs.sides))
    return sheet


@native
def error_sources_muscle_forces(samples: xr.Dataset) -> Sheet:
    """Draw the share of every source in the variance of each muscle force at its peak in stance as a bar."""
    sides, groups = frames.sides(samples), muscles(samples)
    known = _muscles_by_side(samples)
    stance = " in stance" if "ground_reaction_force" in samples else ""
    title, style = f"Muscle force: sources of its variance at its peak{stance}", current_style()
    beside = not style.narrow
    labels = [name.replace("_", " ") for name in groups]
    space = {"left": space_for(labels), "right": space_for(["1234 ± 1234"], 0.0)}
    space |= {"least": height_for(len(groups)), "below": 0.0 if beside else 0.15}
    shape = (1, len(sides)) if beside else (len(sides), 1)
    sheet, panels = page(samples, title, *shape, height=0.0, space=space)
    for number, (axes, side) in enumerate(zip(panels.flat, sides, strict=True)):
        full = [known.get((name, side)) for name in groups]
        peaks = [None if name is None else uncertain_peak(samples, "muscle_force", name) for name in full]
        # One bar for each muscle; without shares where nothing varies or no frame is valid.
        edge, shares = np.zeros(len(peaks)), np.zeros((len(samples["source"]), len(peaks)))
        for row, at in enumerate(peaks):
            if at is not None and at.shares is not None:
                shares[:, row] = np.nan_to_num(at.shares.values)
            text = "-" if at is None else f"{at.value:.0f} ± {at.sd:.0f}"
            axes.text(1.01, row, text, fontsize=style.note_pt, va="center", color=NOTE_COLOR)
        for share, color, label in zip(shares, _colors(samples), _labels(samples), strict=True):
            filled: dict[str, Any] = {"color": color, "height": 0.8, "linewidth": 0.0, "label": label}
            axes.barh(np.arange(len(edge)), share, left=edge, **filled)
            edge = edge + share
        ticks = percents(axes)
        axes.set_xlim(0.0, 1.0)
        axes.set_xticks([0.01 * percent for percent in ticks], [f"{percent:.0f}" for percent in ticks])
        axes.set_ylim(len(edge) - 0.4, -0.6)
        axes.grid(False, axis="y")
        heading(axes, f"{SIDE_NAMES.get(side, side)}, and force at that peak [N]")
        axes.set_yticks(range(len(labels)), labels)
        axes.tick_params(labelleft=number == 0 or not beside)
        if beside or number == len(sides) - 1:
            sheet.label_below(axes, "share of the variance, to first order [%]")
    note_choice(sheet, samples)
    sheet.add_legend(_entries(samples))
    return sheet


def _joint_panels(legs: Legs, title: str, fill: Callable[[Axes, str, str], None]) -> Sheet:
    """Draw a row for each joint and a column for each leg, in body weights; fill draws a joint of a leg."""
    known = list(map(str, legs.result["joint"].values))
    joints = list(dict.fromkeys(split_side(name)[0] for name in known))
    height = 0.25 * len(joints)
    sheet, panels = page(legs.result, title, len(joints), len(legs.sides), height=height, sharey="row")
    for row, joint in joint_rows(panels, legs.x, joints):
        for axes, side in zip(row, legs.sides, strict=True):
            if (name := with_side(joint, side)) in known:
                fill(axes, side, name)
            else:
                axes.set_visible(False)
    return sheet


def _in_words(name: str) -> str:
    """Return side and joint in words, such as "the right hip"."""
    stem, side = split_side(name)
    return f"{SIDE_NAMES[side]} {stem}" if side in SIDE_NAMES else name


def _muscles_by_side(samples: xr.Dataset) -> dict[tuple[str, str], str]:
    """Return name without side, and the side whose frames and color the muscle has -> muscle."""
    sides, names = frames.sides(samples), {}
    for name, verdict in frames.muscle_sides(samples).items():
        stem, side = split_side(name)
        names[stem, side if side in sides else verdict] = name
    return names


def _banded(
    axes: Axes,
    legs: Legs,
    side: str,
    name: str,
    where: dict[str, str],
    factor: float = 1.0,
    predicted: Mask | None = None,
) -> None:
    """Draw the nominal curve of one leg above its bands; no band where the nominal frame has no valid solution.

    predicted (T,): frames in which a curve that does not depend on the solution is predicted.
    """
    quantiles = legs.result[f"{name}_quantile"].sel(where)
    free = predicted is not None
    for part in legs.x.passes[side]:
        shown = ~part.repeated & (free | ~legs.validity[side].failed[part.index])
        for *ends, opacity in BANDS:
            below, above = (
                np.where(shown, factor * quantiles.sel(quantile=q).values[part.index], np.nan) for q in ends
            )
            color, label = SIDE_COLOR[side], series(side, f"{100.0 * (ends[1] - ends[0]):g} % of the samples")
            axes.fill_between(
                part.place, below, above, color=color, alpha=opacity, linewidth=0.0, label=label
            )
    values = factor * legs.result[name].sel(where).values
    legs.draw(axes, side, values, measured=free, predicted=predicted)


def _title(what: str, samples: xr.Dataset) -> str:
    count = samples.attrs["samples"]
    return f"{what}: nominal (line), half (dark) and 95 % (pale) of {count} samples"


def _colors(samples: xr.Dataset) -> list[str]:
    return [SOURCE_COLOR[str(name)] for name in samples["source"].values]


def _labels(samples: xr.Dataset) -> list[str]:
    return list(map(str, samples["source_label"].values))


def _entries(samples: xr.Dataset, stance_of: Sequence[str] = ()) -> dict[str, Any]:
    """Return the legend entries of the sources, and of the bars of stance."""
    entries: dict[str, Any] = {
        label: area(color=color, linewidth=0.0, of=label)
        for label, color in zip(_labels(samples), _colors(samples), strict=True)
    }
    if stance_of and "ground_reaction_force" in samples:
        bars = tuple(
            area(color=STANCE_COLOR[side], linewidth=0.0) for side in stance_of if side in STANCE_COLOR
        )
        entries["foot on the ground"] = bars
    return entries
