"""The examination of a model trial: loads, moments and coordinates; later checks use the repairs of earlier ones."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.messages import WarningNote, few
from musclesolve._util.sides import SIDES
from musclesolve.constants import LOADED_FROM_N, STANDARD_GRAVITY
from musclesolve.errors import InputError
from musclesolve.laboratory.analysis.measured_body import MeasuredModel
from musclesolve.laboratory.checks.case import collect_errors
from musclesolve.laboratory.checks.model import (
    coordinates,
    given_moments,
    load_balance,
    moment_columns,
    muscles,
    posture,
)
from musclesolve.laboratory.checks.model import load_units_and_axes as units
from musclesolve.laboratory.checks.model.given_moments import MomentCase, moment_case
from musclesolve.laboratory.checks.model.model_case import ModelCase, Motion, with_held
from musclesolve.laboratory.motion.motion_plausibility import sole_warnings
from musclesolve.laboratory.results.finding import Finding, Where, error_if, finding
from musclesolve.models.opensim.external_loads import feet_of, load_in_ground
from musclesolve.models.opensim.inverse_dynamics import needed_coordinates
from musclesolve.models.opensim.loads_without_plates import sole_points
from musclesolve.models.opensim.model import GROUND, TO_GLOBAL

OF_MODEL = muscles.joints_of_model, muscles.muscles_of_model, muscles.fibers_of_motion
"""Checks of muscles in the poses of the motion; a joint changes the arms of all muscles across it."""
OF_COORDINATES = coordinates.angle_units, coordinates.frozen_coordinates, posture.body_that_goes_backward
OF_POSTURE = coordinates.steps_of_coordinates, posture.cutoff_of_walk, posture.spectra
OF_LOADS: dict[Callable[[ModelCase], Iterator[Finding]], str] = {
    # units first: contacts and places of points under feet are unknown before
    load_balance.frames_of_loads: "",
    load_balance.cut_loads: "mass ground file",
    load_balance.plate_units: "mass",
    units.force_unit: "mass file",
    units.point_unit: "ground file",
    units.moment_unit: "file",
    units.axes_of_loads: "mass ground place",
    load_balance.bodies_of_loads: "",
    load_balance.feet_of_loads: "",
    load_balance.dead_channels: "mass ground place",
    load_balance.delay_of_shear: "mass ground file place",
    # the place of the pressure identifies the foot, also with late loads; a scale needs the right foot and time
    units.shift_of_loads: "mass",
    load_balance.shear_of_loads: "mass ground",
    load_balance.lean_of_loads: "mass ground file",
    load_balance.plate_scales: "mass",
    load_balance.loads_in_swing: "mass ground file",
    coordinates.feet_on_plates: "mass ground file place",
    load_balance.place_of_points: "mass ground place",
    load_balance.points_under_feet: "place",
    load_balance.ways_of_feet: "place",
    load_balance.feet_along_pressure: "ground place",
    load_balance.parts_of_feet: "",
    load_balance.way_of_body: "mass ground file",
    load_balance.mass_of_model: "mass",
    load_balance.balance_of_loads: "mass",
    load_balance.cutoff_of_flight: "mass",
    load_balance.whole_wrench: "mass ground",
}
"""Check of loads -> what it needs: a freely moving body with known masses; forces and points in the axes of the ground;
a file of loads (moments have checks of their own, and do not show the level of the ground); places of points, which
moments show only where they belong to this model, motion and filter."""
ON_GROUND = (9.7, 9.9)
"""Gravity on the ground [m/s2]."""
ALONG = float(np.sqrt(0.5))
"""Cosine of 45 degrees: a body stands along an axis."""
HELD_MASS = 0.15
"""Share of the mass whose unknown motion leaves moments of legs testable; two arms have about a tenth."""
BELONGS = 0.02
"""Share of the moments that remains beside the loads found in them where they belong."""
OF_MOMENTS: tuple[Callable[[MomentCase], Iterator[Finding]], ...] = (
    coordinates.leaps_of_moments,
    moment_columns.held_moments,
    given_moments.empty_columns,
    given_moments.loads_in_moments,
    moment_columns.copied_moments,
    moment_columns.spectra_of_moments,
    given_moments.sides_of_moments,
    given_moments.unit_of_moments,
    given_moments.shift_of_moments,
    moment_columns.columns_of_moments,
    given_moments.feet_along_pressure,
    given_moments.whole_body,
)


def findings_of_body(body: MeasuredModel) -> list[Finding]:
    """Return the faults of coordinates, loads and moments of a prepared model, causes first; nothing is changed.

    Each check examines loads or moments with the repairs of the earlier checks. Without a free coordinate no pose is
    known, and only times and names are compared.
    """
    changed, body = body.change, body.measured
    findings = _asked(gravity_of_model, body)
    if findings:
        body = replace(body, model=replace(body.model, gravity=usual_gravity(body)))
    findings += _asked(coordinates.leaps_of_coordinates, body)
    leaps = any(one.severity == "error" for one in findings)  # smaller ones hardly affect other checks
    # loads that were found in moments are unknown then
    body = replace(coordinates.without_leaps(body), dynamics=None) if leaps else body
    for note in dict.fromkeys(body.notes):
        if isinstance(note, WarningNote) and note.code == "truncated":
            findings.append(Finding("truncated", "warning", note.rstrip("."), note.remedy, Where()))
    findings += _asked(given_moments.belonging, body)
    # muscles are known along the leaps alone
    for of_model in () if leaps else (*OF_MODEL, coordinates.locked_coordinates):
        findings += _asked(of_model, body)
    if len(body.time) < 2:  # no motion
        return findings
    try:
        fixed = Motion.from_body(body)
    except InputError:
        return [*findings, *_of_legs(body)]
    lost = _asked(coordinates.skipped_frames, body)
    if wrong_base := lost or _asked(coordinates.length_units, body, fixed):
        return [*findings, *wrong_base]  # all other findings would follow from it
    of_coordinates = [fault for check in OF_COORDINATES for fault in _asked(check, body, fixed)]
    moments = moment_case(body, fixed)
    findings += of_coordinates
    of_posture = _asked(posture.feet_that_slide, body, fixed)
    if not any(fault.severity == "error" for fault in of_posture):  # the cause of feet that do not stand
        of_posture += _asked(posture.feet_on_floor, body, fixed)
    of_posture += [fault for check in OF_POSTURE for fault in _asked(check, body, fixed)]
    findings += of_posture
    if changed is not None:
        place = Where(None if body.trial is None else body.trial.path, field="[consistency] residual")
        moved = {"rms": float(np.sqrt(np.mean(changed.change**2))), "most": float(changed.change.max())}
        masses = {"carried": changed.carried, "given": body.model.mass}
        findings.append(finding("motion_change", "note", moved | masses, place))
        findings += [
            Finding(held.code, "warning", held.what, held.remedy, place) for held in changed.warnings
        ]
    if body.settings.files.predicted:
        return [*findings, *_asked(predicted_loads, body)]
    # wrong coordinates change the moments and loads that the body needs
    wrong = any(one.severity == "error" for one in (*of_coordinates, *of_posture))
    of_moments = list[Finding]()
    if moments is not None and not wrong:
        moments = replace(moments, findings=tuple(of_posture))
        for check_moments in OF_MOMENTS:
            moments = moments.with_findings(_asked(check_moments, moments))
        of_moments = list(moments.findings[len(of_posture) :])
    if body.dynamics is not None and not body.dynamics.loads and moments is None and posture.walks(fixed):
        least, where = {"least": LOADED_FROM_N}, Where(body.moment_file)
        of_moments.append(finding("contact_without_force.none", "error", least, where))
    # loads that wrong moments contain would be wrong, too
    spoiled = "error" in {fault.severity for fault in of_moments}
    if body.dynamics is not None and body.dynamics.loads and not spoiled:
        loads = body.dynamics.loads
        case = units.at_soles(ModelCase(body, fixed, loads, loads, tuple(findings)))
        if exchanged := _asked(coordinates.sides_of_coordinates, case):
            before = [fault for fault in findings if fault.code != exchanged[0].code]  # by the soles alone
            return [*before, *exchanged]  # all other findings would follow from it
        roots = fixed.model.roots
        free = bool(roots) and all(len(joint.coordinates) >= 6 for joint in roots)
        weighed = free and fixed.model.weight > 0.0 and bool(np.isfinite(fixed.need).all())
        weighed = weighed and not of_coordinates and not wrong
        on_ground = all((load.force_frame, load.point_frame) == (GROUND, GROUND) for load in loads)
        known = {"mass": weighed, "ground": on_ground, "file": moments is None, "place": not wrong}
        if moments is not None:  # whether the loads that were found in moments explain them
            under = np.stack([body.dynamics.dynamics.column(name) for name in body.dofs], axis=1)
            left = np.nansum((under - body.moment) ** 2)
            known["place"] &= bool(left < BELONGS**2 * np.nansum(body.moment**2))
        if on_ground and moments is None:
            case = case.with_findings(_asked(units.exchanged_plates, case))
            known |= dict.fromkeys(("place", "mass"), False) if case.found("plates_swapped") else {}
        for of_loads, needs in OF_LOADS.items():
            if all(known[need] for need in needs.split()):
                case = case.with_findings(_asked(of_loads, case))
        findings = list(case.findings)
    return [*findings, *of_moments]


def _of_legs(body: MeasuredModel) -> list[Finding]:
    """Findings on moments where coordinates are unknown: coordinates of arms, a small part of the mass, may be held."""
    model, known = body.model, body.motion.names
    absent = [name for name in needed_coordinates(model, known) if name not in known]
    if body.moment_table is None or not absent:
        return []
    feet, moved = feet_of(model).values(), set[str]()
    for joint in model.joints:  # from the root outward
        if joint.moved_by & set(absent) or joint.inboard.body in moved:
            moved.add(joint.outboard.body)
    mass = sum(model.masses[name].mass for name in moved if name in model.masses)
    if not feet or moved & set(feet) or mass > HELD_MASS * model.mass:
        return [finding("unexamined", "note", {"names": few(absent, 4)}, Where(body.motion.file))]
    whole = replace(body, motion=with_held(model, body.motion, absent))
    case = moment_case(body, Motion.from_body(whole))
    assert case is not None
    case = replace(case, body=body)
    for check in OF_MOMENTS:
        if check not in (moment_columns.columns_of_moments, given_moments.feet_along_pressure):
            case = case.with_findings(_asked(check, case))
    return list(case.findings)


def _asked(check: Callable[..., Iterator[Finding]], *examined: object) -> list[Finding]:
    """Return the findings of a check; a check that fails is a warning, and its findings before the failure are kept."""
    findings: list[Finding] = []
    with collect_errors(findings, f"check '{check.__name__}'"):
        for answer in check(*examined):
            findings.append(answer)
    return [replace(one, severity="warning") if one.code == "check_failed" else one for one in findings]


def gravity_of_model(body: MeasuredModel) -> Iterator[Finding]:
    """Compare the size of gravity with its size on the ground, and its direction with legs along the y axis."""
    model, usual = body.model, usual_gravity(body)
    gravity = float(np.linalg.norm(model.gravity))
    values = {"gravity": gravity, "vector": model.gravity.round(3).tolist()}
    values |= {"usual": "{:g} {:g} {:g}".format(*usual)}
    if not ON_GROUND[0] < gravity < ON_GROUND[1]:
        yield finding("gravity", error_if(body.dynamics is not None), values, Where(model.file))
    elif usual @ model.gravity < ALONG * gravity * STANDARD_GRAVITY:
        yield finding("gravity.direction", "warning", values, Where(model.file))


def usual_gravity(body: MeasuredModel) -> Array:
    """Gravity on the ground (3,) [m/s2] against `up` of the model, or along the y axis where its legs stand so."""
    model, roots, feet = body.model, body.model.roots, feet_of(body.model).values()
    up, y_axis = model.up, np.array([0.0, 1.0, 0.0])
    if not up.any():
        up = y_axis
    elif up[1] < ALONG and roots and feet:
        root, *ends = (
            body.pose.position[:, model.body_number[name]] for name in (roots[0].outboard.body, *feet)
        )
        legs = np.mean(root - np.mean(ends, axis=0), axis=0)
        if legs[1] > ALONG * np.linalg.norm(legs) and legs @ up < ALONG * np.linalg.norm(legs):
            up = y_axis
    return 0.0 - STANDARD_GRAVITY * up


def predicted_loads(body: MeasuredModel) -> Iterator[Finding]:
    """Warn of loads that no plate measured, and of frames in which they do not carry the body."""
    place = Where(body.motion.file)
    if body.trial is not None:
        place = Where(body.trial.path, body.trial.document.line("files", "loads"), "[files] loads")
    yield finding("predicted_forces.model", "warning", {}, place)
    dynamics = body.dynamics
    if dynamics is not None and dynamics.balance_limit is not None:
        pose = dynamics.dynamics.bodies.pose
        forces = [load_in_ground(body.model, load, body.time, pose)[0] for load in dynamics.loads]
        upward = np.stack([(force @ TO_GLOBAL.T)[:, 2] for force in forces], axis=1) / body.model.weight
        soles = [sole_points(body.model, dynamics.dynamics.bodies, side) @ TO_GLOBAL.T for side in SIDES]
        of_soles = sole_warnings(body.time, np.stack(soles, axis=1), upward)
        for warning in (*dynamics.support.warnings, *of_soles):
            place = Where(body.motion.file, times=warning.times)
            yield Finding(warning.code, "warning", warning.what, warning.remedy, place)
