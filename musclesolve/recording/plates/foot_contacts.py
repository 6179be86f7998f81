"""Contacts of each foot with the floor by the markers of heel and toe, and contacts that plates do not measure."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array, Mask, at_times, long_enough, nearest_known, true_runs
from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.recording.data import BESIDE_GAP, SIDES, Recording, Side, Trial

LOW, SLOW = 0.025, 0.4
"""Limits of a foot on the floor: height of heel or toe above its lowest level [m], and speed [m/s]; on a treadmill,
relative to the belt.
"""
HIGH, FAST = 0.045, 1.0
"""A foot is in the air where heel and toe are each higher [m] or faster [m/s] than this."""
IN_PLACE = 0.25
"""Speed [m/s] that distinguishes a belt: the pelvis travels more slowly, a low foot moves faster."""
LOWEST = 0.3
"""Share of the frames in which a toe is low."""
BELT_WINDOW = 2.0
"""Time [s], more than a stride, over which the median gives the speed of the belt, which may change."""
LEVEL = 0.01
"""Largest difference of the heights of contacts on level ground [m]."""
HALF_WINDOW = 0.02
"""Time [s] before and after of the difference that gives a velocity: noise of 1 mm results in 0.04 m/s."""
SHORTEST_CONTACT = 0.06
"""Shortest contact by the markers [s], and shortest lack of force in a contact."""
EDGE = 0.03
"""Allowed difference of markers and plates at the ends of a contact [s]."""
ROLL = 0.15
"""Longest time [s] from heel or toe leaving its place to the foot in the air, and from the air to the place."""
LOADED_SHARE = 0.03
"""Share of the body weight from which a foot is loaded."""
FEWEST_SUPPORT = 0.12
"""Shortest single support whose force tests its plate [s]."""
FEWEST_ALIKE, ALIKE = 3, 1.05
"""Number of contacts of a foot and ratio of their shares below which they are alike."""
PARTIAL, WHOLE = 0.8, 0.9
"""Shares of the force that moves the body in single support: a plate with less than the first measures part of the
foot, if another contact has at least the second. Beside a plate with less than the second of the weight the other foot
may bear.
"""


@dataclass(frozen=True)
class FootPath:
    """One foot over the frames (T,) of the motion.

    Whether heel or toe rests on the floor, whether both are in the air, whether a plate carries the foot, and the
    vertical force of its plates [N].
    """

    floor: Mask
    air: Mask
    loaded: Mask
    vertical: Array


def ground_contacts(
    trial: Trial, points: Mapping[Side, Array], speeds: Mapping[Side, Array]
) -> dict[Side, tuple[Mask, Mask]]:
    """Return by foot the frames (T,) in which heel or toe rests on the ground, and in which both are in the air.

    Args:
        trial: the recording.
        points: foot -> heel and toe (2, T, 3) [m], z up, NaN where not seen.
        speeds: foot -> their speeds (2, T) relative to the ground [m/s], NaN likewise.
    """
    levels, contacts = ground_levels(trial, points, speeds), {}
    for side, of_foot in points.items():
        floor, air = np.zeros(of_foot.shape[1], bool), np.ones(of_foot.shape[1], bool)
        for path, speed in zip(of_foot, speeds[side], strict=True):
            height = path[:, 2] - levels[side]
            # Comparisons with NaN are false: an unseen foot is neither on the ground nor in the air.
            above = height - _resting(height, speed)
            floor |= (above < LOW) & (speed < SLOW)
            air &= (above > HIGH) | (speed > FAST)
        contacts[side] = floor, air
    return contacts


def _resting(height: Array, speed: Array) -> float:
    """Return the height of a marker of a standing foot: the lower quartile of its resting heights (T,) [m]."""
    seen = np.isfinite(height) & np.isfinite(speed)
    slow = seen & (speed < SLOW)
    resting = height[slow if slow.sum() > 5 else seen]
    return float(np.quantile(resting, 0.25)) if resting.size else np.nan


def ground_levels(
    trial: Trial, points: Mapping[Side, Array], speeds: Mapping[Side, Array]
) -> dict[Side, Array]:
    """Return by foot the height (T,) of the ground under it [m]: steps and ramps; zero throughout on level ground.

    A contact with a plate is at the height of its points of force. Without a plate a foot stands where it rests while
    the other foot swings, and where it rests at the height of another contact. Between contacts the ground has the
    height of the contact nearer in time. Arguments as of `ground_contacts`.
    """
    time, least, shortest = trial.markers.time, touch(trial), round(SHORTEST_CONTACT * trial.markers.rate)
    levels = {side: np.full(time.size, np.nan) for side in points}
    for plate in trial.forces:
        carried = np.flatnonzero(plate.force[:, 2] > least)
        frames = np.interp(time, plate.time, plate.force[:, 2], 0.0, 0.0) > least
        for first, stop in true_runs(long_enough(frames, shortest)) if plate.side in points else ():
            samples = slice(*np.searchsorted(plate.time[carried], time[[first, stop - 1]]))
            if not (at := carried[samples]).size:
                continue  # a contact of one frame between two samples of slow markers
            levels[plate.side][first:stop] = np.interp(time[first:stop], plate.time[at], plate.point[at, 2])
    known = [float(np.median(level[run])) for level in levels.values() for run in _runs(np.isfinite(level))]
    for supports in (True, False):
        for side, of_foot in points.items():
            on_known, slow = np.isfinite(levels[side]), (speeds[side] < SLOW).all(axis=0)
            # Above the ground stands a marker as on the plates, else as where it rests most of the time.
            some = on_known if (on_known & slow).any() else slow
            ground = np.where(on_known, levels[side], 0.0)
            above = [
                _resting((path[:, 2] - ground)[some], v[some])
                for path, v in zip(of_foot, speeds[side], strict=True)
            ]
            heights = np.min(of_foot[:, :, 2] - np.array(above)[:, None], axis=0)
            swinging = [np.any(speeds[other] > FAST, axis=0) for other in points if other != side]
            for run in _runs(long_enough(slow & ~on_known, shortest)):
                height = float(np.median(heights[run]))
                near = min(known, key=lambda other: abs(other - height), default=np.inf)
                if abs(near - height) < LOW:
                    levels[side][run] = near
                elif supports and any(other[run].any() for other in swinging):
                    levels[side][run] = height
                    known.append(height)
    for side, level in levels.items():
        heights = level[np.isfinite(level)]
        has_steps = heights.size > 0 and np.ptp(heights) > LEVEL
        levels[side] = nearest_known(level) if has_steps else np.zeros(time.size)
    return levels


def _runs(mask: Mask) -> list[slice]:
    return [slice(first, stop) for first, stop in true_runs(mask)]


def velocity(path: Array, rate_hz: float) -> Array:
    """Return central differences (T, k) of a path (T, k) [1/s], shorter ones at its ends; NaN near gaps."""
    half = max(1, round(HALF_WINDOW * rate_hz))
    frames = np.arange(len(path))
    later, earlier = np.minimum(frames + half, len(path) - 1), np.maximum(frames - half, 0)
    return np.asarray((path[later] - path[earlier]) * (rate_hz / (later - earlier))[:, None])


def ground_velocity(time: Array, pelvis: Array | None, toe: Array, rate: Array) -> Array:
    """Return the velocity (T, 3) [m/s] of the ground under a foot: zero, or the velocity of the belt of a treadmill.

    On a treadmill the pelvis stays in place, and a foot on the belt has its velocity; the belts of the two feet may
    differ (split belts), and change with time.

    Args:
        time: (T,) [s].
        pelvis: (T, 3) a point of the pelvis [m], NaN where it is not seen; without it the ground rests.
        toe: (T, 3) [m], z up, NaN likewise; a heel is lowest where it is still fast, before it strikes.
        rate: (T, 3) its velocity [m/s], NaN likewise.
    """
    belt = np.zeros((time.size, 3))
    if pelvis is None:
        return belt
    seen = np.flatnonzero(np.isfinite(pelvis).all(axis=1))
    known = np.isfinite(toe).all(axis=1) & np.isfinite(rate).all(axis=1)
    if not known.any() or seen.size < 2:
        return belt
    traveled = np.linalg.norm((pelvis[seen[-1]] - pelvis[seen[0]])[:2])
    if traveled > IN_PLACE * (time[seen[-1]] - time[seen[0]]):
        return belt
    low = np.flatnonzero(known & (toe[:, 2] <= np.quantile(toe[known, 2], LOWEST)))
    if np.linalg.norm(np.median(rate[low, :2], axis=0)) < SLOW:
        return belt
    centers = np.arange(time[low[0]], time[low[-1]] + 0.25 * BELT_WINDOW, 0.25 * BELT_WINDOW)
    ends = np.searchsorted(time[low], centers + np.array([[-0.5], [0.5]]) * BELT_WINDOW)
    filled = ends[1] > ends[0]
    medians = [np.median(rate[low[first:stop], :2], axis=0) for first, stop in ends[:, filled].T]
    belt[:, :2] = at_times(centers[filled], np.array(medians), time)
    return belt


def vertical_force(trial: Recording, side: Side) -> Array:
    """Return the vertical force of the plates of a foot at the frames of the motion, (T,) [N]; 0 where unrecorded."""
    plates = [plate for plate in trial.forces if plate.side == side]
    forces = [np.interp(trial.markers.time, p.time, p.force[:, 2], 0.0, 0.0) for p in plates]
    return np.asarray(np.sum(forces, axis=0)) if forces else np.zeros(trial.markers.time.size)


def touch(trial: Trial, share: float = LOADED_SHARE) -> float:
    """Return the vertical force [N] from which a foot is loaded, or carries a share of the body weight if known."""
    weight = trial.subject.mass * STANDARD_GRAVITY
    return max(trial.unloaded_below, share * weight if np.isfinite(weight) else 0.0, 1.0)


def unmeasured_contacts(trial: Trial) -> dict[Side, Mask]:
    """Return by foot a mask (T,) of the frames of contacts that plates do not measure completely."""
    return unmeasured(trial, seen_feet(trial))


def support_shares(trial: Trial) -> dict[Side, list[float]]:
    """Return by foot, for each single support, the force of its plates over the force that moves the body: 1 by
    Newton's law.

    Only contacts in the time range that plates measure completely are included, as far as the motion shows them.
    """
    feet, frames = seen_feet(trial), trial.frames()
    lost, shares = unmeasured(trial, feet), {side: _shares(trial, feet, side) for side in feet}
    return {
        side: [
            share
            for (first, stop), share in shares[side].items()
            if first >= frames.start and stop <= frames.stop and not lost[side][first:stop].any()
        ]
        for side in feet
    }


def seen_feet(trial: Trial) -> dict[Side, FootPath]:
    """Return contacts and force, by markers and plates, of the feet whose heel and toe the motion shows."""
    time, rate = trial.markers.time, trial.markers.rate
    pelvis, points, speeds = _pelvis(trial), {}, {}
    for side in SIDES:
        names = [f"{part}_{side}" for part in ("heel", "toe")]
        if all(trial.sees(name) for name in names):
            points[side] = np.stack([trial.markers.weighted(trial.mapping[name]) for name in names])
            moving = [velocity(path, rate) for path in points[side]]
            ground = ground_velocity(time, pelvis, points[side][1], moving[1])
            speeds[side] = np.linalg.norm(np.stack(moving) - ground, axis=2)
    feet = {}
    for side, (floor, air) in ground_contacts(trial, points, speeds).items():
        vertical = vertical_force(trial, side)
        contact = long_enough(floor, round(SHORTEST_CONTACT * rate))
        feet[side] = FootPath(contact, air & ~floor, vertical > touch(trial), vertical)
    return feet


def unmeasured(trial: Trial, feet: dict[Side, FootPath]) -> dict[Side, Mask]:
    """Return by foot a mask (T,) of frames on the floor, or possibly so, in a contact that plates do not measure
    completely.

    The mask includes frames in which its plate has no numbers.
    """
    rate, shares = trial.markers.rate, {side: _shares(trial, feet, side) for side in feet}
    # A toe that moves at 1 m/s bears where the plates of the other foot carry only a part of the body.
    weight = trial.subject.mass * STANDARD_GRAVITY
    helped = {
        side: np.any(
            [feet[o].loaded & (feet[o].vertical < WHOLE * weight) for o in feet if o != side], axis=0
        )
        for side in feet
    }
    some_whole = any(share >= WHOLE for of_side in shares.values() for share in of_side.values())
    # A plate of another scale has the same share in every contact; a foot beside its plate does not.
    alike = {
        side: len(of_side) >= FEWEST_ALIKE and max(of_side.values()) < ALIKE * min(of_side.values())
        for side, of_side in shares.items()
    }
    edge, shortest, reach = round(EDGE * rate), max(1, round(SHORTEST_CONTACT * rate)), round(ROLL * rate)
    lost: dict[Side, Mask] = {side: np.zeros(foot.floor.size, bool) for side, foot in feet.items()}
    for side, foot in feet.items():
        for first, stop in true_runs(foot.floor):
            partial = some_whole and not alike[side] and shares[side].get((first, stop), 1.0) < PARTIAL
            # No plate carries the foot during its contact, or for a while between its ends.
            between = slice(first + edge * (first > 0), stop - edge * (stop < foot.floor.size))
            lacking = max((b - a for a, b in true_runs(~foot.loaded[between])), default=0) >= shortest
            if partial or lacking or not foot.loaded[first:stop].any():
                # With the frames before and after it in which the foot is not yet in the air, or may still bear.
                away = foot.air & ~helped[side]
                before, after = away[max(first - reach, 0) : first], away[stop : stop + reach]
                early = int(np.argmax(before[::-1])) if before.any() else before.size
                late = int(np.argmax(after)) if after.any() else after.size
                lost[side][first - early : stop + late] = True
    for plate in trial.forces:
        if plate.side in lost:
            lost[plate.side] |= plate.in_gap(trial.markers.time, BESIDE_GAP)
    return lost


def _shares(trial: Trial, feet: dict[Side, FootPath], side: Side) -> dict[tuple[int, int], float]:
    """Return contact -> the impulse of its plates in single support over the required impulse, m (g T + dv)."""
    other, pelvis, mass = feet.get("l" if side == "r" else "r"), _pelvis(trial), trial.subject.mass
    if other is None or pelvis is None or not np.isfinite(mass):
        return {}
    rate, shares = trial.markers.rate, {}
    rising = velocity(pelvis[:, 2:], rate)[:, 0]
    alone = feet[side].floor & feet[side].loaded & other.air & np.isfinite(rising)
    for first, stop in true_runs(feet[side].floor):
        runs = [(first + a, first + b - 1) for a, b in true_runs(alone[first:stop])]
        start, end = max(runs, key=lambda run: run[1] - run[0], default=(0, 0))
        duration = (end - start) / rate
        if duration >= FEWEST_SUPPORT:
            impulse = float(np.trapezoid(feet[side].vertical[start : end + 1], dx=1.0 / rate))
            needed = mass * (STANDARD_GRAVITY * duration + float(rising[end] - rising[start]))
            shares[first, stop] = impulse / needed
    return shares


def _pelvis(trial: Trial) -> Array | None:
    """Return the middle of the markers of the pelvis (T, 3) [m]; None if none of its landmarks is seen."""
    names = [f"{part}_{side}" for part in ("asis", "psis", "hip_center") for side in SIDES]
    mapped = [trial.mapping[name] for name in [*names, "sacrum"] if trial.sees(name)]
    return np.mean([trial.markers.weighted(weights) for weights in mapped], axis=0) if mapped else None
