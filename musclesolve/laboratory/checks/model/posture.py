"""Does the motion of a model stand on the floor, and is it the signal of a person?

A foot that carries the body stands still with its sole on the floor. Over the frames in which heel or toe of a foot are
slowest (`STILL`), the tilt of the soles and the direction of the feet show offsets of angles, and their speed shows
angles that are reversed or exchanged. So do feet that turn while both ends are planted, and feet that enter the floor
between their contacts. In the walks of the public models the mean pitch of both soles is -3 to 3 degrees
and their difference up to 5, toes point 3 degrees inward to 6 outward with a difference of up to 13 degrees, and the
slower third of the frames has up to 0.22 m/s.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from musclesolve._util.arrays import Array, Mask, true_runs
from musclesolve._util.long_arrays import blocks
from musclesolve._util.messages import few
from musclesolve._util.sides import SIDE_NAMES, SIDES, has_side, split_side, twin, with_side
from musclesolve.dynamics.kinematics.low_pass import f90, low_pass
from musclesolve.laboratory.checks.files.times_units_axes import LOWEST_RATE_HZ
from musclesolve.laboratory.checks.forces.plate_zero_and_saturation import bends_at_zero, step_of, white_noise
from musclesolve.laboratory.checks.model.model_case import (
    CUTOFF_HZ,
    SCALED,
    STILL,
    WALKS,
    Motion,
    Sole,
    single_supports,
    soles,
)
from musclesolve.laboratory.checks.model.muscles import size_of
from musclesolve.laboratory.motion.motion_plausibility import unusual_cutoff
from musclesolve.laboratory.results.finding import Finding, Where, error_if, finding
from musclesolve.models.opensim.coordinate_motion import FEW_DEGREES
from musclesolve.models.opensim.kinematics import BodyMotion, body_motion
from musclesolve.models.opensim.model_body import ModelBody
from musclesolve.models.opensim.segments import segments

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
STANDS, STANCE, STRIDE = 0.3, 0.4, 1.3
"""Duration for which a foot stands in a step [s], in walking 0.5 to 0.7, from which its place and its pose in standing
are known, and about the longest stride. A part of a stride may show more of the heel strike and push-off of one foot:
limits of poses grow by the stride over its duration. With 0.4 to 0.5 s of standing, and with the first to third power,
no part of nine sound walks exceeds them."""
FLIES = 0.08
"""Share of frames in free fall from which the body runs or jumps: its feet are not examined."""
EXPLAINED = 0.35
"""Share of the misfit of the soles that remains once the angle at fault is corrected."""
TURNS, CALMER = 2.2, 0.7
"""Rms of the direction of a planted foot [degrees] from which a reversed rotation of its hip is looked for, and the
share of it that remains once the rotation is corrected."""
LEAN = 2.0
"""Most by which the trunk may lean farther with a reversed angle of the pelvis where that angle is at fault [degrees]:
the spine takes back what the pelvis turns."""
ALONG, ROLLS = 9.5, 0.1
"""Angle between pressure and feet [degrees] that no feet have, outward or to one side on average, and the way of the
pressure that shows it [m]: sound walks have up to 8.4 outward; to one side 2.4, and 7.5 with coordinates from video."""
UNDER, BESIDE, ON_TOES = (0.35, 0.95), 0.03, 0.17
"""Mean place of the pressure of both feet: as a share of the way from heel to toe, 0.49 to 0.79 in 15 sound walks, and
beside this way [m], 0.008 there. Height of the heel above the toe, over their distance, of a person who walks on the
toes, 0.06 there."""
RANGES, MEANS, LIKE = 2.0, 0.6, 0.7
"""Most that ranges of an angle of both legs differ as a factor, and means as a share of the range, and the least
correlation of both half a stride apart, or at the same time; walks of public models have 1.6, 0.48 and 0.71 but for the
rotation of the hip."""
MOVING = "foot_slides.standing", "foot_slides.turning", "foot_height.floor", "angle_scale"
"""Findings on feet that do not stand, which offsets of angles do not cause."""
REPEATS, DRIFT_STEP = 0.49, 0.01
"""Least time after one stride in which its angles are seen again, and a step [s]."""
DRIFTS, UNLIKE = (3.0, 3.6), 0.5
"""Drift of an angle [degrees/s] in a walk that repeats itself for 1.2 s, and its product with a shorter time [degrees].
Sound walks over ground and on belts have up to 2.2, and 4.6 in 0.6 s. Difference of two strides over the deviation of
the angles: sound walks have 0.17 to 0.23, and 1.0 to 1.2 where the motion shows no stride and a half."""
HALF_STRIDE, OVERLAP = (0.35, 0.85), 0.4
"""Half the duration of a stride, and the least time in which both legs are compared [s]."""
ALIKE, NEAREST = 0.65, 1.15
"""Share of the difference of both legs that a change of angles leaves where it corrects them, and how near the best
change others are: sound walks keep 0.82 and more, whatever is changed."""
GAINS: tuple[tuple[str, str, float], ...] = (
    *((stem, stem, gain - 1.0) for stem in ("hip_flexion", "knee_angle") for gain in (0.65, 0.8, 1.25, 1.5)),
    *(("hip_flexion", source, share) for source in ("hip_adduction", "knee_angle") for share in (-0.2, 0.2)),
    *(("knee_angle", "ankle_angle", share) for share in (-0.2, 0.2)),
)
"""Angles of a leg, other angles, and shares of these that are added: the planted foot may stand stiller."""
HEADINGS, ASTRAY = (-16.0, -8.0, 8.0, 16.0, -135.0, -90.0, -45.0, 45.0, 90.0, 135.0, 180.0), 40.0
"""Turns of the root about the vertical with which planted feet may stand stiller, and size of an error [degrees]."""
VERTICAL = 0.9
"""Cosine of the angle to the vertical of the axis of a heading."""
SLIPS, MUCH_STILLER, STILLER = 0.05, (0.62, 0.8), (0.85, 1.15)
"""Speed of a planted foot [m/s], and the shares of it that remain at most with other angles of a leg where these are
wrong, each with the share of the other foot that remains at least; sound walks keep 1.02 of both feet."""
SIZE = 0.035
"""Share of the velocity of the body with which no two feet slide while they stand on a floor; sound ones 0.018."""
LATE = -0.06, -0.03, 0.03, 0.06
"""Times by which the coordinates of the root are taken later [s]: planted feet of sound walks slide 2.3 times as fast
with 30 ms, of roots 30 to 50 ms late or early 0.26 to 0.51 times as fast."""
LEVELED, PAIRS_ALIKE = "angle_offset.pair", 1.3
"""Speed of planted feet, over the least one, up to which another offset explains it as well."""
TURNING = "hip_rotation"
LEVELS = {"angle_offset": 1.0, "angle_offset.turned": -1.0}
"""Offset of an angle of both legs that may bring the soles to the floor -> its sign over the pitch of the soles."""
ANGLES = ("hip_flexion", "hip_adduction", "hip_rotation", "knee_angle", "ankle_angle")
SPECTRA = ("hip_flexion", "knee_angle", "ankle_angle")
WALKING = 2.0
"""Speed that a foot of a walking person reaches [m/s]."""
LOWEST_F90 = 4.8
"""Least f90 of the angles of a walking person [Hz]; public files have 5.0 to 7.7, filtered at 2.5 Hz 3.6 to 4.7."""
LOW_HZ, KEPT = 4.0, 0.8
"""Cut-off [Hz] below which f90 is compared with that of the usual cut-off, and the share of it that is kept."""
SHORTEST_ON_BELT = 1.15
"""Duration from which the velocity of a belt is known to 2 % [s]: walks over ground moved against their way show it."""
SHORTEST = 1.0
"""Duration from which a spectrum is known [s]."""
NOISE, NOISE_OF_ONE, OTHERS = 0.75, 0.5, 3.0
"""White noise [degrees rms] that no angle of the legs has; the same where half of the angles have so many times less.
Sound walks have up to 0.61, 2.1 times as much as half of the angles."""
OF_OTHER_LEG = 0.65
"""Least f90 of a leg over the f90 of the other one: ten sound walks have 0.78 to 1.0, legs at 2 Hz 0.5 to 0.7."""
HELD_S = 0.15
"""Duration from which an angle with exactly one value, or one rate, is no motion [s]."""
LINES, BENDS = 0.02, 0.1
"""Median bend over rms bend of straight lines, where sound files have 0.1 and more; rms bend over rms step there."""
STRAIGHT = 0.02
"""Acceleration of a straight line over the range of an angle [1/s^2]: rounding, and motions of less than 0.02 Hz."""
COARSEST = 0.5, 2.5
"""Least steps [degrees] of rounded angles that are a warning and an error. Sound files have up to 1e-5 degrees."""
AT_ZERO = 0.01
"""Limit of an angle that is taken for zero [rad]."""
UNBENT, BOUNCE = 4.0, 3.0
"""Third differences at a zero of a column over those with the other sign from there on, 1.1 at most in 56 sound angles
of one sign and more than 4 in 123 of 146 without their signs; and over the usual ones of the column."""
REPEATED, COPIED_S = 3, 0.5
"""Fewest rows that repeat earlier ones (sound files have one), and the longest lag [s]: whole strides may repeat."""

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

    @cached_property
    def misfits(self) -> dict[str, Array]:
        """Code of a finding -> what it rests on, of each foot or as mean and difference of both, over its limits."""

        def of_both(values: Array, mean: float, apart: float) -> Array:
            return np.abs([values.mean() / mean, np.ptp(values) / apart])

        middle, half = 0.5 * (OUT[0] + OUT[1]), 0.5 * (OUT[1] - OUT[0])
        return {
            "foot_slides.standing": self.speed / SPEED,
            "foot_slides.turning": self.yaw / YAW,
            "foot_height.floor": self.low / LOW,
            "angle_offset": of_both(self.pitch, PITCH, UNEVEN),
            "angle_offset.turned": of_both(self.out - middle, half, TURNED),
            "angle_scale": np.abs(np.diff(self.roll)) / self.roll_limit,
        }

    def worst(self, *codes: str) -> float:
        """The greatest misfit of some findings, of all unless given."""
        return max(float(self.misfits[code].max()) for code in codes or self.misfits)

    @property
    def cost(self) -> float:
        """Sum of the squared misfits."""
        return float(sum((misfit**2).sum() for misfit in self.misfits.values()))


def _stances(frames: Mask, edge: float = 0.0, least: float = FEW) -> list[slice]:
    """Stretches of a number and more of some frames (T,), without a share of each at both ends."""
    cuts = ((first, stop, round(edge * (stop - first))) for first, stop in true_runs(frames))
    return [slice(first + cut, stop - cut) for first, stop, cut in cuts if stop - first - 2 * cut >= least]


def standing(fixed: Motion, pose: BodyMotion, time: Array) -> Standing:
    """The feet of a motion in some poses at equal steps."""
    model, up = fixed.model, fixed.model.up
    flat, way = np.eye(3) - np.outer(up, up), np.median(fixed.ahead, axis=0)
    shown, levels = [], list[float]()
    feet = soles(model, pose)
    belt = fixed.belt_of(feet, time)
    for sole in feet:
        slower, faster = fixed.end_speeds(sole, time, belt)[:, 0]
        still, planted = slower <= np.quantile(slower, STILL), faster < PLANTED
        forward = segments(model).axes(pose.rotation, sole.body)[:, :, 0]
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
        # a stiff foot without toes has no point known that stays on the floor at push-off
        ends = (sole.heel, sole.toe)[: 2 if sole.body != sole.bodies[-1] else 1]
        depth = [np.median((point @ up)[still]) - (point @ up).min() for point in ends]
        stands = np.median(toe_up[still]), np.median(outward[still]), np.quantile(slower, STILL)
        shown.append((*stands, np.std(np.concatenate(turned)), max(depth), rolled))
    pitch, out, speeds, yaw, low, roll = np.array(shown).T
    roll = roll if np.isfinite(roll).all() else np.zeros(2)
    low = low * (np.ptp(levels or [0.0]) < LEVEL)
    return Standing(pitch, out, speeds, yaw, low, roll, ROLL / float(np.sqrt(size_of(model))))


def _half_strides(count: int, step: float) -> list[int]:
    """Possible durations of half a stride, in steps [s] of a motion with so many frames."""
    lags = range(round(HALF_STRIDE[0] / step), round(HALF_STRIDE[1] / step) + 1)
    return [lag for lag in lags if count - lag > OVERLAP / step]


def unlike_twins(angles: Array, step: float) -> Array:
    """Rms difference (H,) of angles (H, T, S, 2) of right and left leg half a stride apart; at times with a step [s].

    Half a stride is the time with the least difference. Infinite where the motion shows less than it.
    """
    right, left = np.moveaxis(angles, 3, 0)
    apart = [
        ((right[:, :-lag] - left[:, lag:]) ** 2 + (right[:, lag:] - left[:, :-lag]) ** 2).mean(axis=(1, 2))
        for lag in _half_strides(angles.shape[1], step)
    ]
    return np.sqrt(0.5 * np.min(apart, axis=0)) if apart else np.full(len(angles), np.inf)


def _lean(fixed: Motion, pose: BodyMotion) -> float:
    """Mean angle of the heaviest body, the trunk, to the vertical in some poses [degrees]."""
    trunk = max(fixed.model.masses, key=lambda name: fixed.model.masses[name].mass)
    upward = segments(fixed.model).axes(pose.rotation, trunk)[:, :, 1] @ fixed.model.up
    return float(np.degrees(np.arccos(np.clip(upward, -1.0, 1.0))).mean())


def _changes_of_angles(names: Sequence[str], roots: Sequence[str]) -> list[tuple[str, tuple[str, ...]]]:
    """Faults of angles of the legs and of the root that are tried, each a code and the angles concerned."""
    stems = [stem for stem in ANGLES if {f"{stem}_r", f"{stem}_l"} <= {*names}]
    groups: list[tuple[str, tuple[str, ...]]] = [("angle_sign", (name,)) for name in (*names, *roots)]
    groups += [("angle_sign", (f"{stem}_r", f"{stem}_l")) for stem in stems]
    aside = [(f"hip_adduction_{side}", f"hip_rotation_{side}") for side in SIDES]
    groups += [("angle_sign", pair) for pair in aside if {*pair} <= {*names}]
    groups += [("columns_exchanged", pair) for pair in (*combinations(names, 2), *combinations(roots, 2))]
    both = [(f"{one}_r", f"{one}_l", f"{two}_l", f"{two}_r") for one, two in combinations(stems, 2)]
    groups += [("columns_exchanged", columns) for columns in both]
    hips = [stem for stem in stems if stem.startswith("hip")]
    for part in (hips, [stem for stem in stems if stem not in hips], stems):
        legs = [*(f"{stem}_r" for stem in part), *(f"{stem}_l" for stem in reversed(part))]
        groups.append(("sides_swapped.angles" if part is stems else "columns_exchanged", tuple(legs)))
    return [(code, group) for code, group in groups if group]


def columns_in_radians(body: ModelBody, fixed: Motion) -> Iterator[Finding]:
    """Find angles with the range of the other leg over 57.3: a stiff joint has another range, mean or shape."""
    motion, step = body.motion, 1.0 / fixed.rate
    values = motion.by_name(np.degrees(motion.value))
    for name in [name for name in motion.names if has_side(name) and twin(name) in motion.names]:
        here, other = np.degrees(values[name]), values[twin(name)]
        (small, turned, span), apart = map(np.ptp, (values[name], here, other)), abs(np.mean(here - other))
        alike = 1.0 / RANGES < turned / max(span, 1e-9) < RANGES and apart < MEANS * span
        if not small < FEW_DEGREES < span or not alike or not fixed.model.coordinates[name].rotational:
            continue
        lags = [0, *_half_strides(len(here), step)]
        pairs = [(here[: len(here) - lag], other[lag:]) for lag in lags]
        pairs += [(here[lag:], other[: len(here) - lag]) for lag in lags]
        if max(float(np.corrcoef(pair)[0, 1]) for pair in pairs) > LIKE:
            why = f"{name} moves by {small:.2g} degrees, {twin(name)} by {span:.0f}"
            yield _accusation("angle_units.column", [name], why, "both move alike", Where(motion.file))


def columns_without_signs(body: ModelBody) -> Iterator[Finding]:
    """Find angles of the file that have lost their signs; inverse kinematics holds others at a limit of zero."""
    columns = () if body.motion.measured is None else body.motion.by_name(body.motion.measured).items()
    limits = {name: np.abs([one.lower, one.upper]).min() for name, one in body.model.coordinates.items()}
    moving = {name: bounces(angle) for name, angle in columns if name in body.dofs and limits[name] > AT_ZERO}
    if lost := {name: times for name, times in moving.items() if times > UNBENT}:
        severity = error_if(max(lost.values()) > 2.0 * UNBENT)
        yield finding("angle_sign.lost", severity, {"names": few(lost, 4)}, Where(body.motion.file))


def columns_that_drift(body: ModelBody, fixed: Motion) -> Iterator[Finding]:
    """Find one or two angles of the legs that change from stride to stride while the others repeat themselves."""
    motion, known = body.every_motion, fixed.model.coordinates
    names = [name for name in motion.names if name in body.dofs and has_side(name) and known[name].rotational]
    every = max(1, round(DRIFT_STEP / float(np.diff(motion.time).mean())))
    angles = np.degrees(motion.value[::every, [motion.names.index(name) for name in names]])
    count, step = len(angles), float(np.diff(motion.time[::every]).mean())
    lags = [2 * lag for lag in _half_strides(count, step) if (count - 2 * lag) * step > REPEATS]
    if not lags or not names or not walks(fixed):
        return
    spread = np.maximum(angles.std(axis=0), FEW_DEGREES)
    unlike = [np.mean(((angles[lag:] - angles[:-lag]).std(axis=0) / spread) ** 2) for lag in lags]
    if min(unlike) > UNLIKE**2:
        return  # the stride is longer than the time that shows it
    lag = lags[int(np.argmin(unlike))]
    by = (angles[lag:] - angles[:-lag]).mean(axis=0)
    limit = lag * step * max(DRIFTS[0], DRIFTS[1] / (step * (count - lag)))
    far = np.flatnonzero(np.abs(by) > limit)
    if 0 < len(far) <= len(SIDES):
        said = {"names": " and ".join(names[k] for k in far), "by": by[far[0]], "stride": lag * step}
        said |= {"limit": limit, "others": np.abs(np.delete(by, far)).max(initial=0.0)}
        yield finding("angle_offset.drift", "warning", said, Where(motion.file))


def feet_on_floor(body: ModelBody, fixed: Motion) -> Iterator[Finding]:
    """Find angles with an offset, reversed or exchanged ones: standing feet have their soles on the floor.

    In walking the angles of a leg resemble the angles of the other leg half a stride before: a change that makes them
    alike, and with which the feet stand no worse, names the columns, too.
    """
    if len(fixed.soles) != 2 or len(fixed.time) < FRAMES // 4 or _flies(fixed):
        return
    wrong = [*columns_in_radians(body, fixed), *columns_without_signs(body), *columns_that_drift(body, fixed)]
    if wrong:
        yield from wrong  # the feet would stand without these faults
        return
    every = max(1, len(fixed.time) // FRAMES)
    time, value = fixed.time[::every], fixed.motion.value[::every]
    stands = lasts_a_stride(fixed) or bool(_slips(fixed, value[None], time, lasting=STANCE)[1].all())
    now, where = standing(fixed, body_motion(fixed.model, value), time), Where(body.motion.file)
    fits, number = now.worst() < 1.0, fixed.model.coordinate_number
    of_legs = [name for name in body.motion.names if split_side(name)[0] in ANGLES and has_side(name)]
    names = [name for name in of_legs if not fixed.model.coordinates[name].locked]
    of_root = {name for axis in fixed.model.roots[0].rotations for name in axis.coordinates}
    roots = [name for name in body.motion.names if name in of_root and fixed.model.weight > 0.0]
    groups, columns_of = _changes_of_angles(names, roots), body.motion.names
    right = [name for name in columns_of if split_side(name)[1] == "r" and twin(name) in columns_of]
    whole_legs = (*right, *map(twin, reversed(right)))  # with the joints of the foot
    groups.append(("sides_swapped.angles", whole_legs))
    pairs = [(f"{stem}_r", f"{stem}_l") for stem in SPECTRA if {f"{stem}_r", f"{stem}_l"} <= {*names}]
    # offsets with which the soles are level explain tilted feet that stand, too
    groups += [(code, pair) for pair in pairs for code in LEVELS]
    changed = np.repeat(value[None], len(groups), axis=0)
    for pose_of, (code, group) in zip(changed, groups, strict=True):
        columns = [number[name] for name in group]
        if code in LEVELS:
            pose_of[:, columns] += LEVELS[code] * np.radians(now.pitch)
        else:
            pose_of[:, columns] = -value[:, columns] if code == "angle_sign" else value[:, columns[::-1]]
    both = [[number[name], number[twin(name)]] for name in names if name < twin(name) in names]
    unlike = np.full(len(groups) + 1, np.inf)
    if both and walks(fixed):
        unlike = unlike_twins(np.concatenate([value[None], changed])[:, :, both], float(np.diff(time).mean()))
    alike = unlike[1:] < ALIKE * unlike[0]
    turning = [code == "angle_sign" and group[0].startswith(TURNING) for code, group in groups]
    rotates = np.array(turning, bool)
    among = alike.copy()
    # offsets alone tilt or turn feet that stand
    if not fits and max(now.worst(*MOVING), 0.5 * now.worst("angle_offset")) >= 1.0:
        among[:] = True
    elif fits and now.yaw.max() >= TURNS and stands:
        among |= rotates
    tried = dict[int, Standing]()
    most = _lean(fixed, body_motion(fixed.model, value)) + LEAN if roots else 0.0
    for some in blocks(int(among.sum()), TOGETHER) if among.any() else ():
        ones = np.flatnonzero(among)[some]
        pose = body_motion(fixed.model, changed[ones].reshape(-1, value.shape[1]))
        for one, frames in zip(ones.tolist(), blocks(len(pose.position), len(value)), strict=True):
            if groups[one][1][0] not in roots or _lean(fixed, pose.poses(frames)) < most:
                tried[one] = standing(fixed, pose.poses(frames), time)
    said: dict[str, object] = {"roll_limit": now.roll_limit}
    for what in ("", "_out", "_speed", "_yaw", "_low", "_roll"):
        right, left = getattr(now, what[1:] or "pitch")
        said |= {f"right{what}": float(right), f"left{what}": float(left)}
    ordered = sorted(tried, key=lambda one: tried[one].cost)
    near = min(ALIKE * unlike[0], NEAREST * unlike[1:].min(initial=np.inf))
    level = min((tried[one].cost for one in tried if groups[one][0] in LEVELS), default=np.inf)
    for one in [one for one in ordered[:1] if not fits and NEAREST * tried[one].cost < level]:
        explained = tried[one].cost < EXPLAINED * now.cost and tried[one].worst() < 1.2
        if explained and (stands or _slips(fixed, changed[[one]], time)[1].all()):
            (right, left), (right_speed, left_speed) = now.pitch, now.speed
            why = f"the feet do not stand ({right_speed:.2f} m/s right, {left_speed:.2f} m/s left; soles at {right:.0f}"
            why += f" and {left:.0f} degrees)"
            then, swapped = "they stand with their soles on the floor", "sides_swapped.angles"
            alike = {groups[other][0] for other in tried if tried[other].worst() < 1.2}
            more = ""
            if swapped in alike - {groups[one][0]}:
                then += ", and with right and left leg exchanged, too"
                more = ", or exchange the columns of both legs"
            yield _accusation(*groups[one], why, then, where, more)
            return
    better = [one for one in ordered if tried[one].cost < now.cost and groups[one][0] not in LEVELS]
    for one in [one for one in better if unlike[1 + one] < near][:1]:
        apart, rest = np.degrees(unlike[[0, 1 + one]])
        why = f"the angles of both legs, half a stride apart, differ by {apart:.0f} degrees rms"
        then = f"they differ by {rest:.0f} degrees, and the feet stand better"
        yield _accusation(*groups[one], why, then, where)
        return
    for one in sorted(tried if stands else (), key=lambda one: tried[one].yaw.sum()):
        yaw = tried[one].yaw
        calmer = ((yaw < CALMER * now.yaw) & (now.yaw > TURNS)).any()
        if rotates[one] and calmer and tried[one].worst() < 1.0:
            turns = {"names": " and ".join(groups[one][1]), "right_then": yaw[0], "left_then": yaw[1]}
            yield finding("angle_sign.rotation", "warning", said | turns, where)
            return
    for code, misfit in now.misfits.items():
        if stands and misfit.max() >= max(1.0, STRIDE / float(np.ptp(fixed.time))):
            yield finding(code, "warning", said, where)


def _accusation(
    code: str, names: Sequence[str], why: str, then: str, where: Where, more: str = ""
) -> Finding:
    """The finding of a fault of angles; of two exchanged pairs each name stands beside the one it is exchanged with."""
    pairs = [" and ".join(dict.fromkeys(pair)) for pair in zip(names, names[::-1], strict=True)]
    said = {"why": why, "names": ", and ".join(pairs[: (len(names) + 1) // 2]), "then": then}
    return finding(code, "error", said | {"otherwise": more}, where)


def feet_that_slide(body: ModelBody, fixed: Motion) -> Iterator[Finding]:
    """Find planted feet that stand stiller with another scale of an angle, or without a part of another one.

    A model of another size than the person is wrong on both sides. Both feet may stand much stiller with the root
    turned, or at another time t + d, with x + d x' + d^2 x'' / 2, or with an offset of hips or knees that levels soles.
    """
    if len(fixed.soles) != 2 or len(fixed.time) < FRAMES // 4 or _flies(fixed):
        return
    every, number, motion = max(1, len(fixed.time) // FRAMES), fixed.model.coordinate_number, fixed.motion
    time, value = fixed.time[::every], motion.value[::every]
    (now,), (stands,) = _slips(fixed, value[None], time)
    # the velocity of a belt is a median over whole strides
    if now.max() <= SLIPS or not knows_the_ground(fixed):
        return
    known, where, root = {*body.motion.names}, Where(body.motion.file), fixed.model.roots[0]
    gains = [gain for gain in GAINS if {with_side(x, s) for x in gain[:2] for s in SIDES} <= known]
    changed = np.repeat(value[None], len(gains), axis=0)
    for pose_of, (stem, source, share) in zip(changed, gains, strict=True):
        columns, sources = ([number[with_side(name, side)] for side in SIDES] for name in (stem, source))
        pose_of[:, columns] += share * value[:, sources]
    then, stand = _slips(fixed, changed, time)
    then = np.where(stand, then, np.inf)
    remains = then / now
    pitch = standing(fixed, body_motion(fixed.model, value), time).pitch
    pairs = [(f"{stem}_r", f"{stem}_l") for stem in SPECTRA[:2] if abs(pitch.mean()) > PITCH]
    up = root.inboard.rotation.T @ fixed.model.up
    vertical = [axis.coordinates for axis in root.rotations if abs(axis.axis @ up) > VERTICAL]
    headings = [names for names in vertical[:1] if len(names) == 1 and {*names} <= known]
    changes = [("foot_slides.root", tuple(root.coordinates), by) for by in LATE]
    changes += [
        (LEVELED, pair, by) for pair in pairs if {*pair} <= known for by in (pitch.mean(), -pitch.mean())
    ]
    changes += [("walking_direction.model", names, by) for names in headings for by in HEADINGS]
    changes += [("angle_sign", names, 0.0) for names in headings]
    changed = np.repeat(value[None], len(changes), axis=0)
    for pose_of, (code, names, by) in zip(changed, changes, strict=True):
        columns = [number[name] for name in names]
        if code == "foot_slides.root":
            pose_of[:, columns] += (by * motion.speed + 0.5 * by**2 * motion.acceleration)[::every, columns]
        else:
            pose_of[:, columns] = (1.0 if by else -1.0) * value[:, columns] + np.radians(by)
    # a foot that swings passes the body
    way = (fixed.origin[-1] - fixed.origin[0]) / np.ptp(fixed.time) - fixed.belt
    slips, stand = _slips(fixed, changed, time, max(SPEED, 0.5 * float(np.linalg.norm(way))))
    left = np.where(stand, slips / now, np.inf).max(axis=1)
    least, (code, names, by), still = left.min(), changes[left.argmin()], slips[left.argmin()].mean()
    if now.min() > SLIPS and least < min(MUCH_STILLER[0], remains.max(axis=1).min(initial=1.0)):
        like = [changes[k] for k in np.flatnonzero(left < PAIRS_ALIKE * least) if changes[k][0] == code]
        turned = ", or ".join(f"{by:+.0f} degrees on {' and '.join(pair)}" for _, pair, by in like)
        said = {
            "name": names[0],
            "by": by,
            "names": turned,
            "now": now.mean(),
            "then": still,
            "size": abs(by),
        }
        said |= {"right": pitch[0], "left": pitch[1], "late": "earlier" if by > 0.0 else "later"}
        why = f"planted feet slide with {now.mean():.2f} m/s"
        if code == "angle_sign":
            yield _accusation(code, names, why, f"they slide with {still:.2f} m/s", where)
        else:
            small = code == "walking_direction.model" and abs(by) <= ASTRAY
            yield finding(code, "warning" if small else "error", said, where)
        return

    def slides(best: int, k: int, of: str, side: str) -> Finding:
        stem, source, share = gains[best]
        change = f"times {1.0 + share:g}" if source == stem else f"and {share:+g} of {source}{side}"
        values = {"name": f"{stem}{side}", "change": change, "now": now[k], "other": now[1 - k]}
        return finding(f"angle_scale.{of}", "warning", values | {"then": then[best, k]}, where)

    for k, side in enumerate(SIDES if gains else ()):
        one, other = remains.min(axis=0)[[k, 1 - k]]
        stiller = any(one < most and other > least for most, least in (MUCH_STILLER, STILLER))
        if now[k] > SLIPS and stands[1 - k] and stiller:
            yield slides(int(remains[:, k].argmin()), k, "slides", f"_{side}")
    if stands.all():
        yield from (of_size := [] if fixed.belt.any() else list(slips_of_size(fixed, where)))
        if gains and not of_size and (both := remains.max(axis=1)).min() < STILLER[0]:
            yield slides(int(both.argmin()), int(now.argmax()), "both", "")


def slips_of_size(fixed: Motion, where: Where) -> Iterator[Finding]:
    """Find planted feet that both go with the body, or against it: the legs are too short or too long for its way."""
    body, slips = np.gradient(fixed.origin, fixed.time, axis=0), []
    speed = np.linalg.norm(body, axis=1)
    for sole in fixed.soles:
        slower = fixed.foot_speed(sole)
        still = (slower <= np.quantile(slower, STILL)) & (speed > WALKS)
        foot = np.gradient(0.5 * (sole.heel + sole.toe), fixed.time, axis=0)
        gone = (foot * body).sum(axis=1)[still] / speed[still] ** 2
        slips.append(float(np.median(gone)) if len(gone) >= fixed.fewest else 0.0)
    right, left = slips
    if min(right, left) > SIZE or max(right, left) < -SIZE:
        values = {"right": right, "left": left, "limit": SIZE, "size": 1.0 - 0.5 * (right + left)}
        yield finding("foot_slides.size", "warning", values, where)


def lasts_a_stride(fixed: Motion) -> bool:
    """Return whether a walk shows every part of a stride."""
    return bool(np.ptp(fixed.time) > STRIDE - 1e-6)


def knows_the_ground(fixed: Motion) -> bool:
    """Return whether the velocity of the ground is known: much less than a stride does not show a belt."""
    return not fixed.belt.any() or float(np.ptp(fixed.time)) > SHORTEST_ON_BELT


def _slips(
    fixed: Motion, values: Array, time: Array, below: float = SPEED, lasting: float = STANDS
) -> tuple[Array, Mask]:
    """Speeds (H, 2) [m/s] of right and left foot while they are slowest, with angles (H, T, K), and whether they stand.

    A foot stands that stays slower than `below` [m/s] for a time [s].
    """
    pose, step = body_motion(fixed.model, values.reshape(-1, values.shape[2])), float(np.diff(time).mean())
    feet = soles(fixed.model, pose)
    belt = fixed.belt_of(feet, time)
    slower = np.stack([fixed.end_speeds(sole, time, belt)[0] for sole in feet], axis=1)
    stand = [[bool(_stances(foot < below, least=lasting / step)) for foot in feet] for feet in slower]
    return np.quantile(slower, STILL, axis=2), np.array(stand, bool).reshape(slower.shape[:2])


def pressure_along_feet(
    body: ModelBody, fixed: Motion, pressures: Iterable[tuple[Sole, Array, Mask]]
) -> Iterator[Finding]:
    """Find feet that are turned from the way of the pressure (T, 3) [m] under them in some frames (T,), or beside it.

    Both feet pass over the pressure alike: the means of both leave out a person who loads the outer edges of the feet.
    A root turned about the vertical carries the feet aside: under both the pressure crosses to one side by twice the
    angle. The pressure of a person who walks on the toes lies far ahead.
    """
    turns, places = {}, {}
    for sole, point, frames in pressures:
        along, right, long = sole.place(point[frames], frames)
        if len(along) >= fixed.fewest and np.ptp(along) > ROLLS:
            slope = np.polyfit(along, right if sole.side == "r" else -right, 1)[0]
            turns[sole.side] = float(np.degrees(np.arctan(slope)))
            raised = (sole.heel - sole.toe)[frames][:, 1] / long
            places[sole.side] = np.mean(along / long), np.mean(right), np.median(raised)
    if len(turns) < len(SIDES) or not walks(fixed):
        return
    where = Where(body.motion.file)
    if abs(turns["r"] + turns["l"]) > 2.0 * ALONG:
        values = {"right": turns["r"], "left": turns["l"], "limit": ALONG}
        yield finding("angle_offset.pressure", "warning", values, where)
    if abs(across := 0.5 * (turns["r"] - turns["l"])) > ALONG:
        values = {"right": turns["r"], "left": -turns["l"], "limit": ALONG, "about": -0.5 * across}
        yield finding("walking_direction.pressure", "warning", values, where)
    (low, high), (along, right, raised) = UNDER, np.mean(list(places.values()), axis=0)
    if along < low or (along > high and raised < ON_TOES) or abs(right) > BESIDE:
        values = {"along": along, "low": low, "high": high, "right": right, "limit": BESIDE}
        yield finding("pressure_outside.feet", "warning", values, where)


def pressure_of_motion(fixed: Motion) -> Iterator[tuple[Sole, Array, Mask]]:
    """Each foot, where the wrench that the motion needs acts on its level (T, 3) [m], and when it alone stands."""
    moment, force = fixed.due[:, :3], fixed.due[:, 3:]
    for foot, swings in single_supports(fixed):
        sole = next(sole for sole in fixed.soles if sole.body == foot)
        below, upward = sole.lowest - fixed.origin[:, 1], np.maximum(force[:, 1], 1e-9)
        x, z = moment[:, 2] + below * force[:, 0], below * force[:, 2] - moment[:, 0]
        point = fixed.origin + np.stack([x / upward, below, z / upward], axis=1)
        yield sole, point, swings & (force[:, 1] > SCALED * fixed.model.weight)


def _flies(fixed: Motion) -> bool:
    """Return whether the body is in free fall for a part of the motion."""
    if not fixed.model.weight > 0.0 or not np.isfinite(fixed.need).all():
        return False
    return float(np.mean(fixed.due[:, 3:] @ fixed.model.up < 0.1 * fixed.model.weight)) > FLIES


def walks(fixed: Motion) -> bool:
    """Return whether both feet swing as in walking, long enough for a spectrum."""
    heels = [np.gradient(sole.heel, fixed.time, axis=0) - fixed.belt for sole in fixed.soles]
    fast = [np.quantile(np.linalg.norm(speed, axis=1), 0.98) for speed in heels]
    lasts = bool(np.ptp(fixed.time) > SHORTEST)
    return lasts and len(fast) == 2 and not _flies(fixed) and bool(min(fast) > WALKING)


def body_that_goes_backward(body: ModelBody, fixed: Motion) -> Iterator[Finding]:
    """Find walks in which the root goes backward over the ground."""
    speed = ((np.gradient(fixed.origin, fixed.time, axis=0) - fixed.belt) * fixed.ahead).sum(axis=1).mean()
    if speed < -WALKS and walks(fixed):
        gone = {"distance": -speed * np.ptp(fixed.time)}
        yield finding("walking_direction.backward", "warning", gone, Where(body.motion.file))


def cutoff_of_walk(body: ModelBody, fixed: Motion) -> Iterator[Finding]:
    """Check the cut-off frequency of a motion that walks."""
    if walks(fixed) and (unusual := unusual_cutoff(body.motion.cutoff_hz, walks=True)) is not None:
        yield finding("cutoff", "warning", unusual, Where(body.motion.file, field="cutoff_hz"))


def spectra(body: ModelBody, fixed: Motion) -> Iterator[Finding]:
    """Find motions that were filtered too much, noise, and angles that stop."""
    motion, where = body.motion, Where(body.motion.file)
    names = [name for name in motion.names if split_side(name)[0] in ANGLES]
    values = motion.by_name(np.degrees(motion.value))
    legs = [name for name in names if split_side(name)[0] in SPECTRA and np.ptp(values[name]) > 5.0]
    cutoff, measured = motion.cutoff_hz or np.inf, motion.measured
    angles = {} if measured is None else motion.by_name(np.degrees(measured))
    steps = [(step_of(angles[name]), name) for name in names if angles]
    step, rounded = max(steps, default=(0.0, ""))
    if step >= COARSEST[0]:
        said: dict[str, object] = {"name": rounded, "step": step, "unit": "degrees"}
        yield finding("noise.steps", error_if(step >= COARSEST[1]), said, where)
        return
    if walks(fixed) and len(legs) >= 4:
        fastest = {
            side: max(f90(values[name], fixed.rate, 4) for name in legs if split_side(name)[1] == side)
            for side in SIDES
        }
        highest, of_usual = max(fastest.values()), 0.0
        if measured is not None and fixed.rate > 4.0 * CUTOFF_HZ:
            usual = dict(zip(motion.names, low_pass(measured, fixed.rate, CUTOFF_HZ).T, strict=True))
            of_usual = max(f90(usual[name], fixed.rate, 4) for name in legs) if cutoff < LOW_HZ else 0.0
            columns = np.stack([angles[name] for name in names], axis=1)
            white = dict(zip(names, white_noise(columns), strict=True))
            worst, middle = max(white, key=lambda name: white[name]), float(np.median([*white.values()]))
            if white[worst] > (least := min(NOISE, max(NOISE_OF_ONE, OTHERS * middle))):
                said = {"name": worst, "noise": white[worst], "least": least, "usual": middle}
                yield finding("noise.angles", "warning", said, where)
        if highest < (least := max(LOWEST_F90, KEPT * of_usual)) and len(legs) >= 2 * len(SPECTRA):
            said = {"frequency": highest, "least": least, "cutoff": motion.cutoff_hz or np.nan}
            yield finding("over_filtered", "warning", said, where)
        elif (slow := min(fastest.values())) < OF_OTHER_LEG * highest:
            side = SIDE_NAMES[min(fastest, key=fastest.__getitem__)]
            said = {"side": side, "frequency": slow, "other": highest}
            yield finding("over_filtered.leg", "warning", said | {"limit": OF_OTHER_LEG}, where)
    if measured is None:
        return
    if (rate := rate_of_lines(measured, motion.time)) < LOWEST_RATE_HZ:
        of_lines = {"recording": "coordinates", "rate": rate, "needed": LOWEST_RATE_HZ}
        yield finding("low_rate.lines", "warning", of_lines, where)
    for name, first, last, value, rate in held_stretches(measured, motion.time, motion.names):
        coordinate = fixed.model.coordinates[name]
        at_end = min(abs(value - coordinate.lower), abs(value - coordinate.upper)) < 1e-4
        if name in body.dofs and coordinate.rotational and not at_end:
            held_at: dict[str, object] = {"name": name, "first": first, "last": last}
            held_at |= {"value": float(np.degrees(value)), "rate": float(np.degrees(rate))}
            long = last - first > 2.0 * HELD_S and not rate
            code = "frozen.line" if rate else "frozen.stretch"
            yield finding(code, error_if(long), held_at, Where(where.file, times=((first, last),)))


def rate_of_lines(columns: Array, time: Array) -> float:
    """Rate of the samples between which most moving columns (T, K) lie on straight lines [Hz]; infinite without."""
    step, bend = np.abs(np.diff(columns, axis=0)), np.abs(np.diff(columns, 2, axis=0))
    size = np.sqrt(np.mean(bend**2, axis=0))
    straight = (np.median(bend, axis=0) < LINES * size) & (size > BENDS * np.sqrt(np.mean(step**2, axis=0)))
    straight &= np.median(step, axis=0) > LINES * step.max(axis=0)  # rounded columns rest
    rate = len(true_runs((bend > BENDS * size)[:, straight].any(axis=1))) / float(np.ptp(time))
    return rate if 2 * straight.sum() > (size > 0.0).sum() else np.inf


def _lasting(mask: Mask, time: Array) -> list[tuple[int, int]]:
    """Runs of eight steps and more that last for `HELD_S`."""
    runs = true_runs(mask)
    return [(first, stop) for first, stop in runs if stop - first >= 8 and time[stop] - time[first] >= HELD_S]


def bounces(column: Array) -> float:
    """How many times as smooth a column (T,) of one sign is with the other sign from a zero on; 1 for no bounce."""
    if len(column) < 5 or column.min() * column.max() < 0.0:
        return 1.0
    near = sliding_window_view(column, 5)
    size, (bends, smooth) = np.abs(near), bends_at_zero(near)
    lowest = (size[:, 2] <= size[:, 1]) & (size[:, 2] <= size[:, 3])
    lowest &= bends > max(BOUNCE * np.median(bends), 0.5 * np.median(np.abs(np.diff(column))))
    return float((bends / np.maximum(smooth, 1e-12)).max(initial=1.0, where=lowest))


def repeated_rows(columns: Array, time: Array, of: str, where: Where) -> Iterator[Finding]:
    """Find rows that repeat earlier ones in all columns (T, K) of a file; held rows at its ends fill it."""
    step, moves = float(np.diff(time).mean()), (np.diff(columns, axis=0) != 0.0).any(axis=1)
    for lag in range(1, min(int(COPIED_S / step), len(time) // 2) if moves.any() else 1):
        same = (columns[lag:] == columns[:-lag]).all(axis=1) & (moves[lag - 1 :] | (lag == 1))
        if lag == 1:
            same &= np.logical_or.accumulate(moves) & np.logical_or.accumulate(moves[::-1])[::-1]
        if runs := [run for run in true_runs(same) if run[1] - run[0] >= max(lag - 1, REPEATED)]:
            times = tuple((float(time[begin + lag]), float(time[stop + lag - 1])) for begin, stop in runs)
            said = {"columns": of, "first": times[0][0], "last": times[0][1], "lag": lag * step}
            yield finding("frames_repeated.rows", "error", said, Where(where.file, times=times))
            return


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
