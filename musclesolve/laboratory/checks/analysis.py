"""Refusals and warnings of the analysis itself, on the repaired recording: range, reading, anatomy, motion, cut-offs.

Every check calls the function of the analysis itself; an error that the function raises becomes a finding, unless a
finding covers it already.

`unequal_cutoffs` asks whether forces are filtered less than markers although the foot strikes with an impact. The
ground stops a foot that strikes. The filters keep the parts of force F and foot acceleration below the cut-offs of
forces and markers. The force between the two cut-offs has no acceleration: at a height h of the hip its horizontal part
leaves a moment of up to h |dF| at the hip, and less at the knee,

    dF = low-pass at the cut-off of the forces (F) - low-pass at the cut-off of the markers (F).

Divided by the mass this moment is 0.1 N m/kg on the synthetic walk and 0.16 to 0.18 on the recorded walk, both without
impacts, and 0.3 to 0.7 on a treadmill (6 and 25 Hz). There peaks of hip extension grow by 0.1 to 0.5 N m/kg; where the
truth is known (docs/motion.md) they grow by 0.3, none of it made by muscles.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from musclesolve._util.arrays import Array, across, at_times, time_spans, unit, vector_product
from musclesolve._util.long_arrays import in_files
from musclesolve._util.messages import capitalized, count_of
from musclesolve._util.sides import LEG_JOINTS
from musclesolve.dynamics.kinematics.low_pass import f90, low_pass, lowest_carried
from musclesolve.errors import InputError
from musclesolve.laboratory.analysis.mechanics import TIME_MARGIN, Mechanics
from musclesolve.laboratory.analysis.run_options import find_options
from musclesolve.laboratory.checks.case import (
    TABLES,
    Case,
    Stage,
    change_plate,
    check_at,
    collect_errors,
    finding_of,
    on_plate,
)
from musclesolve.laboratory.checks.forces.newtons_law import gain_of_forces
from musclesolve.laboratory.checks.forces.plate_balance import of_arms, plates_out_of_balance
from musclesolve.laboratory.checks.observed_body import runs, seen_feet
from musclesolve.laboratory.forces import mechanics_of
from musclesolve.laboratory.motion.anatomy.anatomy import Anatomy, anatomy
from musclesolve.laboratory.motion.anatomy.proportions import OFF_STATURE, fitting_stature
from musclesolve.laboratory.motion.events.foot_events import FootLoads, force_events
from musclesolve.laboratory.motion.ground_reaction import wrench_at_origin
from musclesolve.laboratory.motion.motion_plausibility import cutoff_with_flight, unusual_cutoff
from musclesolve.laboratory.recording.data import SIDE_NAMES, SIDES, Side, Trial
from musclesolve.laboratory.results.finding import Cost, Finding, Severity, Where, error_if, finding
from musclesolve.laboratory.results.movement import RISES
from musclesolve.laboratory.trial.muscle_signals import check_overlap, check_signals
from musclesolve.laboratory.trial.plates.plate_checks import (
    check_any_load,
    instants_of,
    plate_error,
    without_instants,
)
from musclesolve.laboratory.trial.recording_checks import (
    check_cutoff,
    check_heading,
    check_plate_gaps,
    check_size,
)
from musclesolve.laboratory.trial.time_range import finds_range, ranged, recorded_range, with_predicted_spans


@check_at(Stage.SUPPORT)
def filter_cutoff(case: Case) -> Iterator[Finding]:
    """Check the cut-off frequency of the filter."""
    place = case.key("filter", "cutoff_hz")
    if case.trial.settings.filter.cutoff_hz is None:
        return  # the cut-off is chosen from the motion
    chosen = case.trial.settings.filter.fixed_cutoff
    if (unusual := unusual_cutoff(chosen, not runs(case.trial))) is not None:
        yield finding("cutoff", "warning", unusual, place)
    elif (warning := cutoff_with_flight(case.trial, chosen)) is not None:
        yield Finding("cutoff", "warning", *warning, place)


@check_at(Stage.SUPPORT)
def named_options(case: Case) -> Iterator[Finding]:
    """Look up the names in the trial file: muscles, cost, solver, degrees of freedom."""
    try:
        find_options(case.trial, None, None, "both")
    except InputError as error:
        yield finding_of("trial_file", error)


@check_at(Stage.ANALYSIS)
def refusals_of_reading(case: Case) -> Iterator[Finding]:
    """Run the checks of reading and of motion one by one, and report refusals that no finding covers yet."""
    trial, document, span = case.trial, case.document, case.trial.time_range
    tests: list[tuple[str, Callable[[], object]]] = []
    if np.isfinite([trial.subject.mass, trial.subject.stature]).all():
        tests.append(("marker_units", partial(check_size, trial, document)))
        tests.append(("walking_direction", partial(check_heading, trial, document)))
        if trial.forces:
            tests.append(("cutoff", partial(check_cutoff, trial, document)))
            tests.append(("force_units", partial(check_any_load, trial, document)))
            tests.append(("refused", partial(check_plate_gaps, trial)))
    if trial.emg is not None:
        tests.append(("emg", partial(check_overlap, document, trial.emg, *span)))
        tests.append(("emg", partial(check_signals, document, trial.emg)))
    if trial.fascicles is not None:
        tests.append(("fascicle", partial(check_overlap, document, trial.fascicles, *span)))
    for code, test in tests:
        refused: list[Finding] = []
        with collect_errors(refused, f"check of {code}", case, code):
            test()
        yield from (f for f in refused if not case.found(f.code, severity="error"))


@check_at(Stage.ANALYSIS)
def predicted_forces(case: Case) -> Iterator[Finding]:
    """Warn of forces that no plate measured."""
    if case.settings.files.predicted:
        yield finding("predicted_forces", "warning", {}, case.key("files", "forces"))
        return
    (start, end), steps = case.trial.time_range, list[str]()
    for side in SIDES:
        spans = (case.trial.predicted_spans or {}).get(side, ())
        inside = [(max(a, start), min(b, end)) for a, b in spans if a < end and b > start]
        if inside:
            times = ", ".join(f"{first:.2f} to {last:.2f} s" for first, last in inside)
            steps.append(f"{count_of(len(inside), 'step')} of the {SIDE_NAMES[side]} foot ({times})")
    if steps:
        values = {"steps": " and ".join(steps)}
        yield finding("predicted_forces.steps", "warning", values, case.key("plates", "unmeasured_steps"))


@check_at(Stage.ANALYSIS)
def refused_plates(case: Case) -> Iterator[Finding]:
    """Test every plate without a known error, because a known error may be the cause of a refusal.

    A fault of an instant costs the leg this instant alone, as in the analysis.
    """
    faulty = {f.where.plate for f in case.findings if f.severity == "error"}
    for index, recorded in enumerate(case.trial.forces):
        if SIDE_NAMES[recorded.side] in faulty:
            continue
        plate = without_instants(case.trial, recorded)
        if plate.impossible:
            what, remedy = instants_of(case.trial, plate)
            place = on_plate(plate, tuple((span.first, span.last) for span in plate.impossible))
            fields = ("force", "point", "moment", "impossible")
            repair = change_plate(index, **{name: getattr(plate, name) for name in fields})
            yield Finding("plate_instant", "warning", what, remedy, place, repair, side=plate.side)
        refused = plate_error(case.trial, plate, index, case.document)
        if refused is not None:
            yield finding_of(TABLES["plate_codes"][refused[0]], refused[1])


def find_predicted_spans(case: Case) -> Case:
    """Return the case with the range that the recording allows, and with the spans whose forces are predicted."""
    case = find_time_range(case)
    return case.with_trial(with_predicted_spans(case.trial, case.settings))


def find_time_range(case: Case) -> Case:
    """Return the case with the range that the repaired recording allows."""
    if not finds_range(case.settings) or not (case.trial.forces or case.settings.files.predicted):
        return case
    start, end = recorded_range(case.trial.markers, case.trial.forces)
    if end <= start:
        return case
    whole = replace(case.trial, time_range=(start, end), legs={}, analyzed=())
    return case.with_trial(ranged(whole, case.settings))


@check_at(Stage.PLATE_POSITION, needs=["plates", "mapping"])
def analyzed_range(case: Case) -> Iterator[Finding]:
    """Report the analyzed range, and the reasons that limit it."""
    if case.trial.analyzed:
        values = {"sentences": ". ".join(map(capitalized, case.trial.analyzed))}
        yield finding("analyzed", "note", values, Where(case.trial.markers.path))


# Duration that is too short to measure a subject [s].
SHORTEST_MEASUREMENT = 0.2
# Code of a finding by the place of the refusal in the trial file.
PLACE_CODES = {"[filter]": "cutoff", "mass_kg": "mass", "stature_m": "stature"}


@check_at(Stage.ANATOMY)
def measured_anatomy(case: Case) -> Iterator[Finding]:
    """Measure the body where every marker is seen, and the motion that fits it."""
    trial = case.trial
    known = np.isfinite([trial.subject.mass, trial.subject.stature]).all()
    # Where landmarks or files are missing, the measurement would only report them again.
    forces = trial.forces or trial.settings.files.predicted
    if not known or not forces or case.found("mapping", "unreadable"):
        return
    # The longest part of the time range in which every needed marker is seen.
    inside = np.zeros(trial.markers.time.size, bool)
    inside[trial.frames()] = True
    for name in trial.used_markers:
        inside &= np.isfinite(trial.markers[name]).all(axis=1)
    spans = time_spans(inside, trial.markers.time)
    longest = max(spans, key=lambda span: span[1] - span[0], default=(0.0, 0.0))
    if longest[1] - longest[0] <= SHORTEST_MEASUREMENT:
        return
    if longest != trial.time_range:
        case = replace(case, recorded=replace(case.recorded, trial=replace(trial, time_range=longest)))
    prepared = case.prepared
    try:
        # The analysis has measured a recording without repairs.
        if prepared is not None and prepared.trial == case.trial:
            body = prepared.mechanics.measured
        else:
            body = in_files(anatomy(case.trial, TIME_MARGIN))
    except InputError as error:
        places = (code for part, code in PLACE_CODES.items() if part in (error.where or ""))
        code = "marker_moved" if error.code == "not_rigid" else next(places, "proportions")
        if not case.found(code, "landmark_order", severity="error"):
            yield finding_of(code, error)
        return
    for about, question in (("dimensions", _dimensions), ("pose", _consistent), ("remarks", _remarks)):
        answers: list[Finding] = []
        with collect_errors(answers, f"check of the {about}", case):
            answers.extend(question(case, body))
        yield from answers
        # A finding may be the cause of the next ones.
        case = case.with_findings(answers)


def _dimensions(case: Case, body: Anatomy) -> Iterator[Finding]:
    """Report a stature, proportions and joints that are unusual: as notes if another finding may be the cause."""
    fitting, stated = fitting_stature(body.offsets), case.trial.subject.stature
    off = fitting / stated - 1.0
    if abs(off) > OFF_STATURE:
        change = {("subject", "stature_m"): round(fitting, 2)}
        values = {"fitting": fitting, "given": stated, "off": off, "limit": OFF_STATURE}
        yield finding("stature", "warning", values, case.key("subject", "stature_m"), change=change)
    severity: Severity = "note" if abs(off) > OFF_STATURE else "warning"
    for unusual in body.unusual:
        what = f"{unusual.what} (expected: {unusual.expected})"
        yield Finding("proportions", severity, what, unusual.remedy, case.key("mapping", unusual.landmark))
    explained = bool(body.unusual) and severity == "warning"
    explained |= any(f.code in TABLES["marker_codes"] and f.severity != "note" for f in case.findings)
    # joints whose points do not move as a body
    for sentence in body.remarks["loose"]:
        yield finding("uncertain_joint", "note" if explained else "warning", {"sentence": sentence})
    if not case.found(*TABLES["label_codes"]):
        yield from _knee_axes(case, body)


FLEXED, TURNED_DEG, FEWEST_FLEXED = np.sin(np.radians(40.0)), 15.0, 10
"""Sine of the flexion from which a knee shows its plane, angle of its axis to this plane [deg], and frames with it: 18
knees with a lateral and a medial marker have up to 9.3 degrees, 13 in a window of 0.7 s; axes by wands, which are not
judged, up to 14.4."""


def _knee_axes(case: Case, body: Anatomy) -> Iterator[Finding]:
    """Find knees whose marked axis is turned about the thigh from the axis about which the shank swings."""
    for side in SIDES:
        hip, knee, ankle = (body.points[f"{name}_{side}"] for name in LEG_JOINTS)
        thigh, axis = unit(hip - knee), body.directions[f"knee_axis_{side}"]
        normal = vector_product(unit(knee - ankle), thigh)
        flexed = np.linalg.norm(normal, axis=1) > FLEXED
        if flexed.sum() < FEWEST_FLEXED or f"knee_medial_{side}" not in case.trial.mapping:
            continue
        swing = across(normal * np.sign(np.vecdot(normal, axis))[:, None], thigh)
        sine = np.vecdot(vector_product(swing, across(axis, thigh)), thigh)
        turned = float(np.degrees(np.arcsin(np.median(sine[flexed])))) * (1.0 if side == "l" else -1.0)
        if abs(turned) > TURNED_DEG:
            ends = [case.trial.mapping[f"knee_{end}_{side}"] for end in ("lateral", "medial")]
            where = Where(markers=tuple(marker for weights in ends for marker in weights))
            way = "behind" if turned > 0.0 else "ahead of"
            values = {"side": SIDE_NAMES[side], "angle": abs(turned), "way": way, "limit": TURNED_DEG}
            yield finding("knee_axis", "warning", values, where)


def _consistent(case: Case, body: Anatomy) -> Iterator[Finding]:
    """Make the motion consistent; report refusals, and implausible motion unless faults of markers may be the cause.

    A plausible motion also reveals small errors of the plates.
    """
    known = None if case.prepared is None else (case.prepared.trial, case.prepared.mechanics)
    try:
        if known is not None and known[1].measured is body:
            recorded = known[1]
        else:
            recorded = mechanics_of(case.trial, body, known=known)
    except InputError as error:
        yield finding_of("trial_file" if "[consistency]" in (error.where or "") else "refused", error)
        return
    wrong = [f for f in case.findings if f.code in TABLES["marker_codes"] and f.severity == "error"]
    if not all(of_arms(case.trial, f) for f in wrong):
        yield from (f for f in gain_of_forces(case) if f.severity == "error")
        return
    implausible, limit = [], recorded.balance_limit
    for warning in recorded.warnings(case.trial):
        # A few frames without a pose, or without support by the feet, are left out of the results; the others are as
        # good as they were.
        costs_frames = warning.code in ("pose", "not_carried")
        severity = error_if(warning.invalid and not costs_frames)
        place = Where(markers=warning.markers, times=warning.times)
        lacking = warning.residual
        cost = None if lacking is None else Cost(lacking, "body weights", "the pelvis", limit)
        implausible.append(Finding(warning.code, severity, warning.what, warning.remedy, place, cost=cost))
    implausible += [*_spectrum(case, recorded)] or [*gain_of_forces(case)]
    yield from implausible
    if (change := recorded.change) is not None:
        moved = {"rms": float(np.sqrt(np.mean(change.change**2))), "most": float(change.change.max())}
        masses = {"carried": change.carried, "given": case.trial.subject.mass}
        yield finding("motion_change", "note", moved | masses, case.key("consistency", "residual"))
    yield from plates_out_of_balance(case.with_findings(implausible), recorded)


SHORTEST_WALK = 0.8
"""Duration from which a spectrum is known [s]."""
LEAST_F90, TALL = 5.4, 1.85
"""Least frequency f90 (`low_pass.f90`) of the angles of a leg in level walking [Hz]: recorded walks have 6.1 to 7.5;
of markers that were filtered at 3 Hz 3.8 to 5.3. The stature [m] above which it falls: a long leg swings slowly."""
LEAST_F90_OF_FOOT = 4.6
"""The same for heel and toe, ahead and up [Hz]: 30 feet of recorded walks have 5.2 to 7.6, at 2 Hz 3.5 to 4.5."""
WALKING = 2.0
"""Speed of the swinging foot relative to the other one from which the subject walks [m/s]."""


def _spectrum(case: Case, recorded: Mechanics) -> Iterator[Finding]:
    """Find a level walk whose fast part is missing: markers that were filtered before, or a cut-off that is too low."""
    motion, feet = recorded.unchanged, seen_feet(case.trial)
    names = recorded.model.topology.dof_names[: recorded.model.tree.joint_count]
    legs = [
        k for k, name in enumerate(names) if name.startswith(("hip_flexion", "knee_flexion", "ankle_dorsi"))
    ]
    if len(feet) < len(SIDES) or len(legs) < 4 or case.found("cutoff") or np.ptp(motion.time) < SHORTEST_WALK:
        return
    apart = np.gradient(feet["r"].heel - feet["l"].heel, case.trial.markers.time, axis=0)
    height = motion.coordinates[:, -4]
    rise = height[len(height) // 2 :].mean() - height[: len(height) // 2].mean()
    if np.quantile(np.linalg.norm(apart, axis=1), 0.98) < WALKING or abs(rise) > RISES:
        return
    rate = 1.0 / float(np.diff(motion.time).mean())
    highest = max(f90(motion.coordinates[:, k], rate, 4) for k in legs)
    tall = min(1.0, (TALL / case.trial.subject.stature) ** 0.5)
    least, frames = LEAST_F90 * tall, case.trial.frames()
    for side, foot in feet.items() if highest >= least else ():
        ends = [end[frames, axis] for end in (foot.heel, foot.toe) for axis in (0, 2)]
        if (of_foot := max(f90(end, case.trial.markers.rate, 4) for end in ends)) < LEAST_F90_OF_FOOT * tall:
            values = {"side": SIDE_NAMES[side], "frequency": of_foot, "least": LEAST_F90_OF_FOOT * tall}
            markers = tuple(m for end in ("heel", "toe") for m in case.trial.mapping[f"{end}_{side}"])
            where = Where(case.trial.markers.path, markers=markers)
            yield finding("over_filtered.foot", "warning", values, where)
    if highest < least:
        cutoff = case.trial.settings.filter.fixed_cutoff or np.nan
        of_legs = {"frequency": highest, "least": least, "cutoff": cutoff}
        yield finding("over_filtered", "warning", of_legs, case.key("filter", "cutoff_hz"))


def _remarks(case: Case, body: Anatomy) -> Iterator[Finding]:
    """Report the other warnings of the analysis, unless they were reported in another form."""
    known = {*body.remarks["loose"], *(str(unusual) for unusual in body.unusual)}
    for cause, notes in body.notes_by_cause.items():
        known.update(notes if case.found(cause) else ())
    for note in body.notes:
        if note not in known:
            yield finding("remark", "note", {"sentence": note})


STRIKE = 0.08
"""Duration of a heel strike after the beginning of a contact [s]."""
HIP_HEIGHT = 0.52
"""Height of the hip in standing, as a share of the stature; 0.51 and 0.53 in two people."""
SPURIOUS = 0.25
"""Moment of the hip from which it is reported [N m/kg]: between walks without and with impacts."""


@check_at(Stage.ANALYSIS)
def unequal_cutoffs(case: Case) -> Iterator[Finding]:
    """Find heel strikes at which forces that are filtered less than the markers leave a moment at the hip."""
    trial, how = case.trial, case.settings.filter
    markers, forces = how.fixed_cutoff, how.force_cutoff_hz
    if markers is None or forces is None or forces <= markers or not trial.forces:
        return
    moments = {side: unanswered(trial, side, markers, forces) for side in SIDES}
    side, largest = max(moments.items(), key=lambda item: item[1])
    if largest <= SPURIOUS:
        return
    values = {"forces": forces, "markers": markers, "side": SIDE_NAMES[side], "moment": largest}
    yield finding("force_cutoff", "warning", values, case.key("filter", "force_cutoff_hz"))


def unanswered(trial: Trial, side: Side, markers_hz: float, forces_hz: float) -> float:
    """Return the largest moment of one hip after its heel strikes that no acceleration answers [N m/kg].

    It is zero where no strike was measured or a plate was too slow or too short for the filters.
    """
    plates = [plate for plate in trial.forces if plate.side == side]
    time = plates[0].time if plates else np.zeros(0)
    between = np.zeros((time.size, 3))
    for plate in plates:
        count = plate.time.size
        if not 2.0 * lowest_carried(count, plate.rate) < markers_hz < forces_hz < 0.45 * plate.rate:
            return 0.0
        force = wrench_at_origin(plate, trial.unloaded_below)[:, :3]
        parts: list[Array] = [low_pass(force, plate.rate, cutoff) for cutoff in (forces_hz, markers_hz)]
        between += at_times(plate.time, parts[0] - parts[1], time)
    first, last = trial.time_range
    struck = np.zeros(time.size, bool)
    for event in force_events(FootLoads.from_trial(trial)):
        if (event.side, event.kind) == (side, "heel_strike"):
            struck |= (time >= event.time) & (time < event.time + STRIKE)
    struck &= (time >= first) & (time <= last)
    if not struck.any():
        return 0.0
    horizontal = float(np.linalg.norm(between[struck, :2], axis=1).max())
    return horizontal * HIP_HEIGHT * trial.subject.stature / trial.subject.mass
