"""Uncertainty: forces with their bands, the share of each source of error, and maps of sensitivity."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm, SymLogNorm
from matplotlib.figure import Figure
from matplotlib.image import AxesImage

from musclesolve._util.arrays import Mask
from musclesolve._util.checks import check_number, check_type, one_or_several
from musclesolve._util.messages import check_known, unknown_name
from musclesolve._util.sides import LEG_JOINTS, SIDE_NAMES, split_side, with_side
from musclesolve.constants import BAND_95
from musclesolve.dynamics.sensitivity.moment_sensitivity import Sensitivity
from musclesolve.errors import input_error
from musclesolve.laboratory.plotting.figure_names import CONTACT_TITLE
from musclesolve.laboratory.plotting.page.chart import Chart, Panel, with_one_scale
from musclesolve.laboratory.plotting.page.chart_figure import charted_data
from musclesolve.laboratory.plotting.page.curves import Legs, abscissa, percents
from musclesolve.laboratory.plotting.page.marks import Area, Mark
from musclesolve.laboratory.plotting.page.page_style import (
    A4,
    GRID_COLOR,
    NOTE_COLOR,
    SIDE_COLOR,
    SMALL,
    STANCE_COLOR,
    TEXT,
    area,
    current_style,
    height_for,
    series,
    space_for,
)
from musclesolve.laboratory.plotting.page.panels import FORCE
from musclesolve.laboratory.plotting.page.sheet import Sheet, heading, native, page
from musclesolve.laboratory.plotting.result.muscle_figures import muscles, note_choice
from musclesolve.laboratory.results.dataset import frame_validity as frames
from musclesolve.laboratory.results.dataset.checked import check_parts
from musclesolve.laboratory.results.dataset.result_quantities import force_unit
from musclesolve.laboratory.results.facts import uncertain_peak
from musclesolve.sharing.status import Status

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


@charted_data
def uncertainty_muscle_forces(samples: xr.Dataset) -> Chart:
    """Force of each muscle [N] with its bands, both legs in one panel."""
    legs = Legs.from_result(samples, abscissa(samples, averaged=False))
    known, shown = _muscles_by_side(samples), list[Panel]()
    for muscle, group in muscles(samples).items():
        marks = [
            mark
            for side in legs.sides
            if (name := known.get((muscle, side)))
            for mark in _banded(legs, side, "muscle_force", {"muscle": name}) + legs.event_lines(side)
        ]
        title, note = muscle.replace("_", " "), group.replace("_", " ")
        shown.append(Panel(title, marks, note=note, low=0.0, least=1.0))
    title = _title("Muscle force", samples)
    chart = Chart(legs.x, samples, title, shown, abreast=5, row=0.21, vertical=FORCE)
    note_choice(chart, samples)
    legs.legend(chart, events=True)
    return chart


@charted_data
def uncertainty_contact_forces(samples: xr.Dataset) -> Chart:
    """Magnitude of the force at each joint with its bands, a column for each leg."""
    legs, (weight, unit) = Legs.from_result(samples, abscissa(samples, averaged=False)), force_unit(samples)

    def panel(side: str, name: str) -> Panel:
        bands = _banded(legs, side, "contact_force", {"joint": name}, 1.0 / weight)
        at = uncertain_peak(samples, "contact_force", name)
        note = "no valid frame"
        if at is not None:
            stance = " in stance" if "ground_reaction_force" in samples else ""
            digits = 0 if unit == "N" else 1
            note = f"peak{stance} {at.value / weight:.{digits}f} ± {at.sd / weight:.{digits}f} {unit}"
        return Panel(_in_words(name), [*legs.stance_bars(side), *bands], unit, note, low=0.0)

    chart = _joints(legs, _title(CONTACT_TITLE, samples), panel)
    legs.legend(chart, stance=True)
    return chart


@charted_data
def uncertainty_ground_reaction(samples: xr.Dataset) -> Chart:
    """Components of the predicted ground force on each foot, a column for each leg."""
    legs, (weight, unit) = Legs.from_result(samples, abscissa(samples, averaged=False)), force_unit(samples)
    rows = {"z": "upward", "x": "along x of the laboratory", "y": "along y of the laboratory"}
    sides, shown = [side for side in legs.sides if side in SIDE_NAMES], list[Panel]()
    for axis, words in rows.items():
        row = []
        for side in sides:
            where, predicted = {"side": side, "axis": axis}, frames.predicted(samples, side)
            bands = _banded(legs, side, "ground_reaction_force", where, 1.0 / weight, predicted)
            marks = [*legs.stance_bars(side), *bands]
            row.append(Panel(f"{SIDE_NAMES[side]}, {words}", marks, unit))
        shown += with_one_scale(row)
    title = _title("Predicted ground reaction", samples)
    chart = Chart(legs.x, samples, title, shown, columns=len(sides), abreast=len(sides), row=0.22)
    legs.legend(chart, measured=True, stance=True)
    return chart


@charted_data
def error_sources_contact_forces(samples: xr.Dataset) -> Chart:
    """Standard deviation of every contact force, divided among the sources."""
    legs, (weight, unit) = Legs.from_result(samples, abscissa(samples, averaged=False)), force_unit(samples)
    sources = _sources(samples)

    def panel(side: str, name: str) -> Panel:
        force, marks = samples.sel(joint=name), legs.stance_bars(side)
        parts = (force["contact_force_contribution"] * force["contact_force_sd"]).values / weight
        for part in legs.x.passes[side]:
            shown = ~part.repeated & ~legs.validity[side].failed[part.index]
            heights = np.where(shown, np.nan_to_num(parts[:, part.index]), np.nan)
            edges = np.cumsum([0.0 * heights[0], *heights], axis=0)
            for low, high, (label, color) in zip(edges, edges[1:], sources, strict=False):
                marks.append(Area(label, {"color": color, "linewidth": 0.0}, part.place, low, high))
        return Panel(_in_words(name), marks, unit, low=0.0)

    chart = _joints(legs, "Joint contact force: standard deviation of the samples, by source", panel)
    chart.add_legend(_entries(samples, legs.sides))
    return chart


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
        for share, (label, color) in zip(shares, _sources(samples), strict=True):
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


def _joints(legs: Legs, title: str, panel: Callable[[str, str], Panel]) -> Chart:
    """A row for each joint and a column for each leg; panel: makes the panel of a joint of a leg."""
    known, shown = list(map(str, legs.result["joint"].values)), list[Panel | None]()
    for joint in dict.fromkeys(split_side(name)[0] for name in known):
        names = {side: with_side(joint, side) for side in legs.sides}
        row = with_one_scale([panel(side, name) for side, name in names.items() if name in known])
        shown += [row.pop(0) if name in known else None for name in names.values()]
    columns = len(legs.sides)
    return Chart(legs.x, legs.result, title, shown, columns=columns, abreast=columns, row=0.22)


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
    legs: Legs,
    side: str,
    name: str,
    where: dict[str, str],
    factor: float = 1.0,
    predicted: Mask | None = None,
) -> list[Mark]:
    """The nominal curve of one leg above its bands; no band where the nominal frame has no valid solution.

    predicted (T,): frames in which a curve that does not depend on the solution is predicted.
    """
    quantiles, free, marks = legs.result[f"{name}_quantile"].sel(where), predicted is not None, list[Mark]()
    for part in legs.x.passes[side]:
        shown = ~part.repeated & (free | ~legs.validity[side].failed[part.index])
        for *ends, opacity in BANDS:
            low, high = (
                np.where(shown, factor * quantiles.sel(quantile=q).values[part.index], np.nan) for q in ends
            )
            style = {"color": SIDE_COLOR[side], "alpha": opacity, "linewidth": 0.0}
            label = series(side, f"{100.0 * (ends[1] - ends[0]):g} % of the samples")
            marks.append(Area(label, style, part.place, low, high))
    values = factor * legs.result[name].sel(where).values
    return marks + legs.curves(side, values, measured=free, predicted=predicted)


def _title(what: str, samples: xr.Dataset) -> str:
    count = samples.attrs["samples"]
    return f"{what}: nominal (line), half (dark) and 95 % (pale) of {count} samples"


def _sources(samples: xr.Dataset) -> list[tuple[str, str]]:
    """Label and color of each source."""
    colors = (SOURCE_COLOR[str(name)] for name in samples["source"].values)
    return list(zip(map(str, samples["source_label"].values), colors, strict=True))


def _entries(samples: xr.Dataset, stance_of: Sequence[str] = ()) -> dict[str, Any]:
    """Return the legend entries of the sources, and of the bars of stance."""
    entries: dict[str, Any] = {
        label: area(color=color, linewidth=0.0, of=label) for label, color in _sources(samples)
    }
    if stance_of and "ground_reaction_force" in samples:
        bars = tuple(
            area(color=STANCE_COLOR[side], linewidth=0.0) for side in stance_of if side in STANCE_COLOR
        )
        entries["foot on the ground"] = bars
    return entries


PERCENT = 0.01
MAP_HEIGHT = 7.9  # inch
SMALLEST_CHANGE = 0.05  # N per cent: smaller changes are drawn as zero
PARAMETERS = {
    "max_isometric_force": "maximum isometric force",
    "optimal_fiber_length": "optimal fiber length",
    "tendon_slack_length": "tendon slack length",
}
ERROR_SIZE = {
    "segment mass": 1.0,
    "measured point": 0.010,
    "force": 10.0,
    "point of application": 0.005,
    "free moment": 1.0,
}
"""How large an error of each kind is drawn, in the unit of its source (kg, m, N, m, N m)."""

CELL_TEXT = 3.8  # points
SMALLEST_MOMENT = 0.01  # N m: smaller values are drawn as this


def force_sensitivity_map(
    found: xr.Dataset,
    parameter: str = "max_isometric_force",
    side: str = "r",
    time: float | None = None,
    *,
    ax: Any = None,
) -> Any:
    """Draw the change of every muscle force for 1 % more of a parameter of one muscle [N].

    Args:
        found: what `force_sensitivity` gives.
        parameter: max_isometric_force, optimal_fiber_length or tendon_slack_length.
        side: whose muscles.
        time: the instant [s], or the nearest one that has a derivative; unless given, the instant of the largest sum of
            muscle forces without reserves.
        ax: axes to draw into instead of a page; they are returned.

    Raises:
        InputError: there is no such parameter or side, or no frame with a derivative.
    """
    check_type(found, xr.Dataset, "found", "what ms.studies.force_sensitivity gives")
    needed = {"side", "time", "unique", "status", "muscle", "muscle_force", "changed"}
    if missing := sorted(needed - set(found.variables)):
        check_parts(found, missing)
    if f"by_{parameter}" not in found:
        raise unknown_name(parameter, "parameter", PARAMETERS)
    check_known([side], "side", [str(name) for name in found["side"].values])
    leg = found.sel(side=side)
    there = leg["unique"].values
    if not there.any():
        raise input_error(
            "bad_result",
            problem="no frame of this leg has a derivative",
            remedy="see `margin` and the status of the run",
        )
    if time is None:
        alone = there & (leg["status"].values == Status.SOLVED)
        total = np.nan_to_num(leg["muscle_force"].values).sum(axis=1)
        frame = int(np.where(alone if alone.any() else there, total, -1.0).argmax())
    else:
        instant = check_number(time, "time", "an instant [s]")
        frame = int(np.where(there, np.abs(leg["time"].values - instant), np.inf).argmin())
    leg = leg.isel(time=frame)
    values = PERCENT * leg[f"by_{parameter}"].values
    figure, panels = _panels(ax, (A4[0], MAP_HEIGHT), [1])
    (axes,) = panels
    largest = max(float(np.abs(values).max()), 10.0 * SMALLEST_CHANGE)
    norm = SymLogNorm(SMALLEST_CHANGE, vmin=-largest, vmax=largest)
    image = axes.imshow(values, cmap="RdBu_r", norm=norm, aspect="equal")
    named = zip(leg["muscle"].values, leg["muscle_force"].values, strict=True)
    rows = [f"{str(name).replace('_', ' ')}, {force:.0f} N" for name, force in named]
    columns = [str(name).replace("_", " ") for name in leg["changed"].values]
    axes.set_yticks(range(len(rows)), rows, fontsize=SMALL - 1)
    axes.set_xticks(range(len(columns)), columns, rotation=90, fontsize=SMALL - 1)
    axes.xaxis.tick_top()
    axes.set_ylabel("muscle and its force", fontsize=TEXT)
    axes.set_xlabel("changed muscle", fontsize=TEXT)
    _cell_borders(axes, len(rows), len(columns))
    title = f"Sensitivity of muscle forces to the {PARAMETERS[parameter]} of each muscle"
    note = (
        f"change of the muscle force for 1 % more of one muscle, {SIDE_NAMES[side]} leg at "
        f"{float(leg['time']):.3f} s, cost {found.attrs['cost']}"
    )
    return _explained(figure, image, title, note, "[N]") if ax is None else ax


def sensitivity_map(
    sensitivities: Sequence[Sensitivity], errors: Mapping[str, float] | None = None, *, ax: Any = None
) -> Any:
    """Draw the largest change of every joint moment over the frames for one error of each source [N m].

    Errors of measured points are drawn in their worst direction, the others by component. An empty cell is an exact
    zero: that moment does not depend on that input at all.

    Args:
        sensitivities: what the functions of `musclesolve.dynamics.sensitivity` give, of one motion.
        errors: size of the error by kind, in the unit of its source; `ERROR_SIZE` where absent.
        ax: axes to draw into instead of a page, one for each of the sensitivities; they are returned.

    Raises:
        InputError: nothing to draw, an error of no known size, or sensitivities of different models.
    """
    expected = "a dict of sizes by the kind of error"
    sizes = ERROR_SIZE | {
        kind: check_number(size, f"the error of {kind}", "a size above 0", above=0.0)
        for kind, size in check_type({} if errors is None else errors, Mapping, "errors", expected).items()
    }
    sensitivities = [
        check_type(one, Sensitivity, "sensitivities", "a list of Sensitivity, as Sensitivity.by_mass makes")
        for one in one_or_several(sensitivities)
    ]
    if not sensitivities:
        raise input_error("missing_argument", problem="there are no sensitivities to draw")
    dofs = sensitivities[0].dofs
    for sensitivity in sensitivities:
        if sensitivity.kind not in sizes:
            raise input_error(
                "missing_argument",
                problem=f"no size is given for an error of {sensitivity.kind!r}",
                expected="an entry in `errors`",
            )
        if sensitivity.dofs != dofs:
            raise input_error("not_comparable", problem="the sensitivities belong to different models")

    def limb(row: int) -> tuple[int, int]:
        leg = dofs[row].startswith(LEG_JOINTS)
        return {"_r": 0 if leg else 3, "_l": 1 if leg else 4}.get(dofs[row][-2:], 2), row

    # Joints limb by limb: legs, trunk and head, arms; without the base.
    rows = sorted(range(len(dofs) - 6), key=limb)
    drawn = [
        sensitivity.worst_direction() if sensitivity.kind == "measured point" else sensitivity
        for sensitivity in sensitivities
    ]
    changes = [sizes[sensitivity.kind] * sensitivity.largest()[rows] for sensitivity in drawn]
    widths = [max(len(sensitivity.sources), 3) for sensitivity in drawn]
    figure, panels = _panels(ax, (A4[1], A4[0]), widths)
    norm = LogNorm(
        SMALLEST_MOMENT, max(10.0 * SMALLEST_MOMENT, *(float(values.max()) for values in changes)), clip=True
    )
    for axes, values, sensitivity in zip(panels, changes, drawn, strict=True):
        image = _panel(axes, values, sensitivity.sources, norm)
        unit = {"m": "mm"}.get(sensitivity.unit, sensitivity.unit)
        size = sizes[sensitivity.kind] * (1000.0 if sensitivity.unit == "m" else 1.0)
        axes.set_title(f"{sensitivity.kind}\n{size:g} {unit}", fontsize=SMALL)
    labels = [drawn[0].dofs[row].replace("_", " ") for row in rows]
    panels[0].set_yticks(range(len(labels)), labels, fontsize=SMALL - 1)
    for axes in panels[1:]:
        axes.tick_params(labelleft=False)
    note = "largest change of the moment in the recording; an empty cell is exactly zero"
    title = "Sensitivity of joint moments to errors of the inputs"
    return _explained(figure, image, title, note, "[N m]") if ax is None else ax


def _panel(axes: Axes, values: np.ndarray, columns: Sequence[str], norm: LogNorm) -> AxesImage:
    """Draw colored cells with their numbers; cells of exact zeros stay empty."""
    image = axes.imshow(np.ma.masked_equal(values, 0.0), aspect="auto", cmap="YlOrBr", norm=norm)
    for (row, column), value in np.ndenumerate(values):
        if value >= 0.5 * SMALLEST_MOMENT:
            color = "white" if norm(value) > 0.6 else "black"
            # Two digits are enough to compare, and fit a cell.
            digits = 0 if value >= 9.95 else 1 if value >= 0.95 else 2
            text = f"{value:.{digits}f}"[1 if digits == 2 else 0 :]
            axes.text(column, row, text, fontsize=CELL_TEXT, ha="center", va="center", color=color)
    labels = [column.replace("_", " ") for column in columns]
    axes.set_xticks(range(len(labels)), labels, rotation=90, fontsize=SMALL - 1)
    axes.set_yticks(range(len(values)))
    _cell_borders(axes, len(values), len(labels))
    return image


def _panels(ax: Any, size: tuple[float, float], widths: Sequence[int]) -> tuple[Figure, Sequence[Axes]]:
    """A page of a size [inch] with panels side by side, or the axes of a user."""
    axes = [] if ax is None else list(np.ravel(np.array(ax, dtype=object)))
    if axes and len(axes) != len(widths):
        fault = f"this map has {len(widths)} panels, and ax has {len(axes)}"
        expected = f"{len(widths)} axes"
        remedy = f"plt.subplots(1, {len(widths)})"
        raise input_error("bad_value", where="ax", problem=fault, expected=expected, remedy=remedy)
    figure = axes[0].figure if axes else Figure(figsize=size, layout="constrained")
    ratios = {"width_ratios": widths}
    return figure, axes or list(figure.subplots(1, len(widths), squeeze=False, gridspec_kw=ratios)[0])


def _explained(figure: Figure, image: AxesImage, title: str, note: str, unit: str) -> Figure:
    """A page with its title, a smaller note, and the scale of its colors."""
    figure.suptitle(title, fontsize=TEXT + 3, x=0.02, ha="left")
    figure.supxlabel(note, fontsize=SMALL, color=NOTE_COLOR, x=0.02, ha="left")
    bar = figure.colorbar(image, ax=figure.axes, fraction=0.03, pad=0.02)
    bar.set_label(unit, fontsize=TEXT)
    bar.ax.tick_params(labelsize=SMALL)
    return figure


def _cell_borders(axes: Axes, rows: int, columns: int) -> None:
    """Draw thin lines between the cells of a map instead of ticks."""
    axes.set_xticks(np.arange(-0.5, columns), minor=True)
    axes.set_yticks(np.arange(-0.5, rows), minor=True)
    axes.grid(which="minor", color=GRID_COLOR, linewidth=0.3)
    axes.tick_params(which="both", length=0)
