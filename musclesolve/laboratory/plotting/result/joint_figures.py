"""Figures of the joints and the ground: angles, moments, powers, clinical sheet, contact forces, ground reaction.

Each is described once, as a `Chart` of the facts of a result.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import xarray as xr

from musclesolve._util.arrays import Array, true_runs
from musclesolve._util.bundled_toml import bundled_toml
from musclesolve._util.sides import LEG_JOINTS, SIDE_NAMES, split_side, with_side
from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.errors import input_error
from musclesolve.laboratory.plotting.figure_names import CONTACT_TITLE, FIGURE_NAMES
from musclesolve.laboratory.plotting.page.chart import Chart, Panel
from musclesolve.laboratory.plotting.page.chart_figure import CHARTS, chart_figure, charted
from musclesolve.laboratory.plotting.page.curves import (
    PERCENTS,
    PREDICTED,
    Abscissa,
    Legs,
    NormBands,
    abscissa,
    cycle_axis,
    measured_range,
    side_key,
)
from musclesolve.laboratory.plotting.page.marks import Line, Mark
from musclesolve.laboratory.plotting.page.page_style import (
    KEPT,
    NOTE_COLOR,
    PREDICTED_STYLE,
    SIDE_COLOR,
    SIDE_WIDTH,
    current_style,
    line,
    series,
)
from musclesolve.laboratory.plotting.page.panels import with_senses
from musclesolve.laboratory.plotting.page.sheet import Sheet, native
from musclesolve.laboratory.plotting.study.group_figures import DASHES
from musclesolve.laboratory.results.cycles.gait_scores import Curve, leg_curves, panels
from musclesolve.laboratory.results.dataset import frame_validity as frames
from musclesolve.laboratory.results.dataset.checked import MODEL
from musclesolve.laboratory.results.dataset.labels import SEGMENT_OF
from musclesolve.laboratory.results.dataset.quantities import QUANTITIES, shown
from musclesolve.laboratory.results.dataset.result_quantities import (
    BODY_WEIGHTS,
    OPPOSITE,
    along_heading,
    drawn_joints,
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
from musclesolve.laboratory.results.facts import KNEE_FORCES, ContactPeak, Facts
from musclesolve.laboratory.results.movement import RUNNING
from musclesolve.laboratory.results.plausibility import FAR_ABOVE, Measured, measured, never_measured

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


@charted
def joint_angles_and_moments(facts: Facts) -> Chart:
    """Angle [deg] and internal moment per body mass [N m/kg] of the seven degrees of freedom of each leg."""
    result = facts.result
    legs, mass = Legs.from_result(result, analyzed=False), float(result.attrs["subject_mass_kg"])
    known = set(map(str, result["dof"].values))
    stems = [dof for dof in OPPOSITE if all(f"{dof}_{side}" in known for side in legs.sides)]
    chart = Chart(legs.x, legs.result, "Joint angles and internal joint moments", [], row=0.125)
    norms = NormBands.from_result(result, legs.x)
    chart.panels = _dof_panels(
        legs, stems, result["joint_moment"] / mass, "N m/kg", legs.stance_bars(), norms
    )
    legs.legend(chart, stance=True)
    norms.explain(chart)
    return chart


@charted
def coordinates_and_moments(facts: Facts) -> Chart:
    """Each shared coordinate [deg] and its moment [N m], in the sense of the model."""
    result = facts.result
    legs, stems = Legs.from_result(result, analyzed=False), coordinate_stems(result)
    chart = Chart(legs.x, legs.result, "Coordinates and moments", [], row=0.15)
    chart.panels = _dof_panels(legs, stems, result["joint_moment"], "N m", legs.event_lines())
    legs.legend(chart, measured=True, events=True)
    return chart


def _dof_panels(
    legs: Legs,
    stems: list[str],
    moments: xr.DataArray,
    unit: str,
    signs: list[Mark],
    norms: NormBands | None = None,
) -> list[Panel]:
    """Angle and moment of each degree of freedom, with signs of stance or events.

    Without norms neither depends on the solution.
    """
    (angles, turned), shown = angles_without_turns(legs.result), list[Panel]()
    for stem in stems:
        for title, quantity, values, units in (
            (with_senses(stem), "joint_angle", angles, "deg"),
            (with_senses(stem, " moment"), "joint_moment", moments, unit),
        ):
            is_angle = quantity == "joint_angle"
            band, offset = norms.band(quantity, stem) if norms else ([], "")
            curves = legs.curves_of_both(stem, values, measured=is_angle or norms is None)
            turns = note_of_turns(stem, turned) if is_angle else ""
            shown.append(Panel(title, [*signs, *band, *curves], units, turns, offset))
    return shown


def angles_without_turns(result: xr.Dataset) -> tuple[xr.DataArray, set[str]]:
    """Joint angles (T, m) [deg] without whole turns, and the names of those that had any."""
    angles = result["joint_angle"].transpose("time", "dof")
    shown, moved = np.empty(angles.shape), set[str]()
    for k, (name, angle) in enumerate(zip(angles["dof"].values, angles.values.T, strict=True)):
        shown[:, k] = without_turns(DEGREES * angle)
        if (np.abs(shown[:, k] - DEGREES * angle) > 1.0).any():
            moved.add(str(name))
    return angles.copy(data=shown), moved


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
    return chart_figure(quantity_chart(Facts(result), name, labels))


def quantity_chart(facts: Facts, name: str, labels: Sequence[str] = ()) -> Chart:
    """The chart of `quantity_curves`."""
    result = facts.result
    legs, quantity = Legs.from_result(result), QUANTITIES[name]
    factor, unit = shown(str(result[name].attrs.get("units", quantity.units)))
    values, bars = factor * result[name], legs.stance_bars()
    known = [str(label) for label in values[quantity.dims[1]].values]
    stems = list(dict.fromkeys(split_side(label)[0] for label in labels or known if label in known))
    small = [Panel(_plain(stem), [*bars, *legs.curves_of_both(stem, values)]) for stem in stems]
    abreast = min(MOMENT_COLUMNS if len(stems) < MANY else MANY_COLUMNS, len(stems))
    vertical = f"{quantity.noun} [{unit}]  (each panel has its own scale)"
    chart = Chart(legs.x, legs.result, quantity.heading, small, abreast=abreast, vertical=vertical)
    legs.legend(chart, stance=True)
    return chart


CHARTS["quantity_curves"] = quantity_chart


def _plain(name: str) -> str:
    return name.replace("_", " ")


def coordinate_stems(result: xr.Dataset) -> list[str]:
    """The shared coordinates without side."""
    return list(dict.fromkeys(split_side(str(name))[0] for name in result["dof"].values))


@charted
def contact_forces(facts: Facts) -> Chart:
    """Magnitude of the joint reaction, with muscle forces and without.

    In body weights where the mass of the person is known. At the peak of the curves with muscles a bar: the range of
    the peaks that implants measured in the movement.
    """
    result, (weight, unit) = facts.result, facts.force_unit
    legs = Legs.from_result(result)
    bars, peaks = legs.stance_bars(), {peak.joint: peak for peak in facts.contact_peaks}
    forces = [magnitude(result[name]) / weight for name in ("joint_reaction", "joint_reaction_net")]
    chart, shown = Chart(legs.x, legs.result, CONTACT_TITLE, [], columns=2), list[Panel]()
    for joint, names in drawn_joints(result).items():
        curves, net = (
            {side: force.sel(joint=full).values for side, full in names.items()} for force in forces
        )
        of_legs = {side: peaks[full] for side, full in names.items() if full in peaks}
        marks = [*bars, *legs.curves_of_legs(curves)]
        top = max([float(np.nanmax(each, initial=0.0)) for each in curves.values()], default=0.0)
        if (band := measured(joint, facts.movement) if unit == BODY_WEIGHTS else None) is not None:
            if np.isfinite(place := legs.place_of_peak(curves)):
                marks += measured_range(place, band.lowest, band.highest, band.usual.get("mean"))
            top = max(top, band.highest)
            dot = " (dot)" if "mean" in band.usual else ""
            source = f"{joint} measured in {band.movement} {band.mean_words}{dot}, {band.authors}"
            chart.add_note("; ".join(filter(None, (f"bar at the peak: {source}", band.far_words))))
        elif (words := never_measured(joint)) and unit == BODY_WEIGHTS:
            chart.add_note(f"{joint}: {words}")
        top = 1.12 * max(top, 0.1)  # below the bars of stance
        title = f"{joint}: contact force, muscles included"
        shown.append(Panel(title, marks, unit, more=_peaks(of_legs, unit, band), low=0.0, high=top))
        title, marks = f"{joint}: net reaction, muscles left out", [*bars, *legs.curves_of_legs(net)]
        shown.append(Panel(title, marks, unit, low=0.0, high=top))
    chart.panels = shown
    legs.legend(chart, stance=True)
    return chart


def _peaks(of_legs: Mapping[str, ContactPeak], unit: str, band: Measured | None = None) -> str:
    """The peaks of the legs in words, marked where far above what implants measured; empty without any."""
    limit = math.inf if band is None else band.far_above
    texts = list[str]()
    for side, peak in of_legs.items():
        size = f"{peak.newton:.0f} N" if unit == "N" else f"{peak.body_weights:.2f}"
        mark = f" {FAR_ABOVE}" if peak.body_weights > limit else ""
        texts.append(f"{SIDE_NAMES.get(side, '')} {size}{mark}".strip())
    return f"peak {', '.join(texts)}" if texts else ""


@charted
def knee_contact_forces(facts: Facts) -> Chart:
    """Forces of the parts of the knee, muscles included."""
    result, (weight, unit) = facts.result, facts.force_unit
    legs, shown = Legs.from_result(result), list[Panel]()
    bars, parts = legs.stance_bars(), {part: name for part, name in KNEE_FORCES.items() if name in result}
    top = 1.12 * np.nanmax([result[name].max() for name in parts.values()], initial=0.1 * weight) / weight
    for part, name in parts.items():
        curves = {side: result[name].sel(side=side).values / weight for side in legs.sides}
        marks, peak = [*bars, *legs.curves_of_legs(curves)], _peaks(facts.knee_peaks.get(part, {}), unit)
        shown.append(Panel(f"knee: {part}", marks, unit, peak, high=float(top)))
    below = current_style().width_mm < BESIDE_MM
    title, abreast = "Contact forces of the knee", 1 if below else len(shown)
    chart = Chart(legs.x, legs.result, title, shown, columns=3, abreast=abreast)
    legs.legend(chart, stance=True)
    return chart


@charted
def contact_force_components(facts: Facts) -> Chart:
    """Axial, fore-aft and medio-lateral contact force on the distal segment, muscles included."""
    result, (weight, unit) = facts.result, facts.force_unit
    legs, force = Legs.from_result(result), result["contact_force_component"] / weight
    shown, bars = list[Panel](), legs.stance_bars()
    for joint in LEG_JOINTS:
        names = {side: full for side in legs.sides if (full := leg_joint(result, joint, side))}
        if not names:
            continue
        for direction, words in DIRECTIONS.items():
            along = force.sel(direction=direction)
            curves = {side: along.sel(joint=full).values for side, full in names.items()}
            marks = [*bars, *legs.curves_of_legs(curves)]
            shown.append(Panel(f"{joint}: {words}", marks, unit, f"axes of the {SEGMENT_OF[joint]}"))
    title = "Joint contact force on the distal segment, muscles included"
    chart = Chart(legs.x, legs.result, title, shown, columns=3, abreast=3, row=0.18)
    legs.legend(chart, stance=True)
    return chart


@charted
def joint_axis_forces(facts: Facts) -> Chart:
    """Contact force on the distal segment along the axes of the joint, muscles included.

    In newtons; in a spine compression and shear.
    """
    result, shown = facts.result, list[Panel]()
    legs = Legs.from_result(result)
    stems = {stem: names for stem, names in drawn_joints(result).items() if stem not in LEG_JOINTS}
    for stem, names in stems.items():
        of_joint = {side: result.sel(joint=name) for side, name in names.items()}
        first = next(iter(of_joint.values()))
        for axis, words in zip("xyz", first["joint_axis_words"].values, strict=True):
            curves = {
                side: each["joint_axis_force"].sel(joint_axis=axis).values for side, each in of_joint.items()
            }
            # a panel of both sides has the name of a body without its side
            named = split_side(str(words))[0] if len(curves) > 1 else words
            shown.append(Panel(f"{stem}: {named}", legs.curves_of_legs(curves), "N"))
    title = "Joint contact force in axes of the joint, muscles included"
    chart = Chart(legs.x, legs.result, title, shown, columns=3, abreast=3, row=0.18)
    legs.legend(chart)
    return chart


@charted
def joint_powers(facts: Facts) -> Chart:
    """Power of each joint or coordinate.

    Panels of hip, knee and ankle also show the power of flexion alone, with its bursts by name. Powers are per body
    mass where that is known. The lower panels show the support moment of each leg (Winter 1980), and the power of all
    its joints. A model without such joints has panels of each coordinate.
    """
    result = facts.result
    legs, of_joints = Legs.from_result(result, analyzed=False), powered_joints(result)
    # Per body mass where that is known.
    mass, per_mass = result.attrs.get("subject_mass_kg", 1.0), "/kg" * ("subject_mass_kg" in result.attrs)
    shown, bars, unit = list[Panel](), legs.stance_bars(), f"W{per_mass}"
    norms, senses = NormBands.from_result(result, legs.x), "generated (+)   absorbed (-)"
    if not of_joints:
        power = result["joint_power"] / mass
        for stem in dict.fromkeys(split_side(str(name))[0] for name in power["dof"].values):
            marks = [*bars, *legs.curves_of_both(stem, power)]
            shown.append(Panel(f"{_plain(stem)}: power, {senses}", marks, unit))
    totals: dict[str, Array] = {}
    # bursts of running are at other times
    bursts = legs.x.is_cycle and facts.movement.name != RUNNING
    for joint in of_joints:
        whole, sagittal = (
            {
                side: joint_power(result, joint, side, sagittal=alone) / mass
                for side in legs.sides
                if joint_dofs(result, joint, side, sagittal=alone)
            }
            for alone in (False, True)
        )
        band = norms.band("joint_power", joint)[0] if per_mass else []
        marks = [*bars, *band, *legs.curves_of_legs(whole)]
        shown.append(Panel(f"{joint}: power of all rotations, {senses}", marks, unit))
        note = power_bursts(legs, joint, sagittal) if bursts else ""
        marks = [*bars, *legs.curves_of_legs(sagittal)]
        shown.append(Panel(f"{joint}: power of flexion and extension", marks, unit, note))
        totals = {side: totals.get(side, 0.0) + power for side, power in whole.items()}
    moments = {side: support_moment(result, side) for side in legs.sides} if of_joints else {}
    known = {side: moment / mass for side, moment in moments.items() if moment is not None}
    if known:
        shown.append(Panel(SUPPORT, [*bars, *legs.curves_of_legs(known)], f"N m{per_mass}"))
    if of_joints:
        title = f"{', '.join(of_joints)} together: power of all rotations"
        shown.append(Panel(title, [*bars, *legs.curves_of_legs(totals)], unit))
    title = "Joint powers, support moment" if known else "Joint powers" if of_joints else "Powers"
    chart = Chart(
        legs.x, legs.result, title, shown, abreast=2 if of_joints else 1, row=0.19 if of_joints else 0.15
    )
    legs.legend(chart, stance=True)
    norms.explain(chart)
    return chart


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


@native
def clinical_sheet(results: xr.Dataset | Mapping[str, xr.Dataset]) -> Sheet:
    """Angles of pelvis, hip, knee, ankle and foot in three planes, internal moments and powers.

    Angles in degrees, moments in N m/kg, powers in W/kg; the named direction is positive. Angles are drawn over all
    gait cycles of the motion, moments and powers where forces were measured. Norms are of level walking. Several
    strides are drawn as their mean, with a band of one standard deviation. Rows without any curve are left out.

    Args:
        results: a result of `musclesolve.run` or on an OpenSim model; or name -> result, such as the trials of a person
            or two sessions. Each of several results is drawn as the mean of its strides: the color says the leg, the
            dashes say the result.
    """
    named = results if isinstance(results, Mapping) and not isinstance(results, xr.Dataset) else {"": results}
    if len(named) == 1:
        FIGURE_NAMES["clinical_sheet"].check(next(iter(named.values())))
    return chart_figure(clinical_chart(named))


def _chart_of_sheet(shown: Facts | Mapping[str, xr.Dataset]) -> Chart:
    return clinical_chart({"": shown.result} if isinstance(shown, Facts) else shown)


CHARTS["clinical_sheet"] = _chart_of_sheet


def clinical_chart(named: Mapping[str, xr.Dataset]) -> Chart:
    """The chart of `clinical_sheet`, of one result or of several by name."""
    beside = len(named) > 1
    every = {name: Legs.from_result(part, analyzed=False) for name, part in named.items()}
    kinetic = next(iter(every.values()))  # of a single result
    if not beside:
        ((name, part),) = named.items()
        every = {name: Legs.from_result(part, abscissa(part, of_motion=True), analyzed=False)}
        if not kinetic.x.is_cycle:  # the forces of a leg were never measured
            kinetic = every[name]
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
    if beside:
        first = replace(first, x=cycle_axis())
    norms, of_model = NormBands.from_result(first.result, first.x), MODEL in first.result.attrs
    shown = list[Panel | None]()
    for row in panels():
        for each in row if any(each.curve in known for each in row) else ():
            if each.curve not in known:
                shown.append(None)
                continue
            marks, offset = norms.band(*each.curve)
            if offset:
                norms.note_offset(each.curve[1], offset)
            if beside:
                marks += _of_several(each.curve, legs, curves)
            else:
                of_legs = {
                    side: of[each.curve]
                    for side, of in next(iter(curves.values())).items()
                    if each.curve in of
                }
                fixed = each.quantity.endswith("_angle") or of_model
                marks += (first if fixed else kinetic).curves_of_legs(of_legs, measured=fixed)
                marks += first.event_lines() if first.x.is_cycle else []
            shown.append(Panel(each.title, marks, each.unit, least=each.least))
    alike = xr.merge(
        [xr.Dataset(attrs=part.result.attrs) for part in legs.values()], combine_attrs="drop_conflicts"
    )
    title = "Gait: angles, internal moments, powers"
    chart = Chart(first.x, alike, title, shown, columns=3, abreast=3, row=0.125)
    if beside:
        _legend(chart, legs)
        for name in filter(lambda name: name not in legs, named):
            chart.add_note(f"{name} is not drawn: it has no stride of each leg")
    else:
        first.legend(chart, measured=of_model, events=first.x.is_cycle)
    norms.explain(chart)
    curves_of_sheet = {*known, *(panel.curve for row in panels() for panel in row)}
    norms.name_unknown(chart, curves_of_sheet, map(str, first.result["muscle"].values))
    return chart


def _of_several(
    key: Curve, legs: Mapping[str, Legs], curves: Mapping[str, Mapping[str, Mapping[Curve, Array]]]
) -> list[Mark]:
    """The mean curve of each leg of each result."""
    marks = list[Mark]()
    for (name, leg), dashes in zip(legs.items(), DASHES, strict=False):
        for side, of_leg in curves[name].items():
            if key in of_leg:
                style = {"color": SIDE_COLOR[side], "linewidth": 0.75 * SIDE_WIDTH[side], "linestyle": dashes}
                marks.append(Line(series(side, name), style, *_mean(leg.x, side, of_leg[key])))
    return marks


def _mean(x: Abscissa, side: str, values: Array) -> tuple[Array, Array]:
    """Places and values of the mean of the strides of a leg, or of its most complete stride."""
    if side in x.strides:
        return PERCENTS, x.strides[side].mean(values)
    first = x.passes[side][0]
    return np.asarray(first.place), values[first.index]


def _legend(chart: Chart, legs: Mapping[str, Legs]) -> None:
    """The legs by color, the results by dashes."""
    entries: dict[str, Any] = {
        SIDE_NAMES[side]: side_key(side)
        for side in SIDE_NAMES
        if any(side in leg.sides for leg in legs.values())
    }
    for name, dashes in zip(legs, DASHES, strict=False):
        entries[name] = line(NOTE_COLOR, 1.2, linestyle=dashes, of=name)
    chart.add_legend(entries)


COMPONENTS = {"z": "vertical (+ up)", "x": "fore-aft (+ forward)", "y": "medio-lateral (+ to the other leg)"}
TO_OTHER_LEG = {"r": 1.0, "l": -1.0}
"""Sign of a component to the left, as seen from either leg."""
PATH = "center_of_pressure"
LEAST_SCALE = 0.1
"""Least length of the scale of a component [body weights]: smaller forces are noise."""
LEAST_SCALE_N = 10.0
"""The same where the weight is not known [N]."""


@charted
def ground_reaction(facts: Facts) -> Chart:
    """Components of the reaction of the ground on each foot, and the center of pressure from above.

    The last panel is left out where the result has no center of pressure, or no foot is on the ground.
    """
    result, (weight, unit) = facts.result, facts.force_unit
    legs, known = Legs.from_result(result, analyzed=False), unit == BODY_WEIGHTS
    norms, reaction = (
        NormBands.from_result(result, legs.x),
        along_heading(result, result["ground_reaction_force"]),
    )
    shown, bars = list[Panel](), legs.stance_bars()
    predicted = {side: frames.predicted(result, side) for side in legs.sides}
    for axis, title in COMPONENTS.items():
        band = norms.band("ground_reaction_force", axis, 1.0 / STANDARD_GRAVITY)[0] if known else []
        marks = [*bars, *band]
        for side in legs.sides:
            sign = TO_OTHER_LEG.get(side, 1.0) if axis == "y" else 1.0
            values = sign * reaction.sel(side=side, axis=axis).values / weight
            marks += legs.curves(side, values, measured=True, predicted=predicted[side])
        shown.append(Panel(title, marks, unit, least=LEAST_SCALE if known else LEAST_SCALE_N))
    if paths := pressure_paths(result, legs.sides):
        shown.append(_pressure(paths))
    origin = text(result, "ground_reactions")
    source = f"{origin} from the motion" if PREDICTED in origin else origin
    chart = Chart(
        legs.x,
        result,
        "Ground reaction" if origin in ("", "measured") else f"Ground reaction, {source}",
        shown,
        columns=2,
        abreast=1 if current_style().narrow or not paths else 2,
        row=0.16,
    )
    dashed = [side for side, mask in predicted.items() if mask.any()]
    styles = tuple(line(SIDE_COLOR[side], SIDE_WIDTH[side], linestyle=PREDICTED_STYLE) for side in dashed)
    legs.legend(chart, measured=True, stance=True, further={PREDICTED: styles} if dashed else None)
    norms.explain(chart)
    return chart


def _pressure(paths: Mapping[str, Array]) -> Panel:
    """The center of pressure (T, 2) of each foot from above, with a dot where a contact begins."""
    marks = list[Mark]()
    for side, path in paths.items():
        color = SIDE_COLOR[side]
        style = {"color": color, "linewidth": SIDE_WIDTH[side]}
        marks.append(Line(series(side), style, path[:, 0], path[:, 1]))
        # contacts that begin within the recording or at its beginning
        first = path[[start for start, _ in true_runs(np.asarray(np.isfinite(path).all(axis=1)))]]
        dots = {"color": color, "linestyle": "", "marker": "o", "markersize": 3.0}
        marks.append(Line(series(side, "first frame"), dots, first[:, 0], first[:, 1]))
    title, across = (
        "center of pressure to the left, above 20 N (dot: first frame)",
        "in the walking direction [m]",
    )
    return Panel(title, marks, "m", across=across, has_zero=False, square=True)


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
