"""Figures of the joints and the ground: angles, moments, powers, clinical sheet, contact forces, ground reaction."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from musclesolve._util.arrays import Array, true_runs
from musclesolve._util.bundled_toml import bundled_toml
from musclesolve._util.sides import LEG_JOINTS, SIDE_NAMES, split_side, with_side
from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.errors import input_error
from musclesolve.laboratory.plotting.figure_names import CONTACT_TITLE, FIGURE_NAMES
from musclesolve.laboratory.plotting.page.curves import (
    PERCENTS,
    PREDICTED,
    Abscissa,
    Legs,
    NormBands,
    cycle_axis,
    mark_range,
    side_key,
)
from musclesolve.laboratory.plotting.page.page_style import (
    KEPT,
    NOTE_COLOR,
    PREDICTED_STYLE,
    SIDE_COLOR,
    SIDE_WIDTH,
    broken,
    current_style,
    line,
    series,
)
from musclesolve.laboratory.plotting.page.panels import dof_rows, joint_rows, with_panels
from musclesolve.laboratory.plotting.page.sheet import Sheet, heading, native, note, page, sheet_of, zero_line
from musclesolve.laboratory.plotting.study.group_figures import DASHES
from musclesolve.laboratory.results.cycles.gait_scores import Curve, SheetPanel, leg_curves, panels
from musclesolve.laboratory.results.dataset import frame_validity as frames
from musclesolve.laboratory.results.dataset.checked import MODEL
from musclesolve.laboratory.results.dataset.labels import SEGMENT_OF
from musclesolve.laboratory.results.dataset.quantities import QUANTITIES, shown
from musclesolve.laboratory.results.dataset.result_quantities import (
    OPPOSITE,
    along_heading,
    body_weight,
    joint_dofs,
    joint_power,
    leg_joint,
    magnitude,
    powered_joints,
    shared_dofs,
    support_moment,
    text,
    without_turns,
)
from musclesolve.laboratory.results.facts import KNEE_FORCES, Facts
from musclesolve.laboratory.results.movement import RUNNING
from musclesolve.laboratory.results.plausibility import measured

if TYPE_CHECKING:
    from matplotlib.axes import Axes


DEGREES = 180.0 / np.pi
MOMENT_COLUMNS, MANY_COLUMNS = 3, 5
MANY = 13
"""Number of panels from which they are smaller."""
BESIDE_MM = 120.0
"""Least width of a page for three panels side by side without overlapping numbers."""
DIRECTIONS = {
    "axial": "axial (+ compression)",
    "anterior": "fore-aft (+ anterior)",
    "medial": "medio-lateral (+ medial)",
}
SUPPORT = "support moment: hip extension + knee extension + plantarflexion"


@native
def joint_angles_and_moments(result: xr.Dataset) -> Sheet:
    """Angle [deg] and internal moment per body mass [N m/kg] of the seven degrees of freedom of each leg."""
    legs = Legs.from_result(result, analyzed=False)
    mass = float(result.attrs["subject_mass_kg"])
    dofs = [dof for dof in OPPOSITE if all(f"{dof}_{side}" in result["dof"].values for side in legs.sides)]
    sheet, panels = page(result, "Joint angles and internal joint moments", len(dofs), 2, labels=True)
    norms = NormBands.from_result(result, legs.x)
    angles, turned = angles_without_turns(result)
    for row, dof in dof_rows(panels, legs.x, dofs, "[N m/kg]"):
        norms.draw(row[0], "joint_angle", dof)
        norms.draw(row[1], "joint_moment", dof)
        legs.draw_both(row[0], dof, angles, measured=True)
        _note_turns(row[0], dof, turned)
        legs.draw_both(row[1], dof, result["joint_moment"] / mass)
        for axes in row:
            legs.mark_stance(axes)
    legs.legend(sheet, stance=True)
    norms.explain(sheet)
    return sheet


@native
def coordinates_and_moments(result: xr.Dataset) -> Sheet:
    """Each shared coordinate [deg] and its moment [N m], in the sense of the model."""
    legs, stems = Legs.from_result(result, analyzed=False), coordinate_stems(result)
    height = min(1.0, 0.12 + 0.15 * len(stems))
    sheet, panels = page(result, "Coordinates and moments", len(stems), 2, height=height, labels=True)
    angles, turned = angles_without_turns(result)
    for row, stem in dof_rows(panels, legs.x, stems, "[N m]"):
        for axes, values in zip(row, (angles, result["joint_moment"]), strict=True):
            legs.draw_both(axes, stem, values, measured=True)
            legs.mark_events(axes)
        _note_turns(row[0], stem, turned)
    legs.legend(sheet, measured=True, events=True)
    return sheet


def angles_without_turns(result: xr.Dataset) -> tuple[xr.DataArray, set[str]]:
    """Joint angles (T, m) [deg] without whole turns, and the names of those that had any."""
    angles = result["joint_angle"].transpose("time", "dof")
    shown, moved = np.empty(angles.shape), set[str]()
    for k, (name, angle) in enumerate(zip(angles["dof"].values, angles.values.T, strict=True)):
        shown[:, k] = without_turns(DEGREES * angle)
        if (np.abs(shown[:, k] - DEGREES * angle) > 1.0).any():
            moved.add(str(name))
    return angles.copy(data=shown), moved


def _note_turns(axes: "Axes", stem: str, turned: set[str]) -> None:
    """Name the legs from whose angle whole turns are removed."""
    if words := note_of_turns(stem, turned):
        sheet_of(axes).set_texts(axes, note=words)


def note_of_turns(stem: str, turned: set[str]) -> str:
    """The legs from whose angle whole turns are removed, in words; empty where there are none."""
    sides = [name for side, name in SIDE_NAMES.items() if with_side(stem, side) in turned]
    if not sides and stem not in turned:
        return ""
    return ": ".join(["turns of 360 deg removed", *filter(None, [", ".join(sides)])])


@native
def joint_moments(result: xr.Dataset) -> Sheet:
    """Internal moment of each degree of freedom that the muscles share [N m], both legs in one panel."""
    return quantity_curves(result, "joint_moment", shared_dofs(result))


@native
def quantity_curves(result: xr.Dataset, name: str, labels: Sequence[str] = ()) -> Sheet:
    """A quantity of each degree of freedom, muscle or joint, both legs in one panel; all of them without labels."""
    legs, quantity = Legs.from_result(result), QUANTITIES[name]
    factor, unit = shown(str(result[name].attrs.get("units", quantity.units)))
    known = [str(label) for label in result[name][quantity.dims[1]].values]
    stems = list(dict.fromkeys(split_side(label)[0] for label in labels or known if label in known))
    columns = min(MOMENT_COLUMNS if len(stems) < MANY else MANY_COLUMNS, len(stems))
    rows = -(-len(stems) // columns)
    sheet, panels = page(result, quantity.heading, rows, columns, height=min(1.0, 0.14 + 0.2 * rows))
    for number, (axes, stem) in enumerate(with_panels(panels, stems)):
        legs.draw_both(axes, stem, factor * result[name])
        legs.mark_stance(axes)
        zero_line(axes)
        legs.x.apply(axes, labeled=number + columns >= len(stems), with_label=False)
        heading(axes, stem.replace("_", " "))
    sheet.label_axes(legs.x.label, f"{quantity.said} [{unit}]  (each panel has its own scale)")
    legs.legend(sheet, stance=True)
    return sheet


def coordinate_stems(result: xr.Dataset) -> list[str]:
    """The shared coordinates without side."""
    return list(dict.fromkeys(split_side(str(name))[0] for name in result["dof"].values))


@native
def contact_forces(result: xr.Dataset) -> Sheet:
    """Magnitude of the joint reaction at hip, knee and ankle, with muscle forces and without, in body weights.

    At the peak of the curves with muscles a bar: the range of the peaks that implants measured in the movement.
    """
    legs, weight, facts = Legs.from_result(result), body_weight(result), Facts(result)
    shown, sources = {peak.joint: peak for peak in facts.contact_peaks}, list[str]()
    sheet, panels = page(result, CONTACT_TITLE, 3, 2, height=0.75, sharey="row")
    for row, joint in joint_rows(panels, legs.x):
        for axes, name in zip(row, ("joint_reaction", "joint_reaction_net"), strict=True):
            force = magnitude(result[name]) / weight
            for side in legs.sides:
                if full := leg_joint(result, joint, side):
                    legs.draw(axes, side, force.sel(joint=full).values)
            legs.mark_stance(axes)
        heading(row[0], f"{joint}: contact force, muscles included")
        texts = [
            f"{SIDE_NAMES[side]} {shown[full].body_weights:.2f}"
            for side in legs.sides
            if (full := leg_joint(result, joint, side)) in shown
        ]
        note(row[0], f"peak {', '.join(texts)}" if texts else "")
        if (band := measured(joint, facts.movement)) is not None:
            curves = {
                side: magnitude(result["joint_reaction"]).sel(joint=full).values / weight
                for side in legs.sides
                if (full := leg_joint(result, joint, side))
            }
            mark_range(row[0], legs.place_of_peak(curves), band.lowest, band.highest)
            sources.append(f"{joint} measured in {band.movement} {band.words}, {band.authors}")
        heading(row[1], f"{joint}: net reaction, muscles left out")
    legs.legend(sheet, stance=True)
    for source in sources:
        sheet.add_note(f"bar at the peak: {source}")
    return sheet


@native
def knee_contact_forces(result: xr.Dataset) -> Sheet:
    """Forces of the parts of the knee, muscles included, in body weights."""
    legs, weight, shown = Legs.from_result(result), body_weight(result), Facts(result).knee_peaks
    names = {part: name for part, name in KNEE_FORCES.items() if name in result}
    below = current_style().width_mm < BESIDE_MM
    rows, columns, height = (len(names), 1, 0.75) if below else (1, len(names), 0.35)
    sheet, panels = page(result, "Contact forces of the knee", rows, columns, height=height, sharey=True)
    for axes, (part, name) in zip(panels.flat, names.items(), strict=True):
        for side in legs.sides:
            legs.draw(axes, side, result[name].sel(side=side).values / weight)
        legs.mark_stance(axes)
        zero_line(axes)
        peaks = [f"{SIDE_NAMES[side]} {peak.body_weights:.2f}" for side, peak in shown.get(part, {}).items()]
        text = f"peak {', '.join(peaks)}" if peaks else ""
        heading(axes, f"knee: {part}", broken(text, sheet.style.note_pt, sheet.panel_width(axes)))
        legs.x.apply(axes, labeled=axes in panels[-1])
    for axes in panels[:, 0]:
        axes.set_ylabel("[body weights]")
    legs.legend(sheet, stance=True)
    return sheet


@native
def contact_force_components(result: xr.Dataset) -> Sheet:
    """Axial, fore-aft and medio-lateral contact force on the distal segment, muscles included, in body weights."""
    legs, force = Legs.from_result(result), result["contact_force_component"] / body_weight(result)
    title = "Joint contact force on the distal segment, muscles included"
    sheet, panels = page(result, title, len(LEG_JOINTS), len(DIRECTIONS), height=0.65)
    for row, joint in zip(panels, LEG_JOINTS, strict=True):
        for axes, (direction, name) in zip(row, DIRECTIONS.items(), strict=True):
            for side in legs.sides:
                if full := leg_joint(result, joint, side):
                    legs.draw(axes, side, force.sel(joint=full, direction=direction).values)
            legs.mark_stance(axes)
            zero_line(axes)
            heading(axes, f"{joint}: {name}", f"axes of the {SEGMENT_OF[joint]}")
            legs.x.apply(axes, labeled=joint == LEG_JOINTS[-1])
        row[0].set_ylabel("[body weights]")
    legs.legend(sheet, stance=True)
    return sheet


@native
def joint_powers(result: xr.Dataset) -> Sheet:
    """Power per body mass [W/kg] of all rotations of each joint, and of flexion alone with its bursts by name.

    The lower panels show the support moment of each leg [N m/kg] (Winter 1980) and the power of all its joints. Units
    are W and N m where the mass is unknown; a model without such joints has panels of each coordinate.
    """
    legs, joints = Legs.from_result(result, analyzed=False), powered_joints(result)
    # Per body mass where that is known.
    mass, of_mass = result.attrs.get("subject_mass_kg", 1.0), "/kg" * ("subject_mass_kg" in result.attrs)
    if not joints:
        return _coordinates(legs, mass, f"[W{of_mass}]")
    norms = NormBands.from_result(result, legs.x)
    # bursts of running are at other times
    bursts = legs.x.is_cycle and Facts(result).movement.name != RUNNING
    moments = {side: support_moment(result, side) for side in legs.sides}
    known = {side: moment / mass for side, moment in moments.items() if moment is not None}
    rows, title = len(joints) + 1, "Joint powers, support moment" if known else "Joint powers"
    sheet, panels = page(result, title, rows, 2, height=min(1.0, 0.12 + 0.19 * rows), labels=True)
    totals: dict[str, Array] = {}
    for row, joint in zip(panels, joints, strict=False):
        if of_mass:
            norms.draw(row[0], "joint_power", joint)
        whole, sagittal = (
            {
                side: joint_power(result, joint, side, sagittal=alone) / mass
                for side in legs.sides
                if joint_dofs(result, joint, side, sagittal=alone)
            }
            for alone in (False, True)
        )
        _curves(row[0], legs, whole, f"[W{of_mass}]")
        _curves(row[1], legs, sagittal, f"[W{of_mass}]", lowest=not known and joint == joints[-1])
        heading(row[0], f"{joint}: power of all rotations, generated (+)   absorbed (-)")
        note_of_bursts = power_bursts(legs, joint, sagittal) if bursts else ""
        heading(row[1], f"{joint}: power of flexion and extension", note_of_bursts)
        totals = {side: totals.get(side, 0.0) + power for side, power in whole.items()}
    if known:
        _curves(panels[-1, 0], legs, known, f"[N m{of_mass}]", lowest=True)
        heading(panels[-1, 0], SUPPORT)
    together = panels[-1, 1 if known else 0]
    _curves(together, legs, totals, f"[W{of_mass}]", lowest=True)
    heading(together, f"{', '.join(joints)} together: power of all rotations")
    panels[-1, 1].set_visible(bool(known))
    legs.legend(sheet, stance=True)
    norms.explain(sheet)
    return sheet


def _coordinates(legs: Legs, mass: float, unit: str) -> Sheet:
    """A panel for each coordinate of the result."""
    power = legs.result["joint_power"] / mass
    known = list(map(str, power["dof"].values))
    stems = list(dict.fromkeys(split_side(name)[0] for name in known))
    sheet, panels = page(legs.result, "Powers", len(stems), 1, height=min(1.0, 0.12 + 0.15 * len(stems)))
    for axes, stem in zip(panels.flat, stems, strict=True):
        names = {side: with_side(stem, side) for side in legs.sides}
        curves = {side: power.sel(dof=name).values for side, name in names.items() if name in known}
        _curves(axes, legs, curves, unit, lowest=stem == stems[-1])
        heading(axes, f"{stem.replace('_', ' ')}: power, generated (+)   absorbed (-)")
    legs.legend(sheet)
    return sheet


def _curves(
    axes: "Axes", legs: Legs, values: Mapping[str, Array], unit: str, *, lowest: bool = False
) -> None:
    for side, curve in values.items():
        legs.draw(axes, side, curve)
        legs.mark_stance(axes, side)
    axes.set_ylabel(unit)
    zero_line(axes)
    legs.x.apply(axes, labeled=lowest)


def power_bursts(legs: Legs, joint: str, powers: Mapping[str, Array]) -> str:
    """The bursts that Winter names, of the right and the left leg, on an axis of the gait cycle.

    Each is the greatest power of its sign within its window of the gait cycle, mean of the cycles of which the frames
    cover that window: where a recording begins or ends within it, the greatest power may lie at the cut edge.
    """
    bursts = []
    for name, (sign, first, last) in bundled_toml(__package__, "power_bursts.toml")[joint].items():
        shown = []
        for side, power in powers.items():
            values, validity = [], legs.validity[side]
            valid = validity.solved | validity.reserve
            for part in legs.x.passes[side]:
                step = float(np.median(np.diff(part.place)))
                if part.place[0] > first + step or part.place[-1] < last - step:
                    continue
                inside = (part.place >= first) & (part.place <= last) & valid[part.index]
                known = sign * power[part.index[inside]]
                if np.isfinite(known).any():
                    values.append(float(np.nanmax(known)))
            shown.append(f"{sign * float(np.mean(values)):z.2f}" if values else "–")
        bursts.append(f"{name} {' / '.join(shown)}".replace(" ", KEPT))
    return ",  ".join(bursts)


ROW_HEIGHT = 0.125
"""Height of a row, as a share of an upright A4 page."""


@native
def clinical_sheet(results: xr.Dataset | Mapping[str, xr.Dataset]) -> Sheet:
    """Angles of pelvis, hip, knee, ankle and foot in three planes, internal moments and powers; norms of level walking.

    Angles in degrees, moments in N m/kg, powers in W/kg; the named direction is positive. Several strides are drawn
    as their mean, with a band of one standard deviation. Rows without any curve are left out.

    Args:
        results: a result of `musclesolve.run` or on an OpenSim model; or name -> result, such as the trials of a person
            or two sessions. Each of several results is drawn as the mean of its strides: the color says the leg, the
            dashes say the result.
    """
    named = results if isinstance(results, Mapping) and not isinstance(results, xr.Dataset) else {"": results}
    beside = len(named) > 1
    for part in () if beside else named.values():
        FIGURE_NAMES["clinical_sheet"].check(part)
    every = {name: Legs.from_result(part, analyzed=False) for name, part in named.items()}
    legs = {
        name: replace(part, sides=[side for side in part.sides if side in SIDE_NAMES])
        for name, part in every.items()
        if part.x.is_cycle or not beside
    }
    if not 1 <= len(legs) <= len(DASHES):
        raise input_error(
            "bad_number",
            problem=f"{len(legs)} of {len(named)} results have a stride of each leg",
            expected=f"1 to {len(DASHES)} of them on one sheet, each with its own dashes",
        )
    first = next(iter(legs.values()))
    curves = {
        name: {side: leg_curves(part.result, side) for side in part.sides} for name, part in legs.items()
    }
    known = {key for part in curves.values() for leg in part.values() for key in leg}
    rows = [row for row in panels() if any(panel.curve in known for panel in row)]
    title = "Gait: angles, internal moments, powers"
    height = min(1.0, 0.1 + ROW_HEIGHT * len(rows))
    alike = xr.merge(
        [xr.Dataset(attrs=part.result.attrs) for part in legs.values()], combine_attrs="drop_conflicts"
    )
    drawn, grid = page(alike, title, max(len(rows), 1), 3, height=height, labels=True)
    x = first.x if not beside else cycle_axis()
    norms = NormBands.from_result(first.result, x)
    for axes in grid.flat:
        axes.set_visible(False)
    for number, row in enumerate(rows):
        lowest = number + 1 == len(rows)
        for axes, panel in zip(grid[number], row, strict=True):
            if panel.curve not in known:
                continue
            axes.set_visible(True)
            norms.draw(axes, *panel.curve, crowded=True)
            if beside:
                _of_several(axes, panel.curve, legs, curves)
            else:
                _of_one(axes, panel, first, next(iter(curves.values())))
            zero_line(axes)
            low, high = axes.get_ylim()
            if high - low < panel.least:
                axes.set_ylim(0.5 * (low + high - panel.least), 0.5 * (low + high + panel.least))
            heading(axes, panel.title)
            axes.set_ylabel(f"[{panel.unit}]")
            below = lowest or rows[number + 1][row.index(panel)].curve not in known
            x.apply(axes, labeled=below, with_label=False)
    drawn.label_axes(x.label, "")
    if beside:
        _legend(drawn, legs)
        for name in filter(lambda name: name not in legs, named):
            drawn.add_note(f"{name} is not drawn: it has no stride of each leg")
    else:
        first.legend(drawn, measured=MODEL in first.result.attrs, events=first.x.is_cycle)
    norms.explain(drawn)
    curves_of_sheet = {*known, *(panel.curve for row in panels() for panel in row)}
    norms.name_unknown(drawn, curves_of_sheet, map(str, first.result["muscle"].values))
    return drawn


def _of_one(axes: "Axes", panel: SheetPanel, legs: Legs, curves: Mapping[str, Mapping[Curve, Array]]) -> None:
    """Draw a curve of both legs of a result; angles, and all of a model, do not depend on the solution."""
    measured = panel.quantity.endswith("_angle") or MODEL in legs.result.attrs
    for side, curve_of in curves.items():
        if panel.curve in curve_of:
            legs.draw(axes, side, curve_of[panel.curve], measured=measured)
    if legs.x.is_cycle:
        legs.mark_events(axes)


def _of_several(
    axes: "Axes",
    key: Curve,
    legs: Mapping[str, Legs],
    curves: Mapping[str, Mapping[str, Mapping[Curve, Array]]],
) -> None:
    """Draw the mean curve of each leg of each result."""
    for (name, leg), dashes in zip(legs.items(), DASHES, strict=False):
        for side, of_leg in curves[name].items():
            if key in of_leg:
                style: dict[str, Any] = {"color": SIDE_COLOR[side], "linewidth": 0.75 * SIDE_WIDTH[side]}
                place, values = _mean(leg.x, side, of_leg[key])
                axes.plot(place, values, linestyle=dashes, label=series(side, name), **style)


def _mean(x: Abscissa, side: str, values: Array) -> tuple[Array, Array]:
    """Places and values of the mean of the strides of a leg, or of its most complete stride."""
    if side in x.strides:
        return PERCENTS, x.strides[side].mean(values)
    first = x.passes[side][0]
    return np.asarray(first.place), values[first.index]


def _legend(sheet: Sheet, legs: Mapping[str, Legs]) -> None:
    """The legs by color, the results by dashes."""
    entries: dict[str, Any] = {
        SIDE_NAMES[side]: side_key(side)
        for side in SIDE_NAMES
        if any(side in leg.sides for leg in legs.values())
    }
    for name, dashes in zip(legs, DASHES, strict=False):
        entries[name] = line(NOTE_COLOR, 1.2, linestyle=dashes, of=name)
    sheet.add_legend(entries)


COMPONENTS = {"z": "vertical (+ up)", "x": "fore-aft (+ forward)", "y": "medio-lateral (+ to the other leg)"}
TO_OTHER_LEG = {"r": 1.0, "l": -1.0}
"""Sign of a component to the left, as seen from either leg."""
PATH = "center_of_pressure"
LEAST_SCALE = 0.05
"""Least end of the scale of a component in both directions [body weights]: smaller forces are noise."""
LABEL_INCH = 0.25
"""Space below a panel for the label of its axis [inch], at the default size of text."""


@native
def ground_reaction(result: xr.Dataset) -> Sheet:
    """Components of the reaction of the ground on each foot, in body weights, and the center of pressure from above.

    The last panel is left out where the result has no center of pressure, or no foot is on the ground.
    """
    legs, weight = Legs.from_result(result, analyzed=False), body_weight(result)
    norms = NormBands.from_result(result, legs.x)
    reaction = along_heading(result, result["ground_reaction_force"])
    paths = pressure_paths(result, legs.sides)
    count = len(COMPONENTS) + bool(paths)
    rows, columns = (count, 1) if current_style().narrow or not paths else (2, 2)
    origin = text(result, "ground_reactions")
    source = f"{origin} from the motion" if PREDICTED in origin else origin
    title = "Ground reaction" if origin in ("", "measured") else f"Ground reaction, {source}"
    height, space = 0.12 + 0.16 * rows, {"below": LABEL_INCH}
    sheet, panels = page(result, title, rows, columns, height=height, labels=True, space=space)
    for axes, axis in zip(panels.flat, COMPONENTS, strict=False):
        norms.draw(axes, "ground_reaction_force", axis, 1.0 / STANDARD_GRAVITY)
        for side in legs.sides:
            sign = TO_OTHER_LEG.get(side, 1.0) if axis == "y" else 1.0
            values = sign * reaction.sel(side=side, axis=axis).values / weight
            legs.draw(axes, side, values, measured=True, predicted=frames.predicted(result, side))
        legs.mark_stance(axes)
        heading(axes, COMPONENTS[axis])
        axes.set_ylabel("[body weights]")
        zero_line(axes, LEAST_SCALE)
        axes.locator_params(axis="y", steps=[1, 2, 5, 10])  # no third decimal, which reaches the label
        legs.x.apply(axes, labeled=axis == "y")
    for side, path in paths.items():
        color, axes = SIDE_COLOR[side], panels[-1, -1]
        axes.plot(*path.T, color=color, linewidth=SIDE_WIDTH[side], label=series(side))
        # Contacts that begin within the recording or at its beginning.
        for start, _ in true_runs(np.asarray(np.isfinite(path).all(axis=1))):
            axes.plot(
                *path[start], color=color, marker="o", markersize=3.0, label=series(side, "first frame")
            )
    if paths:  # of its own scale
        axes = panels[-1, -1]
        axes.set_aspect("equal", adjustable="datalim")
        heading(axes, "center of pressure, above 20 N (dot: first frame)")
        sheet.label_below(axes, "in the walking direction [m]")
        axes.set_ylabel("to the left [m]")
    dashed = [side for side in legs.sides if frames.predicted(result, side).any()]
    styles = tuple(line(SIDE_COLOR[side], SIDE_WIDTH[side], linestyle=PREDICTED_STYLE) for side in dashed)
    legs.legend(sheet, measured=True, stance=True, further={PREDICTED: styles} if dashed else None)
    norms.explain(sheet)
    return sheet


def pressure_paths(result: xr.Dataset, sides: list[str]) -> dict[str, Array]:
    """Center of pressure (T, 2) of each foot, forward from the first one and to the left [m], NaN without contact."""
    if PATH not in result:
        return {}
    straight = result
    if "heading" in result:
        # The mean heading throughout: a place turned by a changing angle would wander.
        angle = result["heading"].values
        straight = result[[name for name in ("heading", "pelvis_angle") if name in result]].assign(
            heading=xr.full_like(result["heading"], np.arctan2(np.sin(angle).mean(), np.cos(angle).mean()))
        )
    place = along_heading(straight, result[PATH])
    paths = {side: place.sel(side=side).transpose("time", "axis").values[:, :2] for side in sides}
    known = [path for path in paths.values() if np.isfinite(path).any()]
    if not known:
        return {}
    first = np.nanmin(np.concatenate(known), axis=0)
    return {side: path - first for side, path in paths.items()}
