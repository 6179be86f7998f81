"""Newton's second law for the whole body: the forces must accelerate the center of mass as the markers show it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array, Mask, at_times
from musclesolve.checking.case import Case
from musclesolve.checking.finding import Finding, Where, finding
from musclesolve.checking.forces.support import measured, smooth_force, within
from musclesolve.checking.observed_body import between, facing, smooth
from musclesolve.checking.repair import change_plate, in_order
from musclesolve.checking.stages import Stage, asked_at
from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.dynamics.model.data_files import read_table
from musclesolve.motion.walking_direction import headings
from musclesolve.recording.data import SIDES, PlateForce, Trial

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


# Shifts that are tried [s]: both ways, step.
FARTHEST, STEP = 0.2, 0.002
# Shifts below the first are within the estimate's own error; from the second on results are wrong [s].
SMALLEST, SERIOUS = 0.015, 0.03
# The best shift must explain the forces so well (share of their variation left), and so much better than none.
UNEXPLAINED, BETTER = 0.35, 0.7


def time_offset(case: Case) -> float | None:
    """Return how much later the forces are than the markers [s], None where it cannot be measured.

    With F(t) the total force and a(t) the acceleration of the center of mass, m (a + g) = F. The shift d minimises
    sum |k F(t + d) - (a(t) + g)|^2 over the vertical and the forward direction; k, which stands for one over the
    mass, is fitted with it, so that a wrong mass does not count as a shift.
    """
    # A great shift sets feet and plates at odds: then all frames must do. Wrong axes of the plates spoil the forward
    # direction: then the vertical one must do.
    for whole_range in (False, True):
        found = law(case, whole_range=whole_range)
        for ahead in (True, False):
            shift = None if found is None else _best(case, found, ahead)
            if shift is not None:
                return shift
    return None


def _best(case: Case, found: Law, ahead: bool) -> float | None:
    shifts = np.arange(-FARTHEST, FARTHEST + STEP / 2, STEP)
    forces = [(plate, smooth_force(plate)) for plate in case.trial.forces]
    left = np.array([_unexplained(forces, found, shift, ahead) for shift in shifts])
    if not np.isfinite(left).any():
        return None
    best = int(np.nanargmin(left))
    now = left[shifts.size // 2]
    if best in (0, shifts.size - 1) or left[best] > UNEXPLAINED or not left[best] < BETTER * now:
        return 0.0 if now <= UNEXPLAINED else None
    around = left[best - 1 : best + 2]
    bend = around[0] - 2.0 * around[1] + around[2]
    fine = 0.5 * (around[0] - around[2]) / bend if np.isfinite(bend) and bend > 0.0 else 0.0
    return float(shifts[best] + fine * STEP)


def _unexplained(forces: list[tuple[PlateForce, Array]], found: Law, shift: float, ahead: bool) -> float:
    """Return the share of the variation of the due forces that shifted forces leave unexplained.

    Those along the vertical and, if asked for, along the walking direction.
    """
    first = forces[0][0].time
    at = found.time[found.frames] + shift
    inside = (at >= first[0]) & (at <= first[-1])
    if inside.mean() < 0.7:
        return float("nan")
    way = found.ahead[found.frames][inside]
    force, due = (
        np.stack([vector[:, 2], np.sum(vector * way, axis=1) * ahead], axis=1)
        for vector in (
            np.sum([at_times(plate.time, smooth, at[inside]) for plate, smooth in forces], axis=0),
            found.due[found.frames][inside],
        )
    )
    power = float(np.sum(force**2))
    scale = float(np.sum(force * due)) / power if power > 0.0 else 0.0
    variation = float(np.sum((due - due.mean(axis=0)) ** 2))
    return float(np.sum((scale * force - due) ** 2)) / variation if variation > 0.0 else float("nan")


# Axes that are wrong hide a shift: it is looked for again.
@asked_at(Stage.SYNCHRONY, Stage.SYNCHRONY_IN_RIGHT_AXES)
def synchrony(case: Case) -> Iterator[Finding]:
    """Find a shift between forces and markers."""
    shift, plates = time_offset(case), case.trial.forces
    if shift is None or abs(shift) < SMALLEST:
        return
    late = shift > 0.0
    values = {
        "shift": shift,
        "size": abs(shift),
        "late": "late" if late else "early",
        "limit": SMALLEST,
        "add": "subtract" if late else "add",
        "to": "from" if late else "to",
    }
    repair = in_order(*(change_plate(index, time=plate.time - shift) for index, plate in enumerate(plates)))
    yield finding(
        "time_offset", "error" if abs(shift) >= SERIOUS else "warning", values, Where(plates[0].path), repair
    )
