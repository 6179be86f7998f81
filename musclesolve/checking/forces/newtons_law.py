"""Newton's second law for the whole body: the forces must accelerate the center of mass as the markers show it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array, Mask, at_times
from musclesolve.checking.case.case import Case
from musclesolve.checking.case.observed_body import between, facing, smooth
from musclesolve.checking.forces.support import measured, smooth_force, within
from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.dynamics.model.data_files import read_table
from musclesolve.motion.walking_direction import headings
from musclesolve.recording.data import SIDES, Trial

# Too little to judge by [s].
SHORTEST = 0.25
# The hip centers lie about so far below the middle of ASIS and PSIS [m]; for the center of mass this is good enough.
HIP_DROP = 0.08


@dataclass(frozen=True)
class Law:
    """What the forces must be, per kilogram, and what they are."""

    time: Array  # (T,) [s]
    due: Array  # (T, 3) acceleration of the center of mass less gravity [m/s^2]
    frames: Mask  # (T,) where all contacts are measured
    ahead: Array  # (T, 3) horizontal unit vector of the walking direction


def law(case: Case, *, whole_range: bool = False) -> Law | None:
    """Return Newton's law for a case, None where markers, plates or measured time do not suffice.

    whole_range: use all of the time range, also where the feet show that the plates do not measure all contacts.
    """
    center = center_of_mass(case.trial)
    if center is None or not case.trial.forces or "plates" in case.unknown:
        return None
    time, frames = case.trial.markers.time, within(case) if whole_range else measured(case)
    # The ends of the recording have no second derivative.
    frames[:3] = frames[-3:] = False
    if frames.sum() < SHORTEST * case.trial.markers.rate:
        return None
    velocity = np.gradient(center, time, axis=0)
    due = np.gradient(velocity, time, axis=0) + np.array([0.0, 0.0, STANDARD_GRAVITY])
    faced = facing(case.trial)
    ahead, _ = headings(time, center, np.tile([1.0, 0.0, 0.0], (time.size, 1)) if faced is None else faced)
    return Law(time, due, frames, ahead)


def along_way(found: Law, horizontal: Array) -> Array:
    """Return horizontal vectors (F, 2) of the frames of a law along the walking direction and to its left."""
    x, y = found.ahead[found.frames, :2].T
    return np.stack(
        [horizontal[:, 0] * x + horizontal[:, 1] * y, horizontal[:, 1] * x - horizontal[:, 0] * y], axis=1
    )


def total_force(case: Case, time: Array) -> Array:
    """Return the sum of all plates (T, 3) [N] at some times."""
    parts = [at_times(plate.time, smooth_force(plate), time) for plate in case.trial.forces]
    return np.sum(parts, axis=0)


def center_of_mass(trial: Trial) -> Array | None:
    """Return the center of mass (T, 3) [m] from the landmarks, with the segment masses of de Leva (1996).

    Arms that are not seen move with the trunk. None where pelvis, knees, ankles or shoulders are not seen.
    """
    table = read_table("anthropometry", "de_leva_1996.toml")[trial.subject.sex]["segment"]
    parts: list[tuple[str, Array, Array]] = []
    hips, shoulders = [], []
    for side in SIDES:
        hip = _hip(trial, side)
        knee = _joint(trial, "knee", side)
        ankle = _joint(trial, "ankle", side)
        heel, toe = smooth(trial, f"heel_{side}"), smooth(trial, f"toe_{side}")
        shoulder = smooth(trial, f"shoulder_{side}")
        shoulder = smooth(trial, f"shoulder_center_{side}") if shoulder is None else shoulder
        if hip is None or knee is None or ankle is None or heel is None or toe is None or shoulder is None:
            return None
        hips.append(hip)
        shoulders.append(shoulder)
        parts += [("thigh", hip, knee), ("shank", knee, ankle), ("foot", heel, toe)]
        parts += _arm(trial, side, shoulder)
    neck, hip = np.mean(shoulders, axis=0), np.mean(hips, axis=0)
    parts += [("whole_trunk", neck, hip), ("head", neck + 0.5 * (neck - hip), neck)]
    mass = np.array([table[name]["mass_fraction"] for name, _, _ in parts])
    places = [a + table[name]["com_fraction"] * (b - a) for name, a, b in parts]
    return np.asarray(np.tensordot(mass, places, axes=1) / mass.sum())


def _hip(trial: Trial, side: str) -> Array | None:
    hip = smooth(trial, f"hip_center_{side}")
    if hip is not None and np.isfinite(hip).all():
        return hip
    back = "sacrum" if "sacrum" in trial.mapping else f"psis_{side}"
    middle = between(trial, f"asis_{side}", back)
    return None if middle is None else middle - [0.0, 0.0, HIP_DROP]


def _joint(trial: Trial, joint: str, side: str) -> Array | None:
    middle = between(trial, f"{joint}_lateral_{side}", f"{joint}_medial_{side}")
    for way in ("center", "lateral"):
        if middle is None:
            middle = smooth(trial, f"{joint}_{way}_{side}")
    return middle


def _arm(trial: Trial, side: str, shoulder: Array) -> list[tuple[str, Array, Array]]:
    elbow, wrist = smooth(trial, f"elbow_lateral_{side}"), smooth(trial, f"wrist_{side}")
    elbow = smooth(trial, f"elbow_center_{side}") if elbow is None else elbow
    if elbow is None or wrist is None:
        return []
    return [("upper_arm", shoulder, elbow), ("forearm", elbow, wrist), ("hand", wrist, wrist)]
