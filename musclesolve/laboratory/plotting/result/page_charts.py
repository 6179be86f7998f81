"""The charts of a result in its page: the curves of the figures of the same names, as `Chart`."""

from collections.abc import Callable, Mapping

import numpy as np
import xarray as xr

from musclesolve._util.arrays import Array
from musclesolve._util.messages import count_of
from musclesolve._util.sides import ALL_SIDES, LEG_JOINTS, SIDE_NAMES, side_of, split_side, with_side
from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.laboratory.plotting.figure_names import FIGURE_NAMES
from musclesolve.laboratory.plotting.page.chart import Chart, Panel
from musclesolve.laboratory.plotting.page.curves import PREDICTED, Legs, NormBands, measured_range, time_axis
from musclesolve.laboratory.plotting.page.marks import Line, Mark
from musclesolve.laboratory.plotting.page.page_style import (
    NOTE_COLOR,
    PREDICTED_STYLE,
    SIDE_COLOR,
    SIDE_WIDTH,
    line,
    series,
)
from musclesolve.laboratory.plotting.page.panels import GROUPS, muscles_by_group, with_senses
from musclesolve.laboratory.plotting.result import joint_figures as joints
from musclesolve.laboratory.plotting.result import muscle_figures as muscles
from musclesolve.laboratory.results.cycles import gait_scores
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
    pelvis_residual,
    powered_joints,
    shared_dofs,
    support_moment,
)
from musclesolve.laboratory.results.facts import KNEE_FORCES, Facts
from musclesolve.laboratory.results.movement import RUNNING
from musclesolve.laboratory.results.plausibility import measured
from musclesolve.laboratory.results.tables.lines import decimal

WEIGHTS = "body weights"


def _plain(name: str) -> str:
    return name.replace("_", " ")


class _Curves(dict[str, Array]):
    """The rows (T,) of a variable by the names of its axis."""

    def __init__(self, values: xr.DataArray) -> None:
        (dim,) = (dim for dim in values.dims if dim != "time")
        super().__init__(zip(map(str, values[dim].values), values.transpose(dim, "time").values, strict=True))


def _of_legs(legs: Legs, curves: Mapping[str, Array], measured: bool = False) -> list[Mark]:
    """The curves of some legs, by side."""
    return [mark for side, values in curves.items() for mark in legs.curves(side, values, measured=measured)]


def _with_sides(legs: Legs, curves: Mapping[str, Array], stem: str, measured: bool = False) -> list[Mark]:
    """The curves of both legs among curves by name; stem: a name without side."""
    names = {side: with_side(stem, side) for side in legs.sides}
    return _of_legs(legs, {side: curves[name] for side, name in names.items() if name in curves}, measured)


def clinical_sheet(facts: Facts) -> Chart:
    """See `joint_figures.clinical_sheet`."""
    result = facts.result
    legs = Legs.from_result(result, analyzed=False)
    legs.sides[:] = [side for side in legs.sides if side in SIDE_NAMES]
    curves = {side: gait_scores.leg_curves(result, side) for side in legs.sides}
    known, norms, of_model = (
        {key for leg in curves.values() for key in leg},
        NormBands.from_result(result, legs.x),
        MODEL in result.attrs,
    )
    panels = list[Panel | None]()
    for row in gait_scores.panels():
        for each in row if any(each.curve in known for each in row) else ():
            if each.curve not in known:
                panels.append(None)
                continue
            marks, offset = norms.band(*each.curve)
            if offset:
                norms.note_offset(each.curve[1], offset)
            of_legs = {side: leg[each.curve] for side, leg in curves.items() if each.curve in leg}
            marks += _of_legs(legs, of_legs, measured=each.quantity.endswith("_angle") or of_model)
            marks += legs.event_lines() if legs.x.is_cycle else []
            panels.append(Panel(each.title, marks, each.unit, least=each.least))
    chart = Chart(legs, panels, columns=3)
    legs.legend(chart, measured=of_model, events=legs.x.is_cycle)
    norms.explain(chart)
    norms.name_unknown(
        chart,
        {*known, *(panel.curve for row in gait_scores.panels() for panel in row)},
        map(str, result["muscle"].values),
    )
    return chart


def function_groups(facts: Facts) -> Chart:
    """See `muscle_figures.function_groups`."""
    result = facts.result
    legs, panels = Legs.from_result(result), list[Panel]()
    names, groups = (np.array(list(map(str, result.variables[name].values))) for name in ("muscle", "group"))
    of_sides = np.array([legs.muscle_sides[name] for name in names])
    force = result["muscle_force"].transpose("time", "muscle").values
    strength = result.variables["max_isometric_force"].values
    usable = {side: frames.valid(result, side) for side in legs.sides}
    bars = legs.stance_bars()
    for group in (group for group in dict.fromkeys((*GROUPS, *groups.tolist())) if group in groups):
        marks, peaks = list[Mark](), list[str]()
        for side in legs.sides:
            columns = (groups == group) & (of_sides == side)
            if not columns.any():
                continue
            total = force[:, columns].sum(axis=1)
            marks += legs.curves(side, 100.0 * total / np.nansum(strength[columns]))
            if np.isfinite(known := total[usable[side]]).any():
                peaks.append(f"{np.nanmax(known):.0f} N")
        stems = {split_side(name)[0] for name in names[groups == group]}
        note = count_of(len(stems), "muscle") + (f", peak {' / '.join(peaks)}" if peaks else "")
        panels.append(Panel(_plain(group), [*bars, *marks], note=note, low=0.0, least=1.0))
    chart = Chart(legs, panels, vertical="Sum of forces over sum of maximum isometric forces [%]")
    legs.legend(chart, stance=True)
    return chart


def activations(facts: Facts) -> Chart:
    """See `muscle_figures.activations`."""
    return _every_muscle(facts.result, "activation", "Activation [1]", top=1.02)


def muscle_forces(facts: Facts) -> Chart:
    """See `muscle_figures.muscle_forces`."""
    return _every_muscle(facts.result, "muscle_force", "Force [N], each panel with its own scale")


def emg_and_activation(facts: Facts) -> Chart:
    """See `muscle_figures.emg_and_activation`."""
    result = facts.result
    stems = {split_side(name)[0] for of in result["channel_muscles"].values for name in str(of).split(", ")}
    names = [name for name in map(str, result["muscle"].values) if split_side(name)[0] in stems]
    return _every_muscle(result.sel(muscle=names), "activation", "Share of the maximum [1]", top=1.02)


def _every_muscle(result: xr.Dataset, name: str, vertical: str, top: float | None = None) -> Chart:
    legs, curves = Legs.from_result(result), _Curves(result[name])
    norms, events = (
        NormBands.from_result(result, legs.x),
        {side: legs.event_lines(side) for side in ALL_SIDES},
    )
    envelopes = muscles.envelopes(result) if name == "activation" else {}
    groups = muscles_by_group(
        [split_side(name)[0] for name in curves], [str(group) for group in result["group"].values]
    )
    panels = list[Panel]()
    for stem in groups:
        marks, _ = norms.band(name, stem)
        fits = list[str]()
        for side in legs.sides:
            known = envelopes.get(f"{stem}_{side}", ())
            for envelope, _ in known:
                marks += legs.area_below(side, envelope, muscles.ENVELOPE)
            fits += [f"{SIDE_NAMES[side]} {', '.join(decimal(r, 2) for _, r in known)}"] if known else []
        for side in ALL_SIDES:
            if (full := with_side(stem, side)) in curves:
                marks += legs.muscle_curves(full, curves[full]) + events[side]
        note = f"EMG: r {', '.join(fits)}" if fits else ""
        panels.append(
            Panel(_plain(stem), marks, note=note, low=0.0, high=top, least=1.0 if top is None else 0.0)
        )
    chart, with_emg = Chart(legs, panels, vertical=vertical), {name[-1] for name in envelopes}
    drawn = {side_of(full) for full in curves} | {legs.muscle_sides[full] for full in curves}
    legs.sides[:] = [side for side in legs.sides if side in drawn]
    legs.legend(chart, events=True, shaded=muscles.ENVELOPE if with_emg else "", of=with_emg)
    if norms.drawn:
        norms.explain(chart)
    if with_emg:
        chart.add_note(muscles.PREDICTED if "emg_predicted" in result else muscles.EXPLAINED)
    return chart


def fibers_and_tendons(facts: Facts) -> Chart:
    """See `muscle_figures.fibers_and_tendons`."""
    result = facts.result
    legs = Legs.from_result(result)
    quantities = {title: _Curves(values) for title, values in muscles.of_fibers(result).items()}
    panels = [
        Panel(
            f"{_plain(stem)}, {title.partition(' [')[0]}",
            [
                mark
                for side in ALL_SIDES
                if (name := with_side(stem, side)) in curves
                for mark in legs.muscle_curves(name, curves[name]) + legs.event_lines(side)
            ],
            title.partition(" [")[2].rstrip("]"),
            has_zero=not title.startswith("fiber length"),
        )
        for stem in muscles.with_most_energy(result)
        for title, curves in quantities.items()
    ]
    chart = Chart(legs, panels, columns=3, vertical="L0: optimal fiber length")
    legs.legend(chart, events=True)
    return chart


def measured_fascicles(facts: Facts) -> Chart:
    """See `muscle_figures.measured_fascicles`."""
    result = facts.result
    legs, panels, lengths = Legs.from_result(result), list[Panel](), _Curves(result["fiber_length"])
    style, shown = {**muscles.MEASURED, "linewidth": 1.8}, set[str]()
    for muscle, (measured_length, note) in muscles.of_fascicles(result).items():
        marks = list[Mark]()
        for part in legs.x.passes[legs.muscle_sides[muscle]]:
            values = np.where(part.repeated, np.nan, measured_length[part.index])
            marks.append(Line(muscles.MEASURED_LABEL, style, part.place, values))
        marks += legs.muscle_curves(muscle, 1000.0 * lengths[muscle]) + legs.event_lines(side_of(muscle))
        panels.append(Panel(_plain(muscle), marks, "mm", note, has_zero=False))
        shown |= {legs.muscle_sides[muscle], side_of(muscle)}
    chart = Chart(legs, panels, columns=3, vertical="Fiber length")
    legs.sides[:] = [side for side in legs.sides if side in shown]
    legs.legend(chart, events=True, further={muscles.MEASURED_LABEL: line(**style)})
    return chart


def joint_angles_and_moments(facts: Facts) -> Chart:
    """See `joint_figures.joint_angles_and_moments`."""
    result = facts.result
    legs, mass = Legs.from_result(result, analyzed=False), float(result.attrs["subject_mass_kg"])
    known = set(map(str, result["dof"].values))
    stems = [dof for dof in OPPOSITE if all(f"{dof}_{side}" in known for side in legs.sides)]
    return _dof_rows(legs, stems, result["joint_moment"] / mass, "N m/kg", False, legs.stance_bars())


def coordinates_and_moments(facts: Facts) -> Chart:
    """See `joint_figures.coordinates_and_moments`."""
    result = facts.result
    legs, stems = Legs.from_result(result, analyzed=False), joints.coordinate_stems(result)
    return _dof_rows(legs, stems, result["joint_moment"], "N m", True, legs.event_lines())


def _dof_rows(
    legs: Legs, stems: list[str], moments: xr.DataArray, unit: str, measured: bool, signs: list[Mark]
) -> Chart:
    """Angle and moment of each degree of freedom, with signs of stance or events."""
    angles, turned = joints.angles_without_turns(legs.result)
    of_angle, of_moment = _Curves(angles), _Curves(moments)
    norms, panels = NormBands.from_result(legs.result, legs.x), list[Panel]()
    for stem in stems:
        for title, curves, quantity, units, own in (
            (with_senses(stem), of_angle, "joint_angle", "deg", True),
            (f"{with_senses(stem)}: moment", of_moment, "joint_moment", unit, measured),
        ):
            band, offset = norms.band(quantity, stem) if not measured else ([], "")
            marks = [*signs, *band, *_with_sides(legs, curves, stem, measured=own)]
            note = joints.note_of_turns(stem, turned) if quantity == "joint_angle" else ""
            panels.append(Panel(title, marks, units, "; ".join(filter(None, (note, offset)))))
    chart = Chart(legs, panels)
    legs.legend(chart, measured=measured, stance=not measured, events=measured)
    if not measured:
        norms.explain(chart)
    return chart


def joint_powers(facts: Facts) -> Chart:
    """See `joint_figures.joint_powers`."""
    result = facts.result
    legs, of_joints = Legs.from_result(result, analyzed=False), powered_joints(result)
    mass, per_mass = result.attrs.get("subject_mass_kg", 1.0), "/kg" * ("subject_mass_kg" in result.attrs)
    panels, bars, unit = list[Panel](), legs.stance_bars(), f"W{per_mass}"
    norms, senses = NormBands.from_result(result, legs.x), "generated (+)   absorbed (-)"
    if not of_joints:
        curves = _Curves(result["joint_power"] / mass)
        for stem in dict.fromkeys(split_side(name)[0] for name in curves):
            marks = [*bars, *_with_sides(legs, curves, stem)]
            panels.append(Panel(f"{_plain(stem)}: power, {senses}", marks, unit))
    totals: dict[str, Array] = {}
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
        panels.append(
            Panel(f"{joint}: power of all rotations, {senses}", [*bars, *band, *_of_legs(legs, whole)], unit)
        )
        note = joints.power_bursts(legs, joint, sagittal) if bursts else ""
        title = f"{joint}: power of flexion and extension"
        panels.append(Panel(title, [*bars, *_of_legs(legs, sagittal)], unit, note))
        totals = {side: totals.get(side, 0.0) + power for side, power in whole.items()}
    if of_joints:
        title = f"{', '.join(of_joints)} together: power of all rotations"
        panels.append(Panel(title, [*bars, *_of_legs(legs, totals)], unit))
    moments = {side: support_moment(result, side) for side in legs.sides} if of_joints else {}
    if known := {side: moment / mass for side, moment in moments.items() if moment is not None}:
        panels.append(Panel(joints.SUPPORT, [*bars, *_of_legs(legs, known)], f"N m{per_mass}"))
    chart = Chart(legs, panels)
    legs.legend(chart, stance=True)
    norms.explain(chart)
    return chart


def contact_forces(facts: Facts) -> Chart:
    """See `joint_figures.contact_forces`."""
    result = facts.result
    legs, weight = Legs.from_result(result), body_weight(result)
    bars, peaks = legs.stance_bars(), {peak.joint: peak for peak in facts.contact_peaks}
    forces = [_Curves(magnitude(result[name]) / weight) for name in ("joint_reaction", "joint_reaction_net")]
    panels, chart = list[Panel](), Chart(legs, [], columns=2)
    for joint in LEG_JOINTS:
        names = {side: full for side in legs.sides if (full := leg_joint(result, joint, side))}
        with_muscles, net = ({side: force[full] for side, full in names.items()} for force in forces)
        texts = [
            f"{SIDE_NAMES[side]} {peaks[full].body_weights:.2f}"
            for side, full in names.items()
            if full in peaks
        ]
        marks = [*bars, *_of_legs(legs, with_muscles)]
        if (band := measured(joint, facts.movement)) is not None:
            place = legs.place_of_peak(with_muscles)
            marks += [measured_range(place, band.lowest, band.highest)] if np.isfinite(place) else []
            source = f"{joint} measured in {band.movement} {band.words}, {band.authors}"
            chart.add_note(f"bar at the peak: {source}")
        curves = with_muscles.values()
        top = max([float(np.nanmax(each, initial=0.0)) for each in curves], default=0.0)
        top = 1.05 * max(top, band.highest if band is not None else 0.0, 0.1)
        title, note = f"{joint}: contact force, muscles included", f"peak {', '.join(texts)}" if texts else ""
        panels.append(Panel(title, marks, WEIGHTS, note, low=0.0, high=top))
        title, marks = f"{joint}: net reaction, muscles left out", [*bars, *_of_legs(legs, net)]
        panels.append(Panel(title, marks, WEIGHTS, low=0.0, high=top))
    chart.panels = panels
    legs.legend(chart, stance=True)
    return chart


def knee_contact_forces(facts: Facts) -> Chart:
    """See `joint_figures.knee_contact_forces`."""
    result = facts.result
    legs, weight, peaks = Legs.from_result(result), body_weight(result), facts.knee_peaks
    panels, bars = list[Panel](), legs.stance_bars()
    for part, name in KNEE_FORCES.items():
        if name in result:
            curves = _Curves(result[name] / weight)
            texts = [f"{SIDE_NAMES[side]} {at.body_weights:.2f}" for side, at in peaks.get(part, {}).items()]
            marks = [*bars, *_of_legs(legs, {side: curves[side] for side in legs.sides})]
            panels.append(Panel(f"knee: {part}", marks, WEIGHTS, f"peak {', '.join(texts)}" if texts else ""))
    chart = Chart(legs, panels, columns=3)
    legs.legend(chart, stance=True)
    return chart


def contact_force_components(facts: Facts) -> Chart:
    """See `joint_figures.contact_force_components`."""
    result = facts.result
    legs, force = Legs.from_result(result), result["contact_force_component"] / body_weight(result)
    panels, bars = list[Panel](), legs.stance_bars()
    for joint in LEG_JOINTS:
        for direction, words in joints.DIRECTIONS.items():
            curves = _Curves(force.sel(direction=direction))
            names = {side: full for side in legs.sides if (full := leg_joint(result, joint, side))}
            marks = [*bars, *_of_legs(legs, {side: curves[full] for side, full in names.items()})]
            panels.append(Panel(f"{joint}: {words}", marks, WEIGHTS, f"axes of the {SEGMENT_OF[joint]}"))
    chart = Chart(legs, panels, columns=3)
    legs.legend(chart, stance=True)
    return chart


def ground_reaction(facts: Facts) -> Chart:
    """See `joint_figures.ground_reaction`."""
    result = facts.result
    legs, weight = Legs.from_result(result, analyzed=False), body_weight(result)
    norms, reaction = (
        NormBands.from_result(result, legs.x),
        along_heading(result, result["ground_reaction_force"]),
    )
    panels, bars = list[Panel](), legs.stance_bars()
    predicted = {side: frames.predicted(result, side) for side in legs.sides}
    for axis, title in joints.COMPONENTS.items():
        band, _ = norms.band("ground_reaction_force", axis, 1.0 / STANDARD_GRAVITY)
        marks, curves = [*bars, *band], _Curves(reaction.sel(axis=axis))
        for side in legs.sides:
            sign = joints.TO_OTHER_LEG.get(side, 1.0) if axis == "y" else 1.0
            marks += legs.curves(side, sign * curves[side] / weight, measured=True, predicted=predicted[side])
        panels.append(Panel(title, marks, WEIGHTS, least=2.0 * joints.LEAST_SCALE))
    if paths := joints.pressure_paths(result, legs.sides):
        lines = [
            Line(
                series(side),
                {"color": SIDE_COLOR[side], "linewidth": SIDE_WIDTH[side]},
                path[:, 0],
                path[:, 1],
            )
            for side, path in paths.items()
        ]
        across = "in the walking direction [m]"
        panels.append(Panel("center of pressure, to the left", lines, "m", across=across, has_zero=False))
    chart = Chart(legs, panels, columns=2)
    dashed = [side for side, mask in predicted.items() if mask.any()]
    styles = tuple(line(SIDE_COLOR[side], SIDE_WIDTH[side], linestyle=PREDICTED_STYLE) for side in dashed)
    legs.legend(chart, measured=True, stance=True, further={PREDICTED: styles} if dashed else None)
    norms.explain(chart)
    return chart


def reserves(facts: Facts) -> Chart:
    """See `residual_figures.reserves`."""
    result = facts.result
    legs = Legs.from_result(result, analyzed=False)
    chart = Chart(legs, _reserves(legs, joints.coordinate_stems(result)))
    legs.legend(chart, events=True)
    return chart


def reserves_and_residual(facts: Facts) -> Chart:
    """See `residual_figures.reserves_and_residual`."""
    result = facts.result
    legs = Legs.from_result(result, time_axis(result))
    shared = shared_dofs(result) if legs.incomplete else []
    stems = [dof for dof in OPPOSITE if any(f"{dof}_{side}" in shared for side in legs.sides)]
    chart = Chart(legs, [*_reserves(legs, stems), *_residual(legs)], columns=2)
    legs.legend(chart, measured=not stems, events=True)
    return chart


def _reserves(legs: Legs, stems: list[str]) -> list[Panel]:
    curves, events = _Curves(legs.result["reserve_moment"]), legs.event_lines()
    return [
        Panel(f"{_plain(stem)} reserve", [*events, *_with_sides(legs, curves, stem)], "N m", least=2.0)
        for stem in stems
    ]


def _residual(legs: Legs) -> list[Panel]:
    """Residual force at the pelvis with its limit, and residual moment."""
    result, time = legs.result, np.asarray(legs.result["time"].values, float)
    kinds = [("pelvis_residual", "", {"color": "#000000", "linewidth": 1.0})]
    if "pelvis_residual_before" in result:
        before = {"color": NOTE_COLOR, "linewidth": 1.0, "alpha": 0.6}
        kinds.append(("pelvis_residual_before", ", before the motion was changed", before))
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
            for name, words, style in kinds
        ]
        notes = ["gray: before the motion was changed"] if len(kinds) > 1 else []
        if what == "force" and (limit := result.attrs.get("balance_limit")) is not None:
            look = {"color": NOTE_COLOR, "linewidth": 0.8, "linestyle": "--"}
            ends = np.full(2, 100.0 * float(limit))
            marks.append(Line("limit", look, np.array(legs.x.limits), ends))
            notes.append("frames above the dashed line are not valid")
        title = f"pelvis residual: {what}, magnitude"
        panels.append(Panel(title, [*legs.event_lines(), *marks], unit, "; ".join(notes), low=0.0))
    return panels


def quantity_curves(facts: Facts, name: str) -> Chart:
    """See `joint_figures.quantity_curves`."""
    result = facts.result
    legs, quantity = Legs.from_result(result), QUANTITIES[name]
    factor, unit = shown(str(result[name].attrs.get("units", quantity.units)))
    curves, bars = _Curves(factor * result[name]), legs.stance_bars()
    panels = [
        Panel(_plain(stem), [*bars, *_with_sides(legs, curves, stem)])
        for stem in dict.fromkeys(split_side(label)[0] for label in curves)
    ]
    chart = Chart(legs, panels, vertical=f"{quantity.said} [{unit}]")
    legs.legend(chart, stance=True)
    return chart


OWN: Mapping[str, Callable[[Facts], Chart]] = {
    chart.__name__: chart
    for chart in (
        *(clinical_sheet, function_groups, activations, muscle_forces, emg_and_activation),
        *(fibers_and_tendons, measured_fascicles, joint_angles_and_moments, coordinates_and_moments),
        *(joint_powers, contact_forces, knee_contact_forces, contact_force_components, ground_reaction),
        *(reserves, reserves_and_residual),
    )
}


def chart_of(name: str) -> Callable[[Facts], Chart] | None:
    """The chart of a figure; None of one that only files have."""
    if FIGURE_NAMES[name].quantity:
        return lambda facts: quantity_curves(facts, name)
    return OWN.get(name)
