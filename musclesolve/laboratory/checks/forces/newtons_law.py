"""Newton's second law for the whole body: the forces must accelerate the center of mass as the markers show it.

The law shows whether forces and markers are synchronous, by the shift with which the forces best accelerate the
subject. The law is tested in frames in which the plates measure the whole support of the subject. Contact and force
must agree: no force on a foot in the air, no unloaded foot on the ground.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from musclesolve._util.arrays import (
    UP,
    Array,
    Mask,
    at_times,
    long_enough,
    time_spans,
    true_runs,
    unit_or_zero,
)
from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.dynamics.kinematics.low_pass import low_pass, lowest_carried
from musclesolve.dynamics.model.segment_inertia import segment_rows
from musclesolve.dynamics.rotations import rotation_about
from musclesolve.laboratory.checks.case import (
    Case,
    Stage,
    change_plate,
    check_at,
    frames_of,
    in_order,
    replace_fields,
    rotate_recordings,
)
from musclesolve.laboratory.checks.observed_body import (
    SMOOTH_HZ,
    between,
    clearly_seen,
    facing,
    once,
    runs,
    seen_feet,
    smooth,
)
from musclesolve.laboratory.motion.events.foot_events import headings
from musclesolve.laboratory.recording.data import BESIDE_GAP, SIDE_NAMES, SIDES, PlateForce, Side, Trial
from musclesolve.laboratory.results.finding import Finding, Where, error_if, finding
from musclesolve.laboratory.trial.plates.foot_contacts import (
    EDGE,
    HIGH,
    SLOW,
    ground_velocity,
    touch,
    unmeasured_contacts,
    vertical_force,
)
from musclesolve.laboratory.trial.time_range import finds_range

# Duration too short for a judgement [s].
SHORTEST_JUDGED = 0.25
# Depth of the hip centers below the middle of ASIS and PSIS [m], accurate enough for the center of mass.
HIP_DROP = 0.08
# Correlation time of the force residual from errors of the markers [s].
CORRELATION = 0.08
# Least acceleration less gravity of a body that something holds: half of g; in flight it is near zero.
HELD = 0.5
# Vertical force that the plates lack while a seat carries a part of the body, and with which they lack nothing [body
# weights]; least duration of the lack [s]; share of it that factors of the plates leave where these are wrong.
LACKING, BALANCED, LONG_LACK, EXPLAINED = 0.2, 0.06, 0.2, 0.5
# Longest time for which a foot rests without a load before it is lifted [s], on sound steps 0.23; and how far the
# center of pressure is from the other foot, as a share of its distance from this one: on sound steps up to 0.36.
LONGEST_TOUCH, NEARER = 0.4, 0.5


@dataclass(frozen=True)
class Law:
    """Force per kilogram that the motion requires, and the frames and direction of the comparison."""

    time: Array  # (T,) [s]
    due: Array  # (T, 3) acceleration of the center of mass less gravity [m/s^2]
    frames: Mask  # (T,) where all contacts are measured
    ahead: Array  # (T, 3) horizontal unit vector of the walking direction
    beside: Mask  # (T,) where something without a plate carries a part of the body


def law(case: Case) -> Law | None:
    """Return Newton's law for a case, None where markers, plates or measured time do not suffice."""
    return None if "plates" in case.unknown else _law(case.trial, False, False)


@once
def _law(trial: Trial, whole_range: bool, upright: bool) -> Law | None:
    center = center_of_mass(trial, upright)
    if center is None or not trial.forces:
        return None
    time, frames = trial.markers.time, within(trial) if whole_range else measured(trial)
    # The ends of the recording have no second derivative.
    frames[:3] = frames[-3:] = False
    velocity = np.gradient(center, time, axis=0)
    due = np.gradient(velocity, time, axis=0) + np.array([0.0, 0.0, STANDARD_GRAVITY])
    beside = _carried_beside(trial, due[:, 2], frames)
    frames &= ~grown(beside, frames_of(SHORTEST_CONTACT, trial.markers.rate))
    if frames.sum() < SHORTEST_JUDGED * trial.markers.rate:
        return None
    faced = facing(trial)
    ahead, _ = headings(time, center, np.tile([1.0, 0.0, 0.0], (time.size, 1)) if faced is None else faced)
    return Law(time, due, frames, ahead, beside)


def _carried_beside(trial: Trial, due: Array, frames: Mask) -> Mask:
    """Return frames (T,) in which something without a plate carries the body, such as a box, a seat, or a rail.

    The plates lack a part of the force that the body requires, for a while, and lack nothing at other times. A wrong
    mass or a wrong gain is wrong all the time: then a factor for each foot explains most of what is lacking.

    due: vertical acceleration less gravity (T,) [m/s^2]; frames: where the plates are compared.
    """
    loads = np.stack([vertical_force(trial, side) for side in SIDES], axis=1)
    total, rate = loads.sum(axis=1), trial.markers.rate
    # Who does not fall while the plates bear nothing at all is carried, whatever the mass is.
    idle = frames & (total < touch(trial)) & (due > HELD * STANDARD_GRAVITY)
    beside = eroded(idle, frames_of(SHORTEST_FORCE, rate))
    left, weight = frames & ~beside, trial.subject.mass * STANDARD_GRAVITY
    if not np.isfinite(weight) or left.sum() < SHORTEST_JUDGED * rate:
        return beside
    lacking = due * trial.subject.mass - total
    unexplained = lacking[left] - loads[left] @ np.linalg.lstsq(loads[left], lacking[left], rcond=None)[0]
    long = frames_of(LONG_LACK, rate) // 2
    short = grown(eroded(left & (lacking > LACKING * weight), long), long) & left
    counts = short.sum(), (left & (np.abs(lacking) < BALANCED * weight)).sum()
    too_much = (left & (lacking < -LACKING * weight)).sum() > 0.1 * counts[0]
    explained = np.linalg.norm(unexplained) < EXPLAINED * np.linalg.norm(lacking[left])
    if explained or too_much or min(counts) < SHORTEST_JUDGED * rate:
        return beside
    return beside | short


def carried_mass(case: Case, required: Law) -> tuple[float, float]:
    """Return the mass that the plates carry and accelerate [kg], and the standard deviation of its error [kg].

    Least squares of F_z = m (a_z + g), or of the weight alone where wrong rates give accelerations of quite another
    size; the residual has one independent sample in twice its correlation time.
    """
    due = required.due[required.frames][:, 2]
    force = total_force(case, required.time[required.frames])[:, 2]
    slope, weight = np.polyfit(due - STANDARD_GRAVITY, force, 1)
    share = slope * STANDARD_GRAVITY / weight
    if len(due) > LONG_ENOUGH * case.trial.markers.rate and not FAR_GAIN[0] < share < FAR_GAIN[1]:
        due = STANDARD_GRAVITY + share * (due - STANDARD_GRAVITY)
    mass = float(due @ force) / float(due @ due)
    rest = float(np.linalg.norm(force - mass * due) / np.linalg.norm(due))
    return mass, rest * np.sqrt(2.0 * CORRELATION * case.trial.markers.rate / len(due))


def along_walking_direction(required: Law, horizontal: Array) -> Array:
    """Return horizontal vectors (F, 2) of the frames of a law along the walking direction and to its left."""
    x, y = required.ahead[required.frames, :2].T
    return np.stack(
        [horizontal[:, 0] * x + horizontal[:, 1] * y, horizontal[:, 1] * x - horizontal[:, 0] * y], axis=1
    )


def total_force(case: Case, time: Array) -> Array:
    """Return the sum of all plates (T, 3) [N] at some times."""
    return np.sum([at_times(plate.time, smooth_force(plate), time) for plate in case.trial.forces], axis=0)


@once
def center_of_mass(trial: Trial, upright: bool) -> Array | None:
    """Return the center of mass (T, 3) [m] from the landmarks, with the segment masses of the inertia table.

    Unseen arms move with the trunk. None where pelvis, knees, ankles or shoulders are not seen; with `upright` unseen
    shoulders of a walking subject move like the hips: the acceleration of an upright trunk, at a height too low.
    """
    feet = seen_feet(trial).values()
    upright = upright and len(feet) == len(SIDES) and all(foot.air.any() for foot in feet) and not runs(trial)
    table = segment_rows(trial.subject.sex, trial.subject.age)
    parts: list[tuple[str, Array, Array]] = []
    hips, shoulders = [], []
    for side in SIDES:
        hip = smooth(trial, f"hip_center_{side}")
        if hip is None or not np.isfinite(hip).all():
            behind = f"psis_{side}" if f"psis_{side}" in trial.mapping else "sacrum"
            middle = between(trial, f"asis_{side}", behind)
            hip = None if middle is None else middle - [0.0, 0.0, HIP_DROP]
        knee, ankle = _joint(trial, "knee", side), _joint(trial, "ankle", side)
        heel, toe = smooth(trial, f"heel_{side}"), smooth(trial, f"toe_{side}")
        shoulder = _first(trial, f"shoulder_{side}", f"shoulder_center_{side}")
        if shoulder is None and upright:
            shoulder = hip
        if hip is None or knee is None or ankle is None or heel is None or toe is None or shoulder is None:
            return None
        hips.append(hip)
        shoulders.append(shoulder)
        parts += [("thigh", hip, knee), ("shank", knee, ankle), ("foot", heel, toe)]
        elbow = _first(trial, f"elbow_lateral_{side}", f"elbow_center_{side}")
        wrist = smooth(trial, f"wrist_{side}")
        if elbow is not None and wrist is not None:
            parts += [("upper_arm", shoulder, elbow), ("forearm", elbow, wrist), ("hand", wrist, wrist)]
    neck, hip = np.mean(shoulders, axis=0), np.mean(hips, axis=0)
    parts += [("whole_trunk", neck, hip), ("head", neck + 0.5 * (neck - hip), neck)]
    mass = np.array([table[name]["mass_fraction"] for name, _, _ in parts])
    places = [a + table[name]["com_fraction"] * (b - a) for name, a, b in parts]
    return np.asarray(np.tensordot(mass, places, axes=1) / mass.sum())


def _joint(trial: Trial, joint: str, side: str) -> Array | None:
    middle = between(trial, f"{joint}_lateral_{side}", f"{joint}_medial_{side}")
    return _first(trial, f"{joint}_center_{side}", f"{joint}_lateral_{side}") if middle is None else middle


def _first(trial: Trial, *names: str) -> Array | None:
    """Return the first of some landmarks (T, 3) [m] that is seen."""
    return next((point for name in names if (point := smooth(trial, name)) is not None), None)


# Shifts that are tried [s]: both ways, step.
FARTHEST, SHIFT_STEP = 0.2, 0.002
COMPARED = 3000
"""Frames, spread over the recording, of which the shift is found: half a minute of markers at 100 Hz."""
# Shifts below the first are not judged; from the second on results are wrong [s]. Soft tissue makes forces late by
# about the third [s]: a shift must lie so many standard deviations of its error beyond it.
SMALLEST_S, SERIOUS, SOFT_TISSUE_S, ERRORS = 0.015, 0.03, 0.01, 2.0
# Shifts below it [s] are not judged where the trunk is assumed: nine sound walks without trunk have 0 to 17 ms.
UPRIGHT_S = 0.03
# Least time by which forces are early against the markers that is reported [s]: soft tissue follows bones, so that on
# nine sound recordings the forces are between 0.3 ms early and 13 ms late.
EARLY_S = 0.007
# The best shift must leave no more than this share of the variation of the forces.
UNEXPLAINED = 0.35


@once
def time_offset(trial: Trial) -> tuple[float, float] | None:
    """Return the delay of the forces behind the markers and the standard deviation of its error [s], if known.

    An unseen trunk is assumed (`center_of_mass`), for delays far above the errors of its sway.
    """
    # Markers that are recorded more slowly do not show the acceleration of a step.
    if SMOOTH_HZ > 0.4 * trial.markers.rate:
        return None
    # A great shift makes feet and plates disagree: then all frames are used. Wrong axes of the plates spoil the forward
    # direction: then the vertical one must do.
    upright = center_of_mass(trial, False) is None
    for whole_range in (False, True):
        required = _law(trial, whole_range, upright)
        for ahead in (True, False):
            shift = None if required is None else _best_shift(trial, required, ahead)
            if shift is not None:
                return shift
    return None


def _best_shift(trial: Trial, required: Law, ahead: bool) -> tuple[float, float] | None:
    """Return the shift d with which the forces best accelerate the subject and the standard deviation of its error [s],
    None where no shift does well.

    With F(t) the total force and a(t) the acceleration of the center of mass, m (a + g) = F. The shift d minimizes
    sum |k F(t + d) - (a(t) + g)|^2 over the vertical and, if requested, the forward direction; k, which stands for one
    over the mass, is fitted with it, so that a wrong mass does not count as a shift. With n independent residuals, of
    variance r / n, and the second derivative h of the sum r about its minimum, the variance of d is 2 r / (n h).
    """
    shifts = np.arange(-FARTHEST, FARTHEST + SHIFT_STEP / 2, SHIFT_STEP)
    # Columns in one piece: `at_times` reads them once for each shift.
    forces = [(plate.time, np.asfortranarray(smooth_force(plate))) for plate in trial.forces]
    first, last = forces[0][0][[0, -1]]
    frames = np.flatnonzero(required.frames)
    frames = frames[:: max(1, frames.size // COMPARED)]
    time, due, way = (part[frames] for part in (required.time, required.due, required.ahead))

    def unexplained(shift: float) -> float:
        """The share of the variation of the due forces that a shift leaves unexplained; NaN if unknown."""
        at = time + shift
        inside = (at >= first) & (at <= last)
        if inside.mean() < 0.7:
            return np.nan
        total = np.sum([at_times(clock, values, at[inside]) for clock, values in forces], axis=0)
        # Upward and, if requested, forward (T, 2).
        force, needed = (
            np.stack([vector[:, 2], np.sum(vector * way[inside], axis=1) * ahead], axis=1)
            for vector in (total, due[inside])
        )
        variation, power = np.sum((needed - needed.mean(axis=0)) ** 2), np.sum(force**2)
        scale = np.sum(force * needed) / power if power > 0.0 else 0.0
        rest = np.sum((scale * force - needed) ** 2)
        return float(rest / variation) if variation > 0.0 else np.nan

    left = np.array([unexplained(shift) for shift in shifts])
    if not np.isfinite(left).any():
        return None
    best = int(np.nanargmin(left))
    now = left[shifts.size // 2]
    if best in (0, shifts.size - 1) or left[best] > UNEXPLAINED:
        return (0.0, 0.0) if now <= UNEXPLAINED else None
    around = left[best - 1 : best + 2]
    bend = around[0] - 2.0 * around[1] + around[2]
    if not (np.isfinite(bend) and bend > 0.0):
        return float(shifts[best]), 0.0
    fine = 0.5 * (around[0] - around[2]) / bend
    independent = (1 + ahead) * max(required.frames.sum() / (2.0 * CORRELATION * trial.markers.rate), 1.0)
    error = SHIFT_STEP * np.sqrt(2.0 * left[best] / (independent * bend))
    return float(shifts[best] + fine * SHIFT_STEP), float(error)


def shift_values(shift: float, limit: float) -> dict[str, object]:
    """Return the values for the texts of a time offset: the delay [s] of a signal, and the limit [s]."""
    late, add, to = ("late", "subtract", "from") if shift > 0.0 else ("early", "add", "to")
    return {"shift": shift, "size": abs(shift), "limit": limit, "late": late, "add": add, "to": to}


RATES_HZ = (25, 30, 50, 60, 75, 90, 100, 120, 125, 150, 200, 240, 250, 300, 400, 500)
"""Usual frame rates of cameras [Hz]."""
OTHER_RATE = 0.03
"""Share by which a frame rate differs from the stated one: the usual ones lie at least 4 % apart."""


@check_at(Stage.SYNCHRONY, needs=["plates"])
def frame_rate(case: Case) -> Iterator[Finding]:
    """Find the only frame rate at which the forces accelerate the subject, where they do not at the stated one.

    At the stated rate such markers last longer or shorter than the forces. The repair changes all times of the motion.
    """
    trial, markers = case.trial, case.trial.markers
    both = len({plate.side for plate in trial.forces}) == len(SIDES)
    if not both or abs(np.ptp(markers.time) / np.ptp(trial.forces[0].time) - 1.0) < OTHER_RATE or runs(trial):
        return
    if time_offset(trial) is not None:
        return
    start, fits = markers.time[0], []
    span = markers.time[[0, -1]] if finds_range(case.settings) else trial.time_range
    for rate in RATES_HZ:
        time, ends = (start + (np.asarray(t) - start) * markers.rate / rate for t in (markers.time, span))
        changes: dict[str, Any] = {"markers": replace(markers, time=time), "legs": {}}
        changes["time_range"] = float(ends[0]), float(ends[1])
        shift = time_offset(replace(trial, **changes, analyzed=()))
        if shift is not None and abs(shift[0]) < UPRIGHT_S:
            fits.append((rate, changes))
    if len(fits) == 1 and abs(fits[0][0] / markers.rate - 1.0) > OTHER_RATE:
        values = {"stated": markers.rate, "rate": fits[0][0]}
        repair = replace_fields(**fits[0][1], analyzed=())
        yield finding("clock_rate.frames", "error", values, Where(markers.path), repair)


@check_at(Stage.PLATES, needs=["plates"])
def reversed_in_time(case: Case) -> Iterator[Finding]:
    """Find a walk backward whose markers agree with the forces only where their frames run the other way."""
    trial, faced, pelvis = case.trial, facing(case.trial), between(case.trial, "asis_r", "asis_l")
    feet = [foot for foot in seen_feet(trial).values() if foot.ground.any()]
    if faced is None or pelvis is None or not feet or not trial.forces or runs(trial):
        return
    ways = (np.gradient(pelvis - foot.heel, foot.time, axis=0) for foot in feet)
    ahead = [np.sum(way * faced, axis=1)[foot.ground].mean() for way, foot in zip(ways, feet, strict=True)]
    if max(ahead) >= 0.0:
        return
    changes: dict[str, Any] = {"legs": {}, "analyzed": ()}
    changes["markers"] = replace(trial.markers, position=trial.markers.position[::-1].copy())
    shift, then = time_offset(trial), time_offset(replace(trial, **changes))
    if (shift is None or abs(shift[0]) > SERIOUS) and then is not None and abs(then[0]) < SMALLEST_S:
        where, repair = Where(trial.markers.path), replace_fields(**changes)
        yield finding("time_offset.reversed", "error", {}, where, repair)


# Least time for which a sole lies on a belt [s], as heel and toe go alike to a share of its speed; by how much a foot
# then goes faster or slower than in the contacts before and after it, as a share (root mean square). Four sound
# treadmills, parts of them, noise of 1 mm and skin that moves by 4 to 10 mm have at most 0.006, a clock that wanders
# by 10 ms has at least 0.016, by 5 ms 0.009.
ON_BELT, ALIKE, UNEVEN = 0.2, 0.15, 0.009


@check_at(Stage.SYNCHRONY)
def speed_of_belt(case: Case) -> Iterator[Finding]:
    """Find a clock of the markers that wanders: soles that lie on a belt seem to go now faster, now slower.

    The belt slows down under each foot strike, but alike in each contact, and a person changes its speed slowly: the
    speed of a foot over a contact is compared with its mean in the contacts before and after.
    """
    time, pelvis, off = case.trial.markers.time, between(case.trial, "asis_r", "asis_l"), list[Array]()
    for foot in seen_feet(case.trial).values() if not runs(case.trial) else ():
        parts = np.stack([foot.heel, foot.toe])[..., :2]
        rates = np.gradient(parts, time, axis=1)
        belt = np.median(ground_velocity(time, pelvis, (foot.heel + foot.toe) / 2.0), axis=0)
        lies = foot.ground & (np.linalg.norm(rates[0] - rates[1], axis=1) < ALIKE * np.linalg.norm(belt))
        way = parts.mean(axis=0) @ unit_or_zero(belt[:2])
        contacts = [run for run in true_runs(lies) if 0 < run[0] and run[1] < time.size]
        long = [slice(*run) for run in contacts if time[run[1] - 1] - time[run[0]] > ON_BELT]
        speed = np.array([np.polyfit(time[span] - time[span][0], way[span], 1)[0] for span in long])
        # a difference from the mean of two others has one and a half times the variance of one speed
        off.append((speed[1:-1] - 0.5 * (speed[2:] + speed[:-2])) / (np.sqrt(1.5) * np.linalg.norm(belt)))
    uneven = np.concatenate(off) if off else np.zeros(0)
    if len(uneven) > 1 and (size := float(np.sqrt(np.mean(uneven**2)))) > UNEVEN:
        values = {"share": size, "limit": UNEVEN}
        yield finding("clock_rate.belt", "warning", values, Where(case.trial.markers.path))


# Wrong axes hide a shift, so the search is repeated.
@check_at(Stage.SYNCHRONY, Stage.SYNCHRONY_IN_RIGHT_AXES, needs=["plates"])
def synchrony(case: Case) -> Iterator[Finding]:
    """Find a shift between forces and markers."""
    shift, error = time_offset(case.trial) or (0.0, 0.0)
    least = SMALLEST_S if center_of_mass(case.trial, False) is not None else UPRIGHT_S
    trunk = any(name.startswith("shoulder") for name in case.trial.mapping)
    if case.trial.forces and not trunk and not case.found("without_trunk"):
        yield finding("without_trunk", "note", {"limit": UPRIGHT_S}, Where(case.trial.markers.path))
    late = max(least, SOFT_TISSUE_S + ERRORS * error)
    if shift > SOFT_TISSUE_S and (pull := pull_after_contacts(case.trial)) > 0.0:
        yield early_or_late(case, shift, SOFT_TISSUE_S, pull)
    elif shift >= late or -shift >= max(least, ERRORS * error):
        yield early_or_late(case, shift, late)


# Time after a contact in which a filter still answers to it [s], over which its pull is averaged [s], the pull from
# which it counts [N], and so many times as much as before contacts: 57 sound plates have up to 0.5 N after contacts and
# as much before them; forces filtered forward in time alone 0.6 to 3.5 N and 0 at 15 Hz, 1.5 to 7.6 N at 10 Hz.
TAIL, AVERAGED, PULL, AS_BEFORE = 0.12, 0.02, 0.4, 3.0


def pull_after_contacts(trial: Trial) -> float:
    """Return the pull of the plates after contacts, as from a filter forward in time alone [N]; 0 if none is clear.

    No foot pulls a plate up. A filter both ways in time would pull before contacts as well, which begin more suddenly.
    """
    ends: tuple[list[float], list[float]] = [], []
    for plate in trial.forces:
        upward = np.nan_to_num(plate.shown[:, 2])
        count, few = (max(round(seconds * plate.rate), 1) for seconds in (TAIL, AVERAGED))
        for first, stop in true_runs(plate.force[:, 2] < touch(trial)):
            rest = upward[first:stop] - np.median(upward[first:stop])
            parts = zip(ends, (rest[:count], rest[-count:]), (first > 0, stop < upward.size), strict=True)
            for least, part, beside in parts if rest.size > 2 * count else ():
                if beside:
                    least.append(float(np.convolve(part, np.full(few, 1.0 / few), "valid").min()))
    if not all(ends):
        return 0.0
    after, before = -np.median(ends[0]), np.abs(np.median(ends[1]))
    return float(after) if after > max(PULL, AS_BEFORE * before) else 0.0


def early_or_late(case: Case, shift: float, limit: float = SMALLEST_S, pull: float = 0.0) -> Finding:
    """Return the finding of forces that come later than the markers by a shift beyond a limit [s].

    pull: of the plates after contacts, as from a filter forward in time alone [N].
    """
    plates = case.trial.forces
    offset = round(case.trial.settings.plates.offset_s - shift, 3)
    # Samples that are lost make later ones early; no offset of the whole file mends that.
    steps = [f.where.times[0][1] for f in case.findings if f.code == "force_step" and f.where.times]
    if steps and shift < 0.0:
        values = {"size": -shift, "early": EARLY_S, "at": steps[0]}
        return finding("time_offset.lost", error_if(-shift >= SERIOUS), values, Where(plates[0].path))
    return finding(
        "time_offset.filtered" if pull else "time_offset",
        error_if(abs(shift) >= SERIOUS),
        shift_values(shift, limit) | {"early": EARLY_S, "pull": pull},
        Where(plates[0].path),
        in_order(*(change_plate(index, time=plate.time - shift) for index, plate in enumerate(plates))),
        change={("plates", "offset_s"): offset},
    )


# Change of the vertical force over what the acceleration of the body needs: 13 sound recordings and their windows of
# 0.65 s and more have 0.885 to 1.046, both clocks x 0.9 0.75 to 0.82, x 1.1 1.11 to 1.23. Less correlated signals tell
# nothing. The usual one is in the middle of the sound ones. 250 such windows of 15 sound recordings correlate by 0.955
# and more, 10 of 11 pairs of forces and markers of different walks, at their best delay, by 0.60 to 0.948.
GAIN, USUAL_GAIN, CORRELATED, LONG_ENOUGH = (0.87, 1.065), 0.96, (0.95, 0.8), 0.65
# A gain beyond these is an error, and needs the second correlation: half of both rates gives 3.5, twice of them 0.24.
FAR_GAIN = 0.4, 2.5


def gain_of_forces(case: Case) -> Iterator[Finding]:
    """Find accelerations of another size than the forces: times of both clocks, places or large forces are scaled.

    F = k (g + s a): the weight shows k whatever the clocks are, and the accelerations grow with the square of a rate.
    Forces that are unlike the accelerations, at points that are off the feet, are of another motion.
    """
    required, (shift, _) = law(case), time_offset(case.trial) or (0.0, 0.0)
    if required is None or runs(case.trial) or case.found("clock_rate", "low_rate"):
        return
    due = required.due[required.frames, 2]
    force = total_force(case, required.time[required.frames] + shift)[:, 2]
    gain = float(force.std() / force.mean() / (due.std() / due.mean()))
    far = not FAR_GAIN[0] < gain < FAR_GAIN[1]
    long, likeness = len(due) > LONG_ENOUGH * case.trial.markers.rate, float(np.corrcoef(force, due)[0, 1])
    off = any(f.code == "pressure_offset" and f.severity != "note" for f in case.findings)
    if long and off and likeness < CORRELATED[0]:
        values = {"likeness": likeness, "limit": CORRELATED[0]}
        yield finding("another_motion", "error", values, Where(case.trial.forces[0].path))
    elif long and likeness > CORRELATED[far] and not GAIN[0] < gain < GAIN[1]:
        values = {"gain": gain, "low": GAIN[0], "high": GAIN[1], "rate": np.sqrt(gain / USUAL_GAIN)}
        yield finding("unbalanced.gain", error_if(far), values, Where(case.trial.forces[0].path))


# Longest disagreement between contact and force that is ignored [s].
DEEP = 0.08


@once
def smooth_force(plate: PlateForce) -> Array:
    """Return the force of a plate (S, 3), low-passed like the markers."""
    rate = plate.rate
    cutoff = min(SMOOTH_HZ, 0.4 * rate)
    if plate.time.size < 10 or cutoff < lowest_carried(plate.time.size, rate):
        return plate.force
    return low_pass(np.nan_to_num(plate.force), rate, cutoff)


def eroded(mask: Mask, count: int) -> Mask:
    """Return a mask (T,) without the first and last samples of each run; the ends of the recording are no ends."""
    beside = np.convolve(~mask, np.ones(2 * count + 1))[count : count + mask.size]
    return np.asarray(beside == 0.0)  # samples near by that are out of the mask


def grown(mask: Mask, count: int) -> Mask:
    """Return a mask (T,) with each run extended by `count` samples at both ends."""
    return ~eroded(~mask, count)


def within(trial: Trial) -> Mask:
    """Return which frames (T,) lie in the time range and in the recording of the forces."""
    inside = np.zeros(trial.markers.time.size, bool)
    inside[trial.frames()] = True
    return inside & _recorded(trial)


def _recorded(trial: Trial) -> Mask:
    """Return the frames (T,) in which every plate was recorded, outside of long gaps."""
    time = trial.markers.time
    recorded = np.ones(time.size, bool)
    for plate in trial.forces:
        recorded &= (time >= plate.time[0]) & (time <= plate.time[-1]) & ~plate.in_gap(time, BESIDE_GAP)
    return recorded


def measured(trial: Trial) -> Mask:
    """Return the frames (T,) in which the plates measure the whole support of the subject, as far as the feet show."""
    whole = within(trial) & clearly_seen(trial, list(trial.mapping))
    count = round(DEEP * trial.markers.rate)
    for side, foot in seen_feet(trial).items():
        loaded = vertical_force(trial, side) > touch(trial)
        at_odds = (eroded(foot.ground, count) & ~loaded) | (eroded(foot.air, count) & loaded)
        whole &= ~grown(at_odds & _recorded(trial), 3 * count)
    # Contacts that the time range leaves out for lack of plate data show nothing about other contacts.
    if trial.legs or trial.predicted_spans is not None:
        for frames in unmeasured_contacts(trial).values():
            whole &= ~grown(frames, 2 * count)
    return whole


def away(case: Case, plate: PlateForce, point: Array) -> float:
    """Return the median horizontal distance of points of force (S, 3) from the middle of the foot on the plate [m]."""
    foot = seen_feet(case.trial).get(plate.side)
    loaded = plate.force[:, 2] > 0.3 * plate.force[:, 2].max(initial=0.0)
    loaded &= np.isfinite(point).all(axis=1)
    if foot is None or not loaded.any():
        return 0.0
    return float(np.median(foot.from_middle(point[loaded], plate.time[loaded])))


# Duration below which a disagreement follows from the threshold [s].
SHORTEST_FORCE, SHORTEST_CONTACT = 0.03, 0.06


def _only_touches(case: Case, side: Side, frames: slice) -> bool:
    """Return whether a foot touches the ground for a moment while the other one carries all that the body requires.

    Then no force is lacking, and the center of pressure lies under the other foot, not between both: one shifts the
    weight before one lifts a foot onto a step.
    """
    required, feet, weight = law(case), seen_feet(case.trial), case.trial.subject.mass * STANDARD_GRAVITY
    if required is None or len(feet) < len(SIDES) or not np.isfinite(weight):
        return False
    total = sum(vertical_force(case.trial, s)[frames] for s in SIDES)
    lacking = required.due[frames, 2] * case.trial.subject.mass - total
    start, end = required.time[frames][[0, -1]]
    if end - start > LONGEST_TOUCH or np.median(np.abs(lacking)) > BALANCED * weight:
        return False
    (other,) = (s for s in SIDES if s != side)
    for plate in case.trial.forces:
        at = (plate.time >= start) & (plate.time <= end) & (plate.force[:, 2] > HELD * weight)
        if plate.side == other and at.any():
            off, there = (feet[s].from_middle(plate.point[at], plate.time[at]) for s in (other, side))
            return bool((off < NEARER * there).all())
    return False


# Slope of the ground under loaded feet against their points of force above which markers are tilted [degrees]: sound
# walks over ground have 0.0 to 0.4, markers tilted by 2 and 4 degrees 2.0 and 3.8 to 4.5; stairs have more. How far the
# contacts may lie from a line, root mean square, and least way from one of three or more contacts to the next [m].
TILTED, FAR_TILTED, OF_STAIRS, ON_A_LINE, APART = 1.0, 2.5, 8.0, 0.02, 0.2


@check_at(Stage.PLATES, needs=["plates"])
def tilted_markers(case: Case) -> Iterator[Finding]:
    """Find markers that are tilted against the plates: feet rest ever higher above their points of force."""
    trial, time, places = case.trial, case.trial.markers.time, [np.zeros((0, 3))]
    for plate in trial.forces:
        if (foot := seen_feet(trial).get(plate.side)) is not None:
            at = np.searchsorted(plate.time, time).clip(max=plate.time.size - 1)
            parts = np.stack([foot.heel, foot.toe])
            speed = np.linalg.norm(np.gradient(parts, time, axis=1), axis=2).min(axis=0)
            rests = (plate.force[at, 2] > touch(trial)) & (speed < SLOW) & within(trial)
            height = parts[..., 2].min(axis=0) - plate.point[at, 2]
            places.append(np.column_stack([parts[..., :2].mean(axis=0), height])[rests])
    place = np.concatenate(places)
    place = place[np.isfinite(place).all(axis=1)]
    if len(place) < 3:
        return
    way = np.append(np.linalg.svd(place[:, :2] - place[:, :2].mean(axis=0), full_matrices=False)[2][0], 0.0)
    along = place[:, :2] @ way[:2]
    slope, height = np.polyfit(along, place[:, 2], 1)
    off = float(np.sqrt(np.mean((place[:, 2] - height - slope * along) ** 2)))
    angle = float(np.arctan(slope))
    tilt = abs(np.degrees(angle))
    if np.sum(np.diff(np.sort(along)) > APART) > 1 and off < ON_A_LINE and TILTED < tilt < OF_STAIRS:
        repair = rotate_recordings(rotation_about(np.cross(UP, way), np.asarray(angle)), None)
        values, where = {"tilt": tilt, "limit": TILTED}, Where(trial.markers.path)
        yield finding("off_support.slope", error_if(tilt > FAR_TILTED), values, where, repair)


@check_at(Stage.SUPPORT, needs=["plates"])
def contacts_and_forces(case: Case) -> Iterator[Finding]:
    """Compare contacts of the feet with forces of the plates, within the time range."""
    turned = case.found("up_axis", severity="error")  # by another axis
    if not case.trial.forces or turned or case.lacks_range:
        return
    time, rate, inside = case.trial.markers.time, case.trial.markers.rate, within(case.trial)
    edge, least, path = frames_of(EDGE, rate), touch(case.trial), case.trial.forces[0].path
    for side, foot in seen_feet(case.trial).items():
        name, vertical = SIDE_NAMES[side], vertical_force(case.trial, side)
        known = inside & case.trial.measured(side, time)
        loaded = eroded(foot.air, edge) & known & (vertical > least)
        loaded = long_enough(loaded, frames_of(SHORTEST_FORCE, rate))
        if loaded.any():
            most, where = vertical[loaded].max(), Where(path, plate=name, times=time_spans(loaded, time))
            # A foot that stands still under its load is above or below the ground that its plate states.
            parts = np.stack([foot.heel, foot.toe])
            speed = np.linalg.norm(np.gradient(parts, time, axis=1), axis=2).min(axis=0)
            still, low = loaded & (speed < SLOW), parts[..., 2].min(axis=0)
            stands = foot.ground.any() and 2 * still.sum() > loaded.sum()
            if stands and abs(off := float(np.median(low[still]) - np.median(low[foot.ground]))) > HIGH:
                higher = "higher" if off > 0.0 else "lower"
                values = {"most": most, "side": name, "size": abs(off), "higher": higher}
                yield finding("force_without_contact.height", "error", values, where)
            else:
                values = {"most": most, "side": name, "limit": least}
                yield finding("force_without_contact", error_if(most > 2.0 * least), values, where)
        standing = eroded(foot.ground, edge) & known & (vertical < least)
        standing = long_enough(standing, frames_of(SHORTEST_CONTACT, rate))
        for first, stop in true_runs(standing):
            standing[first:stop] &= not _only_touches(case, side, slice(first, stop))
        if standing.any():
            spans = time_spans(standing, time)
            most = float(np.max(vertical[standing]))
            has_plate = any(plate.side == side for plate in case.trial.forces)
            shows = "carries it" if most < 0.5 else f"shows more than {most:.0f} N under it"
            more = "" if finds_range(case.settings) else ", or leave [time] out: one is then found"
            more += "" if has_plate else ", or add the plate of this foot as [[force]]"
            values = {"side": name, "duration": sum(b - a for a, b in spans) + 1.0 / rate}
            values |= {"shows": shows, "more": more}
            where = Where(path, plate=name, times=spans)
            yield finding("contact_without_force", error_if(has_plate), values, where, side=side)
