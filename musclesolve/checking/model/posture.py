"""Does the motion of a model stand on the floor, and is it the signal of a person?

A foot that carries the body stands still with its sole on the floor. Over the frames in which heel or toe of a foot are
slowest (`STILL`), the tilt of the soles and the direction of the feet show offsets of angles, and their speed shows
angles that are reversed or exchanged. So do feet that turn while both ends are planted, and feet that enter the floor
between their contacts. In the walks of the public models the mean pitch of both soles is -3 to 3 degrees
and their difference up to 5, toes point 3 degrees inward to 6 outward with a difference of up to 13 degrees, and the
slower third of the frames has up to 0.22 m/s.

The accelerations of the angles of a walking leg reach to 5.5 Hz and more: 90 % of their power up to 8 Hz lies below
the frequency f90, the highest of hips, knees and ankles. Files of public models have 5.7 to 7.7 Hz, with a cut-off of
6 Hz 5.0 to 7.4, with 2.5 Hz 3.6 to 4.7.

Under a foot that rolls the pressure goes along the foot from heel to toe, whatever the way to walk. In public walks it
turns outward from the line of the foot by -2 to 8 degrees, the mean of both feet, by plates. By the wrench that the
motion needs while one foot alone stands it is -8 to 3.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from musclesolve._util.arrays import Array, Mask, true_runs
from musclesolve._util.long_arrays import blocks
from musclesolve._util.sides import SIDES, split_side
from musclesolve.checking.model.coordinates import FEW_DEGREES
from musclesolve.checking.model.model_case import (
    CUTOFF_HZ,
    FEWEST_FRAMES,
    SCALED,
    Motion,
    Sole,
    single_supports,
    soles,
)
from musclesolve.checking.model.muscles import size_of
from musclesolve.motion.signals.low_pass import f90, low_pass
from musclesolve.opensim.kinematics import BodyMotion, body_motion
from musclesolve.opensim.model import GROUND
from musclesolve.opensim.segments import segments
from musclesolve.pipeline.opensim.model_body import ModelBody
from musclesolve.results.finding import Finding, Severity, Where, finding

STILL = 0.3
"""Share of the frames, the slowest ones of a foot, in which it stands."""
FEW = 5
"""Fewest frames of a stance in which the direction of a foot is followed."""
FRAMES = 160
"""Most frames in which feet are examined, twice to four times the fewest."""
TOGETHER = 8
"""Number of changes of the angles whose poses are computed together."""
PITCH, UNEVEN = 6.0, 6.5
"""Mean pitch of both soles, and its difference between the feet [degrees], that no standing feet have."""
OUT, TURNED = (-10.0, 22.0), 17.0
"""Mean direction of the feet, outward from the pelvis, and its difference [degrees]."""
PLANTED, EDGE = 0.4, 0.25
"""Speed [m/s] of the faster one of heel and toe below which a foot is planted, and the share of such a stretch that is
left out at each end."""
YAW = 2.6
"""Rms of the direction of a planted foot [degrees] that no foot has; public walks have up to 2.1."""
LOW = 0.03
"""Depth of heel or toe below its place in standing [m] that the floor prevents; public walks have up to 0.029."""
ROLL = 22.0
"""Difference of the rates at which the soles of planted feet of an adult pitch [degrees/s]: nine public walks have up
to 17. Rates of a smaller body are greater by the root of its size (Froude)."""
LEVEL = 0.05
"""Difference of the heights of contacts [m] up to which the floor is level."""
SPEED = 0.35
"""Speed of a foot that does not stand [m/s]."""
STANDS, STRIDE = 0.3, 1.2
"""Duration for which a foot stands in a step [s], in walking 0.5 to 0.7; in less than the second it may not stand."""
FLIES = 0.08
"""Share of frames in free fall from which the body runs or jumps: its feet are not examined."""
EXPLAINED = 0.35
"""Share of the misfit of the soles that remains once the angle at fault is corrected."""
TURNS, CALMER = 2.2, 0.7
"""Rms of the direction of a planted foot [degrees] from which a reversed rotation of its hip is looked for, and the
share of it that remains once the rotation is corrected."""
ALONG, ROLLS = 9.5, 0.1
"""Mean angle between pressure and feet [degrees] that no feet have, and the way of the pressure that shows it [m]."""
FACTORS = {"angle_sign": -1.0, "angle_units": 180.0 / np.pi}
"""Fault of an angle -> the factor that corrects it."""
GAINS = tuple((stem, gain) for stem in ("hip_flexion", "knee_angle") for gain in (0.65, 0.8, 1.25, 1.5))
"""Scales of the angles of a leg with which its planted foot may stand stiller."""
HEADINGS, ASTRAY = (-16.0, -8.0, 8.0, 16.0, -135.0, -90.0, -45.0, 45.0, 90.0, 135.0, 180.0), 40.0
"""Turns of the root about the vertical with which planted feet may stand stiller, and size of an error [degrees]."""
VERTICAL = 0.9
"""Cosine of the angle to the vertical of the axis of a heading."""
SLIPS, STILLER, OTHER_STILLER = 0.05, 0.62, 0.8
"""Speed of a planted foot [m/s], the share of it that remains with another scale where
the scale is wrong, and the share of the other foot from which its angles have their scale; sound walks keep 1."""
TURNING = "hip_rotation"
ANGLES = ("hip_flexion", "hip_adduction", "hip_rotation", "knee_angle", "ankle_angle")
SPECTRA = ("hip_flexion", "knee_angle", "ankle_angle")
WALKING = 2.0
"""Speed that a foot of a walking person reaches [m/s]."""
LOWEST_F90 = 4.8
"""Least f90 of the angles of a walking person [Hz]."""
LOW_HZ, KEPT = 4.0, 0.8
"""Cut-off [Hz] below which f90 is compared with that of the usual cut-off, and the share of it that is kept."""
SHORTEST = 1.0
"""Duration from which a spectrum is known [s]."""
NOISE = 0.75
"""Rms of what the filter takes away, the median of the angles of the legs [degrees]; public models have 0.2 to 0.5."""
HELD_S = 0.15
"""Duration from which an angle with exactly one value, or one rate, is no motion [s]."""
STRAIGHT = 0.02
"""Acceleration of a straight line over the range of an angle [1/s^2]: rounding, and motions of less than 0.02 Hz."""

KINK = 10.0
"""Acceleration over the range at both ends of a straight line that fills a gap [1/s^2]; a slow motion bends less."""


@dataclass(frozen=True, eq=False)
class Standing:
    """Feet while they stand, right and left: pitch of the sole, toe up, direction outward [degrees], speed [m/s].

    yaw: rms of the direction of the planted foot about its mean in each contact [degrees]. low: greatest depth of heel
    or toe below its place in standing [m]. roll: rate of the pitch of the planted foot [degrees/s], and the difference
    that no two feet of this size have.
    """

    pitch: Array
    out: Array
    speed: Array
    yaw: Array
    low: Array
    roll: Array
    roll_limit: float

    @property
    def misfits(self) -> Array:
        """Pitch, its difference, direction, its difference, speed, yaw, depth and roll of feet over their limits."""
        middle, half = 0.5 * (OUT[0] + OUT[1]), 0.5 * (OUT[1] - OUT[0])
        return np.array(
            [
                abs(self.pitch.mean()) / PITCH,
                abs(self.pitch[0] - self.pitch[1]) / UNEVEN,
                abs(self.out.mean() - middle) / half,
                abs(self.out[0] - self.out[1]) / TURNED,
                *(self.speed / SPEED),
                *(self.yaw / YAW),
                *(self.low / LOW),
                abs(self.roll[0] - self.roll[1]) / self.roll_limit,
            ]
        )

    @property
    def cost(self) -> float:
        """Sum of the squared misfits."""
        return float((self.misfits**2).sum())


def _stances(frames: Mask, edge: float = 0.0, least: float = FEW) -> list[slice]:
    """Stretches of a number and more of some frames (T,), without a share of each at both ends."""
    cuts = ((first, stop, round(edge * (stop - first))) for first, stop in true_runs(frames))
    return [slice(first + cut, stop - cut) for first, stop, cut in cuts if stop - first - 2 * cut >= least]


def standing(fixed: Motion, pose: BodyMotion, time: Array) -> Standing:
    """The feet of a motion in some poses at equal steps."""
    model, up = fixed.model, fixed.model.up
    root = next(joint for joint in model.joints if joint.inboard.body == GROUND).outboard.body
    upright, flat = segments(model).upright.rotation[0], np.eye(3) - np.outer(up, up)
    ahead = (pose.rotation[:, model.body_number[root]] @ upright[model.body_number[root]].T)[:, :, 0] @ flat
    way = np.median(ahead / np.maximum(np.linalg.norm(ahead, axis=1, keepdims=True), 1e-9), axis=0)
    found, levels = [], list[float]()
    for sole in soles(model, pose):
        number = model.body_number[sole.body]
        slower, faster = fixed.end_speeds(sole, time)[:, 0]
        still, planted = slower <= np.quantile(slower, STILL), faster < PLANTED
        forward = (pose.rotation[:, number] @ upright[number].T)[:, :, 0]
        level = forward @ flat
        toe_up = np.degrees(np.arcsin(np.clip(forward @ up, -1.0, 1.0)))
        turn = np.degrees(np.arctan2(np.cross(level, way) @ up, level @ way))
        outward = turn if sole.side == "r" else -turn
        stances = _stances(planted, EDGE)
        turned = [outward[stance] - outward[stance].mean() for stance in stances] or [np.zeros(1)]
        longest = max(stances, key=lambda stance: stance.stop - stance.start, default=slice(0))
        rolled = np.polyfit(time[longest], toe_up[longest], 1)[0] if stances else np.nan
        lowest = np.minimum(sole.heel @ up, sole.toe @ up)
        levels += (float(np.median(lowest[stance])) for stance in _stances(still))
        depth = [np.median((point @ up)[still]) - (point @ up).min() for point in (sole.heel, sole.toe)]
        stands = np.median(toe_up[still]), np.median(outward[still]), np.quantile(slower, STILL)
        found.append((*stands, np.std(np.concatenate(turned)), max(depth), rolled))
    pitch, out, speeds, yaw, low, roll = np.array(found).T
    roll = roll if np.isfinite(roll).all() else np.zeros(2)
    low = low * (np.ptp(levels or [0.0]) < LEVEL)
    return Standing(pitch, out, speeds, yaw, low, roll, ROLL / float(np.sqrt(size_of(model))))


def feet_on_floor(body: ModelBody, fixed: Motion) -> Iterator[Finding]:
    """Find angles with an offset, reversed or exchanged ones: standing feet have their soles on the floor."""
    if len(fixed.soles) != 2 or len(fixed.time) < FRAMES // 4 or _flies(fixed):
        return
    every = max(1, len(fixed.time) // FRAMES)
    time, value = fixed.time[::every], fixed.motion.value[::every]
    if np.ptp(time) < STRIDE and not _slips(fixed, value[None], time)[1].all():
        return
    now = standing(fixed, body_motion(fixed.model, value), time)
    fits = bool(now.misfits.max() < 1.0)
    if fits and now.yaw.max() < TURNS:
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
    rotations = [each for each in groups if each[0] == "angle_sign" and each[1][0].startswith(TURNING)]
    # offsets alone tilt or turn feet that stand
    if max(now.misfits[4:].max(), 0.5 * now.misfits[:2].max()) < 1.0:
        groups = rotations if fits else []
    small = (
        [] if fits else [name for name in names if np.degrees(np.ptp(value[:, number[name]])) < FEW_DEGREES]
    )
    groups += [("angle_units", (name,)) for name in small]
    tried = []
    for some in blocks(len(groups), TOGETHER) if groups else ():
        changed = np.repeat(value[None], len(groups[some]), axis=0)
        for each, (code, group) in zip(changed, groups[some], strict=True):
            columns = [number[name] for name in group]
            each[:, columns] = (
                value[:, columns[::-1]] if code == "columns_exchanged" else FACTORS[code] * each[:, columns]
            )
        pose = body_motion(fixed.model, changed.reshape(-1, value.shape[1]))
        for (code, group), frames in zip(groups[some], blocks(len(pose.position), len(value)), strict=True):
            tried.append((standing(fixed, pose.poses(frames), time), code, group))
    said: dict[str, object] = {"roll_limit": now.roll_limit}
    for what in ("", "_out", "_speed", "_yaw", "_low", "_roll"):
        right, left = getattr(now, what[1:] or "pitch")
        said |= {f"right{what}": float(right), f"left{what}": float(left)}
    best, code, group = min(tried, key=lambda each: each[0].cost, default=(now, "", ()))
    if best.cost < EXPLAINED * now.cost and best.misfits.max() < 1.2 and not fits:
        code = "angle_units.column" if code == "angle_units" else code
        yield finding(code, "error", said | {"names": " and ".join(group)}, where)
        return
    for then, code, group in sorted(tried, key=lambda each: each[0].yaw.sum()):
        calmer = ((then.yaw < CALMER * now.yaw) & (now.yaw > TURNS)).any()
        if (code, group) in rotations and calmer and then.misfits.max() < 1.0:
            turns = {"names": " and ".join(group), "right_then": then.yaw[0], "left_then": then.yaw[1]}
            yield finding("angle_sign.rotation", "warning", said | turns, where)
            return
    for code, at in (
        ("foot_slides.standing", slice(4, 6)), ("foot_slides.turning", slice(6, 8)),
        ("foot_height.floor", slice(8, 10)), ("angle_offset", slice(2)), ("angle_offset.turned", slice(2, 4)),
        ("angle_scale", slice(10, 11)),
    ):  # fmt: skip
        if now.misfits[at].max() >= 1.0:
            yield finding(code, "warning", said, where)


def feet_that_slide(body: ModelBody, fixed: Motion) -> Iterator[Finding]:
    """Find planted feet that stand stiller with another scale of an angle of one leg, or with a turned pelvis.

    A model of another size than the person is wrong on both sides.
    """
    if len(fixed.soles) != 2 or len(fixed.time) < FRAMES // 4 or _flies(fixed):
        return
    every, number = max(1, len(fixed.time) // FRAMES), fixed.model.coordinate_number
    time, value = fixed.time[::every], fixed.motion.value[::every]
    (now,), (stands,) = _slips(fixed, value[None], time)
    # the velocity of a belt is a median over whole strides
    if now.max() <= SLIPS or (fixed.belt.any() and np.ptp(time) < SHORTEST):
        return
    known, where = {*body.motion.names}, Where(body.motion.file)
    gains = [each for each in GAINS if {f"{each[0]}_{side}" for side in SIDES} <= known]
    changed = np.repeat(value[None], len(gains), axis=0)
    for each, (stem, gain) in zip(changed, gains, strict=True):
        each[:, [number[f"{stem}_{side}"] for side in SIDES]] *= gain
    then, stand = _slips(fixed, changed, time)
    then = np.where(stand, then, np.inf)
    for k, side in enumerate(SIDES if gains else ()):
        remains = then.min(axis=0) / now
        slides = now[k] > SLIPS and stands[1 - k]
        if slides and remains[k] < STILLER and remains[1 - k] > OTHER_STILLER:
            stem, gain = gains[int(then[:, k].argmin())]
            said = {"name": f"{stem}_{side}", "gain": gain, "now": now[k], "then": then[:, k].min()}
            yield finding("angle_scale.slides", "warning", said | {"other": now[1 - k]}, where)
    root = next(joint for joint in fixed.model.joints if joint.inboard.body == GROUND)
    heading = [
        axis.coordinates[0]
        for axis in root.rotations
        if len(axis.coordinates) == 1 and abs(root.inboard.rotation @ axis.axis @ fixed.model.up) > VERTICAL
    ]
    if now.min() <= SLIPS or not {*heading} & known:
        return
    turned = np.repeat(value[None], len(HEADINGS), axis=0)
    turned[:, :, number[heading[0]]] += np.radians(HEADINGS)[:, None]
    # a foot that swings passes the body
    way = (fixed.origin[-1] - fixed.origin[0]) / np.ptp(fixed.time) - fixed.belt
    slips, stand = _slips(fixed, turned, time, max(SPEED, 0.5 * float(np.linalg.norm(way))))
    best = int(slips.sum(axis=1).argmin())
    if stand[best].all() and (slips[best] < STILLER * now).all():
        said = {"name": heading[0], "by": HEADINGS[best], "now": now.mean(), "then": slips[best].mean()}
        severity: Severity = "error" if abs(HEADINGS[best]) > ASTRAY else "warning"
        yield finding("walking_direction.model", severity, said, where)


def _slips(fixed: Motion, values: Array, time: Array, below: float = SPEED) -> tuple[Array, Mask]:
    """Speeds (H, 2) [m/s] of right and left foot while they are slowest, with angles (H, T, K), and whether they stand.

    A foot stands that stays slower than `below` [m/s] for `STANDS`.
    """
    pose, step = body_motion(fixed.model, values.reshape(-1, values.shape[2])), float(np.diff(time).mean())
    slower = np.stack([fixed.end_speeds(sole, time)[0] for sole in soles(fixed.model, pose)], axis=1)
    stand = [[bool(_stances(foot < below, least=STANDS / step)) for foot in feet] for feet in slower]
    return np.quantile(slower, STILL, axis=2), np.array(stand, bool).reshape(slower.shape[:2])


def pressure_along_feet(
    fixed: Motion, pressures: Iterable[tuple[Sole, Array, Mask]], where: Where
) -> Iterator[Finding]:
    """Find feet that are turned from the way of the pressure (T, 3) [m] under them in some frames (T,)."""
    turns = {}
    for sole, point, frames in pressures:
        heel = sole.heel[frames][:, [0, 2]]
        ahead, at = sole.toe[frames][:, [0, 2]] - heel, point[frames][:, [0, 2]] - heel
        ahead /= np.maximum(np.linalg.norm(ahead, axis=1, keepdims=True), 1e-9)
        along, right = (at * ahead).sum(axis=1), ahead[:, 0] * at[:, 1] - ahead[:, 1] * at[:, 0]
        if len(at) >= FEWEST_FRAMES and np.ptp(along) > ROLLS:
            slope = np.polyfit(along, right if sole.side == "r" else -right, 1)[0]
            turns[sole.side] = float(np.degrees(np.arctan(slope)))
    if len(turns) == 2 and walks(fixed) and abs(turns["r"] + turns["l"]) > 2.0 * ALONG:
        values = {"right": turns["r"], "left": turns["l"], "limit": ALONG}
        yield finding("angle_offset.pressure", "warning", values, where)


def pressure_of_motion(fixed: Motion) -> Iterator[tuple[Sole, Array, Mask]]:
    """Each foot, where the wrench that the motion needs acts on its level (T, 3) [m], and when it alone stands."""
    moment, force = fixed.due[:, :3], fixed.due[:, 3:]
    for foot, swings in single_supports(fixed):
        sole = next(sole for sole in fixed.soles if sole.body == foot)
        below, upward = sole.lowest - fixed.origin[:, 1], np.maximum(force[:, 1], 1e-9)
        x, z = moment[:, 2] + below * force[:, 0], below * force[:, 2] - moment[:, 0]
        point = fixed.origin + np.stack([x / upward, below, z / upward], axis=1)
        yield sole, point, swings & (force[:, 1] > SCALED * fixed.weight)


def _flies(fixed: Motion) -> bool:
    """Return whether the body is in free fall for a part of the motion."""
    if not fixed.weight > 0.0 or not np.isfinite(fixed.need).all():
        return False
    return float(np.mean(fixed.due[:, 3:] @ fixed.model.up < 0.1 * fixed.weight)) > FLIES


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
    for name, first, last, value, rate in held:
        coordinate = fixed.model.coordinates[name]
        at_end = min(abs(value - coordinate.lower), abs(value - coordinate.upper)) < 1e-4
        if name in body.dofs and coordinate.rotational and not at_end:
            held_at: dict[str, object] = {"name": name, "first": first, "last": last}
            held_at |= {"value": float(np.degrees(value)), "rate": float(np.degrees(rate))}
            long = last - first > 2.0 * HELD_S and not rate
            severity: Severity = "error" if long else "warning"
            code = "frozen.line" if rate else "frozen.stretch"
            yield finding(code, severity, held_at, Where(where.file, times=((first, last),)))


def _lasting(mask: Mask, time: Array) -> list[tuple[int, int]]:
    """Runs of eight steps and more that last for `HELD_S`."""
    runs = true_runs(mask)
    return [(first, stop) for first, stop in runs if stop - first >= 8 and time[stop] - time[first] >= HELD_S]


def held_stretches(
    values: Array, time: Array, names: Sequence[str]
) -> Iterator[tuple[str, float, float, float, float]]:
    """Yield columns (T, K) that keep a value or a rate for `HELD_S` and bend otherwise: name, times, value, rate."""
    for name, column in zip(names, values.T, strict=True):
        span, step = float(np.fmax.reduce(column) - np.fmin.reduce(column)), np.diff(time)
        if not span > 1e-9:
            continue
        bend = np.abs(np.diff(column, 2)) / (span * step[1:] * step[:-1])
        for first, stop in _lasting(np.abs(np.diff(column)) <= 1e-9 * span, time):
            yield name, float(time[first]), float(time[stop]), float(column[first]), 0.0
        for first, stop in _lasting(bend < STRAIGHT, time):
            moved, last = column[stop] - column[first], min(stop, len(bend) - 1)
            # a slow motion bends smoothly at the ends
            if np.minimum(bend[max(first - 1, 0)], bend[last]) > KINK and abs(moved) > 1e-3 * span:
                rate = moved / (time[stop] - time[first])
                yield name, float(time[first]), float(time[stop + 1]), float(column[first]), float(rate)
