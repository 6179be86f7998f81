"""Newton's second law for the whole body: the forces must accelerate the center of mass as the markers show it.

The law is tested in frames in which the plates measure the whole support of the subject.
"""

from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array, Mask, at_times
from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.dynamics.kinematics.low_pass import low_pass, lowest_carried
from musclesolve.dynamics.model.segment_inertia import segment_rows
from musclesolve.laboratory.checks.case import Case, frames_of
from musclesolve.laboratory.checks.observed_body import (
    SMOOTH_HZ,
    between,
    clearly_seen,
    feet_by_landmarks,
    once,
    smooth,
)
from musclesolve.laboratory.recording.data import BESIDE_GAP, SIDES, PlateForce, Trial
from musclesolve.laboratory.trial.plates.foot_contacts import touch, unmeasured_contacts, vertical_force

SHORTEST_JUDGED = 0.25
"""Duration too short for a judgement [s]."""
HIP_DROP = 0.08
"""Depth of the hip centers below the middle of ASIS and PSIS [m], accurate enough for the center of mass."""
TRUNK = 0.5
"""Length of a trunk without shoulders [m]: no acceleration depends on it."""
CORRELATION = 0.08
"""Correlation time of the force residual from errors of the markers [s]."""
HELD = 0.5
"""Least vertical force on a body that something holds [body weights]; in flight it is near zero."""
LACKING = 0.2
"""Vertical force that the plates lack while a seat carries a part of the body [body weights]."""
BALANCED = 0.06
"""Difference of the vertical forces with which the plates lack nothing [body weights]."""
LONG_LACK = 0.2
"""Least duration of a lack [s]."""
EXPLAINED = 0.5
"""Share of a lack that factors of the plates leave where these are wrong."""
DEEP = 0.08
"""Longest disagreement between contact and force that is ignored [s]."""
SHORTEST_FORCE, SHORTEST_CONTACT = 0.03, 0.06
"""Duration below which a disagreement of force and contact follows from the threshold [s]."""


@dataclass(frozen=True)
class Law:
    """Vertical force per kilogram that the motion requires, and the frames of the comparison."""

    time: Array  # (T,) [s]
    due: Array  # (T,) vertical force per kilogram: acceleration of the center of mass upward, plus g [m/s^2]
    frames: Mask  # (T,) where all contacts are measured
    beside: Mask  # (T,) where something without a plate carries a part of the body


def law(case: Case) -> Law | None:
    """Return Newton's law for a case, None where markers, plates or measured time do not suffice."""
    return None if {"plates", "upright"} & case.unknown else _law(case.trial)


@once
def _law(trial: Trial) -> Law | None:
    center = center_of_mass(trial)
    if center is None or not trial.forces:
        return None
    height, sees_trunk = center
    time, frames = trial.markers.time, measured(trial)
    # The ends of the recording have no second derivative.
    frames[:3] = frames[-3:] = False
    due = np.gradient(np.gradient(height, time), time) + STANDARD_GRAVITY
    beside = _carried_beside(trial, due, frames, sees_trunk)
    frames &= ~grown(beside, frames_of(SHORTEST_CONTACT, trial.markers.rate))
    if frames.sum() < SHORTEST_JUDGED * trial.markers.rate:
        return None
    return Law(time, due, frames, beside)


def _carried_beside(trial: Trial, due: Array, frames: Mask, sees_trunk: bool) -> Mask:
    """Return frames (T,) in which something without a plate carries the body, such as a box, a seat, or a rail.

    The plates lack a part of the force that the body requires, for a while, and lack nothing at other times. A wrong
    mass or a wrong gain is wrong all the time: then a factor for each foot explains most of what is lacking.

    A lack of a part is not searched for where no shoulder is seen: the trunk may lean.

    due: vertical force per kilogram (T,), acceleration plus g [m/s^2]; frames: where the plates are compared.
    """
    loads = np.stack([vertical_force(trial, side) for side in SIDES], axis=1)
    total, rate = loads.sum(axis=1), trial.markers.rate
    # Who does not fall while the plates bear nothing at all is carried, whatever the mass is.
    idle = frames & (total < touch(trial)) & (due > HELD * STANDARD_GRAVITY)
    beside = eroded(idle, frames_of(SHORTEST_FORCE, rate))
    left, weight = frames & ~beside, trial.subject.mass * STANDARD_GRAVITY
    if not sees_trunk or not np.isfinite(weight) or left.sum() < SHORTEST_JUDGED * rate:
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

    Least squares of F_z = m (a_z + g); the residual has one independent sample in twice its correlation time.
    """
    due = required.due[required.frames]
    force = total_force(case, required.time[required.frames])[:, 2]
    mass = float(due @ force) / float(due @ due)
    rest = float(np.linalg.norm(force - mass * due) / np.linalg.norm(due))
    return mass, rest * np.sqrt(2.0 * CORRELATION * case.trial.markers.rate / len(due))


def total_force(case: Case, time: Array) -> Array:
    """Return the sum of all plates (T, 3) [N] at some times."""
    return np.sum([at_times(plate.time, smooth_force(plate), time) for plate in case.trial.forces], axis=0)


@once
def center_of_mass(trial: Trial) -> tuple[Array, bool] | None:
    """Return the height of the center of mass (T,) [m], and whether both shoulders show the trunk.

    From the landmarks, with the segment masses of the inertia table. Unseen arms move with the trunk. Without shoulders
    the trunk stays upright on the pelvis. None where pelvis, knees, ankles or feet are not seen.
    """
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
        if hip is None or knee is None or ankle is None or heel is None or toe is None:
            return None
        hips.append(hip)
        if shoulder is not None:
            shoulders.append(shoulder)
        parts += [("thigh", hip, knee), ("shank", knee, ankle), ("foot", heel, toe)]
        elbow = _first(trial, f"elbow_lateral_{side}", f"elbow_center_{side}")
        wrist = smooth(trial, f"wrist_{side}")
        if shoulder is not None and elbow is not None and wrist is not None:
            parts += [("upper_arm", shoulder, elbow), ("forearm", elbow, wrist), ("hand", wrist, wrist)]
    hip, sees_trunk = np.mean(hips, axis=0), len(shoulders) == len(SIDES)
    neck = np.mean(shoulders, axis=0) if sees_trunk else hip + np.array([0.0, 0.0, TRUNK])
    parts += [("whole_trunk", neck, hip), ("head", neck + 0.5 * (neck - hip), neck)]
    mass = np.array([table[name]["mass_fraction"] for name, _, _ in parts])
    heights = [a[:, 2] + table[name]["com_fraction"] * (b - a)[:, 2] for name, a, b in parts]
    return np.asarray(mass @ np.array(heights) / mass.sum()), sees_trunk


def _joint(trial: Trial, joint: str, side: str) -> Array | None:
    middle = between(trial, f"{joint}_lateral_{side}", f"{joint}_medial_{side}")
    return _first(trial, f"{joint}_center_{side}", f"{joint}_lateral_{side}") if middle is None else middle


def _first(trial: Trial, *names: str) -> Array | None:
    """Return the first of some landmarks (T, 3) [m] that is seen."""
    return next((point for name in names if (point := smooth(trial, name)) is not None), None)


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
    for side, foot in feet_by_landmarks(trial).items():
        loaded = vertical_force(trial, side) > touch(trial)
        at_odds = (eroded(foot.ground, count) & ~loaded) | (eroded(foot.air, count) & loaded)
        whole &= ~grown(at_odds & _recorded(trial), 3 * count)
    # Contacts that the time range leaves out for lack of plate data show nothing about other contacts.
    if trial.legs or trial.predicted_spans is not None:
        for frames in unmeasured_contacts(trial).values():
            whole &= ~grown(frames, 2 * count)
    return whole
