"""The examination of a model trial: each check looks at the files as they are, and none changes what another one sees.

An error explains what later checks would find: they do not run.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

import numpy as np

from musclesolve._util.messages import WarningNote, few
from musclesolve._util.sides import SIDES
from musclesolve.errors import InputError
from musclesolve.laboratory.bodies.measured_body import MeasuredModel
from musclesolve.laboratory.checks.case import collect_errors
from musclesolve.laboratory.checks.model.coordinates import angle_units, leaps_of_coordinates, length_units
from musclesolve.laboratory.checks.model.load_balance import (
    balance_of_loads,
    carried_by_nothing,
    weight_at_root,
)
from musclesolve.laboratory.checks.model.load_bodies import load_bodies
from musclesolve.laboratory.checks.model.load_time import delay_of_loads, mass_of_loads
from musclesolve.laboratory.checks.model.load_units import axes_of_loads, force_unit, moment_unit, point_unit
from musclesolve.laboratory.checks.model.model_case import ModelCase
from musclesolve.laboratory.checks.model.muscle_paths import path_jumps
from musclesolve.laboratory.checks.model.own_moments import own_moments
from musclesolve.laboratory.checks.recording.mass import MASS
from musclesolve.laboratory.motion.motion_plausibility import (
    change_warnings,
    sole_warnings,
    support_warnings,
    unusual_cutoff,
)
from musclesolve.laboratory.results.finding import Finding, Where, error_if, finding
from musclesolve.models.opensim.external_loads import is_whole_person, load_in_ground
from musclesolve.models.opensim.load_dynamics import COLUMN_ENDINGS
from musclesolve.models.opensim.loads_without_plates import sole_points
from musclesolve.models.opensim.model import GROUND, TO_GLOBAL

OF_LOADS: tuple[Callable[[ModelCase], Iterator[Finding]], ...] = (
    force_unit,
    carried_by_nothing,
    point_unit,
    moment_unit,
    load_bodies,
    axes_of_loads,
    delay_of_loads,
    mass_of_loads,
    balance_of_loads,
)
"""Checks of loads, causes first: an error explains what the checks after it would find."""
ON_GROUND = (9.7, 9.9)
"""Gravity on the ground [m/s2]."""
SHORT = 0.5
"""Least share of the shorter one of two recordings in which both are known."""


def findings_of_body(body: MeasuredModel) -> list[Finding]:
    """Return the faults of coordinates, loads and moments of a prepared model, causes first; nothing is changed."""
    change, body = body.change, body.measured
    of_files = gravity_of_model, stated_mass, columns_of_moments, cutoff_of_motion
    findings = [fault for check in of_files for fault in _asked(check, body)]
    for note in dict.fromkeys(body.notes):
        if isinstance(note, WarningNote):
            findings.append(Finding(note.code, "warning", note.rstrip("."), note.remedy, Where()))
    if len(body.time) < 2:  # no motion
        return findings
    findings += [fault for check in (leaps_of_coordinates, path_jumps) for fault in _asked(check, body)]
    try:
        case = ModelCase.from_body(body)
    except InputError:  # the motion of a part of the model is not known
        return findings
    units = _until_error((length_units, angle_units), case)
    findings += units
    if any(fault.severity == "error" for fault in units):
        return findings  # all other findings would follow from it
    if change is not None:
        place = Where(None if body.trial is None else body.trial.path, field="[consistency] residual")
        moved = {"rms": float(np.sqrt(np.mean(change.change**2))), "most": float(change.change.max())}
        masses = {"carried": change.carried, "given": body.model.mass}
        findings.append(finding("motion_change", "note", moved | masses, place))
        findings += [
            Finding(held.code, "warning", held.what, held.remedy, place) for held in change_warnings(change)
        ]
    if body.settings.files.predicted:
        return [*findings, *_asked(predicted_loads, body)]
    if body.moment_table is not None:
        return [*findings, *_until_error((own_moments, weight_at_root), case)]
    on_ground = all((load.force_frame, load.point_frame) == (GROUND, GROUND) for load in case.loads)
    if body.dynamics is not None and case.stands_free and on_ground and case.ground_counts:
        findings += _until_error(OF_LOADS, case)
    return findings


def _until_error(
    checks: Iterable[Callable[[ModelCase], Iterator[Finding]]], case: ModelCase
) -> list[Finding]:
    """Return the findings of checks up to the first one with an error."""
    findings = list[Finding]()
    for check in checks:
        findings += _asked(check, case)
        if any(fault.severity == "error" for fault in findings):
            break
    return findings


def _asked(check: Callable[..., Iterator[Finding]], examined: object) -> list[Finding]:
    """Return the findings of a check; a check that fails is a warning, and its findings before the failure are kept."""
    findings: list[Finding] = []
    with collect_errors(findings, f"check '{check.__name__}'"):
        for answer in check(examined):
            findings.append(answer)
    return [replace(one, severity="warning") if one.code == "check_failed" else one for one in findings]


def gravity_of_model(body: MeasuredModel) -> Iterator[Finding]:
    """Compare the size of gravity with its size on the ground."""
    gravity = float(np.linalg.norm(body.model.gravity))
    if not ON_GROUND[0] < gravity < ON_GROUND[1]:
        yield finding("gravity", error_if(body.dynamics), {"gravity": gravity}, Where(body.model.file))


def stated_mass(body: MeasuredModel) -> Iterator[Finding]:
    """Compare the stated mass of the person with the mass of the model, which is a whole person or a part of one."""
    stated, mass = body.settings.subject.mass_kg, body.model.mass
    if stated is None or not mass > 0.0:
        return
    values = {"given": stated, "mass": mass, "off": stated / mass - 1.0, "limit": MASS}
    place = Where(None if body.trial is None else body.trial.path, field="[subject] mass_kg")
    if is_whole_person(body.model.bodies):
        if abs(stated / mass - 1.0) > MASS:
            yield finding("mass.stated", "warning", values, place)
    elif stated / mass < 1.0 - MASS:
        yield finding("mass.part", "warning", values, place)


def cutoff_of_motion(body: MeasuredModel) -> Iterator[Finding]:
    """Note a cut-off that is unusual for any movement."""
    if (unusual := unusual_cutoff(body.motion.cutoff_hz, walks=False)) is not None:
        yield finding("cutoff", "note", unusual, Where(body.motion.file, field="cutoff_hz"))


def columns_of_moments(body: MeasuredModel) -> Iterator[Finding]:
    """Compare times and columns of the file of moments with times and columns of the coordinates."""
    table, where = body.moment_table, Where(body.moment_file)
    if table is None:
        return
    (a, b), (c, d) = body.motion.time[[0, -1]], table.time[[0, -1]]
    if min(b, d) - max(a, c) < SHORT * min(b - a, d - c):
        values = {"first": a, "last": b, "moments_first": c, "moments_last": d}
        yield finding("another_trial.times", "warning", values, where)
    stems = [name.removesuffix(end) for end in COLUMN_ENDINGS for name in table.names if name.endswith(end)]
    if others := [name for name in stems if name not in body.model.coordinates]:
        values = {"names": few(others, 6), "model": body.model.name}
        yield finding("other_coordinates", "warning", values, where)


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
        for warning in (*support_warnings(dynamics.support), *of_soles):
            place = Where(body.motion.file, times=warning.times)
            yield Finding(warning.code, "warning", warning.what, warning.remedy, place)
