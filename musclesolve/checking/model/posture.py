"""Does the motion of a model stand on the floor, and is it the signal of a person?

A foot that carries the body stands still with its sole on the floor. Over the frames in which heel or toe of a foot are
slowest (`STILL`), the tilt of the soles and the direction of the feet show offsets of angles, and their speed shows
angles that are reversed or exchanged. In the walks of the public models the mean pitch of both soles is -3 to 3 degrees
and their difference up to 5, toes point 3 degrees inward to 6 outward with a difference of up to 13 degrees, and the
slower third of the frames has up to 0.22 m/s.

The accelerations of the angles of a walking leg reach to 5.5 Hz and more: 90 % of their power up to 8 Hz lies below
the frequency f90, the highest of hips, knees and ankles. Files of public models have 5.7 to 7.7 Hz, with a cut-off of
6 Hz 5.0 to 7.4, with 2.5 Hz 3.6 to 4.7.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from musclesolve._util.arrays import Array, true_runs
from musclesolve._util.sides import SIDES, split_side
from musclesolve.checking.model.model_case import CUTOFF_HZ, Motion, soles
from musclesolve.motion.signals.low_pass import low_pass
from musclesolve.opensim.kinematics import BodyMotion, body_motion
from musclesolve.opensim.model import GROUND
from musclesolve.opensim.segments import segments
from musclesolve.pipeline.opensim.model_body import ModelBody
from musclesolve.results.finding import Finding, Severity, Where, finding

STILL = 0.3
"""Share of the frames, the slowest ones of a foot, in which it stands."""
FEW = 5
"""Fewest frames of a stance in which the direction of a foot is followed."""
FRAMES = 80
"""Most frames in which feet are examined."""
PITCH, UNEVEN = 6.0, 6.5
"""Mean pitch of both soles, and its difference between the feet [degrees], that no standing feet have."""
OUT, TURNED = (-10.0, 22.0), 17.0
"""Mean direction of the feet, outward from the pelvis, and its difference [degrees]."""
YAW = 8.0
"""Range of the direction of a foot within a stance [degrees] that no standing foot has; public walks have 7.3."""
SPEED = 0.35
"""Speed of a foot that does not stand [m/s]."""
FLIES = 0.08
"""Share of frames in free fall from which the body runs or jumps: its feet are not examined."""
EXPLAINED = 0.35
"""Share of the misfit of the soles that remains once the angle at fault is corrected."""
ANGLES = ("hip_flexion", "hip_adduction", "hip_rotation", "knee_angle", "ankle_angle")
SPECTRA = ("hip_flexion", "knee_angle", "ankle_angle")
WALKING = 2.0
"""Speed that a foot of a walking person reaches [m/s]."""
LOWEST_F90 = 4.8
"""Least f90 of the angles of a walking person [Hz]."""
LOW_HZ, KEPT = 4.0, 0.8
"""Cut-off [Hz] below which f90 is compared with that of the usual cut-off, and the share of it that is kept."""
TOP, SHARE = 8.0, 0.9
SHORTEST = 1.0
"""Duration from which a spectrum is known [s]."""
NOISE = 0.75
"""Rms of what the filter takes away, the median of the angles of the legs [degrees]; public models have 0.2 to 0.5."""
HELD_S = 0.15
"""Duration from which an angle with exactly one value is no motion [s]."""


@dataclass(frozen=True, eq=False)
class Standing:
    """Feet while they stand, right and left: pitch of the sole, toe up, direction outward [degrees], speed [m/s].

    yaw: range of the direction of a foot within a stance [degrees].
    """

    pitch: Array
    out: Array
    speed: Array
    yaw: Array

    @property
    def misfits(self) -> Array:
        """Pitch, its difference, direction, its difference, speeds and yaw of both feet, as multiples of the limits."""
        middle, half = 0.5 * (OUT[0] + OUT[1]), 0.5 * (OUT[1] - OUT[0])
        return np.array(
            [
                abs(self.pitch.mean()) / PITCH,
                abs(self.pitch[0] - self.pitch[1]) / UNEVEN,
                abs(self.out.mean() - middle) / half,
                abs(self.out[0] - self.out[1]) / TURNED,
                *(self.speed / SPEED),
                *(self.yaw / YAW),
            ]
        )

    @property
    def cost(self) -> float:
        """Sum of the squared misfits."""
        return float((self.misfits**2).sum())


def standing(fixed: Motion, pose: BodyMotion, time: Array) -> Standing:
    """The feet of a motion in some poses at equal steps."""
    model, up = fixed.model, fixed.model.up
    root = next(joint for joint in model.joints if joint.inboard.body == GROUND).outboard.body
    upright, flat = segments(model).upright.rotation[0], np.eye(3) - np.outer(up, up)
    ahead = (pose.rotation[:, model.body_number[root]] @ upright[model.body_number[root]].T)[:, :, 0] @ flat
    way = np.median(ahead / np.maximum(np.linalg.norm(ahead, axis=1, keepdims=True), 1e-9), axis=0)
    found = []
    for sole in soles(model, pose):
        number = model.body_number[sole.body]
        ends = [np.gradient(point, time, axis=0) - fixed.belt for point in (sole.heel, sole.toe)]
        speed = np.min([np.linalg.norm(end, axis=1) for end in ends], axis=0)
        still = speed <= np.quantile(speed, STILL)
        forward = (pose.rotation[still, number] @ upright[number].T)[:, :, 0]
        level = forward @ flat
        pitch = np.degrees(np.arcsin(np.clip(forward @ up, -1.0, 1.0)))
        turn = np.degrees(np.arctan2(np.cross(level, way) @ up, level @ way))
        outward = turn if sole.side == "r" else -turn
        turns, count = np.full(len(time), np.nan), 0.0
        turns[still] = outward
        for first, stop in true_runs(np.asarray(still)):
            if stop - first >= FEW:
                count = max(count, float(np.ptp(np.quantile(turns[first:stop], [0.1, 0.9]))))
        found.append((np.median(pitch), np.median(outward), np.quantile(speed, STILL), count))
    return Standing(*np.array(found).T)


def feet_on_floor(body: ModelBody, fixed: Motion) -> Iterator[Finding]:
    """Find angles with an offset, reversed or exchanged ones: standing feet have their soles on the floor."""
    if len(fixed.soles) != 2 or len(fixed.time) < FRAMES // 2 or _flies(fixed):
        return
    every = max(1, len(fixed.time) // FRAMES)
    time, value = fixed.time[::every], fixed.motion.value[::every]
    now = standing(fixed, body_motion(fixed.model, value), time)
    if now.misfits.max() < 1.0:
        return
    where = Where(body.motion.file)
    number = fixed.model.coordinate_number
    names = [
        name for name in body.motion.names if split_side(name)[0] in ANGLES and split_side(name)[1] in SIDES
    ]
    names = [name for name in names if not fixed.model.coordinates[name].locked]

    groups: list[tuple[str, tuple[str, ...]]] = [("angle_sign", (name,)) for name in names]
    both = [(f"{stem}_r", f"{stem}_l") for stem in ANGLES]
    groups += [("angle_sign", pair) for pair in both if set(pair) <= set(names)]
    groups += [("columns_exchanged", pair) for pair in combinations(names, 2)]
    # offsets alone tilt or turn feet that stand
    reversing = bool(max(now.misfits[4:].max(), 0.5 * now.misfits[:2].max()) >= 1.0)
    best, code, group = now, "", tuple[str, ...]()
    for tried_code, tried in groups if reversing else ():
        columns, changed = [number[name] for name in tried], value.copy()
        if tried_code == "angle_sign":
            changed[:, columns] *= -1.0
        else:
            changed[:, columns] = value[:, columns[::-1]]
        then = standing(fixed, body_motion(fixed.model, changed), time)
        if then.cost < best.cost:
            best, code, group = then, tried_code, tried
    said = {
        "right": float(now.pitch[0]), "left": float(now.pitch[1]),
        "right_out": float(now.out[0]), "left_out": float(now.out[1]),
        "right_speed": float(now.speed[0]), "left_speed": float(now.speed[1]),
    }  # fmt: skip
    moving = bool((now.speed > SPEED).any())
    if best.cost < EXPLAINED * now.cost and best.misfits.max() < 1.2:
        yield finding(code, "error", said | {"names": " and ".join(group)}, where)
        return
    if moving:
        yield finding("foot_slides.standing", "warning", said, where)
    if now.misfits[:2].max() >= 1.0:
        yield finding("angle_offset", "warning", said, where)
    if now.misfits[2:4].max() >= 1.0:
        yield finding("angle_offset.turned", "warning", said, where)


def _flies(fixed: Motion) -> bool:
    """Return whether the body is in free fall for a part of the motion."""
    if not fixed.weight > 0.0 or not np.isfinite(fixed.need).all():
        return False
    return float(np.mean(fixed.due[:, 3:] @ fixed.model.up < 0.1 * fixed.weight)) > FLIES


def f90(values: Array, rate: float, power: int) -> float:
    """Frequency [Hz] below which `SHARE` of the power of f^(power/2) times a signal (T,) lies, up to `TOP`."""
    steps = np.linspace(-1.0, 1.0, len(values))
    level = values - np.polyval(np.polyfit(steps, values, 1), steps)
    amount = np.abs(np.fft.rfft(level * np.hanning(len(level)), 8 * len(level))) ** 2
    frequency = np.fft.rfftfreq(8 * len(level), 1.0 / rate)
    inside = (frequency > 0.3) & (frequency < TOP)
    total = np.cumsum((amount * frequency**power)[inside])
    return float(frequency[inside][np.searchsorted(total, SHARE * total[-1])])


def walks(fixed: Motion) -> bool:
    """Return whether both feet swing as in walking, long enough for a spectrum."""
    fast = [
        np.quantile(np.linalg.norm(np.gradient(sole.heel, fixed.time, axis=0) - fixed.belt, axis=1), 0.98)
        for sole in fixed.soles
    ]
    return (
        len(fast) == 2 and not _flies(fixed) and min(fast) > WALKING and float(np.ptp(fixed.time)) > SHORTEST
    )


def spectra(body: ModelBody, fixed: Motion) -> Iterator[Finding]:
    """Find motions that were filtered too much, noise, and angles that stop."""
    motion, where = body.motion, Where(body.motion.file)
    names = [name for name in motion.names if split_side(name)[0] in ANGLES]
    values = motion.by_name(np.degrees(motion.value))
    legs = [name for name in names if split_side(name)[0] in SPECTRA and np.ptp(values[name]) > 5.0]
    cutoff, measured = motion.cutoff_hz or np.inf, motion.measured
    if walks(fixed) and len(legs) >= 4:
        highest, of_usual = max(f90(values[name], fixed.rate, 4) for name in legs), 0.0
        if measured is not None and fixed.rate > 4.0 * CUTOFF_HZ:
            usual = dict(zip(motion.names, low_pass(measured, fixed.rate, CUTOFF_HZ).T, strict=True))
            of_usual = max(f90(usual[name], fixed.rate, 4) for name in legs) if cutoff < LOW_HZ else 0.0
            given = motion.by_name(measured)
            noise = float(np.median([np.degrees(np.std(given[name] - usual[name])) for name in names]))
            if noise > NOISE:
                yield finding("noise.angles", "warning", {"noise": noise, "least": NOISE}, where)
        if highest < max(LOWEST_F90, KEPT * of_usual):
            least = max(LOWEST_F90, KEPT * of_usual)
            said = {"frequency": highest, "least": least, "cutoff": motion.cutoff_hz or np.nan}
            yield finding("over_filtered", "warning", said, where)
    if measured is None:
        return
    held = held_stretches(measured, motion.time, motion.names)
    for name, first, last, value in held:
        coordinate = fixed.model.coordinates[name]
        at_end = min(abs(value - coordinate.lower), abs(value - coordinate.upper)) < 1e-4
        if name in body.dofs and coordinate.rotational and not at_end:
            held_at: dict[str, object] = {
                "name": name,
                "first": first,
                "last": last,
                "value": float(np.degrees(value)),
            }
            severity: Severity = "error" if last - first > 2.0 * HELD_S else "warning"
            yield finding("frozen.stretch", severity, held_at, Where(where.file, times=((first, last),)))


def held_stretches(
    values: Array, time: Array, names: Sequence[str]
) -> Iterator[tuple[str, float, float, float]]:
    """Yield columns (T, K) that keep exactly one value for `HELD_S` and move otherwise: name, times, value."""
    for name, column in zip(names, values.T, strict=True):
        span = float(np.ptp(column))
        if not span > 1e-9:
            continue
        for first, stop in true_runs(np.abs(np.diff(column)) < 1e-9 * span):
            if stop - first >= 8 and time[stop] - time[first] >= HELD_S:
                yield name, float(time[first]), float(time[stop]), float(column[first])
